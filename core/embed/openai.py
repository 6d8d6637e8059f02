"""Embeddings by any OpenAI-compatible ``/embeddings`` endpoint: OpenAI, Azure, vLLM, Ollama, LM Studio, gateways.

There are no token vectors, so search goes without late interaction. What a model gives is known by its name, its
dimension and the words put before a text; the address is not part of it, since the same model may be served anywhere.
"""

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from mindmem.core import ids
from mindmem.core.clock import Clock
from mindmem.core.embed.port import Embedder, EmbedderIdentity, Embedding
from mindmem.core.embed.replies import read_embeddings
from mindmem.core.errors import EmbedderMismatch, InvalidInput, ModelUnavailable
from mindmem.core.language.words import clean
from mindmem.core.ledger.port import Ledger
from mindmem.core.llm.connections import address, key
from mindmem.core.llm.endpoint import Endpoint, Refused
from mindmem.core.llm.retry import Fault, Patience, Place
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import EmbedSettings, LlmSettings, Settings

__all__ = ["OpenAIEmbedder", "cut", "open_embedder"]

Floats = npt.NDArray[np.float32]
Kind = Literal["document", "query"]

_QUERY_TIMEOUT: Final = 15.0
"""Seconds after which a search gives up a try to get its vector, to go on by words alone."""
_QUERY_PATIENCE: Final = Patience(retries=1, seconds=20.0, longest=2.0, most_asked=2.0)
_TOO_LONG: Final = re.compile(
    r"too (?:long|large|big|many)|longer than|exceed|context[ _](?:length|size|window)|max_model_len|maximum input"
)
"""What servers say, besides status 413, of a text or a request that is longer than they take."""


