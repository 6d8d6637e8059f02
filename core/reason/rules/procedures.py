"""What an agent did and learned: tool traces, lessons, repaired failures, and procedures in steps."""

import json
import re
from dataclasses import dataclass
from typing import Final

from mindmem.core.records import Message

__all__ = ["ToolUse", "is_lesson", "procedure", "read_tool", "tool_call"]

_CALL: Final = re.compile(r"(?P<tool>[A-Za-z_][\w.\-]{1,60})\s?\((?P<arguments>[^()\n]{0,2000})\)")
_NAMED_CALL: Final = re.compile(
    r"(?:tool(?:[ _]?(?:call|use|name))?|function(?:[ _]call)?|action|calling|called|running|run"
    r"|invoke[sd]?)\s?[:=]?\s?[`\"']?(?P<tool>[A-Za-z_][\w.\-]{1,60})[`\"']?"
    r"(?:\s?(?:with|\(|:|arguments:?|input:?)\s?(?P<arguments>\{[^\n]{0,2000}\}|[^()\n]{0,2000}))?",
    re.IGNORECASE,
)
_FAILED: Final = re.compile(
    r"\b(?:error|exception|traceback|failed|failure|fatal|denied|not found|no such|invalid|refused|timed? ?out"
    r"|unable to|cannot|exit code [1-9]\d*"
    r"|non-zero|404|500|403|401)\b|失败|错误|异常|拒绝|超时",
    re.IGNORECASE,
)
_NO_FAILURE: Final = re.compile(
    r"\b(?:0|no|without) (?:errors?|failures?)\b|\b0 failed\b|\"error\": ?(?:null|false|\"\")", re.IGNORECASE
)
_LESSON: Final = re.compile(
    r"^(?:next time,? (?:(?:i|we|you) (?:should|must|will|need to|have to) )?(?!(?:i|we|you|he|she|they"
    r"|it)\b)[a-z]+ [^.]*"
    r"\b(?:before|after|first|instead|with|without|the)\b)"
    r"|\b(?:should|must|need to|have to) [^.]{0,60}\bnext time\b|\b(?:lessons? (?:learned|learnt)|lesson:|note to self"
    r"|in (?:the )?future,? (?:always|never|use|run|check|make sure|don't|do not)\b"
    r"|the (?:fix|root cause|workaround|solution) (?:was|is)\b|(?:was|got) (?:fixed|solved|resolved) by"
    r"|(?:i|we) (?:should|shouldn't|should not) have [a-z]+|(?:i|we)(?:'ve| have)? (?:learned|learnt) (?:that"
    r"|the hard way))"
    r"|(?:^|[,:;] )(?:always|never(?! (?:been|had|seen|done|thought|felt|knew))|don't forget to|remember to"
    r"|make sure to|be sure to)"
    r" [a-z]+ [^.]{0,80}\b(?:before|after|first|when|otherwise|or else|because)\b"
    r"|下次[^。]{0,10}(?:要|记得|应该|先|别|不要|一定|最好|务必)|教训|经验是|吸取|以后(?:要|应该|记得|别|不要)|原来是因为|解决(?:办法|方法|方案)是|问题出在",
    re.IGNORECASE,
)
_LESSON_CUES: Final = (
    "next time", "lesson", "note to self", "future", "the fix", "root cause", "workaround", "the solution", "ed by",
    "have ",
    "learn", "always", "never", "forget to", "remember to", "make sure", "be sure", "下次", "教训", "经验", "吸取",
    "以后", "原来",
    "解决", "问题出在",
)  # fmt: skip
_GOAL: Final = re.compile(
    r"^[^\S\n]*(?:#+ )?(?:(?:how to|steps? (?:to|for)|procedure (?:to|for)|recipe (?:to|for)|to"
    r"|when you want to) (?P<goal>[a-z][^\n:.?]{2,100})"
    r"|(?:怎么|如何|要|想要)?(?P<zh>[\u4e00-\u9fff\w ]{2,30}?)(?:的)?(?:步骤|流程|方法)(?:如下|是)?|(?:如何"
    r"|怎么|怎样)(?P<how>[\u4e00-\u9fff\w ]{2,30}))\s?[:：,，]",
    re.IGNORECASE | re.MULTILINE,
)
_STEP: Final = re.compile(
    r"(?:^|[\s:：;；,，])(?:step ?)?[(（]?(?P<n>[1-9]|1\d|①|②|③|④|⑤)[).）、:：](?![\d])\s?", re.IGNORECASE
)
_SEQUENCE: Final = re.compile(
    r"\bfirst\b[^\n]{3,200}\bthen\b[^\n]{3,}|(?:首先|先)[^\n]{2,100}(?:然后|再|接着)[^\n]{2,}", re.IGNORECASE
)
_SHORT: Final = 160


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call of a tool: its name, its arguments in short, whether it failed, and its outcome in short."""

    tool: str
    arguments: str
    failed: bool
    outcome: str

    @property
    def sentence(self) -> str:
        """Return the trace as one sentence."""
        verb = "failed" if self.failed else "returned"
        outcome = f": {self.outcome}" if self.outcome else ""
        return f"Tool {self.tool}({self.arguments}) {verb}{outcome}"


def tool_call(message: Message) -> tuple[str, str] | None:
    """Return tool and arguments of the call that an assistant's message announces, None when it announces none."""
    content = message.content[:8000]
    loaded = _json(content)
    if loaded is not None:
        return _call_of(loaded)
    for pattern in (_NAMED_CALL, _CALL):
        match = pattern.search(content)
        if (
            match
            and match["arguments"] is not None
            and ("_" in match["tool"] or "." in match["tool"] or pattern is _NAMED_CALL)
        ):
            return match["tool"], _short(match["arguments"])
    return None


