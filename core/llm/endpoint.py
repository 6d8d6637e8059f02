"""An endpoint for models that don't write (embeddings, reranking), called from threads: retried and recorded."""

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from mindmem.core import ids
from mindmem.core.clock import Clock, monotonic
from mindmem.core.errors import ModelUnavailable, StoreBusy, StoreUnavailable
from mindmem.core.llm.port import CallLog, account
from mindmem.core.llm.retry import Fault, Patience, Place, refused, unanswered
from mindmem.core.records.llm_call import CallOutcome, LlmCall, Purpose
from mindmem.core.records.scope import Scope
from mindmem.core.settings import LlmSettings

if TYPE_CHECKING:
    from openai import OpenAI, RequestOptions

__all__ = ["OPENAI", "BadReply", "Endpoint", "Refused"]

log = logging.getLogger(__name__)
T = TypeVar("T")

_ORGANISATION: Final = ("OpenAI-Organization", "OpenAI-Project")
OPENAI: Final = "https://api.openai.com/v1"
"""The address that an empty ``base_url`` means."""


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
        settings: LlmSettings,
        *,
        project_id: str,
        calls: CallLog,
        clock: Clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``settings`` hold the prices and, where the address is theirs, headers, organisation and Azure's version. A
        call that nobody is charged for goes to the project's account in ``calls``."""
        self.place = place
        self._api_key = api_key
        self._settings = settings
        self._project_id = project_id
        self._calls = calls
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
            Refused: the endpoint doesn't take this request.
            ModelUnavailable: no usable reply.
        """
        began = monotonic()
        failed = 0
        waited = 0.0
        while True:
            given = self._attempt(path, body, sent, read, timeout)
            if not isinstance(given, Fault):
                value, counted = given
                self._record(purpose, "ok", tokens if counted is None else counted, began, failed)
                return value
            failed += 1
            wait = patience.wait(given, failed, max(waited, monotonic() - began), random.random)
            if wait is None:
                outcome: CallOutcome = "failed" if given.transient or given.status is None else "refused"
                self._record(purpose, outcome, 0, began, failed - 1, given.why)
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

        hidden = [*([] if self._api_key else ["Authorization"]), *([] if self._own else _ORGANISATION)]
        options: RequestOptions = {"timeout": timeout, "headers": dict.fromkeys(hidden, omit)}
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

    @property
    def _own(self) -> bool:
        """Whether the address is the settings' own, so that what they say of it holds here."""
        return self.place.base_url == (self._settings.base_url or OPENAI)

    def _opened(self) -> "OpenAI":
        with self._lock:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _open(self) -> "OpenAI":
        from openai import AzureOpenAI, OpenAI

        settings = self._settings
        headers = settings.headers if self._own else {}
        if settings.api == "azure" and self._own:
            return AzureOpenAI(
                azure_endpoint=self.place.base_url,
                api_key=self._api_key,
                api_version=settings.api_version,
                default_headers=headers,
                max_retries=0,
            )
        return OpenAI(
            base_url=self.place.base_url,
            api_key=self._api_key or "none",
            organization=settings.organization or None,
            project=settings.project or None,
            default_headers=headers,
            max_retries=0,
        )

    def _record(
        self, purpose: Purpose, outcome: CallOutcome, tokens: int, began: float, retries: int, error: str = ""
    ) -> None:
        payer = account()
        price = self._settings.prices.get(self.place.model)
        call = LlmCall(
            call_id=ids.random_id("call"),
            scope=payer.scope if payer else Scope(project_id=self._project_id),
            run_id=payer.run_id if payer else "",
            purpose=purpose,
            prompt="",
            version="",
            digest="",
            model=self.place.model,
            input_tokens=tokens,
            output_tokens=0,
            cost=None if price is None else price.input * tokens / 1e6,
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
