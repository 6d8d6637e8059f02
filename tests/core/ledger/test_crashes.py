"""Killed at any point of a commit, the ledger holds all of the change or nothing, and a retry completes it once."""

import os
import signal
from functools import partial

import pytest
from support.forks import KILLED, outcome, start
from support.ledgers import ANN, adding, claim, revising

from mindmem.core import failpoints
from mindmem.core.ledger.port import Draft, ScopeState
from mindmem.core.ledger.sql import open_ledger

pytestmark = pytest.mark.faults

POINTS = [name for name in failpoints.FAILPOINTS if name.startswith("commit.")]


def die_at(point: str, url: str, draft: Draft) -> None:
    def kill(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.arm(kill)
    with open_ledger(url) as ledger:
        ledger.commit(draft)


def second_change() -> Draft:
    """A change that adds, archives, uses a key and completes a pending add."""
    memories = [claim("two"), claim("one", revision=2, status="archived")]
    return revising(memories, base=1, key="k", digest="d", result="{}", done="add_1")


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_leaves_nothing_half_done_and_a_retry_gives_one_change(ledger_url: str, point: str) -> None:
    with open_ledger(ledger_url) as ledger:
        ledger.commit(adding("one"))
        ledger.enqueue("add_1", ANN, "{}")
    draft = second_change()
    assert outcome(start(partial(die_at, point, ledger_url, draft))) == KILLED

    written = point == "commit.durable"
    with open_ledger(ledger_url) as ledger:
        assert ledger.last_seq() == (2 if written else 1)
        assert [entry.change.seq for entry in ledger.read_log(0)] == ([1, 2] if written else [1])
        assert ledger.pending() == (0 if written else 1)
        assert (ledger.by_key("default", "k") is not None) == written
        assert ledger.scope_state(ANN.partition) == ScopeState(2 if written else 1, 2 if written else 1, 1)
        assert (claim("two").memory_id in ledger.heads("memory", [claim("two").memory_id])) == written

        # The caller never heard of it and repeats the request, which it decides on what it finds.
        retry = second_change()
        answer = ledger.commit(retry)
        assert answer.change_id == (draft.change_id if written else retry.change_id)
        assert ledger.commit(second_change()) == answer
        assert [change.seq for change in ledger.changes()] == [1, 2]
        assert ledger.scope_state(ANN.partition) == ScopeState(2, 2, 1)
        heads = ledger.heads("memory", [claim("one").memory_id, claim("two").memory_id])
        assert {(head.revision, head.status) for head in heads.values()} == {(2, "archived"), (1, "active")}
        assert ledger.pending() == 0


def commit_forever(url: str, worker: int) -> None:
    with open_ledger(url) as ledger:
        while True:
            ledger.commit(adding(f"{worker} says {ledger.scope_state(ANN.partition).version}"))


def test_writers_killed_at_random_leave_a_log_without_gaps(ledger_url: str) -> None:
    with open_ledger(ledger_url) as ledger:
        seen = 0
        for worker in range(5):
            pid = start(partial(commit_forever, ledger_url, worker))
            while ledger.last_seq() < seen + 3:
                pass
            os.kill(pid, signal.SIGKILL)
            assert outcome(pid) == KILLED
            seen = ledger.last_seq()
            assert [entry.change.seq for entry in ledger.read_log(0)] == list(range(1, seen + 1))
        state = ledger.scope_state(ANN.partition)
        assert (state.version, state.active, state.last_seq) == (seen, seen, seen)
        assert ledger.commit(adding("the next")).seq == seen + 1
