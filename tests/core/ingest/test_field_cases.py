"""Reports by users of other memory systems, as far as adding decides them; each with a control that goes otherwise."""

import pytest

from mindmem import Memory
from mindmem.core.errors import InvalidInput
from mindmem.core.settings import Settings


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "home", settings=Settings(embedder="none")) as opened:
        yield opened


def active(memory, user="ann"):
    return [one.content for one in memory.list(user_id=user, page_size=100).memories]


def say(memory, *texts, user="ann"):
    return [memory.add(text, user_id=user) for text in texts]


def test_a10_a11_what_the_receipt_names_can_be_read_at_once_and_later(memory):
    receipt = memory.add("I live in Oslo.", user_id="ann")
    [memory_id] = receipt.memory_ids
    assert memory.get(memory_id).content == "I live in Oslo."
    memory.add("I like tea.", user_id="ann")
    assert memory.get(memory_id).memory_id == memory_id


def test_a13_two_short_messages_are_remembered(memory):
    memory.add([{"role": "user", "content": "I'm Eva."}, {"role": "user", "content": "I like tea."}], user_id="ann")
    assert len(active(memory)) == 2


@pytest.mark.parametrize("junk", ["...", "-", "!!", "   ", "\u200b"])
def test_a17_a18_symbols_and_blanks_leave_nothing(memory, junk):
    receipt = memory.add([junk, "I like tea."], user_id="ann")
    assert active(memory) == ["I like tea."]
    assert receipt.counts["skipped"] == 1


def test_a19_a_message_that_is_not_of_the_form_is_refused_whole(memory):
    for wrong in ({"role": "user"}, {"role": "user", "content": 5}, {"role": "boss", "content": "a"}):
        with pytest.raises(InvalidInput):
            memory.add(["I like tea.", wrong], user_id="ann")
    for user in (7, "", "  "):
        with pytest.raises(InvalidInput):
            memory.add("I like tea.", user_id=user)
    assert active(memory) == []


def test_b1_the_same_text_twice_reinforces(memory):
    say(memory, "I like tea.", "I like tea.", "I like rum.")
    counts = {one.content: one.reinforcement_count for one in memory.list(user_id="ann").memories}
    assert counts == {"I like tea.": 2, "I like rum.": 1}


def test_b4_a_session_that_is_brought_again_is_no_news_but_its_new_messages_are(memory):
    said = [
        {"role": "user", "content": text, "timestamp": 1714564800000 + n}
        for n, text in enumerate(("I like tea.", "I like rum."))
    ]
    memory.add(said[:1], user_id="ann", session_id="s1")
    assert memory.add(said[:1], user_id="ann", session_id="s1").repeated
    memory.add(said, user_id="ann", session_id="s1")
    assert {one.content: one.reinforcement_count for one in memory.list(user_id="ann").memories} == {
        "I like tea.": 1, "I like rum.": 1,
    }  # fmt: skip
    memory.add(said[:1], user_id="ann", session_id="s2")
    assert max(one.reinforcement_count for one in memory.list(user_id="ann").memories) == 2


def test_b6_one_name_is_one_entity(memory):
    say(memory, "Dgia works at Acme.", "DGIA lives in Oslo.", "Dgib lives in Rome.")
    owners = {one.content: one.entity_id for one in memory.list(user_id="ann").memories}
    assert owners["Dgia works at Acme."] == owners["DGIA lives in Oslo."] != owners["Dgib lives in Rome."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I have 2 cats.", "I have 3 cats."),
        ("The launch is on October 15th.", "The launch is on October 16th."),
        ("Production deployment is allowed.", "Production deployment is not allowed."),
        ("I ran 5 km.", "I ran 5 miles."),
        ("I met Bob in Rome.", "I met Carl in Rome."),
        ("我有两只猫。", "我有三只猫。"),
        ("会议在10月15日。", "会议在10月16日。"),
    ],
)
def test_b9_b10_b11_what_differs_in_one_detail_is_remembered_beside_the_other(memory, one, other):
    say(memory, one, other)
    assert sorted(active(memory)) == sorted((one, other))
    [again] = say(memory, other)
    assert [action.op for action in again.actions] == ["reinforce"]


def test_b13_a_not_about_something_else_changes_nothing(memory):
    say(memory, "I love sushi.", "I do not like traffic.", "It is not easy to find a flat.")
    assert "I love sushi." in active(memory)
    say(memory, "I hate sushi now.")
    assert "I love sushi." not in active(memory)


