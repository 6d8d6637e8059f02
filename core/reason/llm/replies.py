"""What a model may answer: closed choices and bounded lengths; what else it says is checked by who asked.

Spelling is forgiven (case, spaces, a list of one, null for nothing), meaning isn't: an unknown choice fails its item.
"""

import re
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = [
    "AnswerReply",
    "EntityType",
    "ExtractReply",
    "ExtractedMemory",
    "GradeReply",
    "Named",
    "PlanReply",
    "Quoted",
    "ResolveReply",
    "Resolved",
    "Skipped",
]

T = TypeVar("T")

EntityType = Literal["person", "place", "organization", "technology", "product", "work", "event", "animal", "thing"]
_ENTITY_TYPES: Final = frozenset(EntityType.__args__)  # type: ignore[attr-defined]  # Literal's own
_OTHER_NAMES: Final = {"organisation": "organization", "company": "organization", "location": "place", "pet": "animal"}


def _text(value: Any) -> Any:
    """Null and an empty list are nothing; a list of one is that one."""
    if value is None or value == []:
        return ""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _choice(value: Any) -> Any:
    value = _text(value)
    return re.sub(r"[\s-]+", "_", value.strip().lower()) if isinstance(value, str) else value


def _entity_type(value: Any) -> Any:
    name = _choice(value)
    name = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    return name if name in _ENTITY_TYPES else "thing"


def _listed(value: Any) -> Any:
    return [] if value is None else value


def _number(value: Any) -> Any:
    """A reference as a number: 3, "3", "[3]" and "M3" are 3, nothing is 0."""
    if value is None or value in ("", []):
        return 0
    if isinstance(value, str) and (found := re.fullmatch(r"\s*[\[(]?\s*M?(\d{1,6})\s*[\])]?\s*", value, re.IGNORECASE)):
        return int(found[1])
    return value


Name = Annotated[str, BeforeValidator(_text), Field(max_length=200)]
Short = Annotated[str, BeforeValidator(_text), Field(max_length=500)]
Sentence = Annotated[str, BeforeValidator(_text), Field(max_length=4_000)]
When = Annotated[str, BeforeValidator(_text), Field(max_length=60)]
Reference = Annotated[int, BeforeValidator(_number), Field(ge=0, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Quoted(_Reply):
    """A message of the evidence by its number, and the words of it that say so."""

    message: Reference
    quote: Annotated[str, BeforeValidator(_text), Field(max_length=2_000)] = ""


class Named(_Reply):
    """A named entity that a memory speaks of beside its own."""

    name: Name
    type: Annotated[EntityType, BeforeValidator(_entity_type)] = "thing"


class ExtractedMemory(_Reply):
    """One claim, as a model read it."""

    type: Annotated[
        Literal["profile", "fact", "episodic", "tool_trace", "experience", "skill_candidate", "file_knowledge"],
        BeforeValidator(_choice),
    ]
    content: Sentence
    entity: Name = ""
    entity_type: Annotated[EntityType, BeforeValidator(_entity_type)] = "thing"
    property: Annotated[str, BeforeValidator(_text), Field(max_length=120)] = ""
    value: Short = ""
    polarity: Annotated[Literal["affirmed", "denied"], BeforeValidator(_choice)] = "affirmed"
    single_valued: bool | None = None
    valid_from: When = ""
    valid_to: When = ""
    unresolved_time: bool = False
    sources: Annotated[list[Quoted], BeforeValidator(_listed), Field(min_length=1, max_length=32)]
    mentions: Annotated[list[Named], BeforeValidator(_listed), Field(max_length=32)] = Field(default_factory=list)
    confidence: Share
    instruction: bool = False
    action: Annotated[Literal["add", "reinforce", "update", "merge"], BeforeValidator(_choice)] = "add"
    target: Reference = 0


class Skipped(_Reply):
    """A message that gives nothing to remember, and why."""

    message: Reference
    reason: Short = ""


class ExtractReply(_Reply):
    """The claims of one window, and the messages without any."""

    memories: list[ExtractedMemory]
    skipped: Annotated[list[Skipped], BeforeValidator(_listed)] = Field(default_factory=list)


class Resolved(_Reply):
    """What should become of one candidate."""

    candidate: Reference
    action: Annotated[Literal["add", "reinforce", "update", "merge", "skip"], BeforeValidator(_choice)]
    targets: Annotated[list[Reference], BeforeValidator(_listed), Field(max_length=16)] = Field(default_factory=list)
    related: Annotated[list[Reference], BeforeValidator(_listed), Field(max_length=16)] = Field(default_factory=list)
    merged_content: Sentence = ""
    confidence: Share
    reason: Short = ""


class ResolveReply(_Reply):
    """What should become of a batch of candidates."""

    decisions: list[Resolved]


class AnswerReply(_Reply):
    """A short answer and the numbers of the memories that it rests on; ``found`` False: they don't hold it."""

    found: bool
    answer: Annotated[str, BeforeValidator(_text), Field(max_length=2_000)] = ""
    memories: Annotated[list[Reference], BeforeValidator(_listed), Field(max_length=100)] = Field(default_factory=list)


class GradeReply(_Reply):
    """Whether an answer says the same as the expected one."""

    reason: Short = ""
    verdict: Annotated[Literal["correct", "wrong"], BeforeValidator(_choice)]


class PlanReply(_Reply):
    """What to search for next; ``begin`` and ``end`` bound the time that the question asks about."""

    enough: bool
    queries: Annotated[list[Short], BeforeValidator(_listed), Field(max_length=16)] = Field(default_factory=list)
    begin: When = ""
    end: When = ""
    reason: Short = ""
