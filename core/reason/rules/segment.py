"""Where one sub-topic ends and the next begins, by rules.

Words that come again within a few turns tie these turns together. A gap that few such ties cross, between gaps that
many cross, is where the topic may change: lexical cohesion as in TextTiling, with ties in the place of blocks, since a
turn of a chat is too short to be compared as a whole. Words weigh by their rarity within the session. Pauses, words
that announce another topic, greetings and farewells, and a question that brings new words add to it; an opening that
replies, a word that was just said, and an assistant's turn speak against it. A question is never cut from its answer.

Linear in the number of turns; of a long turn only its beginning and end are read.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from math import log, sqrt
from typing import Final

from mindmem.core.language.words import asks
from mindmem.core.reason.port import Judged, Verdict
from mindmem.core.reason.rules.openings import (
    CUE,
    FAREWELL,
    GREETING,
    NEUTRAL,
    NEUTRAL_SIGNS,
    QUESTION,
    REPLY,
)
from mindmem.core.reason.schema_port import Boundary, SegmentRequest
from mindmem.core.records import Message, Turn
from mindmem.core.text import STOP_GRAMS, analyse, stop_words, words

__all__ = ["RulesSegmenter"]

_PAUSE: Final = 1_800.0
"""Seconds from which a pause speaks strongly for another topic."""
_LONG_PAUSE: Final = 4 * 3_600.0
"""Seconds from which a pause parts episodes, whatever is said."""
_REACH: Final = 5
"""Turns within which a word that comes again ties them together."""
_LEAST: Final = 2
"""Turns of the smallest episode, unless a long pause makes a smaller one."""
_FIRM: Final = 2.0
"""Strength of the ties around from which a gap without any speaks in full."""
_ENOUGH: Final = 0.65
"""Evidence from which a gap parts episodes."""
_HEAD: Final = 1_500
_TAIL: Final = 500  # characters that are read of a message's beginning and end
_MESSAGES: Final = 20  # messages of a turn whose words are read
_SAMPLE: Final = 5_000  # words by which the language is told


class RulesSegmenter:
    """Finds boundaries between sub-topics. It is never unsure: where too little speaks for one, there is none."""

    async def segment(self, requests: Sequence[SegmentRequest]) -> list[Verdict[tuple[Boundary, ...]]]:
        """Return one verdict per request, its boundaries ascending."""
        return [Judged(_boundaries(request)) for request in requests]


@dataclass(frozen=True, slots=True)
class _Gap:
    """What speaks for a boundary before a turn, and what does most."""

    score: float
    reason: str = ""
    certain: bool = False


def _boundaries(request: SegmentRequest) -> tuple[Boundary, ...]:
    turns, first = (*request.before, *request.turns), len(request.before)
    ties = _Ties(_topics(turns))
    gaps = [_gap(turns, place, ties) if place else _Gap(0.0) for place in range(len(turns))]
    found: list[Boundary] = []
    begun = 0
    for place, gap in enumerate(gaps):
        if not gap.certain:
            if gap.score < _ENOUGH or place - begun < _LEAST:
                continue
            if any(near.certain or near.score > gap.score for near in gaps[place + 1 : place + _LEAST]):
                continue
        begun = place
        if place >= first:
            found.append(Boundary(place - first, gap.reason))
    return tuple(found)


def _gap(turns: Sequence[Turn], place: int, ties: "_Ties") -> _Gap:
    last, turn = turns[place - 1].messages, turns[place].messages
    pause = _pause(last[-1], turn[0])
    if pause >= _LONG_PAUSE:
        return _Gap(1.0, "a long pause", certain=True)
    before, opening, closing = last[-1].content[-_TAIL:], turn[0].content[:_HEAD], turn[-1].content[-_TAIL:]
    if turn[0].role == "tool" or asks(before):
        return _Gap(0.0)
    cue = CUE.search(opening) is not None
    begins, questions = ties.begins[place], QUESTION.search(closing) is not None
    evidence = {
        "another topic is announced": 0.6 * cue,
        "a pause": 0.7 * (pause >= _PAUSE),
        "a farewell before": 0.5 * (_parts(before) and not _parts(opening[:_TAIL])),
        "other words": 0.5 * ties.depth(place),
        "a greeting": 0.3 * (_greets(opening) and not _greets(last[0].content[:_TAIL])),
        "new words": 0.2 * begins,
        "a question": 0.2 * (questions and (begins or (place + 1 < len(turns) and ties.begins[place + 1]))),
    }
    replies = REPLY.match(opening) is not None or QUESTION.search(before) is not None
    against = (0.0 if cue else 0.4 * replies + 0.2 * ties.returns[place]) + 0.6 * (turn[0].role == "assistant")
    return _Gap(sum(evidence.values()) - against, max(evidence, key=lambda name: evidence[name]))


def _pause(last: Message, message: Message) -> float:
    """Return the seconds between two messages, whichever came first; 0 where a time is unknown."""
    if last.timestamp is None or message.timestamp is None:
        return 0.0
    return abs((message.timestamp - last.timestamp).total_seconds())


def _greets(text: str) -> bool:
    return GREETING.match(text) is not None


def _parts(text: str) -> bool:
    return FAREWELL.search(text) is not None


class _Ties:
    """The words that come again within reach. By turn: ``begins``, whether it brings a word that is new here and comes
    again, and ``returns``, whether it holds one that was said shortly before. Single signs only tie."""

    def __init__(self, said: Sequence[Set[str]]) -> None:
        self._crossing = [0.0] * (len(said) + 1)
        self.begins = [False] * len(said)
        self.returns = [False] * len(said)
        spread: dict[str, int] = {}
        for terms in said:
            for term in terms:
                spread[term] = spread.get(term, 0) + 1
        last: dict[str, int] = {}
        fresh: dict[str, bool] = {}  # whether a word was new where it was said last
        for place, terms in enumerate(said):
            for term in sorted(terms):  # sums of floats depend on their order
                before, last[term] = last.get(term), place
                fresh[term], was_new = before is None or place - before > _REACH, fresh.get(term, False)
                if before is None or fresh[term]:
                    continue
                whole = len(term) > 1
                if whole:
                    self.returns[place] = True
                    self.begins[before] = self.begins[before] or was_new
                weight = log(1 + len(said) / spread[term]) * (1.0 if whole else 0.4) / sqrt(place - before)
                for gap in range(before + 1, place + 1):
                    self._crossing[gap] += weight

    def depth(self, gap: int) -> float:
        """Return how far fewer ties cross this gap than those around it, 0..1."""
        left = max(self._crossing[max(1, gap - _REACH) : gap], default=0.0)
        right = max(self._crossing[gap + 1 : gap + 1 + _REACH], default=0.0)
        around = sqrt(left * right)
        return max(0.0, 1 - self._crossing[gap] / around) * min(1.0, around / _FIRM) if around else 0.0


def _topics(turns: Sequence[Turn]) -> list[frozenset[str]]:
    """Return by turn the terms that may carry a topic, without the stop words of the session's language."""
    found = [list(_words(turn)) for turn in turns]
    stops = stop_words(list(islice(chain.from_iterable(found), _SAMPLE)))
    return [frozenset(term for word in said if word not in stops for term in _topical(word)) for said in found]


def _words(turn: Turn) -> Iterator[str]:
    for message in turn.messages[:_MESSAGES]:
        content, caption = message.content, message.caption[:_TAIL]
        text = content if len(content) <= _HEAD + _TAIL else f"{content[:_HEAD]} {content[-_TAIL:]}"
        yield from words(f"{text} {caption}" if caption else text)


@lru_cache(maxsize=20_000)
def _topical(word: str) -> tuple[str, ...]:
    """Return the terms of a word that may carry a topic; of a run of Chinese its signs, too."""
    found: list[str] = []
    for term in analyse(word):
        if term in NEUTRAL or term in STOP_GRAMS:
            continue
        if "\u3040" <= term[0] <= "\u9fff":
            signs = [sign for sign in term if sign not in NEUTRAL_SIGNS]
            found.extend(signs)
            if len(signs) < len(term):
                continue
        found.append(term)
    return tuple(found)
