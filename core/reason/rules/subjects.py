"""Who "he" and "she" are: the one person named right before, or nobody."""

from dataclasses import dataclass, field
from typing import Final

from mindmem.core.reason.rules.entities import mentions

__all__ = ["People"]

_NEUTER: Final = frozenset({"technology", "organization", "place", "event", "product", "work"})
_REACH: Final = 3  # sentences


@dataclass(slots=True)
class People:
    """The sentences read so far of a message; a sentence that names two persons leaves pronouns unresolved."""

    speakers: frozenset[str] = frozenset()
    _heard: list[tuple[str, str]] = field(default_factory=list)

    def resolve(self, pronoun: str) -> str:
        """Return the name that a pronoun of the third person stands for, or the empty string."""
        if pronoun in ("they", "their"):
            return ""
        for text, subject in reversed(self._heard[-_REACH:]):
            names = self._persons(text, subject)
            if names:
                return next(iter(names)) if len(names) == 1 else ""
        return ""

    def heard(self, text: str, subject: str = "") -> None:
        """Note a sentence; ``subject`` is the named subject of its statement."""
        self._heard.append((text, subject))

    def forget(self) -> None:
        """A new message begins: names of another's message don't reach into it."""
        self._heard.clear()

    def _persons(self, text: str, subject: str) -> set[str]:
        """Return the persons of a sentence; two unnamed ones where a name is of a kind that nobody can tell."""
        found = mentions(text, self.speakers)
        names = {mention.name for mention in found if mention.entity_type == "person"}
        others = {mention.name for mention in found if mention.entity_type not in _NEUTER} - names
        if subject and (subject in names or subject in others or not found):
            return names | {subject}
        return names or ({"", " "} if others else set())
