"""A cache in front of any embedder: the same text is embedded once while it is remembered.

It is bounded in bytes and lives in memory; the durable home of vectors is the store's ``vectors`` table.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, Literal

from mindmem.core.embed.contextual import KnowsFillers
from mindmem.core.embed.port import Embedder, EmbedderIdentity, Embedding, Warms

__all__ = ["CachedEmbedder"]

OVERHEAD: Final = 400
"""Bytes that an entry costs besides its arrays."""


class CachedEmbedder(Embedder):
    """Answers from memory what ``inner`` embedded before, least recently used texts forgotten beyond ``max_bytes``.

    Safe for several threads; two that ask for the same new text at once may both embed it.
    """

    def __init__(self, inner: Embedder, max_bytes: int = 64_000_000) -> None:
        self._inner = inner
        self._max_bytes = max_bytes
        self._entries: OrderedDict[bytes, Embedding] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the inner embedder's identity."""
        return self._inner.identity

    @property
    def fillers(self) -> frozenset[int]:
        """Return the inner embedder's filler tokens, none where it knows of none."""
        return self._inner.fillers if isinstance(self._inner, KnowsFillers) else frozenset()

    def warm(self) -> None:
        """Let the inner embedder load what it needs, where it can do so in the background."""
        if isinstance(self._inner, Warms):
            self._inner.warm()

    @property
    def size(self) -> int:
        """Return the bytes that are held."""
        return self._bytes

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"] = "document") -> list[Embedding]:
        """Return one embedding a text, in order; each distinct text that isn't remembered is embedded once."""
        keys = [_key(text, kind) for text in texts]
        found: dict[bytes, Embedding] = {}
        with self._lock:
            for key in keys:
                entry = self._entries.get(key)
                if entry is not None:
                    self._entries.move_to_end(key)
                    found[key] = entry
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            fresh = dict(zip(missing, self._inner.embed(list(missing.values()), kind), strict=True))
            found.update(fresh)
            self._keep(fresh)
        return [found[key] for key in keys]

    def _keep(self, fresh: dict[bytes, Embedding]) -> None:
        with self._lock:
            for key, entry in fresh.items():
                if key not in self._entries:
                    self._entries[key] = entry
                    self._bytes += _cost(entry)
            while self._bytes > self._max_bytes:
                _, dropped = self._entries.popitem(last=False)
                self._bytes -= _cost(dropped)


def _key(text: str, kind: str) -> bytes:
    return hashlib.blake2b(f"{kind}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _cost(entry: Embedding) -> int:
    tokens = entry.tokens
    return OVERHEAD + entry.vector.nbytes + (tokens.ids.nbytes + tokens.vectors.nbytes if tokens is not None else 0)
