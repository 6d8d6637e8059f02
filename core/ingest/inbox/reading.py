"""One file on its way: chunks of batches to deliver, and at the end what to remember of it."""

from collections.abc import Iterator
from typing import Final

from mindmem.core.ingest.inbox.batches import Batch, Rejected, Source, read_batches
from mindmem.core.ingest.inbox.deliver import Delivered
from mindmem.core.ingest.inbox.files import InboxFile
from mindmem.core.ingest.inbox.lines import read_lines
from mindmem.core.ingest.inbox.log import InboxLog

__all__ = ["Chunk", "Reading"]

CHUNK_MESSAGES: Final = 600
"""Messages of one chunk: some seconds of work, so that a step of a run is neither a flicker nor a wait."""
CHUNK_ITEMS: Final = 100


class Chunk:
    """Successive batches and bad lines of one file. It shows where it stands, never what it holds."""

    __slots__ = ("end", "items", "name", "start")

    def __init__(self, items: tuple[Batch | Rejected, ...]) -> None:
        lines = [item.line if isinstance(item, Rejected) else item.lines[-1] for item in items]
        firsts = [item.line if isinstance(item, Rejected) else item.lines[0] for item in items]
        self.items = items
        self.name = items[0].file.name
        self.start = min(firsts)
        self.end = max(lines)

    def __repr__(self) -> str:
        return f"{self.name} {self.place}"

    @property
    def place(self) -> str:
        """Return the lines that the chunk was read from, for people."""
        return f"lines {self.start}-{self.end}"


class Reading:
    """The reading of one file that holds something new.

    Deliver each of :meth:`chunks`, tell :meth:`keep` what was delivered, and :meth:`close` at the end.
    """

    def __init__(self, file: InboxFile, source: Source, log: InboxLog) -> None:
        self.file = file
        self._source = source
        self._log = log
        self._known = log.known(file)
        self._taken: set[int] = set()

    def chunks(self) -> Iterator[Chunk]:
        """Yield the file's batches and bad lines, some seconds of work at a time.

        Raises:
            OSError: the file can't be read.
        """
        items: list[Batch | Rejected] = []
        messages = 0
        for item in read_batches(self.file, read_lines(self.file.path), self._source, self._is_known):
            items.append(item)
            messages += len(item.messages) if isinstance(item, Batch) else 0
            if messages >= CHUNK_MESSAGES or len(items) >= CHUNK_ITEMS:
                yield Chunk(tuple(items))
                items, messages = [], 0
        if items:
            yield Chunk(tuple(items))

    def keep(self, delivered: Delivered) -> None:
        """Note messages that are in memory now."""
        self._taken.update(delivered.prints)

    def close(self, *, complete: bool) -> None:
        """Remember what was taken; ``complete`` says that every chunk was delivered."""
        self._log.remember(self.file, self._taken, complete=complete and self.file.is_unchanged())

    def _is_known(self, number: int) -> bool:
        known = number in self._known
        if known:
            self._taken.add(number)
        return known
