"""Chinese in dreams: descriptions are read, values that replace each other do so, and what adds up stays."""

from pathlib import Path

import pytest
from support.builders import memory
from support.dreams import active, dream_store, say

from mindmem.core.reason.rules.dream.reading import topic_of


@pytest.mark.parametrize(
    ("content", "topic"),
    [
        ("安河厂的厂长是林松。", ("厂长", "林 松", True)),
        ("安河厂现在的厂长是林松。", ("厂长", "林 松", True)),
        ("安河厂的总部在松城。", ("总部", "松 城", True)),
        ("安河厂的客户是松城。", ("客户", "松 城", None)),
    ],
)
def test_a_description_is_a_topic_with_its_cue(content: str, topic: tuple[str, str, bool | None]) -> None:
    found = topic_of(memory(content, about="", prop="", value="", mem_type="fact"))
    assert found is not None
    assert (found.subject, found.property_name, found.value, found.cue) == ("||安河厂", *topic)


@pytest.mark.parametrize("content", ["我的厂长是林松。", "安河厂的厂长是谁？", "他们的总部在松城。"])
def test_what_speaks_of_the_speaker_or_asks_is_no_description(content: str) -> None:
    assert topic_of(memory(content, about="", prop="", value="", mem_type="fact")) is None


def test_a_later_value_takes_the_earlier_ones_place_and_what_adds_up_stays(tmp_path: Path) -> None:
    with dream_store(tmp_path) as store:
        say(store, "我住在北京。", "我喜欢喝茶。", name="小安")
        say(store, "我现在住在上海。", "我也喜欢喝咖啡。", name="小安")
        store.dream()
        left = active(store)
    assert not any("北京" in one for one in left)
    assert all(any(word in one for one in left) for word in ("上海", "茶", "咖啡")), left
