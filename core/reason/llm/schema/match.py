"""The matcher that asks a model: names in batches beside the entities that each might be, "same" only where it can be.

Whoever is mixed up with another is hard to part again, so that all doubt keeps two apart: a low confidence, kinds that
exclude each other, two proper names of which neither is a form of the other and nothing said joins them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.language.words import estimate_tokens, has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, without_roles
from mindmem.core.reason.llm.memories import NOTHING, one_line
from mindmem.core.reason.llm.schema.batches import packed
from mindmem.core.reason.llm.schema.replies import Matched, MatchReply
from mindmem.core.reason.llm.schema.said import Said, akin, proper
from mindmem.core.reason.port import Failed, Judged, Unsure, Verdict
from mindmem.core.reason.schema_port import EntityMatch, EntityMatcher, MatchRequest
from mindmem.core.records import Entity
from mindmem.core.redact import redact
from mindmem.core.schema.names import incompatible
from mindmem.core.settings import LlmSettings

__all__ = ["BATCH", "SURE", "LlmMatcher"]

BATCH: Final = 12
"""Names of one question."""
SURE: Final = 0.8
"""Least confidence in that two are one."""
_TOKENS: Final = 4_000
"""Names are asked about together as long as they and their entities come to about so much."""
_PERHAPS: Final = 15  # entities of one name
_KNOWN: Final = 4  # memories of an entity
_SAID: Final = 4  # claims about a name
_SHOWN: Final = 200  # characters of each
_DESCRIPTION: Final = 400  # characters
_FOUNDED: Final = 0.75
"""Least part of a description's content words that was known or said."""


