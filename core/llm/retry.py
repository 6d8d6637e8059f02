"""Whether to try again: each failure of an endpoint is judged here, once, as transient or terminal, with what to do.

A retry that surrounds a call multiplies with those inside it. Code that is repeated as a whole (a task that retries
itself) says so: ``with tries(1): ...`` leaves a call inside it one try, and the task the waiting.

What an endpoint says of a request may repeat the request, and a key. Its words are shown only where they hold nothing
of what was sent (:func:`harmless`), so no error or log tells what a person said.
"""

import asyncio
import logging
import random
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

from mindmem.core.clock import monotonic
from mindmem.core.errors import ModelUnavailable
from mindmem.core.llm.port import Tally

__all__ = [
    "Complaint",
    "Fault",
    "Patience",
    "Place",
    "complaint",
    "harmless",
    "persist",
    "refused",
    "tries",
    "unanswered",
]

T = TypeVar("T")
Dice = Callable[[], float]
"""Gives a number in [0, 1)."""
Sleep = Callable[[float], Awaitable[None]]

log = logging.getLogger(__name__)

# Anthropic's and some gateways' 529 says "overloaded"; 409 and 425 pass as a lock or a handshake does.
_PASSING: Final = frozenset({408, 409, 425, 429})
_GAVE_UP: Final = frozenset({504, 524})
"""A gateway no longer waits for a model that goes on."""
_UNPAID: Final = ("insufficient_quota", "insufficient balance", "billing_hard_limit", "billing_not_active")
_TOO_LONG: Final = (
    "request too large",
    "context_length",
    "context length",
    "context size",
    "context window",
    "prompt is too long",
)
_FILTERED: Final = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation")
_ELSEWHERE: Final = {("EMBED", "TIMEOUT"): ("LLM", "TIMEOUT"), ("RERANK", "BASE_URL"): ("RERANK", "URL")}
"""Settings that another part holds, or that have another name."""
_SHORTER: Final = {
    "LLM": "Lower MINDMEM_INGEST__SOFT_TOKENS and MINDMEM_INGEST__HARD_TOKENS",
    "EMBED": "Lower MINDMEM_EMBED__MAX_TOKENS",
    "RERANK": "Lower MINDMEM_RERANK__TOP",
}
_UNSENT: Final = frozenset({"WriteError", "WriteTimeout", "PoolTimeout", "LocalProtocolError", "ProxyError"})
"""Errors before a request was sent as a whole, beside those of connecting."""
_LONGEST: Final = 30.0
_OVERLAP: Final = 12
"""Characters in a row that an endpoint's words may share with the request before they count as repeating it."""

_tries: Final[ContextVar[int | None]] = ContextVar("mindmem_tries", default=None)


@contextmanager
def tries(most: int) -> Iterator[None]:
    """Let the calls made inside try at most so often, however many retries are set; nested limits only lower it."""
    outer = _tries.get()
    token = _tries.set(max(1, most if outer is None else min(most, outer)))
    try:
        yield
    finally:
        _tries.reset(token)


@dataclass(frozen=True, slots=True)
class Place:
    """Which endpoint and model are meant, and the part of the settings (LLM, EMBED, RERANK) that says so."""

    base_url: str
    model: str
    part: str = "LLM"

    def __str__(self) -> str:
        parts = urlsplit(self.base_url)
        # Credentials and queries of an address are secrets.
        host = parts.netloc.rpartition("@")[2]
        return f"Model {self.model!r} at {parts.scheme}://{host}{parts.path}"

    def setting(self, name: str) -> str:
        """Return the variable that holds a setting of this part."""
        part, named = _ELSEWHERE.get((self.part, name), (self.part, name))
        return f"MINDMEM_{part}__{named}"


