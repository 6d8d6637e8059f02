"""What a model wrote that is of no use: the failure of an add, and replies on their way into quarantine."""

from mindmem.core import ids
from mindmem.core.errors import MindMemError
from mindmem.core.ingest.inbox.lines import raw_text
from mindmem.core.ledger.port import Quarantined
from mindmem.core.records import Scope

__all__ = ["ExtractionFailed", "failure_id", "reply_aside"]


class ExtractionFailed(MindMemError):
    """What an add needs to be judged could not be, so nothing of it was written; it stays with the caller, or pending.

    ``raw`` is what a model wrote instead, to be looked at; empty when no model answered at all.
    """

    code = "extraction_failed"

    def __init__(self, message: str, *, transient: bool, raw: str = "") -> None:
        super().__init__(message)
        self.transient = transient  # type: ignore[misc]  # here the instance knows
        self.raw = raw

    def item(self, scope: Scope, key: str, origin: str) -> Quarantined:
        """Return the reply as an item for quarantine, known by the key of its add however often that fails."""
        return Quarantined(
            quarantine_id=failure_id(scope, key),
            scope=scope,
            origin=origin,
            line=0,
            reason=raw_text(f"{self.code}: {self}"),
            raw=raw_text(self.raw),
        )


def failure_id(scope: Scope, key: str) -> str:
    """Return the id under which the useless reply to an add is kept in quarantine."""
    return "qua_" + ids.digest("failure", scope.key, key)


def reply_aside(scope: Scope, place: str, origin: str, reason: str, raw: str) -> Quarantined:
    """Return an unreadable part of a reply as an item for quarantine; ``place`` is the message that it is about."""
    return Quarantined(
        quarantine_id="qua_" + ids.digest("reply", scope.key, place, raw),
        scope=scope,
        origin=origin,
        line=0,
        reason=raw_text(reason),
        raw=raw_text(raw),
    )
