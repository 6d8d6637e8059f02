"""A timeline is what was said of each time, whatever the order in which it was said and the adds that it came in."""

from collections.abc import Coroutine, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import SCOPE, at, candidate, message
from support.schema import USER, say, schema_store

from mindmem.core.ingest.decide import decide
from mindmem.core.ingest.gate import Gated, gate
from mindmem.core.ingest.memories import new_memory
from mindmem.core.reason.port import Candidate, Judged, ResolutionRequest
from mindmem.core.reason.rules.resolve import RulesResolver
from mindmem.core.records import Memory, Skip
from mindmem.core.settings import IngestSettings

TOWNS = ("Oslo", "Rome", "Bergen", "Lima")

Statement = tuple[str, float]
"""Where Ann has lived since which day."""


def _said(statement: Statement) -> Candidate:
    town, day = statement
    heard = message(f"Since day {day:g} I live in {town}.", timestamp=at(day), position=int(day * 10))
    return candidate(
        f"Ann lives in {town}.", heard, prop="residence", value=town, valid_from=at(day), single_valued=True,
        time_precision="day",
    )  # fmt: skip


class _Store:
    """The head revisions of one topic, and when their messages were said."""

    def __init__(self) -> None:
        self.heads: dict[str, Memory] = {}
        self.said: dict[str, datetime | None] = {}
        self.seq = 0

    async def add(self, statements: Sequence[Statement]) -> None:
        """Recall, resolve, gate and decide as the pipeline does, and apply."""
        candidates = [_said(one) for one in statements]
        self.said.update((one.sources[0].message_id, one.observed_at) for one in candidates)
        stored = sorted(self.heads.values(), key=lambda one: -one.seq)
        made: list[Memory] = []
        requests = []
        for one in candidates:
            exact = [memory for memory in stored if memory.content == one.content and memory.status == "active"]
            recalled = exact or [memory for memory in stored if memory.status == "active"]
            requests.append(ResolutionRequest(one, (*recalled, *made[-1:])))
            made.append(new_memory(one, SCOPE, {}))
        verdicts = await RulesResolver().resolve(requests)
        passed: list[Gated] = []
        for asked, verdict in zip(requests, verdicts, strict=True):
            assert isinstance(verdict, Judged)
            outcome = gate(asked, verdict, IngestSettings())
            assert not isinstance(outcome, Skip)
            passed.append(outcome)
        topic = (made[0].entity_id, made[0].property_name)
        plan = decide(
            passed, scope=SCOPE, messages=(), base_version=None, timelines={topic: stored},
            recorded=self.heads.keys(), now=at(1_000), said=self.said,
        )  # fmt: skip
        self.seq += 1
        for action in plan.actions:
            known = self.heads.get(action.memory.memory_id)
            assert action.memory.revision == (known.revision + 1 if known else 1)
            head = action.memory
            self.heads[head.memory_id] = replace(head, seq=self.seq)

    def timeline(self) -> list[tuple[str, datetime | None, datetime | None, str]]:
        """Return value, beginning, end and status in order of time."""
        return sorted(
            ((one.value, one.valid_from, one.valid_to, one.status) for one in self.heads.values()),
            key=lambda row: row[1] or at(0) - timedelta(days=1_000),
        )


Row = tuple[str, datetime | None, datetime | None, str]


def _now(steps: Coroutine[None, None, list[Row]]) -> list[Row]:
    """Return what steps that wait for nothing come to; an event loop for each example would take most of the time."""
    try:
        steps.send(None)
    except StopIteration as done:
        rows: list[Row] = done.value
        return rows
    raise AssertionError("the rules wait for nothing")


async def _told(adds: Sequence[Sequence[Statement]]) -> list[Row]:
    store = _Store()
    for one in adds:
        await store.add(one)
    return store.timeline()


def _expected(statements: Sequence[Statement]) -> list[Row]:
    """What holds from when: a town that is named twice running is one stay."""
    stays = [one for place, one in enumerate(statements) if place == 0 or statements[place - 1][0] != one[0]]
    ends = [*(at(day) for _, day in stays[1:]), None]
    return [(town, at(day), end, "archived" if end else "active") for (town, day), end in zip(stays, ends, strict=True)]


@st.composite
def _histories(draw: st.DrawFn) -> tuple[list[Statement], list[list[Statement]]]:
    """Statements of different days, in which towns come again; and the same shuffled and split into adds."""
    towns = draw(st.lists(st.sampled_from(TOWNS), min_size=2, max_size=6))
    statements = [(town, float(10 * place)) for place, town in enumerate(towns)]
    shuffled = draw(st.permutations(statements))
    cuts = sorted(draw(st.sets(st.integers(1, len(towns) - 1))))
    adds = [list(shuffled[begin:end]) for begin, end in zip([0, *cuts], [*cuts, len(towns)], strict=True)]
    return statements, adds


@settings(max_examples=1_000, deadline=None)
@given(_histories())
def test_any_order_and_any_split_of_dated_statements_give_the_same_timeline(
    history: tuple[list[Statement], list[list[Statement]]],
) -> None:
    statements, adds = history
    assert _now(_told(adds)) == _expected(statements)


def test_a_stay_that_was_named_twice_is_parted_by_what_a_later_add_tells_of_in_between(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "I live in Oslo.", day=1)
        say(memory, "I live in Oslo.", day=20)
        say(memory, "I live in Rome.", day=10)
        rows = memory.timeline("Sam", "residence", user_id=USER)
        told = sorted((one.observed_at.day, one.value, one.status) for one in rows if one.observed_at)
        assert told == [(1, "Oslo", "archived"), (10, "Rome", "archived"), (20, "Oslo", "active")]
        assert not memory.verify()
