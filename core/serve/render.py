"""Memories, hits and changes as text for a terminal: readable at 80 columns and without colour."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from mindmem.core.errors import bounded
from mindmem.core.records import Change, Hit, Memory, Message

__all__ = ["changes", "day", "facts", "hits", "memories", "period", "quote", "timeline"]

_FORMATS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}
_QUOTE = 160


def day(at: datetime | None, precision: str = "instant", zone: tzinfo = UTC) -> str:
    """Return a time to its precision.

    >>> day(datetime(2024, 3, 1, tzinfo=UTC), "month")
    '2024-03'
    """
    return "" if at is None else at.astimezone(zone).strftime(_FORMATS.get(precision, "%Y-%m-%d %H:%M"))


def period(memory: Memory, zone: tzinfo = UTC) -> str:
    """Return when a memory is true: its event time, else when it was said or noted, and its end where a newer value
    closed it."""
    if memory.valid_from is not None:
        begins = day(memory.valid_from, memory.time_precision, zone)
    elif memory.observed_at is not None:
        begins = f"said {day(memory.observed_at, 'day', zone)}"
    else:
        begins = f"noted {day(memory.recorded_at, 'day', zone)}"
    return begins if memory.valid_to is None else f"{begins} to {day(memory.valid_to, 'day', zone)}"


def facts(memory: Memory, zone: tzinfo = UTC) -> Text:
    """Return the line below a memory: who, which property, when, which type."""
    parts = [memory.entity_name or memory.speaker, memory.property_name, period(memory, zone), memory.mem_type]
    if memory.status != "active":
        parts.append(memory.status)
    if memory.reinforcement_count > 1:
        parts.append(f"said {memory.reinforcement_count} times")
    parts.extend(memory.flags)
    return Text(" · ".join(part for part in parts if part), style="cyan")


def quote(message: Message, zone: tzinfo = UTC) -> Text:
    """Return a message as evidence: its words, cut after 160 characters, who said them and when."""
    words = " ".join(message.content.split())
    words = words if len(words) <= _QUOTE else words[:_QUOTE] + "…"
    said = ", ".join(part for part in (message.name or message.role, day(message.timestamp, zone=zone)) if part)
    return Text(f"“{words}” — {said}", style="dim")


def memories(found: Iterable[Memory], zone: tzinfo = UTC, *, ids: bool = True) -> Table:
    """Return memories as numbered blocks: content, facts, and the id that other commands take."""
    table = _blocks()
    for number, memory in enumerate(found, 1):
        lines: list[RenderableType] = [Text(memory.content), facts(memory, zone)]
        if ids:
            lines.append(Text(memory.memory_id, style="dim"))
        table.add_row(str(number), Group(*lines))
    return table


def hits(found: Iterable[Hit], zone: tzinfo = UTC, *, explain: bool = False) -> Table:
    """Return hits as blocks: score, content, facts, evidence, and with ``explain`` the parts of the score."""
    table = _blocks()
    for hit in found:
        lines: list[RenderableType] = [Text(hit.memory.content, style="bold"), facts(hit.memory, zone)]
        lines.extend(quote(message, zone) for message in hit.evidence)
        if explain:
            parts = "  ".join(f"{name} {value:.3f}" for name, value in sorted(hit.explanation.items()))
            lines.append(Text(parts or "no parts", style="magenta"))
        lines.append(Text(hit.memory.memory_id, style="dim"))
        table.add_row(f"{hit.score:.2f}", Group(*lines))
    return table


def timeline(found: Sequence[Memory], zone: tzinfo = UTC) -> Table:
    """Return the memories of one property in event time, the active ones marked."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=True, header_style="bold")
    table.add_column("when", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("memory", ratio=1, overflow="fold")
    for memory in found:
        active = memory.status == "active" and memory.valid_to is None
        state = "now" if active else ("past" if memory.status == "active" else memory.status)
        table.add_row(period(memory, zone), Text(state, style="green" if active else "dim"), Text(memory.content))
    return table


def changes(found: Iterable[Change], zone: tzinfo = UTC) -> Table:
    """Return changes in the order that they come: when, what kind, how many of each operation, and the id."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for change in found:
        counts = ", ".join(f"{name} {number}" for name, number in change.counts.items()) or bounded(change.reason)
        what = Text.assemble((f"{change.kind}  ", "bold"), counts)
        table.add_row(day(change.recorded_at, zone=zone), Group(what, Text(change.change_id, style="dim")))
    return table


def _blocks() -> Table:
    table = Table.grid(padding=(0, 2, 1, 0))
    table.add_column(justify="right", no_wrap=True, style="bold")
    table.add_column(ratio=1, overflow="fold")
    return table
