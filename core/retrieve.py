"""Reading: search, context, get, list, scroll, history, timeline, evidence."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mindmem.core.errors import InvalidInput, NotFound, bounded
from mindmem.core.index.filters import All, Filter, Negation, Test, parse_filter
from mindmem.core.llm.port import account, charged_to
from mindmem.core.reason.port import SearchPlan, SearchPlanRequest, Verdict
from mindmem.core.records import Hit, Memory, Message, Page, Scope, SearchResult
from mindmem.core.running import run
from mindmem.core.search.agentic import Done, Retrieved, Step, agentic
from mindmem.core.search.context import render
from mindmem.core.search.recipes import AGENTIC, FAST, recipe_of
from mindmem.core.search.run import LEXICAL_ONLY, SearchRequest, run_searches
from mindmem.core.search.timewords import Asked
from mindmem.core.services import Services
from mindmem.core.upkeep import caught_up

__all__ = [
    "Request",
    "by_event",
    "check_count",
    "check_time",
    "context",
    "evidence",
    "get",
    "history",
    "list_page",
    "scope_filter",
    "scroll",
    "search",
    "search_steps",
    "timeline",
    "was_true",
]

_MAX_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search as a caller states it (see ``Memory.search``)."""

    query: str
    scope: Scope
    top_k: int = 10
    filters: Mapping[str, object] | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    score_threshold: float | None = None
    evidence: bool = False
    strategy: str | None = None


def search(services: Services, request: Request) -> SearchResult:
    """Find memories (see ``Memory.search``)."""
    _check(request)
    if (request.strategy or services.settings.search.strategy) == AGENTIC.name:
        return run(_last(services, request))
    caught_up(services)
    return _found(services, request, (request.query,))[0]


async def search_steps(services: Services, request: Request) -> AsyncGenerator[Step, None]:
    """Find memories in rounds, and yield each step (see ``Memory.search_steps``)."""
    _check(request)
    caught_up(services)
    agentic_request = replace(request, strategy=AGENTIC.name, evidence=False)

    def find(queries: Sequence[str], asked: tuple[Asked, ...]) -> list[SearchResult]:
        return _found(services, agentic_request, queries, asked)

    def like(queries: Sequence[str], asked: tuple[Asked, ...]) -> list[SearchResult]:
        return _found(services, replace(agentic_request, strategy=FAST.name), queries, asked)

    question = SearchPlanRequest(request.query, request.as_of or services.clock.now(), services.settings.timezone)
    steps = agentic(
        find, like, _Charged(services, request.scope), question,
        top_k=request.top_k, rounds=services.settings.search.rounds,
    )  # fmt: skip
    async for step in steps:
        if not request.evidence or not isinstance(step, Retrieved | Done):
            yield step
        elif isinstance(step, Retrieved):
            yield replace(step, hits=_with_evidence(services, request.scope, step.hits))
        else:
            hits = _with_evidence(services, request.scope, step.result.hits)
            yield replace(step, result=replace(step.result, hits=hits))


async def _last(services: Services, request: Request) -> SearchResult:
    async for step in search_steps(services, replace(request, evidence=False)):
        if isinstance(step, Done):
            hits = step.result.hits
            return replace(
                step.result, hits=_with_evidence(services, request.scope, hits) if request.evidence else hits
            )
    raise AssertionError("an agentic search ends with Done")


class _Charged:
    """The reasoner's planner, whose calls are charged to the scope that is searched unless somebody pays already."""

    def __init__(self, services: Services, scope: Scope) -> None:
        self._planner = services.reasoner.plan_search
        self._scope = scope

    async def plan(self, requests: Sequence[SearchPlanRequest]) -> list[Verdict[SearchPlan]]:
        if account() is not None:
            return await self._planner.plan(requests)
        with charged_to(self._scope):
            return await self._planner.plan(requests)


def _found(
    services: Services, request: Request, queries: Sequence[str], asked: tuple[Asked, ...] = ()
) -> list[SearchResult]:
    """Return what each query finds in the place of the request's own."""
    wider = request.as_of is not None or request.known_at is not None
    wanted = replace(_search_request(services, request, wider), asked=asked)
    results = run_searches(
        services.projector.index,
        services.embedder,
        [replace(wanted, query=query) for query in queries],
        reranker=services.reranker,
        recipe=recipe_of(request.strategy or services.settings.search.strategy),
        graphs=services.graphs,
    )
    return [_finished(services, request, found) for found in results]


