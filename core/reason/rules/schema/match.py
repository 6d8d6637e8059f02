"""EntityMatcher without a model: a part of a name, a nickname or a fuller name denotes the one entity that it fits."""

from collections.abc import Sequence

from mindmem.core.reason.port import Judged, Unsure, Verdict
from mindmem.core.reason.schema_port import EntityMatch, MatchRequest
from mindmem.core.schema.known import fit
from mindmem.core.schema.names import family

__all__ = ["RulesMatcher"]

_CONFIDENCE = {"short": 0.85, "qualified": 0.8}


class RulesMatcher:
    """Decides by the names alone, and only where one entity fits; initials count where the text expands them."""

    async def match(self, requests: Sequence[MatchRequest]) -> list[Verdict[EntityMatch]]:
        """Return one judgement per request, in order."""
        return [_match(request) for request in requests]


def _match(request: MatchRequest) -> Verdict[EntityMatch]:
    found = [(one, *fit(request.name, request.entity_type, one)) for one in request.candidates]
    fitting = [(one, how, fuller) for one, how, fuller in found if how]
    if len(fitting) > 1:
        return Unsure(f"{len(fitting)} entities go by {request.name!r}")
    if not fitting:
        return Judged(EntityMatch("", reason="nothing that is known goes by this name"))
    [(entity, how, fuller)] = fitting
    if fuller and len(found) > 1:
        return Unsure(f"others share the name that {request.name!r} would complete")
    if how not in _CONFIDENCE or (fuller and family(request.entity_type) != "person"):
        return Unsure(f"{request.name!r} may stand for {entity.name!r}, and nothing says so")
    return Judged(
        EntityMatch(entity.entity_id, _CONFIDENCE[how], f"{request.name!r}: the one {entity.name!r} is known")
    )
