"""Hand batches over to memory: what it refuses goes to quarantine by line, what fails stays for the next run."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb
from typing import ClassVar, Protocol

from mindmem.core.errors import Conflict, InvalidInput, MindMemError
from mindmem.core.ingest.inbox.batches import Batch, Rejected
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


class Adder(Protocol):
    """What takes messages in: ``Memory``."""

    def add(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        user_id: str,
        app_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        metadata: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        run_id: str = "",
        actor: str = "",
    ) -> Receipt:
        """Remember messages of one scope."""
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
    """

    batches: int = 0
    messages: int = 0
    repeated: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    change_ids: tuple[str, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
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

    A batch that fails does not stop the others, unless the reason may pass: then the rest waits for the retry.

    Raises:
        UndeliveredForNow: an error that may pass.
        Undelivered: another error; all other batches were delivered.
    """
    tally = _Tally()
    failures: list[Failure] = []
    try:
        for item in items:
            if isinstance(item, Rejected):
                tally.reject(item, ledger)
                continue
            try:
                _add(item, memory, ledger, tally, run_id, actor)
            except Exception as error:
                failure = Failure(item.file.name, item.place, without_content(error))
                failures.append(failure)
                log.warning("not added: %s, %s: %s", failure.file, failure.place, failure.code)
                if getattr(error, "transient", False):
                    raise UndeliveredForNow(failures, tally.delivered()) from None
    finally:
        log.info("added %d messages in %d batches, %d set aside", tally.messages, tally.batches, len(tally.set_aside))
    if failures:
        raise Undelivered(failures, tally.delivered())
    return tally.delivered()


def without_content(error: BaseException) -> str:
    """Return an error's code and the place that raised it; its message may quote what somebody said."""
    code = error.code if isinstance(error, MindMemError) else type(error).__name__
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
            prints=tuple(self.prints),
        )


def _add(batch: Batch, memory: Adder, ledger: Ledger, tally: _Tally, run_id: str, actor: str) -> None:
    scope = batch.scope
    try:
        receipt = memory.add(
            batch.messages,
            user_id=scope.user_id,
            app_id=scope.app_id or None,
            agent_id=scope.agent_id or None,
            session_id=scope.session_id or None,
            metadata=batch.metadata or None,
            idempotency_key=batch.key,
            run_id=run_id,
            actor=actor,
        )
    except Conflict as error:
        if error.transient or ledger.by_key(scope.project_id, batch.key) is None:
            raise
        # The key says that these very messages were taken; only the settings that they are read with have changed.
        tally.take(batch)
        tally.repeated += 1
        return
    except InvalidInput as error:
        if len(batch.messages) > 1:
            # Nothing was written: halve until the message that can't be taken stands alone.
            for part in batch.split():
                _add(part, memory, ledger, tally, run_id, actor)
            return
        tally.reject(batch.rejected(f"{error.field or 'message'} can't be taken.", str(error)), ledger)
        return
    tally.take(batch)
    tally.change_ids.extend(change.change_id for change in receipt.changes)
    ours = {change.run_id for change in receipt.changes} == {run_id}
    if receipt.repeated and not ours:
        tally.repeated += 1
    else:
        # A retried step gets the receipts of its own first try: they count.
        tally.counts.update(receipt.counts)
