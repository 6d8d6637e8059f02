"""The completer on the ``openai`` package: one endpoint, any event loop, bounded, retried, in the endpoint's dialect.

Retrying is ours (:mod:`~mindmem.core.llm.retry`), so the package's own is off. The timeout bounds a whole try, however
slowly its body drips. ``concurrency`` bounds the calls under way in the whole process, waits before retries included:
an overloaded endpoint is not asked more while others wait for it.
"""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mindmem.core.clock import Clock, SystemClock, monotonic
from mindmem.core.errors import ModelUnavailable
from mindmem.core.llm.answer import Answer, NoAnswer, credible, read_answer
from mindmem.core.llm.connections import Connections, address, key
from mindmem.core.llm.dialect import Dialect, Dialects
from mindmem.core.llm.port import Completion, Tally
from mindmem.core.llm.retry import Dice, Fault, Patience, Place, Sleep, persist, refused, unanswered
from mindmem.core.llm.slots import shared_slots
from mindmem.core.llm.understanding import Misread, Understanding
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import LlmSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAICompleter"]

MOST_BYTES: Final = 16_000_000
"""Of one answer: far more than any bound of output tokens allows, far less than harms."""
_INPUT_TIMES: Final = 4
_INPUT_MORE: Final = 1_000
"""An endpoint that counts more input than so many times our estimate, and so many more, is not believed."""
_OUTPUT_TIMES: Final = 4
"""Nor one that counts more output than so many times what was allowed."""
_TOKENS_PER_SECOND: Final = 50
"""What a model may have written until it was given up, when nothing of it came."""


@dataclass(frozen=True, slots=True)
class _Call:
    """What is asked, in no dialect yet."""

    place: Place
    schema: Mapping[str, Any] | None
    arguments: Mapping[str, Any]
    tally: Tally = field(default_factory=Tally)

    @property
    def sent(self) -> str:
        return "\n".join(message["content"] for message in self.arguments["messages"])

    @property
    def input_tokens(self) -> int:
        """Return an estimate of what is sent."""
        return estimate_tokens(self.sent) + (estimate_tokens(json.dumps(self.schema)) if self.schema else 0)

    @property
    def most(self) -> int:
        """Return how many tokens may be written."""
        return int(self.arguments["max_output_tokens"])

    def lost(self, raw: bytes | bytearray, seconds: float = 0.0) -> None:
        """Count a try that reached the model, by what came of it, or by how long nothing came."""
        written = estimate_tokens(raw[: self.most * 16].decode("utf-8", "replace"))
        guess = max(written, round(seconds * _TOKENS_PER_SECOND))
        self.tally.add(self.input_tokens, min(guess, self.most))


