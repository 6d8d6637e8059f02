"""A lease has one holder at a time, and its token grows with each."""

import time
from datetime import UTC, datetime

import pytest

from mindmem.core.errors import InvalidInput, LeaseLost, LeaseTaken
from mindmem.core.ledger.sql import SqlLedger


def test_a_held_lease_is_refused_to_everybody_and_names_its_holder(ledger: SqlLedger) -> None:
    ledger.acquire("fold", "one", 60)
    for owner in ("two", "one"):
        with pytest.raises(LeaseTaken, match="'fold' is held by 'one' until"):
            ledger.acquire("fold", owner, 60)


def test_leases_of_other_names_are_free(ledger: SqlLedger) -> None:
    ledger.acquire("fold", "one", 60)
    assert ledger.acquire("fold/ann", "two", 60).owner == "two"


def test_expiry_is_the_databases_time(ledger: SqlLedger) -> None:
    lease = ledger.acquire("fold", "one", 60)
    assert 0 < (lease.expires_at - datetime.now(UTC)).total_seconds() < 120


def test_a_lease_that_ran_out_can_be_taken_and_its_token_grows(ledger: SqlLedger) -> None:
    first = ledger.acquire("fold", "one", 0.05)
    time.sleep(0.1)
    second = ledger.acquire("fold", "two", 60)
    assert second.token > first.token
    with pytest.raises(LeaseLost):
        ledger.renew(first, 60)


def test_a_released_lease_is_free_and_its_token_grows_still(ledger: SqlLedger) -> None:
    first = ledger.acquire("fold", "one", 60)
    ledger.release(first)
    second = ledger.acquire("fold", "one", 60)
    assert second.token > first.token


def test_renewal_extends_a_held_lease(ledger: SqlLedger) -> None:
    lease = ledger.acquire("fold", "one", 0.5)
    longer = ledger.renew(lease, 60)
    assert longer.expires_at > lease.expires_at
    assert longer.token == lease.token
    time.sleep(0.6)
    with pytest.raises(LeaseTaken):
        ledger.acquire("fold", "two", 60)


def test_a_late_release_leaves_the_next_holder_alone(ledger: SqlLedger) -> None:
    first = ledger.acquire("fold", "one", 0)
    second = ledger.acquire("fold", "two", 60)
    ledger.release(first)
    assert ledger.renew(second, 60).token == second.token


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_length_that_is_no_length_is_refused(ledger: SqlLedger, seconds: float) -> None:
    with pytest.raises(InvalidInput, match="seconds must be a number"):
        ledger.acquire("fold", "one", seconds)