class OpenAIEmbedder(Embedder):
    """The Embedder port over an endpoint. Safe for several threads; batches of one call are sent at the same time."""

    def __init__(
        self, endpoint: Endpoint, settings: EmbedSettings, llm: LlmSettings, *, dimension: int | None = None
    ) -> None:
        """``dimension`` is what is known of the model already; otherwise it is asked for at first need."""
        self._endpoint = endpoint
        self._settings = settings
        self._timeout = llm.timeout
        self._patience = Patience(retries=llm.retries, seconds=llm.timeout * (llm.retries + 1))
        self._dimension = settings.dimensions or dimension
        self._encoding: Literal["base64", "float"] = "base64"
        self._lock = threading.Lock()
        self._concurrency = llm.concurrency

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the name, version and dimension under which vectors are kept.

        Raises:
            ModelUnavailable: the dimension is not known yet, and the endpoint doesn't tell.
        """
        prefix = self._settings.document_prefix
        version = f"api-{ids.digest('prefix', prefix, size=4)}" if prefix else "api"
        return EmbedderIdentity(self._settings.model, version, self._dimension or self.probe())

    def probe(self) -> int:
        """Ask the endpoint for the dimension of its vectors now, and keep to it from now on.

        Raises:
            ModelUnavailable, BudgetReached: the endpoint gave no vector.
            InvalidInput: the model doesn't shorten its vectors to the dimension in the settings.
        """
        with self._lock:
            found = int(self._endpoint.run(self._ask(["dimension"], "query")).shape[1])
            if self._settings.dimensions not in (None, found):
                self._check(found)
            self._dimension = found
        return found

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> list[Embedding]:
        """Return one embedding a text, in order; equal texts are sent once, blank ones have the zero vector.

        Raises:
            ModelUnavailable: no usable vectors, after the retries; nothing of this call is kept.
            BudgetReached: the run's or the day's limit is spent.
            EmbedderMismatch: the model's vectors have another dimension by now.
            InvalidInput: the model doesn't shorten its vectors to the dimension in the settings.
        """
        prefix = self._settings.query_prefix if kind == "query" else self._settings.document_prefix
        cleaned = [clean(text) for text in texts]
        sent = {text: cut(prefix + text, self._settings.max_tokens) for text in cleaned if text.strip()}
        wanted = list(dict.fromkeys(sent.values()))
        vectors = self._endpoint.run(self._vectors(wanted, kind)) if wanted else []
        found = dict(zip(wanted, vectors, strict=True))
        if len(sent) == len(set(cleaned)):
            return [Embedding(found[sent[text]]) for text in cleaned]
        nothing = np.zeros(self.identity.dimension, dtype=np.float32)
        return [Embedding(found[sent[text]] if text in sent else nothing) for text in cleaned]

    def close(self) -> None:
        """Take back what is under way and close the connections."""
        self._endpoint.close()

    async def _vectors(self, texts: Sequence[str], kind: Kind) -> list[Floats]:
        """Return a unit vector a text. The first batch that fails takes back all others."""
        slots = asyncio.Semaphore(self._concurrency)

        async def vectors_of(batch: Sequence[str]) -> Floats:
            async with slots:
                rows = await self._ask(batch, kind)
            self._check(rows.shape[1])
            return rows

        batches = _batches(texts, self._settings.batch, self._settings.batch_tokens)
        running = [asyncio.ensure_future(vectors_of(batch)) for batch in batches]
        try:
            return [row for rows in await asyncio.gather(*running) for row in rows]
        finally:
            for one in running:
                one.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _check(self, found: int) -> None:
        if self._dimension is None or found == self._dimension:
            self._dimension = found
            return
        gives = f"{self._endpoint.place} gives vectors of {found} numbers"
        if self._settings.dimensions:
            raise InvalidInput(
                f"{gives}, not of the {self._settings.dimensions} asked for: it can't shorten them. Leave "
                "MINDMEM_EMBED__DIMENSIONS out, or name another model.",
                field="embed__dimensions",
            )
        raise EmbedderMismatch(f"{gives}; those of the index have {self._dimension}. Embed again with: mindmem reembed")

    async def _ask(self, texts: Sequence[str], kind: Kind) -> Floats:
        """Return unit vectors, float32 of shape (texts, dimension). What the endpoint finds too long is asked for in
        smaller requests, then cut."""
        encoding = self._encoding
        body: dict[str, object] = {"model": self._settings.model, "input": list(texts), "encoding_format": encoding}
        if self._settings.dimensions:
            body["dimensions"] = self._settings.dimensions
        try:
            return await self._endpoint.post(
                "/embeddings",
                body,
                purpose="embed",
                sent=texts,
                tokens=sum(map(estimate_tokens, texts)),
                read=lambda reply: read_embeddings(reply, len(texts)),
                patience=self._patience if kind == "document" else _QUERY_PATIENCE,
                timeout=self._timeout if kind == "document" else min(self._timeout, _QUERY_TIMEOUT),
            )
        except Refused as error:
            if encoding == "base64" and error.fault.complaint.mentions("encoding_format", "base64"):
                self._encoding = "float"
                return await self._ask(texts, kind)
            if not _is_too_long(error.fault) or texts == [texts[0][:1]]:
                raise
        if len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([await self._ask(texts[:half], kind), await self._ask(texts[half:], kind)])
        return await self._ask([texts[0][: len(texts[0]) // 2]], kind)


def _is_too_long(fault: Fault) -> bool:
    said = f"{fault.complaint.code} {fault.complaint.message}".casefold()
    return fault.status == 413 or (fault.status in {400, 422} and _TOO_LONG.search(said) is not None)


def open_embedder(settings: Settings, ledger: Ledger, clock: Clock, *, anew: bool) -> OpenAIEmbedder:
    """Return the embedder that the settings name; what they leave out is taken from those of the language model.

    The ledger remembers the dimension of a model's vectors, so that a store opens while the endpoint is away. ``anew``
    asks the endpoint for it again, if it answers.

    Raises:
        ModelUnavailable: the dimension was never seen, and the endpoint doesn't tell.
        InvalidInput: an address or a key that can't be meant, or money is limited and the model has no price.
    """
    wanted = settings.embed
    llm = settings.llm.model_copy(
        update={
            "base_url": wanted.base_url or settings.llm.base_url,
            "api_key": wanted.api_key if wanted.api_key.get_secret_value() else settings.llm.api_key,
        }
    )
    place = Place(address(llm), wanted.model, "EMBED")
    endpoint = Endpoint(place, key(llm), settings, calls=ledger, clock=clock)
    name = f"embedding_dimension:{wanted.model}"
    remembered = None if wanted.dimensions else ledger.get_meta(name)
    embedder = OpenAIEmbedder(endpoint, wanted, llm, dimension=int(remembered) if remembered else None)
    if wanted.dimensions or (remembered and not anew):
        return embedder
    try:
        found = embedder.probe()
        if str(found) != remembered:
            ledger.set_meta(name, str(found))
    except ModelUnavailable:
        if not remembered:
            embedder.close()
            raise
    except BaseException:
        embedder.close()
        raise
    return embedder


def cut(text: str, max_tokens: int) -> str:
    """Return the text, or the longest beginning of it that is estimated at ``max_tokens`` or less.

    >>> cut("hello world", 2), cut("hello", 2)
    ('hello w', 'hello')
    """
    if estimate_tokens(text) <= max_tokens:
        return text
    fits, over = 0, len(text)
    while over - fits > 1:
        middle = (fits + over) // 2
        if estimate_tokens(text[:middle]) <= max_tokens:
            fits = middle
        else:
            over = middle
    return text[:fits]


def _batches(texts: Sequence[str], most: int, most_tokens: int) -> Iterator[list[str]]:
    """Yield the texts in order, at most so many and so many tokens at once; one that is larger alone goes alone."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        size = estimate_tokens(text)
        if batch and (len(batch) >= most or tokens + size > most_tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += size
    if batch:
        yield batch
