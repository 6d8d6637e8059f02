"""Speed: ingest and add times, search times by size, opening, memory and disk, on temporary stores.

Texts and vectors are generated (see ``generate``). Stores of one user are filled through the same commit as any add,
with ready vectors, so that adds and openings are measured on real stores. Single adds go to all of these stores in
turn, an empty one and one of many users among them: whatever else the machine does, it does to all sizes alike. The
large stores of many users are filled through the index's ``apply``, and searched there. What schema mode takes is
measured by ``speed_schema``.
"""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mindmem.core.bench import speed_schema
from mindmem.core.bench.generate import Generator
from mindmem.core.bench.metrics import spread
from mindmem.core.bench.results import Results
from mindmem.core.bench.stores import WITHOUT_EMBEDDER, disk_bytes, fill, open_store
from mindmem.core.clock import monotonic
from mindmem.core.errors import InvalidInput, bounded

if TYPE_CHECKING:
    from mindmem.core.memory import Memory

__all__ = ["SpeedPlan", "plan", "run"]

_PER_USER: Final = 1000
"""Memories of each user in the stores of many users that are searched."""
_ADDERS: Final = 10
"""Users of a store of many users that add in turn, once each before times are taken."""
_RECORDED: Final = datetime(2024, 6, 1, tzinfo=UTC)
Watch = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is done, and how much there is."""
_COLUMNS: Final = ("part", "memories", "users", "p50_ms", "p95_ms", "cold_ms", "fill_s", "disk_bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedPlan:
    """What to measure: messages to ingest, single adds, queries a size, memories of one user, memories in all, and
    memories in all in schema mode."""

    messages: int = 400
    adds: int = 40
    queries: int = 100
    user_sizes: tuple[int, ...] = (1_000, 10_000)
    total_sizes: tuple[int, ...] = (20_000,)
    schema_sizes: tuple[int, ...] = (2_000,)


FULL: Final = SpeedPlan(
    messages=5_000,
    adds=200,
    queries=200,
    user_sizes=(1_000, 10_000, 50_000, 100_000),
    total_sizes=(100_000, 1_000_000),
    schema_sizes=(100_000,),
)


def plan(sizes: str | None, *, full: bool, messages: int | None = None, schema_sizes: str | None = None) -> SpeedPlan:
    """Return the quick or the full plan; ``sizes`` (as in ``1000,5000``) replaces its sizes, ``messages`` its ingest.
    With ``schema_sizes`` schema mode is measured at these, and nothing else unless ``sizes`` are given as well.

    Raises:
        InvalidInput: a size is not a positive number.
    """
    chosen = FULL if full else SpeedPlan()
    if messages is not None:
        chosen = replace(chosen, messages=messages)
    if schema_sizes is not None:
        chosen = replace(chosen, user_sizes=(), total_sizes=(), schema_sizes=_numbers("--schema-sizes", schema_sizes))
    if sizes is not None:
        kept = chosen.schema_sizes if schema_sizes is not None else ()
        chosen = replace(chosen, user_sizes=_numbers("--sizes", sizes), total_sizes=(), schema_sizes=kept)
    return chosen


def _numbers(option: str, sizes: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(size) for size in sizes.split(","))
    except ValueError as error:
        raise InvalidInput(f"{option} expects numbers such as 1000,10000, got {bounded(sizes)}.") from error
    if min(numbers) < 1:
        raise InvalidInput(f"{option} expects numbers of at least 1, got {bounded(sizes)}.")
    return numbers


def _unwatched(*_: object) -> None:
    """Tell nobody."""


def run(chosen: SpeedPlan, *, seed: int, watch: Watch = _unwatched) -> Results:
    """Measure everything in the plan and return figures and rows; ``watch`` is told how far it is.

    Search times of rows named ``search_index`` are without the query's embedding, which rows named ``embed_query``
    hold; those of ``search`` are whole calls of ``Memory.search``.
    """
    rows: list[dict[str, object]] = []
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="mindmem-speed-") as folder:
        place = Path(folder)
        if chosen.user_sizes:
            figures |= _ingest(place / "ingest", chosen, Generator(seed), watch)
            rows += _stores(place, chosen, seed, watch)
        for size in chosen.total_sizes:
            rows.append(_many_users(place / f"all-{size}", size, chosen, Generator(seed), watch))
        for size in chosen.schema_sizes:
            rows += speed_schema.measure(
                place / f"schema-{size}",
                size,
                queries=chosen.queries,
                adds=chosen.adds,
                generator=Generator(seed),
                watch=partial(watch, f"{size:,} memories in schema mode"),
            )
    figures |= _figures(rows)
    figures["rss_bytes"] = _peak_rss()
    figures["filled"] = "by commits with ready vectors; memories in all: by the index's apply"
    options = {"--sizes": chosen.user_sizes, "--schema-sizes": chosen.schema_sizes}
    said = " ".join(f"{name} {','.join(map(str, sizes))}" for name, sizes in options.items() if sizes)
    command = f"mindmem bench speed {said} --seed {seed}"
    return Results(benchmark="speed", command=command, seed=seed, figures=figures, rows=rows, table=_COLUMNS)


def _stores(place: Path, chosen: SpeedPlan, seed: int, watch: Watch) -> Iterator[dict[str, object]]:
    """Fill a store of one user for each size and one of many users, and yield the rows of each, then those of adds."""
    stores = [_Filled(place / "empty", 0, 1)]
    for size in chosen.user_sizes:
        stores.append(_Filled(place / f"user-{size}", size, 1))
        yield from _one_user(stores[-1].home, size, chosen, Generator(seed), watch)
    stores.append(_shared(place / "shared", max(chosen.user_sizes), Generator(seed), watch))
    yield from _adds(stores, chosen, Generator(seed + 1))


def _figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    """Return the flat figures of all rows."""
    figures: dict[str, object] = {}
    adds = ("add", "add_embedding", "add_without_embedding")
    for part in (*adds, "search", "search_index", "embed_query", "open", "open_with_imports"):
        figures[f"{part}_p50_ms_by_size"] = _by_size(rows, part)
    for part in adds:
        figures[f"{part}_many_users_p50_ms_by_size"] = _by_size(rows, part, many=True)
    of_size = list(_by_size(rows, "add_without_embedding").values())
    if of_size:
        figures["add_without_embedding_growth"] = round(of_size[-1] / of_size[0], 3)
    figures["search_index_p50_ms_by_total"] = _by_total(rows, "search_all", "p50_ms")
    for part in speed_schema.PARTS:
        for name in ("p50_ms", "p95_ms", "cold_ms", "embed_p50_ms"):
            figures[f"{part}_{name}_by_total"] = _by_total(rows, part, name)
    return {name: value for name, value in figures.items() if value != {}}


def _by_total(rows: Sequence[Mapping[str, Any]], part: str, figure: str) -> dict[str, float]:
    return {str(row["memories"]): row[figure] for row in rows if row["part"] == part and figure in row}


def _by_size(rows: Sequence[Mapping[str, Any]], part: str, *, many: bool = False) -> dict[str, float]:
    """Return the medians of a part by the number of memories, of one user or of many."""
    return {str(row["memories"]): row["p50_ms"] for row in rows if row["part"] == part and (row["users"] > 1) == many}


@dataclass(frozen=True, slots=True)
class _Filled:
    """A store, its memories and its users."""

    home: Path
    memories: int
    users: int

    def user(self, number: int) -> str:
        return f"u{number % min(self.users, _ADDERS)}"


def _ingest(home: Path, chosen: SpeedPlan, generator: Generator, watch: Watch) -> dict[str, object]:
    """Add conversations of 50 messages and return messages a second, and how many of them became memories."""
    from mindmem.core.memory import Memory

    texts = list(generator.texts(chosen.messages))
    services, timed = open_store(home)
    with Memory(services=services) as memory:
        begun, written = monotonic(), 0
        for place in range(0, len(texts), 50):
            messages = [
                {"role": "user", "name": text.speaker, "content": text.words, "timestamp": text.at}
                for text in texts[place : place + 50]
            ]
            written += len(memory.add(messages, user_id="u", session_id=f"s{place}").actions)
            watch("ingest", place + len(messages), len(texts))
        seconds = monotonic() - begun
        folding = monotonic()
        memory.fold()
        folded = monotonic() - folding
    return {
        "ingest_messages": len(texts),
        "ingest_memories": written,
        "ingest_messages_per_s": round(len(texts) / seconds, 1),
        "ingest_embedding_share": round(timed.seconds / seconds, 3) if timed else 0.0,
        "fold_ms": round(folded * 1000, 1),
        "ingest_disk_bytes": disk_bytes(home),
    }


def _one_user(
    home: Path, size: int, chosen: SpeedPlan, generator: Generator, watch: Watch
) -> Iterator[dict[str, object]]:
    """Fill a store of one user, then yield a row for filling, opening and searching it."""
    from mindmem.core.memory import Memory

    services, timed = open_store(home)
    base = {"memories": size, "users": 1}
    with Memory(services=services) as memory:
        begun = monotonic()
        identity = timed.identity if timed else WITHOUT_EMBEDDER
        fill(
            memory, "u0", size, generator, identity, lambda done: watch(f"one user with {size:,} memories", done, size)
        )
        memory.fold()
        fill_s = monotonic() - begun
    yield {"part": "fill", **base, "fill_s": round(fill_s, 2), "disk_bytes": disk_bytes(home)}
    opened = [_opening(home, "u0", generator.query()) for _ in range(3)]
    answered = [(row["open_ms"] + row["first_query_ms"]) / 1000 for row in opened]
    yield {"part": "open", **base, **spread(answered), **opened[0]}
    imported = [row["import_ms"] / 1000 + seconds for row, seconds in zip(opened, answered, strict=True)]
    yield {"part": "open_with_imports", **base, **spread(imported)}
    services, timed = open_store(home)
    with Memory(services=services) as memory:
        yield {"part": "search_index", **base, **_index_times(memory, ["u0"], chosen.queries, generator)}
        times, embeds = [], []
        for _ in range(chosen.queries):
            query, before, begun = generator.query(), timed.seconds if timed else 0.0, monotonic()
            memory.search(query, user_id="u0")
            times.append(monotonic() - begun)
            embeds.append(timed.seconds - before if timed else 0.0)
        yield {"part": "search", **base, **spread(times)}
        yield {"part": "embed_query", **base, **spread(embeds)}


def _shared(home: Path, size: int, generator: Generator, watch: Watch) -> _Filled:
    """Fill a store with ``size`` memories of up to a hundred users by commits."""
    from mindmem.core.memory import Memory

    users = min(100, max(2, size // 10))
    services, timed = open_store(home)
    with Memory(services=services) as memory:
        for number in range(users):
            identity = timed.identity if timed else WITHOUT_EMBEDDER
            fill(memory, f"u{number}", size // users, generator, identity)
            watch(f"{size:,} memories of {users:,} users by commits", number + 1, users)
        memory.fold()
    return _Filled(home, size, users)


def _adds(stores: Sequence[_Filled], chosen: SpeedPlan, generator: Generator) -> Iterator[dict[str, object]]:
    """Add one message at a time to all stores in turn; yield, for each store, the spread of the whole times, of the
    embedder's share and of the rest."""
    from mindmem.core.memory import Memory

    whole: list[list[float]] = [[] for _ in stores]
    embeds: list[list[float]] = [[] for _ in stores]
    with ExitStack() as stack:
        opened = [open_store(store.home) for store in stores]
        memories = [stack.enter_context(Memory(services=services)) for services, _ in opened]
        for number, text in enumerate(generator.texts(_ADDERS + chosen.adds)):
            said = [{"role": "user", "name": text.speaker, "content": text.words}]
            for place, (store, memory, (_, timed)) in enumerate(zip(stores, memories, opened, strict=True)):
                before, begun = timed.seconds if timed else 0.0, monotonic()
                memory.add(said, user_id=store.user(number))
                whole[place].append(monotonic() - begun)
                embeds[place].append(timed.seconds - before if timed else 0.0)
    for store, all_of, embedding in zip(stores, whole, embeds, strict=True):
        base = {"memories": store.memories, "users": store.users}
        rest = [one - other for one, other in zip(all_of, embedding, strict=True)]
        for part, seconds in (("add", all_of), ("add_embedding", embedding), ("add_without_embedding", rest)):
            yield {"part": part, **base, **spread(seconds[_ADDERS:])}


