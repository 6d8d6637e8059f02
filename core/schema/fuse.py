"""Fusion: which entity each name of an add denotes, in two halves around the one judgement that it needs.

A name that is known exactly, or as an alias, denotes what it denoted before, unless it is the name of something of
another kind (Jordan the country, Jordan the friend): homonyms are told apart by their type, and namesakes of one type
by whose they are told to be (Ann's sister Eva, Bob's sister Eva). What the text states
("aka", "renamed to", "everybody calls me") is taken at its word. Only then is asked whether a name may stand for one
that is known, and where more than one fits, or two names stand beside each other in one sentence, they stay apart.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from mindmem.core import ids
from mindmem.core.ingest.memories import entity_of_name
from mindmem.core.reason.port import Candidate, Judged, Mention, Verdict
from mindmem.core.reason.schema_port import EntityMatch, MatchRequest
from mindmem.core.records import Edge, Entity, Scope
from mindmem.core.schema.known import KnownEntities, Listed
from mindmem.core.schema.names import family, fits, incompatible, name_key, plain_name, titled
from mindmem.core.schema.surfaces import aliases_of, beside, named, spotted
from mindmem.core.schema.whose import Told, apart, told
from mindmem.core.text import normalise_name

__all__ = ["MAYBE_SAME", "Fused", "Fusing"]

MAYBE_SAME: Final = "maybe_same"
"""Kind of the RELATED_TO edge between entities of which nobody can tell whether they are one."""
_SURE: Final = 0.7
"""Least confidence at which a match counts; below, the two stay apart and are linked."""
_MAYBE: Final = 3
_SAID: Final = 3


@dataclass(frozen=True, slots=True)
class Fused:
    """The candidates with entity ids and canonical names, and what the graph learns of entities.

    ``entities`` are new ones and next revisions; ``same`` are pairs of known entities (gone, kept) that the text
    states to be one; ``names`` are the entity ids of the further names, in order; ``known`` is what they were looked
    up in.
    """

    candidates: tuple[Candidate, ...]
    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()
    known: KnownEntities = field(default_factory=KnownEntities)


@dataclass(slots=True, eq=False)
class _Sense:
    """One bearer of a name: its surface forms, its kind (empty: nothing tells), where it was met, what it is."""

    name: str
    kind: str = ""
    entity: Entity | None = None
    forms: dict[str, None] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)
    told: set[Told] = field(default_factory=set)
    joined: "_Sense | None" = None

    def root(self) -> "_Sense":
        found = self
        while found.joined is not None:
            found = found.joined
        return found


class Fusing:
    """One add's names against what is known: ``questions`` for the matcher, then ``settle`` with its answers."""

    def __init__(
        self, candidates: Sequence[Candidate], aliases: Iterable[tuple[str, str]], known: KnownEntities, scope: Scope,
        names: Sequence[tuple[str, str, int, str]] = (), *, settled: Collection[int] = (),
    ) -> None:  # fmt: skip
        """Group the names.

        Args:
            candidates: bound ones, with mentions typed as far as the text tells.
            aliases: (alias, name) pairs that the text states.
            known: the scope's entities.
            scope: whose they are.
            names: further names that were said, of relations, each with its kind (empty: nothing tells), the place of
                the candidate that says so (-1: none), and whose it is (empty: nothing tells).
            settled: places of candidates whose own entity is known already.
        """
        self._candidates = [_doubled(spotted(one, known)) for one in candidates]
        self._told = [told(one.content, one.speaker) for one in self._candidates]
        self._known = known
        self._scope = scope.without_session()
        self._senses: dict[str, list[_Sense]] = defaultdict(list)
        self._of: dict[tuple[int, int], _Sense] = {}
        self._edges: list[Edge] = []
        self._same: dict[str, str] = {}
        self._taken: dict[str, _Sense] = {}
        self._settled = settled
        self._names: list[_Sense | None] = []
        self._group(names)
        for sense in self._all():
            self._recognise(sense)
        for alias, name in aliases:
            self._alias(alias, name)
        self._asked: list[tuple[_Sense, tuple[Entity, ...]]] = []

    # -- grouping

    def _group(self, names: Sequence[tuple[str, str, int, str]]) -> None:
        uses = [
            (place, slot, name, kind)
            for place, candidate in enumerate(self._candidates)
            for slot, (name, kind) in enumerate(named(candidate), start=-1)
            if name_key(name) and not (slot < 0 and place in self._settled)
        ]
        for place, slot, name, kind in sorted(uses, key=lambda use: not family(use[3])):
            owner = self._candidates[place].speaker
            self._of[place, slot] = self._met(name, kind, place, self._tells(place, slot, name), owner)
        end = len(self._candidates)
        for name, kind, place, owner in names:
            sense = self._met(name, kind, end, (), owner, at=place if place >= 0 else end) if name_key(name) else None
            self._names.append(sense)

    def _tells(self, place: int, slot: int, name: str) -> tuple[Told, ...]:
        """Return whose the bearer of a name in a candidate is; of namesakes in one candidate, each name in turn."""
        key = name_key(name)
        found = [one for one in self._told[place] if one.name == key]
        mentions = self._candidates[place].mentions
        same = [at for at, mention in enumerate(mentions) if name_key(mention.name) == key]
        if len(same) > 1 and len(same) == len(found) and slot in same:
            return (found[same.index(slot)],)
        return tuple(found)

    def _met(
        self, name: str, kind: str, place: int, tells: Sequence[Told] = (), owner: str = "", *, at: int | None = None
    ) -> _Sense:
        """Return the bearer of a name that is meant, by its kind, by whose it is told to be, else by whose it might be
        (``owner``), else by who was spoken of last up to the candidate ``at`` (None: ``place``)."""
        senses = self._senses[name_key(name)]
        kind = kind if kind != "thing" else ""
        upto = place if at is None else at
        fitting = [one for one in senses if not incompatible(one.kind, kind) and not self._apart(one.told, tells)]
        fitting.sort(
            key=lambda one: (
                bool(family(kind)) and family(one.kind) != family(kind),
                not _owned_by(one.told, owner),
                -max((met for met in one.places if met <= upto), default=-1),
            )
        )
        if fitting:
            sense = fitting[0]
        else:
            sense = _Sense(plain_name(name))
            senses.append(sense)
        if not family(sense.kind) and kind:
            sense.kind = kind
        sense.forms.setdefault(plain_name(name))
        sense.places.append(place)
        sense.told.update(tells)
        return sense

    def _apart(self, one: Collection[Told], other: Collection[Told]) -> bool:
        return bool(one and other) and apart(one, other, self._related)

    def _related(self, one: str, other: str) -> bool:
        """Return whether two people are one, or told to be of one family."""
        ends = {one, other}
        if len(ends) == 1 or any({fact.name, fact.owner} == ends for facts in self._told for fact in facts):
            return True
        bearers = {key: self._known.named(key) for key in ends}
        if {each.entity_id for each in bearers[one]} & {each.entity_id for each in bearers[other]}:
            return True
        return any(
            fact.owner in ends - {key} for key in ends for each in bearers[key] for fact in self._known.told(each)
        )

    def _all(self) -> list[_Sense]:
        return [sense for senses in self._senses.values() for sense in senses]

    def _recognise(self, sense: _Sense) -> None:
        """Find the known entity of a name, exactly or as an alias; of several bearers the one of that kind."""
        known = [one for one in self._known.named(sense.name) if self._may_be(sense, one)]
        if _common(sense, known):
            return
        several = len(known) > 1
        known.sort(
            key=lambda one: (
                family(one.entity_type) != family(sense.kind),
                several and not self._speaks_of(sense, one),
                name_key(one.name) != name_key(sense.name),
                one.entity_id != entity_of_name(self._scope, sense.name),
                one.entity_id,
            )
        )
        if known:
            self._take(sense, known[0])

    def _may_be(self, sense: _Sense, entity: Entity) -> bool:
        """Return whether nothing tells a name's bearer and a known entity apart: kind, and whose they are."""
        if incompatible(entity.entity_type, sense.kind):
            return False
        taken = self._taken.get(entity.entity_id)
        if taken is not None and self._apart(taken.root().told, sense.told):
            return False
        return not sense.told or not self._apart(self._known.told(entity), sense.told)

    def _speaks_of(self, sense: _Sense, entity: Entity) -> bool:
        """Return whether whoever speaks of a name tells whose it is, or is the one whose it is."""
        facts = self._known.told(entity)
        owners = {self._candidates[place].speaker for place in sense.places if place < len(self._candidates)}
        same = {(one.owner, one.role) for one in facts} & {(one.owner, one.role) for one in sense.told}
        return bool(same) or (not sense.told and any(_owned_by(facts, owner) for owner in owners))

    def _take(self, sense: _Sense, entity: Entity) -> None:
        other = self._taken.get(entity.entity_id)
        if other is not None and other.root() is not sense:
            sense.joined = other.root()
            return
        sense.entity = entity
        self._taken[entity.entity_id] = sense

    def _alias(self, alias: str, name: str) -> None:
        """Take two names as one that the text states to be; the second is the name from now on."""
        one, other = self._bearer(alias), self._bearer(name)
        if one is other or incompatible(one.kind, other.kind):
            return
        if one.entity is not None and other.entity is not None:
            if incompatible(one.entity.entity_type, other.entity.entity_type):
                return
            self._same[one.entity.entity_id] = other.entity.entity_id
        self._join(one, other)
        other.name = other.name if other.name.casefold() == plain_name(name).casefold() else plain_name(name)

    def _bearer(self, name: str) -> _Sense:
        fresh = name_key(name) not in self._senses
        sense = self._met(name, "", len(self._candidates)).root()
        if fresh:
            self._recognise(sense)
        return sense.root()

    @staticmethod
    def _join(one: _Sense, other: _Sense) -> None:
        """Let two be one; ``other`` keeps its name, and its entity if it has one."""
        other.forms |= {one.name: None, **one.forms}
        other.places += one.places
        other.told |= one.told
        other.kind = other.kind if family(other.kind) else one.kind
        if other.entity is None:
            other.entity = one.entity
        one.joined = other

    # -- the judgement

    def questions(self) -> list[MatchRequest]:
        """Return what the matcher is asked: each new name with those that it may stand for."""
        unknown = [sense for sense in self._roots() if sense.entity is None]
        fresh = KnownEntities(Listed([self._new(sense) for sense in unknown]))
        for sense in unknown:
            own = self._new(sense).entity_id
            found = {one.entity_id: one for one in self._near(sense.name, sense.kind, fresh)}
            for one in list(found.values()):  # who else could be the one that is known by less than this name
                if fits(one.name, sense.name, person=True):
                    found |= {other.entity_id: other for other in self._near(one.name, one.entity_type, fresh)}
            near = tuple(
                one
                for name, one in found.items()
                if name != own and not self._together(sense, one.name) and self._may_be(sense, one)
            )
            if near:
                self._asked.append((sense, near))
        return [MatchRequest(sense.name, sense.kind or "thing", self._said(sense), near) for sense, near in self._asked]

    def _near(self, name: str, kind: str, fresh: KnownEntities) -> tuple[Entity, ...]:
        return (*self._known.near(name, kind), *fresh.near(name, kind))

    def _roots(self) -> list[_Sense]:
        return [sense for sense in self._all() if sense.joined is None]

    def _said(self, sense: _Sense) -> tuple[str, ...]:
        places = dict.fromkeys(place for place in sense.places if 0 <= place < len(self._candidates))
        return tuple(self._candidates[place].content[:500] for place in list(places)[:_SAID])

    def _together(self, sense: _Sense, other: str) -> bool:
        """Whether a sentence names both, so that they are two."""
        places = dict.fromkeys(place for place in sense.places if 0 <= place < len(self._candidates))
        return any(beside(self._candidates[place].content, sense.name, other) for place in places)

    # -- the outcome

    def settle(self, verdicts: Sequence[Verdict[EntityMatch]]) -> Fused:
        """Return what became of the names; a verdict that is no judgement keeps them apart."""
        made = {self._new(sense).entity_id: sense for sense in self._roots() if sense.entity is None}
        maybe: list[tuple[_Sense, tuple[Entity, ...]]] = []
        descriptions: dict[int, str] = {}
        for (sense, near), verdict in zip(self._asked, verdicts, strict=True):
            by_id = {one.entity_id: one for one in near}
            match = verdict.value if isinstance(verdict, Judged) else None
            if match is not None and match.entity_id in by_id and match.confidence >= _SURE:
                self._unite(sense.root(), by_id[match.entity_id], made)
                if match.description:
                    descriptions[id(sense.root())] = match.description
            elif match is None or match.entity_id:
                maybe.append((sense, near))
        entities = self._entities(descriptions)
        for sense, near in maybe:
            mine = self._id(sense.root(), entities)
            for other in near[:_MAYBE]:
                theirs = (
                    self._id(made[other.entity_id].root(), entities) if other.entity_id in made else other.entity_id
                )
                if mine != theirs:
                    one, two = sorted((mine, theirs))
                    self._edges.append(Edge(one, "RELATED_TO", two, self._scope, kind=MAYBE_SAME))
        changed = [one for one in entities.values() if one != self._known.get(one.entity_id)]
        return Fused(
            candidates=tuple(self._fused(place, entities) for place in range(len(self._candidates))),
            entities=tuple(_next(one, self._known.get(one.entity_id)) for one in changed),
            edges=tuple(dict.fromkeys(self._edges)),
            same=tuple(self._same.items()),
            names=tuple("" if one is None else self._id(one.root(), entities) for one in self._names),
            known=self._known,
        )

    def _unite(self, sense: _Sense, entity: Entity, made: Mapping[str, _Sense]) -> None:
        if entity.entity_id not in made:
            other = self._taken.get(entity.entity_id)
            if other is not None and other.root() is not sense:
                self._join(sense, other.root())
                _longest(other.root())
            else:
                self._take(sense, entity)
            return
        other = made[entity.entity_id].root()
        if other is not sense:
            self._join(sense, other)
            _longest(other)

    def _entities(self, descriptions: Mapping[int, str]) -> dict[int, Entity]:
        found: dict[int, Entity] = {}
        for sense in self._roots():
            entity = sense.entity or self._new(sense)
            name = self._canonical(sense, entity)
            forms = [form for form in (*entity.aliases, entity.name, *sense.forms) if form != name]
            found[id(sense)] = replace(
                entity,
                name=name,
                entity_type=entity.entity_type if family(entity.entity_type) or not sense.kind else sense.kind,
                aliases=aliases_of(name, forms),
                description=descriptions.get(id(sense), entity.description),
                status="active",
            )
        return found

    def _canonical(self, sense: _Sense, entity: Entity) -> str:
        """The name that the text states, a fuller one of a person, else the one that it had."""
        if sense.entity is None:
            return sense.name
        key, known = name_key(sense.name), name_key(entity.name)
        if key == known or key in {name_key(alias) for alias in entity.aliases}:
            return entity.name
        renamed = any(name_key(form) == known for form in sense.forms)
        same = known.split()[:1] == key.split()[:1] or titled(entity.name)
        fuller = same and len(key.split()) > len(known.split())
        return sense.name if renamed or fuller else entity.name

    def _new(self, sense: _Sense) -> Entity:
        """The entity that a name would begin: by its name alone, by its type besides where that is taken."""
        plain = entity_of_name(self._scope, sense.name)
        first = next((one.root() for one in self._senses.get(name_key(sense.name), ())), sense)
        taken = self._known.get(plain) is not None
        if taken or (first is not sense and first.entity is None):
            kind = sense.kind or "thing"
            plain = ids.entity_id(self._scope.key, f"{normalise_name(sense.name)}\x1f{kind}")
            whose = min(sense.told, default=None)
            if whose is not None and (self._known.get(plain) is not None or family(first.kind) == family(kind)):
                told_by = f"{normalise_name(sense.name)}\x1f{kind}\x1f{whose.owner}\x1f{whose.role}"
                plain = ids.entity_id(self._scope.key, told_by)
        return Entity(plain, 0, self._scope, sense.kind or "thing", sense.name)

    @staticmethod
    def _id(sense: _Sense, entities: Mapping[int, Entity]) -> str:
        return entities[id(sense)].entity_id

    def _fused(self, place: int, entities: Mapping[int, Entity]) -> Candidate:
        candidate = self._candidates[place]
        mentions: list[Mention] = []
        for slot, mention in enumerate(candidate.mentions):
            sense = self._of.get((place, slot))
            entity = entities[id(sense.root())] if sense is not None else None
            kind = entity.entity_type if entity else mention.entity_type
            mentions.append(Mention(mention.name, kind, entity.entity_id if entity else ""))
        subject = self._of.get((place, -1))
        if subject is None:
            return replace(candidate, mentions=tuple(mentions))
        entity = entities[id(subject.root())]
        return replace(candidate, entity_id=entity.entity_id, entity_name=entity.name, mentions=tuple(mentions))


