"""Text as rules see it: cleaned of what no store can hold, cut into words, measured."""

import re
import threading
import unicodedata
from functools import lru_cache
from typing import Final

import Stemmer

from mindmem.core.language import chinese, english

__all__ = ["asks", "clean", "content_words", "estimate_tokens", "has_substance", "is_blank", "stem", "words"]

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:[.'’][^\W_{_CJK}]+)*")
_NOT: Final = re.compile(r"n['’]t\b", re.IGNORECASE)
_CANNOT: Final = re.compile(r"\bcannot\b", re.IGNORECASE)
_CLITIC: Final = re.compile(r"['’](s|m|re|d|ll|ve)\b")
_FULL: Final = {"m": "am", "re": "are", "ll": "will", "ve": "have"}
"""Clitics that stand for one word; "'s" and "'d" may stand for several."""
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_QUESTION_END: Final = re.compile(r"(?:[?？]|[吗呢么])[^\w?？]*\Z")
_local = threading.local()


def clean(text: str) -> str:
    r"""Return the text without NUL and lone surrogates; halves of a pair are joined, all else stays as it is.

    >>> clean("a\x00b\ud83d\ude00c\ud83d") == "ab\U0001f600c"
    True
    """
    if not _UNSTORABLE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return joined.replace("\x00", "")


def is_blank(text: str) -> bool:
    """Return whether nothing of the text can be seen: only spaces, controls and marks without width."""
    return not text.strip() or all(unicodedata.category(sign)[0] in "ZC" for sign in text)


def has_substance(text: str) -> bool:
    """Return whether the text holds at least one letter or number of any script.

    >>> has_substance("… -"), has_substance("好"), has_substance("42")
    (False, True, True)
    """
    return any(unicodedata.category(sign)[0] in "LN" for sign in text)


def asks(text: str) -> bool:
    """Return whether a text ends with a question.

    >>> asks("Did you sleep? I did."), asks("你睡了吗"), asks("Really?!")
    (False, True, True)
    """
    return _QUESTION_END.search(text[-200:]) is not None


def words(text: str) -> list[str]:
    """Return the case-folded words in order; each CJK sign is a word; ``n't`` is ``not``, clitics are words.

    >>> words("I'm Ann and don't like 北京's food.")
    ['i', 'am', 'ann', 'and', 'do', 'not', 'like', '北', '京', 's', 'food']
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    parted = _CLITIC.sub(_full, _CANNOT.sub("can not", _NOT.sub(" not", folded)))
    return _WORD.findall(parted)


def _full(clitic: "re.Match[str]") -> str:
    return f" {_FULL.get(clitic[1], clitic[1])}"


def stem(word: str) -> str:
    """Return the English stem of a case-folded word; words of other scripts come back as they are.

    >>> [stem(word) for word in ("loves", "stopped", "cities", "running")]
    ['love', 'stop', 'citi', 'run']
    """
    return word if not word.isascii() else _stemmer().stemWord(word)


def _stemmer() -> Stemmer.Stemmer:
    # One a thread: a Stemmer keeps a cache that must not be shared.
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")
    return _local.stemmer


@lru_cache(maxsize=4096)
def content_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words that carry the claim, in order: without fillers and particles."""
    return tuple(stem(word) for word in words(text) if word not in english.FILLERS and word not in chinese.FILLERS)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a language model reads in the text: four ASCII characters or one other each."""
    if text.isascii():
        return len(text) // 4 + 1
    plain = len(text.encode("ascii", "ignore"))
    return plain // 4 + len(text) - plain + 1
