"""Whatever is written, folded in whatever rounds, killed wherever and maintained: the state is that of the log."""

import tempfile

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.changes import revise, say

from mindmem.core.failpoints import arm
from mindmem.core.ledger.sql import open_ledger
from mindmem.core.records import Memory
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.maintain import maintain
from mindmem.core.tables.reader import Reader
from mindmem.core.tables.verify import verify

POINTS = st.sampled_from(["fold.appended", "fold.synced", "fold.pinned"])
STEP = st.one_of(
    st.tuples(st.just("say"), st.sampled_from(["ann", "a:b", "🧠"]), st.just(0)),
    st.tuples(st.just("revise"), st.just(""), st.integers(0, 5)),
    st.tuples(st.just("fold"), st.just(""), st.integers(1, 12)),
    st.tuples(st.just("killed fold"), POINTS, st.integers(1, 9)),
    st.tuples(st.just("maintain"), st.just(""), st.just(0)),
)


class Killed(BaseException):
    """Stands for the end of the process."""


def kill_at(point: str, times: int) -> None:
    left = [times]

    def hook(name: str) -> None:
        left[0] -= name == point
        if left[0] == 0 and name == point:
            raise Killed

    arm(hook)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, min_size=4, max_size=12))
def test_state_equals_the_log_after_any_history(steps: list[tuple[str, str, int]]) -> None:
    with tempfile.TemporaryDirectory() as home, open_ledger(f"sqlite:///{home}/ledger.db") as ledger:
        tables = DeltaTables(f"{home}/tables")
        reader = Reader(ledger, tables)
        expected: dict[str, Memory] = {}
        for place, (what, word, number) in enumerate(steps):
            match what:
                case "say":
                    made = say(ledger, word, place, f"thing {place}")[1]
                    expected[made.memory_id] = made
                case "revise" if expected:
                    name = sorted(expected)[number % len(expected)]
                    expected[name] = revise(ledger, expected[name], confidence=0.5)
                case "fold":
                    fold(ledger, tables, owner="test", max_rows=number)
                case "killed fold":
                    kill_at(word, number)
                    try:
                        fold(ledger, tables, owner="test", max_rows=6)
                    except Killed:
                        pass
                    finally:
                        arm(None)
                case "maintain":
                    maintain(ledger, tables, owner="test", keep_days=0)
            for one in (reader, Reader(ledger, DeltaTables(tables.uri))):
                found = {memory.memory_id: memory.revision for memory in one.memories("default")}
                assert found == {name: memory.revision for name, memory in expected.items()}
        assert verify(ledger, tables) == []
        fold(ledger, tables, owner="test")
        rows = tables.scan("memories").select("seq").collect()["seq"]
        assert rows.n_unique() == len(rows) == sum(memory.revision for memory in expected.values())
        assert verify(ledger, tables) == []
