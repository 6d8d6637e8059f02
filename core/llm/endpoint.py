"""An endpoint for models that don't write (embeddings, reranking), called from threads: retried and recorded."""

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from mindmem.core import ids
from mindmem.core.clock import Clock, monotonic
from mindmem.core.errors import ModelUnavailable, StoreBusy, StoreUnavailable
from mindmem.core.llm.budget import Budget, price_of
from mindmem.core.llm.connections import address
from mindmem.core.llm.port import Account, CallLog, account
from mindmem.core.llm.retry import Fault, Patience, Place, refused, unanswered
from mindmem.core.records.llm_call import CallOutcome, LlmCall, Purpose
from mindmem.core.records.scope import Scope
from mindmem.core.settings import Settings

if TYPE_CHECKING:
    from openai import OpenAI, RequestOptions

__all__ = ["BadReply", "Endpoint", "Refused"]

log = logging.getLogger(__name__)
T = TypeVar("T")


class BadReply(Exception):
    """A reply that is not of the expected form; ``passing`` says whether the same call may be answered better."""

    def __init__(self, why: str, *, passing: bool) -> None:
        super().__init__(why)
        self.passing = passing


class Refused(ModelUnavailable):
    """The endpoint doesn't take this request; ``fault`` says why, for code that can ask in another way."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.why, transient=False)
        self.fault = fault


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
        sleep: Callable[[float], None] = time.sleep,
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
        self._budget = Budget(settings, calls, clock)
        self._clock = clock
        self._sleep = sleep
        self._client: OpenAI | None = None
        self._lock = threading.Lock()

    def post(
        self,
        path: str,
        body: Mapping[str, object],
        *,
        purpose: Purpose,
        sent: Sequence[str],
        tokens: int,
        read: Callable[[bytes], tuple[T, int | None]],
        patience: Patience,
        timeout: float,
    ) -> T:
        """Return what ``read`` makes of the reply to ``body``; it also returns the tokens that the endpoint counted.

        ``sent`` are the texts in the body, of which no error may show anything, and ``tokens`` their estimate.
        ``timeout`` is in seconds, for one try.

        Raises:
            BudgetReached: a limit is spent; nothing was sent.
            Refused: the endpoint doesn't take this request.
            ModelUnavailable: no usable reply.
        """
        payer = account() or self._nobody
        self._budget.check(payer.scope.project_id, payer.run_id)
        began = monotonic()
        failed = 0
        waited = 0.0
        while True:
            given = self._attempt(path, body, sent, read, timeout)
            if not isinstance(given, Fault):
                value, counted = given
                self._record(payer, purpose, "ok", tokens if counted is None else counted, began, failed)
                return value
            failed += 1
            wait = patience.wait(given, failed, max(waited, monotonic() - began), random.random)
            if wait is None:
                outcome: CallOutcome = "failed" if given.transient or given.status is None else "refused"
                self._record(payer, purpose, outcome, 0, began, failed - 1, _kind(given))
                if outcome == "refused":
                    raise Refused(given)
                times = f" Given up after {failed} tries." if failed > 1 else ""
                raise ModelUnavailable(given.why + times, transient=given.transient)
            log.info("%s Next try in %.1f s.", given.why, wait)
            waited += wait
            self._sleep(wait)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _attempt(
        self,
        path: str,
        body: Mapping[str, object],
        sent: Sequence[str],
        read: Callable[[bytes], tuple[T, int | None]],
        timeout: float,
    ) -> tuple[T, int | None] | Fault:
        import httpx2
        from openai import APIConnectionError, APIStatusError, omit

        options: RequestOptions = {"timeout": timeout, "headers": dict.fromkeys(self._hidden(), omit)}
        try:
            reply = self._opened().post(path, cast_to=httpx2.Response, body=body, options=options)
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
        except (APIConnectionError, httpx2.HTTPError) as error:
            return unanswered(self.place, error, timeout)
        except BadReply as error:
            return Fault(f"{self.place} gave no usable reply: {error}.", error.passing)

    def _opened(self) -> "OpenAI":
        with self._lock:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _hidden(self) -> Iterator[str]:
        """Return the headers that the package would send although nobody gave them for this address."""
        given = {name.lower() for name in self._settings.headers} if self._own else set()
        signing = () if self._api_key else ("Authorization", "api-key")
        foreign = () if self._own else ("OpenAI-Organization", "OpenAI-Project")
        return (name for name in (*signing, *foreign) if name.lower() not in given)

    def _open(self) -> "OpenAI":
        import openai

        settings = self._settings
        key = self._api_key or "none"  # it insists on one
        if settings.api == "azure" and self._own:
            return openai.AzureOpenAI(
                azure_endpoint=self.place.base_url.removesuffix("/openai"),
                api_key=key,
                api_version=settings.api_version,
                default_headers=settings.headers,
                max_retries=0,
            )
        return openai.OpenAI(
            base_url=self.place.base_url,
            api_key=key,
            organization=settings.organization or None,
            project=settings.project or None,
            default_headers=settings.headers if self._own else {},
            max_retries=0,
        )

    def _record(
        self, payer: Account, purpose: Purpose, outcome: CallOutcome, tokens: int, began: float, retries: int,
        error: str = "",
    ) -> None:  # fmt: skip
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
        )
        try:
            self._calls.record_call(call)
        except (StoreBusy, StoreUnavailable) as unwritten:  # a store that can't be written can still be searched
            log.warning("a call of %s is not on record: %s", self.place, unwritten)


def _kind(fault: Fault) -> str:
    """Return which kind of failure it was, for the record, which holds nobody's words."""
    what = f"status {fault.status}" if fault.status else "no usable answer"
    return f"{what} ({'transient' if fault.transient else 'terminal'})"
