"""English clauses that tell of a change: "I started a new job at X", "I turned 35", "the deadline moved to Monday".

They name a property by what happened, not by a verb of its own; what holds since then replaces what held before.
"""

import re
from dataclasses import replace
from typing import Final

from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.nouns_en import Subject, is_profession
from mindmem.core.reason.rules.phrases_en import Phrases, Value, snake
from mindmem.core.reason.rules.statements import OWNER, TEAM, Statement

__all__ = ["alike", "began", "corrected", "now_at", "property_changed", "rebound", "restated", "scheduled"]

_OF_WORK: Final = re.compile(
    r"\b(?:jobs?|work(?:s|ed|ing)?|company|quit|resigned|employer|hired|career|role)\b", re.IGNORECASE
)
_BETWEEN: Final = frozenset("has have was is been just recently now 've".split())
_ORDINAL: Final = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
_CLOCK: Final = re.compile(r"\d{1,2}(?::\d\d)?(?:am|pm)|\d{1,2}:\d\d|noon|midnight")
_GET: Final = frozenset("started start begun began got gotten landed accepted took taken found secured".split())
_POST: Final = frozenset("job position role gig post internship".split())
_BEFORE_POST: Final = frozenset("a an the my new another full-time part-time permanent first second next".split())
_SCHOOL: Final = frozenset("university college school academy institute".split())
_UNPAID: Final = frozenset("volunteer volunteering church choir play film theatre theater".split())
_APPOINTMENTS: Final = frozenset(
    "deadline meeting launch release exam appointment interview wedding party flight demo review standup conference"
    " webinar presentation hearing surgery delivery trial match game concert lesson audit kickoff retro call".split()
)
_MOVES: Final = frozenset(
    "moved pushed postponed rescheduled shifted changed delayed brought slipped bumped extended".split()
)
_ON: Final = frozenset("on at in for".split())
_NAME: Final = r"[A-Z][\w&.'-]*(?: (?:of |de |van |the )?[A-Z0-9][\w&.'-]*){0,3}"
_PHRASE: Final = r"[\w&.'$€£%+#-]+(?: [\w&.'$€£%+#-]+){0,3}?"
_CORRECTED: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:[\w' ]{{1,20}}[,:.—–-] *)?(?:i meant(?: to say)?|i mean|make that"
        rf"|(?:it|that)(?:'s|’s| is| was| should be)"
        rf"|(?:it|that) should have been) (?P<new>{_PHRASE}),? (?:and )?not (?P<old>{_PHRASE})[.!]*",
        rf"(?:[\w' ]{{1,20}}[,:.—–-] *)?(?:(?:it|that)(?:'s|’s| is| was) )?not (?P<old>{_PHRASE})(?:,? but|[,;—–-] *"
        rf"(?:i meant|it(?:'s|’s| is))) (?P<new>{_PHRASE})[.!]*",
        rf"(?-i:[Ii](?: (?:just|recently|finally))?(?: left| quit) (?P<old>{_NAME})"
        rf"(?: for| and (?:joined|moved to|went to)) (?P<new>{_NAME}))[.!]*",
    )
)


_RESTATED: Final = re.compile(
    r"(?:(?:sorry|oops|no|wait|actually|correction|my mistake|my bad|i mean|i meant)[,:.!—–-]* +)+"
    r"the (?P<nouns>[a-z]+(?: [a-z]+){0,2}) (?:is|was|should be) (?P<value>[^\s,;]*\d[^\s,;]*(?: [\w%€$£]+)?)[.!]*",
    re.IGNORECASE,
)


_REBOUND: Final = re.compile(
    r"(?:(?:sorry|oops|no|wait|actually|correction|my mistake|my bad|i mean|i meant)(?:[,:.!—–-]* +|, *))+"
    r"(?:(?:it|that)(?:['’]s| is| was| should be)|make (?:it|that)) (?P<value>[^,;?]+)",
    re.IGNORECASE,
)
_FORMS: Final = (re.compile(r"\+?(?:[ ().-]*\d){6,15}"), re.compile(r"[^\s@]+@[^\s@]+\.\w+"))
"""Numbers to dial, and addresses of mail."""


