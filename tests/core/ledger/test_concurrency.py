"""Many processes and threads write to one ledger, and every change finds its place."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import psycopg
import pytest
from support.forks import together
from support.ledgers import ANN, adding, claim, ledger_urls, revising

from mindmem.core.errors import Conflict, LeaseTaken, ScopeChanged
from mindmem.core.ledger.port import ScopeState
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Scope

PROCESSES = 8
COMMITS = 50
POSTGRES = ledger_urls()[1:]


def everybody(work: Callable[[SqlLedger, int], object], url: str) -> list[object]:
    def alone(number: int) -> object:
        with open_ledger(url) as ledger:
            return work(ledger, number)

    return together([partial(alone, number) for number in range(PROCESSES)])


def fifty_commits(ledger: SqlLedger, number: int) -> list[str]:
    scope = ANN if number % 2 else Scope.of(f"user {number}")
    drafts = [adding(f"{number} says {turn}", scope=scope, key=f"{number}/{turn}") for turn in range(COMMITS)]
    return [ledger.commit(draft).change_id for draft in drafts]


def test_eight_processes_with_fifty_commits_each_leave_no_gap(ledger_url: str) -> None:
    written = everybody(fifty_commits, ledger_url)
    with open_ledger(ledger_url) as ledger:
        changes = ledger.changes(limit=1000)
        assert [change.seq for change in changes] == list(range(1, PROCESSES * COMMITS + 1))
        times = [change.recorded_at for change in changes]
        assert times == sorted(set(times))
        for ids in written:
            assert ids == [change.change_id for change in changes if change.change_id in set(ids)]
        assert len(list(ledger.read_log(0))) == PROCESSES * COMMITS
        state = ledger.scope_state(ANN.partition)
        assert (state.version, state.active) == (PROCESSES // 2 * COMMITS, PROCESSES // 2 * COMMITS)


def reinforce(ledger: SqlLedger, number: int) -> int:
    """Say the same as everybody: add it, or reinforce what another added, deciding again when the scope has moved."""
    mine = claim("We all say this.", name=f"by {number}")
    tries = 0
    while True:
        tries += 1
        base = ledger.scope_state(ANN.partition).version
        there = ledger.active_claims(ANN.key, [mine.content_hash]).get(mine.content_hash)
        if there is None:
            said = mine
        else:
            revision = ledger.heads("memory", [there])[there].revision + 1
            said = claim("We all say this.", name=there.removeprefix("mem_"), revision=revision)
        try:
            ledger.commit(revising([said], base=base))
        except ScopeChanged:
            continue
        return tries


def test_the_same_claim_from_eight_processes_is_one_memory_reinforced_seven_times(ledger_url: str) -> None:
    everybody(reinforce, ledger_url)
    with open_ledger(ledger_url) as ledger:
        assert ledger.scope_state(ANN.partition) == ScopeState(version=8, last_seq=8, active=1)
        hashes = [claim("We all say this.").content_hash]
        (memory_id,) = ledger.active_claims(ANN.key, hashes).values()
        assert ledger.heads("memory", [memory_id])[memory_id].revision == 8


def claim_blindly(ledger: SqlLedger, number: int) -> bool:
    try:
        ledger.commit(revising([claim("We all say this.", name=f"by {number}")]))
    except ScopeChanged:
        return False
    return True


def test_of_eight_identical_claims_made_blindly_one_is_written(ledger_url: str) -> None:
    assert sorted(everybody(claim_blindly, ledger_url)) == [False] * 7 + [True]


def same_key(ledger: SqlLedger, number: int) -> str:
    return ledger.commit(adding("one", key="k", digest="d")).change_id


def test_eight_processes_with_one_key_make_one_change(ledger_url: str) -> None:
    assert len(set(everybody(same_key, ledger_url))) == 1
    with open_ledger(ledger_url) as ledger:
        assert ledger.last_seq() == 1


def other_request(ledger: SqlLedger, number: int) -> bool:
    try:
        ledger.commit(adding(f"{number}", scope=Scope.of(f"user {number}"), key="k", digest=f"{number}"))
    except Conflict:
        return False
    return True


def test_eight_requests_under_one_key_are_one_change_and_seven_conflicts(ledger_url: str) -> None:
    assert sorted(everybody(other_request, ledger_url)) == [False] * 7 + [True]


def crossing(ledger: SqlLedger, number: int) -> int:
    """Touch two partitions, half of the processes in the opposite order of the others."""
    scopes = [Scope.of("a"), Scope.of("b")][:: 1 if number % 2 else -1]
    for turn in range(10):
        ledger.commit(revising([claim(f"{number} {turn}", scope=scope) for scope in scopes], scope=scopes[0]))
    return number


def test_changes_over_the_same_partitions_in_opposite_order_never_deadlock(ledger_url: str) -> None:
    everybody(crossing, ledger_url)
    with open_ledger(ledger_url) as ledger:
        assert [state.version for _, state in ledger.partitions()] == [80, 80]
        assert ledger.last_seq() == 80


@pytest.mark.parametrize("ledger_url", POSTGRES, indirect=True)
def test_a_commit_that_the_server_sacrifices_to_end_a_deadlock_is_tried_again(
    ledger: SqlLedger, ledger_url: str
) -> None:
    ledger.commit(adding("one"))
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(ledger_url) as other,
        psycopg.connect(ledger_url, autocommit=True) as watcher,
    ):
        other.execute("UPDATE ledger_counter SET seq = seq")
        commit = pool.submit(ledger.commit, adding("two", base=1))
        while not watcher.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone():
            assert not commit.done()
        other.execute("UPDATE ledger_scopes SET version = version")
        other.commit()
        assert commit.result().seq == 2
    assert ledger.scope_state(ANN.partition).active == 2


def test_of_eight_that_want_a_lease_one_gets_it(ledger_url: str) -> None:
    all_tried = get_context("fork").Barrier(PROCESSES)

    def take(ledger: SqlLedger, number: int) -> bool:
        try:
            ledger.acquire("fold", f"process {number}", 60)
        except LeaseTaken:
            return False
        finally:
            all_tried.wait(30)  # the lease of a process that has ended is free
        return True

    assert sorted(everybody(take, ledger_url)) == [False] * 7 + [True]


def work_off(ledger: SqlLedger, number: int) -> list[str]:
    done = []
    while claimed := ledger.claim("default", 3, f"process {number}", 60):
        for add in claimed:
            ledger.commit(adding(add.payload, done=add.add_id, key=add.add_id))
            done.append(add.add_id)
    return done


def test_eight_workers_share_the_queue_and_no_add_is_done_twice(ledger_url: str) -> None:
    with open_ledger(ledger_url) as ledger:
        for number in range(60):
            ledger.enqueue(f"add {number}", ANN, f"claim {number}")
    done = [add_id for some in everybody(work_off, ledger_url) for add_id in some]  # type: ignore[attr-defined]
    assert sorted(done) == sorted(f"add {number}" for number in range(60))
    with open_ledger(ledger_url) as ledger:
        assert (ledger.pending(), ledger.last_seq()) == (0, 60)


def test_threads_share_one_ledger(ledger: SqlLedger) -> None:
    def add(number: int) -> int:
        return ledger.commit(adding(f"claim {number}")).seq

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(add, range(48))) == list(range(1, 49))


def test_of_twelve_threads_that_decided_on_the_same_version_one_commits(ledger: SqlLedger) -> None:
    def add(number: int) -> bool:
        try:
            ledger.commit(adding(f"claim {number}", base=0))
        except ScopeChanged:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        assert sum(pool.map(add, range(12))) == 1
