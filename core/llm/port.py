"""The ports of language models: a completer speaks to an endpoint, a model gives validated replies, a log keeps count.

Who pays for a call is said by the code around it (``charged_to``), not handed through every judgement.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from mindmem.core.reason.port import Failed, Judged
from mindmem.core.records.llm_call import LlmCall, Purpose, Spent
from mindmem.core.records.scope import Scope

__all__ = [
    "Account",
    "CallLog",
    "Completer",
    "Completion",
    "Model",
    "Question",
    "Rejected",
    "Reply",
    "Tally",
    "account",
    "charged_to",
]

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Account:
    """Who pays: the scope that a call serves and the run that makes it (empty outside of a run)."""

    scope: Scope
    run_id: str = ""


_account: Final[ContextVar[Account | None]] = ContextVar("mindmem_account", default=None)


@contextmanager
def charged_to(scope: Scope, run_id: str = "") -> Iterator[None]:
    """Charge the calls made inside to a scope and run; tasks and threads started inside inherit it."""
    token = _account.set(Account(scope, run_id))
    try:
        yield
    finally:
        _account.reset(token)


def account() -> Account | None:
    """Return who pays for a call made here."""
    return _account.get()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question(Generic[R]):
    """One structured question.

    ``prompt``, ``version`` and ``digest`` name the prompt file; ``system`` and ``user`` are rendered. ``reply`` is the
    pydantic model of the answer; ``items`` names its list field whose items stand alone, so that a bad one can be set
    aside (empty: all or nothing). ``temperature`` is 0 unless variety is wanted; ``seed`` then tells tries apart.
    """

    purpose: Purpose
    prompt: str
    version: str
    digest: str
    system: str
    user: str
    reply: type[R]
    items: str = ""
    max_output_tokens: int = 4096
    temperature: float = 0.0
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """An item of a reply that is not of the expected form: why, and its raw text."""

    reason: str
    raw: str


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """A validated reply: its value without the rejected items, and the raw text that the model wrote. ``cut`` says
    that the text ended before the model was done, so that items may be missing: ask again for less at once."""

    value: R
    raw: str
    rejected: tuple[Rejected, ...] = ()
    call: LlmCall | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint wrote. Token counts are of all tries of the call: the endpoint's own, or with estimates where it
    gives none, gives incredible ones, or a try ended without an answer (``counted`` is False then)."""

    text: str
    finish: Literal["stop", "length", "refusal"]
    input_tokens: int
    output_tokens: int
    model: str
    counted: bool = True
    retries: int = 0


async def _unhindered() -> None:
    """Let every try be made."""


@dataclass(slots=True)
class Tally:
    """What the tries of one call that gave nothing may be billed for: estimates, since no endpoint counted them.

    Kept up to date while the call is under way, so that it is known what a call came to that ends in an error.
    ``again`` is awaited before each further try; what it raises ends the call.
    """

    again: Callable[[], Awaitable[None]] = _unhindered
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0

    @property
    def tokens(self) -> int:
        """Return input and output together."""
        return self.input_tokens + self.output_tokens

    def add(self, input_tokens: int, output_tokens: int) -> None:
        """Count a try that reached the model."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens


class Completer(Protocol):
    """Speaks to one endpoint. It retries what may pass; what it raises is final for this call."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        model: str,
        schema_name: str,
        schema: Mapping[str, Any] | None,
        max_output_tokens: int,
        temperature: float = 0.0,
        seed: int | None = None,
        tally: Tally | None = None,
    ) -> Completion:
        """Return the endpoint's text for ``messages`` ({role, content} each).

        ``tally`` tells what the call came to where it raises, and may end the tries; a completion holds all of it.

        Raises:
            ModelUnavailable: no answer after the retries (transient), or the endpoint refuses such calls (terminal).
        """
        ...


class Model(Protocol):
    """Gives structured, validated replies: cached, within the budget, recorded."""

    async def ask(self, question: Question[R]) -> Judged[Reply[R]] | Failed:
        """Answer one question. ``Failed.raw`` holds a reply that could not be read, ``Failed.cut`` says that it ended
        before the model was done.

        Raises:
            BudgetReached: the run's or the day's limit is spent: nothing was asked, or a failed try is not repeated.
        """
        ...

    def batch(self) -> int:
        """Return how many questions may be in flight at once."""
        ...


class CallLog(Protocol):
    """Keeps the record of calls, shared by all processes of a store."""

    def record_call(self, call: LlmCall) -> None:
        """Keep one call; a repeated call_id is ignored."""
        ...

    def spent(
        self, project_id: str, *, run_id: str | None = None, since: datetime | None = None, user_id: str | None = None
    ) -> Spent:
        """Return what the project's calls came to: of one run, since a moment, of one user."""
        ...
