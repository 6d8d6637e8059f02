"""Undo of a dream: over random stores, the same active memories, edges, and search answers as before."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.dreams import USER, active, dream_store, say

from mindmem.core.errors import Conflict, NotFound
from mindmem.core.memory import Memory
from mindmem.core.records import Partition

_SAID = (
    "I live in Oslo.", "I live in Rome.", "I live in Bergen.", "I'm living in Rome.", "I have a cat.", "I own a cat.",
    "I like jazz.", "I hate jazz.", "I really like jazz.", "I work at Acme.", "I work at Initech.", "Haha, nice!",
    "My phone number is 555-1234.", "My phone number is 555-9999.", "I'm vegetarian.", "I had steak yesterday.",
    "We use Redis for caching.", "We switched from Redis to Kafka for caching.",
)  # fmt: skip
_QUESTIONS = ("Where do I live?", "jazz", "Where do I work?", "phone number", "caching")


def _seen(memory: Memory) -> tuple[object, ...]:
    """What a user can tell of a store: active memories with all that they say, standing edges, answers of searches."""
    owner = Partition("default", USER)
    memories = sorted(
        (one.memory_id, one.content, one.status, one.valid_to, one.sources, one.reinforcement_count, one.mentions)
        for one in memory.services.reader.memories(owner)
    )
    edges = sorted(
        (one.src, one.relation, one.dst, one.kind, one.start, str(one.valid_to))
        for one in memory.services.reader.edges(owner)
    )
    answers = [[hit.memory.memory_id for hit in memory.search(one, user_id=USER).hits] for one in _QUESTIONS]
    return tuple(memories), tuple(edges), answers


@given(st.lists(st.lists(st.sampled_from(_SAID), min_size=1, max_size=4), min_size=2, max_size=5))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_dream_that_is_taken_back_leaves_no_trace_in_what_is_active(adds: Sequence[Sequence[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, dream_store(Path(folder)) as memory:
        for contents in adds:
            say(memory, *contents)
        before = _seen(memory)
        report = memory.dream()
        if report.scopes[0].change_ids:
            memory.undo_run(report.run_id)
        assert _seen(memory) == before
        assert memory.verify() == ()


def test_what_was_taken_back_is_not_done_again(tmp_path: Path) -> None:
    with dream_store(tmp_path) as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
        memory.undo_run(memory.dream().run_id)
        say(memory, "I have a cat.")
        report = memory.dream()
        assert (report.archived, report.scopes[0].withheld) == (0, 1)
        assert {"Ann lives in Oslo.", "Ann lives in Rome."} <= active(memory)


def test_a_run_over_several_users_is_taken_back_in_all(tmp_path: Path) -> None:
    with dream_store(tmp_path) as memory:
        for user in (USER, "ben"):
            say(memory, "I live in Oslo.", user=user)
            say(memory, "I live in Rome.", user=user)
        report = memory.dream()
        assert report.archived == 2
        assert {change.scope.user_id for change in memory.undo_run(report.run_id)} == {USER, "ben"}
        assert len(active(memory)) == len(active(memory, "ben")) == 2


def test_a_memory_that_changed_since_is_in_the_way_and_nothing_is_written(tmp_path: Path) -> None:
    with dream_store(tmp_path) as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
        report = memory.dream()
        [oslo] = memory.list(user_id=USER, filters={"status": "archived"}).memories
        memory.update(oslo.memory_id, content="Ann lived in Oslo, near the harbour.")
        seq = memory.services.ledger.last_seq()
        with pytest.raises(Conflict, match="changed again since"):
            memory.undo_run(report.run_id)
        assert memory.services.ledger.last_seq() == seq


def test_a_run_that_is_unknown_is_told(tmp_path: Path) -> None:
    with dream_store(tmp_path) as memory, pytest.raises(NotFound, match="run_none"):
        memory.undo_run("run_none")
