"""English clauses whose verb names the property: "X lives in Y", "X speaks Y", "X has two Ys", "X moved to Y"."""

import re
from dataclasses import replace
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.entities import TECHNOLOGY
from mindmem.core.reason.rules.nouns_en import Subject
from mindmem.core.reason.rules.phrases_en import Phrases, Value, snake
from mindmem.core.reason.rules.places_en import manner, placed
from mindmem.core.reason.rules.statements import TEAM, Statement

__all__ = ["active", "have"]

_ARTICLES: Final = frozenset({"the", "our", "my", "a", "an"})
_CHANGES: Final = frozenset({"moved", "switched", "migrated", "changed", "relocated"})
_COUNTS: Final = frozenset("one two three four five six seven eight nine ten eleven twelve several".split())
_NAMED_ONLY: Final = frozenset({"joins", "moves_to", "marries", "founds", "graduates_from", "switches_to"})
_WIDE: Final = frozenset("like love hate enjoy prefer dislike adore stand detest loathe".split())
_PEOPLE: Final = _WIDE | frozenset("live work study play speak own teach move join marry graduate drive".split())
_TELLING: Final = lexicon.CREATION | frozenset("wrote founded built won led bought made".split())
_TOOLS: Final = TECHNOLOGY | frozenset(
    "slack notion teams zoom discord trello asana jira spotify linear obsidian".split()
)
"""Where nobody lives, though one may move there."""
_REPEATING: Final = re.compile(r"^(?:re|over|under|mis|out)(?=\w{3})")
_LY_VERBS: Final = frozenset("apply reply supply rely fly multiply comply imply ally bully rally".split())
_CLUBS: Final = frozenset(
    "club gym fitness group society church choir band class course league community association server party army"
    " forum orchestra school university academy network club's team crew program programme".split()
)
_IRREGULAR: Final = {
    "children": "child", "puppies": "puppy", "wives": "wife", "allergies": "allergy", "companies": "company",
}  # fmt: skip


def active(
    phrases: Phrases, subject: Subject, place: int, polarity: int, *, base: str = "", used_to: bool = False
) -> Statement | None:
    """Read the verb at ``place`` and its object; ``base`` is its base form where the caller knows it."""
    low = phrases.low
    word = low[place]
    given, began = base, False
    if word in _CHANGES and "from" in low[place:] and polarity > 0:
        return _change(phrases, subject, place)
    if not base:
        base, place, began = _base(phrases, subject, place, plain=used_to or polarity < 0)
    if base in ("have", "own"):
        return have(phrases, subject, place + 1, polarity, past=used_to)
    if not base:
        return _past_event(phrases, subject, place)
    if not _lasting(base, given=bool(given), began=began, first=subject.person == 1, word=word):
        return None
    begin, name = place + 1, lexicon.third_person(base)
    if begin < len(low) and low[begin] in lexicon.PREPOSITIONS and not (base in _WIDE and low[begin] == "to"):
        name, begin = f"{name}_{low[begin]}", begin + 1
    value = phrases.value(begin, wide=base in _WIDE)
    if value is None or (name in _NAMED_ONLY and not value.text[0].isupper()):
        return None
    if name.endswith("_to") and not (value.text[0].isupper() or low[begin] in _ARTICLES):
        return None  # "aims to win": another verb
    if base == "live" and name not in ("lives_in", "lives_at", "lives_with", "lives_near"):
        return None  # "living the dream", "I live for the weekend"
    if name == "works" or (name == "works_in" and manner(value)):
        return None  # "I work part-time at …", "I work in a hurry"
    if lexicon.CANONICAL.get(name, name) in lexicon.PLACED:
        name = placed(lexicon.CANONICAL.get(name, name), value, phrases)
        if not name:
            return None
    if not subject.sure and base not in _PEOPLE and (not value.name or low[place + 1] in ("of", "for")):
        return None
    if (
        subject.person == 3
        and not subject.said
        and base not in _PEOPLE
        and begin == place + 1
        and _bare(low, begin, value)
    ):
        return None  # "ACH systems enable banks": a plural rather than a verb
    if base in _WIDE and low[begin : begin + 2] in (["the", "way"], ["the", "fact"], ["the", "look"], ["the", "part"]):
        return None
    if (
        base not in _WIDE
        and low[begin].endswith(("ly", "ed", "ing") if begin == place + 1 else "ing")
        and not value.name
    ):
        return None
    if name == "switches_to" and subject.entity_type == "group":
        name = "uses"
    if name == "uses" and value.end < len(low) and low[value.end] in ("for", "as"):
        purpose = phrases.value(value.end + 1)
        if purpose is not None:
            name = snake(["uses", low[value.end], *purpose.text.split()])
            value = replace(value, whole=purpose.whole)
    single = _single(name, phrases.clause.correction or word == "switched")
    if name == "works_as" and not value.whole:
        single = None  # "as a tutor on weekends": beside another trade
    name = "likes" if base == "stand" else lexicon.CANONICAL.get(name, name)
    if word == "joined" and (low[0] == "we" or "and" in value.text.split() or _to_eat(low, value)):
        return None  # company at a table rather than a firm
    if name == "lives_in" and word == "moved" and value.text.lower() in _TOOLS:
        return None
    if word == "joined" and set(value.text.lower().split()) & _CLUBS:
        name, single = "member_of", None
    if name == "address" and not any(sign.isdigit() for sign in value.text):
        return None
    disliked = base in lexicon.DISLIKES
    agrees = -1 if word != base or began or used_to or "did" in low[:place] or "do" in low[:place] else place
    if subject.person != 1 or base == "stand":
        agrees = -1
    return phrases.statement(
        subject.entity, subject.entity_type, name, value, single=single if single is not None else _single(name, False),
        polarity=-polarity if disliked else polarity, past=used_to, began=began, verb=agrees,
    )  # fmt: skip