class LlmMatcher:
    """Tells by a model whether names denote entities that are known. A name without any near it asks nothing.

    Names whose reply stays unreadable are judged by ``fallback`` where there is one; the reasons say so.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: EntityMatcher | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def match(self, requests: Sequence[MatchRequest]) -> list[Verdict[EntityMatch]]:
        """Return one verdict per request, in order; ``Unsure`` where two are better kept apart.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        verdicts: dict[int, Verdict[EntityMatch]] = {
            place: Judged(EntityMatch("", reason="nothing like it is known"))
            for place, request in enumerate(requests)
            if not request.candidates
        }
        asked = (place for place in range(len(requests)) if place not in verdicts)
        batches = packed(asked, lambda place: _size(requests[place]), most=BATCH, within=_TOKENS)
        answers = await gathered([self._batch([requests[place] for place in batch]) for batch in batches])
        for batch, answer in zip(batches, answers, strict=True):
            verdicts |= dict(zip(batch, answer, strict=True))
        return [verdicts[place] for place in range(len(requests))]

    async def _batch(self, requests: Sequence[MatchRequest]) -> list[Verdict[EntityMatch]]:
        entities = {one.entity_id: one for request in requests for one in request.candidates[:_PERHAPS]}
        numbers = {name: number for number, name in enumerate(entities, start=1)}
        question = load_prompt("match").question(
            MatchReply, entities=_entities(requests, numbers), names=_names(requests, numbers)
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        if cut and len(requests) > 1:
            half = len(requests) // 2
            first, second = await gathered([self._batch(requests[:half]), self._batch(requests[half:])])
            return [*first, *second]
        if isinstance(verdict, Failed):
            return await self._failed(requests, verdict)
        found: dict[int, Matched] = {}
        for one in verdict.value.value.matches:
            found.setdefault(one.name, one)
        named = list(entities.values())
        return [_checked(request, found.get(number), named) for number, request in enumerate(requests, start=1)]

    async def _failed(self, requests: Sequence[MatchRequest], failed: Failed) -> list[Verdict[EntityMatch]]:
        if failed.transient or self._fallback is None:
            return [failed for _ in requests]
        return [_marked(verdict) for verdict in await self._fallback.match(requests)]


def _marked(verdict: Verdict[EntityMatch]) -> Verdict[EntityMatch]:
    if not isinstance(verdict, Judged):
        return verdict
    return Judged(replace(verdict.value, reason=f"{FALLBACK_FLAG}: {verdict.value.reason}"))


def _size(request: MatchRequest) -> int:
    return estimate_tokens(_entities([request], {})) + estimate_tokens(_names([request], {}))


# ---------------------------------------------------------------------- what is shown


def _entities(requests: Sequence[MatchRequest], numbers: dict[str, int]) -> str:
    lines: dict[str, str] = {}
    for request in requests:
        for place, entity in enumerate(request.candidates[:_PERHAPS]):
            known = request.known[place] if place < len(request.known) else ()
            lines.setdefault(entity.entity_id, _entity(entity, known, numbers.get(entity.entity_id, 0)))
    return "\n".join(lines.values()) or NOTHING


def _entity(entity: Entity, known: Sequence[str], number: int) -> str:
    parts = [f"E{number} {one_line(entity.name, _SHOWN)} ({one_line(entity.entity_type, 60)})"]
    if entity.aliases:
        parts.append(f"also: {one_line(', '.join(entity.aliases), _SHOWN)}")
    if has_substance(entity.description):
        parts.append(f"description: {one_line(entity.description, _DESCRIPTION)}")
    if known:
        parts.append(f"known: {' / '.join(one_line(text, _SHOWN) for text in known[:_KNOWN])}")
    return "; ".join(parts)


def _names(requests: Sequence[MatchRequest], numbers: dict[str, int]) -> str:
    lines = []
    for number, request in enumerate(requests, start=1):
        said = " / ".join(one_line(text, _SHOWN) for text in request.said[:_SAID])
        near = ", ".join(f"E{numbers.get(one.entity_id, 0)}" for one in request.candidates[:_PERHAPS])
        kind = one_line(request.entity_type, 60)
        lines.append(f'N{number} "{one_line(request.name, _SHOWN)}" ({kind}) said: {said or NOTHING} perhaps: {near}')
    return "\n".join(lines)


# ---------------------------------------------------------------------- what holds


def _checked(request: MatchRequest, matched: Matched | None, named: Sequence[Entity]) -> Verdict[EntityMatch]:
    """A match as far as it holds: with one of the name's own entities, sure enough, and possible at all."""
    if matched is None:
        return Unsure("the model left the name out")
    reason = one_line(matched.reason, 200) or matched.verdict
    if matched.verdict == "unsure":
        return Unsure(reason)
    if matched.verdict == "different":
        return Judged(EntityMatch("", matched.confidence or 1.0, reason))
    entity = named[matched.entity - 1] if 1 <= matched.entity <= len(named) else None
    own = {one.entity_id for one in request.candidates[:_PERHAPS]}
    if entity is None or entity.entity_id not in own:
        return Unsure(f"an entity that the name was not compared with: {reason}")
    if matched.confidence < SURE:
        return Unsure(f"same refused (confidence {matched.confidence:.2f}): {reason}")
    if incompatible(request.entity_type, entity.entity_type):
        return Unsure(f"same refused (a {request.entity_type} is no {entity.entity_type}): {reason}")
    known = _known(request, entity)
    if not _may_be(request, entity, known):
        return Unsure(f"same refused (two names that nothing joins): {reason}")
    return Judged(
        EntityMatch(entity.entity_id, matched.confidence, reason, _description(request, entity, known, matched))
    )


def _known(request: MatchRequest, entity: Entity) -> tuple[str, ...]:
    place = next(at for at, one in enumerate(request.candidates) if one.entity_id == entity.entity_id)
    return request.known[place] if place < len(request.known) else ()


def _may_be(request: MatchRequest, entity: Entity, known: Sequence[str]) -> bool:
    names = (entity.name, *entity.aliases)
    if any(akin(request.name, name) for name in names) or not (proper(request.name) and proper(entity.name)):
        return True
    said, remembered = Said(request.said), Said((entity.description, *known))
    return any(said.holds(name) for name in names) or remembered.holds(request.name)


def _description(request: MatchRequest, entity: Entity, known: Sequence[str], matched: Matched) -> str:
    """The merged description, or the one that was known where it states anything new."""
    plain = redact(one_line(without_roles(matched.description), _DESCRIPTION))[0]
    told = Said((request.name, *request.said, entity.name, *entity.aliases, entity.description, *known))
    new = told.new_numbers(plain) or told.new_names(plain) or told.share(plain) < _FOUNDED
    return entity.description if new or not has_substance(plain) else plain