def corrected(sentence: str) -> tuple[str, str]:
    """Return the new and the old value of a sentence that names both and no property; two empty strings otherwise.

    >>> corrected("Sorry, I meant Ghent, not Bonn."), corrected("I left Acme for Globex.")
    (('Ghent', 'Bonn'), ('Globex', 'Acme'))
    """
    for pattern in _CORRECTED:
        match = pattern.fullmatch(sentence.strip())
        if match is not None and match["new"][0].isupper() == match["old"][0].isupper():
            return match["new"].rstrip("."), match["old"].rstrip(".")
    return "", ""


def restated(sentence: str) -> tuple[str, str]:
    """Return the property and the new value of a correction of what "the" names; two empty strings otherwise.

    >>> restated("Sorry, the flight is LH1243."), restated("The flight is LH1243.")
    (('flight', 'LH1243'), ('', ''))
    """
    match = _RESTATED.fullmatch(sentence.strip())
    if match is None:
        return "", ""
    name = snake(match["nouns"].split())
    return lexicon.CANONICAL.get(name, name), match["value"].rstrip(".")


def rebound(sentence: str) -> str:
    """Return the number or address that a correction gives and names no property for; the empty string otherwise.

    >>> rebound("No wait, it's 555-0177."), rebound("It's 555-0177."), rebound("No, it's 5.")
    ('555-0177', '', '')
    """
    match = _REBOUND.fullmatch(sentence.strip())
    value = match["value"].rstrip(".!") if match else ""
    return value if any(form.fullmatch(value) for form in _FORMS) else ""


def alike(one: str, other: str) -> bool:
    """Return whether two values are of one form: both like a telephone number, or both like an address of mail.

    >>> alike("555-0177", "+1 555 0199"), alike("555-0177", "Oslo")
    (True, False)
    """
    return any(form.fullmatch(one) and form.fullmatch(other) for form in _FORMS)


def began(phrases: Phrases, subject: Subject, place: int) -> Statement | None:
    """Read at the verb: "started a new job at X", "turned 35", "became a nurse", "got hired by X"."""
    low = phrases.low
    word = low[place]
    if subject.entity_type == "group":
        return None
    if word == "turned" and (subject.person == 1 or subject.sure) and place + 1 < len(low):
        years = low[place + 1]
        end = place + (4 if low[place + 2 : place + 4] == ["years", "old"] else 2)
        if not years.isdigit() or not 0 < int(years[:4]) < 130 or not phrases.done(end):
            return None
        value = Value(phrases.words[place + 1].text, end, True, True)
        return _new(phrases, subject, "age", value)
    if (
        word in ("had", "celebrated")
        and low[place + 1 : place + 2] == ["my"]
        and low[place + 3 : place + 4] == ["birthday"]
    ):
        born = _ORDINAL.fullmatch(low[place + 2])
        whole = phrases.done(place + 4)
        return _new(phrases, subject, "age", Value(born[1], place + 4, whole, True)) if born else None
    if word == "became" and low[place + 1 : place + 2] in (["a"], ["an"]):
        trade = phrases.value(place + 1)
        if trade is None or not is_profession(trade.text.lower().split()[-1]):
            return None
        return _new(phrases, subject, "occupation", trade)
    if word == "got" and low[place + 1 : place + 2] in (["hired"], ["recruited"]):
        word, place = "hired", place + 1
    if word in ("hired", "recruited") and low[place + 1 : place + 2] in (["by"], ["at"]):
        return _employer(phrases, subject, place + 2)
    if word not in _GET and not (word in ("moved", "transitioned") and "new" in low[place:]):
        return None
    if word in ("started", "began") and low[place + 1 : place + 2] == ["at"]:
        return _employer(phrases, subject, place + 2)
    post = place + 1
    while post < len(low) and word not in _GET and low[post] in ("on", "to", "into", "over"):
        post += 1
    while post < len(low) and low[post] in _BEFORE_POST:
        post += 1
    while post < len(low) and post - place < 7 and low[post] not in _POST and low[post].isalpha():
        if low[post] in lexicon.PREPOSITIONS | lexicon.CUT:
            return None
        post += 1
    if post == place + 1 or post + 2 >= len(low) or low[post] not in _POST:
        return None
    at = post + 1
    if low[at] == "as":
        at = next((i for i in range(at, min(at + 6, len(low))) if low[i] in ("at", "with")), at)
    return _employer(phrases, subject, at + 1) if low[at] in ("at", "with") else None


