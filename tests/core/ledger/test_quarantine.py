"""What could not be processed is kept raw, with its reason."""

from datetime import UTC, datetime

import pytest
from support.ledgers import ANN

from mindmem.core.errors import NotFound
from mindmem.core.ledger.port import Quarantined
from mindmem.core.ledger.sql import SqlLedger
from mindmem.core.records import Scope

OTHER = Scope.of("ann", project_id="other")


def broken(number: int, scope: Scope = ANN) -> Quarantined:
    return Quarantined(
        f"q{number}", scope, "in/bo:x.jsonl", number, f"line {number} is no JSON", f"\x00{number}\ud800'"
    )


def test_inputs_come_back_raw_newest_first_with_their_time(ledger: SqlLedger) -> None:
    ledger.quarantine([broken(1), broken(2)])
    ledger.quarantine([broken(3, OTHER)])
    ledger.quarantine([])
    found = ledger.quarantined()
    assert [item.quarantine_id for item in found] == ["q3", "q2", "q1"]
    assert (found[1].raw, found[1].line, found[1].origin, found[1].reason, found[1].scope) == (
        "\x002\ud800'", 2, "in/bo:x.jsonl", "line 2 is no JSON", ANN,
    )  # fmt: skip
    assert found[0].quarantined_at is not None
    assert abs((found[0].quarantined_at - datetime.now(UTC)).total_seconds()) < 60
    assert [item.quarantine_id for item in ledger.quarantined("default")] == ["q2", "q1"]
    assert [item.quarantine_id for item in ledger.quarantined(limit=1)] == ["q3"]


def test_a_repeated_id_is_kept_once(ledger: SqlLedger) -> None:
    ledger.quarantine([broken(1)])
    ledger.quarantine([Quarantined("q1", ANN, "elsewhere", 9, "again", ""), broken(2)])
    assert [(item.quarantine_id, item.origin) for item in ledger.quarantined()] == [
        ("q2", "in/bo:x.jsonl"), ("q1", "in/bo:x.jsonl"),
    ]  # fmt: skip


def test_a_resolved_input_is_no_longer_open(ledger: SqlLedger) -> None:
    ledger.quarantine([broken(1), broken(2), broken(3)])
    ledger.resolve_quarantined("q1", "retried")
    ledger.resolve_quarantined("q2", "dropped")
    assert [item.quarantine_id for item in ledger.quarantined()] == ["q3"]
    assert [item.quarantine_id for item in ledger.quarantined(state="retried")] == ["q1"]
    assert [item.state for item in ledger.quarantined(state=None)] == ["open", "dropped", "retried"]


def test_an_unknown_id_can_not_be_resolved(ledger: SqlLedger) -> None:
    with pytest.raises(NotFound, match="'q9' is in quarantine"):
        ledger.resolve_quarantined("q9", "dropped")


def test_open_ones_are_counted_by_project(ledger: SqlLedger) -> None:
    ledger.quarantine([broken(1), broken(2)])
    ledger.resolve_quarantined("q1", "retried")
    assert (ledger.in_quarantine(), ledger.in_quarantine("default"), ledger.in_quarantine("other")) == (1, 1, 0)
