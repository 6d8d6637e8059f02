"""Names in text: how a name becomes words, where known names stand, and when a word is no name but only looks like one.

A name is met as whole words (in scripts without spaces: as a run of characters), whatever its case and accents.
"Ann's", "Ann-Marie" and "Paris-based" are several words, "node.js" is one. A single word that is also an everyday word
("mark", "will") counts as a name by its capital, one that is written small itself ("salsa") wherever it stands.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Final, NamedTuple

from mindmem.core.ids import normalise_claim
from mindmem.core.records import Entity
from mindmem.core.text import STOP_WORDS, is_gram, located, normalise_name

__all__ = ["MAX_WORDS", "Found", "Names", "Token", "forms_of", "name_key", "tokens"]

MAX_WORDS: Final = 12
"""A longer name is a sentence: it is known by its key, and not looked for in texts."""
_APART: Final = re.compile(r"[^\-/'’ʼ＇]+")
_ENDS: Final = frozenset(".!?。！？…\n:")
_EVERYDAY: Final = STOP_WORDS["english"] | frozenset(
    "amber angel apple april art ash august autumn bill bishop brook buck cash chance chase cook dale dawn dean drew"
    " earl eve faith fay fisher forest frank gene glen grace grant guy hall harmony heath hope hunter iris ivy jack jay"
    " jean joy june king lane lily mark march mason may mercy miles nick olive page pat patience pearl penny pierce"
    " rain ray reed rich rob rod rose ruby sage sandy sky star stone storm sue summer sunny target victor wade ward"
    " will win winter wood young people man woman person time day thing user assistant".split()
)
"""Words that are names and something else, and words that name nothing."""

Form = tuple[str, ...]


class Token(NamedTuple):
    """One word of a text: its normalised form, where it stands, whether case marks it (scripts without case: always),
    and whether it is one character of a longer run without spaces."""

    key: str
    start: int
    end: int
    capital: bool
    inside: bool


class Found(NamedTuple):
    """A known name in a text: characters ``start`` to ``end``, and the bearers of the name."""

    start: int
    end: int
    entity_ids: tuple[str, ...]


def name_key(name: str) -> str:
    """Return the form under which two spellings are one name: no case, accents or signs. Entity ids derive from it.

    >>> name_key(" José ÁLVAREZ ")
    'jose alvarez'
    """
    return normalise_name(name) or normalise_claim(name)


def tokens(text: str) -> list[Token]:
    """Return the words of a text as names are made of them.

    >>> [token.key for token in tokens("Ann-Marie's 北京")]
    ['ann', 'marie', 's', '北', '京']
    """
    found: list[Token] = []
    for written, begin in located(text):
        if written.isalnum() and not is_gram(written[0]):
            end, capital = begin + len(written), not written[0].islower()
            found.extend(Token(word, begin, end, capital, False) for word in _words(written))
            continue
        for piece in _APART.finditer(written):
            start = begin + piece.start()
            raw = piece.group()
            if is_gram(raw[0]):
                found.extend(Token(sign, start + at, start + at + 1, True, len(raw) > 1) for at, sign in enumerate(raw))
                continue
            capital = not raw[0].islower()
            found.extend(Token(word, start, start + len(raw), capital, False) for word in _words(raw))
    return found


@lru_cache(maxsize=50_000)
def _words(raw: str) -> tuple[str, ...]:
    return tuple(normalise_name(raw).split())


def forms_of(entity: Entity) -> dict[Form, bool]:
    """Return the names under which an entity is looked for in texts, as words, each with whether it is also written
    without capitals."""
    forms: dict[Form, bool] = {}
    for name in (entity.name, *entity.aliases):
        found = tokens(name)
        form = tuple(token.key for token in found)
        if 0 < len(form) <= MAX_WORDS and not (len(form) == 1 and _is_no_name(form[0])):
            small = not any(token.capital for token in found)
            forms[form] = forms.get(form, False) or small
    return forms


def _is_no_name(word: str) -> bool:
    return len(word) == 1 and not is_gram(word)


class Names:
    """A dictionary of names over the entities of one owner; entities are put and taken out one by one."""

    def __init__(self) -> None:
        self._bearers: dict[Form, dict[str, bool]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._bearers)

    def put(self, entity_id: str, forms: Mapping[Form, bool]) -> None:
        """Let an entity be known by these forms, besides those that it has."""
        for form, small in forms.items():
            self._bearers.setdefault(form, {})[entity_id] = small
            lengths = self._lengths.get(form[0], ())
            if len(form) not in lengths:
                self._lengths[form[0]] = tuple(sorted((*lengths, len(form)), reverse=True))

    def drop(self, entity_id: str, forms: Iterable[Form]) -> None:
        """Let an entity no longer be known by these forms."""
        for form in forms:
            bearers = self._bearers.get(form, {})
            bearers.pop(entity_id, None)
            if not bearers:
                self._bearers.pop(form, None)

    def find(self, text: str, often: Callable[[str], bool] = lambda _: False) -> list[Found]:
        """Return the names that stand in a text, the longest first; of two that overlap the longer one.

        ``often`` tells whether an entity is often spoken of, which a word that may be no name is decided by.
        """
        words = tokens(text)
        keys = [word.key for word in words]
        met: list[Found] = []
        for at, key in enumerate(keys):
            for length in self._lengths.get(key, ()):
                bearers = self._bearers.get(tuple(keys[at : at + length])) if at + length <= len(keys) else None
                if bearers is None:
                    continue
                named = words[at : at + length]
                kept = [
                    one for one, small in bearers.items() if _counts(text, words, named, small, partial(often, one))
                ]
                if kept:
                    met.append(Found(named[0].start, named[-1].end, tuple(sorted(kept))))
        found: list[Found] = []
        for one in sorted(met, key=lambda one: (one.start - one.end, one.start)):
            if all(one.end <= other.start or other.end <= one.start for other in found):
                found.append(one)
        return found


def _opens(text: str, word: Token) -> bool:
    """Return whether a word stands where anything is written with a capital."""
    before = text[max(0, word.start - 8) : word.start].rstrip(" \t\"'“”‘’(")
    return (not before and word.start < 8) or before[-1:] in _ENDS or word.key == "i"


def _counts(text: str, words: list[Token], named: list[Token], small: bool, often: Callable[[], bool]) -> bool:
    """Return whether ``named`` is a name in a text of these words; ``small``: it is written without capitals, too."""
    first = named[0]
    if is_gram(first.key[0]):
        return len(named) > 1 or not first.inside
    everyday = all(word.key in _EVERYDAY for word in named)
    if any(word.capital for word in named):
        return not everyday or small or len(named) > 1 or not _opens(text, first) or often()
    if all(word.key in STOP_WORDS["english"] for word in named):
        return False
    if small or (not everyday and (len(named) > 1 or not first.key.isalpha())):
        return True
    # In a text without capitals their lack tells nothing.
    return often() if everyday or any(word.capital and not _opens(text, word) for word in words) else True
