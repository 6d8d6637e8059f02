"""The cache: each text once, bounded, and the same answers as without it."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from mindmem.core.embed.cache import CachedEmbedder
from mindmem.core.embed.port import EmbedderIdentity, Embedding


class CountingEmbedder:
    """An embedder of one number, the text's length, that remembers what it was asked."""

    identity = EmbedderIdentity("length", "1", 1)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"] = "document") -> list[Embedding]:
        self.asked += texts
        return [Embedding(np.array([len(text)], dtype=np.float32)) for text in texts]


def test_a_text_is_embedded_once() -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner)
    first = cached.embed(["one", "three", "one"])
    second = cached.embed(["three", "one"])
    assert inner.asked == ["one", "three"]
    assert [float(item.vector[0]) for item in first + second] == [3, 5, 3, 5, 3]


def test_document_and_query_are_kept_apart() -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner)
    cached.embed(["one"], "document")
    cached.embed(["one"], "query")
    assert inner.asked == ["one", "one"]


def test_the_least_recently_used_is_forgotten_at_the_bound() -> None:
    inner = CountingEmbedder()
    cached = CachedEmbedder(inner, max_bytes=2 * 404)
    cached.embed(["a", "b"])
    cached.embed(["a"])
    cached.embed(["c"])
    assert cached.size <= 2 * 404
    inner.asked.clear()
    cached.embed(["a"])
    assert inner.asked == []
    cached.embed(["b"])
    assert inner.asked == ["b"]


def test_lone_surrogates_are_a_key_like_any_other() -> None:
    assert len(CachedEmbedder(CountingEmbedder()).embed(["\ud83d"])) == 1


def test_the_identity_is_the_inner_one_s() -> None:
    assert CachedEmbedder(CountingEmbedder()).identity == EmbedderIdentity("length", "1", 1)


def test_warming_reaches_an_embedder_that_can_warm_and_passes_by_one_that_cannot() -> None:
    class Warming(CountingEmbedder):
        warmed = 0

        def warm(self) -> None:
            self.warmed += 1

    inner = Warming()
    CachedEmbedder(inner).warm()
    CachedEmbedder(CountingEmbedder()).warm()
    assert inner.warmed == 1