@dataclass(frozen=True, slots=True)
class Complaint:
    """What an endpoint says about a request it refuses, whichever form it says it in; untrusted, perhaps an echo."""

    message: str = ""
    code: str = ""
    kind: str = ""
    param: str = ""

    def mentions(self, *words: str) -> bool:
        """Say whether any of these (lower case) stands in it."""
        said = f"{self.code} {self.kind} {self.param} {self.message}".lower()
        return any(word in said for word in words)


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a try gave nothing.

    ``why`` is for people, ``transient`` and ``wait`` (seconds that the endpoint asks for) for the retry, ``status`` and
    ``complaint`` for code that can adapt the request. ``filtered``: a content filter refused the prompt. ``reached``:
    the model may have been at work, so that the try may be billed.
    """

    why: str
    transient: bool
    wait: float | None = None
    status: int | None = None
    complaint: Complaint = Complaint()
    filtered: bool = False
    reached: bool = False


def complaint(body: object) -> Complaint:
    """Read an error's body: OpenAI's form, FastAPI's list, a plain string, with or without ``error`` around it."""
    if isinstance(body, Mapping) and body.get("error"):
        body = body["error"]
    if isinstance(body, str):
        return Complaint("" if body.lstrip().startswith("<") else body[:2000])
    if not isinstance(body, Mapping):
        return Complaint()
    said = body.get("message") or body.get("detail") or ""
    if isinstance(said, list):
        said = "; ".join(_validation(item) for item in said)
    return Complaint(str(said)[:2000], *(str(body.get(name) or "")[:100] for name in ("code", "type", "param")))


def _validation(item: object) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    place = item.get("loc")
    return f"{'.'.join(map(str, place)) if isinstance(place, list) else ''}: {item.get('msg', '')}"


def refused(
    place: Place, status: int, body: object, headers: Mapping[str, str], *, now: datetime, sent: str = "", key: str = ""
) -> Fault:
    """Judge an answer with an error's status. ``headers`` have lower-case names; ``sent`` are the texts of the request.

    ``now`` is what Retry-After's date is compared with.
    """
    said = complaint(body)
    if said.mentions(*_FILTERED) and status < 500:
        return Fault(f"{place} refuses the prompt: content filter ({status}).", False, status=status, filtered=True)
    unpaid = status == 402 or (status == 429 and said.mentions(*_UNPAID))
    # Larger than what a minute allows: no wait makes it smaller.
    too_large = status == 429 and said.mentions("request too large")
    if (status in _PASSING or status >= 500) and not unpaid and not too_large:
        wait = _asked_wait(headers, now)
        why = f"{place} can't answer now ({status}){_quoted(said, sent, key)}"
        return Fault(why, True, wait, status=status, complaint=said, reached=status in _GAVE_UP)
    return Fault(_what_to_fix(place, status, said, unpaid, sent, key), False, status=status, complaint=said)


def _what_to_fix(place: Place, status: int, said: Complaint, unpaid: bool, sent: str, key: str) -> str:
    words = _quoted(said, sent, key)
    if unpaid:
        return f"{place}: the key's account has no credit left ({status}); pay there, or use another key or endpoint."
    if status in {401, 403}:
        verb = "refuses the key" if key else "wants a key and got none"
        fallback = " or OPENAI_API_KEY" if place.part == "LLM" else ""
        return f"{place} {verb} ({status}){words} Check {place.setting('API_KEY')}{fallback}."
    if status == 404 and said.mentions("model", "deployment"):
        return (
            f"{place} isn't known there (404){words} Check {place.setting('MODEL')}, or load the model on the server."
        )
    if status in {404, 405}:
        usually = "" if place.part == "RERANK" else "; it usually ends in /v1"
        return f"{place}: no such path ({status}){words} Check {place.setting('BASE_URL')}{usually}."
    if said.mentions(*_TOO_LONG) or status == 413:
        remedy = f"{_SHORTER[place.part]}, or let the server read more."
        return f"{place}: that is longer than the model reads ({status}){words} {remedy}"
    return f"{place} refuses the request ({status}){words} Check {place.setting('MODEL')} and what it supports."


def _quoted(said: Complaint, sent: str, key: str) -> str:
    """Return the endpoint's own words as the end of a sentence, as far as they may be shown."""
    codes = dict.fromkeys(part for part in (said.code, said.kind, said.param) if part and harmless(part, sent, key))
    words = harmless(said.message, sent, key)
    shown = ": ".join(part for part in (", ".join(codes), words) if part)
    return f": {shown.rstrip('.')}." if shown else "."


def harmless(words: str, sent: str, key: str = "", limit: int = 200) -> str:
    """Return an endpoint's words on one line, cut to ``limit`` characters; nothing where they may repeat ``sent``.

    Words that hold the key are dropped, too, and so are escapes, which could hide either.

    >>> harmless("max_tokens is too large", "My PIN is 1234, remember it.")
    'max_tokens is too large'
    >>> harmless("bad input: 'My PIN is 1234, remember'", "My PIN is 1234, remember it.")
    ''
    """
    line = "".join(sign for sign in " ".join(words.split()) if sign.isprintable())[:limit]
    if "\\u" in line or "\\x" in line or (key and (key in line or key[-8:] in line)):
        return ""
    text = " ".join(sent.split())
    if len(text) < _OVERLAP:
        return "" if text and text in line else line
    pieces = (line[at : at + _OVERLAP] for at in range(len(line) - _OVERLAP + 1))
    return "" if any(piece in text for piece in pieces) else line


