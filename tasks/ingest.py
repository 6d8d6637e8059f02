"""Tasks of ingest: find files, add what they hold, work off the queue, fold into the tables."""

from pathlib import Path

from mindmem.core.ingest.inbox.deliver import Delivered, deliver
from mindmem.core.ingest.inbox.files import InboxFile, Unreadable
from mindmem.core.ingest.inbox.files import find_files as find
from mindmem.core.ingest.inbox.queue import QueueWork, work_off
from mindmem.core.ingest.inbox.reading import Chunk
from mindmem.tasks.runtime import Store, run_id, step

__all__ = ["add_messages", "find_files", "fold_into_tables", "work_off_queue"]


@step("find-files", "find files in {path}")
def find_files(path: Path) -> list[InboxFile | Unreadable]:
    """Find the inbox's files and name them by content."""
    return find(path)


@step("add-messages", "add {chunk}")
def add_messages(store: Store, chunk: Chunk) -> Delivered:
    """Add the messages of some batches, and set aside the lines that can't be read."""
    memory = store.memory()
    return deliver(chunk.items, memory, memory.services.ledger, run_id=run_id())


@step("work-off-queue", "work off up to {limit} queued adds")
def work_off_queue(store: Store, limit: int) -> QueueWork:
    """Process queued adds, oldest first."""
    return work_off(store.memory(), limit, run_id=run_id())


@step("fold-into-tables", "fold the ledger into the tables")
def fold_into_tables(store: Store) -> int:
    """Fold what the ledger holds into the Parquet tables; return the seq up to which they hold everything."""
    memory = store.memory()
    memory.fold()
    return memory.services.ledger.pinned()[1]
