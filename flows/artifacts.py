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
from mindmem.core.records.llm_call import Spent
from mindmem.core.reports.facts import counted
from mindmem.core.reports.ingest import file_rows, headline, set_aside_rows, summary_markdown

__all__ = ["Progress", "cost", "links", "publish_ingest", "publish_report"]

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
            0.0,
            key="ingest-progress",
            description=f"Share taken in of the bytes of {counted(len(sizes), 'file')}",
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


async def publish_ingest(summary: IngestSummary, dashboard: str = "", spent: Spent | None = None) -> None:
    """Publish the summary of a run of ingest with its cost, its files, and its lines in quarantine, with links into the
    dashboard."""
    told = summary_markdown(summary) + cost(spent) + links(dashboard, "memories", "ingestion", "cost")
    await acreate_markdown_artifact(told, key="ingest-summary", description=headline(summary))
    if summary.files:
        rows = file_rows(summary)
        await acreate_table_artifact(rows[:_ROWS], key="ingest-files", description=_of(len(rows), "file"))
    if summary.set_aside:
        rows = set_aside_rows(summary)[:_ROWS]
        about = f"{_of(summary.set_aside_total, 'line')} set aside; what came is in the quarantine, by id"
        await acreate_table_artifact(rows, key="ingest-quarantine", description=about)


async def publish_report(
    key: str, title: str, facts: dict[str, str | int], findings: Sequence[str] = (), dashboard: str = "",
    *, heading: str = "What does not agree", page: str = "overview", spent: Spent | None = None,
) -> None:  # fmt: skip
    """Publish a report of named counts as Markdown, below it findings, if any, what models cost, and a link to a page
    of the dashboard."""
    lines = [f"# {title}", "", "| what | value |", "| --- | ---: |"]
    lines.extend(
        f"| {name} | {value:,} |" if isinstance(value, int) else f"| {name} | {value} |"
        for name, value in facts.items()
    )
    if findings:
        lines += ["", f"## {heading}", "", *(f"- {finding}" for finding in findings)]
    told = "\n".join(lines) + "\n" + cost(spent) + links(dashboard, page)
    await acreate_markdown_artifact(told, key=key, description=title)


def cost(spent: Spent | None) -> str:
    """Return what models cost as a section of Markdown; nothing where none was asked."""
    if spent is None or not spent.calls:
        return ""
    told = f"{counted(spent.calls, 'call')}, {spent.input_tokens:,} tokens in, {spent.output_tokens:,} out"
    priced = f"{spent.cost:,.4f}" if spent.unpriced < spent.calls else "no price is set"
    return f"\n## Models\n\n{told}; cost {priced}\n"


def links(dashboard: str, *pages: str) -> str:
    """Return a line of Markdown that leads to pages of the dashboard at this address; nothing where there is none."""
    if not dashboard:
        return ""
    # The page that opens first has no path of its own.
    named = (
        f"[{page.partition('?')[0].capitalize()}]({dashboard.rstrip('/')}/{page.removeprefix('overview')})"
        for page in pages
    )
    return f"\nIn the dashboard: {', '.join(named)}\n"


def _of(number: int, what: str) -> str:
    told = counted(number, what)
    return told if number <= _ROWS else f"{told}, the first {_ROWS:,} shown"
