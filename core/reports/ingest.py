"""A run of ingest for people: Markdown and table rows, made of names, ids and counts only."""

from mindmem.core.ingest.inbox.summary import IngestSummary

__all__ = ["file_rows", "headline", "set_aside_rows", "summary_markdown"]


def headline(summary: IngestSummary) -> str:
    """Return one sentence on what the run did."""
    parts = [f"{summary.messages} messages in {summary.batches} batches from {len(summary.files)} files"]
    if summary.repeated:
        parts.append(f"{summary.repeated} batches were there already")
    if summary.queued:
        joined = f" in {summary.episodes} episodes" if summary.episodes < summary.queued else ""
        parts.append(f"{summary.queued} queued adds{joined}")
    if summary.buffered:
        parts.append(f"{summary.buffered} messages wait for the end of their episode")
    if summary.set_aside_total:
        parts.append(f"{summary.set_aside_total} lines set aside")
    if summary.unfinished:
        parts.append(f"{summary.unfinished} stay pending; run it again")
    said = ", ".join(parts) + "."
    return f"{said} It ended early: {summary.stopped}" if summary.stopped else said


def summary_markdown(summary: IngestSummary) -> str:
    """Return the run's report: what was done by operation, what stays pending, and the changes by id."""
    lines = ["# Ingest", "", headline(summary), "", "| operation | count |", "| --- | ---: |"]
    lines.extend(f"| {name} | {number} |" for name, number in summary.counts.items())
    if summary.failures:
        lines += ["", "## Pending", "", "| file | place | error |", "| --- | --- | --- |"]
        lines.extend(f"| {_cell(gap.file)} | {gap.place} | `{gap.code}` |" for gap in summary.failures)
    if summary.pending:
        lines += ["", f"{summary.pending} queued adds still have to be done."]
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