def read_tool(message: Message, before: tuple[str, str] | None) -> ToolUse:
    """Return what a tool's message tells; ``before`` is the call that was announced right before it."""
    content = message.content
    loaded = _json(content)
    call = _call_of(loaded) if loaded is not None else None
    outcome = content
    if isinstance(loaded, dict):
        for key in ("result", "output", "outcome", "response", "content", "error", "message"):
            if key in loaded and (call is not None or key in ("error", "result", "output")):
                outcome = _plain(loaded[key])
                break
    tool, arguments = call or before or ("", "")
    tool = message.name or tool or "tool"
    if before and before[0] == tool and not arguments:
        arguments = before[1]
    head = content[:4000]
    failed = _FAILED.search(head) is not None and _NO_FAILURE.search(head) is None
    return ToolUse(tool, arguments, failed, _short(outcome))


def is_lesson(text: str) -> bool:
    """Return whether a sentence tells what to do another time, or what was learned."""
    lowered = text.lower()
    if not any(cue in lowered for cue in _LESSON_CUES):
        return False
    return _LESSON.search(text) is not None and not text.rstrip().endswith(("?", "？"))


def procedure(content: str) -> str:
    """Return the goal of a procedure told in steps, the empty string when the text tells none."""
    head = content[:20_000]
    if ":" not in head and "：" not in head and "," not in head and "，" not in head:
        return ""
    if _STEP.search(head) is None and "\n" not in head and _SEQUENCE.search(head) is None:
        return ""
    goal = _GOAL.search(head)
    if goal is None:
        return ""
    steps = {match["n"] for match in _STEP.finditer(head, goal.end() - 1)}
    bullets = len(re.findall(r"^\s*[-*•] ", head[goal.end() :], re.MULTILINE))
    if len(steps) < 2 and bullets < 2 and _SEQUENCE.search(head, goal.end()) is None:
        return ""
    return next(part for part in (goal["goal"], goal["zh"], goal["how"]) if part).strip()


def _json(content: str) -> object | None:
    text = content.strip()
    if not text.startswith(("{", "[")) or len(text) > 200_000:
        return None
    try:
        loaded: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return loaded


def _call_of(loaded: object) -> tuple[str, str] | None:
    if isinstance(loaded, list):
        return next((call for item in loaded[:20] if (call := _call_of(item))), None)
    if not isinstance(loaded, dict):
        return None
    for key in ("tool_calls", "function", "function_call", "tool_use"):
        if key in loaded and (call := _call_of(loaded[key])):
            return call
    name = next(
        (loaded[key] for key in ("tool", "tool_name", "name", "action") if isinstance(loaded.get(key), str)), None
    )
    arguments = next(
        (loaded[key] for key in ("arguments", "args", "input", "parameters", "kwargs") if key in loaded), None
    )
    if name is None or (arguments is None and "tool" not in loaded and "tool_name" not in loaded):
        return None
    return name, _short(_plain(arguments)) if arguments is not None else ""


def _plain(value: object) -> str:
    if isinstance(value, str):
        inner = _json(value)
        return value if inner is None else _plain(inner)
    if isinstance(value, dict):
        return ", ".join(f"{key}={_short(_plain(inner))}" for key, inner in list(value.items())[:8])
    return json.dumps(value, ensure_ascii=False, default=str)


def _short(text: str) -> str:
    flat = " ".join(text[: 4 * _SHORT].split())
    return flat if len(flat) <= _SHORT else flat[: _SHORT - 1] + "…"
