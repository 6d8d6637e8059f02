"""A limit stops calls in time: by run and by day, in tokens and in money, with calls in flight counted."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.builders import llm_call

from mindmem.core.clock import FixedClock
from mindmem.core.errors import BudgetReached, InvalidInput
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.llm.budget import Budget, price_of
from mindmem.core.settings import LlmSettings, Price, Settings

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PRICES = {"m": Price(input=1.0, output=10.0)}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlLedger]:
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as ledger:
        yield ledger


def budget(log: SqlLedger, *, zone: str = "UTC", at: datetime = NOON, **limits: object) -> Budget:
    llm = LlmSettings.model_validate({"model": "m", "prices": PRICES, **limits})
    return Budget(Settings(timezone=zone, llm=llm), log, FixedClock(at))


def spend(
    log: SqlLedger, name: str, *, tokens: int = 0, cost: float = 0.0, at: datetime = NOON, run: str = "r1"
) -> None:
    log.record_call(llm_call(name, input_tokens=tokens, output_tokens=0, cost=cost, called_at=at, run_id=run))


async def once(limits: Budget, run: str = "r1", tokens: int = 10) -> None:
    async with limits.reserve("default", run, "m", tokens, tokens):
        pass


def test_a_price_is_per_million_tokens() -> None:
    llm = LlmSettings(prices=PRICES)
    assert price_of(llm, "m", 1_000_000, 100_000) == 2.0
    assert price_of(llm, "unknown", 1, 1) is None


@pytest.mark.parametrize(
    ("limit", "most", "named"),
    [
        ("run_tokens", 100, "run 'r1' spent 100 of 100 tokens, the limit of MINDMEM_LLM__RUN_TOKENS"),
        ("day_tokens", 100, "'default' today spent 100 of 100 tokens, the limit of MINDMEM_LLM__DAY_TOKENS"),
        ("run_cost", 0.5, "run 'r1' spent 0.5000 of 0.5000, the limit of MINDMEM_LLM__RUN_COST"),
        ("day_cost", 0.5, "'default' today spent 0.5000 of 0.5000, the limit of MINDMEM_LLM__DAY_COST"),
    ],
)
async def test_a_spent_limit_stops_the_next_call_and_says_how_to_raise_it(
    log: SqlLedger, limit: str, most: float, named: str
) -> None:
    limits = budget(log, **{limit: most})
    spend(log, "c1", tokens=99, cost=0.49)
    await once(limits)
    spend(log, "c2", tokens=1, cost=0.01)
    with pytest.raises(BudgetReached, match=named) as reached:
        await once(limits)
    assert "raise the limit" in str(reached.value)
    assert not reached.value.transient


async def test_a_limit_of_a_run_leaves_other_runs_and_calls_outside_of_runs_alone(log: SqlLedger) -> None:
    limits = budget(log, run_tokens=100)
    spend(log, "c1", tokens=500)
    await once(limits, "r2")
    await once(limits, "")


async def test_a_limit_of_zero_lets_nothing_through(log: SqlLedger) -> None:
    with pytest.raises(BudgetReached):
        await once(budget(log, day_tokens=0))


@pytest.mark.parametrize(
    ("zone", "now", "spent_at", "reached"),
    [
        ("Pacific/Auckland", datetime(2026, 3, 1, 11, 30, tzinfo=UTC), datetime(2026, 3, 1, 10, 59, tzinfo=UTC), False),
        ("Pacific/Auckland", datetime(2026, 3, 1, 11, 30, tzinfo=UTC), datetime(2026, 3, 1, 11, 1, tzinfo=UTC), True),
        ("America/New_York", datetime(2026, 3, 2, 4, 0, tzinfo=UTC), datetime(2026, 3, 1, 5, 1, tzinfo=UTC), True),
        ("America/New_York", datetime(2026, 3, 2, 5, 1, tzinfo=UTC), datetime(2026, 3, 2, 4, 59, tzinfo=UTC), False),
        # The night of the change of clocks has 23 hours.
        ("America/New_York", datetime(2026, 3, 9, 3, 30, tzinfo=UTC), datetime(2026, 3, 8, 5, 0, tzinfo=UTC), True),
    ],
)
async def test_a_day_begins_at_midnight_of_the_projects_zone(
    log: SqlLedger, zone: str, now: datetime, spent_at: datetime, reached: bool
) -> None:
    spend(log, "c1", tokens=100, at=spent_at)
    limits = budget(log, zone=zone, at=now, day_tokens=100)
    if reached:
        with pytest.raises(BudgetReached, match=zone):
            await once(limits)
    else:
        await once(limits)


async def test_calls_at_once_overshoot_by_one_call_at_most_and_use_what_is_there(log: SqlLedger) -> None:
    limits = budget(log, run_tokens=1_000)
    made = refused = 0

    async def call(number: int) -> None:
        nonlocal made, refused
        try:
            async with limits.reserve("default", "r1", "m", 100, 400):
                await asyncio.sleep(0.001)
                spend(log, f"c{number}", tokens=120)
                made += 1
        except BudgetReached:
            refused += 1

    await asyncio.gather(*(call(number) for number in range(20)))
    assert (made, refused) == (9, 11)  # the ninth begins at 960 and ends at 1,080
    assert log.spent("default", run_id="r1").input_tokens == 1_080


async def test_a_call_that_failed_gives_its_reservation_back(log: SqlLedger) -> None:
    limits = budget(log, run_tokens=100)
    with pytest.raises(RuntimeError, match="broke"):
        async with limits.reserve("default", "r1", "m", 100, 100):
            raise RuntimeError("broke")
    await asyncio.wait_for(once(limits), 5)


async def test_one_who_stops_waiting_holds_nobody_up(log: SqlLedger) -> None:
    limits = budget(log, run_tokens=100)
    async with limits.reserve("default", "r1", "m", 100, 100):
        waiting = asyncio.create_task(once(limits))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.wait_for(once(limits), 5)


async def test_one_who_is_stopped_while_the_ledger_is_asked_holds_nobody_up(log: SqlLedger) -> None:
    limits = budget(log, run_tokens=100)
    for _ in range(20):
        asking = asyncio.create_task(once(limits))
        await asyncio.sleep(0)  # the thread has begun
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    await asyncio.wait_for(once(limits, tokens=1_000), 5)
    await asyncio.wait_for(once(limits), 5)


@dataclass
class CountingLog:
    asked: int = 0

    def record_call(self, call: object) -> None: ...

    def spent(self, *_: object, **__: object) -> object:
        self.asked += 1
        raise AssertionError("nothing is limited, so nothing is counted")


async def test_without_limits_nothing_is_counted() -> None:
    log = CountingLog()
    await once(Budget(Settings(), log, FixedClock(NOON)))  # type: ignore[arg-type]  # asserts that it isn't asked
    assert log.asked == 0


def test_money_can_not_be_limited_without_prices(log: SqlLedger) -> None:
    with pytest.raises(
        InvalidInput, match=r"MINDMEM_LLM__DAY_COST limits .* no price for gpt-9: give it per"
    ) as refused:
        budget(log, day_cost=1.0, models={"judge": "gpt-9"})
    assert refused.value.field == "llm__prices"


def test_the_embedders_model_wants_a_price_only_where_it_is_used(log: SqlLedger) -> None:
    llm = LlmSettings(model="m", prices=PRICES, run_cost=1.0)
    Budget(Settings(llm=llm), log, FixedClock(NOON))
    with pytest.raises(InvalidInput, match="text-embedding-3-small"):
        Budget(Settings(llm=llm, embedder="openai"), log, FixedClock(NOON + timedelta(0)))
