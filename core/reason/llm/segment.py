"""The segmenter that asks a model where sub-topics end; where it gives no usable answer, the rules' boundaries hold."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.forms import Form, Reference, Short, listed
from mindmem.core.reason.llm.memories import NOTHING, named, one_line
from mindmem.core.reason.port import Failed, Judged, Unsure, Verdict
from mindmem.core.reason.rules import junk
from mindmem.core.reason.schema_port import Boundary, Segmenter, SegmentRequest
from mindmem.core.records import Message, Turn
from mindmem.core.settings import LlmSettings

__all__ = ["LlmSegmenter", "SegmentReply"]

_TURNS: Final = 60
"""Turns of one question."""
_BEFORE: Final = 6  # turns that are shown before them
_SHOWN: Final = 400  # characters of a turn
_READ: Final = 20_000  # characters of a message that are looked at
_PAUSE: Final = 600.0  # seconds from which a pause is told


class EpisodeBegin(Form):
    """The first turn of an episode, as numbered in the question, and its topic."""

    first: Reference
    topic: Short = ""


class SegmentReply(Form):
    """The episodes that begin within the turns of a question."""

    episodes: Annotated[list[EpisodeBegin], BeforeValidator(listed), Field(max_length=_TURNS)]


class LlmSegmenter:
    """Parts dialogues by a model, long ones in several questions."""

    def __init__(self, model: Model, settings: LlmSettings, fallback: Segmenter) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def segment(self, requests: Sequence[SegmentRequest]) -> list[Verdict[tuple[Boundary, ...]]]:
        """Return one verdict per request, its boundaries ascending.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        verdicts = await gathered([self._segment(request) for request in requests])
        unheard = [place for place, verdict in enumerate(verdicts) if not isinstance(verdict, Judged)]
        if unheard:
            ruled = await self._fallback.segment([requests[place] for place in unheard])
            for place, verdict in zip(unheard, ruled, strict=True):
                verdicts[place] = verdict
        return verdicts

    async def _segment(self, request: SegmentRequest) -> Verdict[tuple[Boundary, ...]]:
        if len(request.turns) + len(request.before) < 2:
            return Judged(())
        everything = (*request.before, *request.turns)
        starts = range(len(request.before), len(everything), _TURNS)
        verdicts = await gathered([self._part(everything, start) for start in starts])
        failed = next((one for one in verdicts if not isinstance(one, Judged)), None)
        if failed is not None:
            return failed
        found = [one for verdict in verdicts if isinstance(verdict, Judged) for one in verdict.value]
        return Judged(tuple(Boundary(at - len(request.before), reason) for at, reason in found if at > 0))

    async def _part(self, turns: Sequence[Turn], start: int) -> Verdict[list[tuple[int, str]]]:
        shown = turns[start : start + _TURNS]
        if not any(has_substance(_said(turn)) for turn in shown):
            return Judged([])
        question = load_prompt("segment").question(
            SegmentReply,
            before="\n".join(f"{_who(turn)}: {_said(turn)}" for turn in turns[max(0, start - _BEFORE) : start])
            or NOTHING,
            turns="\n".join(_lines(turns, start)),
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if isinstance(verdict, Failed):
            return verdict
        begun = {one.first: one_line(one.topic, 100) or "another topic" for one in verdict.value.value.episodes}
        if begun and not all(1 <= number <= len(shown) for number in begun):
            return Unsure(f"turns {sorted(begun)} were named, {len(shown)} were shown")
        return Judged(
            [(start + number - 1, begun[number]) for number in sorted(begun) if shown[number - 1].role != "tool"]
        )


def _lines(turns: Sequence[Turn], start: int) -> Iterator[str]:
    for place in range(start, min(len(turns), start + _TURNS)):
        pause = _pause(turns[place - 1], turns[place]) if place else ""
        yield f"[{place - start + 1}] {_who(turns[place])}{pause}: {_said(turns[place])}"


def _who(turn: Turn) -> str:
    return f"{turn.role} {named(turn.messages[0].name, 60)}".strip()


def _pause(last: Turn, turn: Turn) -> str:
    ended, began = last.messages[-1].timestamp, turn.messages[0].timestamp
    seconds = 0.0 if ended is None or began is None else abs((began - ended).total_seconds())
    if seconds < _PAUSE:
        return ""
    return f" ({round(seconds / 60)} min later)" if seconds < 7_200 else f" ({round(seconds / 3_600)} h later)"


def _said(turn: Turn) -> str:
    """Return what is shown of a turn on one line: no system prompts, nothing between fences of recalled memories."""
    if turn.role == "system":
        return "…"
    return one_line(" ".join(map(_told, turn.messages)), _SHOWN)


def _told(message: Message) -> str:
    content = message.content[:_READ]
    text = "".join(content[start:end] for start, end in junk.outside_fences(content))
    return f"{text} [image: {message.caption[:_SHOWN]}]" if has_substance(message.caption) else text
