"""The extractor that asks a model: one question a window, halved where the answer would not fit, then checked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.llm.port import Model, Reply
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, Reader, Refused, flagged
from mindmem.core.reason.llm.evidence import Shown, evidence_of, halves, render_context, render_evidence
from mindmem.core.reason.llm.memories import shown as shown_memories
from mindmem.core.reason.llm.replies import ExtractReply
from mindmem.core.reason.port import Candidate, Envelope, Extraction, Extractor, Failed, Judged, Verdict
from mindmem.core.settings import LlmSettings

__all__ = ["LlmExtractor"]

_DEPTH: Final = 4
"""How often evidence is halved at most: sixteen questions instead of one."""
_RECALLED: Final = 600  # characters of a recalled memory
_REASON: Final = 120  # characters of a model's reason for a skip


class LlmExtractor:
    """Finds the claims of windows by a model. Windows without words to read ask nothing.

    A window whose reply stays unreadable is judged by ``fallback``, each candidate marked, where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: Extractor | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def extract(self, envelopes: Sequence[Envelope]) -> list[Verdict[Extraction]]:
        """Return one verdict per envelope, in order.

        Raises:
            BudgetReached: the model may not be asked any more; what was asked meanwhile is in its cache.
        """
        return await gathered([self._window(envelope) for envelope in envelopes])

    async def _window(self, envelope: Envelope) -> Verdict[Extraction]:
        shown, skipped = evidence_of(envelope)
        if not shown:
            return Judged(Extraction((), skipped))
        verdict = await self._part(envelope, shown, _DEPTH)
        if isinstance(verdict, Failed) and not verdict.transient and self._fallback is not None:
            return await self._by_fallback(envelope, verdict)
        if isinstance(verdict, Judged):
            found = verdict.value
            return Judged(replace(found, skipped=(*skipped, *found.skipped)))
        return verdict

    async def _part(self, envelope: Envelope, shown: Sequence[Shown], depth: int) -> Verdict[Extraction]:
        """Ask about some of the evidence, and about each half of it where the reply was cut."""
        verdict = await self._ask(envelope, shown)
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        parts = halves(shown) if cut and depth else None
        if parts is None:
            return verdict if isinstance(verdict, Failed) else Judged(_extraction(envelope, shown, verdict.value))
        asked = [self._part(envelope, part, depth - 1) for part in parts]
        return _joined(await gathered(asked))

    async def _ask(self, envelope: Envelope, shown: Sequence[Shown]) -> Judged[Reply[ExtractReply]] | Failed:
        question = load_prompt("extract").question(
            ExtractReply,
            zone=envelope.timezone,
            recalled=shown_memories(envelope.recalled, envelope.timezone, long=_RECALLED),
            context=render_context(envelope, shown),
            evidence=render_evidence(shown, envelope.timezone),
        )
        return await self._model.ask(bounded_output(question, self._settings))

    async def _by_fallback(self, envelope: Envelope, failed: Failed) -> Verdict[Extraction]:
        assert self._fallback is not None
        [verdict] = await self._fallback.extract([envelope])
        if not isinstance(verdict, Judged):
            return verdict
        marked = flagged(verdict.value.candidates, FALLBACK_FLAG)
        rejected = (*verdict.value.rejected, (f"judged by rules instead: {failed.reason}", failed.raw))
        return Judged(replace(verdict.value, candidates=marked, rejected=rejected))


def _extraction(envelope: Envelope, shown: Sequence[Shown], reply: Reply[ExtractReply]) -> Extraction:
    """What of a reply can be stood by."""
    reader = Reader(envelope, shown)
    items = reply.value.memories
    reader.note_instructions(items)
    candidates = {_key(candidate): candidate for candidate in reader.quoted()}
    rejected = [(one.reason, one.raw) for one in reply.rejected]
    skipped = [
        (shown[one.message - 1].message.message_id, one.reason.strip()[:_REASON] or "carries nothing")
        for one in reply.value.skipped
        if 1 <= one.message <= len(shown)
    ]
    for item in items:
        made = reader.candidate(item)
        if isinstance(made, Candidate):
            candidates.setdefault(_key(made), made)
        elif isinstance(made, Refused) and not made.known:
            rejected.append((made.reason, item.model_dump_json()))
    heard = {source.message_id for candidate in candidates.values() for source in candidate.sources}
    return Extraction(tuple(candidates.values()), tuple(one for one in skipped if one[0] not in heard), tuple(rejected))


def _key(candidate: Candidate) -> tuple[str, ...]:
    """What makes two items of one reply the same."""
    return (normalise_claim(candidate.content), candidate.entity_name, candidate.property_name, candidate.value)


def _joined(verdicts: Sequence[Verdict[Extraction]]) -> Verdict[Extraction]:
    """The parts of a window as one; where one of them has failed, so has the window, lest the rest seem all of it."""
    failed = [verdict for verdict in verdicts if isinstance(verdict, Failed)]
    if failed:
        raw = "\n".join(one.raw for one in failed if one.raw)
        return Failed(failed[0].reason, transient=any(one.transient for one in failed), raw=raw)
    found = [verdict.value for verdict in verdicts if isinstance(verdict, Judged)]
    heard = {source.message_id for one in found for candidate in one.candidates for source in candidate.sources}
    return Judged(
        Extraction(
            tuple(candidate for one in found for candidate in one.candidates),
            tuple(dict.fromkeys(skip for one in found for skip in one.skipped if skip[0] not in heard)),
            tuple(item for one in found for item in one.rejected),
        )
    )
