"""English sentences into clauses: words with their places, contractions opened, openers and addresses put aside."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon

__all__ = ["Clause", "Word", "clauses", "is_name", "words_of"]

_TOKEN: Final = re.compile(r"[,;:()]|(?:[^\s,;:()]|(?<=\d),(?=\d))+")
_STRIP: Final = ".!?…\"”“'*_"
_CONTRACTION: Final = re.compile(r"(?P<head>.+?)(?P<tail>['’](?:m|re|ve|ll|d)|n['’]t|['’]s)$", re.IGNORECASE)
_TAILS: Final = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "n't": "not"}
_SUBJECTS: Final = frozenset({"i", "we", "he", "she", "they", "it"})
_JOINS: Final = frozenset({",", "and", "but", "so", "-", "–", "—"})
_IS_AFTER: Final = frozenset(
    "a an the not from in at on my our his her their your really very still now also married allergic called named"
    " based"
    " so just always living working studying learning teaching currently originally vegan"
    " vegetarian engaged single".split()
)
_NEWS: Final = frozenset({"update", "news", "edit", "ps", "heads-up"})
_MOVING: Final = frozenset("moved relocated went switched migrated changed".split())
_NEXT: Final = frozenset("then later finally eventually afterwards subsequently".split())
"""Words before a further destination: "moved to A and then to B"."""
_RELATIVE: Final = frozenset("where which who whom whose that when because if while".split())
"""Words after which "and use …" goes on with another subject than the sentence's."""
_REMEMBER: Final = frozenset({"remember", "note", "reminder", "fyi"})
_ELIDED: Final = frozenset(
    "joined moved relocated landed became turned live work study speak play love like hate enjoy prefer have"
    " own am use teach collect lives works studies speaks plays loves likes hates enjoys prefers has owns is"
    " uses teaches collects dislike dislikes".split()
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written, in lower case, and its characters in the message."""

    text: str
    low: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Clause:
    """The words of a clause; ``subject`` is what the clause before shares with it, where it has none of its own."""

    words: tuple[Word, ...]
    subject: tuple[Word, ...] = ()
    correction: bool = False
    alone: bool = False
    """Whether it is the whole sentence."""
    lead: tuple[Word, ...] = ()
    """A time that was told before the subject."""


def words_of(text: str, offset: int) -> list[Word]:
    """Return the words of a text whose first character is the message's ``offset``-th, contractions opened."""
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        raw = match[0]
        word = raw.strip(_STRIP)
        if not word:
            continue
        start = offset + match.start() + raw.index(word)
        contraction = _CONTRACTION.match(word)
        if contraction is None:
            found.append(Word(word, word.lower(), start, start + len(word)))
            continue
        head, tail = contraction["head"], contraction["tail"].lower().replace("’", "'")
        middle = start + len(head)
        if tail == "'s":
            found.append(Word(word, word.lower().replace("’", "'"), start, start + len(word)))
            continue
        low = {"ca": "can", "wo": "will"}.get(head.lower(), head.lower()) if tail == "n't" else head.lower()
        found.append(Word(head, low, start, middle))
        found.append(Word(contraction["tail"], _TAILS[tail], middle, start + len(word)))
    return _open_is(found)


def _open_is(words: list[Word]) -> list[Word]:
    """Part "he's" and "Tom's from" into name and "is"; leave the possessive in "Tom's wife"."""
    result: list[Word] = []
    for place, word in enumerate(words):
        if word.low.endswith("'s") and len(word.low) > 2:
            head = word.text[:-2]
            after = words[place + 1].low if place + 1 < len(words) else ""
            if (
                head.lower() in ("he", "she", "it", "that", "there", "here", "what", "who", "where")
                or after in _IS_AFTER
            ):
                middle = word.end - 2
                result += [Word(head, head.lower(), word.start, middle), Word("is", "is", middle, word.end)]
                continue
        result.append(word)
    return result


def is_name(word: Word) -> bool:
    """Return whether a word is written like a name: with a capital or a sign of a product ("iPhone", "v8", "npm")."""
    return word.text[:1].isupper() or any(sign.isupper() for sign in word.text[1:])


def clauses(words: Sequence[Word], timed: Callable[[Word], bool]) -> list[Clause]:
    """Return the clauses of a sentence in order; each begins with its subject, or shares that of the one before.

    ``timed`` tells whether a word belongs to a time expression.
    """
    result: list[Clause] = []
    begin = 0
    subject: tuple[Word, ...] = ()
    for place in range(1, len(words) + 1):
        if place < len(words) and not _begins(words, place, begin):
            continue
        part = list(words[begin:place])
        while part and part[-1].low in _JOINS | {";", "before", "until"}:
            part.pop()
        clause = _led(_stripped(part), timed)
        if clause.words:
            first = clause.words[0].low
            moved = _moving(result[-1]) if first == "to" and place > begin > 0 and result else ()
            if moved:
                clause = replace(clause, subject=moved)
            elif first in _ELIDED and subject and place > begin and begin > 0:
                told = result[-1].words if result else ()
                doubt = tuple(word for word in told if word.low in lexicon.MODALS)[:1]
                if not any(word.low in _RELATIVE for word in told):
                    clause = replace(clause, subject=(*subject, *doubt))
            else:
                subject = clause.words[:1] if first in _SUBJECTS or is_name(clause.words[0]) else ()
            result.append(clause)
        begin = place
    return [replace(result[0], alone=True)] if len(result) == 1 else result


def _moving(before: Clause) -> tuple[Word, ...]:
    """Return subject and verb of a clause that tells of a move, which one more destination shares with it."""
    words = (*before.subject, *before.words)
    verb = next((place for place, word in enumerate(words) if word.low in _MOVING), -1)
    return words[: verb + 1]


def _begins(words: Sequence[Word], place: int, begin: int) -> bool:
    """Return whether a new clause begins at ``place``."""
    before, word = words[place - 1].low, words[place]
    if before == ";":
        return True
    if before in ("before", "until") and place + 1 < len(words):  # "I used to live in A before I moved to B"
        past = any(item.low == "used" for item in words[begin:place])
        return past and word.low in _SUBJECTS and words[place + 1].low in ("moved", "relocated", "joined")
    if before not in _JOINS or all(item.low in lexicon.OPENERS | _JOINS for item in words[begin:place]):
        return False
    after = words[place + 1].low if place + 1 < len(words) else ""
    if any(item.low in _MOVING for item in words[:place]) and any(item.low == "to" for item in words[begin:place]):
        to = next((at for at in range(place, len(words)) if words[at].low not in _NEXT), place)
        if words[to].low == "to" and to + 1 < len(words) and is_name(words[to + 1]):
            return True
    if word.low == "mine" and after in ("is", "was"):
        return True
    if word.low in _SUBJECTS or (word.low in ("now", "today", "currently", "these") and after in _SUBJECTS):
        return True
    if word.low in ("my", "our", "his", "her", "their"):
        return any(item.low in ("is", "are", "was", "were", "has") for item in words[place + 1 : place + 6])
    if before in ("and", "but") and word.low in _ELIDED:
        return not any(item.low == "to" for item in words[begin:place]) and bool(after)
    if before in ("and", "but") and is_name(word):
        stop = place + 1
        while stop < len(words) and is_name(words[stop]):
            stop += 1
        return stop < len(words) and (words[stop].low in ("is", "was", "are", "has") or words[stop].low in _ELIDED)
    return False


def _stripped(part: list[Word]) -> Clause:
    """Put openers ("well,"), fillers and forms of address ("Ann, …") aside."""
    correction = False
    while part:
        first = part[0]
        if first.low == "actually" or first.low == "correction":
            correction = True
        after = part[1].low if len(part) > 1 else ""
        if first.low in _NEWS and after in (":", "-", "–", "—"):
            part = part[2:]
        elif first.low in _REMEMBER and after in ("that", ":", "i", "my", "we", "our"):
            part = part[2 if after in ("that", ":") else 1 :]
        elif (
            first.low in (",", ":", "-", "–", "—", "(")
            or (first.low in _NEXT and after == "to")
            or (first.low in lexicon.OPENERS and len(part) > 1)
        ):
            part = part[1:]
        elif len(part) > 3 and is_name(first) and part[1].low == "," and part[2].low in _SUBJECTS | {"my", "our"}:
            part = part[2:]
        else:
            break
    return Clause(tuple(part), (), correction)


def _led(clause: Clause, timed: Callable[[Word], bool]) -> Clause:
    """Put a time before the subject aside ("Last year I …", "Since March, we …")."""
    words, end = clause.words, 0
    while end < len(words) and (timed(words[end]) or (end and words[end].low == ",")):
        end += 1
    if end == 0 or end == len(words):
        return clause
    return replace(clause, words=words[end:], lead=words[:end])
