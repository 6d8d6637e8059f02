"""What joins the hits of the index: memories on paths, neighbours on timelines, related ones; repetitions step back.

Each function takes hits, best first, and returns them with what was added, best first. Added memories passed the
search's filter, and nothing is added where nothing was found, so that the floor holds.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from mindmem.core.index.filters import Filter, Test, all_of
from mindmem.core.index.port import Alignment, SearchIndex
from mindmem.core.records import Hit, Memory, Partition
from mindmem.core.search.graph import Graph
from mindmem.core.search.recipes import Relations
from mindmem.core.search.traversal import Path, hub_free
from mindmem.core.text import terms

__all__ = ["along_paths", "by_score", "claims", "latest_first", "on_timelines", "related", "spread"]

Get = Callable[[Sequence[str]], Mapping[str, Memory]]
Align = Callable[[Sequence[str]], Alignment]
_SEEDS: Final = 5
_NEIGHBOUR_DECAY: Final = 0.8
"""What is left of a hit's score for the next memory on its timeline, again for the one after, and so on."""
_ALIKE: Final = 0.85
"""Share of the best one's score that another claim on the same must have to match about equally well."""
_TIE: Final = 1e-6
"""Share of its score by which an earlier claim that matches exactly as well stays behind the later one."""
_POOL: Final = 40
"""Best hits among which repetitions are looked for."""
_READ: Final = 2_000
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def by_score(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits, best first."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.memory_id))


def along_paths(hits: Sequence[Hit], paths: Sequence[Path], get: Get, graph: Graph, *, gain: float) -> list[Hit]:
    """Return the hits with those that lie on paths, each with the score that the best of its paths earns.

    A path competes with the best single memory: if both match the question equally well, its memories stand beside the
    best hit; above, they approach 1 by ``gain`` per share of the question matched in addition, below they fall by it.
    That holds for paths of claims. What was kept in its own words names much besides what it is about, so that any two
    such memories match more of a question than the one that answers it: a path over one of them only adds, below the
    hits.
    """
    single = max((path.score for path in paths if len(path.memory_ids) == 1), default=0.0)
    if not hits or single <= 0.0:
        return list(hits)
    top = hits[0].score
    longer = [path for path in paths if len(path.memory_ids) > 1]
    known = {hit.memory.memory_id: hit for hit in hits}
    records = {memory_id: hit.memory for memory_id, hit in known.items()}
    walked = dict.fromkeys(memory_id for path in longer for memory_id in path.memory_ids)
    records.update(get([memory_id for memory_id in walked if memory_id not in records]))
    best: dict[str, tuple[float, Path]] = {}
    for path in longer:
        score = _earned(path.score - single, top, gain)
        if not all(one in records and claims(records[one]) for one in path.memory_ids):
            score = min(score, hits[-1].score)
        for memory_id in path.memory_ids:
            if score > best.get(memory_id, (0.0, path))[0]:
                best[memory_id] = score, path
    for memory_id, (score, path) in best.items():
        old, memory = known.get(memory_id), records.get(memory_id)
        if memory is None or (old and old.score >= score):
            continue
        parts = {**(old.explanation if old else {}), "path": path.score}
        at = path.memory_ids.index(memory_id)
        via = tuple(name for name in map(graph.name, path.nodes[: at + 1]) if name)
        known[memory_id] = Hit(memory, score, parts, via=via)
    return by_score(known.values())


def claims(memory: Memory) -> bool:
    """Return whether a memory says one thing of one entity, rather than what somebody said."""
    return bool(memory.entity_id and memory.property_name and memory.value) and memory.mem_type != "episodic"


def _earned(more: float, top: float, gain: float) -> float:
    if more < 0.0 or top >= 1.0:
        return max(0.0, top + gain * min(more, 0.0))
    return top + (1.0 - top) * (1.0 - math.exp(-gain * more / (1.0 - top)))


def on_timelines(
    index: SearchIndex, partition: Partition, filter_: Filter | None, hits: Sequence[Hit], *, step: int
) -> list[Hit]:
    """Return the hits with up to ``step`` neighbours before and after each of the best on its timeline: memories of the
    same entity and property, or, of what was kept in its own words, of the same session."""
    known = {hit.memory.memory_id: hit for hit in hits}
    for seed in hits[:_SEEDS]:
        line = _timeline(index, partition, filter_, seed.memory)
        at = next((place for place, one in enumerate(line) if one.memory_id == seed.memory.memory_id), None)
        if at is None:
            continue
        for place in range(max(0, at - step), min(len(line), at + step + 1)):
            score = seed.score * _NEIGHBOUR_DECAY ** abs(place - at)
            _add(known, Hit(line[place], score, {"timeline": score}, via=(seed.memory.entity_name,)))
    return by_score(known.values())


def _timeline(index: SearchIndex, partition: Partition, filter_: Filter | None, memory: Memory) -> list[Memory]:
    if memory.entity_id and memory.property_name:
        same = all_of(
            Test("entity_id", "eq", memory.entity_id), Test("property_name", "eq", memory.property_name), filter_
        )
    elif memory.scope.session_id:
        same = all_of(Test("session_id", "eq", memory.scope.session_id), Test("mem_type", "eq", "episodic"), filter_)
    else:
        return []
    found = index.scan(partition, same, limit=1_000).memories
    return sorted(found, key=lambda one: (one.event_time or _EARLIEST, one.seq, one.memory_id))


def related(hits: Sequence[Hit], graph: Graph, align: Align, get: Get, relations: Relations) -> list[Hit]:
    """Return the hits with memories that share an entity with one of the best; their score is the hit's, decayed, by
    how well they match the question themselves."""
    known = {hit.memory.memory_id: hit for hit in hits}
    added: dict[str, Hit] = {}
    for seed in hits[: relations.seeds]:
        nodes = hub_free(graph, sorted(graph.nodes(seed.memory.memory_id)))
        around = {memory_id: node for node, some in nodes.items() for memory_id in some if memory_id not in known}
        if not around:
            continue
        aligned = align(list(around))
        matched = dict(zip(aligned.memory_ids, (aligned.scores @ aligned.weights).tolist(), strict=True))
        chosen = sorted(matched, key=lambda one: (-matched[one], one))[: relations.per_seed]
        records = get(chosen)
        for memory_id in chosen:
            if memory_id in records:
                score = seed.score * relations.decay * matched[memory_id]
                via = (graph.name(around[memory_id]),)
                _add(added, Hit(records[memory_id], score, {"related": matched[memory_id]}, via=via))
    return by_score([*hits, *by_score(added.values())[: relations.most]])


def _add(known: dict[str, Hit], hit: Hit) -> None:
    old = known.get(hit.memory.memory_id)
    if old is None or hit.score > old.score:
        parts = {**(old.explanation if old else {}), **hit.explanation}
        known[hit.memory.memory_id] = replace(hit, explanation=parts)


def latest_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits so that, of claims about one property of one entity that match about equally well, the later one
    comes first: it takes the score of the earlier one, and the other way round."""
    ranked = list(hits)
    topics: dict[tuple[str, str], list[int]] = {}
    for place, hit in enumerate(ranked):
        memory = hit.memory
        if memory.entity_id and memory.property_name and memory.value:
            topics.setdefault((memory.entity_id, memory.property_name), []).append(place)
    for places in topics.values():
        near = [place for place in places if ranked[place].score >= _ALIKE * ranked[places[0]].score]
        later = sorted((ranked[place] for place in near), key=lambda hit: _told(hit.memory), reverse=True)
        scores = [ranked[place].score * (1.0 - _TIE * at) for at, place in enumerate(near)]
        for place, hit, score in zip(near, later, scores, strict=True):
            ranked[place] = hit if hit.score == score else replace(hit, score=score)
    return by_score(ranked)


def _told(memory: Memory) -> tuple[datetime, int, int]:
    at = memory.event_time or memory.recorded_at or _EARLIEST
    return at, memory.seq, memory.sources[0].start if memory.sources else 0


def spread(hits: Sequence[Hit], *, diversity: float) -> list[Hit]:
    """Return the hits so that what says the same in other words doesn't take all the room: each loses ``diversity``
    times the share of its terms that a better one has, too (Carbonell and Goldstein's maximal marginal relevance)."""
    pool, rest = list(hits[:_POOL]), hits[_POOL:]
    said = {hit.memory.memory_id: frozenset(term.text for term in terms(hit.memory.content[:_READ])) for hit in pool}
    repeated = dict.fromkeys(said, 0.0)
    chosen: list[Hit] = []
    while pool:
        best = max(pool, key=lambda hit: hit.score - diversity * repeated[hit.memory.memory_id])
        pool.remove(best)
        loss = diversity * repeated[best.memory.memory_id]
        chosen.append(best if not loss else _set_back(best, loss))
        mine = said[best.memory.memory_id]
        for hit in pool:
            theirs = said[hit.memory.memory_id]
            shared = len(mine & theirs) / max(1, len(mine | theirs))
            repeated[hit.memory.memory_id] = max(repeated[hit.memory.memory_id], shared)
    return by_score([*chosen, *rest])


def _set_back(hit: Hit, loss: float) -> Hit:
    return replace(hit, score=max(0.0, hit.score - loss), explanation={**hit.explanation, "repeats": loss})
