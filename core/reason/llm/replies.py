"""What a model may answer: closed choices and bounded lengths; what else it says is checked by who asked.

An unknown choice fails its item.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from mindmem.core.reason.llm.forms import (
    Form,
    Name,
    Reference,
    References,
    Sentence,
    Share,
    Short,
    When,
    choice,
    listed,
    plain,
    references,
)

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

EntityType = Literal["person", "place", "organization", "technology", "product", "work", "event", "animal", "thing"]
_ENTITY_TYPES: Final = frozenset(EntityType.__args__)  # type: ignore[attr-defined]  # Literal's own
_OTHER_NAMES: Final = {"organisation": "organization", "company": "organization", "location": "place", "pet": "animal"}


def _entity_type(value: Any) -> Any:
    name = choice(value)
    name = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    return name if name in _ENTITY_TYPES else "thing"


class Quoted(Form):
    """A message of the evidence by its number, and the words of it that say so."""

    message: Reference
    quote: Annotated[str, BeforeValidator(plain), Field(max_length=2_000)] = ""


class Named(Form):
    """A named entity that a memory speaks of beside its own."""

    name: Name
    type: Annotated[EntityType, BeforeValidator(_entity_type)] = "thing"


class ExtractedMemory(Form):
    """One claim, as a model read it."""

    type: Annotated[
        Literal["profile", "fact", "episodic", "tool_trace", "experience", "skill_candidate", "file_knowledge"],
        BeforeValidator(choice),
    ]
    content: Sentence
    entity: Name = ""
    entity_type: Annotated[EntityType, BeforeValidator(_entity_type)] = "thing"
    property: Annotated[str, BeforeValidator(plain), Field(max_length=120)] = ""
    value: Short = ""
    polarity: Annotated[Literal["affirmed", "denied"], BeforeValidator(choice)] = "affirmed"
    single_valued: bool | None = None
    valid_from: When = ""
    valid_to: When = ""
    unresolved_time: bool = False
    sources: Annotated[list[Quoted], BeforeValidator(listed), Field(min_length=1, max_length=32)]
    mentions: Annotated[list[Named], BeforeValidator(listed), Field(max_length=32)] = Field(default_factory=list)
    confidence: Share
    instruction: bool = False
    action: Annotated[Literal["add", "reinforce", "update", "merge"], BeforeValidator(choice)] = "add"
    target: Reference = 0


class Skipped(Form):
    """A message that gives nothing to remember, and why."""

    message: Reference
    reason: Short = ""


class ExtractReply(Form):
    """The claims of one window, and the messages without any."""

    memories: list[ExtractedMemory]
    skipped: Annotated[list[Skipped], BeforeValidator(listed)] = Field(default_factory=list)


class Resolved(Form):
    """What should become of one candidate."""

    candidate: Reference
    action: Annotated[Literal["add", "reinforce", "update", "merge", "skip"], BeforeValidator(choice)]
    targets: Annotated[list[Reference], BeforeValidator(references), Field(max_length=16)] = Field(default_factory=list)
    related: Annotated[list[Reference], BeforeValidator(references), Field(max_length=16)] = Field(default_factory=list)
    merged_content: Sentence = ""
    confidence: Share
    reason: Short = ""


class ResolveReply(Form):
    """What should become of a batch of candidates."""

    decisions: list[Resolved]


class AnswerReply(Form):
    """A short answer and the numbers of the memories that it rests on; ``found`` False: they don't hold it."""

    found: bool
    answer: Annotated[str, BeforeValidator(plain), Field(max_length=2_000)] = ""
    memories: References = Field(default_factory=list)


class GradeReply(Form):
    """Whether an answer says the same as the expected one."""

    reason: Short = ""
    verdict: Annotated[Literal["correct", "wrong"], BeforeValidator(choice)]


class PlanReply(Form):
    """What to search for next; ``begin`` and ``end`` bound the time that the question asks about."""

    enough: bool
    queries: Annotated[list[Short], BeforeValidator(listed), Field(max_length=16)] = Field(default_factory=list)
    begin: When = ""
    end: When = ""
    reason: Short = ""
