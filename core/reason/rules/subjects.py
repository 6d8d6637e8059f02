"""Who "he" and "she" are: the one person named right before whom the pronoun fits, or nobody."""

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from mindmem.core.reason.rules.entities import mentions
from mindmem.core.reason.rules.statements import OWNER, Statement

__all__ = ["People"]

_NEUTER: Final = frozenset({"technology", "organization", "place", "event", "product", "work"})
_REACH: Final = 3  # sentences
_HE: Final = frozenset(
    "husband boyfriend father dad brother son grandfather grandpa grandson uncle nephew stepfather stepson".split()
)
_SHE: Final = frozenset(
    "wife girlfriend mother mom mum sister daughter grandmother grandma granddaughter aunt niece"
    " stepmother stepdaughter".split()
)
_RELATED: Final = re.compile(
    rf"\b(?P<noun>{'|'.join(sorted(_HE | _SHE))}),? (?:is |named |called )?(?P<name>[A-Z][\w-]+)"
)

Gender = Literal["he", "she"]


@dataclass(slots=True)
class People:
    """The sentences read so far of a message. Where two persons could be meant, a pronoun stays unresolved."""

    speakers: frozenset[str] = frozenset()
    _heard: list[tuple[str, str]] = field(default_factory=list)
    _genders: dict[str, Gender] = field(default_factory=dict)

    def resolve(self, pronoun: str) -> str:
        """Return the name that a pronoun of the third person stands for, or the empty string."""
        if pronoun in ("they", "their"):
            return ""
        gender: Gender = "he" if pronoun in ("he", "his") else "she"
        for text, subject in reversed(self._heard[-_REACH:]):
            names = self._persons(text, subject)
            possible = {name for name in names if self._genders.get(name, gender) == gender}
            if any(name in self._genders for name in possible):
                possible.discard("")
            if len(possible) == 1 and (found := possible.pop()):
                self._genders[found] = gender
                return found
            if names:
                return ""
        return ""

    def heard(self, text: str, statements: list[Statement]) -> None:
        """Note a sentence and what it states."""
        subject = next((s.entity for s in statements if s.entity_type in ("", "person") and s.entity != OWNER), "")
        self._heard.append((text, subject))
        for match in _RELATED.finditer(text[:400]):
            self._genders[match["name"]] = "he" if match["noun"] in _HE else "she"

    def forget(self) -> None:
        """A new message begins: names of another's message don't reach into it."""
        self._heard.clear()
        self._genders.clear()

    def _persons(self, text: str, subject: str) -> set[str]:
        """Return the persons of a sentence, and the empty name for somebody or something of a kind nobody can tell."""
        found = mentions(text, self.speakers)
        names = {mention.name for mention in found if mention.entity_type == "person"}
        names |= {mention.name for mention in found if mention.name in self._genders}
        others = {mention.name for mention in found if mention.entity_type not in _NEUTER} - names - {subject}
        return names | ({subject} if subject else set()) | ({""} if others else set())