def now_at(phrases: Phrases, subject: Subject, place: int) -> Statement | None:
    """Read "I'm now at X", "I'm now with X", where ``place`` is the preposition; whereabouts begin otherwise."""
    low = phrases.low
    if low[place] not in ("at", "with") or not phrases.name_at(place + 1):
        return None
    if low[place - 1] != "now" and not ("now" in low[place:] and _OF_WORK.search(phrases.beside())):
        return None
    statement = _employer(phrases, subject, place + 1)
    return statement if statement is not None and statement.whole and place + 4 >= len(low) else None


def property_changed(phrases: Phrases) -> Statement | None:
    """Read "my R changed to Y", "I changed my R to Y", where R is what has one value."""
    low = phrases.low
    own = next((i for i, word in enumerate(low[:4]) if word == "my"), -1)
    changed = next((i for i, word in enumerate(low[:9]) if word in ("changed", "updated", "switched")), -1)
    to = next((i for i in range(max(own, changed) + 1, min(len(low), 10)) if low[i] == "to"), -1)
    if own < 0 or changed < 0 or to < 0 or low[0] not in ("my", "i"):
        return None
    nouns = low[own + 1 : changed] if own < changed else low[own + 1 : to]
    nouns = [word for word in nouns if word not in _BETWEEN]
    if not nouns or nouns[-1] not in lexicon.NOMINAL or set(nouns) & (lexicon.CUT | lexicon.PREPOSITIONS):
        return None
    value = phrases.value(to + 1)
    if value is None or not (own < changed or changed < own <= changed + 1):
        return None
    name = snake(nouns)
    return phrases.statement(OWNER, "person", lexicon.CANONICAL.get(name, name), value, single=True, began=True)


def scheduled(phrases: Phrases) -> Statement | None:
    """Read "the deadline is Friday", "my flight moved to Monday": what is appointed, and for when."""
    low = phrases.low
    verb = next((i for i, word in enumerate(low[:8]) if word in ("is", "was", "has", "got") or word in _MOVES), 0)
    if verb < 2 or low[0] not in ("the", "my", "our") or low[verb - 1] not in _APPOINTMENTS:
        return None
    if not all(word.isalpha() and word not in lexicon.EVALUATIVE | lexicon.CUT for word in low[1:verb]):
        return None
    place, moved = verb, False
    while place < len(low) and low[place] in ("is", "was", "has", "been", "got", "now", "just", "already", *_MOVES):
        moved = moved or low[place] in _MOVES or (low[place] == "now" and low[verb] == "is")
        place += 1
    if low[verb] == "was" and not moved:
        return None
    if any(word in _MOVES for word in low[verb:place]):
        while place < len(low) and low[place] in ("back", "forward", "up", "from", "out"):
            place += 1
        to = next((i for i in range(place, min(place + 5, len(low))) if low[i] in ("to", "until", "till")), -1)
        if to < 0:
            return None
        place = to + 1
    elif low[place : place + 1] and low[place] in _ON and not phrases.in_time(phrases.words[place]):
        place += 1
    if place >= len(low):
        return None
    clock = _CLOCK.fullmatch(low[place]) is not None
    if not clock and not phrases.in_time(phrases.words[place]):
        return None
    value = phrases.rest(place) if clock and place + 1 == len(low) else phrases.value(place, timed=True)
    if value is None:
        return None
    nouns = "_".join(low[1:verb])
    owner = {"my": OWNER, "our": TEAM}.get(low[0], phrases.text(1, verb))
    kind = {"my": "person", "our": "group"}.get(low[0], "event")
    name = nouns if low[0] in ("my", "our") else "date"
    statement = phrases.statement(owner, kind, name, value, single=True if moved else None)
    return replace(statement, correction=moved or statement.correction, scheduled=True)


def _employer(phrases: Phrases, subject: Subject, place: int) -> Statement | None:
    value = phrases.value(place)
    if value is None or not phrases.name_at(place) or set(value.text.lower().split()) & _SCHOOL:
        return None
    if _UNPAID.intersection(phrases.low) or " and " in value.text:
        return None
    return _new(phrases, subject, "works_at", value)


def _new(phrases: Phrases, subject: Subject, name: str, value: Value) -> Statement:
    statement = phrases.statement(subject.entity, subject.entity_type, name, value, single=True, began=True)
    # An age is no state that a date begins; the day named beside it is the birthday.
    return replace(statement, began=False) if name == "age" else statement
