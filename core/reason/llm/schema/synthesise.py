"""The synthesiser that asks a model: conclusions from at least two memories, none of which says more than they do.

A conclusion that has lost one of its memories is renewed by the model or retired; so is one that never had two.
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.language.words import has_substance
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG, without_roles
from mindmem.core.reason.llm.memories import NOTHING, one_line
from mindmem.core.reason.llm.memories import shown as shown_memories
from mindmem.core.reason.llm.schema.replies import Synthesised, SynthesiseReply
from mindmem.core.reason.llm.schema.said import Said
from mindmem.core.reason.port import Failed, Judged, Verdict
from mindmem.core.reason.rules.schema.heard import UNTRUSTED
from mindmem.core.reason.schema_port import Synthesis, Synthesiser, SynthesisRequest
from mindmem.core.records import Memory
from mindmem.core.records.schema import EntityType, Property
from mindmem.core.redact import redact
from mindmem.core.settings import LlmSettings

__all__ = ["FREE", "MOST", "LlmSynthesiser"]

log = logging.getLogger(__name__)

FREE: Final = "pattern"
"""The property of a conclusion that fits none of its type's."""
MOST: Final = 6
"""New conclusions about one entity at a time."""
_MEMORIES: Final = 80
_SHOWN: Final = 240  # characters of a memory
_DESCRIBED: Final = 160  # characters of a property's description
_LONGEST: Final = 400  # characters of a conclusion
_SURE: Final = 0.7
_FOUNDED: Final = 0.25
"""Least part of a conclusion's content words that its evidence has: summing up needs words of its own."""
_ABSOLUTE: Final = frozenset(
    "always never every everyone everybody everything everywhere only forever constantly".split()
)
_ABSOLUTE_CJK: Final = re.compile("总是|从不|从来|每|一直|永远|所有|只有")
"""Words that claim more than some memories can show, unless one of them says so."""


class LlmSynthesiser:
    """Draws properties of order 2 by a model. An entity with fewer than two memories asks nothing.

    An entity whose reply stays unreadable is judged by ``fallback``, each conclusion marked, where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: Synthesiser | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def synthesise(self, requests: Sequence[SynthesisRequest]) -> list[Verdict[tuple[Synthesis, ...]]]:
        """Return one verdict per request, in order: what is new, renewed or retired.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        return await gathered([self._entity(request) for request in requests])

    async def _entity(self, request: SynthesisRequest) -> Verdict[tuple[Synthesis, ...]]:
        usable = [one for one in request.memories if one.order == 1 and UNTRUSTED not in one.flags]
        if len(usable) < 2:
            return Judged(tuple(map(_retired, request.current)))
        memories = _chosen(usable, request.current)
        question = load_prompt("synthesise").question(
            SynthesiseReply,
            entity=one_line(f"{request.entity.name} ({request.entity.entity_type})", 200),
            allowed=_allowed(request.entity_type),
            memories=shown_memories(memories, long=_SHOWN),
            current=_current(request.current, memories),
        )
        verdict = await self._model.ask(bounded_output(question, self._settings))
        if not isinstance(verdict, Failed):
            return Judged(_Reader(request, memories, usable).read(verdict.value.value.properties))
        if verdict.transient or self._fallback is None:
            return verdict
        [judged] = await self._fallback.synthesise([request])
        if not isinstance(judged, Judged):
            return judged
        return Judged(tuple(replace(one, flags=(*one.flags, FALLBACK_FLAG)) for one in judged.value))