def _many_users(home: Path, size: int, chosen: SpeedPlan, generator: Generator, watch: Watch) -> dict[str, object]:
    """Fill an index with 1,000 memories a user and return the row of searching one user's."""
    from mindmem.core.index.documents import document
    from mindmem.core.memory import Memory
    from mindmem.core.records import Scope

    services, timed = open_store(home)
    identity = timed.identity if timed else WITHOUT_EMBEDDER
    users = max(size // _PER_USER, 1)
    with Memory(services=services) as memory:
        index = memory.services.projector.index
        begun = monotonic()
        for number in range(users):
            scope = Scope(user_id=f"u{number}")
            embeddings = generator.embeddings(_PER_USER, identity) if timed else [None] * _PER_USER
            documents = [document(generator.memory(scope), _RECORDED, embedding) for embedding in embeddings]
            index.apply(documents, watermark=number + 1)
            watch(f"{size:,} memories of {users:,} users", number + 1, users)
        fill_s = monotonic() - begun
        chosen_users = [f"u{number}" for number in generator.some(20, users)]
        times = _index_times(memory, chosen_users, chosen.queries, generator)
        disk = disk_bytes(home)
    row = {"part": "search_all", "memories": users * _PER_USER, "users": users, "fill_s": round(fill_s, 2)}
    return {**row, **times, "disk_bytes": disk}


def _index_times(memory: "Memory", users: Sequence[str], queries: int, generator: Generator) -> dict[str, object]:
    """Return the spread of hybrid searches in one user's memories, the first ever (cold) of each user apart."""
    from mindmem.core.index.port import Query
    from mindmem.core.records import Partition

    index, embedder = memory.services.projector.index, memory.services.embedder
    cold: list[float] = []
    warm: list[float] = []
    for number in range(queries + len(users)):
        text = generator.query()
        found = embedder.embed([text], "query")[0] if embedder else None
        query = Query(
            partition=Partition(memory.services.settings.project_id, users[number % len(users)]),
            text=text,
            vector=found.vector if found else None,
            late=found.tokens if found else None,
        )
        begun = monotonic()
        index.hybrid(query)
        (cold if number < len(users) else warm).append(monotonic() - begun)
    return {**spread(warm), "cold_ms": spread(cold)["p50_ms"]}


def _opening(home: Path, user: str, query: str) -> dict[str, float]:
    """Return what a new process needs to import, open and answer, in milliseconds."""
    done = subprocess.run(
        [sys.executable, "-m", "mindmem.core.bench.cold", str(home), user, query],
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    times: dict[str, float] = json.loads(done.stdout)
    return times


def _peak_rss() -> int:
    """Return the most memory that this process held, in bytes (macOS counts bytes, Linux kilobytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
