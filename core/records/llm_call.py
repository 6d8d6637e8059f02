"""LlmCall: what one call of a model was for, what it cost, and how it went; never what was said in it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mindmem.core.records.scope import Scope

__all__ = ["CallOutcome", "LlmCall", "Purpose", "Spending", "Spent"]

Purpose = Literal["extract", "judge", "answer", "evolve", "embed", "rerank"]
CallOutcome = Literal["ok", "repaired", "salvaged", "unreadable", "refused", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmCall:
    """One call, all its retries included.

    ``prompt`` with its ``version`` and ``digest`` says which words asked; ``cost`` is in the currency of the settings'
    prices, None where the model has no price. ``latency_ms`` is the time until the answer was there, waits included;
    ``cached`` calls cost nothing. Tries that ended without an answer, but may be billed, are counted by an estimate.
    ``estimated`` says that not all tokens were counted by the endpoint; ``error`` what was wrong, if anything.
    ``called_at`` is aware UTC.
    """

    call_id: str
    scope: Scope
    run_id: str
    purpose: Purpose
    prompt: str
    version: str
    digest: str
    model: str
    input_tokens: int
    output_tokens: int
    cost: float | None
    latency_ms: float
    retries: int
    cached: bool
    outcome: CallOutcome
    called_at: datetime
    error: str = ""
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Spent:
    """What some calls came to; ``unpriced`` are calls of models without a price, which ``cost`` leaves out, and
    ``estimated`` those whose tokens the endpoint did not all count."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    unpriced: int = 0
    cached: int = 0
    estimated: int = 0

    @property
    def tokens(self) -> int:
        """Return input and output together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Spending:
    """What the calls of one purpose and model came to in the quarter of an hour that began at ``at`` (aware UTC)."""

    at: datetime
    purpose: Purpose
    model: str
    spent: Spent