class _Reader:
    """Reads the conclusions about one entity; ``memories`` are those that were shown, ``usable`` all that are left."""

    def __init__(self, request: SynthesisRequest, memories: Sequence[Memory], usable: Sequence[Memory]) -> None:
        self._request = request
        self._memories = memories
        self._left = {one.memory_id for one in usable}
        self._properties = {one.name for one in _of_order_2(request.entity_type)}

    def read(self, items: Sequence[Synthesised]) -> tuple[Synthesis, ...]:
        current = self._request.current
        found: dict[str, Synthesis] = {}  # by the conclusion that is replaced, or by content
        kept: set[str] = set()
        refused = []
        said = {normalise_claim(one.content) for one in current}
        for item in items:
            old = current[item.replaces - 1] if 1 <= item.replaces <= len(current) else None
            if old is not None and not has_substance(item.content):
                found.setdefault(old.memory_id, _retired(old))
                continue
            made = self._made(item, old)
            if isinstance(made, str):
                refused.append(made)
            elif old is not None and _same(made, old):
                kept.add(old.memory_id)
            elif old is not None:
                found.setdefault(old.memory_id, made)
            elif normalise_claim(made.content) not in said and sum(not one.replaces for one in found.values()) < MOST:
                found.setdefault(normalise_claim(made.content), made)
        if refused:
            log.warning("%d conclusions could not be stood by; the first: %s", len(refused), refused[0])
        for old in current:
            if old.memory_id not in kept and (len(old.parents) < 2 or not self._left.issuperset(old.parents)):
                found.setdefault(old.memory_id, _retired(old))
        return tuple(found.values())

    def _made(self, item: Synthesised, old: Memory | None) -> Synthesis | str:
        """The conclusion that an item states, or why it can't be stood by."""
        numbers = dict.fromkeys(number for number in item.evidence if 1 <= number <= len(self._memories))
        evidence = list({one.content_hash: one for one in (self._memories[number - 1] for number in numbers)}.values())
        content = redact(one_line(without_roles(item.content), _LONGEST))[0]
        if len(evidence) < 2:
            return "fewer than two memories as evidence"
        if item.confidence < _SURE:
            return "a low confidence"
        if more := self._claims_more(content, evidence):
            return more
        named = item.property.strip()
        return Synthesis(
            property_name=named if named in self._properties else FREE,
            content=content,
            parents=tuple(one.memory_id for one in evidence),
            kind=item.kind,
            replaces=old.memory_id if old is not None else "",
            confidence=min(item.confidence, *(one.confidence for one in evidence)),
        )

    def _claims_more(self, content: str, evidence: Sequence[Memory]) -> str:
        """Why a conclusion says more than its evidence; empty where nothing shows it."""
        entity = self._request.entity
        times = [one.event_time for one in evidence if one.event_time is not None]
        dates = [f"{at:%Y-%m-%d %B} {at.month} {at.day}" for at in times]
        told = Said((entity.name, *entity.aliases, *(f"{one.content} {one.value}" for one in evidence), *dates))
        claims = {normalise_claim(one.content) for one in evidence}
        if not has_substance(content) or normalise_claim(content) in claims:
            return "says what one memory says"
        if told.new_numbers(content, counted=len(evidence)):
            return "a number that its evidence does not have"
        if told.new_names(content):
            return "a name that its evidence does not have"
        words = [word for word in _ABSOLUTE if Said([content]).holds(word)]
        signs = _ABSOLUTE_CJK.findall(content)
        if any(not told.holds(word) for word in words) or any(
            all(sign not in one.content for one in evidence) for sign in signs
        ):
            return "claims what no number of memories shows"
        if told.foreign(content) or told.share(content) < _FOUNDED:
            return "says something else than its evidence"
        return ""


def _retired(old: Memory) -> Synthesis:
    return Synthesis(old.property_name, "", (), "summary", old.memory_id)


def _same(made: Synthesis, old: Memory) -> bool:
    return normalise_claim(made.content) == normalise_claim(old.content) and set(made.parents) == set(old.parents)


def _chosen(usable: Sequence[Memory], current: Sequence[Memory]) -> list[Memory]:
    """The memories that are shown: what conclusions rest on, then the latest; in their order."""
    parents = {parent for one in current for parent in one.parents}
    ranked = sorted(range(len(usable)), key=lambda at: (usable[at].memory_id not in parents, -at))
    return [usable[at] for at in sorted(ranked[:_MEMORIES])]


def _of_order_2(kind: EntityType | None) -> tuple[Property, ...]:
    return kind.of_order(2) if kind is not None else ()


def _allowed(kind: EntityType | None) -> str:
    free = f"- {FREE}: what several memories show together"
    told = [f"- {one.name}: {one_line(one.description, _DESCRIBED)}".rstrip(": ") for one in _of_order_2(kind)]
    return "\n".join(told or [free])


def _current(current: Sequence[Memory], memories: Sequence[Memory]) -> str:
    numbers = {one.memory_id: f"M{number}" for number, one in enumerate(memories, start=1)}
    lines = []
    for number, one in enumerate(current, start=1):
        rests = [numbers[parent] for parent in one.parents if parent in numbers]
        gone = ["memories that are gone"] if len(rests) < len(one.parents) else []
        about = f"S{number} ({one_line(one.property_name, 100)}) {one_line(one.content, _SHOWN)}"
        lines.append(f"{about} rests on: {', '.join((*rests, *gone)) or NOTHING}")
    return "\n".join(lines) or NOTHING
