"""The describer that asks a model: search keys of entities in batches, few of them in words that no memory uses.

A key claims nothing, so other words are welcome; numbers, commands, redacted secrets and other scripts are not.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.language.words import estimate_tokens, has_substance, words
from mindmem.core.llm.port import Model
from mindmem.core.prompts.library import load_prompt
from mindmem.core.reason.llm.asking import bounded_output, gathered
from mindmem.core.reason.llm.memories import NOTHING, one_line
from mindmem.core.reason.llm.schema.batches import packed
from mindmem.core.reason.llm.schema.replies import DescribeReply, EntityKeys
from mindmem.core.reason.llm.schema.said import Said, cleaned
from mindmem.core.reason.port import Failed, Judged, Unsure, Verdict
from mindmem.core.reason.rules import junk
from mindmem.core.reason.rules.schema.describe import AUGMENTED, MOST
from mindmem.core.reason.rules.schema.heard import UNTRUSTED
from mindmem.core.reason.schema_port import Described, KeyDescriber, KeyRequest
from mindmem.core.redact import holds_mark, redact
from mindmem.core.settings import LlmSettings

__all__ = ["BATCH", "LlmDescriber"]

log = logging.getLogger(__name__)

BATCH: Final = 8
"""Entities of one question."""
_TOKENS: Final = 5_000
_MEMORIES: Final = 30  # of one entity, the latest
_SHOWN: Final = 160  # characters of each
_LONGEST: Final = 60  # characters of a key
_WORDS: Final = 12


class LlmDescriber:
    """Writes search keys by a model. An entity without memories asks nothing and has none.

    Entities whose reply stays unreadable are described by ``fallback`` where there is one.
    """

    def __init__(self, model: Model, settings: LlmSettings, fallback: KeyDescriber | None = None) -> None:
        self._model = model
        self._settings = settings
        self._fallback = fallback

    async def describe(self, requests: Sequence[KeyRequest]) -> list[Verdict[Described]]:
        """Return one verdict per request, in order; ``Unsure`` where the model has left an entity out.

        Raises:
            BudgetReached: the model may not be asked any more.
        """
        verdicts: dict[int, Verdict[Described]] = {}
        lines = [_contents(request) for request in requests]
        asked = [place for place in range(len(requests)) if lines[place]]
        batches = packed(asked, lambda place: estimate_tokens("\n".join(lines[place])), most=BATCH, within=_TOKENS)
        answers = await gathered([self._batch([requests[place] for place in batch]) for batch in batches])
        for batch, answer in zip(batches, answers, strict=True):
            verdicts |= dict(zip(batch, answer, strict=True))
        return [verdicts.get(place, Judged(Described(()))) for place in range(len(requests))]

    async def _batch(self, requests: Sequence[KeyRequest]) -> list[Verdict[Described]]:
        shown = "\n".join(_entity(number, request) for number, request in enumerate(requests, start=1))
        question = load_prompt("describe").question(DescribeReply, entities=shown)
        verdict = await self._model.ask(bounded_output(question, self._settings))
        cut = verdict.cut if isinstance(verdict, Failed) else verdict.value.cut
        if cut and len(requests) > 1:
            half = len(requests) // 2
            first, second = await gathered([self._batch(requests[:half]), self._batch(requests[half:])])
            return [*first, *second]
        if isinstance(verdict, Failed):
            if verdict.transient or self._fallback is None:
                return [verdict for _ in requests]
            log.warning("Search keys are made by rules instead: %s", verdict.reason)
            return await self._fallback.describe(requests)
        found: dict[int, EntityKeys] = {}
        for one in verdict.value.value.entities:
            found.setdefault(one.entity, one)
        return [_described(request, found.get(number)) for number, request in enumerate(requests, start=1)]


def _contents(request: KeyRequest) -> list[str]:
    trusted = [one for one in request.memories if UNTRUSTED not in one.flags and has_substance(one.content)]
    return [one_line(one.content, _SHOWN) for one in trusted[-_MEMORIES:]]


def _entity(number: int, request: KeyRequest) -> str:
    entity = request.entity
    also = f"; also: {one_line(', '.join(entity.aliases), _SHOWN)}" if entity.aliases else ""
    head = f"E{number} {one_line(entity.name, _SHOWN)} ({one_line(entity.entity_type, 60)}{also})"
    return "\n".join((head, *(f"- {text}" for text in _contents(request)))) or NOTHING


def _described(request: KeyRequest, keys: EntityKeys | None) -> Verdict[Described]:
    """The keys that may be: those in the memories' words, and a few others."""
    if keys is None:
        return Unsure("the model left the entity out")
    told = Said([one.content for one in request.memories])
    names = {normalise_claim(name) for name in (request.entity.name, *request.entity.aliases)}
    own: dict[str, str] = {}
    other: dict[str, str] = {}
    for key in _usable((*keys.keys, *keys.other_words), told):
        claim = normalise_claim(key)
        if claim not in names:
            (own if told.share(key) == 1.0 else other).setdefault(claim, key)
    augmented = list(other.values())[:AUGMENTED]
    return Judged(Described((*list(own.values())[: MOST - len(augmented)], *augmented)))


def _usable(keys: Iterable[str], told: Said) -> Iterable[str]:
    for given in keys:
        key, secrets = redact(cleaned(given))
        odd = secrets or holds_mark(key) or junk.is_instruction(key) or told.new_numbers(key) or told.foreign(key)
        if key and not odd and len(key) <= _LONGEST and len(words(key)) <= _WORDS:
            yield key