class OpenAICompleter:
    """Speaks to the endpoint of the settings. Safe for threads and event loops; implements ``Completer``."""

    def __init__(
        self,
        settings: LlmSettings,
        *,
        dialects: Dialects | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
        dice: Dice = random.random,
    ) -> None:
        """``dialects`` remember what the endpoint understands, beyond this process where they have a folder.

        Raises:
            InvalidInput: an address, a key, a header or a version that can't be meant.
        """
        self._settings = settings
        self._base_url = address(settings)
        self._connections = Connections(settings)
        self._understanding = Understanding(dialects or Dialects(), self._base_url, settings.structure)
        self._patience = patience or Patience.of(timeout=settings.timeout, retries=settings.retries)
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._dice = dice
        self._slots = shared_slots(self._base_url, settings.concurrency)
        self._closed = False

    def close(self) -> None:
        """Refuse later calls. Connections are not left open anyway: they end with the last call under way."""
        self._closed = True

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
        """Return the endpoint's text for ``messages`` ({role, content} each), without a reasoning model's thoughts.

        ``schema`` is pydantic's; the dialect makes it strict, or writes it below the system message. Calls of a model
        never spoken to go out together in the first guess; the tokens of a reply that was given up since it reads over
        its schema are counted. So is an estimate of each try that reached the model and gave nothing.

        Raises:
            BudgetReached: ``tally`` lets no further try be made.
            ModelUnavailable: no answer after the retries (transient), or the endpoint refuses such calls (terminal).
        """
        if self._closed:
            raise ModelUnavailable("This completer is closed; open another one.", transient=False)
        call = _Call(
            Place(self._base_url, model),
            schema,
            {
                "messages": [{**message, "content": _sendable(message["content"])} for message in messages],
                "model": model,
                "schema_name": schema_name,
                "schema": schema,
                "max_output_tokens": max_output_tokens,
                "temperature": temperature,
                "seed": seed,
            },
            tally or Tally(),
        )
        async with self._slots, self._connections.here() as client:
            completion = await self._understanding.answer(call.place, schema, partial(self._ask, client, call))
        return replace(
            completion,
            input_tokens=completion.input_tokens + call.tally.input_tokens,
            output_tokens=completion.output_tokens + call.tally.output_tokens,
            counted=completion.counted and not call.tally.tokens,
            retries=call.tally.retries,
        )

    async def _ask(self, client: "AsyncOpenAI", call: _Call, dialect: Dialect) -> Completion | Misread:
        """Ask in one dialect until there is an answer, or word that it is not understood."""
        body = dialect.body(**call.arguments)

        async def attempt() -> Answer | Misread | Fault:
            given = await self._try(client, call, body)
            if not isinstance(given, Fault):
                return given
            return Answer("", "refusal") if given.filtered else self._understanding.after(dialect, given, body)

        came: tuple[Answer | Misread, int] = await persist(
            attempt, self._patience, sleep=self._sleep, dice=self._dice, tally=call.tally
        )
        return came[0] if isinstance(came[0], Misread) else _completion(call, came[0])

    async def _try(self, client: "AsyncOpenAI", call: _Call, body: Mapping[str, Any]) -> Answer | Fault:
        """Send one request. Faults are returned: the package's errors hold what was sent, and tracebacks show them."""
        import httpx2
        import openai

        seconds, began = self._settings.timeout, monotonic()
        raw = bytearray()
        try:
            async with (
                asyncio.timeout(seconds),
                client.chat.completions.with_streaming_response.create(
                    model=body["model"],
                    messages=body["messages"],
                    # The package walks through all that is no extra: a schema costs it more than the sending.
                    extra_body={name: value for name, value in body.items() if name not in ("model", "messages")},
                    extra_headers=self._connections.unsigned(),
                ) as response,
            ):
                kind = response.headers.get("content-type", "")
                async for piece in response.iter_bytes():
                    raw += piece
                    if len(raw) > MOST_BYTES:
                        call.lost(raw)
                        return Fault(f"{call.place} wrote more than {MOST_BYTES:,} bytes; cut off.", transient=True)
        except openai.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return self._refused(call, error.status_code, error.body, headers, monotonic() - began)
        except (openai.APIConnectionError, httpx2.HTTPError, TimeoutError) as error:
            fault = unanswered(call.place, error, seconds)
            if fault.reached:
                call.lost(raw, 0.0 if raw.strip() else monotonic() - began)  # white space only keeps a line open
            return fault
        except asyncio.CancelledError:  # what was asked for may be on the bill
            call.lost(raw)
            raise
        try:
            return read_answer(bytes(raw), kind)
        except NoAnswer as error:
            if error.status:
                return self._refused(call, error.status, error.body, {}, monotonic() - began)
            if not error.page:
                call.lost(raw)
            # What is not an answer may be one the next time.
            return Fault(f"{call.place} {error}", transient=True)

    def _refused(self, call: _Call, status: int, body: object, headers: Mapping[str, str], seconds: float) -> Fault:
        fault = refused(
            call.place, status, body, headers, now=self._clock.now(), sent=call.sent, key=key(self._settings)
        )
        if fault.reached:
            call.lost(b"", seconds)
        return fault


def _completion(call: _Call, answer: Answer) -> Completion:
    """Return an answer with counts of tokens that can be believed."""
    estimate = call.input_tokens
    sent, input_counted = credible(answer.input_tokens, estimate=estimate, most=estimate * _INPUT_TIMES + _INPUT_MORE)
    written, output_counted = credible(
        answer.output_tokens, estimate=estimate_tokens(answer.text), most=call.most * _OUTPUT_TIMES
    )
    return Completion(
        text=answer.text,
        finish=answer.finish,
        input_tokens=sent,
        output_tokens=written,
        model=answer.model or call.place.model,
        counted=input_counted and output_counted,
    )


def _sendable(text: str) -> str:
    """Replace half surrogate pairs, which no UTF-8 can carry."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