def _finished(services: Services, request: Request, found: SearchResult) -> SearchResult:
    hits = found.hits
    if request.known_at is not None:
        hits = _as_known(services, request, request.known_at, hits)
    elif request.as_of is not None:
        hits = tuple(hit for hit in hits if was_true(hit.memory, request.as_of))
    hits = hits[: request.top_k]
    if request.evidence:
        hits = _with_evidence(services, request.scope, hits)
    # The services say why there is no embedder, which is more than search knows.
    notes = tuple(note for note in found.notes if not (services.notes and note == LEXICAL_ONLY))
    return SearchResult(hits, (*services.notes, *notes))


def context(services: Services, request: Request, *, token_budget: int) -> str:
    """Render what a search finds for a prompt (see ``Memory.context``)."""
    check_count("token_budget", token_budget)
    return render(search(services, request), token_budget=token_budget, query=request.query)


def get(services: Services, project_id: str, memory_id: str) -> Memory:
    """Return a memory's newest revision, or raise NotFound."""
    if not isinstance(memory_id, str) or not memory_id:
        raise InvalidInput(f"memory_id must be a text such as 'mem_…', got {bounded(memory_id)}.", field="memory_id")
    caught_up(services)
    memory = services.projector.index.get([memory_id]).get(memory_id)
    if memory is None or memory.scope.project_id != project_id or memory.status == "erased":
        raise NotFound(f"No memory {bounded(memory_id)} in project {project_id!r}.")
    return memory


def evidence(services: Services, memory: Memory) -> tuple[Message, ...]:
    """Return the messages that support a memory, in the order of its sources."""
    wanted = _sources(memory)
    found = services.reader.messages(memory.scope.partition, wanted)
    return tuple(found[message_id] for message_id in wanted if message_id in found)


def list_page(
    services: Services, scope: Scope, filters: Mapping[str, object] | None, *, page: int, page_size: int, total: bool
) -> Page:
    """Return one numbered page (see ``Memory.list``)."""
    check_count("page", page)
    check_count("page_size", page_size, _MAX_PAGE)
    wanted = _listed(scope, filters)
    caught_up(services)
    cursor: str | None = None
    for number in range(1, page + 1):
        found = services.projector.index.scan(scope.partition, wanted, cursor=cursor, limit=page_size)
        cursor = found.cursor
        if cursor is None and number < page:
            found = replace(found, memories=())
            break
    count = services.projector.index.count(scope.partition, wanted) if total else None
    return Page(found.memories, cursor, count)


def scroll(
    services: Services, scope: Scope, filters: Mapping[str, object] | None, *, limit: int, cursor: str | None
) -> Page:
    """Return the page after a cursor (see ``Memory.scroll``)."""
    check_count("limit", limit, _MAX_PAGE)
    wanted = _listed(scope, filters)
    caught_up(services)
    found = services.projector.index.scan(scope.partition, wanted, cursor=cursor, limit=limit)
    return Page(found.memories, found.cursor)


def history(services: Services, memory: Memory) -> list[Memory]:
    """Return all revisions, oldest first."""
    return services.reader.revisions(memory.memory_id, memory.scope.partition)


def timeline(services: Services, memory: Memory) -> list[Memory]:
    """Return the memories of the same entity and property, by event time, then when they were said, then recorded."""
    if not memory.entity_id or not memory.property_name:
        return [memory]
    same = All(
        (
            Test("entity_id", "eq", memory.entity_id),
            Test("property_name", "eq", memory.property_name),
            *_ids(memory.scope.without_session()),
        )
    )
    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = services.projector.index.scan(memory.scope.partition, same, order="id", cursor=cursor, limit=_MAX_PAGE)
        found.extend(page.memories)
        cursor = page.cursor
        if cursor is None:
            break
    return sorted(found, key=by_event)


def scope_filter(scope: Scope, *, active: bool) -> All:
    """Return the filter of a scope's app, agent and session, and of active memories."""
    clauses: list[Filter] = list(_ids(scope))
    if active:
        clauses.append(Test("status", "eq", "active"))
    return All(tuple(clauses))


def _ids(scope: Scope) -> tuple[Filter, ...]:
    given = {"app_id": scope.app_id, "agent_id": scope.agent_id, "session_id": scope.session_id}
    return tuple(Test(name, "eq", value) for name, value in given.items() if value)


