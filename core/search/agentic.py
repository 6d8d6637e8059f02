"""Agentic search: plan, retrieve, judge whether that is enough, and again, in a few rounds.

Each step is told as it is done, so that a caller can show what is going on, or stop. What the question itself finds
nothing for is not searched in pieces: a floor that holds for one search holds for its rounds.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mindmem.core.reason.port import Failed, SearchPlan, SearchPlanner, SearchPlanRequest
from mindmem.core.reason.port import Judged as Decided
from mindmem.core.records import Hit, SearchResult
from mindmem.core.search.expansion import by_score, claims
from mindmem.core.search.query import normalise_query
from mindmem.core.search.timewords import Asked

__all__ = ["ROUNDS", "Done", "Judged", "Planned", "Retrieved", "Step", "agentic"]

ROUNDS: Final = 3
_SHOWN: Final = 20
"""Hits that the planner is shown."""
_PART: Final = 0.6
"""What a hit's score counts that only a part of the question found."""

_BELOW: Final = 0.99
"""Share of the last hit of the whole question that what only adds to them stays at, at most."""
_BEST: Final = 3
"""Hits that a search for more like them begins with."""
_FEEDBACK: Final = 0.15
"""How far what is like the best hits moves up, as a share of what its score lacks of 1."""
_QUOTED: Final = 150
"""Characters of each that it begins with."""

Find = Callable[[Sequence[str], tuple[Asked, ...]], list[SearchResult]]
"""Searches several queries, and the time that they are about where the plan names one; a result each."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a round is going to search for, the time asked about if any (aware UTC, half-open), and why."""

    round: int
    queries: tuple[str, ...]
    begin: datetime | None = None
    end: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """All that was found up to a round, best first, and how many of the hits are new."""

    round: int
    hits: tuple[Hit, ...]
    new: int


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether what was found is enough, and why (not)."""

    round: int
    enough: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """The result, and after how many rounds."""

    result: SearchResult
    rounds: int


Step = Planned | Retrieved | Judged | Done


async def agentic(
    find: Find, like: Find, planner: SearchPlanner, request: SearchPlanRequest, *, top_k: int, rounds: int = ROUNDS
) -> AsyncIterator[Step]:
    """Yield the steps of a search, the last one ``Done`` with at most ``top_k`` hits.

    ``find`` searches for what is asked, ``like``, which need not follow paths, for what is like the best hits.

    A planner that can't tell or doesn't answer ends the rounds with what was found; a note says why.

    Raises:
        InvalidInput: the question is no text or blank.
    """
    question = normalise_query(request.question)
    found: dict[str, Hit] = {}
    searched: set[str] = set()
    least = 1.0
    plan, notes = await _plan(planner, request, question)
    done = 0
    while done < rounds:
        done += 1
        queries = tuple(query for query in dict.fromkeys(plan.queries) if query not in searched)
        yield Planned(done, queries, plan.begin, plan.end, plan.reason)
        spans = (Asked(plan.begin, plan.end),) if plan.begin or plan.end else ()
        results = find(queries, spans)
        searched.update(queries)
        whole = dict(zip(queries, results, strict=True)).get(question)
        if whole is not None and not whole.hits:
            results = [whole]
        if whole is not None and whole.hits:
            results[queries.index(question)] = whole = _more_like_best(like, question, spans, whole)
            least = whole.hits[:top_k][-1].score
        before = len(found)
        for query, result in zip(queries, results, strict=False):
            if query == question:
                _merge(found, result.hits)
            else:
                _merge(found, (_of_part(hit, least) for hit in result.hits))
        notes += [note for result in results for note in result.notes]
        hits = by_score(found.values())
        yield Retrieved(done, tuple(hits), len(found) - before)
        if done == rounds or (whole is not None and not whole.hits):
            yield Judged(
                done, bool(hits), "the rounds are used up" if hits else "nothing that was asked about is known"
            )
            break
        seen = replace(request, found=tuple(hit.memory for hit in hits[:_SHOWN]))
        plan, more = await _plan(planner, seen, "")
        notes += more
        enough = plan.enough or searched.issuperset(plan.queries)
        yield Judged(done, enough, plan.reason)
        if enough:
            break
    yield Done(SearchResult(tuple(by_score(found.values())[:top_k]), tuple(dict.fromkeys(notes))), done)


async def _plan(planner: SearchPlanner, request: SearchPlanRequest, otherwise: str) -> tuple[SearchPlan, list[str]]:
    """Return the planner's plan; where there is none, one that searches for ``otherwise``, or ends."""
    [verdict] = await planner.plan([request])
    if isinstance(verdict, Decided):
        plan = verdict.value
        return plan if plan.queries or not otherwise else replace(plan, queries=(otherwise,)), []
    why = verdict.reason if isinstance(verdict, Failed) else f"unsure: {verdict.reason}"
    plan = SearchPlan((otherwise,) if otherwise else (), enough=not otherwise, reason=why)
    return plan, [f"Not planned further: {verdict.reason}"] if isinstance(verdict, Failed) else []


def _more_like_best(like: Find, question: str, spans: tuple[Asked, ...], whole: SearchResult) -> SearchResult:
    """Return what the question found, with what is like the best hits moved up (Rocchio's feedback): who asks for all
    that somebody did uses few of the words that tell of it. Claims say one thing each; those alike are on the same."""
    best = [hit.memory for hit in whole.hits[:_BEST]]
    if all(map(claims, best)):
        return whole
    [more] = like([" ".join((question, *(memory.content[:_QUOTED] for memory in best)))], spans)
    alike = {hit.memory.memory_id: hit.score for hit in more.hits}
    hits = by_score(_moved_up(hit, alike.get(hit.memory.memory_id, 0.0)) for hit in whole.hits)
    return replace(whole, hits=tuple(hits))


def _moved_up(hit: Hit, alike: float) -> Hit:
    if not alike:
        return hit
    score = hit.score + _FEEDBACK * alike * (1.0 - hit.score)
    return replace(hit, score=score, explanation={**hit.explanation, "feedback": alike})


def _of_part(hit: Hit, least: float) -> Hit:
    """Return a hit of a part of the question as it counts for the whole: a claim may be the step that the others hang
    on; other words that match a part only add to what the whole question found, below the ``least`` of it."""
    weight = _PART if claims(hit.memory) else min(_PART, _BELOW * least / max(hit.score, _BELOW * least))
    return replace(hit, score=hit.score * weight, explanation={**hit.explanation, "part": weight})


def _merge(found: dict[str, Hit], hits: Iterable[Hit]) -> None:
    for hit in hits:
        old = found.get(hit.memory.memory_id)
        if old is None or hit.score > old.score:
            found[hit.memory.memory_id] = hit
