"""Multiple choice: how options are shown, which one an answer names, and which one memories support best."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.port import Embedder, TokenVectors
from mindmem.core.language.words import content_words
from mindmem.core.records import Memory

__all__ = ["best_supported", "chosen", "posed"]

_BRACKETED: Final = re.compile(r"\(\s*([A-Za-z])\s*\)")
_LEADING: Final = re.compile(r"^\W*(?:(?:option|answer|choice)\W+)?([A-Za-z])(?:[).:,]|\s*$)", re.IGNORECASE)
_UNIT: Final = 127.0
"""Length of a token vector that counts in full."""


def posed(question: str, options: Mapping[str, str]) -> str:
    """Return the question with its options, as one is asked to choose.

    >>> print(posed("Which pet?", {"a": "A cat.", "b": "A dog."}))
    Which pet?
    <BLANKLINE>
    Which of these replies fits best what is remembered of the user? Answer with its letter in brackets alone.
    (a) A cat.
    (b) A dog.
    """
    lines = "\n".join(f"({letter}) {text}" for letter, text in options.items())
    task = "Which of these replies fits best what is remembered of the user? Answer with its letter in brackets alone."
    return f"{question}\n\n{task}\n{lines}"


def chosen(answer: str, options: Mapping[str, str]) -> str:
    """Return the letter of the option that an answer names, or repeats word by word; empty when it names none or many.

    >>> options = {"a": "A cat.", "b": "A dog."}
    >>> [chosen(text, options) for text in ("(b)", "B. A dog.", "a dog", "a or b", "(a) or (b)")]
    ['b', 'b', 'b', '', '']
    """
    found = {letter.lower() for letter in _BRACKETED.findall(answer)} & set(options)
    if not found and (leading := _LEADING.match(answer)) and leading[1].lower() in options:
        found = {leading[1].lower()}
    if not found:
        said = " ".join(answer.lower().split()).rstrip(".")
        found = {letter for letter, text in options.items() if " ".join(text.lower().split()).rstrip(".") == said}
    return found.pop() if len(found) == 1 else ""


def best_supported(options: Mapping[str, str], memories: Sequence[Memory], embedder: Embedder | None) -> str:
    """Return the letter of the option that the memories support best, the first of equals; empty without memories.

    What all options say tells them apart no more, so it is left out. An option's support is the mean, over the rest of
    it, of how well each token is matched by any memory's (late interaction) where the embedder has token vectors, else
    the share of its words that a memory has. It can't tell liking from disliking.
    """
    if not memories:
        return ""
    support = _late(options, memories, embedder) if embedder and embedder.identity.token_dimension else None
    support = support or _lexical(options, memories)
    return max(options, key=lambda letter: support[letter])


def _late(options: Mapping[str, str], memories: Sequence[Memory], embedder: Embedder) -> dict[str, float] | None:
    told = [embedding.tokens for embedding in embedder.embed([memory.content for memory in memories])]
    rows = [_unit(tokens) for tokens in told if tokens is not None and len(tokens.ids)]
    said = [embedding.tokens for embedding in embedder.embed(list(options.values()), "query")]
    if not rows or any(tokens is None for tokens in said):
        return None
    of = {letter: tokens for letter, tokens in zip(options, said, strict=True) if tokens is not None}
    common = set.intersection(*(set(tokens.ids.tolist()) for tokens in of.values()))
    memory = np.concatenate(rows)
    return {letter: _matched(tokens, common, memory) for letter, tokens in of.items()}


def _matched(tokens: TokenVectors, common: set[int], memory: npt.NDArray[np.float32]) -> float:
    own = ~np.isin(tokens.ids, list(common))
    return float((_unit(tokens)[own] @ memory.T).max(axis=1).mean()) if own.any() else 0.0


def _unit(tokens: TokenVectors) -> npt.NDArray[np.float32]:
    return tokens.vectors.astype(np.float32) / _UNIT


def _lexical(options: Mapping[str, str], memories: Sequence[Memory]) -> dict[str, float]:
    told = {word for memory in memories for word in content_words(memory.content)}
    said = {letter: set(content_words(text)) for letter, text in options.items()}
    common = set.intersection(*said.values())
    return {letter: len((words - common) & told) / max(len(words - common), 1) for letter, words in said.items()}
