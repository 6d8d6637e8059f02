"""A run of ingest for people: Markdown and table rows, made of names, ids and counts only."""

from typing import Final

from mindmem.core.ingest.inbox.summary import IngestSummary
from mindmem.core.reports.facts import counted

__all__ = ["file_rows", "headline", "set_aside_rows", "summary_markdown"]

_COUNTS: Final = {
    "add": "memories added", "update": "memories updated", "merge": "memories merged",
    "reinforce": "memories said again", "archive": "memories archived", "restore": "memories restored",
    "messages": "messages kept", "skipped": "messages without anything to remember", "windows": "windows of dialogue",
    "edges": "edges of the graph", "entities": "entities written",
}  # fmt: skip
"""Counts of a change by what they count; others are told by their name."""


def headline(summary: IngestSummary) -> str:
    """Return one sentence on what the run did."""
    taken = (counted(summary.messages, "message"), counted(summary.batches, "batch", "batches"))
    parts = [f"{taken[0]} in {taken[1]} from {counted(len(summary.files), 'file')}"]
    known = sum(file.state == "known" for file in summary.files)
    if known:
        parts.append(f"{known} of them taken before")
    if summary.repeated:
        parts.append(counted(summary.repeated, "batch was there already", "batches were there already"))
    if summary.queued:
        joined = f" in {counted(summary.episodes, 'episode')}" if summary.episodes < summary.queued else ""
        parts.append(f"{counted(summary.queued, 'queued add')}{joined}")
    if summary.buffered:
        waits = counted(summary.buffered, "message waits", "messages wait")
        parts.append(f"{waits} for the end of their episode")
    if summary.set_aside_total:
        parts.append(f"{counted(summary.set_aside_total, 'line')} set aside")
    if summary.unfinished:
        parts.append(f"{summary.unfinished:,} stay pending; run it again")
    said = ", ".join(parts) + "."
    return f"{said} It ended early: {summary.stopped}" if summary.stopped else said


def summary_markdown(summary: IngestSummary) -> str:
    """Return the run's report: what was done by operation, what stays pending, and the changes by id."""
    lines = ["# Ingest", "", headline(summary)]
    if summary.counts:
        lines += ["", "## What was written", "", "| what | count |", "| --- | ---: |"]
        lines.extend(f"| {_COUNTS.get(name, name)} | {number:,} |" for name, number in summary.counts.items())
    if summary.failures:
        lines += ["", "## Pending", "", "| file | place | error |", "| --- | --- | --- |"]
        lines.extend(f"| {_cell(gap.file)} | {gap.place} | `{gap.code}` |" for gap in summary.failures)
    if summary.pending:
        lines += ["", f"{counted(summary.pending, 'queued add still has', 'queued adds still have')} to be done."]
    if summary.change_ids:
        shown = summary.change_ids[:50]
        lines += ["", "## Changes", "", *(f"- `{change_id}`" for change_id in shown)]
        if len(summary.change_ids) > len(shown):
            lines.append(f"- and {len(summary.change_ids) - len(shown)} more")
    return "\n".join(lines) + "\n"


def file_rows(summary: IngestSummary) -> list[dict[str, str | int]]:
    """Return one row a file: name, state, messages, lines set aside, bytes, content hash."""
    return [
        {
            "file": file.name,
            "state": file.state,
            "messages": file.messages,
            "set aside": file.set_aside,
            "bytes": file.size,
            "sha256": file.sha256,
        }
        for file in summary.files
    ]


def set_aside_rows(summary: IngestSummary) -> list[dict[str, str | int]]:
    """Return one row a line in quarantine: file, line, reason, id."""
    return [
        {"file": item.file, "line": item.line, "reason": item.reason, "id": item.quarantine_id}
        for item in summary.set_aside
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
