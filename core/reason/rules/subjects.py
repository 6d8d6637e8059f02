"""Who "he" and "she" are: the one person named right before, or nobody."""

from dataclasses import dataclass, field
from typing import Final

from mindmem.core.reason.port import Mention

__all__ = ["People"]

_NEUTER: Final = frozenset({"technology", "organization", "place", "event", "product", "work"})


@dataclass(slots=True)
class People:
    """Persons named in the sentence just read; a sentence that names two leaves pronouns unresolved."""

    speakers: frozenset[str] = frozenset()
    last: tuple[str, ...] = ()
    _now: list[str] = field(default_factory=list)

    def resolve(self, pronoun: str) -> str:
        """Return the name that a pronoun of the third person stands for, or the empty string."""
        if pronoun in ("they", "their") or len(self.last) != 1:
            return ""
        return self.last[0]

    def heard(self, mentioned: tuple[Mention, ...], subject: str = "") -> None:
        """Note the persons of a sentence; ``subject`` is the named subject of its statement, a person by its grammar."""
        names = [mention.name for mention in mentioned if mention.entity_type == "person"]
        if subject and subject not in names:
            names.append(subject)
        if not names and any(mention.entity_type not in _NEUTER for mention in mentioned):
            names = ["", ""]  # somebody or something was named whose kind nobody can tell
        if names:
            self.last = tuple(names)

    def forget(self) -> None:
        """A new message begins: names of another's message don't reach into it."""
        self.last = ()
