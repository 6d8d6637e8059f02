"""What a model may answer about corrections: which words are some, and what one of them changes."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from mindmem.core.reason.llm.forms import Form, Reference, References, Sentence, Share, Short, choice, plain

__all__ = ["CorrectionReply", "FoundSignal", "SignalsReply"]


class FoundSignal(Form):
    """Words of a message that correct or instruct, what they state, what they reject, and for how long it holds."""

    message: Reference
    quote: Annotated[str, BeforeValidator(plain), Field(max_length=2_000)]
    kind: Annotated[Literal["replace", "state", "instruct", "retract"], BeforeValidator(choice)]
    statement: Sentence = ""
    rejected: Short = ""
    persistence: Annotated[Literal["task_temporary", "scenario_specific", "long_term"], BeforeValidator(choice)]
    condition: Short = ""
    confidence: Share


class SignalsReply(Form):
    """The feedback in some messages, in the order in which it was said."""

    signals: list[FoundSignal]


class CorrectionReply(Form):
    """What one piece of feedback does to what is known."""

    action: Annotated[Literal["add", "update", "delete", "none", "search"], BeforeValidator(choice)]
    targets: References = Field(default_factory=list)
    content: Sentence = ""
    query: Short = ""
    confidence: Share
    reason: Short = ""
