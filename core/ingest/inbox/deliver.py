"""Hand batches over to memory: what it refuses goes to quarantine by line, what fails stays for the next run."""

import logging
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar, Final, Protocol

from mindmem.core.errors import BudgetReached, Conflict, InvalidInput, MindMemError, ModelUnavailable
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.ingest.inbox.batches import Batch, Rejected
from mindmem.core.ingest.request import AddRequest
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Receipt

__all__ = [
    "Adder",
    "Delivered",
    "Failure",
    "SetAside",
    "Undelivered",
    "UndeliveredForNow",
    "deliver",
    "without_content",
]

log = logging.getLogger(__name__)

_UNREADABLE: Final = "part of a model's reply can't be read."


class Adder(Protocol):
    """What takes messages in: ``Memory``."""

    def add_each(self, requests: Iterable[AddRequest]) -> Iterator[Receipt | Exception]:
        """Carry out adds, several at a time where that pays, and yield what came of each, in order.

        Nothing more is taken from ``requests`` before a refused add was yielded, nor after an error that would meet
        every further add.
        """
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """A batch that was not delivered: ``code`` of the error and where it was raised, without the error's words."""

    file: str
    place: str
    code: str


@dataclass(frozen=True, slots=True)
class SetAside:
    """A line in quarantine: where, why without its content, and the id under which its raw text is kept."""

    file: str
    line: int
    reason: str
    quarantine_id: str

    @classmethod
    def of(cls, rejected: Rejected) -> "SetAside":
        """Return what may be shown of a rejected line."""
        return cls(rejected.file.name, rejected.line, rejected.kind, rejected.item.quarantine_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """What became of some batches: ids, places and counts only.

    ``counts`` are of the changes that this run made; ``repeated`` are batches that an earlier run had committed.
    ``stopped`` says why batches stay pending though nothing failed: the budget is spent.
    """

    batches: int = 0
    messages: int = 0
    repeated: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    change_ids: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    stopped: str = ""
    prints: tuple[int, ...] = field(default=(), repr=False)


class Undelivered(MindMemError):
    """Some batches failed; ``delivered`` is what went through, ``failures`` names the rest, without their content."""

    code: ClassVar[str] = "undelivered"

    def __init__(self, failures: Sequence[Failure], delivered: Delivered) -> None:
        first = failures[0]
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        super().__init__(f"{first.file}, {first.place}{more} stay pending: {first.code}.")
        self.failures = tuple(failures)
        self.delivered = delivered


class UndeliveredForNow(Undelivered):
    """Some batches failed for a reason that may pass."""

    code: ClassVar[str] = "undelivered_for_now"
    transient: ClassVar[bool] = True


def deliver(
    items: Iterable[Batch | Rejected], memory: Adder, ledger: Ledger, *, run_id: str = "", actor: str = "ingest"
) -> Delivered:
    """Add the batches in order, put rejected lines into quarantine, and say what became of them.

    A batch that fails does not stop the others, unless the reason would meet them, too: then the rest waits for the
    retry. Where the budget is spent, it waits for the next run.

    Raises:
        UndeliveredForNow: an error that may pass.
        Undelivered: another error; all other batches were delivered.
    """
    work = _Delivery(memory, ledger, run_id, actor)
    try:
        work.take(items)
    finally:
        tally = work.tally
        log.info("added %d messages in %d batches, %d set aside", tally.messages, tally.batches, len(tally.set_aside))
    if work.failures:
        kind = UndeliveredForNow if work.for_now else Undelivered
        raise kind(work.failures, tally.delivered())
    return tally.delivered()


def without_content(error: BaseException) -> str:
    """Return an error's code and the place that raised it; its message may quote what somebody said.

    What an endpoint's failure says is about the endpoint alone, and names what to fix: that is told.
    """
    code = error.code if isinstance(error, MindMemError) else type(error).__name__
    if isinstance(error, ModelUnavailable) or (isinstance(error, ExtractionFailed) and not error.raw):
        return f"{code}: {error}"
    frames = extract_tb(error.__traceback__)
    return f"{code} at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else code


@dataclass(slots=True)
class _Tally:
    batches: int = 0
    messages: int = 0
    repeated: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    change_ids: list[str] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    prints: list[int] = field(default_factory=list)
    stopped: str = ""

    def take(self, batch: Batch) -> None:
        self.batches += 1
        self.messages += len(batch.messages)
        self.prints.extend(batch.prints)

    def reject(self, rejected: Rejected, ledger: Ledger) -> None:
        ledger.quarantine([rejected.item])
        self.set_aside.append(SetAside.of(rejected))

    def delivered(self) -> Delivered:
        return Delivered(
            batches=self.batches,
            messages=self.messages,
            repeated=self.repeated,
            counts=dict(sorted(self.counts.items())),
            change_ids=tuple(self.change_ids),
            set_aside=tuple(self.set_aside),
            stopped=self.stopped,
            prints=tuple(self.prints),
        )


@dataclass(slots=True)
class _Delivery:
    """Batches on their way, and what became of them so far."""

    memory: Adder
    ledger: Ledger
    run_id: str
    actor: str
    tally: _Tally = field(default_factory=_Tally)
    failures: list[Failure] = field(default_factory=list)
    for_now: bool = False

    def take(self, items: Iterable[Batch | Rejected]) -> None:
        """Deliver the items in order."""
        asked: deque[Batch] = deque()
        for outcome in self.memory.add_each(self._requests(items, asked)):
            self._settle(asked.popleft(), outcome)

    def _requests(self, items: Iterable[Batch | Rejected], asked: deque[Batch]) -> Iterator[AddRequest]:
        for item in items:
            if isinstance(item, Rejected):
                self.tally.reject(item, self.ledger)
                continue
            asked.append(item)
            yield AddRequest(
                messages=item.messages,
                scope=item.scope,
                metadata=item.metadata,
                key=item.key,
                run_id=self.run_id,
                actor=self.actor,
            )

    def _settle(self, batch: Batch, outcome: Receipt | Exception) -> None:
        match outcome:
            case Receipt():
                self._delivered(batch, outcome)
            case BudgetReached():
                self.tally.stopped = str(outcome)
            case Conflict() if not outcome.transient and self._is_known(batch):
                # The key says that these very messages were taken; only the settings they are read with have changed.
                self.tally.take(batch)
                self.tally.repeated += 1
            case InvalidInput() if len(batch.messages) > 1:
                # Nothing was written: halve until the message that can't be taken stands alone.
                self.take(batch.split())
            case InvalidInput():
                kind = f"{outcome.field or 'message'} can't be taken."
                self.tally.reject(batch.rejected(kind, str(outcome)), self.ledger)
            case _:
                self._failed(batch, outcome)

    def _delivered(self, batch: Batch, receipt: Receipt) -> None:
        tally = self.tally
        tally.take(batch)
        tally.change_ids.extend(change.change_id for change in receipt.changes)
        for item in receipt.quarantined:
            tally.set_aside.append(SetAside(batch.file.name, batch.lines[0], _UNREADABLE, item))
        ours = {change.run_id for change in receipt.changes} == {self.run_id}
        if receipt.repeated and not ours:
            tally.repeated += 1
        else:
            # A retried step gets the receipts of its own first try: they count.
            tally.counts.update(receipt.counts)

    def _failed(self, batch: Batch, error: Exception) -> None:
        failure = Failure(batch.file.name, batch.place, without_content(error))
        self.failures.append(failure)
        self.for_now = self.for_now or bool(getattr(error, "transient", False))
        log.warning("not added: %s, %s: %s", failure.file, failure.place, failure.code)
        if isinstance(error, ExtractionFailed) and error.raw:
            # The batch stays pending; the reply is kept to be looked at.
            self.ledger.quarantine([error.item(batch.scope, batch.key, batch.file.name)])

    def _is_known(self, batch: Batch) -> bool:
        return self.ledger.by_key(batch.scope.project_id, batch.key) is not None
