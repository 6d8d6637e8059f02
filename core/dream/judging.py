"""What a reasoner wants done about clusters: issues found in windows, then actions for each issue."""

import asyncio
from collections.abc import Sequence

from mindmem.core.dream.clusters import Cluster, windows
from mindmem.core.dream.sayings import Sayings, ordered, said_together
from mindmem.core.reason.dream_port import ActionRequest, DetectRequest, DreamAction, DreamReasoner, Issue, Survey
from mindmem.core.reason.port import Failed, Judged

__all__ = ["Wishes", "wishes_of"]

Wishes = list[tuple[Issue, tuple[DreamAction, ...]]]
"""Issues in the order of their finding, each with what is to be done about it."""


async def wishes_of(
    reasoner: DreamReasoner, some: Sequence[Cluster], survey: Survey, sayings: Sayings, size: int
) -> list[Wishes | Failed | BaseException]:
    """Return what is wanted about each cluster, all asked about at once; an error of one is no other's.

    Args:
        size: memories of a window.
    """
    asked = (_wishes(reasoner, one, survey, sayings, size) for one in some)
    return await asyncio.gather(*asked, return_exceptions=True)


async def _wishes(
    reasoner: DreamReasoner, cluster: Cluster, survey: Survey, sayings: Sayings, size: int
) -> Wishes | Failed:
    requests = []
    for window in windows(cluster, survey, size):
        memories = tuple(ordered(window, sayings))
        requests.append(DetectRequest(memories, survey, said_together(memories, sayings)))
    issues: list[Issue] = []
    for verdict in await reasoner.detect.detect(requests):
        if isinstance(verdict, Failed):
            return verdict
        if isinstance(verdict, Judged):
            issues.extend(verdict.value)
    known = {memory.memory_id: memory for memory in cluster.memories}
    asked = [ActionRequest(issue, tuple(known[one] for one in issue.memory_ids if one in known)) for issue in issues]
    plans = await reasoner.act.plan(asked)
    failed = next((one for one in plans if isinstance(one, Failed)), None)
    if failed is not None:
        return failed
    return [
        (request.issue, verdict.value)
        for request, verdict in zip(asked, plans, strict=True)
        if isinstance(verdict, Judged)
    ]
