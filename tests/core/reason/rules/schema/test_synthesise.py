"""Properties of order 2 count, list and quote their evidence, are renewed with it and retired without it."""

from dataclasses import replace

import pytest
from support.builders import SCOPE, memory

from mindmem.core.reason.port import Judged
from mindmem.core.reason.rules.schema.synthesise import RulesSynthesiser
from mindmem.core.reason.schema_port import Synthesis, SynthesisRequest
from mindmem.core.records import Entity, Memory
from mindmem.core.schema.registry import preset

ANN = Entity(memory("x").entity_id, 1, SCOPE, "person", "Ann")
PERSON = preset("general").by_name["person"]


async def _drawn(*memories: Memory, current: tuple[Memory, ...] = ()) -> list[Synthesis]:
    [verdict] = await RulesSynthesiser().synthesise([SynthesisRequest(ANN, PERSON, memories, current)])
    assert isinstance(verdict, Judged)
    return list(verdict.value)


def _of(kind: str, found: list[Synthesis]) -> Synthesis:
    [one] = [each for each in found if each.kind == kind]
    return one


def _stored(one: Synthesis) -> Memory:
    made = memory(one.content, prop=one.property_name, value=one.key, order=2)
    return replace(made, parents=one.parents)


RUNS = [
    memory(f"Ann went sailing with friends {word}.", day=10 * place, prop="hobby")
    for place, word in enumerate(("again", "near Split", "at dawn"))
]
WEIGHTS = [
    memory(f"Ann weighed {kilos} kg.", prop="weight", value=f"{kilos} kg", day=7 * place)
    for place, kilos in enumerate((82, 80, 77))
]
TASTES = [
    memory(f"Ann likes {what}.", prop="preference", value=what, day=place) for place, what in enumerate(("jazz", "tea"))
]


async def test_what_comes_up_on_several_days_is_counted_with_its_days() -> None:
    found = _of(
        "frequency", [one for one in await _drawn(*RUNS) if "Sailing" in one.content or one.kind != "frequency"]
    )
    assert found.content == "Sailing comes up in 3 memories about Ann, from 1 May 2024 to 21 May 2024."
    assert set(found.parents) == {one.memory_id for one in RUNS}
    assert found.property_name == "patterns"


async def test_a_number_that_grew_or_fell_is_told_from_first_to_last() -> None:
    found = _of("trend", await _drawn(*WEIGHTS))
    assert found.content == "Ann's weight fell from 82 kg on 1 May 2024 to 77 kg on 15 May 2024 (3 readings)."
    assert found.property_name == "development"


async def test_a_way_of_living_and_what_it_leaves_out_stand_against_each_other_in_their_own_words() -> None:
    diet = memory("Ann is vegetarian.", prop="health.diet", value="vegetarian")
    meal = memory("I had a huge steak yesterday.", prop="", mem_type="episodic", day=9)
    found = _of("contrast", await _drawn(diet, meal))
    assert found.content == (
        "“Ann is vegetarian.” (1 May 2024) stands against “I had a huge steak yesterday.” (10 May 2024)."
    )
    assert found.parents == (diet.memory_id, meal.memory_id)


async def test_values_of_one_property_are_listed() -> None:
    assert _of("collection", await _drawn(*TASTES)).content == "Ann, likes: jazz; tea."


async def test_a_list_in_chinese_is_told_in_chinese() -> None:
    likes = [
        memory(f"安喜欢{what}。", prop="preference", value=what, day=day) for day, what in enumerate(("爵士乐", "喝茶"))
    ]
    found = await _drawn(*likes)
    assert _of("collection", found).content == "Ann，likes：爵士乐；喝茶。"


@pytest.mark.parametrize("memories", [RUNS[:1], WEIGHTS[:1], TASTES[:1], []])
async def test_one_piece_of_evidence_is_too_little(memories: list[Memory]) -> None:
    assert await _drawn(*memories) == []


async def test_a_denied_value_is_not_listed() -> None:
    denied = memory("Ann doesn't like tea.", prop="preference", value="tea", flags=("negated",))
    assert [one for one in await _drawn(TASTES[0], denied) if one.kind == "collection"] == []


async def test_what_still_holds_is_left_as_it_is() -> None:
    current = _stored(_of("collection", await _drawn(*TASTES)))
    assert await _drawn(*TASTES, current=(current,)) == []


async def test_more_evidence_renews_it_and_the_loss_of_all_but_one_retires_it() -> None:
    current = _stored(_of("collection", await _drawn(*TASTES)))
    more = memory("Ann likes chess.", prop="preference", value="chess", day=2)
    renewed = _of("collection", await _drawn(*TASTES, more, current=(current,)))
    assert (renewed.replaces, renewed.content) == (current.memory_id, "Ann, likes: jazz; tea; chess.")
    [retired] = await _drawn(TASTES[0], current=(current,))
    assert (retired.replaces, retired.content) == (current.memory_id, "")


async def test_the_order_in_which_evidence_is_given_changes_nothing() -> None:
    everything = (*RUNS, *WEIGHTS, *TASTES)
    assert await _drawn(*everything) == await _drawn(*reversed(everything))
