"""Ingest without Prefect: the same steps in this process, with a progress bar."""

from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from mindmem.core import ids
from mindmem.core.errors import MindMemError
from mindmem.core.ingest.flush import Left, left_in_queue
from mindmem.core.ingest.inbox.batches import Source
from mindmem.core.ingest.inbox.deliver import Delivered, Failure, Undelivered, deliver, without_content
from mindmem.core.ingest.inbox.files import InboxFile, find_files
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.ingest.inbox.queue import work_off
from mindmem.core.ingest.inbox.reading import Chunk, Reading
from mindmem.core.ingest.inbox.summary import IngestSummary, Tally
from mindmem.core.memory import Memory
from mindmem.core.settings import Settings

__all__ = ["ingest_directly"]

_QUEUE_CHUNK = 100


def ingest_directly(
    settings: Settings, path: Path | None, user_id: str | None = None, *, with_queue: bool = True
) -> IngestSummary:  # fmt: skip
    """Take in files and queued adds, as the flow ``ingest`` does, and return what was done.

    Raises:
        InvalidInput: there is nothing at ``path``.
        StoreUnavailable, EmbedderMismatch: the store can't be opened.
    """
    tally, run_id = Tally(), ids.random_id("run")
    inbox = path or settings.home / "inbox"
    with Memory(settings=settings) as memory, Progress(console=Console(stderr=True), transient=True) as progress:
        ledger = memory.services.ledger
        source = Source(settings.project_id, user_id, settings.ingest.max_message_chars)
        log = InboxLog(ledger, source)
        found = find_files(inbox) if path is not None or inbox.is_dir() else []
        for file in found:
            if tally.stopped:
                break
            if not isinstance(file, InboxFile):
                tally.failed(Failure(file.name, "the file", file.reason))
            elif log.finished(file):
                tally.file(file, "known")
            else:
                _take(memory, Reading(file, source, log), tally, progress, run_id)
        left = _work_off_queue(memory, tally, run_id) if with_queue else Left()
    return tally.summary(pending=left.pending, buffered=left.messages)


def _take(memory: Memory, reading: Reading, tally: Tally, progress: Progress, run_id: str) -> None:
    file = reading.file
    shown = progress.add_task(file.name, total=file.breaks + 1)
    complete, messages, set_aside = True, 0, 0
    try:
        for chunk in reading.chunks():
            delivered, failures = _deliver(memory, chunk, run_id)
            reading.keep(delivered)
            tally.delivered(delivered)
            tally.failed(*failures)
            complete = complete and not failures
            messages += delivered.messages
            set_aside += len(delivered.set_aside)
            if delivered.stopped:
                complete = False
                break
            progress.update(shown, completed=chunk.end)
    except Exception as error:  # whatever a file does to its reader, the other files go on
        tally.failed(Failure(file.name, "the file", without_content(error)))
        complete = False
    reading.close(complete=complete)
    tally.file(file, "taken" if complete else "pending", messages=messages, set_aside=set_aside)
    progress.update(shown, completed=file.breaks + 1)


def _deliver(memory: Memory, chunk: Chunk, run_id: str) -> tuple[Delivered, tuple[Failure, ...]]:
    try:
        return deliver(chunk.items, memory, memory.services.ledger, run_id=run_id, actor="cli"), ()
    except Undelivered as error:
        return error.delivered, error.failures


def _work_off_queue(memory: Memory, tally: Tally, run_id: str) -> Left:
    ledger, project = memory.services.ledger, memory.services.settings.project_id
    try:
        while ledger.pending(project) and not tally.stopped:
            work = work_off(memory, _QUEUE_CHUNK, run_id=run_id)
            tally.queue(work)
            if not work.adds:
                break
    except MindMemError as error:
        tally.failed(Failure("queue", "queued adds", without_content(error)))
    return left_in_queue(memory.services)
