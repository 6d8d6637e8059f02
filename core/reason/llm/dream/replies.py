"""What a model may answer about a window of memories, and about the issues in it."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mindmem.core.reason.llm.forms import Form, Reference, References, Sentence, Share, Short, choice

__all__ = ["ActReply", "Acted", "DetectReply", "Found"]


class Found(Form):
    """Something wrong with some memories, by their numbers; ``ground`` says of a conflict why not all can hold."""

    kind: Annotated[Literal["conflict", "duplicate", "complementary", "low_value", "unclear"], BeforeValidator(choice)]
    memories: Annotated[References, Field(min_length=1)]
    keep: Reference = 0
    ground: Annotated[Literal["one_value", "taken_back", "unsure"], BeforeValidator(choice)] = "unsure"
    confidence: Share
    reason: Short = ""


class DetectReply(Form):
    """The issues of one window."""

    issues: list[Found]


class Acted(Form):
    """What is to be done about one issue; ``content`` is the sentence that stands for all of its memories."""

    issue: Reference
    action: Annotated[Literal["supersede", "merge", "archive", "link", "keep"], BeforeValidator(choice)]
    survivor: Reference = 0
    content: Sentence = ""
    confidence: Share
    reason: Short = ""


class ActReply(Form):
    """What is to be done about some issues."""

    actions: list[Acted]
