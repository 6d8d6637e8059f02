"""English clauses into statements by their structure: subject, verb and object; "the R of X is Y"; possessives; passives.

There is no list of relations: verbs, nouns and participles name the property themselves. Closed classes of words say what
is asserted at all (not questions, wishes, hearsay, conditions) and what lasts beyond the moment. What doesn't fit a
structure fully is left to be kept in its own words: no statement is better than a wrong one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.clauses_en import Clause, Word, clauses, is_name, words_of
from mindmem.core.reason.rules.sentences import Sentence
from mindmem.core.reason.rules.statements import OWNER, TEAM, Statement

__all__ = ["read"]

_WHOLE: Final = frozenset("if unless whether imagine suppose wish pretend hypothetically otherwise".split())
_UNREADABLE: Final = re.compile(r"[?\"“”`<>{}|=\\]|https?:|[？]")
_COPULAS: Final = frozenset({"am", "is", "are", "was", "were"})
_FILLERS: Final = frozenset(
    "too now currently again anymore though actually lol haha btw xd nowadays well as these days right at the moment a lot so"
    " very much by way all my life today really indeed always any more".split()
)
_LIGHT: Final = frozenset("of de la van von der the & and to".split())
_SNAKE: Final = re.compile(r"[^\w]+")
_MAX_VALUE: Final = 12  # words; a longer object is a story rather than a value
_MAX_SENTENCE: Final = 400

Names = Callable[[str], str]
"""Resolves "he", "she", "they" to a name, or to the empty string."""


@dataclass(frozen=True, slots=True)
class _Subject:
    entity: str
    entity_type: str
    after: int
    """Index of the first word after it."""
    person: int = 3
    said: str = ""
    """The name that stands for a pronoun."""


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    end: int
    whole: bool
    name: bool


def read(sentence: Sentence, names: Names, taken: Sequence[tuple[int, int]]) -> tuple[list[Statement], bool]:
    """Return the statements of a sentence, and whether they hold all that it says.

    ``names`` resolves pronouns of the third person; ``taken`` are the characters of time expressions.
    """
    if len(sentence.text) > _MAX_SENTENCE or _UNREADABLE.search(sentence.text):
        return [], False
    words = words_of(sentence.text, sentence.start)
    if any(word.low in _WHOLE for word in words):
        return [], False
    parts = clauses(words)
    found: list[Statement] = []
    whole = bool(parts)
    for clause in parts:
        statements = _Reader(clause, sentence, names, taken).statements()
        found += statements
        whole = whole and bool(statements) and all(statement.whole for statement in statements)
    return found, whole


class _Reader:
    """Reads one clause."""

    def __init__(self, clause: Clause, sentence: Sentence, names: Names, taken: Sequence[tuple[int, int]]) -> None:
        self._clause = clause
        self._sentence = sentence
        self._words = (*clause.subject, *clause.words)
        self._names = names
        self._taken = taken
        self._low = [word.low for word in self._words]

    def statements(self) -> list[Statement]:
        """Return what the clause states."""
        low = self._low
        if len(low) < 3 or (self._doubted() and not self._cannot_stand()):
            return []
        statement = self._definite() or self._possessive()
        if statement is None:
            subject = self._subject()
            statement = None if subject is None else self._predicate(subject)
        return [] if statement is None else [statement]

    def _doubted(self) -> bool:
        return any(
            word.low in lexicon.MODALS and not self._in_time(word) and word.text != "May" for word in self._words
        )

    def _cannot_stand(self) -> bool:
        return any(self._low[i : i + 3] == ["can", "not", "stand"] for i in range(3)) and not (
            set(self._low[4:]) & lexicon.MODALS
        )

    # ------------------------------------------------------------------ subjects

    def _subject(self) -> _Subject | None:
        first = self._low[0]
        if first == "i":
            return _Subject(OWNER, "person", 1, person=1)
        if first == "we":
            team = any(word in lexicon.TEAM_VERBS for word in self._low[1:4])
            return _Subject(TEAM, "group", 1, person=1) if team else _Subject(OWNER, "person", 1, person=1)
        if first in ("he", "she"):
            name = self._names(first)
            return _Subject(name, "person", 1, said=name) if name else None
        if first == "my" and len(self._low) > 3 and self._low[1] in lexicon.KIN and is_name(self._words[2]):
            return _Subject(self._words[2].text, "person", 3)
        return self._named(0)

    def _named(self, begin: int) -> _Subject | None:
        stop = begin
        if self._low[begin] == "the" and len(self._words) > begin + 1 and is_name(self._words[begin + 1]):
            begin, stop = begin + 1, begin + 1
        while stop < len(self._words) and (
            (is_name(self._words[stop]) and not self._words[stop].low.endswith("'s"))
            or (stop > begin and self._low[stop] in _LIGHT - {"and", "to"} and self._name_at(stop + 1))
        ):
            stop += 1
        if stop == begin or self._low[begin] in _NO_NAMES or stop - begin > 6:
            return None
        return _Subject(self._text(begin, stop), "", stop)

    def _name_at(self, place: int) -> bool:
        return place < len(self._words) and is_name(self._words[place])

    # ------------------------------------------------------------------ "the R of X is Y", "X's R is Y"

    def _definite(self) -> Statement | None:
        """Read "the R of X is Y" and other descriptions of one thing that hold one name."""
        if self._low[0] != "the":
            return None
        verb = next((i for i, word in enumerate(self._low) if word in ("is", "was", "are", "were")), 0)
        if not 2 < verb <= 14 or self._low[verb - 1] in lexicon.PREPOSITIONS | lexicon.CUT:
            return None
        of = next((i for i in range(2, verb) if self._low[i] == "of"), 0)
        if of:
            begin = of + 1
            entity = self._text(begin + (self._low[begin] in ("the", "our", "a")), verb)
            properties = self._low[1:of]
            owner = self._low[begin] == "my"
            if owner:
                return None
        else:
            run = [i for i in range(2, verb) if is_name(self._words[i])]
            if not run or run[-1] - run[0] + 1 != len(run):
                return None
            entity = self._text(run[0], run[-1] + 1)
            properties = [word for i, word in enumerate(self._low[:verb]) if i and i not in run]
            while properties and properties[-1] in lexicon.PREPOSITIONS | {"the", "of", "is"}:
                properties.pop()
        if (
            not properties
            or not entity
            or set(properties) & lexicon.EVALUATIVE
            or set(entity.lower().split()) & lexicon.DEICTIC
        ):
            return None
        return self._equals(entity, "", properties, verb, definite=True)

    def _possessive(self) -> Statement | None:
        """Read "my R is Y", "X's R is Y", "his R is Y"."""
        low = self._low
        verb = next((i for i, word in enumerate(low) if word in ("is", "was", "are", "were")), 0)
        if not 1 < verb <= 8:
            return None
        said = ""
        if low[0] in ("my", "our"):
            entity, begin = (OWNER, 1) if low[0] == "my" else (TEAM, 1)
        elif low[0] in ("his", "her", "their"):
            entity, begin, said = self._names(low[0]), 1, "\x01"
        else:
            owner = next((i for i in range(min(4, verb)) if low[i].endswith("'s") and is_name(self._words[i])), -1)
            if owner < 0 or any(not is_name(self._words[i]) for i in range(owner)) or low[0] in _NO_NAMES:
                return None
            entity, begin = self._text(0, owner + 1)[:-2], owner + 1
        if (
            not entity
            or begin >= verb
            or set(low[begin:verb]) & (lexicon.CUT | lexicon.DEICTIC | lexicon.PREPOSITIONS - {"of", "in"})
        ):
            return None
        properties = list(low[begin:verb])
        if entity == TEAM and not self._is_team_noun(properties):
            entity = OWNER
        if verb + 1 < len(low) and low[verb + 1] in ("called", "named"):
            verb += 1
        properties = [word.removesuffix("'s") for word in properties]
        if properties[-1] == "name" and len(properties) > 1:
            properties = properties[:-1]
        if len(properties) == 2 and properties[0] in lexicon.KIN and is_name(self._words[begin + 1]):
            return None  # "my sister Ann is …" is about Ann
        statement = self._equals(entity, "person" if entity == OWNER else "", properties, verb, definite=False)
        if statement is not None and said:
            return self._with_subject(statement, f"{entity}'s", 1)
        return statement

    def _is_team_noun(self, properties: Sequence[str]) -> bool:
        return not (set(properties) & (lexicon.KIN | {"home", "house", "family", "wedding", "anniversary"}))

    def _equals(
        self, entity: str, entity_type: str, properties: Sequence[str], verb: int, *, definite: bool
    ) -> Statement | None:
        negated, begin = self._negation(verb + 1)
        while begin < len(self._low) and self._low[begin] in lexicon.ADVERBS:
            begin += 1
        head = properties[-1]
        if (
            begin < len(self._low)
            and self._low[begin] in ("on", "in", "at")
            and head in ("birthday", "anniversary", "deadline")
        ):
            begin += 1
            value = self._until_end(begin)
        elif self._participle(begin):
            properties = [*properties, self._low[begin], self._low[begin + 1]]
            value = self._value(begin + 2)
        else:
            value = self._value(begin)
        if value is None or not self._nominal(begin, value, properties):
            return None
        name = _snake(properties)
        single: bool | None = True
        if head in lexicon.KIN and head not in (
            "wife",
            "husband",
            "spouse",
            "partner",
            "mother",
            "father",
            "mom",
            "dad",
            "boss",
        ):
            single = None
        if head.endswith("s") and not head.endswith("ss") and self._low[verb] in ("are", "were"):
            single = False
        return self._statement(
            entity,
            entity_type,
            name,
            value,
            single=single,
            negated=negated,
            past=self._low[verb] in ("was", "were") and not definite,
        )

    def _nominal(self, begin: int, value: _Value, properties: Sequence[str]) -> bool:
        """Return whether "is" joins two nouns here, not a noun and how it fares."""
        first = self._low[begin] if begin < len(self._low) else ""
        if first in lexicon.TRANSIENT or first.endswith("ing") or first in lexicon.STABLE:
            return first in lexicon.STABLE and properties[-1] in ("diet", "status", "religion")
        if value.name or any(sign.isdigit() for sign in value.text):
            return True
        head = properties[-1]
        return (
            head in lexicon.NOMINAL or bool({"favorite", "favourite"} & set(properties)) or first in ("a", "an", "the")
        )

    # ------------------------------------------------------------------ predicates

    def _predicate(self, subject: _Subject) -> Statement | None:
        low, place = self._low, subject.after
        negated = used_to = False
        perfect = False
        while place < len(low):
            word = low[place]
            if word in ("never", "not", "neither"):
                negated = True
            elif low[place : place + 2] == ["no", "longer"]:
                negated, place = True, place + 1
            elif low[place : place + 2] == ["used", "to"]:
                used_to, place = True, place + 1
            elif low[place : place + 3] == ["can", "not", "stand"]:
                return self._verb(subject, place + 2, False, False, base="stand", dislike=True)
            elif word in ("do", "does", "did"):
                if place + 1 < len(low) and low[place + 1] not in ("not",) and word == "did":
                    return None
                perfect = perfect or word == "did"
            elif word in ("have", "has", "had") and place + 1 < len(low) and self._is_perfect(place + 1):
                perfect = True
            elif word not in lexicon.ADVERBS:
                break
            place += 1
        if place >= len(low) or (perfect and low[place] == "did"):
            return None
        if low[place] == "been" and perfect and place + 1 < len(low):
            return self._copula(subject, place, negated, False)
        if low[place] in _COPULAS:
            return self._copula(subject, place, negated, used_to)
        if perfect:
            base = {"lived": "live", "worked": "work"}.get(low[place], "")
            return self._verb(subject, place, negated, used_to, base=base) if base else None
        return self._verb(subject, place, negated, used_to)

    def _is_perfect(self, place: int) -> bool:
        word = self._low[place]
        if word in lexicon.ADVERBS or word == "not":
            return place + 1 < len(self._low) and self._is_perfect(place + 1)
        return word in ("been", "lived", "worked", "had", "known") or word.endswith("ed") or word in lexicon.PARTICIPLES

    def _copula(self, subject: _Subject, verb: int, negated: bool, used_to: bool) -> Statement | None:
        low = self._low
        denied, place = self._negation(verb + 1)
        while place < len(low) and low[place] in lexicon.ADVERBS:
            place += 1
        if low[place : place + 2] == ["no", "longer"]:
            denied, place = True, place + 2
        negated = negated or denied
        past = used_to or (low[verb] in ("was", "were") and subject.person == 1)
        if place >= len(low):
            return None
        word = low[place]
        passive = self._participle(place)
        if word in lexicon.PROGRESSIVE and subject.entity != TEAM and not past:
            return self._verb(subject, place, negated, used_to, base=lexicon.PROGRESSIVE[word])
        if passive and not (subject.person == 1 and low[place + 1] == "to" and word != "married"):
            name = f"{word}_{low[place + 1]}"
            value = self._value(place + 2)
            if value is None or (past and word != "born"):
                return None
            if not value.name and not (value.text[:1].isdigit() or subject.person == 1):
                return None
            single = True if word in lexicon.CREATION else None
            return self._statement_of(subject, lexicon.CANONICAL.get(name, name), value, single=single, negated=negated)
        if subject.person == 1 and (age := self._age(place)) is not None:
            return self._statement_of(subject, "age", age, single=True, negated=negated, past=past)
        if word in ("a", "an", "the"):
            return self._is_a(subject, place, negated, past)
        if subject.person != 1 and (owned := self._belongs(subject, place, negated)) is not None:
            return owned
        if word in lexicon.STABLE:
            value = _Value(self._words[place].text, place + 1, self._done(place + 1), False)
            return self._statement_of(subject, "is", value, single=None, negated=negated, past=past)
        if word == "from" and not past:
            origin = self._value(place + 1)
            return (
                origin and self._statement_of(subject, "from", origin, single=None, negated=negated)
                if origin and origin.name
                else None
            )
        if (
            place + 2 < len(low) and low[place + 1] in lexicon.PREPOSITIONS and word not in lexicon.TRANSIENT
            and word.isalpha() and not word.endswith("ing") and not self._words[place].text[:1].isupper()
        ):  # fmt: skip
            value = self._value(place + 2)
            if value is None or past:
                return None
            name = f"{word}_{low[place + 1]}"
            return self._statement_of(subject, lexicon.CANONICAL.get(name, name), value, single=None, negated=negated)
        if self._words[place].text[:1].isupper() and subject.person == 1 and place + 1 >= len(low) and not past:
            demonym = word.endswith(("ish", "ese", "ian", "can", "ean", "ench", "utch", "ek", "iss", "aqi", "ali"))
            value = _Value(self._words[place].text, place + 1, True, True)
            if demonym:
                return self._statement_of(subject, "nationality", value, single=None, negated=negated)
            return None if negated else self._statement_of(subject, "name", value, single=True, negated=False)
        return None

    def _is_a(self, subject: _Subject, place: int, negated: bool, past: bool) -> Statement | None:
        """Read "is a member of Y", "is the capital of Y", "is a nurse"."""
        low = self._low
        of = next((i for i in range(place + 2, min(place + 6, len(low))) if low[i] in ("of", "at", "for")), 0)
        if of and not any(low[i] in lexicon.CUT | lexicon.PREPOSITIONS for i in range(place + 1, of)):
            value = self._value(of + 1)
            nouns = low[place + 1 : of]
            if value is None or past or set(nouns) & lexicon.EVALUATIVE:
                return None
            if low[place] == "the" and value.name and subject.person != 1 and low[of] == "of":
                swapped = replace(value, text=self._text(0, subject.after), name=True)
                return self._statement(value.text, "", _snake(nouns), swapped, single=True, negated=negated, past=past)
            if value.name or nouns[-1] == "fan":
                name = _snake([*nouns, low[of]])
                known = lexicon.CANONICAL.get(f"{nouns[-1]}_{low[of]}", name)
                return self._statement_of(subject, known, value, single=None, negated=negated)
            return None
        value = self._value(place)
        if value is None or low[place] == "the":
            return None
        noun = value.text.lower().split()[-1]
        if set(value.text.lower().split()) & (
            lexicon.EVALUATIVE | {"bit", "lot", "little", "while", "mess", "shame", "pity"}
        ):
            return None
        if subject.person == 1:
            if not _is_occupation(noun):
                return None
            return self._statement_of(subject, "occupation", value, single=None, negated=negated, past=past)
        return self._statement_of(subject, "is_a", value, single=None, negated=negated, past=past)

    def _belongs(self, subject: _Subject, place: int, negated: bool) -> Statement | None:
        """Read "Ann is Tom's sister", "Ann is my sister"."""
        low = self._low
        if low[place] in ("my", "our"):
            owner, begin, kind = OWNER, place + 1, "person"
        elif low[place].endswith("'s") and is_name(self._words[place]):
            owner, begin, kind = self._words[place].text[:-2], place + 1, ""
        else:
            return None
        nouns = low[begin : begin + 3]
        stop = next((i for i in range(begin, len(low)) if low[i] in lexicon.KIN), -1)
        if (
            stop < 0
            or stop - begin > 2
            or not self._done(stop + 1)
            or not nouns
            or set(low[begin:stop]) & lexicon.EVALUATIVE
        ):
            return None
        name = _Value(self._text(0, subject.after), stop + 1, True, True)
        single = True if low[stop] in ("wife", "husband", "spouse", "mother", "father", "boss") else None
        return self._statement(owner, kind, _snake(low[begin : stop + 1]), name, single=single, negated=negated)

    def _verb(
        self, subject: _Subject, place: int, negated: bool, used_to: bool, *, base: str = "", dislike: bool = False
    ) -> Statement | None:
        low = self._low
        word = low[place]
        began = past = False
        progressive = (base,)
        if base:
            pass
        elif word in ("got", "get") and place + 2 < len(low) and low[place + 1] == "married":
            word, base, began, place = "married", "marry", True, place + 1
        elif (
            word == "started"
            and place + 1 < len(low)
            and low[place + 1] in ("working", "living", "studying", "learning")
        ):
            base, began, place = lexicon.PROGRESSIVE[low[place + 1]], True, place + 1
        elif word in lexicon.PAST_STATE and (subject.person == 1 or word in ("moved", "joined", "married", "founded")):
            base, began, past = lexicon.PAST_STATE[word], True, True
        elif subject.person == 1 or (subject.said and not word.endswith("s")) or used_to or negated:
            base = word
        elif word.endswith("s") and not word.endswith(("ss", "'s")):
            base = lexicon.base_form(word)
        elif (
            self._tells_past(word) and self._name_at(place + 1) and not subject.said and subject.entity_type != "person"
        ):
            value = self._value(place + 1)
            return (
                value and self._statement_of(subject, word, value, single=None, negated=negated)
                if value and value.name
                else None
            )
        if base in ("have", "own"):
            return self._have(subject, place + 1, base, negated, used_to)
        if not base or not base.isalpha() or (base in lexicon.MENTAL and not began and base not in progressive):
            return None
        if (word.endswith("ed") or word in lexicon.IRREGULAR_PAST) and not began and base == word:
            return None
        begin, name = place + 1, lexicon.third_person(base)
        if (
            begin < len(low)
            and low[begin] in lexicon.PREPOSITIONS
            and not (base in ("like", "love", "prefer") and low[begin] == "to")
        ):
            name, begin = f"{name}_{low[begin]}", begin + 1
        wide = name.startswith(("like", "love", "hate", "enjoy", "prefer", "dislike", "adore")) or dislike
        value = self._value(begin, wide=wide)
        if value is None:
            return None
        if name in ("joins", "moves_to", "marries", "founds", "adopts", "buys", "graduates_from", "switches_to"):
            if not value.name and name != "adopts":
                return None
        polarity = -1 if negated or used_to else 1
        if dislike or base in lexicon.DISLIKES:
            polarity = -polarity
        if name == "uses" and value.end < len(low) and low[value.end] in ("for", "as"):
            purpose = self._value(value.end + 1)
            if purpose is not None:
                name = _snake(["uses", low[value.end], *purpose.text.split()])
                value = replace(value, whole=purpose.whole)
        name = "likes" if dislike else lexicon.CANONICAL.get(name, name)
        if name == "works_at" and not value.name:
            name = "works_at"
        single = True if name in lexicon.SINGLE_VERBS else False if name.split("_")[0] in lexicon.MANY_VERBS else None
        if name == "married_to":
            single = True
        if name.startswith("uses_for"):
            single = True if self._clause.correction else None
        statement = self._statement_of(subject, name, value, single=single, negated=False, past=used_to, began=began)
        if statement is None:
            return None
        agreed = self._agreed(subject, place) if not past and not dislike and base == word else ""
        return replace(statement, polarity=polarity, named=agreed or statement.named)

    def _have(self, subject: _Subject, place: int, base: str, negated: bool, used_to: bool) -> Statement | None:
        low = self._low
        if place < len(low) and low[place] in ("got", "no"):
            negated, place = negated or low[place] == "no", place + 1
        value = self._value(place)
        if value is None:
            return None
        nouns = value.text.lower().split()
        stop = next((i for i, word in enumerate(nouns) if word in ("named", "called", "of")), len(nouns))
        head = nouns[stop - 1] if stop else ""
        counted = nouns[0].isdigit() or nouns[0] in _COUNTS
        if head not in lexicon.CONCRETE:
            return None
        if value.end < len(low) and low[value.end] in ("named", "called"):
            called = self._value(value.end + 1)
            if called is not None:
                value = replace(called, text=f"{value.text} {low[value.end]} {called.text}")
        name = f"has_{_singular(head)}"
        return self._statement_of(
            subject, name, value, single=None if counted else False, negated=negated or used_to, past=used_to
        )

    # ------------------------------------------------------------------ parts

    def _negation(self, place: int) -> tuple[bool, int]:
        if place < len(self._low) and self._low[place] in ("not", "never"):
            return True, place + 1
        return False, place

    def _participle(self, place: int) -> bool:
        low = self._low
        if place + 2 >= len(low) or low[place + 1] not in lexicon.PREPOSITIONS | {"by"}:
            return False
        word = low[place]
        if word in lexicon.TRANSIENT:
            return False
        return (word.endswith("ed") and len(word) > 4) or word in lexicon.PARTICIPLES

    def _tells_past(self, word: str) -> bool:
        return (word.endswith("ed") and len(word) > 4) or word in lexicon.CREATION | {
            "wrote",
            "founded",
            "built",
            "won",
            "led",
            "bought",
            "made",
        }

    def _age(self, place: int) -> _Value | None:
        low = self._low
        if not low[place].isdigit() or not 0 < int(low[place][:4]) < 130:
            return None
        rest = low[place + 1 :]
        if not rest or rest[:3] == ["years", "old"] or rest[:1] == ["now"] or rest[:2] == ["years", "of"]:
            end = place + (3 if rest[:1] == ["years"] else 1)
            return _Value(self._words[place].text, end, self._done(end), True)
        return None

    def _value(self, begin: int, *, wide: bool = False) -> _Value | None:
        """Return the noun phrase that begins at a word, None when it can't stand by itself.

        It ends before the next clause, circumstance or time; ``wide`` keeps prepositional parts ("reading by the sea").
        """
        low = self._low
        if begin >= len(low) or low[begin] in lexicon.DEICTIC or low[begin] in lexicon.CUT:
            return None
        if low[begin] in ("my", "our", "his", "their", "your", "to") and not (wide and low[begin] == "to"):
            return None
        end = begin
        while end < len(low) and end - begin <= _MAX_VALUE and not self._stops(begin, end, wide):
            end += 1
        while (
            end > begin
            and low[end - 1] in lexicon.PREPOSITIONS | {"and", "or", "a", "an", "the", "not", ","} | lexicon.ADVERBS
        ):
            end -= 1
        if end == begin or end - begin > _MAX_VALUE or (low[begin] in ("a", "an", "the") and end == begin + 1):
            return None
        tail = {word for word in low[begin:end]}
        if tail & (
            lexicon.MODALS | {"i", "he", "she", "they", "we", "you", "it", "me", "is", "are", "was", "were", "am"}
        ):
            return None
        text = self._text(begin, end)
        if text.lower().startswith("the ") and not wide and self._name_at(begin + 1):
            text = text[4:]
        if not any(sign.isalnum() for sign in text):
            return None
        names = [word for word in self._words[begin:end] if is_name(word)]
        return _Value(text, end, self._done(end), bool(names))

    def _stops(self, begin: int, end: int, wide: bool) -> bool:
        word = self._low[end]
        if word in lexicon.CUT or word in (";", ":", "(", ")") or self._in_time(self._words[end]):
            return True
        if word == ",":
            return not self._goes_on(begin, end)
        if word in lexicon.PREPOSITIONS and end > begin and word != "of":
            return not wide or word in ("since", "after", "as")
        if word == "to" and end > begin and not wide:
            return True
        if word in ("and", "or") and end + 1 < len(self._low):
            after = self._low[end + 1]
            return after in (
                "i",
                "we",
                "he",
                "she",
                "they",
                "my",
                "it",
                "also",
                "then",
                "have",
                "am",
                "is",
                "was",
                "are",
                "now",
                "will",
                "not",
            )
        return end > begin and word in (
            "too",
            "now",
            "again",
            "anymore",
            "lol",
            "haha",
            "btw",
            "everyday",
            "nowadays",
            "today",
            "every",
            "called",
            "named",
        )

    def _goes_on(self, begin: int, comma: int) -> bool:
        """Return whether a comma parts the items of a list or a place and its country."""
        low = self._low
        rest = low[comma + 1 :]
        if not rest:
            return False
        last = next((i for i, word in enumerate(rest) if word in ("and", "or")), -1)
        if 0 <= last <= 8 and last + 1 < len(rest):
            items = " ".join(rest[:last]).strip(" ,").split(" , ")
            if all(0 < len(item.split()) <= 3 for item in items) and rest[last + 1] not in (
                "i",
                "my",
                "we",
                "he",
                "she",
                "it",
            ):
                return True
        return (
            is_name(self._words[comma - 1])
            and is_name(self._words[comma + 1])
            and (len(rest) == 1 or rest[1] in lexicon.CUT | lexicon.PREPOSITIONS)
        )

    def _until_end(self, begin: int) -> _Value | None:
        if begin >= len(self._low):
            return None
        return _Value(self._text(begin, len(self._low)), len(self._low), True, True)

    def _done(self, place: int) -> bool:
        """Return whether only fillers and time expressions follow."""
        return all(
            word.low in _FILLERS or word.low in (",", "and") or self._in_time(word) or word.low in _TIME_LEADS
            for word in self._words[place:]
        )

    def _in_time(self, word: Word) -> bool:
        return any(start <= word.start < end for start, end in self._taken)

    def _text(self, begin: int, end: int) -> str:
        if begin >= end:
            return ""
        if begin == 0 and self._clause.subject:
            return " ".join(word.text for word in self._words[:end])
        return self._source(self._words[begin].start, self._words[end - 1].end)

    def _source(self, start: int, end: int) -> str:
        return self._sentence.text[start - self._sentence.start : end - self._sentence.start]

    # ------------------------------------------------------------------ results

    def _statement_of(
        self,
        subject: _Subject,
        name: str,
        value: _Value,
        *,
        single: bool | None,
        negated: bool,
        past: bool = False,
        began: bool = False,
    ) -> Statement | None:
        statement = self._statement(
            subject.entity,
            subject.entity_type,
            name,
            value,
            single=single,
            negated=negated or past,
            past=past,
            began=began,
        )
        return self._with_subject(statement, subject.said, 1) if subject.said else statement

    def _statement(
        self, entity: str, entity_type: str, name: str, value: _Value, *, single: bool | None, negated: bool, past: bool = False,
        began: bool = False,
    ) -> Statement:  # fmt: skip
        third = self._third() if OWNER in (entity, self._owner()) else ""
        sentence = self._own_words()
        return Statement(
            entity=entity,
            entity_type=entity_type,
            property_name=name,
            value=value.text,
            content=sentence,
            named=third or sentence,
            start=self._clause.words[0].start,
            end=self._clause.words[-1].end,
            single_valued=single,
            polarity=-1 if negated else 1,
            began=began,
            past=past,
            correction=self._clause.correction,
            whole=value.whole,
        )

    def _owner(self) -> str:
        return OWNER if self._low[0] in ("i", "my", "we") or "my" in self._low else ""

    def _with_subject(self, statement: Statement, said: str, after: int) -> Statement:
        content = f"{said} {_closed(self._source(self._words[after].start, self._words[-1].end))}"
        return replace(statement, content=content, named=content)

    def _own_words(self) -> str:
        """Return the clause as it was said, as a sentence of its own."""
        if self._clause.alone:
            return _closed(self._sentence.text)
        words = self._clause.words
        subject = " ".join(word.text for word in self._clause.subject)
        said = f"{subject} {self._source(words[0].start, words[-1].end)}".strip()
        return _closed(said[0].upper() + said[1:])

    def _agreed(self, subject: _Subject, verb: int) -> str:
        """Return the clause in the third person with the verb made to agree."""
        if (
            subject.person != 1
            or self._low[0] != "i"
            or any(word in ("do", "did", "have", "used") for word in self._low[1:verb])
        ):
            return ""
        return self._third(verb)

    def _third(self, verb: int = -1) -> str:
        """Return the clause with the first person as OWNER, later ones as "they", and the verb at ``verb`` agreeing."""
        words = self._words
        if self._low[0] == "we":
            return self._own_words()
        pieces: list[str] = []
        for place, word in enumerate(words):
            text, gap = word.text, ""
            if place:
                shared = place == len(self._clause.subject)
                gap = " " if shared else self._source(words[place - 1].end, word.start)
            if word.low == "i" and place == 0:
                text = OWNER
            elif word.low == "my" and (place == 0 or self._low[0] != "i"):
                text = f"{OWNER}'s"
            elif self._low[0] == "i" and place == 1 and word.low in ("am", "have", "do"):
                text, gap = {"am": "is", "have": "has", "do": "does"}[word.low], " "
            elif place == verb:
                text = lexicon.third_person(word.low)
            elif word.low in _FIRST_TO_THIRD:
                text = _FIRST_TO_THIRD[word.low]
            elif word.low in ("am", "was") and place > 1 and self._low[place - 1] == "i":
                text, gap = {"am": " are", "was": " were"}[word.low], ""
            pieces += [gap, text]
        return _closed("".join(pieces))


_COUNTS: Final = frozenset("one two three four five six seven eight nine ten eleven twelve several".split())
_TIME_LEADS: Final = frozenset("in on since for at until from with this last next about around ago back".split()) - {
    "with",
    "for",
}
_NO_NAMES: Final = frozenset(
    "i it this that these those there here what who when where why how yes no ok okay hey hi hello thanks thank please wow great"
    " nice cool the a an my our your his her their its we you they he she if and but so or not as at in on for from to with"
    " sounds glad happy sorry good bad can could would should do does did have has had is are was were let let's just also"
    " everyone everybody someone somebody nobody nothing something anything everything most some many all both each every any"
    " one two three today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday now then maybe"
    " congrats congratulations absolutely definitely totally exactly true right sure of looks seems feels love loving having"
    " being getting seeing going people things life time work music art nature thank-you speaking more less such other another"
    " step note subject re fyi update todo warning error".split()
)
_OCCUPATION: Final = re.compile(
    r"(?:\w{3,}(?:er|or|ist|ian|eer|ant)|nurse|doctor|chef|judge|pilot|clerk|nanny|coach|student|intern|ceo|cto|cfo|sommelier"
    r"|barista|dj|vet|paramedic|mechanic|architect|detective|psychologist|economist|freelancer|postdoc|professor|dad|mom|mum)$"
)
_NO_OCCUPATION: Final = frozenset(
    "lover believer member user owner beginner person stranger number matter winner loser sucker reader listener eater sinner"
    " killer letter daughter sister brother mother father parker master monster disaster newcomer giant infant adventurer"
    " helper follower supporter bigger better other former newer dreamer thinker doer morning outsider insider foodie".split()
)
_FIRST_TO_THIRD: Final = {
    "my": "their", "me": "them", "mine": "theirs", "myself": "themselves", "i": "they", "our": "their", "us": "them",
}  # fmt: skip


def _is_occupation(noun: str) -> bool:
    return _OCCUPATION.match(noun) is not None and noun not in _NO_OCCUPATION


def _singular(noun: str) -> str:
    irregular = {
        "children": "child",
        "puppies": "puppy",
        "wives": "wife",
        "allergies": "allergy",
        "companies": "company",
    }
    if noun in irregular:
        return irregular[noun]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def _snake(words: Sequence[str]) -> str:
    return _SNAKE.sub("_", " ".join(words).lower().replace("'s", "")).strip("_")


def _closed(text: str) -> str:
    """Return the text as one sentence with its stop."""
    text = text.strip(" ,;:-–—")
    return text if text.endswith((".", "!", "…")) else text + "."
