"""An endpoint for models that don't write (embeddings, reranking), for synchronous code: retried, recorded, paid for.

Its calls run on an event loop in a thread of its own, so that many can be under way at once, a slow one can be given up
whatever it waits for, and one that nobody waits for any more is taken back.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mindmem.core import ids
from mindmem.core.clock import Clock, monotonic
from mindmem.core.errors import ModelUnavailable, StoreBusy, StoreUnavailable
from mindmem.core.llm.answer import credible
from mindmem.core.llm.budget import Budget, price_of
from mindmem.core.llm.connections import address
from mindmem.core.llm.port import Account, CallLog, Tally, account
from mindmem.core.llm.retry import Fault, Patience, Place, persist, refused, unanswered
from mindmem.core.records.llm_call import CallOutcome, LlmCall, Purpose
from mindmem.core.records.scope import Scope
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI, RequestOptions

__all__ = ["BadReply", "Endpoint", "Refused"]

log = logging.getLogger(__name__)
T = TypeVar("T")

_TIMES: Final = 4
_MORE: Final = 1_000
"""An endpoint that counts more tokens than so many times our estimate, and so many more, is not believed."""

Read = Callable[[bytes], tuple[T, int | None]]
"""Makes of a reply its value and the tokens that the endpoint counted, or raises BadReply."""


class BadReply(Exception):
    """A reply that is not of the expected form; ``passing`` says whether the same call may be answered better."""

    def __init__(self, why: str, *, passing: bool) -> None:
        super().__init__(why)
        self.passing = passing


class Refused(ModelUnavailable):
    """The endpoint doesn't take this request; ``fault`` says why, for code that can ask in another way."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message, transient=False)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class _Life:
    """A running loop, the thread that runs it, and what ends it."""

    loop: asyncio.AbstractEventLoop
    thread: threading.Thread
    stop: asyncio.Event


