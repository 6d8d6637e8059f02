"""English phrases in a clause: the noun phrase that a value is, what may follow it, and the clause as a sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.clauses_en import Clause, Word, is_name
from mindmem.core.reason.rules.sentences import Sentence
from mindmem.core.reason.rules.statements import OWNER, Statement

__all__ = ["Phrases", "Value", "snake"]

_MAX_VALUE: Final = 12  # words; a longer object is a story rather than a value
_POSSESSED: Final = frozenset({"my", "our", "his", "her", "their", "your", "its"})
_NO_START: Final = (
    lexicon.DEICTIC | lexicon.CUT | lexicon.PARTICLES | lexicon.ADVERBS
    | frozenset("and or like love enjoy hate have has been being , - – —".split())
)  # fmt: skip
_CLAUSE_WORDS: Final = frozenset("i he she they we you it me is are was were am this that these those them him".split())
_AFTER_AND: Final = frozenset("i we he she they my it also then have am is was are now will not".split())
_AMOUNTS: Final = (["a", "lot"], ["a", "ton"], ["a", "bit"], ["a", "bunch"], ["a", "little"])
_ENDS: Final = frozenset(
    "lately recently too now again anymore lol haha btw everyday nowadays today"
    " every called named together these - – —".split()
)
_FILLERS: Final = frozenset(
    "lately recently too now currently again anymore though actually lol haha btw nowadays well as these days right"
    " at the moment a"
    " lot so"
    " very much by way all my life today really indeed any more".split()
)
_TIME_LEADS: Final = frozenset("in on since at until from this last next about around ago back".split())


@dataclass(frozen=True, slots=True)
class Value:
    """A noun phrase: its text, the word after it, whether the clause says nothing more, and whether it holds a name."""

    text: str
    end: int
    whole: bool
    name: bool


class Phrases:
    """The words of one clause and the phrases in it; indices count its words, a shared subject's first."""

    def __init__(self, clause: Clause, sentence: Sentence, taken: Sequence[tuple[int, int]]) -> None:
        self.clause = clause
        self.words = (*clause.subject, *clause.words)
        self.low = [word.low for word in self.words]
        self._sentence = sentence
        self._taken = taken

    def value(self, begin: int, *, wide: bool = False, timed: bool = False) -> Value | None:
        """Return the noun phrase that begins at a word, None when it can't stand by itself.

        It ends before the next clause, circumstance or time; ``wide`` keeps prepositional parts ("reading by the sea"),
        ``timed`` lets it be a time.
        """
        low = self.low
        begin = self.skip_adverbs(begin) if wide else begin
        if begin >= len(low) or low[begin] in _NO_START:
            return None
        if timed and self.in_time(self.words[begin]):
            end = begin + 1
            while end < len(low) and self.in_time(self.words[end]):
                end += 1
            return Value(self.text(begin, end), end, self.done(end), False)
        if low[begin : begin + 2] in _AMOUNTS or low[begin] in _POSSESSED or (low[begin] == "to" and not wide):
            return None
        end = begin
        while end < len(low) and end - begin <= _MAX_VALUE and not self._stops(begin, end, wide):
            end += 1
        loose = lexicon.PREPOSITIONS | lexicon.ADVERBS | {"and", "or", "a", "an", "the", "not", ","}
        while end > begin and low[end - 1] in loose:
            end -= 1
        if end == begin or end - begin > _MAX_VALUE or set(low[begin:end]) & (lexicon.MODALS | _CLAUSE_WORDS):
            return None
        text = self.text(begin, end)
        if low[begin] == "the" and not wide and self.name_at(begin + 1):
            text = text[4:]
        if not any(sign.isalnum() for sign in text):
            return None
        return Value(text, end, self.done(end), any(is_name(word) for word in self.words[begin:end]))

    def rest(self, begin: int) -> Value | None:
        """Return all words from one on as a value."""
        return Value(self.text(begin, len(self.low)), len(self.low), True, True) if begin < len(self.low) else None

    def _stops(self, begin: int, end: int, wide: bool) -> bool:
        word = self.low[end]
        if word in lexicon.CUT or word in (";", ":", "(", ")") or self.in_time(self.words[end]):
            return True
        if word == ",":
            return not self._goes_on(begin, end)
        if end == begin:
            return False
        if word in lexicon.PREPOSITIONS and word != "of":
            return not wide or word in ("since", "after", "as")
        if word == "and" and self._measures(begin, end):
            return True
        if word in ("and", "or") and end + 1 < len(self.low):
            return self.low[end + 1] in _AFTER_AND | lexicon.MENTAL | lexicon.IRREGULAR_PAST
        return (word == "to" and not wide) or word in _ENDS

    def _goes_on(self, begin: int, comma: int) -> bool:
        """Return whether a comma parts the items of a list or a place and its country."""
        rest = self.low[comma + 1 :]
        if not rest:
            return False
        if rest[0] in ("and", "or") and "," in self.low[begin:comma]:
            return len(rest) > 1 and rest[1] not in _AFTER_AND
        last = next((i for i, word in enumerate(rest) if word in ("and", "or")), -1)
        if 0 <= last <= 8 and last + 1 < len(rest) and rest[last + 1] not in _AFTER_AND:
            items = " ".join(rest[:last]).strip(" ,").split(" , ")
            if all(0 < len(item.split()) <= 3 for item in items):
                return True
        named = is_name(self.words[comma - 1]) and is_name(self.words[comma + 1])
        return named and (len(rest) == 1 or rest[1] in lexicon.CUT | lexicon.PREPOSITIONS)

    def _measures(self, begin: int, end: int) -> bool:
        """Return whether "and" joins a number to what another noun measures ("1.72 m and weight 63.5 kg")."""
        after = self.words[end + 1 : end + 3]
        number = any(sign.isdigit() for sign in self.low[begin])
        return number and len(after) == 2 and after[0].low.isalpha() and any(sign.isdigit() for sign in after[1].low)

    def address(self, begin: int) -> Value | None:
        """Return the parts of an address that begins at a word: "12 High Street, Flat 3B, London"."""
        value = self.value(begin)
        if value is None or not any(sign.isdigit() for sign in value.text):
            return value
        end = value.end
        while end + 1 < len(self.low) and self.low[end] == ",":
            stop = end + 1
            while stop < len(self.low) and (self.name_at(stop) or any(sign.isdigit() for sign in self.low[stop])):
                stop += 1
            if stop == end + 1 or (stop < len(self.low) and self.low[stop] != ","):
                break
            end = stop
        return replace(value, text=self.text(begin, end), end=end, whole=self.done(end))

    def done(self, place: int) -> bool:
        """Return whether only fillers and time expressions follow."""
        return all(
            word.low in _FILLERS
            or word.low in (",", "and")
            or word.low in _TIME_LEADS
            or self.in_time(word)
            or (word.low == "for" and i + 1 < len(self.words) and self.in_time(self.words[i + 1]))
            for i, word in enumerate(self.words[place:], start=place)
        )

    def beside(self) -> str:
        """Return the whole sentence that the clause stands in."""
        return self._sentence.text

    def in_time(self, word: Word) -> bool:
        """Return whether a word belongs to a time expression."""
        return any(start <= word.start < end for start, end in self._taken)

    def doubted(self) -> bool:
        """Return whether the clause is a wish, a possibility, hearsay or an opinion."""
        return any(word.low in lexicon.MODALS and word.text != "May" and not self.in_time(word) for word in self.words)

    def name_at(self, place: int) -> bool:
        """Return whether a word is written like a name."""
        return place < len(self.words) and is_name(self.words[place])

    def skip_adverbs(self, place: int) -> int:
        """Return the first word from ``place`` on that is no adverb."""
        while place < len(self.low) and self.low[place] in lexicon.ADVERBS:
            place += 1
        return place

    def participle(self, place: int) -> bool:
        """Return whether a past participle with its preposition stands there ("founded by", "born in")."""
        low = self.low
        if place + 2 >= len(low) or low[place + 1] not in lexicon.PREPOSITIONS or low[place] in lexicon.TRANSIENT:
            return False
        return (low[place].endswith("ed") and len(low[place]) > 4) or low[place] in lexicon.PARTICIPLES

    def text(self, begin: int, end: int) -> str:
        """Return the source's characters of some words."""
        if begin >= end:
            return ""
        if begin == 0 and self.clause.subject:
            return " ".join(word.text for word in self.words[:end])
        return self._source(self.words[begin].start, self.words[end - 1].end)

    def statement(
        self, entity: str, entity_type: str, name: str, value: Value, *, single: bool | None = None, polarity: int = 1,
        past: bool = False, began: bool = False, verb: int = -1,
    ) -> Statement:  # fmt: skip
        """Return a statement of this clause; ``verb`` is the word that must agree with a named speaker."""
        own = self.own_words()
        first = bool({"i", "my", "we"} & set(self.low)) and self.low[0] != "we"
        return Statement(
            entity=entity,
            entity_type=entity_type,
            property_name=name,
            value=value.text,
            content=own,
            named=self._third(verb) if first else own,
            start=(*self.clause.lead, *self.clause.words)[0].start,
            end=self.clause.words[-1].end,
            single_valued=single,
            polarity=polarity,
            began=began,
            past=past,
            correction=self.clause.correction,
            whole=value.whole,
        )

    def about(self, statement: Statement, said: str) -> Statement:
        """Return the statement with its first word, a pronoun, replaced by the name that it stands for."""
        content = f"{said} {_closed(self._source(self.words[1].start, self.words[-1].end))}"
        return replace(statement, content=content, named=content)

    def own_words(self) -> str:
        """Return the clause as it was said, as a sentence of its own."""
        if self.clause.alone:
            return self._sentence.text
        words = self.clause.words
        subject = " ".join(word.text for word in self.clause.subject)
        start = (*self.clause.lead, *words)[0].start if not subject else words[0].start
        said = f"{subject} {self._source(start, words[-1].end)}".strip()
        return _closed(said[0].upper() + said[1:])

    def _third(self, verb: int) -> str:
        """Return the clause with the first person as OWNER, later ones as "they", and the verb at ``verb`` agreeing."""
        pieces: list[str] = []
        for place, word in enumerate(self.words):
            gap = "" if place == 0 else self._source(self.words[place - 1].end, word.start)
            if place and place == len(self.clause.subject):
                gap = " "
            before = self.low[place - 1] if place else ""
            head = self.low[0] == "i" and all(low in lexicon.ADVERBS for low in self.low[1:place])
            text = _in_third(word.text, place, before, self.low[0], head=head)
            if place == verb:
                text = lexicon.third_person(word.low)
            if place and not gap and text[0].isalpha() and not text.lower().startswith(("n't", "n’t")):
                gap = " "  # a contraction that was opened
            pieces += [gap, text]
        lead = self.clause.lead
        begin = f"{self._source(lead[0].start, self.words[0].start)}" if lead and not self.clause.subject else ""
        return _closed(begin + "".join(pieces))

    def _source(self, start: int, end: int) -> str:
        return self._sentence.text[start - self._sentence.start : end - self._sentence.start]


