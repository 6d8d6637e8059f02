"""Names of entities: when two spellings are one name, and when a shorter name may stand for a longer one.

Nothing here compares letters within words, so prefix twins ("Anna" and "Annabel", "Java" and "JavaScript") never meet.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from mindmem.core import ids
from mindmem.core.text import normalise_name

__all__ = [
    "Fit",
    "abbreviation",
    "family",
    "first_names",
    "fits",
    "incompatible",
    "initials",
    "is_given",
    "is_initials",
    "name_key",
    "plain_name",
    "short_forms",
    "titled",
]

Fit = Literal["", "short", "initials", "qualified"]
"""How one name may stand for another: "Anna" or "Dr. Keller" for "Anna Keller", "WHO" for what it abbreviates,
"Springfield" for "Springfield, Ohio"; empty: not at all."""

_TITLES: Final = frozenset(
    "mr mrs ms miss mx dr prof professor doctor sir madam dame lord lady rev reverend fr father sr sister"
    " captain capt judge senator president coach herr frau monsieur madame signor signora señor señora".split()
)
_AFTER: Final = re.compile(r"(先生|女士|老师|医生|教授|经理|同学|小姐|太太|博士)$")
_FORMS: Final = frozenset("inc incorporated ltd limited llc gmbh corp corporation plc ag sa co pty bv oy ab kg".split())
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_SPACED: Final = re.compile(r"\b(\w)\.\s*(?=\w\b)")

_HYPOCORISMS: Final = (
    "abigail abby|albert al bert|alexander alex sasha xander|alexandra alex sandra lexi|alfred fred alfie"
    "|amanda mandy|andrew andy drew|angela angie|anna annie|anne annie|anthony tony|barbara barb babs|benjamin ben"
    " benny|bernard bernie|catherine cathy cate kate katie|charles charlie chuck|charlotte lottie charlie"
    "|christina chris tina|christine chris chrissy|christopher chris kit topher|cynthia cindy|daniel dan danny"
    "|david dave davy|deborah deb debbie|dominic dom|donald don donny|dorothy dot dottie|douglas doug|edward ed eddie"
    " ted ned|eleanor ellie nell nora|elizabeth liz lizzie beth betty eliza libby|emily em emmy|eugene gene"
    "|frances fran frankie|francis frank|franklin frank|frederick fred freddie|gabriel gabe|gabriella gabby"
    "|gerald gerry jerry|gregory greg|harold harry hal|henry hank harry|isabella bella izzy|jacob jake|jacqueline"
    " jackie|james jim jimmy jamie|jeffrey jeff|jennifer jen jenny|jeremy jerry|jessica jess jessie|john johnny jack"
    "|jonathan jon jonny|joseph joe joey|josephine josie jo|joshua josh|judith judy|katherine kathy kate katie kat"
    "|kathleen kathy|kenneth ken kenny|kimberly kim|lawrence larry|leonard leo len|louis lou|louise lou|madeline maddie"
    "|margaret maggie meg peggy marge|martha marty|matthew matt|maximilian max|megan meg|melissa mel lissa|michael"
    " mike mick mikey|michelle shelly|mitchell mitch|natalie nat|nathaniel nate nat|nathan nate|nicholas nick nicky"
    "|nicole nicky nikki|oliver ollie|olivia liv livvy|pamela pam|patricia pat patty trish tricia|patrick pat paddy"
    "|peter pete|philip phil|phillip phil|rachel rach|raymond ray|rebecca becky becca|richard rich rick dick richie"
    "|robert rob bob bobby robbie bert|rodney rod|ronald ron ronnie|samantha sam|samuel sam sammy|sarah sally"
    "|stanley stan|stephanie steph|stephen steve|steven steve|susan sue susie|suzanne sue|teresa terry tess"
    "|theodore ted teddy theo|theresa terry tess|thomas tom tommy|timothy tim timmy|valerie val|victor vic"
    "|victoria vicky tori|vincent vince vinny|virginia ginny|walter walt wally|william will bill billy liam"
    "|zachary zach zack"
)
"""English given names, each with what people commonly make of them."""
_GIVEN: Final = [row.split() for row in _HYPOCORISMS.split("|")]
_SHORT: Final = {
    short: frozenset(name for name, *others in _GIVEN if short in others) for _, *shorts in _GIVEN for short in shorts
}
_PEOPLE: Final = frozenset(name for row in _GIVEN for name in row)
_AMBIGUOUS: Final = frozenset(
    "virginia charlotte victoria madeline alexandra will bill rich frank rob pat sue drew dot dave gene jack liv mel"
    " mike mick nick nora art ray rod stan kit kat jo sandy gabby dick hank grace charlie sally ed al bert hal ted ned"
    " phil max olivia louise jackie franklin lawrence douglas donald".split()
)
_LONG: Final = {name: frozenset(shorts) for name, *shorts in _GIVEN}

_FAMILIES: Final = {
    "person": "person user speaker customer client contact colleague character",
    "organization": "organization organisation company team group department institution",
    "place": "place location country city region",
    "animal": "animal pet",
    "event": "event meeting",
    "work": "work book film song artwork publication",
    "item": "item product technology tool device service software object repository file",
}
_FAMILY: Final = {name: family_ for family_, names in _FAMILIES.items() for name in names.split()}
_APART: Final = frozenset(
    frozenset(pair.split("-"))
    for pair in (
        "person-organization person-place person-animal person-event person-work person-item place-animal place-work"
        " place-item place-organization organization-animal organization-work animal-item animal-work animal-event"
    ).split()
)
"""Families of which nothing is a member of both. Organisations and what they make share a name too often for that."""


def family(entity_type: str) -> str:
    """Return the family of an entity type, the empty string for one that tells nothing ("thing", a project's own).

    >>> family("technology"), family("user"), family("thing")
    ('item', 'person', '')
    """
    return _FAMILY.get(entity_type.casefold(), "")


def incompatible(one: str, other: str) -> bool:
    """Return whether two entity types can't be of one entity; a type that tells nothing goes with any."""
    return frozenset((family(one), family(other))) in _APART


@lru_cache(maxsize=8192)
def name_key(name: str) -> str:
    """Return the form under which two spellings are the same name: no case, accents, titles, possessives, legal forms.

    >>> [name_key(name) for name in ("Dr. José Álvarez's", "ACME Inc.", "The Beatles", "J. R. Smith")]
    ['jose alvarez', 'acme', 'beatles', 'jr smith']
    """
    plain = _SPACED.sub(r"\1", _POSSESSIVE.sub("", name.strip()))
    found = normalise_name(plain.replace(".", " ") if " " in plain else plain).split()
    if not found:
        return ids.normalise_claim(name)
    kept = found
    while len(kept) > 1 and kept[0] in _TITLES:
        kept = kept[1:]
    if len(kept) > 1 and kept[0] == "the":
        kept = kept[1:]
    while len(kept) > 1 and kept[-1] in _FORMS:
        kept = kept[:-1]
    return _AFTER.sub("", " ".join(kept)) or " ".join(kept)


def plain_name(name: str) -> str:
    """Return a name as it is kept: without possessive, closing stop, and a title before a first and a last name.

    >>> plain_name("Dr. Miriam Vogel's"), plain_name("Dr. Vogel"), plain_name("Acme Inc.")
    ('Miriam Vogel', 'Dr. Vogel', 'Acme Inc')
    """
    plain = _POSSESSIVE.sub("", name.strip()).removesuffix(".")
    found = plain.split()
    while len(found) > 2 and normalise_name(found[0].replace(".", " ")) in _TITLES:
        found = found[1:]
    return " ".join(found)


def titled(name: str) -> bool:
    """Return whether a name is led by a title and leaves a single word: "Dr. Keller" means a surname.

    >>> titled("Dr. Keller"), titled("Dr. Anna Keller"), titled("Keller")
    (True, False, False)
    """
    found = normalise_name(name.replace(".", " ")).split()
    return len(found) == 2 and found[0] in _TITLES


def first_names(word: str) -> frozenset[str]:
    """Return the given names that a first name may be short for, itself included.

    >>> sorted(first_names("bob"))
    ['bob', 'robert']
    """
    return _SHORT.get(word, frozenset()) | {word}


def is_given(name: str) -> bool:
    """Return whether a name begins with a common English given name, and its one further word is none of a group or
    place; a lone name that is a word or a place as well doesn't tell.

    >>> is_given("Anna Keller"), is_given("Katie"), is_given("Virginia"), is_given("Data Team")
    (True, True, False, False)
    """
    found = name_key(name).split()
    if not found or found[0] not in _PEOPLE:
        return False
    return len(found) == 2 if found[0] in _AMBIGUOUS else len(found) <= 2


def short_forms(word: str) -> frozenset[str]:
    """Return what people commonly make of a given name.

    >>> sorted(short_forms("robert"))
    ['bert', 'bob', 'bobby', 'rob', 'robbie']
    """
    return _LONG.get(word, frozenset())


def is_initials(short: str, name: str) -> bool:
    """Return whether a name of capitals abbreviates a longer one, small words apart.

    >>> is_initials("WHO", "World Health Organization"), is_initials("WHO", "World Trade Organization")
    (True, False)
    """
    return abbreviation(short) in initials(name)


def abbreviation(name: str) -> str:
    """Return the letters of a name of capitals that may abbreviate a longer one, folded; empty for any other name.

    >>> abbreviation("W.H.O."), abbreviation("PhD"), abbreviation("Who")
    ('who', 'phd', '')
    """
    letters = name.replace(".", "").replace(" ", "")
    if not 2 <= len(letters) <= 8 or not letters[0].isupper() or sum(sign.isupper() for sign in letters) < 2:
        return ""
    return letters.casefold()


def initials(name: str) -> frozenset[str]:
    """Return the letters that may abbreviate a name, with and without those of small words, folded.

    >>> sorted(initials("Bank of England")), initials("Oslo")
    (['be', 'boe'], frozenset())
    """
    found = [word[0] for word in re.split(r"[\s-]+", name) if word]
    long = [sign for sign in found if sign.isupper()]
    return frozenset(("".join(long).casefold(), "".join(found).casefold())) if len(long) > 1 else frozenset()


def fits(short: str, name: str, *, person: bool = True) -> Fit:
    """Return how the name ``short`` may stand for the longer ``name``; whether it does, others with that name decide.

    Args:
        short: What was said.
        name: A name that is known.
        person: Whether both may be people, who alone go by a part of their name.

    >>> fits("Anna", "Anna Keller"), fits("Bob", "Robert Smith"), fits("Anna", "Annabel")
    ('short', 'short', '')
    >>> fits("Springfield", "Springfield, Ohio"), fits("WHO", "World Health Organization")
    ('qualified', 'initials')
    """
    one, other = name_key(short).split(), name_key(name).split()
    if not one or not other or one == other:
        return ""
    if "," in name and "," not in short and name_key(name.split(",")[0]).split() == one:
        return "qualified"
    if is_initials(short, name):
        return "initials"
    if not person or "," in name:
        return ""
    if len(one) == 1 and len(other) > 1 and titled(short):
        return "short" if one[0] == other[-1] else ""
    if len(one) == 1 and len(other) in (2, 3):
        return "short" if other[0] in first_names(one[0]) else ""
    if len(one) == len(other) == 1:
        return "short" if other[0] in first_names(one[0]) - {one[0]} else ""
    if len(one) == len(other) and one[1:] == other[1:]:
        return "short" if other[0] in first_names(one[0]) else ""
    same_ends = one[0] == other[0] and one[-1] == other[-1]  # a middle name more
    return "short" if len(one) == 2 and len(other) == 3 and same_ends else ""