def _bare(low: list[str], begin: int, value: Value) -> bool:
    """Return whether an object of several words has neither article, number nor name."""
    return value.end - begin > 1 and not value.name and low[begin] not in _ARTICLES and not low[begin][0].isdigit()


def _to_eat(low: list[str], value: Value) -> bool:
    """Return whether what follows says for what or where somebody was joined, not since when."""
    return value.end < len(low) and low[value.end] in ("for", "at", "on", "in") and not value.whole


def _change(phrases: Phrases, subject: Subject, place: int) -> Statement | None:
    """Read "moved from A to B", "switched from A to B for P": what holds from then on."""
    low = phrases.low
    to = next((i for i in range(low.index("from", place) + 2, len(low)) if low[i] == "to"), 0)
    value = phrases.value(to + 1) if to and to - place <= 6 else None
    if value is None or not value.name:
        return None
    if low[place + 1] == "from" and low[place] in ("moved", "relocated"):
        name = "uses" if subject.entity_type == "group" else "lives_in"
    elif low[place + 1] == "from":
        name = "uses"
        if value.end < len(low) and low[value.end] == "for" and (purpose := phrases.value(value.end + 1)) is not None:
            name, value = snake(["uses", "for", *purpose.text.split()]), replace(value, whole=purpose.whole)
    else:
        name = snake(
            ["uses", "for", *(word for word in low[place + 1 : low.index("from", place)] if word not in _ARTICLES)]
        )
    statement = phrases.statement(subject.entity, subject.entity_type, name, value, single=True, began=True)
    return replace(statement, correction=True)


def _base(phrases: Phrases, subject: Subject, place: int, *, plain: bool) -> tuple[str, int, bool]:
    """Return the base form of the verb, its place, and whether it tells how a state began."""
    low = phrases.low
    word, after = low[place], low[place + 1] if place + 1 < len(low) else ""
    if word in ("got", "get") and after == "married":
        return "marry", place + 1, True
    if word == "started" and after in ("working", "living", "studying", "learning"):
        return lexicon.PROGRESSIVE[after], place + 1, True
    if word in lexicon.PAST_STATE and (subject.person == 1 or word in ("moved", "joined", "married", "founded")):
        return lexicon.PAST_STATE[word], place, True
    if subject.person == 1 or plain or (subject.said and not word.endswith("s")):
        return word, place, False
    if word.endswith("s") and not word.endswith(("ss", "'s")):
        return lexicon.base_form(word), place, False
    return "", place, False


