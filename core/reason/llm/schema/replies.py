"""What a model may answer to the prompts of MindSchema."""

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
    choice,
    listed,
    plain,
)

__all__ = [
    "RELATION_KINDS",
    "BindReply",
    "Binding",
    "DescribeReply",
    "EntityKeys",
    "MatchReply",
    "Matched",
    "Related",
    "StatedAlias",
    "SynthesiseReply",
    "Synthesised",
    "TypesReply",
]

RelationKind = Literal[
    "participation",
    "ownership",
    "location",
    "social",
    "family",
    "works_for",
    "authorship",
    "membership",
    "founding",
    "other",
]
RELATION_KINDS: Final[frozenset[str]] = frozenset(RelationKind.__args__)  # type: ignore[attr-defined]  # Literal's own
_OTHER_KINDS: Final = {
    "work": "works_for", "employment": "works_for", "part_of": "membership", "member_of": "membership",
    "friendship": "social", "founder": "founding",
}  # fmt: skip


def _kind(value: Any) -> Any:
    name = choice(value)
    name = _OTHER_KINDS.get(name, name) if isinstance(name, str) else name
    return name if name in RELATION_KINDS else "other"


class TypesReply(Form):
    """The entity types of a large schema that an episode may need, by name."""

    types: Annotated[list[Name], BeforeValidator(listed), Field(max_length=50)]


class Binding(Form):
    """Where a candidate belongs in the schema; ``entity`` is its fuller name, empty where it stays."""

    candidate: Reference
    type: Name = ""
    property: Name = ""
    entity: Name = ""


class Related(Form):
    """Two named entities and what joins them; ``candidate`` is the claim that says so, 0 for none."""

    source: Name
    target: Name
    kind: Annotated[RelationKind, BeforeValidator(_kind)] = "other"
    candidate: Reference = 0


class StatedAlias(Form):
    """Another name of somebody, and the message that states it."""

    alias: Name
    name: Name
    message: Reference = 0


class BindReply(Form):
    """The places of a batch of candidates in the schema, and what their episode comes to."""

    bindings: list[Binding]
    title: Short = ""
    summary: Sentence = ""
    relations: Annotated[list[Related], BeforeValidator(listed), Field(max_length=100)] = Field(default_factory=list)
    aliases: Annotated[list[StatedAlias], BeforeValidator(listed), Field(max_length=50)] = Field(default_factory=list)


class Matched(Form):
    """Whether a name denotes a known entity, and which; ``description`` covers what is known then."""

    name: Reference
    verdict: Annotated[Literal["same", "different", "unsure"], BeforeValidator(choice)]
    entity: Reference = 0
    confidence: Share = 0.0
    description: Sentence = ""
    reason: Short = ""


class MatchReply(Form):
    """What a batch of names denote."""

    matches: list[Matched]


class Synthesised(Form):
    """A property drawn from several memories; with empty ``content`` it retires the one that it replaces."""

    property: Name = ""
    content: Sentence = ""
    kind: Annotated[Literal["frequency", "trend", "contrast", "collection", "summary"], BeforeValidator(choice)] = (
        "summary"
    )
    evidence: References = Field(default_factory=list)
    replaces: Reference = 0
    confidence: Share = 0.0


class SynthesiseReply(Form):
    """The properties of order 2 of one entity."""

    properties: list[Synthesised]


class EntityKeys(Form):
    """The search fields of one entity: ``keys`` in the words of its memories, ``other_words`` in other ones."""

    entity: Reference
    keys: Annotated[list[Annotated[str, BeforeValidator(plain)]], BeforeValidator(listed), Field(max_length=40)] = (
        Field(default_factory=list)
    )
    other_words: Annotated[
        list[Annotated[str, BeforeValidator(plain)]], BeforeValidator(listed), Field(max_length=40)
    ] = Field(default_factory=list)


class DescribeReply(Form):
    """The search fields of a batch of entities."""

    entities: list[EntityKeys]
