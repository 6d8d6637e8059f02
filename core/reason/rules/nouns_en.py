"""English clauses in which "is" joins two nouns: "the R of X is Y", "X's R is Y", "Y is the R of X", "X is a Y"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.clauses_en import is_name
from mindmem.core.reason.rules.phrases_en import Phrases, Value, snake
from mindmem.core.reason.rules.places_en import placed
from mindmem.core.reason.rules.statements import OWNER, TEAM, Statement

__all__ = ["Subject", "belonging", "definite", "is_profession", "kind", "one_at_a_time", "possessive"]


@dataclass(frozen=True, slots=True)
class Subject:
    """Who or what a clause is about: entity and type, the word after it, and its grammatical person.

    ``said`` is the name that stands for a pronoun. ``sure`` is False for a lone word that is capital perhaps only
    because it begins the sentence.
    """

    entity: str
    entity_type: str
    after: int
    person: int = 3
    said: str = ""
    sure: bool = True


_IS: Final = ("is", "was", "are", "were")
_NEWER: Final = frozenset({"new", "current", "latest", "updated"})
_MANY: Final = frozenset(
    "hobby interest passion pastime language pet skill talent tool instrument sport goal dream allergy degree song book"
    " movie film band subject class course project friend colleague game habit fear food dish drink plan".split()
)
"""Nouns of which a person has several, so that a further one never replaces the first."""
_SOLE_KIN: Final = frozenset(
    "wife husband spouse partner mother father mom mum dad boss manager fiance fiancee".split()
)
_VAGUE: Final = frozenset(
    "bit lot little while mess shame pity great good real nice amazing true total such huge perfect awesome wonderful"
    " beautiful terrible bad cool fun must treat blast beauty gem star hit sign reminder challenge pleasure joy dream"
    " game-changer surprise relief must-have life lifesaver".split()
)


def definite(phrases: Phrases) -> Statement | None:
    """Read "the R of X is Y", and other descriptions of one thing that hold one name ("the firm that makes X is Y")."""
    low, words = phrases.low, phrases.words
    if low[0] != "the" or is_name(words[1]):
        return None
    verb = next((i for i, word in enumerate(low) if word in _IS), 0)
    if not 2 < verb <= 14 or low[verb - 1] in lexicon.PREPOSITIONS | lexicon.CUT:
        return None
    of = next((i for i in range(2, verb) if low[i] == "of"), 0)
    if of:
        begin = of + 1 + (low[of + 1] in ("the", "our", "a"))
        entity, properties = phrases.text(begin, verb), low[1:of]
        if low[of + 1] in ("my", "your", "his", "her", "their"):
            return None
    else:
        run = [i for i in range(2, verb) if is_name(words[i])]
        if not run or run[-1] - run[0] + 1 != len(run) or low[run[-1]].endswith("'s"):
            return None
        entity = phrases.text(run[0], run[-1] + 1)
        properties = [word for i, word in enumerate(low[:verb]) if i and i not in run]
        while properties and properties[-1] in lexicon.PREPOSITIONS | {"the", "of", "is"}:
            properties.pop()
    if not properties or not entity or set(properties) & lexicon.EVALUATIVE:
        return None
    if set(entity.lower().split()) & (lexicon.DEICTIC | lexicon.CUT):
        return None
    statement = _equals(phrases, entity, "", properties, verb)
    plain = statement is not None and statement.value.islower() and not statement.value.startswith(("a ", "an "))
    return None if plain and properties[-1] in ("name", "title", "role", "age", "size") else statement


def possessive(phrases: Phrases, resolved: str) -> Statement | None:
    """Read "my R is Y", "X's R is Y", "his R is Y"; ``resolved`` is whom "his" and "her" stand for."""
    low, words = phrases.low, phrases.words
    verb = next((i for i, word in enumerate(low) if word in _IS), 0)
    if not 1 < verb <= 8:
        return None
    said = False
    if low[0] in ("my", "our"):
        entity, begin = OWNER if low[0] == "my" else TEAM, 1
    elif low[0] in ("his", "her", "their"):
        entity, begin, said = resolved, 1, True
    else:
        owner = next((i for i in range(min(4, verb)) if low[i].endswith("'s") and is_name(words[i])), -1)
        if (
            owner < 0
            or not all(is_name(words[i]) for i in range(owner))
            or low[0].removesuffix("'s") in lexicon.NO_NAMES
        ):
            return None
        entity, begin = phrases.text(0, owner + 1)[:-2], owner + 1
    nouns = low[begin:verb]
    if not entity or not nouns or set(nouns) & (lexicon.CUT | lexicon.DEICTIC | (lexicon.PREPOSITIONS - {"of", "in"})):
        return None
    if (
        any(is_name(word) and not word.text.isupper() for word in words[begin + 1 : verb])
        or set(nouns) & lexicon.EVALUATIVE
    ):
        return None  # "my sister Ann is …" is about Ann; "my best idea is …" says nothing lasting
    if entity == TEAM and set(nouns) & (lexicon.KIN | {"home", "house", "family", "wedding", "anniversary"}):
        entity = OWNER
    if verb + 1 < len(low) and low[verb + 1] in ("called", "named"):
        verb += 1
    properties = [word.removesuffix("'s") for word in nouns]
    if properties[-1] == "name" and len(properties) > 1:
        properties = properties[:-1]
    newer = properties[0] in _NEWER and len(properties) > 1 and bool(lexicon.NOMINAL.intersection(properties))
    statement = _equals(
        phrases, entity, "person" if entity == OWNER else "", properties[1:] if newer else properties, verb
    )
    if newer and statement is not None and statement.single_valued is not False:
        statement = replace(statement, single_valued=True, began=True)
    return phrases.about(statement, f"{entity}'s") if statement is not None and said else statement


def _equals(phrases: Phrases, entity: str, entity_type: str, properties: Sequence[str], verb: int) -> Statement | None:
    low = phrases.low
    negated = verb + 1 < len(low) and low[verb + 1] in ("not", "never")
    begin = phrases.skip_adverbs(verb + 1 + negated)
    if begin >= len(low):
        return None
    head = properties[-1]
    value: Value | None
    if low[begin] == "in" and head == "home":
        properties, value = ["lives_in"], phrases.value(begin + 1)
        if value is None or placed("lives_in", value, phrases) != "lives_in":
            return None
    elif low[begin] in ("on", "in", "at") and head in ("birthday", "anniversary", "deadline", "release"):
        value = phrases.value(begin + 1, timed=True)
    elif head in ("address", "residence"):
        value = phrases.address(begin)
    elif phrases.participle(begin):
        if low[verb] in ("was", "were") and low[0] in ("my", "our"):
            return None  # something that happened to it
        properties = [*properties, low[begin], low[begin + 1]]
        value = phrases.value(begin + 2)
    else:
        value = phrases.value(begin)
    if value is None or not _nominal(value.text.split()[0].lower(), value, properties):
        return None
    if head in lexicon.KIN and properties[-1] == head:
        properties = _of_kin(properties, value)
        if not properties:
            return None
        value = replace(value, text=value.text.split()[0]) if properties[-1] == "age" else value
        head = properties[-1]
    plural = low[verb] in ("are", "were") and head.endswith("s") and not head.endswith("ss")
    many = head in _MANY and not {"favorite", "favourite"}.intersection(properties)
    single = False if plural or many else None if head in lexicon.KIN - _SOLE_KIN else True
    past = low[verb] in ("was", "were") and low[0] in ("my", "our")
    polarity = -1 if negated or past else 1
    name = snake(properties)
    return phrases.statement(
        entity, entity_type, lexicon.CANONICAL.get(name, name), value, single=single, polarity=polarity, past=past
    )


def _of_kin(properties: Sequence[str], value: Value) -> Sequence[str]:
    """Return the property that "my R is Y" tells of a relative: the name, the age, what they are; () for a relation."""
    words = value.text.lower().split()
    if any(word.endswith(("'s", "’s")) for word in words):
        return ()  # "my daughter is Mia's best friend"
    if words[0].isdigit():
        return [*properties, "age"] if words[1:2] in ([], ["years"], ["now"]) else ()
    if words[0] in ("a", "an"):
        return [*properties, "occupation" if is_profession(words[-1]) else "is"]
    return properties


def _nominal(first: str, value: Value, properties: Sequence[str]) -> bool:
    """Return whether "is" joins two nouns here, not a noun and how it fares."""
    if first in lexicon.STABLE:
        return properties[-1] in ("diet", "status", "religion")
    if (
        first in lexicon.TRANSIENT
        or first == "worth"
        or first.endswith("ing")
        or set(value.text.lower().split()) & _VAGUE
    ):
        return False
    if value.name or any(sign.isdigit() for sign in value.text):
        return True
    head = properties[-1]
    return head in lexicon.NOMINAL or bool({"favorite", "favourite"} & set(properties)) or first in ("a", "an")


def kind(phrases: Phrases, subject: Subject, place: int, polarity: int, past: bool) -> Statement | None:
    """Read "X is a member of Y", "Y is the capital of X", "X is a nurse"; ``place`` is the article."""
    low = phrases.low
    of = next((i for i in range(place + 2, min(place + 6, len(low))) if low[i] in ("of", "at", "for")), 0)
    nouns = low[place + 1 : of]
    if of and not set(nouns) & (lexicon.CUT | lexicon.PREPOSITIONS):
        value = phrases.value(of + 1)
        if value is None or past or set(nouns) & (lexicon.EVALUATIVE | _VAGUE):
            return None
        if low[place] == "the" and value.name and subject.person != 1 and low[of] == "of":
            swapped = replace(value, text=phrases.text(0, subject.after), name=True)
            return phrases.statement(value.text, "", snake(nouns), swapped, single=True, polarity=polarity)
        if not value.name and (nouns[-1], low[of]) != ("fan", "of"):
            return None
        name = lexicon.CANONICAL.get(f"{nouns[-1]}_{low[of]}", snake([*nouns, low[of]]))
        return phrases.statement(
            subject.entity,
            subject.entity_type,
            name,
            value,
            single=False if name == "likes" else None,
            polarity=polarity,
        )
    value = phrases.value(place)
    if value is None or low[place] == "the" or set(value.text.lower().split()) & (lexicon.EVALUATIVE | _VAGUE):
        return None
    if subject.person == 1 and value.text.lower().split()[-1] in lexicon.DIETS and value.end - place == 2:
        diet = replace(value, text=phrases.words[place + 1].text)
        return phrases.statement(
            subject.entity, subject.entity_type, "diet", diet, single=True, polarity=-1 if past else polarity, past=past
        )
    occupation = _is_occupation(value.text.lower().split()[-1])
    if subject.person == 1 or not subject.sure:
        if not occupation:
            return None
    elif past and subject.entity_type == "person":
        return None
    name = "occupation" if occupation and subject.person == 1 else "is_a"
    now = name == "occupation" and polarity > 0 and not past and "now" in low and is_profession(_head(value))
    return phrases.statement(
        subject.entity,
        subject.entity_type,
        name,
        value,
        single=True if now else None,
        polarity=-1 if past else polarity,
        past=past,
    )


def belonging(phrases: Phrases, subject: Subject, place: int, polarity: int) -> Statement | None:
    """Read "Ann is Tom's sister", "Ann is my sister"."""
    low, words = phrases.low, phrases.words
    if low[place] in ("my", "our"):
        owner, entity_type = OWNER, "person"
    elif low[place].endswith("'s") and is_name(words[place]):
        owner, entity_type = words[place].text[:-2], ""
    else:
        return None
    stop = next((i for i in range(place + 1, min(place + 4, len(low))) if low[i] in lexicon.KIN), -1)
    if stop < 0 or not phrases.done(stop + 1) or set(low[place + 1 : stop]) & lexicon.EVALUATIVE:
        return None
    name = Value(phrases.text(0, subject.after), stop + 1, True, True)
    single = True if low[stop] in _SOLE_KIN else None
    return phrases.statement(
        owner, entity_type, snake(low[place + 1 : stop + 1]), name, single=single, polarity=polarity
    )


def _head(value: Value) -> str:
    return value.text.lower().split()[-1]


_OCCUPATION: Final = re.compile(
    r"(?:\w{3,}(?:er|or|ist|ian|eer|ant)|nurse|doctor|chef|judge|pilot|clerk|nanny|coach|student|intern|ceo|cto|cfo"
    r"|sommelier|barista|dj|vet|paramedic|mechanic|architect|detective|psychologist|economist|freelancer|postdoc|professor)$"
)
_NO_OCCUPATION: Final = frozenset(
    "lover believer member user owner beginner person stranger number matter winner loser sucker reader listener eater"
    " sinner killer letter daughter sister brother mother father parker master monster disaster newcomer giant infant"
    " adventurer helper follower supporter bigger better other former newer dreamer thinker doer outsider insider river"
    " mentor-figure partner constant restaurant instant water paper winter summer corner order offer power"
    " homeowner runner gamer hiker biker cyclist swimmer climber walker riser drinker smoker eater sleeper grandfather"
    " grandmother stepfather stepmother godmother godfather morning-person beginner-level vegetarian senior junior"
    " optimist pessimist perfectionist minimalist feminist christian tourist hobbyist resident citizen patient"
    " survivor visitor subscriber customer collector hoarder traveler traveller foodie supporter player singleton"
    " newcomer fan-letter character leader-type planner worrier procrastinator overthinker starter".split()
)


def _is_occupation(noun: str) -> bool:
    return _OCCUPATION.match(noun) is not None and noun not in _NO_OCCUPATION


_PROFESSIONS: Final = frozenset(
    "nurse doctor teacher engineer developer programmer lawyer attorney chef cook judge pilot clerk nanny coach student"
    " intern ceo cto cfo sommelier barista vet veterinarian paramedic mechanic architect detective psychologist"
    " economist freelancer postdoc professor lecturer manager director consultant accountant analyst designer writer"
    " editor journalist reporter photographer musician painter sculptor actor actress dancer singer baker butcher"
    " carpenter electrician plumber welder builder driver courier firefighter policeman detective soldier sailor"
    " officer farmer gardener florist hairdresser barber tailor waiter waitress bartender cashier receptionist"
    " secretary translator interpreter librarian scientist researcher chemist physicist biologist mathematician"
    " statistician pharmacist dentist surgeon therapist physiotherapist midwife radiologist optician counselor"
    " counsellor recruiter salesman realtor broker banker auditor technician operator administrator contractor"
    " entrepreneur founder principal tutor trainer instructor supervisor foreman guard inspector".split()
)


def is_profession(noun: str) -> bool:
    """Return whether a noun names a trade, so that a new one may take the place of the old."""
    return noun in _PROFESSIONS


def one_at_a_time(noun: str) -> bool:
    """Return whether a new one of what a noun names takes the place of the old: no relative, friend or pet, no plural,
    nothing of which a person has several."""
    plural = noun.endswith("s") and not noun.endswith("ss")
    return not plural and noun not in _MANY and (noun not in lexicon.KIN or is_profession(noun))
