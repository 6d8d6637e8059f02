"""Speed in schema mode: single adds and searches by strategy, in a store of many users with entities and edges.

The store is filled by commits with ready vectors, as those of ``speed`` are. Times of searches are of whole calls of
``Memory.search`` without the query's embedding, which is shown apart; a user's first search, which reads that user's
part of the index, is shown apart as well. Each strategy begins with an opened store of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mindmem.core.bench.generate import Generator
from mindmem.core.bench.metrics import mean, spread
from mindmem.core.bench.stores import WITHOUT_EMBEDDER, Timed, fill, open_store
from mindmem.core.clock import monotonic
from mindmem.core.search.recipes import Strategy

if TYPE_CHECKING:
    from mindmem.core.memory import Memory

__all__ = ["PARTS", "measure"]

_STRATEGIES: Final[tuple[Strategy, ...]] = ("fast", "balanced", "agentic")
PARTS: Final = (*(f"schema_{strategy}" for strategy in _STRATEGIES), "schema_add")
"""What rows are called."""
_PER_USER: Final = 1_000
_ENTITIES: Final = 100
"""Entities of a user besides the people."""
_SEARCHED: Final = 10
"""Users that are searched in turn, and added to."""


def measure(
    home: Path, size: int, *, queries: int, adds: int, generator: Generator, watch: Callable[[int, int], None]
) -> Iterator[dict[str, object]]:
    """Fill a store with ``size`` memories, up to 1,000 a user, and yield a row for each strategy and one for adds;
    ``watch`` is told how many users are done, and how many there are."""
    from mindmem.core.memory import Memory
    from mindmem.core.records import Scope

    users = max(size // _PER_USER, 1)
    services, timed = open_store(home, mode="schema")
    begun = monotonic()
    with Memory(services=services) as memory:
        for number in range(users):
            user = f"u{number}"
            entities = generator.entities(Scope(user_id=user), _ENTITIES)
            identity = timed.identity if timed else WITHOUT_EMBEDDER
            fill(memory, user, size // users, generator, identity, entities=entities)
            watch(number + 1, users)
        memory.fold()
    base = {"memories": size, "users": users, "fill_s": round(monotonic() - begun, 2)}
    chosen = [f"u{number}" for number in generator.some(_SEARCHED, users)]
    services, timed = open_store(home, mode="schema")
    with Memory(services=services) as memory:
        told = {
            user: [one.content for one in memory.list(user_id=user, page_size=_PER_USER).memories] for user in chosen
        }
    for strategy in _STRATEGIES:
        asked = [(user, generator.question(told[user])) for _ in range(-(-queries // len(chosen))) for user in chosen]
        services, timed = open_store(home, mode="schema")
        with Memory(services=services) as memory:
            yield {"part": f"schema_{strategy}", **base, **_searched(memory, timed, strategy, asked, len(chosen))}
    services, timed = open_store(home, mode="schema")
    with Memory(services=services) as memory:
        yield {"part": "schema_add", **base, **_added(memory, timed, chosen, adds, generator)}


def _searched(
    memory: "Memory", timed: Timed | None, strategy: Strategy, asked: Sequence[tuple[str, str]], users: int
) -> dict[str, object]:
    """Return the spread of the times of searches, the first of each user apart, and how many memories one finds."""
    times, embeds, found = [], [], []
    for user, query in (*asked[:users], *asked):
        before, begun = timed.seconds if timed else 0.0, monotonic()
        found.append(len(memory.search(query, user_id=user, strategy=strategy).hits))
        embeds.append((timed.seconds if timed else 0.0) - before)
        times.append(monotonic() - begun - embeds[-1])
    return {
        **spread(times[users:]),
        "cold_ms": spread(times[:users])["p50_ms"],
        "embed_p50_ms": spread(embeds[users:])["p50_ms"],
        "found": mean(found),
    }


def _added(
    memory: "Memory", timed: Timed | None, users: Sequence[str], adds: int, generator: Generator
) -> dict[str, object]:
    """Return the spread of the times of single adds, the embedder's share apart."""
    times, embeds = [], []
    for number, text in enumerate(generator.texts(len(users) + adds)):
        said = [{"role": "user", "name": text.speaker, "content": text.words}]
        before, begun = timed.seconds if timed else 0.0, monotonic()
        memory.add(said, user_id=users[number % len(users)])
        embeds.append((timed.seconds if timed else 0.0) - before)
        times.append(monotonic() - begun - embeds[-1])
    return {**spread(times[len(users) :]), "embed_p50_ms": spread(embeds[len(users) :])["p50_ms"]}
