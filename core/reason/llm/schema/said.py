"""Whether a name, a number or a word stands in what a model was shown: what it adds of its own is not believed."""

import re
from collections.abc import Iterable
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.language.words import content_words, has_substance, words
from mindmem.core.reason.llm.candidates import without_roles
from mindmem.core.reason.rules.grade import tokens
from mindmem.core.schema.names import fits, name_key

__all__ = ["Said", "akin", "cleaned", "proper"]

_END: Final = "\x1f"
_LONGEST: Final = 120  # characters of a name
_CAPITALISED: Final = re.compile(r"(?<=[^\s.!?:…”\"]\s)[^\W\d_a-z]\w+")
_DESCRIBING: Final = frozenset("a an the this that my our your his her their its".split())
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_DESCRIBING_CJK: Final = re.compile("[的我你他她它某这那]|用户|先生|女士")
_FAMILIAR: Final = re.compile("^[小老阿大]|(?:老师|医生|教授|经理|师傅|总|哥|姐|先生|女士)$")


class Said:
    """Texts that were shown, looked up by whole words: "Ann" does not stand in "Annabel"."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._run = "".join(f"{_END}{_END.join(words(text))}{_END}" for text in self._texts)
        self._words: frozenset[str] | None = None

    def holds(self, name: str) -> bool:
        """Return whether a name stands there, in any case, with whole words."""
        run = _END.join(words(name))
        return bool(run) and f"{_END}{run}{_END}" in self._run

    def new_numbers(self, text: str, *, counted: int = 0) -> bool:
        """Return whether a text has a number that stands nowhere there, in digits or words; ``counted`` is the highest
        number of things that were shown."""
        counts = {str(count) for count in range(1, counted + 1)}
        return bool(_numbers([text]) - _numbers(self._texts) - counts)

    def foreign(self, text: str) -> bool:
        """Return whether a text is written in another script than what stands there."""
        scripts = {bool(_CJK.search(one)) for one in self._texts if has_substance(one)}
        return bool(scripts) and bool(_CJK.search(text)) not in scripts

    def new_names(self, text: str) -> bool:
        """Return whether a text has a capitalised word within a sentence that stands nowhere there."""
        return any(not self.holds(match[0]) for match in _CAPITALISED.finditer(text))

    def share(self, text: str) -> float:
        """Return which part of a text's content words stands there, 0..1; 1 for a text without any."""
        found = set(content_words(text))
        return len(found & self._known()) / len(found) if found else 1.0

    def _known(self) -> frozenset[str]:
        if self._words is None:
            self._words = frozenset(word for text in self._texts for word in content_words(text))
        return self._words


def cleaned(name: str) -> str:
    """Return a name on one line and without what a transcript puts before it; empty where it is none."""
    plain = " ".join(without_roles(name).split()).strip(" \"“”'‘’")
    return plain if has_substance(plain) and len(plain) <= _LONGEST and normalise_claim(plain) else ""


def proper(name: str) -> bool:
    """Return whether words are a name rather than a description of somebody.

    >>> proper("Ann Lee"), proper("iOS"), proper("Ann's sister"), proper("the manager"), proper("42")
    (True, True, False, False, False)
    >>> proper("李明"), proper("用户的姐姐")
    (True, False)
    """
    found = name.split()
    if not found:
        return False
    if _CJK.search(name):
        return not _DESCRIBING_CJK.search(name)
    possessive = any(word.endswith(("'s", "’s", "s'")) for word in found[:-1])
    last = found[-1]
    capital = any(sign.isalpha() for sign in last) and (last != last.lower() or last == last.upper())
    return found[0].casefold() not in _DESCRIBING and not possessive and capital


def akin(one: str, other: str) -> bool:
    """Return whether two names can be of one bearer: spellings, short forms, initials; names of two scripts can.

    >>> akin("Bob", "Robert Keller"), akin("Anna", "Annabel"), akin("小李", "李明"), akin("李明", "李梅")
    (True, False, True, False)
    """
    if name_key(one) == name_key(other) or fits(one, other) or fits(other, one):
        return True
    if bool(_CJK.search(one)) != bool(_CJK.search(other)):
        return True
    first, second = (set(_FAMILIAR.sub("", name)) for name in (one, other))
    return bool(_CJK.search(one)) and bool(first and second) and (first <= second or second <= first)


def _numbers(texts: Iterable[str]) -> set[str]:
    return {token for text in texts for token in tokens(text) if token[0].isdigit()}
