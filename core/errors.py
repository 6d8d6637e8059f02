"""The error tree: every error says whether a retry can help, what was expected, what came, and what to do."""

from typing import ClassVar

__all__ = [
    "BudgetReached",
    "Conflict",
    "CorruptStore",
    "EmbedderMismatch",
    "InvalidInput",
    "LeaseLost",
    "LeaseTaken",
    "MindMemError",
    "MissingExtra",
    "ModelUnavailable",
    "NotFound",
    "OutdatedIndex",
    "ScopeChanged",
    "StaleGeneration",
    "StoreBusy",
    "StoreUnavailable",
    "bounded",
]


def bounded(value: object, limit: int = 80) -> str:
    """Render ``value`` for an error message: its ``repr``, cut to ``limit`` characters with the length named.

    >>> bounded("x" * 200, 10)
    "'xxxxxxxxx… (202 characters)"
    """
    try:
        text = repr(value)
    except RecursionError:
        text = f"<a deeply nested {type(value).__name__}>"
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text)} characters)"


class MindMemError(Exception):
    """Base of all errors that MindMem raises on purpose.

    ``code`` is stable and travels over HTTP; ``transient`` says whether the same call may succeed later.
    """

    code: ClassVar[str] = "internal"
    transient: ClassVar[bool] = False


class InvalidInput(MindMemError, ValueError):
    """What the caller gave is not of the expected form; ``field`` names the place."""

    code = "invalid_argument"

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class NotFound(MindMemError, LookupError):
    """No object with that id is visible in that scope."""

    code = "not_found"


class MissingExtra(MindMemError, ImportError):
    """An optional dependency is needed; the message holds the one command that installs it."""

    code = "missing_extra"


class BudgetReached(MindMemError):
    """The tokens or the money that a run or a day may cost are spent. Queued adds stay queued; nothing else is kept."""

    code = "budget_reached"


class ModelUnavailable(MindMemError):
    """A model's endpoint gave no answer: ``transient`` when a later call may succeed, else the message says why."""

    code = "model_unavailable"

    def __init__(self, message: str, *, transient: bool) -> None:
        super().__init__(message)
        self.transient = transient  # type: ignore[misc]  # here the instance knows


class EmbedderMismatch(MindMemError):
    """The index was built by another embedder; the message names the command that re-embeds."""

    code = "embedder_mismatch"


class CorruptStore(MindMemError):
    """Ledger, tables and index disagree in a way that no crash explains; the message names the repair."""

    code = "corrupt_store"


class StoreUnavailable(MindMemError):
    """The store can't be opened or written: missing, read-only, disk full, wrong version."""

    code = "store_unavailable"


class OutdatedIndex(StoreUnavailable):
    """The index was written by an older version and lacks what this one needs: it is built anew from the tables."""

    code = "outdated_index"


class StoreBusy(MindMemError):
    """Another process holds the store's write lock for longer than the timeout."""

    code = "store_busy"
    transient = True


class Conflict(MindMemError):
    """The change can't be applied to today's state."""

    code = "conflict"


class ScopeChanged(Conflict):
    """The scope got another change since the plan was decided: decide again on the new state."""

    code = "scope_changed"
    transient = True


class LeaseTaken(Conflict):
    """Somebody else holds the lease."""

    code = "lease_taken"
    transient = True


class LeaseLost(Conflict):
    """The lease ran out or was taken over; the change was not applied."""

    code = "lease_lost"
    transient = True


class StaleGeneration(Conflict):
    """The index generation was swapped while it was in use; open the new one and repeat."""

    code = "stale_generation"
    transient = True
