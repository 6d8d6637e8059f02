"""The ``openai`` package's clients, one for each event loop in which calls are under way.

A loop's connections end with the last call under way in it. ``asyncio.run`` for each call (what the synchronous
``Memory`` does) thus leaves nothing open, and nothing that belongs to a closed loop is used again.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from mindmem.core.errors import InvalidInput, ModelUnavailable, bounded
from mindmem.core.settings import LlmSettings

if TYPE_CHECKING:
    from ssl import SSLContext

    from openai import AsyncOpenAI

__all__ = ["Connections", "address", "key"]

OPENAI: Final = "https://api.openai.com/v1"
_CONNECT_SECONDS: Final = 10.0
_CONNECT_SHARE: Final = 0.9
"""Of a try's time at most: who can't be reached is told from who gives no answer, which may be billed."""


def address(settings: LlmSettings) -> str:
    """Return the endpoint's base URL without a slash at its end.

    Raises:
        InvalidInput: it is not an address of HTTP.
    """
    url = settings.base_url.strip().rstrip("/") or OPENAI
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise InvalidInput(
            f"MINDMEM_LLM__BASE_URL is {bounded(url)}; expected an address such as 'http://localhost:11434/v1'.",
            field="llm.base_url",
        )
    return url


def key(settings: LlmSettings) -> str:
    """Return the key without white space around it; empty: none.

    Raises:
        InvalidInput: it holds signs that no header can carry; the message doesn't repeat it.
    """
    found = settings.api_key.get_secret_value().strip()
    if not (found.isascii() and found.isprintable()):
        raise InvalidInput(
            "MINDMEM_LLM__API_KEY holds line breaks or letters that no key has; copy it again.", field="llm.api_key"
        )
    return found


@dataclass(slots=True)
class _Open:
    client: "AsyncOpenAI"
    users: int = 0


class Connections:
    """Opens clients to the endpoint of the settings, and closes them. Safe for threads."""

    def __init__(self, settings: LlmSettings) -> None:
        """Open nothing yet.

        Raises:
            InvalidInput: an address, a key, a header or a version that can't be meant.
        """
        self._settings = settings
        self._url = address(settings)
        self._key = key(settings)
        for name, value in settings.headers.items():
            if not (value.isascii() and value.isprintable()):
                raise InvalidInput(
                    f"MINDMEM_LLM__HEADERS: the value of {name!r} holds letters that no header can carry.",
                    field="llm.headers",
                )
        if settings.api == "azure" and not settings.api_version:
            raise InvalidInput(
                "Azure wants a version: set MINDMEM_LLM__API_VERSION, such as '2024-10-21'.", field="llm.api_version"
            )
        self._lock = Lock()
        self._open: dict[asyncio.AbstractEventLoop, _Open] = {}
        self._trust: SSLContext | None = None

    @asynccontextmanager
    async def here(self) -> AsyncIterator["AsyncOpenAI"]:
        """Give the client of the running loop.

        Raises:
            ModelUnavailable: OpenAI itself is meant, and there is no key.
        """
        if not self._key and self._url == OPENAI and not self._settings.headers:
            raise ModelUnavailable(
                "OpenAI wants a key, and none is set: put it into OPENAI_API_KEY or MINDMEM_LLM__API_KEY, or name "
                "another endpoint in MINDMEM_LLM__BASE_URL, such as 'http://localhost:11434/v1'.",
                transient=False,
            )
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._open:
                self._open[loop] = _Open(self._client())
            entry = self._open[loop]
            entry.users += 1
        try:
            yield entry.client
        finally:
            with self._lock:
                entry.users -= 1
                last = not entry.users
                if last:
                    del self._open[loop]
            if last:
                await entry.client.close()

    def unsigned(self) -> dict[str, Any]:
        """Return the headers that keep the package from signing a request, where there is no key to sign it with.

        It insists on a key, so that it is given one that must not be sent.
        """
        import openai

        if self._key:
            return {}
        given = {name.lower() for name in self._settings.headers}
        return {name: openai.Omit() for name in ("Authorization", "api-key") if name.lower() not in given}

    def _client(self) -> "AsyncOpenAI":
        # These cost a second to import, which only who asks a model should pay.
        import httpx2
        import openai

        settings = self._settings
        if self._trust is None:
            # Reading the trusted certificates is most of what opening a client costs.
            self._trust = httpx2.create_ssl_context()
        connect = min(_CONNECT_SECONDS, settings.timeout * _CONNECT_SHARE)
        common: dict[str, Any] = {
            "api_key": self._key or "none",
            "organization": settings.organization or None,
            "project": settings.project or None,
            "timeout": openai.Timeout(settings.timeout, connect=connect),
            "max_retries": 0,
            "default_headers": settings.headers,
            "http_client": openai.DefaultAsyncHttpxClient(verify=self._trust),
        }
        if settings.api == "azure":
            return openai.AsyncAzureOpenAI(
                azure_endpoint=self._url.removesuffix("/openai"), api_version=settings.api_version, **common
            )
        return openai.AsyncOpenAI(base_url=self._url, **common)
