"""What kind of thing a name denotes, where the words around it say so: only evidence strong enough to tell two bearers
of one name apart."""

import re
from dataclasses import replace
from typing import Final

from mindmem.core.reason.port import Mention
from mindmem.core.reason.rules.entities import TECHNOLOGY, entity_type
from mindmem.core.schema.names import abbreviation, is_given, name_key

__all__ = ["kind_of", "placed", "retyped"]

_READ: Final = 20_000
_KIN: Final = (
    "wife husband spouse fiance fiancee girlfriend boyfriend sister brother son daughter mother father mom mum dad"
    " uncle"
    " aunt cousin niece nephew grandma grandpa grandmother grandfather granddaughter grandson sibling twin kid child"
    " friend buddy boss manager supervisor colleague coworker co-worker roommate flatmate housemate neighbor neighbour"
    " teacher tutor coach mentor doctor dentist therapist classmate teammate mother-in-law father-in-law"
    " sister-in-law brother-in-law stepmother stepfather stepsister stepbrother goddaughter godson partner"
).split()
_ANIMAL: Final = (
    "cat dog puppy kitten parrot horse rabbit hamster turtle tortoise bird pony hen goat cow pig snake lizard fish"
    " guinea-pig ferret poodle beagle labrador retriever terrier spaniel"
).split()
_SAYS: Final = (
    r"(?:said|says|told|tells|thinks|thought|called|texted|asked|wrote|married|wants|wanted|loves|likes|hates|moved"
    r"|lives"
    r"|studies|turned|laughed|cried|smiled|hugged|got (?:married|engaged|divorced|promoted|a)|is (?:my|his|her|our"
    r"|your)"
    r"|was (?:my|his|her|our)|and I|just had|has (?:been|a) (?:sister|brother|daughter|son|baby)"
    r"|(?:is|was) (?:pregnant|engaged|married|single|divorced))\b"
)
_GOES: Final = (
    r"\b(?:(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|fl(?:y|ew|own|ying|ies)|travel\w*|trips?|tours?|drove|driv\w+|went"
    r"|go(?:es|ing)?|holidays?|vacation\w*|arriv\w*|born|grew up|grow\w* up|stay\w*|settl\w*|return\w*|emigrat\w*"
    r"|immigrat\w*|relocat\w*|head(?:ed|ing)|flights?|tickets?|summer|winter|weekend|honeymoon|based|located|landed"
    r"|capital|city|town|village|country|province|island|streets|north|south|east|west|coast|border|population)"
    r" (?:(?!by\b|with\b)\w+ ){0,3}?(?:in|to|from|of|through|across|around|near|outside)"
    r"|visit(?:s|ed|ing)?|toured|explor(?:e|ed|ing)|left for|reached) (?:the )?$"
)
_IN: Final = re.compile(r"(?:^|[\s(])(?P<word>\S+ )?[Ii]n $")
_NO_PLACE_BEFORE: Final = re.compile(
    r"(?:written|coded|coding|programmed|program\w*|implement\w*|develop\w*|interest\w*|confid\w+|believ\w*"
    r"|trust\w*|faith"
    r"|disappoint\w*|proficient|fluent|experience|version|invest\w*|shares|role|job|people|someone|songs?|lines?) $",
    re.IGNORECASE,
)
_PLACE_AFTER: Final = re.compile(r",? (?:the|a) (?:city|town|country|village|island|capital|state|province|region)\b")
_LIES: Final = r"(?:planet|moon|star|galaxy|constellation|river|lake|mountain|volcano|desert|ocean|island|peninsula)"
_PLACE_BEFORE: Final = re.compile(rf"\b(?:the|dwarf|planet) {_LIES} $|\b(?:planet|mount|lake) $", re.IGNORECASE)
_PLACE_IS: Final = re.compile(rf",? (?:is|was|the|a)(?: (?:the|a|an|one of))?(?: [\w-]+){{0,3}}? {_LIES}s?\b")
_WORKS: Final = re.compile(
    r"\b(?:work(?:s|ed|ing)? (?:at|for)|employed (?:at|by)|hired by|job (?:at|with)|intern\w* (?:at|for)|CEO of"
    r"|founder of"
    r"|founded|company|firm|startup|shares (?:of|in)|stock (?:of|in)|employees (?:of|at)|offer from|interview (?:at"
    r"|with)"
    r"|acquired(?: by)?|director of|manager at|engineer at|headquarters of|band|the organi[sz]ation) (?:the )?$",
    re.IGNORECASE,
)
_TRADES: Final = re.compile(
    r" (?:hired|released|announced|launched|acquired|employs|laid off|went public|sells|shares|stock|headquarters"
    r"|employees"
    r"|CEO|is (?:a|an) (?:company|firm|startup|bank|band|charity|non-?profit|organi[sz]ation|school|university))\b"
)
_PERSON_BEFORE: Final = re.compile(
    rf"\b(?:{'|'.join(_KIN)})s?,? (?:is |named |called |also called |is called )?$"
    r"|\b(?:met|married|dating|dated|hugged|phoned|texted|emailed|introduced me to|meet|meeting up with"
    r"|birthday (?:party )?(?:of|for)|talk(?:ed|ing|s)? (?:to|with)|spoke (?:to|with)|lunch with|dinner with|coffee"
    r" with"
    r"|a (?:man|woman|boy|girl|guy) (?:named|called)) $",
    re.IGNORECASE,
)
_PERSON_AFTER: Final = re.compile(
    rf"(?:['’]s (?:wife|husband|birthday|mother|father|mom|dad|sister|brother|son|daughter|wedding|boss|friend)\b"
    rf"|,? (?:who|whom) |,? {_SAYS}|, (?:my|his|her|our) (?:\w+ )?(?:{'|'.join(_KIN)})\b"
    rf"|,? (?:is|was) (?:\w+['’]s|a|the|an old|a close|a good) (?:{'|'.join(_KIN)})\b)"
)
_PRONOUN_AFTER: Final = re.compile(r"[^.!?\"“”]{1,80}?\b(?:she|he|her|his|him|herself|himself)\b")
_STARTS: Final = re.compile(r"(?:^|[.!?\n]\s*|\b(?:and|but|so|when|because|that|if)\s)$")
_LIVES: Final = re.compile(
    r"['’]?s? (?:lives|lived|studied|studies|graduated|sings|sang|cooks|cooked|teaches|taught|retired|was born"
    r"|phoned|came over"
    r"|sat|smiled|walked|drove|ate|drank|slept|dreams|feels|felt|knits|paints|jogs|swims|got|turned \d|is \d+|knows"
    r" how|prefers"
    r"|enjoys|enjoyed|misses|missed|promised|apologi[sz]ed|remembers|forgot|is pregnant|is allergic|is vegan|is"
    r" vegetarian)\b"
)
_ANIMAL_BEFORE: Final = re.compile(
    rf"\b(?:{'|'.join(_ANIMAL)})s?,? (?:is |is named |is called |named |called )?$", re.IGNORECASE
)
_ANIMAL_AFTER: Final = re.compile(
    rf",? (?:is|was|the|my|our|his|her)(?: (?:my|our|his|her|a|an|the))?(?: \w+)? (?:{'|'.join(_ANIMAL)})\b"
)
_WORK_BEFORE: Final = re.compile(
    r"\b(?:book|novel|film|movie|song|album|painting|poem|play|opera|musical|series|show|game|memoir|symphony)s?,?"
    r" (?:is |called |titled |named )?[\"“‘']?$",
    re.IGNORECASE,
)
_GOES_TO: Final = re.compile(_GOES, re.IGNORECASE)
_OPENING: Final = re.compile(r"(?:^|[.!?\n]\s+)(?P<name>[A-Z][a-z]+)(?=(?:['’]s)? [a-z])")
"""A lone word that begins a sentence: a name only if it is a given name that is no word as well."""
_REGION: Final = re.compile(r",\s(?P<region>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,2}|(?:[A-Z]\.){2,3})(?=$|[\s,.;!?])")
_SHAPED: Final = frozenset({"organization", "event", "place", "technology"})