_FIRST_TO_THIRD: Final = {
    "my": "their", "me": "them", "mine": "theirs", "myself": "themselves", "i": "they", "our": "their", "us": "them",
    "we": "they", "ourselves": "themselves",
}  # fmt: skip


def _in_third(text: str, place: int, before: str, first: str, *, head: bool) -> str:
    low = text.lower().replace("’", "'")
    if place == 0 and low == "i":
        return OWNER
    if low == "my" and (place == 0 or first != "i"):
        return f"{OWNER}'s"
    if head and place:
        return {"am": "is", "'m": "is", "have": "has", "'ve": "has", "do": "does"}.get(
            low, _FIRST_TO_THIRD.get(low, text)
        )
    if before == "i":
        return {"am": "are", "'m": "are", "was": "were"}.get(low, text)
    return _FIRST_TO_THIRD.get(low, text)


def _closed(text: str) -> str:
    """Return the text as one sentence with its stop."""
    text = text.strip(" ,;:-–—")
    return text if text.endswith((".", "!", "…")) else text + "."


_AMERICAN: Final = {
    "colour": "color", "colours": "colors", "flavour": "flavor", "flavours": "flavors", "neighbour": "neighbor",
    "neighbours": "neighbors", "odour": "odor",
    "favourite": "favorite", "favourites": "favorites", "honour": "honor", "behaviour": "behavior", "centre": "center",
    "theatre": "theater", "licence": "license", "programme": "program", "organisation": "organization", "tyre": "tire",
    "jewellery": "jewelry", "grey": "gray", "cheque": "check", "enrolment": "enrollment", "mum": "mom",
}  # fmt: skip


def snake(words: Sequence[str]) -> str:
    """Return words as a property's name.

    British spellings are the American ones', so that a newer value meets the older however it was spelt.

    >>> snake(["favourite", "colour"]), snake(["dog's", "name"])
    ('favorite_color', 'dog_name')
    """
    joined = "_".join(words).lower().replace("'s", "")
    parts = "".join(sign if sign.isalnum() else "_" for sign in joined).split("_")
    return "_".join(_AMERICAN.get(part, part) for part in parts if part)
