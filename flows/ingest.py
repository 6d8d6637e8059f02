"""Ingest: take in what lies in the inbox and what waits in the queue, then fold it into the tables."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from prefect import flow, runtime
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import Field

from mindmem.core.errors import MindMemError
from mindmem.core.ingest.flush import Left, left_in_queue
from mindmem.core.ingest.inbox.batches import Source
from mindmem.core.ingest.inbox.deliver import Failure, Undelivered, without_content
from mindmem.core.ingest.inbox.files import InboxFile
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.ingest.inbox.reading import Chunk, Reading
from mindmem.core.ingest.inbox.summary import IngestSummary, Tally
from mindmem.core.reports.ingest import headline
from mindmem.flows.artifacts import Progress, publish_ingest
from mindmem.tasks.ingest import add_messages, find_files, fold_into_tables, work_off_queue
from mindmem.tasks.runtime import Store, is_stale, opened, run_id

__all__ = ["Unfinished", "ingest"]

QUEUE_CHUNK: Final = 100
"""Queued adds of one task."""


class Unfinished(MindMemError):
    """Something stays pending: the run did what it could, the next one does the rest. ``summary`` tells both."""

    code = "unfinished"

    def __init__(self, summary: IngestSummary) -> None:
        super().__init__(headline(summary))
        self.summary = summary


def _run_name() -> str:
    path = runtime.flow_run.parameters.get("path")
    return f"ingest {Path(str(path)).name}" if path else "ingest inbox and queue"


@flow(name="ingest", flow_run_name=_run_name, persist_result=False)
async def ingest(
    path: Path | None = None,
    home: Path | None = None,
    project_id: str | None = None,
    user_id: str | None = None,
    with_queue: bool = True,
    stale_after_minutes: Annotated[int, Field(ge=1)] = 60,
) -> IngestSummary | State[None] | State[IngestSummary]:
    """Take in files and queued adds; whatever was taken before adds nothing.

    Args:
        path: a folder or one file of JSONL, JSON or Parquet; left out: the folder ``inbox`` in the home.
        home: folder of the store; left out: ``MINDMEM_HOME`` or ``~/.mindmem``.
        project_id: project that everything goes to.
        user_id: owner of the lines that name no user.
        with_queue: also work off the queued adds.
        stale_after_minutes: a scheduled run that starts later than that is skipped; the next one does its work.

    A run whose budget is spent ends Completed under the name BudgetReached; the rest stays pending for the next one.

    Raises:
        Unfinished: something failed and stays pending; everything else was done. Run it again.
        StepFailed: the inbox is not there, or the store can't be used.
    """
    if is_stale(stale_after_minutes):
        return Completed(name="SkippedStale", message="The next run does this one's work.")
    tally = Tally()
    with opened(home, project_id) as store:
        inbox = path or Path(store.home) / "inbox"
        if path is not None or inbox.is_dir():
            await _take_files(store, inbox, user_id, tally)
        left = await _work_off_queue(store, tally) if with_queue else Left()
        summary = tally.summary(pending=left.pending, buffered=left.messages)
        services = store.memory().services
        spent = services.ledger.spent(store.project_id, run_id=run_id())
        await publish_ingest(summary, services.settings.dashboard.url, spent)
        await fold_into_tables(store)
    if summary.failed:
        raise Unfinished(summary)
    if summary.stopped:
        return Completed(name="BudgetReached", message=headline(summary), data=summary)
    return summary


async def _take_files(store: Store, inbox: Path, user_id: str | None, tally: Tally) -> None:
    services = store.memory().services
    source = Source(store.project_id, user_id, services.settings.ingest.max_message_chars)
    log = InboxLog(services.ledger, source)
    files = await find_files(inbox)
    progress = await Progress.start([file.size for file in files if isinstance(file, InboxFile)])
    for file in files:
        if tally.stopped:
            break
        if not isinstance(file, InboxFile):
            tally.failed(Failure(file.name, "the file", file.reason))
        elif log.finished(file):
            tally.file(file, "known")
            await progress.file_done(file)
        else:
            await _take_file(store, await asyncio.to_thread(Reading, file, source, log), tally, progress)
            await progress.file_done(file)
    await progress.finish()


async def _take_file(store: Store, reading: Reading, tally: Tally, progress: Progress) -> None:
    file = reading.file
    complete, messages, set_aside = True, 0, 0
    chunks = reading.chunks()
    while not tally.stopped:
        try:
            chunk = await asyncio.to_thread(_next, chunks)
        except Exception as error:  # whatever a file does to its reader, the other files go on
            tally.failed(Failure(file.name, "the file", without_content(error)))
            complete = False
            break
        if chunk is None:
            break
        try:
            outcome = await add_messages(store, chunk)
        except Undelivered as error:
            tally.failed(*error.failures)
            outcome, complete = error.delivered, False
        except MindMemError as error:
            tally.failed(Failure(file.name, chunk.place, str(error)))
            complete = False
            continue
        tally.delivered(outcome)
        reading.keep(outcome)
        messages += outcome.messages
        set_aside += len(outcome.set_aside)
        complete = complete and not outcome.stopped
        await progress.reached(file, chunk)
    try:
        await asyncio.to_thread(reading.close, complete=complete)
    except MindMemError as error:  # the next run reads the file again, and adds nothing twice
        tally.failed(Failure(file.name, "note of what was taken", without_content(error)))
        complete = False
    tally.file(file, "taken" if complete else "pending", messages=messages, set_aside=set_aside)


def _next(chunks: Iterator[Chunk]) -> Chunk | None:
    # A StopIteration can't leave a thread.
    return next(chunks, None)


async def _work_off_queue(store: Store, tally: Tally) -> Left:
    services = store.memory().services
    ledger = services.ledger
    while ledger.pending(store.project_id) and not tally.stopped:
        try:
            work = await work_off_queue(store, QUEUE_CHUNK)
        except MindMemError as error:
            tally.failed(Failure("queue", "queued adds", str(error)))
            break
        tally.queue(work)
        if not work.adds:
            break
    return left_in_queue(services)
