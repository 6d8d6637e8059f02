"""Reading what an endpoint answers with status 200: a chat completion in any of the shapes that servers send."""

import json
import re
from dataclasses import dataclass
from typing import Final, Literal

from mindmem.core.errors import bounded

__all__ = ["Answer", "NoAnswer", "answer_of", "credible", "read_answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint wrote in one try; token counts are None where it gives none."""

    text: str
    finish: Literal["stop", "length", "refusal"]
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class NoAnswer(Exception):
    """A body that is no completion. ``status`` and ``body`` are those of an error that a gateway hid in it; else 0.
    ``page``: it is a page for people, which no model wrote."""

    def __init__(self, why: str, *, status: int = 0, body: object = None, page: bool = False) -> None:
        super().__init__(why)
        self.status = status
        self.body = body
        self.page = page


def read_answer(raw: bytes, content_type: str) -> Answer:
    """Read a body.

    Raises:
        NoAnswer: it holds none; the message goes on where the endpoint's name ends.
    """
    try:
        body = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        page = "html" in content_type
        advice = " Check MINDMEM_LLM__BASE_URL; it usually ends in /v1." if page else ""
        why = f"answered no JSON but {bounded(content_type)}, {len(raw)} bytes.{advice}"
        raise NoAnswer(why, page=page) from error
    if not isinstance(body, dict):
        raise NoAnswer("answered JSON that is no object.")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        hidden = body.get("error")
        if not hidden:
            raise NoAnswer("answered without any choice.")
        code = _count(hidden.get("code")) if isinstance(hidden, dict) else None
        raise NoAnswer("hid an error.", status=code if code and 400 <= code < 600 else 502, body=body)
    used = body.get("usage")
    counts = used if isinstance(used, dict) else {}
    refusal = message.get("refusal")
    ended = choice.get("finish_reason")
    finish: Literal["stop", "length", "refusal"] = "length" if ended == "length" else "stop"
    return Answer(
        text=str(refusal) if refusal else answer_of(_text(message.get("content"))),
        finish="refusal" if refusal or ended == "content_filter" else finish,
        model=str(body.get("model") or ""),
        input_tokens=_count(counts.get("prompt_tokens")),
        output_tokens=_count(counts.get("completion_tokens")),
    )


def _text(content: object) -> str:
    """Return a message's text; some servers send it in parts, of which thoughts are none of the answer."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("type") == "text"
        )
    return ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def credible(counted: int | None, *, estimate: int, most: int) -> tuple[int, bool]:
    """Return an endpoint's count of tokens, and whether it is one: without any it is our estimate, and beyond ``most``
    it is that, lest one reply use up a budget of years.

    >>> credible(120, estimate=100, most=400), credible(None, estimate=100, most=400)
    ((120, True), (100, False))
    """
    if counted is None:
        return estimate, False
    return min(counted, most), counted <= most


_THOUGHT: Final = re.compile(r"\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL)
_THOUGHT_END: Final = re.compile(r"</(?:think|thinking|reasoning)>")


def answer_of(text: str) -> str:
    """Return a reply without the thought that reasoning models write before it.

    Some chat templates open the thought in the prompt, so that only its end is written. Inside of the answer such tags
    are somebody's text and stay.

    >>> answer_of('<think>{"a": 1}?</think> {"a": 2}')
    '{"a": 2}'
    """
    if found := _THOUGHT.match(text):
        return text[found.end() :].lstrip()
    end = _THOUGHT_END.search(text)
    if end is None or text.lstrip().startswith(("{", "[", "```")):
        return text
    return text[end.end() :].lstrip()
