"""Clusters: which memories are looked at together, and in which windows.

A cluster grows from a subject with something new to whom its memories mention, until a window is full; small ones share
a window. A subject of any size is one cluster, seen in as many windows as it takes.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mindmem.core.language.words import content_words
from mindmem.core.reason.dream_port import Survey
from mindmem.core.records import Memory
from mindmem.core.text import normalise_name

__all__ = ["Cluster", "clusters", "subject_of", "windows"]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Memories of related subjects; ``name`` is the first subject's, by which people know it. ``seeds`` are the new
    ones among them."""

    name: str
    memories: tuple[Memory, ...]
    seeds: frozenset[str] = field(default_factory=frozenset)


def clusters(active: Sequence[Memory], seeds: Collection[str], survey: Survey, size: int = 40) -> list[Cluster]:
    """Return the clusters around the ``seeds`` (memory_ids), in the order in which the subjects appear.

    Every active memory of a seed's subject is in exactly one cluster; a subject that is mentioned comes along where it
    fits into the window.
    """
    groups: dict[str, list[Memory]] = defaultdict(list)
    of_entity: dict[str, set[str]] = defaultdict(set)
    for memory in active:
        subject = subject_of(memory, survey)
        groups[subject].append(memory)
        if memory.entity_id:
            of_entity[memory.entity_id].add(subject)
    wanted = list(dict.fromkeys(subject_of(memory, survey) for memory in active if memory.memory_id in seeds))
    taken: set[str] = set()
    found: list[Cluster] = []
    row: list[str] = []
    held = 0
    for start in wanted:
        if start in taken:
            continue
        for subject in _around(start, groups, of_entity, taken, size):
            if row and held + len(groups[subject]) > size:
                found.append(_cluster(row, groups, seeds))
                row, held = [], 0
            taken.add(subject)
            row.append(subject)
            held += len(groups[subject])
    return [*found, _cluster(row, groups, seeds)] if row else found


def windows(cluster: Cluster, survey: Survey, size: int = 40) -> Iterator[tuple[Memory, ...]]:
    """Yield a cluster's memories in windows of about ``size``: what tells of one thing, or uses the same rare words,
    stays together. A topic that is larger than that comes in windows that share their last and first memory."""
    if len(cluster.memories) <= size:
        yield cluster.memories
        return
    room: list[Memory] = []
    for unit in _units(cluster.memories, survey, size):
        if len(unit) > size:
            for start in range(0, len(unit) - 1, size - 1):
                yield tuple(unit[start : start + size])
            continue
        if len(room) + len(unit) > size:
            yield tuple(room)
            room = []
        room.extend(unit)
    if room:
        yield tuple(room)


def subject_of(memory: Memory, survey: Survey) -> str:
    """Return whom or what a memory is about, under one key for each owner: its topic's subject, else its entity's name.
    Apps and agents of one user have memories of their own."""
    topic = survey.topics.get(memory.memory_id)
    if topic is not None:
        return topic.subject
    name = normalise_name(memory.entity_name) or normalise_name(memory.speaker) or memory.memory_id
    return "|".join((memory.scope.app_id, memory.scope.agent_id, name))


def _around(
    start: str,
    groups: Mapping[str, Sequence[Memory]],
    of_entity: Mapping[str, Collection[str]],
    taken: Collection[str],
    size: int,
) -> Iterator[str]:
    """Yield a subject and those that its memories mention, nearest first, as far as they fit with it."""
    waiting, seen, held = deque([start]), {start, *taken}, len(groups[start])
    while waiting:
        subject = waiting.popleft()
        yield subject
        for memory in groups[subject]:
            for entity in (memory.entity_id, *memory.mentions):
                for near in sorted(of_entity.get(entity, ())):
                    if near not in seen and held + len(groups[near]) <= size:
                        seen.add(near)
                        held += len(groups[near])
                        waiting.append(near)


def _cluster(subjects: Sequence[str], groups: Mapping[str, Sequence[Memory]], seeds: Collection[str]) -> Cluster:
    memories = tuple(memory for subject in subjects for memory in groups[subject])
    first = memories[0]
    return Cluster(
        first.entity_id or first.memory_id,
        memories,
        frozenset(memory.memory_id for memory in memories if memory.memory_id in seeds),
    )


def _units(memories: Sequence[Memory], survey: Survey, size: int) -> list[list[Memory]]:
    """Return groups of memories that must be seen together: of one topic, or alike in their rare words."""
    stems = {memory.memory_id: frozenset(content_words(memory.content)) for memory in memories}
    common = Counter(stem for said in stems.values() for stem in said)
    buckets: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, memory in enumerate(memories):
        topic = survey.topics.get(memory.memory_id)
        if topic is not None:
            buckets["topic", topic.subject, topic.property_name].append(place)
        rare = sorted(stems[memory.memory_id], key=lambda stem: (common[stem], stem))[:3]
        for pair in {(one, other) for one in rare for other in rare if one < other}:
            buckets["words", *pair].append(place)
    parent = list(range(len(memories)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for (kind, *_), places in buckets.items():
        if kind == "topic" or len(places) <= size:
            for place in places[1:]:
                parent[root(place)] = root(places[0])
    units: dict[int, list[Memory]] = defaultdict(list)
    for place, memory in enumerate(memories):
        units[root(place)].append(memory)
    return [_by_topic(unit, survey, stems) if len(unit) > size else unit for unit in units.values()]


def _by_topic(unit: list[Memory], survey: Survey, stems: Mapping[str, frozenset[str]]) -> list[Memory]:
    """Return a large unit with each topic's memories side by side: in their order where its values replace each other,
    else by likeness."""

    def key(item: tuple[int, Memory]) -> tuple[str, str, str, int]:
        place, memory = item
        topic = survey.topics.get(memory.memory_id)
        subject, name = (topic.subject, topic.property_name) if topic else ("", "")
        likeness = "" if survey.single.get(name) else " ".join(sorted(stems[memory.memory_id]))
        return subject, name, likeness, place

    return [memory for _, memory in sorted(enumerate(unit), key=key)]
