"""MindSchema's steps around those of an add (design 7.2): what ``settings.ingest.mode`` schema adds to vanilla.

``prepare`` comes after extraction, without any lock: the candidates bound to the schema, by episode. ``fuse`` looks
at the scope's present state: which entity each name denotes. ``asked`` shows candidates and memories to the resolver in
the extractor's terms. ``complete`` adds to the decided plan what the graph learns. Each is a no-op on nothing.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mindmem.core import ids
from mindmem.core.ingest.gate import Gated
from mindmem.core.ingest.memories import new_memory
from mindmem.core.reason.port import Candidate, Failed, Judged, Mention, ResolutionRequest
from mindmem.core.reason.schema_port import Relation, SchemaBound, SchemaReasoner, SchemaRequest
from mindmem.core.records import Edge, Entity, Memory, Message, Plan, Scope, Source
from mindmem.core.records.schema import CATCH_ALL, EPISODE, Schema
from mindmem.core.schema.fuse import Fused, Fusing
from mindmem.core.schema.known import KnownEntities
from mindmem.core.schema.merge import Related, ended, part_of, related
from mindmem.core.schema.names import name_key
from mindmem.core.schema.questions import fine_name

__all__ = ["Episode", "Schematic", "Subgraph", "asked", "complete", "fuse", "prepare"]

log = logging.getLogger(__name__)

_EPISODE_LEAST = 3
"""Messages from which an episode gets a memory of its own: a shorter one says no less itself."""
_MENTIONED = 12
_KINDS: Mapping[str, tuple[str, str]] = {
    "works_for": ("person", "organization"), "location": ("", "place"), "participation": ("", "event"),
    "family": ("person", "person"), "social": ("person", "person"), "authorship": ("", "work"),
    "membership": ("person", "organization"), "founding": ("", "organization"),
}  # fmt: skip
"""Kinds of a relation's source and target, where the relation tells."""


@dataclass(frozen=True, slots=True)
class Schematic:
    """Whose judgement and which schema an add is bound by; ``episodes`` says whether episodes get memories."""

    reasoner: SchemaReasoner
    schema: Schema
    timezone: str = "UTC"
    episodes: bool = True


