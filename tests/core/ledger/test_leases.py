"""A lease has one holder at a time, and its token grows with each."""

import os
import signal
import time
from datetime import UTC, datetime

import pytest
from support.forks import KILLED, outcome, start

from mindmem.core.errors import InvalidInput, LeaseLost, LeaseTaken
from mindmem.core.ledger.processes import has_ended, mark
from mindmem.core.ledger.sql import SqlLedger, open_ledger

told_apart = pytest.mark.skipif(not mark(), reason="this system has no /proc that tells processes apart")


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


def _hold(url: str) -> None:
    with open_ledger(url) as ledger:
        ledger.acquire("fold", "killed", 3600)
        os.kill(os.getpid(), signal.SIGKILL)


@told_apart
def test_the_lease_of_a_process_that_was_killed_is_free_at_once(ledger: SqlLedger, ledger_url: str) -> None:
    assert outcome(start(lambda: _hold(ledger_url))) == KILLED
    lease = ledger.acquire("fold", "next", 60)
    assert (lease.owner, lease.token) == ("next", 2)
    with pytest.raises(LeaseTaken, match="'fold' is held by 'next' until"):
        ledger.acquire("fold", "third", 60)


@told_apart
def test_a_killed_process_that_nobody_has_waited_for_holds_no_lease(ledger: SqlLedger, ledger_url: str) -> None:
    pid = start(lambda: _hold(ledger_url))
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ledger.acquire("fold", "next", 60).owner == "next"
    assert outcome(pid) == KILLED


def test_the_lease_of_a_process_that_stands_still_is_held(ledger: SqlLedger, ledger_url: str) -> None:
    def hold() -> None:
        with open_ledger(ledger_url) as own:
            own.acquire("fold", "stopped", 3600)
            os.kill(os.getpid(), signal.SIGSTOP)

    pid = start(hold)
    os.waitid(os.P_PID, pid, os.WSTOPPED)
    with pytest.raises(LeaseTaken, match="held by 'stopped'"):
        ledger.acquire("fold", "next", 60)
    os.kill(pid, signal.SIGCONT)
    assert outcome(pid) == 0


@told_apart
def test_a_pid_that_is_used_again_is_another_process() -> None:
    place, _, process = mark().rpartition("/")
    pid, _, started = process.partition("-")
    assert not has_ended(f"{place}/{pid}-{started}")
    assert has_ended(f"{place}/{pid}-{int(started) - 1}")


@told_apart
def test_of_processes_of_another_boot_or_container_nothing_is_known() -> None:
    boot, pids, _ = mark().split("/")
    assert not has_ended(f"another-boot/{pids}/999999999-1")
    assert not has_ended(f"{boot}/pid:[1]/999999999-1")
    assert not has_ended("")
    assert not has_ended("a name of earlier versions")
