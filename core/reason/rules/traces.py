"""Tool messages to traces, and a failure that the same tool repaired to an experience."""

from collections.abc import Iterator
from typing import Final

from mindmem.core.reason.port import Candidate
from mindmem.core.reason.rules.junk import is_instruction
from mindmem.core.reason.rules.procedures import ToolUse, read_tool, tool_call
from mindmem.core.records import MemType, Message, Source
from mindmem.core.redact import holds_mark, redact

__all__ = ["Traces"]

_READ: Final = 20_000  # characters of an output that are looked at for instructions


class Traces:
    """Reads a window's tool messages in order."""

    def __init__(self) -> None:
        self._call: tuple[str, str] | None = None
        self._failures: dict[str, tuple[ToolUse, Message]] = {}

    def announce(self, message: Message) -> None:
        """Note the call that an assistant's message announces."""
        self._call = tool_call(message)

    def read(self, message: Message, context: str) -> Iterator[Candidate]:
        """Yield a tool message's trace, and the experience of a failure that it repairs."""
        use = read_tool(message, self._call)
        self._call = None
        source = Source(message.message_id, 0, len(message.content))
        outcome = "failed" if use.failed else "succeeded"
        flags = ("failed",) if use.failed else ()
        sentence = use.sentence
        if is_instruction(message.content[:_READ]):
            sentence, flags = f"“{sentence}”", (*flags, "instruction_like")
        yield _candidate("tool_trace", sentence, use.tool, "trace", outcome, (source,), message, context, flags)
        if use.failed:
            self._failures[use.tool] = (use, message)
        elif use.tool in self._failures:
            failed, earlier = self._failures.pop(use.tool)
            lesson = f"{use.tool}({failed.arguments}) failed ({failed.outcome}); {use.tool}({use.arguments}) succeeded."
            sources = (Source(earlier.message_id, 0, len(earlier.content)), source)
            yield _candidate("experience", lesson, use.tool, "lesson", use.arguments, sources, message, context, ())


def _candidate(
    mem_type: MemType,
    content: str,
    tool: str,
    name: str,
    value: str,
    sources: tuple[Source, ...],
    message: Message,
    context: str,
    flags: tuple[str, ...],
) -> Candidate:
    text, secrets = redact(content)
    return Candidate(
        mem_type=mem_type,
        content=text,
        entity_name=tool,
        entity_type="technology",
        property_name=name,
        value=redact(value)[0],
        sources=sources,
        confidence=0.9 if mem_type == "tool_trace" else 0.8,
        speaker=message.name,
        valid_from=message.timestamp,
        observed_at=message.timestamp,
        time_precision="instant" if message.timestamp else "unknown",
        context=context,
        flags=(*flags, "redacted") if secrets or holds_mark(text) else flags,
    )
