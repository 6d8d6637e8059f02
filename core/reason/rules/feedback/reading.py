"""What a sentence comes to when it is read for a correction."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one sentence corrects; fields as in ``Signal``.

    ``directive`` says that the statement asks the assistant to do something; ``lasting`` that its own words say that it
    holds from now on. ``bare`` says that the sentence only says that something is wrong: what is right may follow.
    """

    kind: Literal["replace", "state", "retract"]
    statement: str
    rejected: str = ""
    fragment: bool = False
    directive: bool = False
    lasting: bool = False
    bare: bool = False
