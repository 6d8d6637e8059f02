"""Reports from the field about other memory systems' consolidation, each as a test with its control."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.dreams import USER, active, dream_store, everything, links, say, tell

from mindmem.core.memory import Memory
from mindmem.core.reason.dream_port import DetectRequest, Issue
from mindmem.core.reason.port import Failed, Verdict


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with dream_store(tmp_path) as opened:
        yield opened


# -- repetitions do not pile up (mem0 5850, hindsight 1566)


def test_five_facts_in_three_wordings_each_come_to_five(memory: Memory) -> None:
    for wordings in (
        ("I have two cats.", "I've got two cats.", "I own two cats."),
        ("I work at Acme.", "I'm working at Acme.", "I work for Acme."),
        ("I live in Oslo.", "I'm living in Oslo.", "I reside in Oslo."),
        ("I love jazz.", "I really love jazz.", "I enjoy jazz."),
        ("I am allergic to peanuts.", "I'm allergic to peanuts!", "I am very allergic to peanuts."),
    ):
        for wording in wordings:
            say(memory, wording)
    memory.dream()
    assert len(active(memory)) <= 5, sorted(active(memory))


def test_three_hundred_wordings_of_one_observation_come_to_one(memory: Memory) -> None:
    wordings = (
        "I like {}.", "I love {}.", "I enjoy {}.", "I adore {}.", "I'm fond of {}.", "I'm a fan of {}.",
        "I'm a big fan of {}.", "I like {} a lot.", "I really love {}.", "I've always loved {}.", "I'm crazy about {}.",
    )  # fmt: skip
    said = [wording.format(what) for _ in range(9) for wording in wordings for what in ("black tea", "jazz", "chess")]
    for start in range(0, len(said), 33):
        say(memory, *said[start : start + 33])
    before = len(active(memory))
    memory.dream()
    assert before > 10
    assert len(active(memory)) == 3, sorted(active(memory))


def test_what_differs_in_a_number_a_name_a_date_or_a_negation_stays_apart(memory: Memory) -> None:
    said = (
        "My locker is number 17.", "My bike lock has 4 digits.", "My sister plays the cello.",
        "My brother plays the cello.",
        "I don't eat fish.", "I eat meat.", "On May 1 I weighed 80 kg.", "On May 8 I weighed 79 kg.",
    )  # fmt: skip
    for one in said:
        say(memory, one)
    before = active(memory)
    memory.dream()
    assert active(memory) == before


# -- conflicts


def test_a_taste_that_turned_leaves_the_new_one_and_the_history_both(memory: Memory) -> None:
    say(memory, "I love Chinese food.")
    say(memory, "I hate Chinese food.")
    memory.dream()
    [left] = active(memory)
    assert "hate" in left
    assert len(everything(memory)) == 2


def test_a_diet_and_a_meal_that_does_not_go_with_it_stay_and_are_flagged(memory: Memory) -> None:
    say(memory, "I'm vegetarian.")
    say(memory, "I had steak yesterday.", "I had tofu today.")
    memory.dream()
    assert {one for one in active(memory) if "steak" in one or "vegetarian" in one} == {
        "Ann is vegetarian.", "I had steak yesterday.",
    }  # fmt: skip
    assert links(memory, "contradicts") == {("I had steak yesterday.", "Ann is vegetarian.")}
    [state] = memory.search("Am I a vegetarian?", user_id=USER, top_k=1).hits
    assert state.memory.content == "Ann is vegetarian."


def test_facts_that_have_nothing_to_do_with_each_other_retire_none(memory: Memory) -> None:
    said = [
        "I have a dog.", "I have a cat.", "I like tea.", "I like coffee.", "I speak Dutch.", "I speak Polish.",
        "I play chess.", "I play the cello.", "My sister lives in Bergen.", "My brother lives in Rome.",
        "I visited Vienna.", "I visited Prague.", "We use Redis for caching.", "We use Kafka for events.",
    ]  # fmt: skip
    for one in said:
        say(memory, one)
    before = active(memory)
    memory.dream()
    assert active(memory) == before


def test_two_values_in_one_breath_stay_and_are_linked_as_contradicting(memory: Memory) -> None:
    say(memory, "My phone number is 555-1234, my phone number is 555-9999.")
    memory.dream()
    assert len(active(memory)) == 2
    assert len(links(memory, "contradicts")) == 1


def test_two_values_in_one_add_but_two_messages_leave_the_later_one(memory: Memory) -> None:
    say(memory, "I live in Oslo.", "I live in Rome.")
    memory.dream()
    assert {one for one in active(memory) if "live" in one} == {"Ann lives in Rome."}


def test_a_value_that_arrives_late_but_was_true_earlier_does_not_win(memory: Memory) -> None:
    say(memory, "I live in Rome.", day=20)
    say(memory, "I live in Oslo.", day=3)
    memory.dream()
    assert active(memory) == {"Ann lives in Rome."}
    oslo = everything(memory)["Ann lives in Oslo."]
    assert oslo.valid_to is not None
    assert (oslo.valid_to.month, oslo.valid_to.day) == (1, 20)


def test_what_somebody_says_of_themselves_is_not_taken_back_by_another(memory: Memory) -> None:
    say(memory, "I live in Oslo.")
    say(memory, "Ann lives in Rome.", name="Ben")
    memory.dream()
    assert "Ann lives in Oslo." in active(memory)


def test_a_correction_closes_the_old_value(memory: Memory) -> None:
    say(memory, "We use PostgreSQL for the billing service.")
    say(memory, "We switched from PostgreSQL to MySQL for the billing service.")
    memory.dream()
    [left] = active(memory)
    assert "MySQL" in left


def test_what_has_expired_is_not_found_by_search_and_no_dream_brings_it_back(memory: Memory) -> None:
    say(memory, "I live in Oslo.")
    say(memory, "I live in Rome.")
    memory.dream()
    again = memory.dream()
    assert again.archived == 0
    assert [hit.memory.value for hit in memory.search("Where do I live?", user_id=USER).hits] == ["Rome"]


def test_another_agents_memories_are_never_folded_or_retired(memory: Memory) -> None:
    memory.add({"role": "user", "name": "Ann", "content": "I live in Oslo."}, user_id=USER, agent_id="one")
    memory.add({"role": "user", "name": "Ann", "content": "I live in Rome."}, user_id=USER, agent_id="two")
    memory.dream()
    assert len(active(memory)) == 2


# -- failures and size (rockbot 495, MindMemOS 3.7)


class _Failing:
    """The rules, but for windows that hold certain words: there they fail, as a model may."""

    def __init__(self, memory: Memory, word: str) -> None:
        self._rules = memory.services.dream_reasoner.detect
        self.word = word

    async def detect(self, requests: list[DetectRequest]) -> list[Verdict[tuple[Issue, ...]]]:
        if any(self.word in one.content for request in requests for one in request.memories):
            return [Failed("no answer", transient=True) for _ in requests]
        return await self._rules.detect(requests)


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[Memory]:
    with dream_store(tmp_path / "failing", window=2) as opened:
        say(opened, "I live in Oslo.")
        say(opened, "I live in Rome.")
        tell(opened, [f"The harbour master of {place} is {who}." for place, who in (
            ("Tolva", "Grubb"), ("Tolva", "Marn"), *((f"Bay{n}", f"Keeper{n}") for n in range(8)),
        )])  # fmt: skip
        opened.services.dream_judge = replace(opened.services.dream_reasoner, detect=_Failing(opened, "Tolva"))
        yield opened


def test_a_cluster_that_fails_stays_pending_by_name_and_the_others_go_on(failing: Memory) -> None:
    report = failing.dream()
    assert "Ann lives in Oslo." not in active(failing)
    [pending] = report.pending
    assert pending.reason == "no answer"
    assert report.failed
    assert report.scopes[0].adds == 2, "the add with the failed cluster is not marked"


def test_the_next_run_does_what_stayed_pending(failing: Memory) -> None:
    failing.dream()
    failing.services.dream_judge = None
    report = failing.dream()
    assert (report.pending, report.scopes[0].adds) == ((), 1)
    assert "The harbour master of Tolva is Grubb." not in active(failing)


def test_one_memory_alone_stops_no_other_user(memory: Memory) -> None:
    say(memory, "I have a cat.", user="lone")
    say(memory, "I live in Oslo.")
    say(memory, "I live in Rome.")
    report = memory.dream()
    assert {scope.scope.user_id: scope.archived for scope in report.scopes} == {"lone": 0, USER: 1}


def test_an_entity_with_hundreds_of_memories_is_not_skipped(memory: Memory) -> None:
    for start in range(0, 200, 20):
        say(memory, *(f"I have been to place number {number}." for number in range(start, start + 20)))
    say(memory, "I live in Oslo.")
    say(memory, "I live in Rome.")
    memory.dream()
    assert "Ann lives in Oslo." not in active(memory)
    assert len(active(memory)) == 201


def test_small_talk_that_was_kept_goes_and_what_carries_something_stays(memory: Memory) -> None:
    say(memory, "I adopted a puppy!")
    kept = active(memory)
    report = memory.dream()
    assert (active(memory), report.archived) == (kept, 0)
