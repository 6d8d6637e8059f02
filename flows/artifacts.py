"""What a run shows in the Prefect UI: progress, a summary, tables. Names, ids and counts only, never what was said."""

from collections.abc import Sequence
from typing import Final, Self
from uuid import UUID

from prefect.artifacts import (
    acreate_markdown_artifact,
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
)

from mindmem.core.ingest.inbox.files import InboxFile
from mindmem.core.ingest.inbox.reading import Chunk
from mindmem.core.ingest.inbox.summary import IngestSummary
from mindmem.core.reports.ingest import file_rows, set_aside_rows, summary_markdown

__all__ = ["Progress", "links", "publish_ingest", "publish_report"]

_STEP: Final = 2.0
"""Percent between two updates: each costs the server some milliseconds."""
_ROWS: Final = 1_000


class Progress:
    """The share of the inbox's bytes that are taken, as a progress artifact."""

    def __init__(self, artifact_id: UUID, total: int) -> None:
        self._artifact_id = artifact_id
        self._total = max(total, 1)
        self._done = 0
        self._shown = 0.0

    @classmethod
    async def start(cls, sizes: Sequence[int]) -> Self:
        """Publish the artifact at 0 %."""
        artifact_id = await acreate_progress_artifact(
            0.0, key="ingest-progress", description=f"Share of the bytes of {len(sizes)} files that are in memory"
        )
        return cls(artifact_id, sum(sizes))

    async def reached(self, file: InboxFile, chunk: Chunk) -> None:
        """Show how far into a file the run is; lines are taken as equally long."""
        if file.breaks:
            await self._show(self._done + file.size * min(chunk.end / (file.breaks + 1), 1.0))

    async def file_done(self, file: InboxFile) -> None:
        """Count a file as done."""
        self._done += file.size
        await self._show(self._done)

    async def finish(self) -> None:
        """Show 100 %."""
        await aupdate_progress_artifact(self._artifact_id, 100.0)

    async def _show(self, done: float) -> None:
        percent = min(100.0 * done / self._total, 100.0)
        if percent - self._shown >= _STEP:
            self._shown = percent
            await aupdate_progress_artifact(self._artifact_id, round(percent, 1))


async def publish_ingest(summary: IngestSummary, dashboard: str = "") -> None:
    """Publish the summary of a run of ingest, its files, and its lines in quarantine, with links into the dashboard."""
    told = summary_markdown(summary) + links(dashboard, "memories", "ingestion")
    await acreate_markdown_artifact(told, key="ingest-summary", description="What the run did")
    if summary.files:
        rows = file_rows(summary)
        await acreate_table_artifact(rows[:_ROWS], key="ingest-files", description=_of(len(rows), "files"))
    if summary.set_aside:
        rows = set_aside_rows(summary)[:_ROWS]
        about = f"{_of(summary.set_aside_total, 'lines')} set aside; their text is in the quarantine, by id"
        await acreate_table_artifact(rows, key="ingest-quarantine", description=about)


async def publish_report(
    key: str, title: str, facts: dict[str, str | int], findings: Sequence[str] = (), dashboard: str = "",
    *, heading: str = "What does not agree",
) -> None:  # fmt: skip
    """Publish a report of named counts as Markdown, below it findings, if any, and a link into the dashboard."""
    lines = [f"# {title}", "", "| what | value |", "| --- | ---: |"]
    lines.extend(f"| {name} | {value} |" for name, value in facts.items())
    if findings:
        lines += ["", f"## {heading}", "", *(f"- {finding}" for finding in findings)]
    told = "\n".join(lines) + "\n" + links(dashboard, "overview")
    await acreate_markdown_artifact(told, key=key, description=title)


def links(dashboard: str, *pages: str) -> str:
    """Return a line of Markdown that leads to pages of the dashboard at this address; nothing where there is none."""
    if not dashboard:
        return ""
    # The page that opens first has no path of its own.
    named = (f"[{page.capitalize()}]({dashboard.rstrip('/')}/{page.removeprefix('overview')})" for page in pages)
    return f"\nIn the dashboard: {', '.join(named)}\n"


def _of(number: int, what: str) -> str:
    return f"{number} {what}" if number <= _ROWS else f"{number} {what}, the first {_ROWS} shown"