def _listed(scope: Scope, filters: Mapping[str, object] | None) -> Filter:
    given = parse_filter(filters)
    clauses = scope_filter(scope, active=given is None or not _names(given, "status"))
    return clauses if given is None else All((*clauses.clauses, given))


def _names(given: Filter, field: str) -> bool:
    if isinstance(given, Test):
        return given.field == field
    return any(_names(clause, field) for clause in given.clauses)


def _search_request(services: Services, request: Request, wider: bool) -> SearchRequest:
    now = services.clock.now()
    given = parse_filter(request.filters)
    at = request.as_of or now
    clauses: list[Filter] = list(_ids(request.scope))
    if given is not None:
        clauses.append(given)
    if not wider and (given is None or not _names(given, "status")):
        clauses.append(Test("status", "eq", "active"))
    if request.known_at is None:
        clauses.append(All((Negation((Test("validate_to", "present"),)), Test("validate_to", "gt", at)), any_=True))
    return SearchRequest(
        query=request.query,
        partition=request.scope.partition,
        filter=All(tuple(clauses)),
        top_k=min(100, request.top_k * 5) if wider else request.top_k,
        now=now,
        timezone=services.settings.timezone,
        score_threshold=request.score_threshold,
        settings=services.settings.search,
    )


def _sources(memory: Memory) -> list[str]:
    return list(dict.fromkeys(source.message_id for source in memory.sources))


def _with_evidence(services: Services, scope: Scope, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Read the messages behind all hits at once."""
    owner = scope.partition if scope.user_id else scope.project_id
    wanted = {message_id for hit in hits for message_id in _sources(hit.memory)}
    found = services.reader.messages(owner, sorted(wanted))
    return tuple(
        replace(hit, evidence=tuple(found[one] for one in _sources(hit.memory) if one in found)) for hit in hits
    )


def _as_known(services: Services, request: Request, known_at: datetime, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Put each hit back to the revision that stood at ``known_at``; drop what was not there or did not hold then."""
    scope = request.scope
    owner = scope.partition if scope.user_id else scope.project_id
    then = {memory.memory_id: memory for memory in services.reader.as_of(owner, request.as_of, known_at)}
    return tuple(replace(hit, memory=then[hit.memory.memory_id]) for hit in hits if hit.memory.memory_id in then)


def was_true(memory: Memory, at: datetime) -> bool:
    """Return whether a memory was true in the world at a time, as far as is known today."""
    began = memory.event_time
    if began is not None and began > at:
        return False
    if memory.status == "active":
        return memory.valid_to is None or memory.valid_to > at
    # Archived with an end: superseded, so true until then. Archived without: taken out by somebody.
    return "deleted" not in memory.flags and memory.valid_to is not None and memory.valid_to > at


def _check(request: Request) -> None:
    for name, value in (("as_of", request.as_of), ("known_at", request.known_at)):
        check_time(name, value)
    check_count("top_k", request.top_k, 100)
    if request.strategy is not None:
        recipe_of(request.strategy)
    least = request.score_threshold
    if least is not None and (isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1):
        raise InvalidInput(f"score_threshold must be a number in 0..1, got {bounded(least)}.", field="score_threshold")


def check_time(name: str, value: datetime | None) -> None:
    """Raise InvalidInput unless ``value`` is None or an aware datetime."""
    if value is not None and (not isinstance(value, datetime) or value.tzinfo is None):
        raise InvalidInput(
            f"{name} must be a datetime with a time zone, got {bounded(value)}: add tzinfo=timezone.utc.", field=name
        )


def check_count(name: str, value: int, most: int | None = None) -> None:
    """Raise InvalidInput unless ``value`` is a whole number from 1 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1 or (most is not None and value > most):
        limit = "" if most is None else f" to {most}"
        raise InvalidInput(f"{name} must be a whole number from 1{limit}, got {bounded(value)}.", field=name)


def by_event(memory: Memory) -> tuple[float, float, int, bool]:
    """Return what puts memories in event time: what has no time of its own counts as of when it was recorded, and of
    one change what it left active comes last."""
    event = memory.event_time or memory.recorded_at
    when = event.timestamp() if event else 0.0
    said = memory.observed_at.timestamp() if memory.observed_at else when
    return when, said, memory.seq, memory.status == "active"
