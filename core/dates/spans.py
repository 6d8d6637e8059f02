"""What a time expression denotes, and the calendar of one zone that it is read on."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo

from mindmem.core.records import TimePrecision

__all__ = ["Calendar", "Found", "Interval", "TimeRole", "TimeSpan"]

TimeRole = Literal["at", "since", "until"]
"""``at``: it happened or holds then; ``since``: it began then; ``until``: it ends then."""

_SOUTHERN: Final = (
    "Australia/", "Pacific/Auckland", "America/Argentina", "America/Buenos_Aires", "America/Sao_Paulo",
    "America/Santiago", "America/Montevideo", "America/Asuncion", "Africa/Johannesburg", "Africa/Maputo",
)  # fmt: skip

_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time expression: characters ``start`` to ``end`` (half-open) of the text and what they denote.

    ``valid_from`` and ``valid_to`` are aware UTC, half-open; with the role ``since`` there is no end, with ``until`` no
    beginning. ``resolved`` is False, and both are None, when the words can't be placed without guessing.
    """

    start: int
    end: int
    valid_from: datetime | None
    valid_to: datetime | None
    precision: TimePrecision
    resolved: bool
    role: TimeRole = "at"


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time, aware UTC, half-open."""

    start: datetime
    end: datetime
    precision: TimePrecision


@dataclass(frozen=True, slots=True)
class Found:
    """A span that a rule found; ``interval`` is None when it can't be resolved."""

    start: int
    end: int
    interval: Interval | None
    role: TimeRole = "at"
    days: bool = True
    """Whether a time of day may follow."""

    def public(self) -> TimeSpan:
        """Return the span as callers see it."""
        if self.interval is None:
            return TimeSpan(self.start, self.end, None, None, "unknown", False, self.role)
        valid_from = None if self.role == "until" else self.interval.start
        valid_to = None if self.role == "since" else self.interval.end
        return TimeSpan(self.start, self.end, valid_from, valid_to, self.interval.precision, True, self.role)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The local calendar of a zone around a reference time (``now``, aware, or None when nobody said when).

    Local times that a clock change skips or repeats are read with the offset before the change. Methods return None
    outside the years 1 to 9999.
    """

    zone: tzinfo
    now: datetime | None

    @property
    def today(self) -> date | None:
        """Return the local day of the reference."""
        return None if self.now is None else self.now.astimezone(self.zone).date()

    @property
    def southern(self) -> bool:
        """Return whether the zone lies where summer is in January; an offset doesn't say so."""
        return isinstance(self.zone, ZoneInfo) and self.zone.key.startswith(_SOUTHERN)

    def instant(self, day: date, at: time) -> Interval | None:
        """Return the local minute ``at`` of a day."""
        return self._between(datetime.combine(day, at), timedelta(minutes=1), "instant")

    def moment(self, offset: timedelta) -> Interval | None:
        """Return the minute that lies ``offset`` from the reference."""
        if self.now is None:
            return None
        try:
            start = self.now.astimezone(UTC) + offset
            return Interval(start, start + timedelta(minutes=1), "instant")
        except OverflowError:
            return None

    def days(self, first: date, count: int = 1, precision: TimePrecision = "day") -> Interval | None:
        """Return ``count`` local days from ``first`` on."""
        try:
            return self._span(first, first + timedelta(days=count), precision)
        except OverflowError:
            return self._span(first, None, precision) if first.year == 9999 else None

    def day_from_now(self, offset: int, count: int = 1) -> Interval | None:
        """Return ``count`` days that begin ``offset`` days from the reference's local day."""
        if self.today is None:
            return None
        try:
            return self.days(self.today + timedelta(days=offset), count)
        except OverflowError:
            return None

    def day(self, year: int, month: int, day: int) -> Interval | None:
        """Return one local day, None when the calendar has no such day."""
        try:
            return self.days(date(year, month, day))
        except (ValueError, OverflowError):
            return None

    def months(self, year: int, month: int, count: int = 1) -> Interval | None:
        """Return ``count`` months; ``month`` may lie outside 1..12 and is carried into the year."""
        first = _month(year, month)
        return None if first is None else self._span(first, _month(year, month + count), "month")

    def month_from_now(self, offset: int) -> Interval | None:
        """Return the month that lies ``offset`` months from the reference's."""
        return None if self.today is None else self.months(self.today.year, self.today.month + offset)

    def years(self, year: int, count: int = 1) -> Interval | None:
        """Return ``count`` whole years."""
        first = _month(year, 1)
        return None if first is None else self._span(first, _month(year + count, 1), "year")

    def year_from_now(self, offset: int) -> Interval | None:
        """Return the year that lies ``offset`` years from the reference's."""
        return None if self.today is None else self.years(self.today.year + offset)

    def weeks_from_now(self, offset: int) -> Interval | None:
        """Return the week, Monday to Sunday, that lies ``offset`` weeks from the reference's."""
        if self.today is None:
            return None
        try:
            return self.week(self.today + timedelta(days=7 * offset - self.today.weekday()))
        except OverflowError:
            return None

    def week(self, first: date) -> Interval | None:
        """Return the seven days from ``first`` on, as exact as the month that holds them all, if one does: no day."""
        return self.days(first, 7, "month" if (first + timedelta(days=6)).month == first.month else "unknown")

    def season(self, name: str, year: int) -> Interval | None:
        """Return the three months of a season; winter is named by the year in which it begins."""
        first = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[name]
        return self.months(year, (first + 5) % 12 + 1 if self.southern else first, 3)

    def local(self, moment: datetime) -> datetime:
        """Return an aware time on this calendar's clock."""
        return moment.astimezone(self.zone)

    def _span(self, first: date, last: date | None, precision: TimePrecision) -> Interval:
        """Return midnight to midnight; ``last`` None, and midnights that UTC can't hold, are the ends of time."""
        return Interval(self._midnight(first, _FIRST), self._midnight(last, _LAST) if last else _LAST, precision)

    def _midnight(self, day: date, otherwise: datetime) -> datetime:
        try:
            return datetime.combine(day, time(), self.zone).astimezone(UTC)
        except OverflowError:
            return otherwise

    def _between(self, start: datetime, length: timedelta, precision: TimePrecision) -> Interval | None:
        try:
            first = start.replace(tzinfo=self.zone).astimezone(UTC)
            return Interval(first, first + length, precision)
        except OverflowError:
            return None


def _month(year: int, month: int) -> date | None:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return date(year, month, 1) if 1 <= year <= 9999 else None
