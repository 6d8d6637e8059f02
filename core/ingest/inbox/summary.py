"""What a run over the inbox and the queue did, in ids, names and counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from mindmem.core.ingest.inbox.deliver import Delivered, Failure, SetAside
from mindmem.core.ingest.inbox.files import InboxFile
from mindmem.core.ingest.inbox.queue import QueueWork

__all__ = ["FileSummary", "IngestSummary", "Tally"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSummary:
    """One file of the inbox. ``state`` is ``taken``, ``known`` (taken before) or ``pending`` (something failed)."""

    name: str
    sha256: str
    size: int
    state: str
    messages: int = 0
    set_aside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestSummary:
    """One run of ingest. ``pending`` counts queued adds that still have to be done; ``failures`` name batches that do.
    ``queued`` adds were carried out in ``episodes``; ``buffered`` messages wait for the end of theirs, as they should.

    ``stopped`` says why the run ended before its work did, though nothing failed: the budget is spent.
    """

    files: tuple[FileSummary, ...] = ()
    messages: int = 0
    batches: int = 0
    repeated: int = 0
    queued: int = 0
    episodes: int = 0
    buffered: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    set_aside: tuple[SetAside, ...] = ()
    set_aside_total: int = 0
    failures: tuple[Failure, ...] = ()
    change_ids: tuple[str, ...] = ()
    pending: int = 0
    skipped_as_stale: bool = False
    stopped: str = ""

    @property
    def unfinished(self) -> int:
        """Return how many batches, files and queued adds stay for the next run."""
        return len(self.failures) + self.pending

    @property
    def failed(self) -> bool:
        """Return whether something stays pending that should not: a spent budget is no failure."""
        return bool(self.failures) or (self.pending > 0 and not self.stopped)


class Tally:
    """Adds up an :class:`IngestSummary` while a run goes on; long lists are cut, their totals are not."""

    LISTED = 1_000

    def __init__(self) -> None:
        self.stopped = ""
        self.messages = self.batches = self.repeated = self.queued = self.episodes = self.set_aside_total = 0
        self._counts: Counter[str] = Counter()
        self._files: list[FileSummary] = []
        self._failures: list[Failure] = []
        self._set_aside: list[SetAside] = []
        self._change_ids: list[str] = []

    def file(
        self, file: InboxFile, state: str, *, messages: int = 0, set_aside: int = 0
    ) -> None:  # fmt: skip
        """Count a file that was looked at."""
        self._files.append(
            FileSummary(
                name=file.name, sha256=file.sha256, size=file.size, state=state, messages=messages, set_aside=set_aside
            )
        )

    def delivered(self, delivered: Delivered) -> None:
        """Count what became of some batches."""
        self.messages += delivered.messages
        self.batches += delivered.batches
        self.repeated += delivered.repeated
        self._counts.update(delivered.counts)
        self._aside(delivered.set_aside)
        self.stopped = self.stopped or delivered.stopped
        self._change_ids.extend(delivered.change_ids[: self.LISTED - len(self._change_ids)])

    def failed(self, *failures: Failure) -> None:
        """Name batches or files that stay for the next run."""
        self._failures.extend(failures)

    def queue(self, work: QueueWork) -> None:
        """Count queued adds that were worked off."""
        self.queued += work.adds
        self.episodes += work.episodes
        self.stopped = self.stopped or work.stopped
        self._counts.update(work.counts)
        self._aside(tuple(SetAside("queue", 0, "the queued add can't be done.", item) for item in work.quarantined))
        self._change_ids.extend(work.change_ids[: self.LISTED - len(self._change_ids)])

    def _aside(self, found: tuple[SetAside, ...]) -> None:
        self.set_aside_total += len(found)
        self._set_aside.extend(found[: self.LISTED - len(self._set_aside)])

    def summary(self, *, pending: int = 0, buffered: int = 0) -> IngestSummary:
        """Return the sums."""
        return IngestSummary(
            files=tuple(self._files),
            messages=self.messages,
            batches=self.batches,
            repeated=self.repeated,
            queued=self.queued,
            episodes=self.episodes,
            buffered=buffered,
            counts=dict(sorted(self._counts.items())),
            set_aside=tuple(self._set_aside),
            set_aside_total=self.set_aside_total,
            failures=tuple(self._failures),
            change_ids=tuple(self._change_ids),
            pending=pending,
            stopped=self.stopped,
        )