def kind_of(name: str, text: str, speakers: frozenset[str] = frozenset()) -> str:
    """Return the type of what a name denotes in a text; ``thing`` where nothing tells for sure.

    >>> kind_of("Jordan", "My friend Jordan called."), kind_of("Jordan", "We travelled to Jordan."), kind_of("X", "X!")
    ('person', 'place', 'thing')
    """
    if name.casefold() in speakers:
        return "person"
    for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text[:_READ]):
        found = _told(name, text[max(0, match.start() - 80) : match.start()], text[match.end() : match.end() + 60])
        if found:
            return found
    shape = entity_type(name)
    if shape == "technology" and " " in name:  # "Spring Fair": the last word tells
        last = entity_type(name.split()[-1])
        shape = last if last in _SHAPED else shape
    if shape in _SHAPED or shape == "person":
        return shape
    return "person" if is_given(name) else "thing"


def _told(name: str, before: str, after: str) -> str:
    # Letters that stand for a longer name move, call and hire as people do.
    technical = name.casefold() in TECHNOLOGY or len(abbreviation(name)) > 2
    if _ANIMAL_BEFORE.search(before) or _ANIMAL_AFTER.match(after):
        return "animal"
    if _PERSON_BEFORE.search(before) or _PERSON_AFTER.match(after):
        return "" if technical else "person"
    if _WORK_BEFORE.search(before):
        return "work"
    if _WORKS.search(before) or _TRADES.match(after):
        return "organization"
    if _PLACE_BEFORE.search(before) or _PLACE_IS.match(after):
        return "place"
    if (_GOES_TO.search(before) and not after.startswith(("'s", "’s"))) or _PLACE_AFTER.match(after):
        return "place"
    if not technical and (_LIVES.match(after) or (_STARTS.search(before) and _PRONOUN_AFTER.match(after))):
        return "person"
    inside = _IN.search(before)
    if inside and not technical and not _NO_PLACE_BEFORE.search(before.removesuffix("in ").removesuffix("In ")):
        return "place"
    return ""