@dataclass(frozen=True, slots=True)
class Episode:
    """One stretch of an add: its messages, the places of its candidates, and what was bound."""

    messages: tuple[Message, ...]
    places: tuple[int, ...]
    relations: tuple[Relation, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    summary: int = -1
    """Place of the candidate that sums it up."""


@dataclass(frozen=True, slots=True)
class Subgraph:
    """What an add brings: bound candidates, in the order of saying, summaries last; its episodes, and by whom."""

    by: Schematic
    candidates: tuple[Candidate, ...]
    episodes: tuple[Episode, ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()


async def prepare(
    by: Schematic, candidates: Sequence[Candidate], stretches: Sequence[tuple[Message, ...]], scope: Scope
) -> Subgraph:
    """Return the candidates bound to the schema, with the episodes that they were said in: ``stretches`` of messages.

    An episode that could not be judged keeps its candidates as they were extracted.

    Raises:
        TryAgain: a judgement failed and may succeed later.
    """
    places = _places(stretches, candidates)
    requests = [
        SchemaRequest(
            scope=scope,
            schema=by.schema,
            messages=stretch,
            candidates=tuple(candidates[place] for place in inside),
            timezone=by.timezone,
        )
        for stretch, inside in zip(stretches, places, strict=True)
    ]
    verdicts = await by.reasoner.bind.bind(requests) if requests else []
    made = list(candidates)
    episodes: list[Episode] = []
    summaries: list[Candidate] = []
    rejected: list[tuple[str, str]] = []
    for stretch, inside, verdict in zip(stretches, places, verdicts, strict=True):
        if isinstance(verdict, Failed) and verdict.transient:
            raise TryAgain(verdict.reason)
        if not isinstance(verdict, Judged):
            log.warning("an episode of %d messages is kept unbound: %s", len(stretch), verdict.reason)
            episodes.append(Episode(stretch, inside))
            continue
        bound = verdict.value
        rejected += bound.rejected
        for place, candidate in zip(inside, bound.candidates, strict=True):
            made[place] = candidate
        summary = _summary(bound, stretch, by, scope)
        episodes.append(
            Episode(stretch, inside, bound.relations, bound.aliases, len(made) + len(summaries) if summary else -1)
        )
        summaries += [summary] if summary else []
    said = _by_episode((*made, *summaries), episodes, scope)
    return Subgraph(by, said, tuple(episodes), tuple(rejected))


def _by_episode(candidates: Sequence[Candidate], episodes: Sequence[Episode], scope: Scope) -> tuple[Candidate, ...]:
    """Return the candidates, each with the episode that it was said in."""
    said = list(candidates)
    for episode in episodes:
        named = ids.episode_id(scope.key, episode.messages[0].message_id)
        for place in (*episode.places, *([episode.summary] if episode.summary >= 0 else [])):
            said[place] = replace(said[place], episode=named)
    return tuple(said)


class TryAgain(Exception):
    """A judgement failed that a later try may make."""


def _places(stretches: Sequence[Sequence[Message]], candidates: Sequence[Candidate]) -> list[tuple[int, ...]]:
    where = {message.message_id: place for place, stretch in enumerate(stretches) for message in stretch}
    inside: list[list[int]] = [[] for _ in stretches]
    for place, candidate in enumerate(candidates):
        episode = where.get(candidate.sources[0].message_id) if candidate.sources else None
        if episode is not None:
            inside[episode].append(place)
    return [tuple(places) for places in inside]


def _summary(bound: SchemaBound, messages: Sequence[Message], by: Schematic, scope: Scope) -> Candidate | None:
    """Return what sums an episode up, as a claim about the episode itself; it rests on what it quotes."""
    kind = by.schema.by_name.get(EPISODE)
    if not by.episodes or kind is None or not bound.summary or len(messages) < _EPISODE_LEAST:
        return None
    prop = next((one.name for one in kind.of_order(1) if one.name != CATCH_ALL), CATCH_ALL)
    named = dict.fromkeys((mention.name, mention.entity_type) for one in bound.candidates for mention in one.mentions)
    speakers = dict.fromkeys((message.name, "person") for message in messages if message.name)
    return Candidate(
        mem_type="episodic",
        content=bound.summary,
        entity_name=bound.title or bound.summary[:80],
        entity_type=EPISODE,
        property_name=prop,
        value="",
        sources=_quoted(bound.summary, messages),
        confidence=0.9,
        observed_at=messages[0].timestamp,
        mentions=tuple(Mention(name, kind) for name, kind in list({**speakers, **named})[:_MENTIONED]),
        flags=("episode",),
        entity_id=ids.entity_id(scope.key, f"{bound.title}\x1f{messages[0].message_id}"),
    )


def _quoted(summary: str, messages: Sequence[Message]) -> tuple[Source, ...]:
    """Return the messages that a summary quotes, else the first and the last of the episode."""
    begin, end = summary.find("“"), summary.rfind("”")
    words = summary[begin + 1 : end] if 0 <= begin < end else ""
    for message in messages if words else ():
        at = message.content.find(words)
        if at >= 0:
            return (Source(message.message_id, at, at + len(words)),)
    ends = dict.fromkeys((messages[0], messages[-1]))
    return tuple(Source(message.message_id, 0, len(message.content)) for message in ends)


async def fuse(subgraph: Subgraph, known: KnownEntities, scope: Scope) -> Fused:
    """Return the candidates with the entities that their names denote; ``names`` are the ids of each relation's source
    and target, in order.

    Raises:
        TryAgain: a judgement failed and may succeed later.
    """
    names = [
        (name, kind, episode.places[one.candidate] if 0 <= one.candidate < len(episode.places) else -1, owner)
        for episode in subgraph.episodes
        for one in episode.relations
        for name, kind, owner in zip(
            (one.source, one.target), _KINDS.get(one.kind, ("", "")), ("", one.source), strict=True
        )
    ]
    summaries = frozenset(episode.summary for episode in subgraph.episodes)
    aliases = dict.fromkeys(pair for episode in subgraph.episodes for pair in episode.aliases)
    fusing = Fusing(subgraph.candidates, aliases, known, scope, names, settled=summaries)
    requests = fusing.questions()
    verdicts = await subgraph.by.reasoner.match.match(requests) if requests else []
    failed = next((one for one in verdicts if isinstance(one, Failed) and one.transient), None)
    if failed is not None:
        raise TryAgain(failed.reason)
    return fusing.settle(verdicts)


def asked(requests: Sequence[ResolutionRequest]) -> tuple[ResolutionRequest, ...]:
    """Return the requests in the terms of an extractor: fine property names, and one name for one entity."""
    return tuple(
        ResolutionRequest(
            replace(one.candidate, property_name=fine_name(one.candidate.property_name)),
            tuple(_plain(memory, one.candidate) for memory in one.recalled),
        )
        for one in requests
    )


def _plain(memory: Memory, candidate: Candidate) -> Memory:
    same = candidate.entity_id and memory.entity_id == candidate.entity_id
    own = bool(memory.speaker) and name_key(memory.speaker) == name_key(memory.entity_name)
    name = candidate.entity_name if same else memory.entity_name
    speaker = name if same and own and memory.speaker != name else memory.speaker
    return replace(memory, property_name=fine_name(memory.property_name), entity_name=name, speaker=speaker)


def complete(
    plan: Plan, subgraph: Subgraph, fused: Fused, gated: Sequence[Gated], owners: Mapping[str, Message]
) -> Plan:
    """Return the plan with what the graph learns: entities, how they are related, what episodes hold.

    Args:
        plan: decided on the fused candidates.
        subgraph: the add's.
        fused: its names.
        gated: what may pass; a relation whose claim may not is left out.
        owners: the add's messages by id.
    """
    passed = {_mark(one.candidate) for one in gated}
    ids_of = [new_memory(one, plan.scope, owners).memory_id if _mark(one) in passed else "" for one in fused.candidates]
    written = {action.memory.memory_id: action.memory for action in plan.actions}
    found: list[Related] = []
    edges: list[Edge] = []
    place = 0
    for episode in subgraph.episodes:
        for one in episode.relations:
            source, target = fused.names[place], fused.names[place + 1]
            place += 2
            says = ids_of[episode.places[one.candidate]] if 0 <= one.candidate < len(episode.places) else ""
            if says or one.candidate < 0:
                found.append(Related(source, target, one.kind, says, one.valid_from, one.valid_to))
        summary = written.get(ids_of[episode.summary]) if episode.summary >= 0 else None
        if summary is not None:
            edges += part_of((ids_of[at] for at in episode.places if ids_of[at] in written), summary)
    found += ended(plan.actions, {(one.source, one.target): None for one in found})
    edges += related(found, plan.scope)
    edges += fused.edges
    return replace(plan, entities=_entities(plan, fused, edges), edges=(*plan.edges, *edges))


def _mark(candidate: Candidate) -> tuple[object, ...]:
    return candidate.content, candidate.sources, candidate.entity_id


def _entities(plan: Plan, fused: Fused, edges: Sequence[Edge]) -> tuple[Entity, ...]:
    """New entities that something leads to, and revisions of known ones."""
    named = {edge.src for edge in (*plan.edges, *edges)} | {edge.dst for edge in (*plan.edges, *edges)}
    named |= {action.memory.entity_id for action in plan.actions}
    kept = [one for one in fused.entities if one.revision > 1 or one.entity_id in named]
    own = {one.entity_id for one in kept}
    return (*(one for one in plan.entities if one.entity_id not in own), *kept)
