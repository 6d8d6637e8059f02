"""What calls of models came to, by day, purpose and model; for people who want to know where the money went."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from mindmem.core.clock import Clock
from mindmem.core.ledger.port import Ledger
from mindmem.core.records.llm_call import Purpose, Spent
from mindmem.core.settings import Settings

__all__ = ["Line", "existing_ledger", "spending", "total"]


@dataclass(frozen=True, slots=True)
class Line:
    """What the calls of one purpose and model came to on one day of the project's zone."""

    day: date
    purpose: Purpose
    model: str
    spent: Spent


def spending(
    settings: Settings, clock: Clock, *, days: int | None = None, run_id: str | None = None, user_id: str | None = None
) -> list[Line]:
    """Return the project's spending, newest day first; nothing where there is no store yet.

    Args:
        settings: whose store, project and zone.
        clock: tells today.
        days: today and so many days before it, less one; None: all.
        run_id: of one run only.
        user_id: of one user only.

    Raises:
        StoreUnavailable: the ledger can't be read.
    """
    zone = ZoneInfo(settings.timezone)
    with existing_ledger(settings) as ledger:
        if ledger is None:
            return []
        since = None if days is None else _midnight(clock.now().astimezone(zone).date() - timedelta(days - 1), zone)
        slots = ledger.spending(settings.project_id, run_id=run_id, since=since, user_id=user_id)
    lines: dict[tuple[date, Purpose, str], Spent] = {}
    for slot in slots:
        name = (slot.at.astimezone(zone).date(), slot.purpose, slot.model)
        lines[name] = _sum(lines.get(name, Spent()), slot.spent)
    ordered = sorted(lines.items(), key=lambda line: (-line[0][0].toordinal(), line[0][1:]))
    return [Line(day, purpose, model, spent) for (day, purpose, model), spent in ordered]


def total(lines: list[Line]) -> Spent:
    """Return what the lines come to together."""
    spent = Spent()
    for line in lines:
        spent = _sum(spent, line.spent)
    return spent


@contextmanager
def existing_ledger(settings: Settings) -> Iterator[Ledger | None]:
    """Open the store's ledger if there is one: who only asks makes none."""
    from mindmem.core.ledger.sql import open_ledger, sqlite_url

    file = settings.home / "ledger.db"
    if not settings.store.ledger_url and not file.exists():
        yield None
        return
    ledger = open_ledger(settings.store.ledger_url or sqlite_url(file), lock_timeout=settings.store.lock_timeout)
    try:
        yield ledger
    finally:
        ledger.close()


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def _sum(left: Spent, right: Spent) -> Spent:
    return Spent(
        left.calls + right.calls,
        left.input_tokens + right.input_tokens,
        left.output_tokens + right.output_tokens,
        left.cost + right.cost,
        left.unpriced + right.unpriced,
        left.cached + right.cached,
        left.estimated + right.estimated,
    )