def _lasting(base: str, *, given: bool, began: bool, first: bool, word: str) -> bool:
    """Return whether the verb tells of what lasts rather than of the moment or of a story."""
    if word in lexicon.PREPOSITIONS or (first and word.endswith("s") and not word.endswith(("ss", "us"))):
        return False
    if not base.isalpha() or base in lexicon.DEICTIC | lexicon.CUT | lexicon.PREPOSITIONS | lexicon.TRANSIENT - {"set"}:
        return False
    if given or began:
        return True
    if base.endswith("ly") and base not in _LY_VERBS:
        return False
    if base in lexicon.MENTAL or _REPEATING.sub("", word) in lexicon.IRREGULAR_PAST:
        return False
    return not (word.endswith("ed") and base == word) and not word.endswith("ing") and (not first or len(base) > 1)


def _past_event(phrases: Phrases, subject: Subject, place: int) -> Statement | None:
    """Read "X founded Y" where both are named."""
    word = phrases.low[place]
    tells = (word.endswith("ed") and len(word) > 4) or word in _TELLING
    if (
        not tells
        or not subject.sure
        or subject.said
        or subject.entity_type == "person"
        or not phrases.name_at(place + 1)
    ):
        return None
    value = phrases.value(place + 1)
    if value is None or not value.name:
        return None
    return phrases.statement(subject.entity, subject.entity_type, word, value)


def have(phrases: Phrases, subject: Subject, place: int, polarity: int, *, past: bool = False) -> Statement | None:
    """Read what somebody has lastingly: people, animals, things that are owned; ``place`` is the word after "have"."""
    low = phrases.low
    if place < len(low) and low[place] in ("got", "no"):
        polarity = -1 if low[place] == "no" else polarity
        place += 1
    value = phrases.value(place)
    if value is None:
        return None
    nouns = value.text.lower().split()
    if nouns[-3:-1] == ["of", "a"]:
        return None  # "a dog of a day"
    stop = next((i for i, word in enumerate(nouns) if word == "of"), len(nouns))
    head = nouns[stop - 1] if stop else ""
    if head not in lexicon.CONCRETE:
        return None
    after = low[value.end : value.end + 2]
    if after[:1] == ["to"] or (
        after[:1] in (["in"], ["on"]) and after[1:] in (["the"], ["my"], ["this"], ["that"], ["mind"])
    ):
        return None  # "bigger fish to fry", "a cat in the bag"
    if value.end < len(low) and low[value.end] in ("named", "called"):
        called = phrases.value(value.end + 1)
        if called is not None:
            value = replace(called, text=f"{value.text} {low[value.end]} {called.text}")
    counted = nouns[0].isdigit() or nouns[0] in _COUNTS
    agrees = place - 1 if subject.person == 1 and low[place - 1] == "have" and place > 2 else -1
    return phrases.statement(
        subject.entity,
        subject.entity_type,
        f"has_{_singular(head)}",
        value,
        single=None if counted else False,
        polarity=polarity,
        past=past,
        verb=agrees,
    )


def _single(name: str, correction: bool) -> bool | None:
    if name.startswith("uses_"):
        return True if correction else None
    if name in lexicon.SINGLE_VERBS or name == "married_to":
        return True
    return False if name.split("_")[0] in lexicon.MANY_VERBS else None


def _singular(noun: str) -> str:
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) else noun


def is_team(low: list[str]) -> bool:
    """Return whether "we" is a group at work, by the verb that follows."""
    return any(word in lexicon.TEAM_VERBS or word in ("switched", "migrated") for word in low[1:4])


TEAM_SUBJECT: Final = Subject(TEAM, "group", 1, person=1)
