"""KeyDescriber without a model: names, kind, what is told of an entity, and other words for that."""

from collections.abc import Sequence
from typing import Final

from mindmem.core.language.words import stem, words
from mindmem.core.reason.port import Judged, Verdict
from mindmem.core.reason.rules.schema.episode import salient
from mindmem.core.reason.schema_port import Described, KeyRequest
from mindmem.core.schema.names import family
from mindmem.core.schema.questions import fine_name, schema_property

__all__ = ["AUGMENTED", "MOST", "RulesDescriber"]

MOST: Final = 10
AUGMENTED: Final = 4
_ALIASES: Final = 3
_SYNONYMS: Final = {
    "residence": "home city address", "occupation": "job employer profession", "education": "school studies degree",
    "relationship": "partner spouse marriage", "family": "relatives parents siblings", "friendship": "friends",
    "health": "illness allergy diet", "preference": "favourites tastes", "hobby": "pastime leisure",
    "skill": "abilities", "possession": "belongings", "pet": "animals", "plan": "intentions goals",
    "event": "happenings", "travel": "trips places", "work_in_progress": "projects",
    "feeling": "mood opinion", "routine": "habits", "contact": "phone email",
    "identity": "age birthday", "likes": "favourites", "lives_in": "home", "works_at": "employer", "ownership": "owner",
    "location": "place", "people": "staff founders", "authorship": "author creator", "participation": "guests members",
}  # fmt: skip
"""Other words for what a property tells."""
_KINDS: Final = {
    "person": "person", "organization": "organization company", "place": "place location", "animal": "animal pet",
    "event": "event occasion", "work": "work creation", "item": "thing product",
}  # fmt: skip


class RulesDescriber:
    """Writes keys from the words of names, kinds and memories, deterministically."""

    async def describe(self, requests: Sequence[KeyRequest]) -> list[Verdict[Described]]:
        """Return one judgement per request, in order."""
        return [Judged(Described(_keys(request))) for request in requests]


def _keys(request: KeyRequest) -> tuple[str, ...]:
    entity = request.entity
    memories = [one for one in request.memories if one.order == 1]
    kind = _KINDS.get(family(entity.entity_type), entity.entity_type if entity.entity_type != "thing" else "")
    used = {stem(word) for one in memories for word in words(one.content)} | {stem(word) for word in words(entity.name)}
    told = list(salient((one.content for one in memories), words(entity.name)))
    other = [
        word
        for prop in dict.fromkeys(one.property_name for one in memories)
        for word in (_SYNONYMS.get(schema_property(prop)) or _SYNONYMS.get(fine_name(prop), "")).split()
        if stem(word) not in used
    ]
    augmented = list(dict.fromkeys(other))[:AUGMENTED]
    plain = [entity.name, *entity.aliases[:_ALIASES], *([kind] if kind else []), *told]
    kept = list(dict.fromkeys(plain))[: MOST - len(augmented)]
    return tuple(dict.fromkeys((*kept, *augmented)))[:MOST]
