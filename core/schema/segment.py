"""Episodes: turns about one sub-topic, the unit that MindSchema extracts, titles and sums up.

An episode may go on over the end of a session. One that grows too long is cut into parts of about equal size, where
that separates no question from its answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mindmem.core.ingest.windows import pack_windows
from mindmem.core.language.words import asks
from mindmem.core.reason.port import Judged
from mindmem.core.reason.schema_port import Boundary, Segmenter, SegmentRequest
from mindmem.core.records import Message, Turn, Window

__all__ = ["Episode", "cut", "episode_windows", "segmented"]


@dataclass(frozen=True, slots=True)
class Episode:
    """Successive turns about one sub-topic; ``index`` is its place among those of one add, ``title`` is given later."""

    index: int
    turns: tuple[Turn, ...]
    title: str = ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the messages of all turns in order."""
        return tuple(message for turn in self.turns for message in turn.messages)


async def segmented(segmenter: Segmenter, turns: Sequence[Turn], *, most_turns: int = 15) -> tuple[Episode, ...]:
    """Return the episodes of turns; where the segmenter can't tell, only their length parts them."""
    if not turns:
        return ()
    [verdict] = await segmenter.segment([SegmentRequest(tuple(turns))])
    return cut(turns, verdict.value if isinstance(verdict, Judged) else (), most_turns=most_turns)


def cut(turns: Sequence[Turn], boundaries: Sequence[Boundary], *, most_turns: int = 15) -> tuple[Episode, ...]:
    """Return the episodes that begin at these boundaries, none with more than ``most_turns`` turns.

    Together they hold each turn once, in order. Boundaries outside of the turns are passed over.
    """
    places = sorted({0, *(boundary.at for boundary in boundaries if 0 < boundary.at < len(turns)), len(turns)})
    parts: list[tuple[Turn, ...]] = []
    for start, end in pairwise(places):
        while end - start > most_turns:
            stop = _stop(turns, start, end, most_turns)
            parts.append(tuple(turns[start:stop]))
            start = stop
        if start < end:
            parts.append(tuple(turns[start:end]))
    return tuple(Episode(index, part) for index, part in enumerate(parts))


def episode_windows(
    episodes: Sequence[Episode], *, soft_tokens: int = 26_000, hard_tokens: int = 32_000
) -> tuple[Window, ...]:
    """Return the windows that episodes are extracted in: short ones share a window, none is split but one that is
    larger than ``hard_tokens``, which is cut between messages as an over-long turn is."""
    wholes = [Turn(episode.messages) for episode in episodes]
    return pack_windows(wholes, soft_tokens=soft_tokens, hard_tokens=hard_tokens)


def _stop(turns: Sequence[Turn], start: int, end: int, most: int) -> int:
    """Return where the first part of too long an episode ends: before the last question that it would cut off."""
    parts = -(-(end - start) // most)
    whole = start + -(-(end - start) // parts)
    stop = whole
    while stop > start + 1 and asks(turns[stop - 1].messages[-1].content):
        stop -= 1
    return stop if not asks(turns[stop - 1].messages[-1].content) else whole
