"""The queue by whose adds they are: seen in order over all sessions, taken together or not at all."""

import json
import time

import pytest
from support.ledgers import ANN, BOB, adding

from mindmem.core.errors import Conflict, LeaseLost, ScopeChanged
from mindmem.core.ledger.port import Joined
from mindmem.core.ledger.sql import SqlLedger
from mindmem.core.records import Scope

ONE, TWO = Scope.of("ann", session_id="one"), Scope.of("ann", session_id="two")
AGENT = Scope.of("ann", agent_id="coder")


def payload(messages: int) -> str:
    return json.dumps({"messages": [{"text": "é\n"}] * messages})


def test_buffers_are_counted_by_user_app_and_agent_over_all_sessions(ledger: SqlLedger) -> None:
    assert ledger.buffers("default") == []
    for number, scope in enumerate([BOB, ONE, AGENT, TWO]):
        ledger.enqueue(f"add_{number}", scope, payload(number + 1))
    ledger.enqueue("add_theirs", Scope.of("ann", project_id="other"), payload(9))
    found = [(one.scope, one.adds, one.messages, one.free) for one in ledger.buffers("default")]
    assert found == [(BOB, 1, 1, True), (ANN, 2, 6, True), (AGENT, 1, 3, True)]
    assert [one.scope for one in ledger.buffers("default", ANN)] == [ANN, AGENT]
    assert [one.scope for one in ledger.buffers("default", AGENT)] == [AGENT]


def test_what_waits_is_read_in_the_order_in_which_it_came(ledger: SqlLedger) -> None:
    for number, scope in enumerate([ONE, BOB, TWO, ONE, AGENT]):
        ledger.enqueue(f"add_{number}", scope, payload(1))
    time.sleep(0.05)
    waiting = ledger.waiting(ANN, 9)
    assert [(add.add_id, add.scope) for add in waiting.adds] == [("add_0", ONE), ("add_2", TWO), ("add_3", ONE)]
    assert 0.03 <= waiting.idle_seconds < 5
    assert [add.add_id for add in ledger.waiting(ONE, 2).adds] == ["add_0", "add_2"]
    assert ledger.waiting(Scope.of("nobody"), 9).adds == ()


def test_reading_takes_nothing_and_claiming_takes_all_or_none(ledger: SqlLedger) -> None:
    for number in range(3):
        ledger.enqueue(f"add_{number}", ONE, payload(1))
    assert ledger.claim_these(["add_0", "add_1"], "me", 60)
    assert not ledger.claim_these(["add_1", "add_2"], "other", 60)
    assert ledger.waiting(ANN, 9).adds == ()
    assert [one.free for one in ledger.buffers("default")] == [False]
    assert [add.add_id for add in ledger.claim("default", 9, "third", 60)] == ["add_2"]
    assert not ledger.claim_these(["add_9"], "other", 60)


def test_a_claim_that_ran_out_and_one_put_back_are_free_again(ledger: SqlLedger) -> None:
    for number in range(2):
        ledger.enqueue(f"add_{number}", ONE, payload(1))
    assert ledger.claim_these(["add_0"], "crashed", 0.05)
    time.sleep(0.1)
    assert [add.attempts for add in ledger.waiting(ANN, 9).adds] == [2, 1]
    assert ledger.claim_these(["add_0", "add_1"], "me", 60)
    ledger.unclaim(["add_0", "add_1"])
    assert [add.attempts for add in ledger.waiting(ANN, 9).adds] == [2, 1]
    ledger.requeue("add_0", "the model was away", 60)
    assert ledger.waiting(ANN, 9).adds == (), "later adds don't overtake one that waits for its next try"


def test_one_commit_carries_out_several_adds_and_every_key_leads_to_it(ledger: SqlLedger) -> None:
    for number in range(3):
        ledger.enqueue(f"add_{number}", ONE, payload(1))
    joined = [Joined("k1", "d1", "add_1"), Joined("k2", "d2", "add_2")]
    change = ledger.commit(adding("one", key="k0", digest="d0", done="add_0", joined=joined))
    assert ledger.pending() == 0
    for number in range(3):
        record = ledger.by_key("default", f"k{number}")
        assert record is not None
        assert (record.change_id, record.digest) == (change.change_id, f"d{number}")


def test_a_commit_of_several_adds_is_refused_whole_when_one_is_done_already(ledger: SqlLedger) -> None:
    ledger.enqueue("add_0", ONE, payload(1))
    ledger.commit(adding("earlier", key="k1", digest="d1"))
    for joined, error in (
        (Joined("k2", "d2", "add_gone"), LeaseLost),
        (Joined("k1", "d1"), ScopeChanged),
        (Joined("k1", "other"), Conflict),
    ):
        with pytest.raises(error):
            ledger.commit(adding("late", base=1, key="k0", digest="d0", done="add_0", joined=[joined]))
        assert ledger.by_key("default", "k0") is None
        assert ledger.by_key("default", "k2") is None
    assert ledger.pending() == 1
