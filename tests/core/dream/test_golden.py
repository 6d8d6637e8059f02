"""The case of the MindMemOS paper (arXiv 2608.12428): an author is said to be famous for two works; the one told later
holds, a third fact that has nothing to do with it stays."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.dreams import USER, active, dream_store, everything, links, tell

from mindmem.core.memory import Memory
from mindmem.core.reason.dream_port import DetectRequest
from mindmem.core.reason.port import Judged
from mindmem.core.reason.rules.dream.family import rules_dream_reasoner
from mindmem.core.records.dream import DreamReport

EARLIER = "Sara Quillon is famous for The Glass Harbour."
LATER = "Sara Quillon is famous for Winter Letters."
UNRELATED = "Sara Quillon grows roses."
OTHERS = [f"{name} Berg is famous for {work} Songs." for name, work in (
    ("Adam", "Amber"), ("Bela", "Birch"), ("Cleo", "Coral"), ("Dora", "Dusk"), ("Egon", "Ember"), ("Fritz", "Fern"),
    ("Gerda", "Granite"), ("Hanna", "Heather"), ("Ivan", "Ivory"), ("Jonas", "Jade"), ("Karla", "Kelp"),
    ("Lotte", "Larch"), ("Mila", "Maple"),
)]  # fmt: skip
"""Other authors, each famous for one work: what tells that one is what people are famous for here."""


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with dream_store(tmp_path) as opened:
        tell(opened, [*OTHERS, EARLIER, UNRELATED])
        tell(opened, [LATER, *(f"The river Alna has {number} locks." for number in range(3, 10))])
        yield opened


@pytest.fixture
def dreamt(memory: Memory) -> DreamReport:
    return memory.dream(user_id=USER)


def test_the_conflict_is_detected_and_the_later_work_kept(memory: Memory) -> None:
    memories = sorted(everything(memory).values(), key=lambda one: (one.seq, one.sources[0].start))
    reasoner = rules_dream_reasoner()
    survey = reasoner.survey.survey(memories)
    window = tuple(one for one in memories if one.entity_name == "Sara Quillon")
    [verdict] = asyncio.run(reasoner.detect.detect([DetectRequest(window, survey)]))
    assert isinstance(verdict, Judged)
    [issue] = verdict.value
    stored = everything(memory)
    assert (issue.kind, issue.sure, issue.keep) == ("conflict", True, stored[LATER].memory_id)
    assert issue.memory_ids == (stored[EARLIER].memory_id, stored[LATER].memory_id)


def test_the_earlier_work_is_archived_and_nothing_else(memory: Memory, dreamt: DreamReport) -> None:
    assert [line.before for line in dreamt.scopes[0].diff] == [EARLIER]
    assert EARLIER not in active(memory)
    assert {LATER, UNRELATED, *OTHERS} <= active(memory)
    assert (dreamt.archived, dreamt.scopes[0].retention) == (1, 1.0)


@pytest.mark.usefixtures("dreamt")
def test_the_versions_are_linked(memory: Memory) -> None:
    assert links(memory, "supersedes") == {(LATER, EARLIER)}
    assert (EARLIER, LATER) in links(memory, "NEXT")


def test_search_finds_both_before_and_the_later_one_after(memory: Memory) -> None:
    def found() -> set[str]:
        hits = memory.search("What is Sara Quillon famous for?", user_id=USER, top_k=5).hits
        return {hit.memory.content for hit in hits}

    assert {EARLIER, LATER} <= found()
    memory.dream(user_id=USER)
    assert LATER in found()
    assert EARLIER not in found()


@pytest.mark.usefixtures("dreamt")
def test_the_history_keeps_both(memory: Memory) -> None:
    gone = everything(memory)[EARLIER]
    assert [revision.status for revision in memory.history(gone.memory_id)] == ["active", "archived"]
    assert gone.valid_to is not None


def test_with_only_one_other_author_nobody_can_tell_and_both_stay(tmp_path: Path) -> None:
    with dream_store(tmp_path / "small") as memory:
        rest = [f"The river Alna has {number} locks." for number in range(3, 9)]
        tell(memory, [EARLIER, UNRELATED, OTHERS[0], *rest])
        tell(memory, [LATER, *(f"The river Bolna has {number} locks." for number in range(3, 11))])
        memory.dream(user_id=USER)
        assert {EARLIER, LATER} <= active(memory)
        assert (LATER, EARLIER) in links(memory, "related")