def unanswered(place: Place, error: BaseException, seconds: float) -> Fault:
    """Judge a try that ended without a whole answer: no connection, a lost one, none within ``seconds``."""
    causes = list(_causes(error))
    names = {type(cause).__name__ for cause in causes}
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return Fault(
            f"{place}: its certificate is not trusted. Check {place.setting('BASE_URL')}, or add its authority to the "
            "file that SSL_CERT_FILE names.",
            False,
        )
    if names & {"ConnectError", "ConnectTimeout"}:
        return Fault(f"{place} can't be reached. Does the server run, and is {place.setting('BASE_URL')} right?", True)
    reached = not names & _UNSENT
    if any(isinstance(cause, TimeoutError) or "Timeout" in type(cause).__name__ for cause in causes):
        why = f"{place} gave no answer within {seconds:g} s ({place.setting('TIMEOUT')})."
        return Fault(why, True, reached=reached)
    why = f"{place}: the connection was lost in the middle of an answer ({type(causes[-1]).__name__})."
    return Fault(why, True, reached=reached)


def _causes(error: BaseException) -> Iterator[BaseException]:
    at: BaseException | None = error
    while at is not None:
        yield at
        at = at.__cause__ or at.__context__


def _asked_wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that an endpoint asks for, in any of the three ways to say it."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        asked = headers.get("retry-after", "").strip()
        if not asked:
            return None
        if asked.replace(".", "", 1).isdigit():
            return float(asked)
        date = parsedate_to_datetime(asked)
        return max(0.0, ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds())
    except ValueError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long one call goes on: ``retries`` after the first try, ``seconds`` for all of it, waits included.

    A wait doubles from ``first`` to ``longest`` seconds, half of it by chance, so that many callers don't come back
    together. An endpoint that names a wait gets it; where that is longer than ``most_asked``, the call gives up at
    once, and what it was for stays pending.
    """

    retries: int
    seconds: float
    first: float = 0.5
    longest: float = _LONGEST
    most_asked: float = 120.0

    @classmethod
    def of(cls, *, timeout: float, retries: int) -> Self:
        """Return the patience for tries of at most ``timeout`` seconds: all of them, and a long wait after each."""
        return cls(retries=retries, seconds=(retries + 1) * (timeout + _LONGEST))

    def wait(self, fault: Fault, failed: int, elapsed: float, dice: Dice) -> float | None:
        """Return the seconds to wait after ``failed`` tries in ``elapsed`` seconds; None: give up."""
        limit = _tries.get()
        most = self.retries + 1 if limit is None else min(limit, self.retries + 1)
        if not fault.transient or failed >= most:
            return None
        wait = min(self.longest, self.first * 2 ** (failed - 1)) * (0.5 + dice() / 2)
        if fault.wait is not None:
            if fault.wait > self.most_asked:
                return None
            wait = max(wait, fault.wait)
        return wait if elapsed + wait < self.seconds else None


async def persist(
    attempt: Callable[[], Awaitable[T | Fault]],
    patience: Patience,
    *,
    sleep: Sleep = asyncio.sleep,
    dice: Dice = random.random,
    tally: Tally | None = None,
) -> tuple[T, int]:
    """Repeat ``attempt`` until it gives a value; return that and the number of retries. Cancelling ends it at once.

    ``tally`` counts the retries, and is asked before each one; what the tries came to, ``attempt`` puts there.

    Raises:
        ModelUnavailable: the last fault, transient or terminal as it is.
    """
    tally = tally or Tally()
    began = monotonic()
    waited = 0.0
    failed = 0
    while isinstance(given := await attempt(), Fault):
        failed += 1
        # An injected sleep takes no time; what it was told to sleep counts nevertheless.
        wait = patience.wait(given, failed, max(waited, monotonic() - began), dice)
        if wait is None:
            times = f" Given up after {failed} tries." if failed > 1 else ""
            raise ModelUnavailable(given.why + times, transient=given.transient)
        log.info("%s Next try in %.1f s.", given.why, wait)
        await tally.again()
        tally.retries += 1
        waited += wait
        await sleep(wait)
    return given, failed
