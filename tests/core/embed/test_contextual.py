"""Context: tokens around a text are heard, at a discount."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from mindmem.core.embed.bundled import BundledEmbedder, load_bundled
from mindmem.core.embed.cache import CachedEmbedder
from mindmem.core.embed.contextual import DISCOUNT, embed_in_context
from mindmem.core.embed.port import EmbedderIdentity, Embedding


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return load_bundled()


def best(document: Embedding, query: Embedding) -> float:
    """Return the mean over the query's tokens of the best match in the document."""
    assert document.tokens is not None
    assert query.tokens is not None
    cosines = query.tokens.vectors.astype(float) @ document.tokens.vectors.astype(float).T / 127**2
    return float(cosines.max(axis=1).mean())


def test_an_answer_is_found_by_the_words_of_the_question_before_it(embedder: BundledEmbedder) -> None:
    alone, heard, question = embed_in_context(
        embedder,
        [("Yes, last summer!", ()), ("Yes, last summer!", ("Did you ever go to Norway?",)), ("trip to Norway", ())],
    )
    assert best(heard, question) > best(alone, question) + 0.1


def test_words_of_the_context_count_less_than_the_text_s_own(embedder: BundledEmbedder) -> None:
    own, heard, question = embed_in_context(
        embedder, [("I visited Norway", ()), ("Yes", ("I visited Norway",)), ("I visited Norway", ())]
    )
    assert best(own, question) == pytest.approx(1.0, abs=0.02)
    assert best(heard, question) < DISCOUNT + 0.02


def test_the_sentence_vector_stays_the_text_s_own(embedder: BundledEmbedder) -> None:
    (heard,) = embed_in_context(embedder, [("Yes, last summer!", ("Did you ever go to Norway?",))])
    (alone,) = embedder.embed(["Yes, last summer!"])
    assert np.allclose(heard.vector, alone.vector, atol=1e-5)


def test_filler_words_of_the_context_are_left_out(embedder: BundledEmbedder) -> None:
    plain, heard = embed_in_context(embedder, [("Yes", ()), ("Yes", ("What did you do in the zoo?", "  "))])
    assert plain.tokens is not None
    assert heard.tokens is not None
    assert len(heard.tokens.ids) == len(plain.tokens.ids) + 1


def test_a_cache_in_front_knows_the_same_fillers(embedder: BundledEmbedder) -> None:
    assert CachedEmbedder(embedder).fillers == embedder.fillers != frozenset()


class SentencesOnly:
    """An embedder without token vectors that counts the texts it is given."""

    identity = EmbedderIdentity("length", "1", 1)

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"] = "document") -> list[Embedding]:
        self.asked += texts
        return [Embedding(np.ones(1, dtype=np.float32)) for _ in texts]


def test_an_embedder_without_token_vectors_is_not_asked_for_context() -> None:
    embedder = SentencesOnly()
    found = embed_in_context(embedder, [("Yes", ("Did you go?",))])
    assert embedder.asked == ["Yes"]
    assert found[0].tokens is None
