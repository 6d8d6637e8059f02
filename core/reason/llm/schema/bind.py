"""The binder that asks a model: types and properties of the schema, relations and aliases, all within what was shown.

The rules bind first, without asking; what the model says of a candidate takes the place of that where it holds, so that
a reply which is wrong or short of something loses nothing. What commands its reader is neither asked about nor asked.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.language.words import estimate_tokens
from mindmem.core.llm.port import Model, Reply
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, flagged
from mindmem.core.reason.llm.evidence import render_evidence
from mindmem.core.reason.llm.memories import one_line
from mindmem.core.reason.llm.schema.bound import Reader, Reading
from mindmem.core.reason.llm.schema.episode import Episode, Part
from mindmem.core.reason.llm.schema.offered import SCHEMA_TOKENS, bindable, by_name, fitted, render, render_types
from mindmem.core.reason.llm.schema.replies import BindReply, TypesReply
from mindmem.core.reason.port import Candidate, Failed, Judged, Verdict
from mindmem.core.reason.rules.schema.bind import RulesBinder
from mindmem.core.reason.schema_port import SchemaBinder, SchemaBound, SchemaRequest
from mindmem.core.records.schema import EPISODE, EntityType, Schema
from mindmem.core.settings import LlmSettings

__all__ = ["BATCH", "LlmBinder"]

log = logging.getLogger(__name__)

BATCH: Final = 24
"""Candidates of one question."""
_MOST_TYPES: Final = 10
_SHOWN: Final = 400  # characters of a claim
_GUIDANCE: Final = 300  # characters of what a schema says of titles and summaries
_LONGEST: Final = 600  # characters of a summary


class LlmBinder:
    """Binds by a model. Episodes without a claim to bind ask nothing: the rules bind them.

    An episode whose reply stays unreadable is judged by ``fallback``, each candidate marked, where there is one.
    ``catch_all`` says whether what fits no property goes to the catch-all.
    """

    def __init__(
        self, model: Model, settings: LlmSettings, fallback: SchemaBinder | None = None, *, catch_all: bool = True
    ) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback
        self._catch_all = catch_all
        self._rules = RulesBinder(catch_all=catch_all)

    async def bind(self, requests: Sequence[SchemaRequest]) -> list[Verdict[SchemaBound]]:
        """Return one verdict per request, in order.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        return await gathered([self._episode(request) for request in requests])

    async def _episode(self, request: SchemaRequest) -> Verdict[SchemaBound]:
        [plain] = await self._rules.bind([request])
        assert isinstance(plain, Judged)  # rules have no doubts here
        episode, types = Episode.of(request, plain.value), bindable(request.schema)
        if not episode.open or not types:
            return plain
        verdict = await self._asked(episode, types)
        if not isinstance(verdict, Failed):
            return Judged(_joined(plain.value, verdict))
        if verdict.transient or self._fallback is None:
            return verdict
        return await self._by_fallback(request, verdict)

    async def _asked(self, episode: Episode, types: Sequence[EntityType]) -> list[Reading] | Failed:
        chosen = await self._types(episode, types)
        if isinstance(chosen, Failed):
            return chosen
        places = episode.open
        batches = [places[at : at + BATCH] for at in range(0, len(places), BATCH)]
        return _all(await gathered([self._part(episode, chosen, one) for one in batches]))

    async def _types(self, episode: Episode, types: Sequence[EntityType]) -> Sequence[EntityType] | Failed:
        """The types of a large schema that the episode's claims may be about; all of a small one."""
        if len(types) == 1 or estimate_tokens(render(types)) <= SCHEMA_TOKENS:
            return types
        question = load_prompt("select_types").question(
            TypesReply, types=render_types(types), candidates=_claims(episode.candidates, episode.open)
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if isinstance(verdict, Failed):
            return verdict
        found = {kind.name: kind for name in verdict.value.value.types if (kind := by_name(types, name)) is not None}
        if len(found) < len(verdict.value.value.types):
            log.warning("Types that the schema does not have were named; they are left out")
        ours = {one.entity_type for one in episode.plain.candidates}
        wanted = [*found.values(), *(kind for kind in types if kind.name in ours and kind.name not in found)]
        return wanted[:_MOST_TYPES] or types

    async def _part(
        self, episode: Episode, types: Sequence[EntityType], places: Sequence[int]
    ) -> list[Reading] | Failed:
        """Ask about some candidates, and about each half of them where the reply was cut."""
        part = Part.of(episode, fitted(types, [episode.candidates[place] for place in places]), places)
        verdict = await self._ask(episode, part)
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        if cut and len(places) > 1:
            half = len(places) // 2
            halves = [self._part(episode, types, one) for one in (places[:half], places[half:])]
            return _all(await gathered(halves))
        if isinstance(verdict, Failed):
            return verdict
        return [Reader(episode, part, catch_all=self._catch_all).read(verdict.value)]

    async def _ask(self, episode: Episode, part: Part) -> Judged[Reply[BindReply]] | Failed:
        question = load_prompt("bind").question(
            BindReply,
            schema=f"{render(part.types)}{_guidance(episode.request.schema)}",
            messages=render_evidence(part.shown, episode.request.timezone),
            candidates=_claims(episode.candidates, part.places, part.numbers),
        )
        return await self._model.ask(bounded_output(question, self._settings))

    async def _by_fallback(self, request: SchemaRequest, failed: Failed) -> Verdict[SchemaBound]:
        assert self._fallback is not None
        [verdict] = await self._fallback.bind([request])
        if not isinstance(verdict, Judged):
            return verdict
        rejected = (*verdict.value.rejected, (f"judged by rules instead: {failed.reason}", failed.raw))
        marked = flagged(verdict.value.candidates, FALLBACK_FLAG)
        return Judged(replace(verdict.value, candidates=marked, rejected=rejected))


def _guidance(schema: Schema) -> str:
    told = schema.by_name[EPISODE].instruction if EPISODE in schema.by_name else ""
    return f"\ntitle and summary: {one_line(told, _GUIDANCE)}" if told.strip() else ""


def _claims(
    candidates: Sequence[Candidate], places: Sequence[int], numbers: Sequence[Sequence[int]] | None = None
) -> str:
    lines = []
    for number, place in enumerate(places, start=1):
        one = candidates[place]
        about = " · ".join(part for part in (one.entity_name, one.entity_type, one.property_name) if part)
        marks = [flag for flag in one.flags if flag in ("negated", "past")]
        parts = (
            f"[{', '.join(map(str, numbers[number - 1]))}]" if numbers else "",
            f"({one_line(about, 200)})",
            f"[{', '.join(marks)}]" if marks else "",
            one_line(one.content, _SHOWN),
        )
        lines.append(f"C{number} {' '.join(part for part in parts if part)}")
    return "\n".join(lines)


def _all(found: Sequence[list[Reading] | Failed]) -> list[Reading] | Failed:
    """The parts of an episode; where one of them has failed, so has the episode, lest the rest seem all of it."""
    failed = [one for one in found if isinstance(one, Failed)]
    if failed:
        raw = "\n".join(one.raw for one in failed if one.raw)
        return Failed(failed[0].reason, transient=any(one.transient for one in failed), raw=raw)
    return [reading for one in found if not isinstance(one, Failed) for reading in one]


def _joined(plain: SchemaBound, readings: Sequence[Reading]) -> SchemaBound:
    candidates = list(plain.candidates)
    for reading in readings:
        for place, candidate in reading.candidates.items():
            candidates[place] = candidate
    relations = {(one.source, one.target, one.kind): one for reading in reversed(readings) for one in reading.relations}
    rejected = tuple(one for reading in readings for one in reading.rejected)
    if rejected:
        log.warning("%d items of a binding could not be stood by; the first: %s", len(rejected), rejected[0][0])
    summary = " ".join(dict.fromkeys(reading.summary for reading in readings if reading.summary))
    return SchemaBound(
        candidates=tuple(candidates),
        title=next((reading.title for reading in readings if reading.title), plain.title),
        summary=one_line(summary, _LONGEST) or plain.summary,
        relations=tuple(relations.values()),
        aliases=tuple(dict.fromkeys(pair for reading in readings for pair in reading.aliases)),
        rejected=rejected,
    )
