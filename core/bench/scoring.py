"""Scores of short answers against known ones: exact match, containment, token F1.

Chinese and Japanese are scored sign by sign, other scripts word by word.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from mindmem.core.language.words import stem

__all__ = ["exact_match", "locomo_f1", "normalise", "sub_em", "token_f1", "tokens"]

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_SIGNS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"[{_SIGNS}]|[^\s{_SIGNS}]+")


def normalise(text: str) -> str:
    """Return the text lower-cased, without punctuation and a, an, the, and with single spaces.

    >>> normalise("The  cat's bowl, again!")
    'cats bowl again'
    """
    return " ".join(_ARTICLES.sub(" ", _bare(text)).split())


def tokens(text: str) -> list[str]:
    """Return the words of the normalised text; each Chinese or Japanese sign is one.

    >>> tokens("The 北京 office")
    ['北', '京', 'office']
    """
    return _TOKEN.findall(normalise(text))


def exact_match(given: str, expected: str) -> float:
    """Return 1.0 when both say the same but for case, punctuation, articles and spaces, else 0.0.

    >>> exact_match("the Cello.", "cello"), exact_match("a big cello", "cello")
    (1.0, 0.0)
    """
    return float(normalise(given) == normalise(expected))


def sub_em(given: str, expected: str) -> float:
    """Return 1.0 when the normalised expected answer is part of the normalised given one, else 0.0 (MemoryAgentBench).

    It is a part of the string, not of the words: "art" is in "party". An expected answer of articles or punctuation
    alone is compared as it stands.

    >>> sub_em("She plays the cello.", "Cello"), sub_em("cello", "she plays the cello")
    (1.0, 0.0)
    """
    wanted = normalise(expected)
    return float(wanted in normalise(given)) if wanted else float(given.strip().lower() == expected.strip().lower())


def token_f1(given: str, expected: str, *, stemmed: bool = False) -> float:
    """Return the harmonic mean of precision and recall of tokens, counted with repetitions, 0..1.

    >>> token_f1("a red bicycle", "the bicycle"), token_f1("running", "runs", stemmed=True)
    (0.6666666666666666, 1.0)
    """
    return _f1(tokens(given), tokens(expected), stemmed=stemmed)


def locomo_f1(given: str, expected: str, category: str) -> float:
    """Return LOCOMO's own F1 (Maharana et al. 2024) of an answer to a question of that category, 0..1.

    Tokens are stemmed, and "and" is dropped like an article. ``multi_hop``: commas part the expected answer, each part
    scores its best match among the given parts, and the mean counts. ``open_domain``: what follows a semicolon is a
    comment. The stemmer is Porter's second; the paper's code has the first, which differs in few words.

    >>> locomo_f1("tea and coffee", "coffee, tea", "multi_hop"), locomo_f1("yes", "Yes; she said so", "open_domain")
    (0.6666666666666666, 1.0)
    """
    if category == "open_domain":
        expected = expected.split(";")[0]
    if category != "multi_hop":
        return _locomo_f1(given, expected)
    wanted = [part for part in expected.split(",") if part.strip()] or [expected]
    offered = given.split(",")
    return sum(max(_locomo_f1(one, part) for one in offered) for part in wanted) / len(wanted)


def _locomo_f1(given: str, expected: str) -> float:
    left, right = ([token for token in tokens(text) if token != "and"] for text in (given, expected))
    return _f1(left, right, stemmed=True)


def _f1(given: Sequence[str], expected: Sequence[str], *, stemmed: bool) -> float:
    left, right = (Counter(map(stem, part) if stemmed else part) for part in (given, expected))
    shared = (left & right).total()
    return 2 * shared / (left.total() + right.total()) if shared else 0.0


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).lower()
    return "".join(sign for sign in folded if sign not in string.punctuation and unicodedata.category(sign)[0] != "P")
