"""How entities are related, by sentence structure: who works for, lives in, owns, made, takes part in, is kin to what.

A relation runs from its holder to what is held: person to employer, owner to thing, what lies somewhere to the place,
participant to event, author to work, member to group; kin and friends from the one whose they are. What is denied,
supposed, wished, asked or hearsay says nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mindmem.core.language.english import PLAIN_STARTS
from mindmem.core.reason.port import Candidate
from mindmem.core.reason.rules.schema.aliases import USER
from mindmem.core.reason.rules.schema.relations_zh import stated as stated_zh
from mindmem.core.reason.rules.sentences import Sentence, is_chinese, split
from mindmem.core.reason.schema_port import Relation
from mindmem.core.records import Message

__all__ = ["KINDS", "relations_of"]

KINDS: Final = (
    "works_for", "location", "participation", "ownership", "family", "social", "authorship", "membership", "founding",
)  # fmt: skip
_READ: Final = 20_000
_UP: Final = "[A-Z\u00c0-\u00d6\u00d8-\u00de\u0106\u010c\u0141\u015a\u0160\u0179\u017b\u017d]"
_PART: Final = rf"{_UP}[\w&+#]*(?:[.'’-](?!s\b)[\w&+#]+)*"
_NAME: Final = rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?{_PART}(?: (?:(?:of|de|van|von|der|del|la|&)(?: the)? )?{_PART}){{0,5}}"
_WHO: Final = rf"(?P<a>{_NAME}|I|[Ww]e)(?:['’](?:m|re|ve|s)(?= ))?"
_AUX: Final = (
    r"(?: (?:am|is|are|was|were|has|have|had|been|just|recently|currently|now|still|also|both|already|finally|proudly"
    r"|really|once|then|actually|happily|soon|later|first|always|often|usually|even|to|got|did)){0,4}"
)
_THE: Final = (
    r"(?:the |our |my |a |an |this year['’]s |last year['’]s |his |her |their |its )?"
    r"(?:annual |local |new |old |small |big )?"
)
_OBJ: Final = rf"{_THE}(?P<b>{_NAME})"
_TITLE: Final = rf"(?:[\"“](?P<q>[^\"”]{{2,80}})[\"”]|{_THE}(?P<b>{_NAME}))"
_NOUN: Final = r"(?:(?!(?:by|from|to|with|and|for|at)\b)\w[\w-]* ){0,4}?"
_WITH: Final = re.compile(rf"(?P<name>{_NAME}|I),? and $")

_KIN: Final = (
    r"(?:(?:older|younger|elder|little|big|twin|half|late|only|eldest|youngest|ex-|step|grand|great-)?[- ]?"
    r"(?:wife|husband|spouse|fianc[eé]e?|girlfriend|boyfriend|partner|sister|brother|siblings?|twin|son|daughter"
    r"|child|mother"
    r"|father|mom|mum|dad|parents?|uncle|aunt|cousin|niece|nephew|grandma|grandpa|mother|father|daughter)"
    r"(?:-in-law)?)"
)
_FRIEND: Final = (
    r"(?:(?:best|close|old|good|childhood|former|new|dear|online|work|college|school|family|ex-)? ?(?:friend|buddy"
    r"|pal|boss"
    r"|manager|supervisor|colleague|coworker|co-worker|teammate|classmate|roommate|flatmate|housemate|neighbou?r|mentor"
    r"|teacher|tutor|coach|student|mentee|doctor|therapist|landlord|landlady|assistant|apprentice|acquaintance))"
)
_ANIMALS: Final = (
    r"(?:cats?|dogs?|pupp(?:y|ies)|kittens?|parrots?|horses?|rabbits?|hamsters?|turtles?|tortoises?|birds?|pony"
    r"|hens?|goats?"
    r"|snakes?|lizards?|ferrets?|poodle|beagle|labrador|retriever|terrier|spaniel|pets?)"
)
_PET: Final = rf"{_ANIMALS},? (?:is (?:named |called )?)?"
_IS: Final = r",?(?: is(?: called| named)?|['’]s name is)?"
_GROUPS: Final = (
    r"(?:Club|Choir|Band|Team|Society|Association|Orchestra|Union|League|Party|Church|Gym|Ensemble|Guild|Council"
    r"|Committee"
    r"|Circle|Collective|Troupe|Quartet|Trio|Academy|Group|Squad|Crew|Network|Order|Fraternity|Sorority|Alliance)"
)
_MADE: Final = (
    r"(?:wrote|writes|written|composed|composes|painted|paints|directed|directs|created|creates|authored|designed"
    r"|designs"
    r"|recorded|filmed|sculpted|invented|published|illustrated|choreographed|coded|developed|produced|penned|built"
    r"|translated|carved|drew)"
)


@dataclass(frozen=True, slots=True)
class _Form:
    """A pattern with the groups ``a`` and ``b`` (or ``q``, a quoted title); ``turned`` runs from b to a. A ``noun``
    takes the relation for granted, whatever the clause around it says: "I might visit my sister Anna"."""

    kind: str
    pattern: re.Pattern[str]
    turned: bool = False
    noun: bool = False


def _form(kind: str, text: str, *, turned: bool = False, noun: bool = False) -> _Form:
    return _Form(kind, re.compile(text), turned, noun)


_FORMS: Final = (
    _form("works_for", rf"{_WHO}{_AUX} work(?:s|ed|ing)? (?:(?:full|part)[- ]time )?(?:as (?:\w[\w-]*"
        rf" ){{1,5}})?(?:at|for) {_OBJ}"),
    _form("works_for", rf"{_WHO}{_AUX} (?:employed|hired|recruited) (?:as (?:\w[\w-]* ){{1,5}})?(?:at|by) {_OBJ}"),
    _form("works_for", rf"{_WHO}{_AUX} (?:got|started|took|landed|accepted|has|have) (?:a|the|my|his|her) {_NOUN}"
                       rf"(?:job|position|role|internship) (?:at|with) {_OBJ}"),
    _form("works_for", rf"{_WHO}{_AUX} (?:is |was |am )?(?:a|an|the) {_NOUN}(?:\w+(?:er|or|ist|ant|eer|ian|ern)"
        rf"|nurse|chef|CEO|CTO"
                       rf"|head|chief) (?:at|for) {_OBJ}"),
    _form("works_for", rf"(?P<b>{_NAME}){_AUX} (?:employs|hired|recruited) {_THE}(?P<a>{_NAME}|me\b)"),
    _form("works_for", rf"{_WHO}{_AUX} (?:intern(?:s|ed|ing)?|interned) (?:at|for|with) {_OBJ}"),
    _form("membership", rf"{_WHO}{_AUX} (?:joined|joins|joining|(?:is |was |am )?part of|signed up (?:to|with)) "
                        rf"{_THE}(?P<b>(?:{_PART} ){{0,4}}{_GROUPS}(?: of {_NAME})?)"),
    _form("membership", rf"{_WHO}{_AUX} (?:an? )?(?:\w+ )?(?:member|secretary|treasurer|chair(?:man|woman|person)?"
        rf"|president|captain) of {_OBJ}"),
    _form("membership", rf"{_WHO}{_AUX} (?:sing(?:s|ing)?|sang|play(?:s|ed|ing)?|serve[sd]?|serving|volunteer(?:s"
        rf"|ed|ing)?) "
                        rf"(?:\w+ )?(?:in|for|with|on) {_THE}(?P<b>(?:{_PART} ){{0,4}}{_GROUPS}(?: of {_NAME})?)"),
    _form("membership", rf"{_WHO}{_AUX} belongs? to {_THE}(?P<b>(?:{_PART} ){{0,4}}{_GROUPS}(?: of {_NAME})?)"),
    _form("works_for", rf"{_WHO}{_AUX} joined {_THE}(?P<b>(?!(?:{_PART} ){{0,4}}{_GROUPS}\b){_NAME})(?= as\b| in"
        rf" (?:19|20)\d\d| last\b|[.,!]|$)"),
    _form("location", rf"{_WHO}{_AUX} (?:liv(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|based|located|situated"
        rf"|headquartered|settled"
                      rf"|stay(?:s|ed|ing)?|grew up|born|rais(?:ed)) (?:\w+ )?(?:in|at|near|on) {_OBJ}"),
    _form("location", rf"{_WHO}{_AUX} (?:moved|relocated|emigrated|immigrated)(?: \w+)?(?: from {_NAME})? to {_OBJ}"),
    _form("location", rf"(?:[Tt]he )?(?P<a>{_NAME}) (?:is|lies|stands|sits|takes place|took place|was held|is held"
        rf"|will be held) "
                      rf"(?:just |right |directly )?(?:in|at|near|on) {_OBJ}"),
    _form("location", rf"(?:[Tt]he )?(?P<a>{_NAME}) is (?:a|an|the) {_NOUN}(?:city|town|village|capital|suburb"
        rf"|district|river|lake"
                      rf"|region|museum|caf[eé]|restaurant|school|company|hospital|park) (?:in|of|near) {_OBJ}"),
    _form("participation", rf"{_WHO}{_AUX} (?:attend(?:s|ed|ing)?|took part in|takes? part in|taking part in"
        rf"|participat(?:e|es|ed|ing) in"
                           rf"|compet(?:e|es|ed|ing) (?:in|at)|perform(?:s|ed|ing)? at|spoke at|presented (?:\w+"
                           rf" ){{0,4}}at"
                           rf"|volunteered at|ran in|raced in|signed up for|entered|organi[sz]ed|hosted|won) {_OBJ}"),
    _form("participation", rf"{_WHO}{_AUX} (?:ran|finished|completed|went to|was at|were at|played (?:at|in)|joined"
        rf"|visited) {_THE}"
                           rf"(?P<b>(?:{_PART} ){{0,4}}(?:Marathon|Festival|Conference|Cup|Olympics|Championships?"
                           rf"|Parade|Summit|Expo"
                           rf"|Fair|Ceremony|Triathlon|Gala|Open|Tournament|Hackathon|Carnival|Workshop|Convention"
                           rf"|Race|Prix|Fest|Con)"
                           rf"(?: of {_NAME})?)"),
    _form("ownership", rf"{_WHO}{_AUX} (?:owns?|owned|bought|purchased|acquired|inherited|adopted|took over) {_NOUN}"
                       rf"(?:named |called )?{_OBJ}"),
    _form("ownership", rf"{_WHO}{_AUX} (?:has|have|got|adopted|bought|owns?|keeps?) {_NOUN}{_ANIMALS},? (?:named"
        rf"|called) (?P<b>{_PART})"),
    _form("ownership", rf"(?P<a>{_NAME})['’]s (?:\w+ ){{0,2}}?{_PET}(?P<b>{_PART})", noun=True),
    _form("ownership", rf"(?P<a>[Mm]y) (?:\w+ ){{0,2}}?{_PET}(?P<b>{_PART})", noun=True),
    _form("ownership", rf"(?:[Tt]he )?(?P<a>{_NAME}){_AUX} (?:belongs? to|owned by|acquired by|bought by)"
        rf" {_OBJ}", turned=True),
    _form("ownership", rf"(?P<b>{_NAME})(?: is|,) (?P<a>{_NAME})['’]s (?:\w+ ){{0,2}}?{_ANIMALS}"),
    _form("ownership", rf"(?P<b>{_NAME})(?: is|,) (?P<a>my) (?:\w+ ){{0,2}}?{_ANIMALS}"),
    _form("family", rf"(?P<a>{_NAME})['’]s {_KIN},?(?: is(?: called| named)?)? (?P<b>{_NAME})", noun=True),
    _form("family", rf"(?P<a>[Mm]y|[Oo]ur) {_KIN}{_IS} (?P<b>{_NAME})", noun=True),
    _form("family", rf"(?P<b>{_NAME})(?: is|,) (?P<a>{_NAME})['’]s {_KIN}"),
    _form("family", rf"(?P<b>{_NAME})(?: is|,) (?P<a>my|our) {_KIN}"),
    _form("family", rf"(?P<b>{_NAME}) is (?:a|the) {_KIN} (?:of|to) (?P<a>{_NAME})"),
    _form("family", rf"{_WHO}{_AUX} (?:married(?: to)?|engaged to|wed|divorced(?: from)?|proposed to) (?P<b>{_NAME})"),
    _form("family", rf"(?P<a>{_NAME}) and (?P<b>{_NAME}){_AUX} (?:married|engaged|siblings|sisters|brothers|twins"
        rf"|cousins|spouses|a couple)"),
    _form("social", rf"(?P<a>{_NAME})['’]s {_FRIEND},?(?: is(?: called| named)?)? (?P<b>{_NAME})", noun=True),
    _form("social", rf"(?P<a>[Mm]y|[Oo]ur) {_FRIEND}{_IS} (?P<b>{_NAME})", noun=True),
    _form("social", rf"(?P<b>{_NAME})(?: is|,) (?P<a>{_NAME})['’]s {_FRIEND}"),
    _form("social", rf"(?P<b>{_NAME})(?: is|,) (?P<a>my|our) {_FRIEND}"),
    _form("social", rf"(?P<b>{_NAME}) is an? {_FRIEND} of (?P<a>{_NAME}|mine)"),
    _form("social", rf"{_WHO}{_AUX} (?:(?:best |good |close )?friends with|met|dat(?:es|ed|ing)|mentor(?:s|ed)"
        rf"|roommates? with"
                    rf"|went to school with|works? with|worked with|befriended|knows?|reports to) (?P<b>{_NAME})"),
    _form("social", rf"(?P<a>{_NAME}) and (?P<b>{_NAME}){_AUX} (?:(?:best|good|close|old|childhood) )?(?:friends"
        rf"|colleagues|coworkers|neighbou?rs"
                    rf"|roommates|classmates|teammates|dating)"),
    _form("authorship", rf"{_WHO}{_AUX} (?:{_MADE}|writing|composing|painting|directing|designing) {_NOUN}"
                        rf"(?:called |titled |named |entitled )?,? ?{_TITLE}"),
    _form("authorship", rf"(?:[\"“](?P<q>[^\"”]{{2,80}})[\"”]|(?P<b>{_NAME})),?(?: (?:is|was|has been|a|an|the"
        rf"|\w+)){{0,3}} {_MADE} by (?P<a>{_NAME}|me\b)"),
    _form("authorship", rf"{_WHO} (?:is|was|am|are) the (?:author|writer|composer|painter|director|creator|designer"
        rf"|inventor) of {_TITLE}"),
    _form("founding", rf"{_WHO}{_AUX} (?:co-?)?(?:founded|started|established|set up) {_NOUN}(?:called |named"
        rf" )?{_OBJ}"),
    _form("founding", rf"(?:[Tt]he )?(?P<a>{_NAME}){_AUX} (?:co-?)?(?:founded|established|started) by"
        rf" {_OBJ}", turned=True),
    _form("founding", rf"{_WHO} (?:is|was|am) (?:a|the) (?:co-?)?founder of {_OBJ}"),
)  # fmt: skip

_BY_PROPERTY: Final = {
    "lives_in": "location", "located_in": "location", "from": "location", "hometown": "location",
    "headquartered_in": "location", "works_at": "works_for", "married_to": "family", "engaged_to": "family",
    "related_to": "family", "member_of": "membership", "belongs_to": "membership",
}  # fmt: skip
"""Properties of the extractor whose value is the other entity."""
_SELVES: Final = frozenset("i we my our me mine".split())
_NO_NAMES: Final = PLAIN_STARTS | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september"
    " october november december christmas easter today yesterday tomorrow everyone everybody someone nobody people"
    " english french spanish german chinese japanese italian congratulations great wow".split()
)
_DENIED: Final = re.compile(
    r"n['’]t\b|\b(?:not|never|no longer|nobody|no one|neither|nor|none|without|denie[sd]|refus\w+|declin\w+|almost"
    r"|nearly|used to"
    r"|failed to|stopped|quit|instead of|rather than|false|untrue|myth|as if|like to|love to|plans? to|planning"
    r"|hop\w+|dream\w*"
    r"|consider\w*|thinking (?:of|about)|going to|wants?|wanted|wish\w*|if|unless|whether|would|could|might|may"
    r"|should|must"
    r"|can|will|imagine|suppos\w+|pretend\w*|maybe|perhaps|probably|possibly|apparently|allegedly|rumou?r\w*|said"
    r"|says|claims?"
    r"|claimed|told|heard|think|thinks|thought|believes?|guess|bet|seems?|novel|movie|dream)\b",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(r"[;:] |, (?:and|but|so|while|because|which|then) | but | because | so | — | – ")
_SUPPOSED: Final = re.compile(
    r"^(?:if|imagine|suppose|what if|in (?:the|my|a|this) (?:novel|story|book|movie|film|game|dream|play|poem))\b"
    r"|\bif\b",
    re.IGNORECASE,
)


def relations_of(messages: Sequence[Message], candidates: Sequence[Candidate]) -> tuple[Relation, ...]:
    """Return the relations that an episode states, each once, with the candidate that says so where there is one."""
    found: dict[tuple[str, str, str], Relation] = {}
    for message in messages:
        if message.role == "user" or (message.role == "assistant" and message.name):
            speaker = message.name or USER
            for sentence in split(message.content, 0, min(len(message.content), _READ)):
                place = _said_by(message, sentence, candidates)
                for source, kind, target in _stated(sentence.text[:1000], speaker):
                    _put(found, source, target, kind, place, candidates)
    for place, candidate in enumerate(candidates):
        kind = _BY_PROPERTY.get(candidate.property_name, "")
        if kind and candidate.value[:1].isupper() and candidate.polarity > 0 and "past" not in candidate.flags:
            _put(found, candidate.entity_name, candidate.value, kind, place, candidates)
    return tuple(found.values())


def _put(
    found: dict[tuple[str, str, str], Relation], source: str, target: str, kind: str, place: int,
    candidates: Sequence[Candidate],
) -> None:  # fmt: skip
    if source.casefold() == target.casefold():
        return
    begin = candidates[place].valid_from or candidates[place].observed_at if place >= 0 else None
    end = candidates[place].valid_to if place >= 0 else None
    found.setdefault((source, target, kind), Relation(source, target, kind, place, begin, end))


def _said_by(message: Message, sentence: Sentence, candidates: Sequence[Candidate]) -> int:
    """Return the place of the narrowest candidate that rests on a sentence, -1 where none does."""
    resting = [
        (source.end - source.start, place)
        for place, candidate in enumerate(candidates)
        for source in candidate.sources
        if source.message_id == message.message_id and source.start < sentence.end and sentence.start < source.end
    ]
    return min(resting)[1] if resting else -1


def _stated(text: str, speaker: str) -> Iterable[tuple[str, str, str]]:
    if text.rstrip(' "”’)').endswith(("?", "？")):
        return
    if is_chinese(text):
        yield from stated_zh(text, speaker)
        return
    if _SUPPOSED.search(text):
        return
    taken: set[tuple[str, str]] = set()
    for form in _FORMS:
        for match in form.pattern.finditer(text):
            one = _named(match["a"], speaker)
            groups = match.groupdict()
            other = groups.get("q") or _named(groups.get("b") or "", speaker)
            if not one or not other or (one, other) in taken:
                continue
            if _doubted(text, match) and not (form.noun and " is" not in match[0]):
                continue
            taken.add((one, other))
            yield (other, form.kind, one) if form.turned else (one, form.kind, other)
            beside = _WITH.search(text[: match.start()]) if match.start("a") == match.start() else None
            also = _named(beside["name"], speaker) if beside else ""
            if also and not form.turned and also != other:
                yield also, form.kind, other


def _named(words: str, speaker: str) -> str:
    """Return the name that words stand for, the empty string where they are none."""
    plain = words.strip().removesuffix(".")
    if plain.casefold() in _SELVES:
        return speaker
    parts = plain.split()
    while len(parts) > 1 and (parts[0].casefold() in _NO_NAMES or parts[0] in ("The", "A", "An", "Today", "And")):
        parts = parts[1:]
    name = " ".join(parts)
    return "" if name.casefold() in _NO_NAMES or (len(name) < 2 and name != "X") else name


def _doubted(text: str, match: re.Match[str]) -> bool:
    """Return whether the clause denies, supposes or reports what it says, up to the end of what matched."""
    begin = 0
    for cut in _CLAUSE.finditer(text, 0, match.start()):
        begin = cut.end()
    said = text[begin : match.end()]
    for name in ("a", "b", "q"):
        part = match.groupdict().get(name)
        if part and len(part) > 2:
            said = said.replace(part, "")
    return _DENIED.search(said) is not None
