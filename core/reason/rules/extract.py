"""The extractor without a model: messages to typed candidates by sentence structure, the rest kept in its own words."""

from collections.abc import Sequence

from mindmem.core.language.words import has_substance
from mindmem.core.reason.port import Candidate, Envelope, Extraction, Judged, Verdict
from mindmem.core.reason.rules import junk
from mindmem.core.reason.rules.entities import TECHNOLOGY
from mindmem.core.reason.rules.neighbours import neighbours
from mindmem.core.reason.rules.subjects import People
from mindmem.core.reason.rules.traces import Traces
from mindmem.core.reason.rules.utterances import Surroundings, Utterance
from mindmem.core.records import Message

__all__ = ["RulesExtractor"]


class RulesExtractor:
    """Finds the claims of windows by rules: deterministic, without network, English and Chinese.

    What can't be structured is kept whole as one episodic candidate a message; what carries nothing is skipped by name.
    """

    async def extract(self, envelopes: Sequence[Envelope]) -> list[Verdict[Extraction]]:
        """Return one verdict per envelope, in order; every message gives candidates or a reason."""
        return [Judged(_Window(envelope).extraction()) for envelope in envelopes]


class _Window:
    """One window's messages in order, with their neighbours."""

    def __init__(self, envelope: Envelope) -> None:
        window = envelope.window
        self._evidence = window.evidence
        self._all = (*window.before, *window.evidence, *window.after)
        self._first = len(window.before)
        speakers = frozenset(m.name.lower() for m in self._all if m.name and m.role != "tool")
        self._around = Surroundings(
            speakers=speakers,
            known=speakers | TECHNOLOGY,
            agent=any(message.role == "tool" for message in self._all),
            zone=envelope.timezone,
            answered=any(message.role == "assistant" for message in self._all),
            people=People(speakers),
        )
        self._traces = Traces()

    def extraction(self) -> Extraction:
        """Return what the window's evidence gives."""
        candidates: list[Candidate] = []
        skipped: list[tuple[str, str]] = []
        for place, message in enumerate(self._evidence, start=self._first):
            found, reason = self._read(message, place)
            candidates += found
            if not found or reason:
                skipped.append((message.message_id, reason))
        return Extraction(tuple(candidates), tuple(skipped))

    def _read(self, message: Message, place: int) -> tuple[list[Candidate], str]:
        content = message.content
        if message.role == "system":
            return [], "system prompt"
        if not has_substance(content) and not has_substance(message.caption):
            return [], "no words"
        if message.role == "tool":
            return list(self._traces.read(message, neighbours(self._all, place))), ""
        if junk.is_boot_file(content):
            return [], "boot file"
        stretches = junk.outside_fences(content)
        if not stretches and not message.caption:
            return [], junk.RECALLED
        cut = junk.RECALLED if junk.is_partly_fenced(content) else ""
        if message.role == "assistant" and self._around.agent:
            self._traces.announce(message)
        before = self._all[place - 1].content if place else ""
        utterance = Utterance(message, stretches, self._around, neighbours(self._all, place), before)
        if message.role == "user" and junk.is_dump(content):
            return utterance.kept_whole(), cut
        found, reason = utterance.read()
        return found, reason or cut
