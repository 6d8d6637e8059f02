"""WordPiece for English BERT models, and what to do with words that such a model can't read.

The vocabulary knows the Latin script. A word of another script would fall apart into letters or become ``[UNK]``, and
two unknown words would look the same to the model. So a text is split into *readable* words, which become pieces, and
*foreign* ones (other scripts, CJK characters one by one, emoji, over-long words), which stay whole and are told apart
by their own letters (see :mod:`mindmem.core.embed.bundled`).
"""

import gzip
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["CLS", "SEP", "VOCABULARY_SIZE", "Piece", "WordPiece", "bundled_wordpiece", "split_words"]

CLS: Final = 101
SEP: Final = 102
VOCABULARY_SIZE: Final = 30_522
MAX_WORD: Final = 100
"""Longest word that is split into pieces, in characters, as in BERT."""

_LAST_LATIN: Final = "\u024f"
_CJK: Final = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_WORD: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+|[^\s\x00-\x1f\x7f]")
_DROPPED: Final = frozenset({"Mn", "Cc", "Cf", "Cs", "Co"})
"""Unicode categories that carry no text here: marks, controls, surrogates, private use."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One token: ``token`` is its id in the vocabulary, -1 for a foreign word; ``text`` is the piece or word itself;
    ``bare`` marks punctuation, which says nothing alone."""

    token: int
    text: str
    bare: bool = False

    @property
    def foreign(self) -> bool:
        """Return whether the model can't read it."""
        return self.token < 0


def split_words(text: str) -> Iterator[str]:
    """Yield lower-cased words without marks, single CJK characters and single punctuation characters.

    >>> list(split_words("Café-Bar, 我们!"))
    ['cafe', '-', 'bar', ',', '我', '们', '!']
    """
    if not text.isascii():
        # Marks go after decomposition (é is e), but Hangul is put together again so that its syllables stay words.
        spread = unicodedata.normalize("NFD", text.lower())
        kept = "".join(c for c in spread if c.isspace() or unicodedata.category(c) not in _DROPPED)
        text = unicodedata.normalize("NFC", kept)
    for word in _WORD.findall(text.lower()):
        yield from _by_script(word)


def _by_script(word: str) -> Iterator[str]:
    if word.isascii() or len(word) == 1:
        yield word
        return
    start = 0
    for at in range(1, len(word)):
        if (word[at] <= _LAST_LATIN) != (word[at - 1] <= _LAST_LATIN):
            yield word[start:at]
            start = at
    yield word[start:]


class WordPiece:
    """Greedy longest-match pieces over a vocabulary (token to id). Immutable, safe to share between threads."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = dict(vocabulary)
        self._longest = max(map(len, self._vocabulary), default=0)

    def pieces(self, text: str) -> Iterator[Piece]:
        """Yield the text's pieces in order, without special tokens."""
        for word in split_words(text):
            yield from self._word(word)

    def ids(self, words: Iterable[str]) -> frozenset[int]:
        """Return the ids of those words that are one piece."""
        return frozenset(self._vocabulary[word] for word in words if word in self._vocabulary)

    def _word(self, word: str) -> tuple[Piece, ...]:
        bare = len(word) == 1 and not word.isalnum() and unicodedata.category(word)[0] == "P"
        if word[0] > _LAST_LATIN and not bare:
            return (Piece(-1, word),)
        found: list[Piece] = []
        start = 0
        while start < len(word) <= MAX_WORD:
            for end in range(min(len(word), start + self._longest), start, -1):
                piece = word[start:end] if start == 0 else "##" + word[start:end]
                token = self._vocabulary.get(piece)
                if token is not None:
                    found.append(Piece(token, piece, bare or _is_symbol(word)))
                    start = end
                    break
            else:
                break
        if start < len(word):
            return () if bare else (Piece(-1, word),)
        return tuple(found)


def _is_symbol(word: str) -> bool:
    return len(word) == 1 and not word.isalnum()


@cache
def bundled_wordpiece() -> WordPiece:
    """Return the WordPiece of the vendored English uncased vocabulary (30,522 tokens)."""
    raw = files("mindmem.core.embed").joinpath("data/wordpiece_en.txt.gz").read_bytes()
    tokens = gzip.decompress(raw).decode("utf-8").splitlines()
    return WordPiece({token: number for number, token in enumerate(tokens)})
