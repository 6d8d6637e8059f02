"""EntityMatcher without a model: a part of a name, a nickname or a fuller name denotes the one entity that it fits."""

from collections.abc import Sequence

from mindmem.core.reason.port import Judged, Unsure, Verdict
from mindmem.core.reason.schema_port import EntityMatch, MatchRequest
from mindmem.core.records import Entity
from mindmem.core.schema.names import Fit, family, fits

__all__ = ["RulesMatcher"]

_CONFIDENCE = {"short": 0.85, "qualified": 0.8}


class RulesMatcher:
    """Decides by the names alone, and only where one entity fits; initials count where the text expands them."""

    async def match(self, requests: Sequence[MatchRequest]) -> list[Verdict[EntityMatch]]:
        """Return one judgement per request, in order."""
        return [_match(request) for request in requests]


def _match(request: MatchRequest) -> Verdict[EntityMatch]:
    longer = [(one, fit) for one in request.candidates if (fit := _fit(request, request.name, one))]
    shorter = [
        one for one in request.candidates if one not in [found for found, _ in longer] and _turned(request, one)
    ]
    fitting = [*longer, *((one, "short") for one in shorter)]
    if len(fitting) > 1:
        return Unsure(f"{len(fitting)} entities go by {request.name!r}")
    if not fitting:
        return Judged(EntityMatch("", reason="nothing that is known goes by this name"))
    [(entity, fit)] = fitting
    if shorter and len(request.candidates) > 1:
        return Unsure(f"others share the name that {request.name!r} would complete")
    if fit not in _CONFIDENCE or (shorter and family(request.entity_type) != "person"):
        return Unsure(f"{request.name!r} may stand for {entity.name!r}, and nothing says so")
    return Judged(EntityMatch(entity.entity_id, _CONFIDENCE[fit], f"{request.name!r} is the only {entity.name!r} known"))


def _fit(request: MatchRequest, short: str, entity: Entity) -> Fit:
    person = "person" in (family(request.entity_type), family(entity.entity_type))
    return next((fit for name in (entity.name, *entity.aliases) if (fit := fits(short, name, person=person))), "")


def _turned(request: MatchRequest, entity: Entity) -> bool:
    person = "person" in (family(request.entity_type), family(entity.entity_type))
    return any(fits(name, request.name, person=person) == "short" for name in (entity.name, *entity.aliases))
