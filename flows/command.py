"""Commands that run a flow: ingest, maintain, rebuild-index. Prefect is imported when one runs, not before."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from mindmem.core.ingest.inbox.summary import IngestSummary
    from mindmem.core.operate import MaintainReport

__all__ = ["ingest", "maintain", "rebuild_index"]

F = TypeVar("F", bound=Callable[..., object])


def _direct(command: F) -> F:
    return click.option("--direct", is_flag=True, help="Without Prefect: the same steps in this process.")(command)


@click.command(short_help="Take in files of messages and queued adds.")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--user", "user_id", metavar="ID", help="Owner of the lines that name no user.")
@click.option("--no-queue", is_flag=True, help="Leave the queued adds alone.")
@_direct
@with_session
def ingest(session: Session, path: Path | None, user_id: str | None, no_queue: bool, direct: bool) -> None:
    """Take in a folder or a file of JSONL, JSON or Parquet (default: the folder inbox in the home), and queued adds.

    \b
    mindmem ingest inbox/ --user ann
    mindmem ingest chat.jsonl --direct --json

    A line is a message with the ids of its owner, or {"user_id": ..., "messages": [...]}. What was taken before adds
    nothing; lines that can't be read go to quarantine with their reason. Exits with 1 when something failed and stays
    pending; the same command then does the rest. A budget that is spent is no failure: the next run goes on.

    Runs as a Prefect flow (on the server of PREFECT_API_URL, else on an API of its own) unless --direct is given.
    JSON: {messages, batches, repeated, queued, episodes, buffered, counts, files, set_aside, set_aside_total, failures,
    pending, stopped, change_ids}.
    """
    settings = session.settings()
    source = path.absolute() if path else None
    if direct:
        from mindmem.flows.direct import ingest_directly

        summary = ingest_directly(settings, source, user_id, with_queue=not no_queue)
    else:
        summary = _ingest_in_prefect(session, source, user_id, with_queue=not no_queue)
    if session.as_json:
        emit(summary)
    else:
        _show(summary)
        if not direct:
            console().print(f"See the runs: PREFECT_HOME={settings.home / 'prefect'} prefect server start")
    if summary.failed:
        click.get_current_context().exit(1)


@click.command(short_help="Fold, compact, vacuum, verify.")
@_direct
@with_session
def maintain(session: Session, direct: bool) -> None:
    """Fold the ledger into the tables, compact and vacuum them, sweep what has expired, and verify that all agree.

    Runs as a Prefect flow unless --direct is given. Exits with 1 when ledger, tables and index disagree.
    """
    settings = session.settings()
    if direct:
        with session.memory(fold=True) as memory:
            report = memory.maintain()
    else:
        _prepare(session)
        from mindmem.core.operate import MaintainReport
        from mindmem.flows.maintain import Disagreement
        from mindmem.flows.maintain import maintain as flow

        try:
            done = asyncio.run(flow(home=settings.home, project_id=settings.project_id))
        except Disagreement as error:
            done = error.report
        assert isinstance(done, MaintainReport), "a run that nobody scheduled is never stale"
        report = done
    if session.as_json:
        emit(report)
    else:
        console().print(_maintained(report))
        for finding in report.findings:
            console().print(f"- {finding}")
    if report.findings:
        click.get_current_context().exit(1)


@click.command("rebuild-index", short_help="Build the search index anew.")
@_direct
@with_session
def rebuild_index(session: Session, direct: bool) -> None:
    """Build the search index anew from tables and ledger, beside the old one, then swap; searches go on meanwhile.

    Runs as a Prefect flow unless --direct is given. JSON: {active, last_seq, indexed_seq}.
    """
    settings = session.settings()
    if direct:
        with session.memory(any_index=True) as memory:
            memory.rebuild_index()
            status = memory.status()
        state = {"active": status.active, "last_seq": status.last_seq, "indexed_seq": status.indexed_seq}
    else:
        _prepare(session)
        from mindmem.flows.rebuild_index import rebuild_index as flow

        built = asyncio.run(flow(home=settings.home, project_id=settings.project_id))
        state = {"active": built.active, "last_seq": built.last_seq, "indexed_seq": built.indexed_seq}
    if session.as_json:
        emit(state)
    else:
        console().print(f"The index holds {state['active']} active memories, up to change {state['indexed_seq']}.")


def _prepare(session: Session) -> None:
    from mindmem.flows.environment import prepare_prefect

    prepare_prefect(session.settings().home)


def _ingest_in_prefect(
    session: Session, source: Path | None, user_id: str | None, *, with_queue: bool
) -> "IngestSummary":  # fmt: skip
    _prepare(session)
    from mindmem.core.ingest.inbox.summary import IngestSummary
    from mindmem.flows.ingest import Unfinished
    from mindmem.flows.ingest import ingest as flow

    settings = session.settings()
    try:
        done = asyncio.run(
            flow(source, home=settings.home, project_id=settings.project_id, user_id=user_id, with_queue=with_queue)
        )
    except Unfinished as error:
        return error.summary
    assert isinstance(done, IngestSummary), "a run that nobody scheduled is never stale"
    return done


def _show(summary: "IngestSummary") -> None:
    from rich.table import Table

    from mindmem.core.reports.ingest import headline

    out = console()
    out.print(headline(summary))
    if summary.counts:
        out.print(", ".join(f"{number} {name}" for name, number in summary.counts.items()))
    for title, rows in (
        ("Stays pending", [(gap.file, gap.place, gap.code) for gap in summary.failures]),
        ("Set aside", [(item.file, f"line {item.line}", item.reason) for item in summary.set_aside[:20]]),
    ):
        if rows:
            table = Table("file", "place", "reason", title=title, title_justify="left", box=None)
            for row in rows:
                table.add_row(*row)
            out.print(table)


def _maintained(report: "MaintainReport") -> str:
    fold, tables = report.fold, report.tables
    changes = fold.upto - fold.after
    folded = f"{changes} changes ({_by_table(fold.rows)})" if changes else "nothing new"
    findings = len(report.findings)
    return "\n".join((
        f"Archived because their time was over: {report.expired} memories.",
        f"Folded into the tables: {folded}, up to change {fold.upto}; {fold.pruned} rows of the log were pruned.",
        f"Merged files: {_by_table(tables.merged) or 'none'}.",
        f"Deleted files: {_by_table(tables.deleted) or 'none'}.",
        f"Disagreements found: {findings}." if findings else "Ledger, tables and index agree.",
    ))  # fmt: skip


def _by_table(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in numbers.items() if number)