def placed(name: str, text: str) -> str:
    """Return a place's name with the region that follows it, which tells it from others of its name.

    >>> placed("Springfield", "He was born in Springfield, Ohio.")
    'Springfield, Ohio'
    """
    start = text.find(name)
    region = _REGION.match(text, start + len(name)) if start >= 0 else None
    listed = region is not None and re.match(r",? (?:and|or)\b|, [A-Z]", text[region.end() :]) is not None
    return f"{name}, {region['region']}" if region is not None and not listed else name


def retyped(mentions: tuple[Mention, ...], text: str, speakers: frozenset[str]) -> tuple[Mention, ...]:
    """Return the mentions with types that the text bears out, and places with the region named after them."""
    made = []
    regions: set[str] = set()
    for mention in mentions:
        if mention.name in regions:
            continue
        kind = kind_of(mention.name, text, speakers)
        if kind == "thing" and mention.entity_type in ("work", "product"):
            kind = mention.entity_type
        if kind == "thing" and not text.isascii() and mention.entity_type in ("person", "place", "organization"):
            kind = mention.entity_type  # Chinese forms of names tell by themselves
        full = placed(mention.name, text) if kind == "place" else mention.name
        if full != mention.name:
            regions.add(full.split(", ")[1])
        made.append(replace(mention, name=full, entity_type=kind))
    found = {name_key(one.name) for one in made}
    given = (
        Mention(match["name"], "person")
        for match in _OPENING.finditer(text[:_READ])
        if is_given(match["name"]) and name_key(match["name"]) not in found
    )
    return tuple(dict.fromkeys((*(one for one in made if one.name not in regions), *given)))
