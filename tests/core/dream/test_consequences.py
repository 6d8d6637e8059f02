"""What was synthesised from memories that a dream retires: it is retired, or carried over, with them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.dreams import USER, active, dream_store, everything, links, say

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.memory import Memory
from mindmem.core.records import Action, Edge, Plan
from mindmem.core.records import Memory as Record

HIGHER = "Ann is at home in the north."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with dream_store(tmp_path) as opened:
        yield opened


def _synthesise(memory: Memory, content: str, *parents: str) -> Record:
    """Write a memory of order 2 that rests on those with these words."""
    stored = everything(memory)
    rests = [stored[one] for one in parents]
    made = replace(
        rests[0], memory_id=f"mem_{ids.content_hash(content)[:24]}", revision=1, content=content, order=2, value="",
        property_name="", content_hash=ids.content_hash(content), parents=tuple(one.memory_id for one in rests),
        sources=tuple(source for one in rests for source in one.sources), recorded_at=None, change_id="", seq=0,
    )  # fmt: skip
    scope = made.scope.without_session()
    edges = tuple(Edge(made.memory_id, "RELATED_TO", one.memory_id, scope, "derived_from") for one in rests)
    memory.services.applier.apply(
        Plan(kind="add", scope=scope, base_version=None, actions=(Action("add", made, "said"),), edges=edges),
        Request(),
    )
    return made


def test_what_rests_on_a_superseded_memory_is_retired_with_it_and_shown(memory: Memory) -> None:
    say(memory, "I live in Oslo.", "I like skiing.")
    _synthesise(memory, HIGHER, "Ann lives in Oslo.", "Ann likes skiing.")
    say(memory, "I live in Rome.")
    report = memory.dream()
    assert HIGHER not in active(memory)
    assert {line.before for line in report.scopes[0].diff} == {"Ann lives in Oslo.", HIGHER}
    assert report.archived == 2, "the cap counts it"
    assert memory.dream().archived == 0


def test_what_rests_on_memories_that_stay_stays(memory: Memory) -> None:
    say(memory, "I live in Oslo.", "I like skiing.", "I like snow.")
    _synthesise(memory, HIGHER, "Ann likes skiing.", "Ann likes snow.")
    say(memory, "I live in Rome.")
    assert memory.dream().archived == 1
    assert HIGHER in active(memory)


def test_what_rests_on_a_folded_memory_rests_on_the_one_that_says_the_same(memory: Memory) -> None:
    say(memory, "I have two cats.", "I like skiing.")
    made = _synthesise(memory, HIGHER, "Ann has two cats.", "Ann likes skiing.")
    say(memory, "I own two cats.")
    memory.dream()
    [left] = [one for one in everything(memory).values() if "cats" in one.content and one.status == "active"]
    kept = everything(memory)[HIGHER]
    assert (kept.status, left.memory_id in kept.parents) == ("active", True)
    gone = {one.memory_id for one in everything(memory).values() if one.status != "active"}
    assert gone.isdisjoint(kept.parents)
    assert len(kept.parents) == len(made.parents)
    assert (HIGHER, left.content) in links(memory, "derived_from")


def test_undo_brings_back_both(memory: Memory) -> None:
    say(memory, "I live in Oslo.", "I like skiing.")
    _synthesise(memory, HIGHER, "Ann lives in Oslo.", "Ann likes skiing.")
    say(memory, "I live in Rome.")
    before = active(memory)
    memory.undo_run(memory.dream().run_id)
    assert active(memory) == before


def test_a_dry_run_shows_it_and_leaves_it(memory: Memory) -> None:
    say(memory, "I live in Oslo.", "I like skiing.")
    _synthesise(memory, HIGHER, "Ann lives in Oslo.", "Ann likes skiing.")
    say(memory, "I live in Rome.")
    report = memory.dream(dry_run=True)
    assert HIGHER in {line.before for line in report.scopes[0].diff}
    assert HIGHER in active(memory)
    memory.approve(report.scopes[0].proposal_id)
    assert HIGHER not in active(memory, USER)


def test_in_schema_mode_what_lost_its_evidence_is_drawn_anew(tmp_path: Path) -> None:
    with dream_store(tmp_path / "schema", ingest={"mode": "schema"}) as memory:
        say(memory, "I like jazz.")
        say(memory, "I like skiing.")
        say(memory, "I like hiking.")
        before = {one.memory_id: one for one in everything(memory).values() if one.order == 2}
        assert before, "something was synthesised"
        say(memory, "I hate jazz.")
        memory.dream()
        stored = everything(memory)
        standing = {one.memory_id for one in stored.values() if one.status == "active"}
        assert not any("likes jazz" in one.content for one in stored.values() if one.status == "active")
        higher = [one for one in stored.values() if one.order == 2 and one.status == "active"]
        assert all(set(one.parents) <= standing for one in higher), "nothing rests on what is gone"
