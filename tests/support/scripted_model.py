"""A model that answers from a script, reads replies as the real one does, and fails when its script ends."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from mindmem.core.llm.port import Question, Reply
from mindmem.core.llm.salvage import read_reply
from mindmem.core.reason.port import Failed, Judged

__all__ = ["Cut", "ScriptedModel", "Step"]

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Cut:
    """A reply that ended at the limit of its output."""

    text: str


Step = Mapping[str, Any] | str | Cut | Failed | Exception | Callable[[Question[Any]], Any]
"""A reply as an object or as text, a failure, an error to raise, or what makes one of these of the question."""


@dataclass
class ScriptedModel:
    """Answers each question with the next step; ``asked`` holds the questions in order."""

    steps: Sequence[Step] = ()
    always: Step | None = None
    asked: list[Question[Any]] = field(default_factory=list)

    async def ask(self, question: Question[R]) -> Judged[Reply[R]] | Failed:
        place = len(self.asked)
        self.asked.append(question)
        if place >= len(self.steps) and self.always is None:
            raise AssertionError(f"question {place + 1} has no scripted reply: {question.prompt}\n{question.user}")
        step = self.steps[place] if place < len(self.steps) else self.always
        if callable(step):
            step = step(question)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, Failed):
            return step
        text = step.text if isinstance(step, Cut) else step if isinstance(step, str) else json.dumps(step)
        broken = "the output's limit" if isinstance(step, Cut) else ""
        reading = read_reply(text, question.reply, question.items, broken_off=broken)
        cut = reading.trouble == "broken_off"
        if reading.value is None:
            return Failed(reading.problem, transient=False, raw=text, cut=cut)
        return Judged(Reply(reading.value, text, reading.rejected, cut=cut))

    def batch(self) -> int:
        return 16
