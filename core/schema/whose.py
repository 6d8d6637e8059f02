"""Whose somebody is: "Ann's sister Eva", "my cat Milo", "Eva is Bob's wife". It tells namesakes of one kind apart.

Only what lasts is read, and what is given by birth, marriage or ownership: friends and colleagues are shared by many.
"""

import re
from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from mindmem.core.schema.names import name_key

__all__ = ["Told", "apart", "told"]

_READ: Final = 4_000
_SAME: Final = {
    "sister": "sister", "brother": "brother", "son": "son", "daughter": "daughter", "aunt": "aunt", "uncle": "uncle",
    "niece": "niece", "nephew": "nephew", "cousin": "cousin", "mother": "mother mom mum mommy mummy",
    "father": "father dad daddy", "grandmother": "grandmother grandma granny nana",
    "grandfather": "grandfather grandpa grandad", "granddaughter": "granddaughter", "grandson": "grandson",
    "spouse": "wife husband spouse", "sister-in-law": "sister-in-law", "brother-in-law": "brother-in-law",
    "mother-in-law": "mother-in-law", "father-in-law": "father-in-law", "stepmother": "stepmother stepmom",
    "stepfather": "stepfather stepdad", "stepsister": "stepsister", "stepbrother": "stepbrother",
    "goddaughter": "goddaughter", "godson": "godson",
}  # fmt: skip
_PETS: Final = {
    "dog": "dog puppy poodle beagle labrador retriever terrier spaniel", "cat": "cat kitten", "horse": "horse pony",
    "bird": "bird parrot", "rabbit": "rabbit", "hamster": "hamster", "tortoise": "tortoise turtle", "goat": "goat",
    "cow": "cow", "pig": "pig", "snake": "snake", "lizard": "lizard", "ferret": "ferret", "fish": "fish",
}  # fmt: skip
_ROLES: Final = {word: role for role, words in (_SAME | _PETS).items() for word in words.split()}
_NOUN: Final = "|".join(sorted(_ROLES, key=len, reverse=True))
_UP: Final = "[A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017d\u0391-\u03a9\u0410-\u042f]"
_NAME: Final = rf"{_UP}[\w-]*(?: {_UP}[\w-]*){{0,2}}"
_OWNER: Final = rf"(?P<owner>{_NAME}(?=['’]s )|[Mm]y)(?:['’]s)?"
_ROLE: Final = rf"(?:(?!{_NOUN}\b)[a-z-]+ ){{0,2}}(?P<role>{_NOUN})"
_BEFORE: Final = re.compile(rf"{_OWNER} {_ROLE},?(?: is (?:called |named )?| called | named )? ?(?P<name>{_NAME})")
_AFTER: Final = re.compile(rf"(?P<name>{_NAME})(?: is| was|,) {_OWNER} {_ROLE}\b(?! {_UP})")
_BOTH: Final = re.compile(
    rf"(?P<owner>{_NAME}) and (?P<name>{_NAME}) (?:are|were|got|have been) (?:\w+ )?"
    r"(?P<role>siblings|sisters|brothers|twins|married|cousins|a couple)\b"
)


class Told(NamedTuple):
    """``name`` is ``owner``'s ``role``; names are keys (``names.name_key``)."""

    name: str
    owner: str
    role: str


def told(text: str, speaker: str) -> tuple[Told, ...]:
    """Return whose those are that a text names, in its order, each once; "my" is the speaker's.

    >>> told("My cat Milo and Ann's older sister Eva are ill.", "Sam")
    (Told(name='milo', owner='sam', role='cat'), Told(name='eva', owner='ann', role='sister'))
    """
    read = text[:_READ]
    found = sorted((match for form in (_BEFORE, _AFTER, _BOTH) for match in form.finditer(read)), key=re.Match.start)
    made = []
    for match in found:
        whose = match["owner"]
        owner = speaker if whose in ("My", "my") else whose
        role = _ROLES.get(match["role"], "kin")
        if owner and name_key(owner) != name_key(match["name"]):
            made.append(Told(name_key(match["name"]), name_key(owner), role))
    return tuple(dict.fromkeys(made))


def apart(one: Collection[Told], other: Collection[Told], related: Callable[[str, str], bool]) -> bool:
    """Return whether two bearers of one name can't be one, by whose they are told to be: the sisters of two people, a
    cat and a dog, somebody's mother and the same one's daughter.

    ``related`` tells whether two owners are one person or a family, who share relatives and animals.
    """
    if any((mine.owner, mine.role) == (theirs.owner, theirs.role) for mine in one for theirs in other):
        return False
    return any(_differ(mine, theirs, related) for mine in one for theirs in other)


def _differ(one: Told, other: Told, related: Callable[[str, str], bool]) -> bool:
    if "kin" in (one.role, other.role):
        return False
    if one.role == other.role:
        return not related(one.owner, other.owner)
    return one.owner == other.owner or (one.role in _PETS and other.role in _PETS)
