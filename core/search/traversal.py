"""Search along paths: from an entity of the question over memories to the entities that they name, and on.

"Who founded the firm that Ann's brother works for?" shares hardly a word with the memory that answers it. A path is a
chain of memories, each about or mentioning an entity of the one before. It is scored as a whole: every part of the
question counts as well as the best of its memories matches it (Khattab and Zaharia's MaxSim, taken over the memories of
a path instead of the tokens of a document), less a charge a hop and for claims that a later one contradicts. So
whichever memory tells "founded" needs not name Ann, words that are matched already pull no further, and nothing has to
know the grammar of questions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.port import Alignment
from mindmem.core.search.graph import Graph

__all__ = ["Path", "Walk", "hub_free", "walk"]

Floats = npt.NDArray[np.float32]
Align = Callable[[Sequence[str]], Alignment]
_HUB: Final = 0.2
"""An entity that more than this share of the memories is about or mentions leads nowhere in particular."""
_SMALL_HUB: Final = 64
"""Memories around an entity up to which it is no hub, however few there are in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far paths lead (memories), how many are followed at a time, how many memories around an entity are looked at
    (the latest), and what a hop and a contradicted claim cost, as shares of the question."""

    hops: int = 4
    beam: int = 8
    around: int = 512
    charge: float = 0.03
    outdated: float = 0.05


@dataclass(frozen=True, slots=True)
class Path:
    """Memories in the order in which they were walked, the entities that led to each (the empty string for one that
    search itself had found), and how well the path as a whole matches the question, 0..1."""

    memory_ids: tuple[str, ...]
    nodes: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class _Trail:
    memory_ids: tuple[str, ...]
    rows: tuple[int, ...]
    nodes: tuple[str, ...]
    matched: Floats
    charge: float
    score: float


def hub_free(graph: Graph, nodes: Iterable[str]) -> dict[str, list[str]]:
    """Return the memories around each entity, the latest last; entities that nearly everything is about are left out,
    since they lead nowhere in particular."""
    found = {node: graph.around(node) for node in nodes}
    most = max(_SMALL_HUB, _HUB * graph.size)
    return {node: around for node, around in found.items() if len(around) <= most}


def walk(
    graph: Graph,
    align: Align,
    question: str,
    *,
    begin: Iterable[str] = (),
    seeds: Sequence[str] = (),
    limits: Walk | None = None,
) -> list[Path]:
    """Return the paths found, best first: those that begin at an entity that the question names or that is in
    ``begin``; where there is none, at the memories ``seeds``, which are known to have to do with the question.

    ``align`` tells how memories match the question (those that may not be shown are left out).
    """
    return _Walker(graph, align, limits or Walk()).paths(question, begin, seeds)


class _Walker:
    """One question's walk; what was looked at is kept."""

    def __init__(self, graph: Graph, align: Align, limits: Walk) -> None:
        self._graph = graph
        self._align = align
        self._limits = limits
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._matched: Floats = np.zeros((0, 0), dtype=np.float32)
        self._charges = np.zeros(0)
        self._weights: Floats = np.zeros(0, dtype=np.float32)
        self._looked: set[str] = set()
        self._around: dict[str, list[str]] = {}
        self._reached: dict[str, npt.NDArray[np.intp]] = {}

    def paths(self, question: str, begin: Iterable[str], seeds: Sequence[str]) -> list[Path]:
        named = dict.fromkeys([node for link in self._graph.linked(question) for node in link.nodes] + list(begin))
        begun = [(node, self._near(node)) for node in named] or [("", list(seeds))]
        self._look(memory_id for _, memory_ids in begun for memory_id in memory_ids)
        start = _Trail((), (), (), np.zeros_like(self._weights), 0.0, 0.0)
        reached = [(node, self._aligned(memory_ids)) for node, memory_ids in begun]
        trails = self._best(step for node, rows in reached for step in self._extended(start, node, rows))
        found = list(trails)
        for _ in range(self._limits.hops - 1):
            steps = [(trail, node) for trail in trails for node in self._onward(trail)]
            self._look(memory_id for _, node in steps for memory_id in self._near(node))
            trails = self._best(
                step for trail, node in steps for step in self._extended(trail, node, self._rows_of(node))
            )
            found += trails
        found.sort(key=_rank)
        return [Path(trail.memory_ids, trail.nodes, trail.score) for trail in found if trail.score > 0.0]

    def _onward(self, trail: _Trail) -> list[str]:
        """Return the entities that the last memory of a trail names and that led to none of it."""
        return sorted(self._graph.nodes(trail.memory_ids[-1]).difference(trail.nodes))

    def _near(self, node: str) -> list[str]:
        if node not in self._around:
            self._around[node] = hub_free(self._graph, [node]).get(node, [])[-self._limits.around :]
        return self._around[node]

    def _look(self, memory_ids: Iterable[str]) -> None:
        """Align what was not looked at yet, in one go."""
        missing = [memory_id for memory_id in dict.fromkeys(memory_ids) if memory_id not in self._looked]
        if not missing:
            return
        self._looked.update(missing)
        aligned = self._align(missing)
        if not aligned.memory_ids:
            return
        limits, graph = self._limits, self._graph
        charges = [limits.charge + limits.outdated * graph.outdated(one) for one in aligned.memory_ids]
        self._rows.update((one, row) for row, one in enumerate(aligned.memory_ids, len(self._ids)))
        self._matched = np.concatenate((self._matched, aligned.scores)) if self._ids else aligned.scores
        self._charges = np.concatenate((self._charges, charges))
        self._ids += aligned.memory_ids
        self._weights = aligned.weights

    def _rows_of(self, node: str) -> npt.NDArray[np.intp]:
        """Return the rows of the memories around an entity that was looked at."""
        if node not in self._reached:
            self._reached[node] = self._aligned(self._near(node))
        return self._reached[node]

    def _aligned(self, memory_ids: Iterable[str]) -> npt.NDArray[np.intp]:
        return np.array([self._rows[one] for one in memory_ids if one in self._rows], dtype=np.intp)

    def _extended(self, trail: _Trail, node: str, rows: npt.NDArray[np.intp]) -> list[_Trail]:
        """Return the best trails that lead from this one over an entity to one of the memories around it."""
        for row in trail.rows:
            rows = rows[rows != row]
        if not len(rows):
            return []
        matched = np.maximum(self._matched[rows], trail.matched)
        charges = trail.charge + self._charges[rows]
        scores = matched @ self._weights - charges
        return [
            _Trail(
                (*trail.memory_ids, self._ids[row]),
                (*trail.rows, row),
                (*trail.nodes, node),
                matched[at],
                float(charges[at]),
                float(scores[at]),
            )
            for at in np.argsort(-scores, kind="stable")[: self._limits.beam].tolist()
            for row in (int(rows[at]),)
        ]

    def _best(self, trails: Iterable[_Trail]) -> list[_Trail]:
        """Return the best trails, one for each set of memories."""
        kept: dict[frozenset[str], _Trail] = {}
        for trail in trails:
            key = frozenset(trail.memory_ids)
            if key not in kept or trail.score > kept[key].score:
                kept[key] = trail
        return sorted(kept.values(), key=_rank)[: self._limits.beam]


def _rank(trail: _Trail) -> tuple[float, tuple[str, ...]]:
    return -trail.score, trail.memory_ids
