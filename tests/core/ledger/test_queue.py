"""An add in the queue leaves it by its commit or on purpose, and in no other way."""

import time

from support.ledgers import ANN, BOB

from mindmem.core.ledger.sql import SqlLedger
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