@pytest.mark.parametrize(
    ("old", "new", "control"),
    [
        ("I work at Google.", "I just joined Microsoft.", "My sister works at Microsoft."),
        ("I live in Berlin.", "I moved to Paris.", "I visited Paris."),
        ("I love Chinese food.", "I hate Chinese food.", "I hate Thai food."),
        ("我住在北京。", "我搬到上海了。", "我弟弟住在上海。"),
        ("We use PostgreSQL.", "Correction: we use MySQL, not PostgreSQL.", "We use Redis."),
    ],
)
def test_b15_c1_c7_the_newer_value_is_the_active_one_and_history_has_both(memory, old, new, control):
    [first], [second] = (receipt.memory_ids[-1:] for receipt in say(memory, old, new))
    assert active(memory) == [new]
    assert memory.get(first).status == "archived"
    assert memory.get(first).valid_to is not None
    assert [one.content for one in memory.timeline(second)] == [old, new]
    say(memory, old, control, user="bob")
    assert old in active(memory, "bob")


def test_c3_unrelated_facts_never_retire_each_other(memory):
    facts = (
        "I live in Oslo.", "I work at Acme.", "I like tea.", "I like coffee.", "I don't like mushrooms.",
        "I have a dog named Rex.", "I have a cat named Tom.", "I can't drive.", "I have never been to Rome.",
        "I went to Paris in May.", "I speak French.", "I don't speak German.", "My brother is called Jan.",
        "I am allergic to nuts.", "I am allergic to milk.", "I am a nurse.", "I am tall.", "I hate traffic.",
        "Bob lives in Paris.", "Eva works at Globex.", "Jan hates coffee.", "我有一只狗。", "我喜欢喝茶。",
        "我不喜欢咖啡。",
    )  # fmt: skip
    say(memory, *facts)
    assert sorted(active(memory)) == sorted(facts)
    say(memory, "I moved to Rome.")
    assert sorted(set(facts) - set(active(memory))) == ["I live in Oslo."]


def test_c6_of_two_contradictions_in_one_add_the_later_one_stands(memory):
    said = [
        {"role": "user", "name": "Ann", "content": text}
        for text in ("I live in Oslo.", "I like tea.", "I moved to Rome.")
    ]
    memory.add(said, user_id="ann")
    assert "Ann moved to Rome." in active(memory)
    assert "Ann lives in Oslo." not in active(memory)
    assert any("tea" in content for content in active(memory))
    memory.add(said[::-1], user_id="bob")
    assert "Ann lives in Oslo." in active(memory, "bob")
    assert "Ann moved to Rome." not in active(memory, "bob")


def test_c6_a_tool_loop_is_remembered_once(memory):
    looped = {"role": "tool", "name": "shell", "content": "cat config.toml: error: file not found"}
    memory.add([looped] * 8, user_id="ann")
    assert len(active(memory)) == 1
    memory.add({**looped, "content": "cat other.toml: error: file not found"}, user_id="ann")
    assert len(active(memory)) == 2


def test_c18_an_old_fact_that_is_imported_late_stays_in_the_past(memory):
    memory.add({"role": "user", "name": "Ann", "content": "I live in Rome.", "timestamp": "2024-06-01"}, user_id="ann")
    memory.add({"role": "user", "name": "Ann", "content": "I live in Oslo.", "timestamp": "2020-06-01"}, user_id="ann")
    assert active(memory) == ["Ann lives in Rome."]
    memory.add({"role": "user", "name": "Ann", "content": "I live in Bonn.", "timestamp": "2025-06-01"}, user_id="ann")
    assert active(memory) == ["Ann lives in Bonn."]
    newest = memory.list(user_id="ann").memories[0]
    assert [one.value for one in memory.timeline(newest.memory_id)] == ["Oslo", "Rome", "Bonn"]


def test_e10_metadata_cannot_name_another_owner(memory):
    with pytest.raises(InvalidInput):
        memory.add("I like tea.", user_id="ann", metadata={"user_id": "bob"})
    memory.add("I like tea.", user_id="ann", metadata={"topic": "drinks"})
    assert active(memory, "bob") == []
    assert memory.list(user_id="ann").memories[0].metadata == {"topic": "drinks"}
