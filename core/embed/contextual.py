"""Late interaction that hears the context: a text's tokens, and those of the words around it at a discount.

"Yes, last summer!" says nothing alone; after "Did you ever go to Norway?" it answers a question about Norway. So a
text's token vectors are followed by those of its context, each shortened to :data:`DISCOUNT` of its length: a query's
token that finds its match only there counts that much less, and no index needs to know. The sentence vector stays the
text's own.
"""

from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np

from mindmem.core.embed.port import Embedder, Embedding, TokenVectors

__all__ = ["DISCOUNT", "MAX_LINES", "KnowsFillers", "embed_in_context"]

DISCOUNT: Final = 0.85
"""Length of a context token's vector, the text's own being 1. Chosen on LOCOMO's dialogues 1-5; flat around it."""
MAX_LINES: Final = 8
"""Lines of context that are embedded, the nearest (last) ones of a longer context."""


@runtime_checkable
class KnowsFillers(Protocol):
    """The optional ability of an embedder to name the tokens that say little (the, of, and)."""

    @property
    def fillers(self) -> frozenset[int]:
        """Return their ids; they are left out of a context, whose size they would double."""
        ...


def embed_in_context(embedder: Embedder, items: Sequence[tuple[str, Sequence[str]]]) -> list[Embedding]:
    """Return one embedding for each text with the lines around it.

    Each distinct line is embedded once. The result has the text's sentence vector and, where the embedder has token
    vectors, those of text and context. An embedder without them is not asked for context.
    """
    texts = [text for text, _ in items]
    if not embedder.identity.token_dimension:
        return embedder.embed(texts)
    around = [tuple(line for line in lines if line.strip())[-MAX_LINES:] for _, lines in items]
    distinct = list(dict.fromkeys([*texts, *(line for lines in around for line in lines)]))
    found = dict(zip(distinct, embedder.embed(distinct), strict=True))
    fillers = np.array(sorted(embedder.fillers if isinstance(embedder, KnowsFillers) else ()), dtype=np.uint16)
    quiet = {line: _quieter(found[line], fillers) for lines in around for line in lines}
    return [_joined(found[text], [quiet[line] for line in lines]) for text, lines in zip(texts, around, strict=True)]


def _quieter(embedding: Embedding, fillers: np.ndarray[tuple[int], np.dtype[np.uint16]]) -> TokenVectors | None:
    tokens = embedding.tokens
    if tokens is None:
        return None
    kept = ~np.isin(tokens.ids, fillers)
    return TokenVectors(tokens.ids[kept], np.round(tokens.vectors[kept] * np.float32(DISCOUNT)).astype(np.int8))


def _joined(embedding: Embedding, context: Sequence[TokenVectors | None]) -> Embedding:
    heard = [tokens for tokens in (embedding.tokens, *context) if tokens is not None]
    if embedding.tokens is None or len(heard) == 1:
        return embedding
    joined = TokenVectors(
        np.concatenate([tokens.ids for tokens in heard]), np.concatenate([tokens.vectors for tokens in heard])
    )
    return Embedding(embedding.vector, joined)
