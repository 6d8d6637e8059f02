"""A small embedder for tests that fork: pure arithmetic, no threads, the same vectors in every process."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from mindmem.core.embed.port import EmbedderIdentity, Embedding, TokenVectors
from mindmem.core.ids import digest
from mindmem.core.language.words import words

__all__ = ["WordEmbedder"]


class WordEmbedder:
    """Each word has a fixed random direction; a text is the sum of its words'. Texts that share words are similar."""

    def __init__(self, version: str = "1") -> None:
        self.identity = EmbedderIdentity("words", version, 32, 16)

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"] = "document") -> list[Embedding]:
        """Return one embedding a text."""
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> Embedding:
        seeds = [int(digest(word, size=4), 16) for word in words(text)] or [0]
        rows = np.stack([np.random.default_rng(seed).standard_normal(32).astype(np.float32) for seed in seeds])
        tokens = rows[:, :16] / np.linalg.norm(rows[:, :16], axis=1, keepdims=True)
        total = rows.sum(axis=0)
        return Embedding(
            (total / np.linalg.norm(total)).astype(np.float32),
            TokenVectors(np.array([seed % 30_000 for seed in seeds], np.uint16), (tokens * 127).astype(np.int8)),
        )
