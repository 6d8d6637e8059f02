"""What of a model's signals can be stood by: quotes found where they may be, statements without anything nobody said.

What a model makes of a message otherwise is dropped and counted in the log.
"""

import logging
from collections.abc import Sequence
from typing import Final

from mindmem.core.language.words import content_words, has_substance, stem
from mindmem.core.reason.feedback_port import Signal
from mindmem.core.reason.llm.candidates import without_roles
from mindmem.core.reason.llm.evidence import Shown, locate
from mindmem.core.reason.llm.feedback.replies import FoundSignal
from mindmem.core.reason.llm.memories import one_line
from mindmem.core.reason.llm.schema.said import Said
from mindmem.core.redact import redact

__all__ = ["bearing", "invented", "read_signals"]

log = logging.getLogger(__name__)

_LONGEST: Final = 400  # characters of a statement
_SURE: Final = 0.7
_FOUNDED: Final = 0.3
"""Least part of a statement's words that was said, beside those that only make a sentence of it."""
_FREE: Final = frozenset(
    stem(word)
    for word in "user assistant want wants prefer prefers like likes reply replies answer answers text should shall"
    " i my me we our you your the a an this that their its it in on at to of by with for and or is are was be been has"
    " have not no s since when from without 我 你 他 她 们 的 是 在 用 户 助 手 希 望 喜 欢 被 称 为 回 答 复".split()
)


def read_signals(items: Sequence[FoundSignal], shown: Sequence[Shown], judged: frozenset[int]) -> tuple[Signal, ...]:
    """Return the signals of a reply in the order in which they were said.

    Args:
        items: as the model gave them.
        shown: the messages, in order.
        judged: numbers of those that may carry a signal, counted from 1.
    """
    told = Said([*(one.text for one in shown), *(one.message.name for one in shown)])
    order = {one.message.message_id: place for place, one in enumerate(shown)}
    found: dict[tuple[str, str, str], Signal] = {}
    refused = []
    for item in items:
        made = _signal(item, shown, judged, told)
        if isinstance(made, str):
            refused.append(made)
        else:
            found.setdefault((made.message_id, made.statement, made.rejected), made)
    if refused:
        log.warning("%d signals could not be stood by; the first: %s", len(refused), refused[0])
    return tuple(sorted(found.values(), key=lambda one: (order[one.message_id], one.start)))


def _signal(item: FoundSignal, shown: Sequence[Shown], judged: frozenset[int], told: Said) -> Signal | str:
    """The signal that an item states, or why it can't be stood by."""
    if item.message not in judged:
        return "a message that was not to be judged"
    if item.confidence < _SURE:
        return "a low confidence"
    source, verbatim = locate(item.quote, shown[item.message - 1])
    if not verbatim:
        return "words that the message does not hold"
    statement = "" if item.kind == "retract" else redact(one_line(without_roles(item.statement), _LONGEST))[0]
    rejected = one_line(item.rejected)
    condition = one_line(item.condition) if item.persistence == "scenario_specific" else ""
    if item.kind == "retract" and not rejected:
        return "nothing that is taken back"
    if item.kind != "retract" and not has_substance(statement):
        return "nothing that it states"
    if item.persistence == "scenario_specific" and not condition:
        return "a condition that is not named"
    if any(invented(words, told) for words in (statement, rejected, condition)):
        return "a number, name or words that nobody said"
    if Said([item.quote]).foreign(statement or rejected):
        return "another language than the quote's"
    return Signal(
        message_id=source.message_id,
        start=source.start,
        end=source.end,
        kind=item.kind,
        statement=statement,
        persistence=item.persistence,
        rejected=rejected,
        condition=condition,
    )


def invented(words: str, told: Said) -> bool:
    """Return whether words can't come from what was told."""
    if told.new_numbers(words) or told.new_names(words):
        return True
    return told.share(" ".join(bearing(words))) < _FOUNDED


def bearing(words: str) -> frozenset[str]:
    """Return the stems of the words that say something: not who speaks, wants or answers, nor how they are joined."""
    return frozenset(content_words(words)) - _FREE
