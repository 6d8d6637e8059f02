"""RulesActionPlanner: what follows from an issue. Nothing but a sure one retires a memory."""

from collections.abc import Sequence
from itertools import pairwise

from mindmem.core.reason.dream_port import ActionRequest, DreamAction, Issue
from mindmem.core.reason.port import Judged, Verdict

__all__ = ["RulesActionPlanner"]


class RulesActionPlanner:
    """The planner that needs no model."""

    async def plan(self, requests: Sequence[ActionRequest]) -> list[Verdict[tuple[DreamAction, ...]]]:
        """Return one verdict per issue, in order."""
        return [Judged(_actions(request.issue)) for request in requests]


def _actions(issue: Issue) -> tuple[DreamAction, ...]:
    others = [one for one in issue.memory_ids if one != issue.keep]
    if not issue.sure:
        links = pairwise(others)
        return tuple(DreamAction("link", newer, issue.reason, by=older, kind=issue.link) for older, newer in links)
    match issue.kind:
        case "conflict":
            # Each value gave way to the one after it; the last one of them to the one that holds now.
            return tuple(
                DreamAction("supersede", older, issue.reason, by=newer)
                for older, newer in pairwise((*others, issue.keep))
            )
        case "low_value":
            return tuple(DreamAction("archive", one, issue.reason) for one in others)
        case "duplicate" | "near_duplicate" | "complementary":
            folded = tuple(DreamAction("fold", one, issue.reason, by=issue.keep) for one in others)
            written = (DreamAction("write", issue.keep, issue.reason, content=issue.content),) if issue.content else ()
            return (*written, *folded)
        case "ambiguous":
            return ()