def _common(sense: _Sense, known: Sequence[Entity]) -> bool:
    """Whether a word in lower case, of no certain kind, only looks like the name of something: apple, Apple."""
    form = next(iter(sense.forms), sense.name)
    plain = form.isascii() and form.islower() and not family(sense.kind)
    return plain and all(one.name[:1].isupper() and family(one.entity_type) for one in known)


def _doubled(candidate: Candidate) -> Candidate:
    """Return the candidate with a mention for each of several namesakes that it speaks of: "Ann's sister Eva met Bob's
    sister Eva"."""
    found = told(candidate.content, candidate.speaker)
    more = []
    for mention in candidate.mentions:
        same = [one for one in found if one.name == name_key(mention.name)]
        owners = {(one.owner, one.role) for one in same}
        if len(owners) > 1 and len({one.role for one in same}) == 1:
            more += [mention] * (len(owners) - 1)
    return replace(candidate, mentions=(*candidate.mentions, *more)) if more else candidate


def _owned_by(facts: Iterable[Told], owner: str) -> bool:
    return bool(owner) and any(one.owner == name_key(owner) for one in facts)


def _longest(sense: _Sense) -> None:
    """Let a person be known by the fullest of the names that were found to be one."""
    names = [name for name in (sense.name, *sense.forms) if not titled(name)]
    if names and sense.kind in ("person", ""):
        sense.name = max(names, key=lambda name: (len(name_key(name).split()), name == sense.name))


def _next(entity: Entity, known: Entity | None) -> Entity:
    return replace(entity, revision=known.revision + 1 if known else 1)
