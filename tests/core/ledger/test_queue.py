"""An add in the queue leaves it by its commit or on purpose, and in no other way."""

import os
import signal
import time
from collections.abc import Callable

import pytest
from support.forks import KILLED, outcome, start
from support.ledgers import ANN, BOB

from mindmem.core.ledger.processes import mark
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Scope

ODD = Scope("default", "c:d", "", "🦊", "it's")


def test_waiting_adds_are_claimed_oldest_first_with_scope_and_payload(ledger: SqlLedger) -> None:
    for number, scope in enumerate([ANN, ODD, BOB]):
        ledger.enqueue(f"add_{number}", scope, f'{{"text": "\x00 \ud800 {number}"}}')
    first = ledger.claim("default", 2, "me", 60)
    assert [(add.add_id, add.scope, add.attempts) for add in first] == [("add_0", ANN, 1), ("add_1", ODD, 1)]
    assert first[1].payload == '{"text": "\x00 \ud800 1"}'
    assert [add.add_id for add in ledger.claim("default", 2, "other", 60)] == ["add_2"]
    assert ledger.claim("default", 2, "other", 60) == []
    assert ledger.pending() == 3


def test_a_repeated_add_is_kept_once_and_answered_with_what_is_kept(ledger: SqlLedger) -> None:
    assert ledger.enqueue("add_1", ANN, "first") == "first"
    assert ledger.enqueue("add_1", BOB, "second") == "first"
    assert [(add.scope, add.payload) for add in ledger.claim("default", 9, "me", 60)] == [(ANN, "first")]


def test_a_claim_that_ran_out_gives_the_add_back(ledger: SqlLedger) -> None:
    ledger.enqueue("add_1", ANN, "{}")
    ledger.claim("default", 1, "crashed", 0.05)
    assert ledger.claim("default", 1, "other", 60) == []
    time.sleep(0.1)
    (again,) = ledger.claim("default", 1, "other", 60)
    assert again.attempts == 2


def test_a_requeued_add_waits_its_delay_and_carries_its_reason(ledger: SqlLedger) -> None:
    ledger.enqueue("add_1", ANN, "{}")
    (claimed,) = ledger.claim("default", 1, "me", 60)
    assert claimed.last_error == ""
    ledger.requeue("add_1", "the model was away", 0.1)
    assert ledger.claim("default", 1, "me", 60) == []
    time.sleep(0.15)
    (again,) = ledger.claim("default", 1, "me", 60)
    assert (again.attempts, again.last_error) == (2, "the model was away")
    assert again.enqueued_at == claimed.enqueued_at


def test_a_dropped_add_is_gone(ledger: SqlLedger) -> None:
    ledger.enqueue("add_1", ANN, "{}")
    ledger.drop_pending("add_1")
    assert ledger.pending() == 0
    assert ledger.claim("default", 1, "me", 60) == []


def test_a_project_gets_its_own_adds_only(ledger: SqlLedger) -> None:
    ledger.enqueue("add_ours", ANN, "ours")
    ledger.enqueue("add_theirs", Scope.of("ann", project_id="other"), "theirs")
    assert (ledger.pending(), ledger.pending("default"), ledger.pending("none")) == (2, 1, 0)
    assert [add.add_id for add in ledger.claim("other", 9, "me", 60)] == ["add_theirs"]
    assert [add.add_id for add in ledger.claim("default", 9, "me", 60)] == ["add_ours"]


@pytest.mark.skipif(not mark(), reason="this system has no /proc that tells processes apart")
@pytest.mark.parametrize(
    "take",
    [
        lambda ledger: ledger.claim("default", 1, "killed", 3600),
        lambda ledger: ledger.claim_these(["add_1"], "killed", 3600),
    ],
    ids=["of the oldest", "of these"],
)
def test_the_claim_of_a_process_that_was_killed_is_given_back_to_its_own_project(
    ledger: SqlLedger, ledger_url: str, take: Callable[[SqlLedger], object]
) -> None:
    def work() -> None:
        with open_ledger(ledger_url) as own:
            take(own)
            os.kill(os.getpid(), signal.SIGKILL)

    ledger.enqueue("add_1", ANN, "{}")
    ledger.enqueue("add_2", ANN, "{}")
    assert outcome(start(work)) == KILLED
    (living,) = ledger.claim("default", 2, "living", 3600)
    assert living.add_id == "add_2"
    assert ledger.free_claims("other") == 0
    assert ledger.free_claims("default") == 1
    (again,) = ledger.claim("default", 2, "next", 3600)
    assert (again.add_id, again.attempts) == ("add_1", 2)


def test_the_claim_of_a_process_that_lives_is_its_own(ledger: SqlLedger) -> None:
    ledger.enqueue("add_1", ANN, "{}")
    ledger.claim("default", 1, "living", 3600)
    assert ledger.free_claims("default") == 0
    assert ledger.claim("default", 1, "other", 60) == []
