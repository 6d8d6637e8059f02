"""What calls may cost: before each one, what the run and the day spent is compared with the settings' limits.

A call is let through while less than the limit is spent, so each run gets somewhere, and a limit is overshot by one
call at most. While calls are in flight that could use up the rest, the next one waits until it is known what they came
to. A call whose tries fail is stopped when what they came to uses up the rest. Processes know of each other's calls
once these are recorded.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from mindmem.core.clock import Clock
from mindmem.core.errors import BudgetReached, InvalidInput
from mindmem.core.llm.port import CallLog
from mindmem.core.settings import LlmSettings, Settings

__all__ = ["Budget", "GoesOn", "price_of"]

_PREFIX: Final = "MINDMEM_LLM__"


def price_of(settings: LlmSettings, model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return what so many tokens cost, in the currency of the settings' prices; None where the model has none."""
    price = settings.prices.get(model)
    return None if price is None else (input_tokens * price.input + output_tokens * price.output) / 1_000_000


GoesOn = Callable[[int, int], Awaitable[None]]
"""Given the tokens, input and output, that a call under way came to so far: raises BudgetReached where no further try
may be made."""


@dataclass(slots=True, eq=False)
class _Hold:
    """A call in flight and the most that it may come to."""

    project_id: str
    run_id: str
    tokens: int
    cost: float
    done: Future[None] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Limit:
    """One limit of the settings that binds a call."""

    name: str
    most: float
    run: bool
    money: bool


class Budget:
    """The limits of one project's calls. May be used from several threads and event loops."""

    def __init__(self, settings: Settings, log: CallLog, clock: Clock) -> None:
        """Take the limits from ``settings.llm``.

        Raises:
            InvalidInput: money is limited, but a model that would be called has no price.
        """
        llm = settings.llm
        names = ("run_tokens", "day_tokens", "run_cost", "day_cost")
        self._limits = tuple(
            _Limit(name, most, name.startswith("run"), name.endswith("cost"))
            for name in names
            if (most := getattr(llm, name)) is not None
        )
        self._settings = llm
        self._zone = ZoneInfo(settings.timezone)
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._holds: list[_Hold] = []
        _check_prices(settings, [limit for limit in self._limits if limit.money])

    @asynccontextmanager
    async def reserve(
        self, project_id: str, run_id: str, model: str, input_tokens: int, output_tokens: int
    ) -> AsyncIterator[GoesOn]:
        """Hold an estimate of tokens while a call is made and recorded inside; give what tells whether it may go on.

        Args:
            project_id: whose day it counts for.
            run_id: whose run it counts for; empty: no run's.
            model: whose price counts.
            input_tokens: estimate of what is sent.
            output_tokens: the most that may come back.

        Raises:
            BudgetReached: a limit is spent.
        """
        limits = [limit for limit in self._limits if run_id or not limit.run]
        if not limits:
            yield _unlimited
            return
        cost = price_of(self._settings, model, input_tokens, output_tokens) or 0.0
        hold = _Hold(project_id, run_id, input_tokens + output_tokens, cost)

        async def goes_on(input_lost: int, output_lost: int) -> None:
            lost = input_lost + output_lost
            lost_cost = price_of(self._settings, model, input_lost, output_lost) or 0.0
            hold.tokens, hold.cost = input_tokens + output_tokens + lost, cost + lost_cost
            for limit in limits:
                more = lost_cost if limit.money else lost
                await asyncio.to_thread(self._check, limit, project_id, run_id, more)

        hold.done.set_running_or_notify_cancel()  # so that a waiter that is cancelled doesn't cancel what it waits for
        try:
            while others := await asyncio.to_thread(self._admit, hold, limits):
                waits = [asyncio.wrap_future(other.done) for other in others]
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for wait in waits:
                        wait.cancel()
            yield goes_on
        finally:
            self._release(hold)

    def _admit(self, hold: _Hold, limits: list[_Limit]) -> list[_Hold]:
        """Let the call through, or return the calls in flight whose end must be awaited first."""
        with self._lock:
            if hold.done.done():  # its caller was cancelled, but a thread can't be
                return []
            for limit in limits:
                spent = self._check(limit, hold.project_id, hold.run_id)
                others = [
                    other
                    for other in self._holds
                    if other.project_id == hold.project_id and (not limit.run or other.run_id == hold.run_id)
                ]
                if spent + sum(other.cost if limit.money else other.tokens for other in others) >= limit.most:
                    return others
            self._holds.append(hold)
        return []

    def _release(self, hold: _Hold) -> None:
        with self._lock:
            if hold in self._holds:
                self._holds.remove(hold)
            hold.done.set_result(None)

    def _check(self, limit: _Limit, project_id: str, run_id: str, more: float = 0.0) -> float:
        """Return what was spent, with ``more`` that is not on record yet, if that is less than the limit."""
        if limit.run:
            calls = self._log.spent(project_id, run_id=run_id)
        else:
            calls = self._log.spent(project_id, since=self._midnight())
        spent = (calls.cost if limit.money else calls.tokens) + more
        if spent >= limit.most:
            raise BudgetReached(self._reached(limit, project_id, run_id, spent))
        return spent

    def _midnight(self) -> datetime:
        """Return when the project's day began."""
        now = self._clock.now().astimezone(self._zone)
        return now.replace(hour=0, minute=0, second=0, microsecond=0, fold=0).astimezone(UTC)

    def _reached(self, limit: _Limit, project_id: str, run_id: str, spent: float) -> str:
        who = f"The run {run_id!r}" if limit.run else f"The project {project_id!r} today"
        amount = f"{spent:.4f} of {limit.most:.4f}" if limit.money else f"{spent:,.0f} of {limit.most:,.0f} tokens"
        then = "another run may spend again" if limit.run else f"calls are made again after midnight ({self._zone.key})"
        return (
            f"{who} spent {amount}, the limit of {_PREFIX}{limit.name.upper()}: {then}, or raise the limit. What was "
            "queued stays queued, and of files the rest is taken then; what was asked for directly has to be asked "
            "for again."
        )


async def _unlimited(input_tokens: int, output_tokens: int) -> None:
    """Let a call go on, since nothing limits it."""


def _check_prices(settings: Settings, limits: list[_Limit]) -> None:
    if not limits:
        return
    models = {settings.llm.model_for(purpose) for purpose in ("extract", "judge", "answer", "evolve")}
    if settings.embedder == "openai":
        models.add(settings.embed.model)
    if settings.rerank.url:
        models.add(settings.rerank.model or "reranker")
    unpriced = sorted(models - settings.llm.prices.keys())
    if unpriced:
        name = f"{_PREFIX}{limits[0].name.upper()}"
        raise InvalidInput(
            f"{name} limits what calls cost, but {_PREFIX}PRICES has no price for {', '.join(unpriced)}: give it per "
            f'million tokens, such as {{"{unpriced[0]}": {{"input": 0.4, "output": 1.6}}}} (0 for a model of your '
            "own), or limit tokens instead.",
            field="llm__prices",
        )