class Endpoint:
    """One model at one address that takes JSON and a bearer key, in the way of OpenAI. Safe for several threads."""

    def __init__(
        self,
        place: Place,
        api_key: str,
        settings: Settings,
        *,
        calls: CallLog,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """``settings.llm`` holds the prices, the budget and, where the address is its own, headers, organisation and
        Azure's version. A call that nobody is charged for goes to the project's account in ``calls``.

        Raises:
            InvalidInput: money is limited, but a model has no price.
        """
        self.place = place
        self._api_key = api_key
        self._settings = settings.llm
        self._own = place.base_url == address(settings.llm)
        self._nobody = Account(Scope(project_id=settings.project_id))
        self._calls = calls
        self._clock = clock
        self._budget = Budget(settings, calls, clock)
        self._sleep = sleep
        self._lock = threading.Lock()
        self._life: _Life | None = None
        self._client: AsyncOpenAI | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry out work that awaits ``post`` and return what comes of it. The caller's context, which says who pays,
        goes along; a caller that is interrupted takes the work back."""
        future = asyncio.run_coroutine_threadsafe(work, self._alive().loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def post(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        purpose: Purpose,
        sent: Sequence[str],
        tokens: int,
        read: Read[T],
        patience: Patience,
        timeout: float,
    ) -> T:
        """Return what ``read`` makes of the reply to ``body``.

        ``sent`` are the texts in the body, of which no error may show anything, and ``tokens`` their estimate.
        ``timeout`` is in seconds, for one try.

        Raises:
            BudgetReached: a limit is spent: nothing was sent, or a failed try is not repeated.
            Refused: the endpoint doesn't take this request.
            ModelUnavailable: no usable reply.
        """
        payer = account() or self._nobody
        faults: list[Fault] = []

        async def attempt() -> tuple[T, int | None] | Fault:
            given = await self._attempt(path, body, sent, read, timeout)
            if isinstance(given, Fault):
                faults.append(given)
                tally.add(tokens if given.reached else 0, 0)
            return given

        async with self._budget.reserve(payer.scope.project_id, payer.run_id, self.place.model, tokens, 0) as goes_on:
            tally = Tally(lambda: goes_on(tally.input_tokens, 0))
            began = monotonic()
            outcome: CallOutcome = "failed"
            counted: int | None = 0
            try:
                (value, counted), _ = await persist(attempt, patience, sleep=self._sleep, tally=tally)
                outcome = "ok"
                return value
            except ModelUnavailable as error:
                if error.transient or faults[-1].status is None:
                    raise
                outcome = "refused"
                raise Refused(str(error), faults[-1]) from error
            finally:
                spent, known = credible(counted, estimate=tokens, most=tokens * _TIMES + _MORE)
                await asyncio.to_thread(
                    self._record,
                    payer,
                    purpose,
                    outcome,
                    spent + tally.input_tokens,
                    began,
                    tally.retries,
                    error="" if outcome == "ok" else _kind(faults),
                    estimated=not known or bool(tally.tokens),
                )

    def close(self) -> None:
        """Take back what is under way and close the connections."""
        with self._lock:
            life, self._life = self._life, None
        if life is not None:
            life.loop.call_soon_threadsafe(life.stop.set)
            life.thread.join()

    async def _attempt(
        self, path: str, body: Mapping[str, object], sent: Sequence[str], read: Read[T], timeout: float
    ) -> tuple[T, int | None] | Fault:
        import httpx2
        from openai import APIConnectionError, APIStatusError, omit

        options: RequestOptions = {"timeout": timeout, "headers": dict.fromkeys(self._hidden(), omit)}
        assert self._client is not None, "run() opened it"
        try:
            async with asyncio.timeout(timeout):
                reply = await self._client.post(path, cast_to=httpx2.Response, body=body, options=options)
            return read(reply.content)
        except APIStatusError as error:
            return refused(
                self.place,
                error.status_code,
                error.body,
                {name.lower(): value for name, value in error.response.headers.items()},
                now=self._clock.now(),
                sent="\n".join(sent),
                key=self._api_key,
            )
        except (APIConnectionError, httpx2.HTTPError, TimeoutError) as error:
            return unanswered(self.place, error, timeout)
        except BadReply as error:
            return Fault(f"{self.place} gave no usable reply: {error}.", error.passing, reached=True)

    def _hidden(self) -> list[str]:
        """Return the headers that the package would send although nobody gave them for this address."""
        given = {name.lower() for name in self._settings.headers} if self._own else set()
        signing = () if self._api_key else ("Authorization", "api-key")
        foreign = () if self._own else ("OpenAI-Organization", "OpenAI-Project")
        return [name for name in (*signing, *foreign) if name.lower() not in given]

    def _alive(self) -> _Life:
        with self._lock:
            if self._life is None:
                self._life = self._born()
            return self._life

    def _born(self) -> _Life:
        """Start the thread, and wait until its loop runs."""
        client, started, stop = self._opened(), threading.Event(), asyncio.Event()
        loops: list[asyncio.AbstractEventLoop] = []

        async def live() -> None:
            loops.append(asyncio.get_running_loop())
            started.set()
            await stop.wait()
            await client.close()

        thread = threading.Thread(target=lambda: asyncio.run(live()), name=f"model {self.place.model}", daemon=True)
        thread.start()
        started.wait()
        self._client = client
        return _Life(loops[0], thread, stop)

    def _opened(self) -> "AsyncOpenAI":
        import openai

        settings = self._settings
        key = self._api_key or "none"  # it insists on one
        if settings.api == "azure" and self._own:
            return openai.AsyncAzureOpenAI(
                azure_endpoint=self.place.base_url.removesuffix("/openai"),
                api_key=key,
                api_version=settings.api_version,
                default_headers=settings.headers,
                max_retries=0,
            )
        return openai.AsyncOpenAI(
            base_url=self.place.base_url,
            api_key=key,
            organization=settings.organization or None,
            project=settings.project or None,
            default_headers=settings.headers if self._own else {},
            max_retries=0,
        )

    def _record(
        self,
        payer: Account,
        purpose: Purpose,
        outcome: CallOutcome,
        tokens: int,
        began: float,
        retries: int,
        *,
        error: str,
        estimated: bool,
    ) -> None:
        call = LlmCall(
            call_id=ids.random_id("call"),
            scope=payer.scope,
            run_id=payer.run_id,
            purpose=purpose,
            prompt="",
            version="",
            digest="",
            model=self.place.model,
            input_tokens=tokens,
            output_tokens=0,
            cost=price_of(self._settings, self.place.model, tokens, 0),
            latency_ms=(monotonic() - began) * 1000,
            retries=retries,
            cached=False,
            outcome=outcome,
            called_at=self._clock.now(),
            error=error,
            estimated=estimated,
        )
        try:
            self._calls.record_call(call)
        except (StoreBusy, StoreUnavailable) as unwritten:  # a store that can't be written can still be searched
            log.warning("a call of %s is not on record: %s", self.place, unwritten)


def _kind(faults: Sequence[Fault]) -> str:
    """Return which kind of failure it was, for the record, which holds nobody's words."""
    if not faults:
        return "taken back"
    last = faults[-1]
    what = f"status {last.status}" if last.status else "no usable answer"
    return f"{what} ({'transient' if last.transient else 'terminal'})"
