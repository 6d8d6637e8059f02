"""The survey: what each memory tells of, and which properties take one value at a time.

Three witnesses are heard for each property: the schema, the grammar of the sentences, and the corpus, that is how many
values the subjects have. A property whose words say nothing is single-valued where nearly every subject has one value,
or where many have been given a second one and hardly any a third: values that replace each other come in twos, values
that add up don't stop there. Where witnesses contradict each other nobody can tell.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from mindmem.core.reason.dream_port import Survey, Topic
from mindmem.core.reason.rules.dream.reading import topic_of
from mindmem.core.records import Memory
from mindmem.core.records.schema import Schema

__all__ = ["RulesSurveyor", "cardinality"]

_ENOUGH: Final = 12
"""Subjects from which on a corpus says something."""
_RARE: Final = 0.15
"""Share of subjects with a second value up to which a property has one: the second ones are its changes."""
_WAVE: Final = 8
"""Subjects with a second value from which on it counts that none has a third."""
_THIRD: Final = 0.05
_HEAVY: Final = 0.25
"""Share of those with several values that have three or more from which on values plainly add up."""


class RulesSurveyor:
    """The surveyor that needs no model; its answer depends on nothing but the memories and the schema."""

    def survey(self, memories: Sequence[Memory], schema: Schema | None = None) -> Survey:
        """Return topics and cardinalities."""
        topics = {memory.memory_id: topic for memory in memories if (topic := topic_of(memory)) is not None}
        wanted = _by_schema(memories, topics, schema)
        values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        cues: dict[str, Counter[bool | None]] = defaultdict(Counter)
        for topic in topics.values():
            values[topic.property_name][topic.subject].add(topic.value)
            cues[topic.property_name][topic.cue] += 1
        single: dict[str, bool] = {}
        for name, subjects in values.items():
            found = wanted.get(name)
            if found is None:
                found = cardinality([len(some) for some in subjects.values()], cues[name])
            if found is not None:
                single[name] = found
        return Survey(topics, single)


def cardinality(counts: Sequence[int], cues: "Counter[bool | None]") -> bool | None:
    """Return whether a property takes one value at a time, by the number of values of each subject and what the
    sentences' own words say; None where nobody can tell.

    >>> cardinality([1, 2], Counter({True: 3})), cardinality([1, 2], Counter({None: 3}))
    (True, None)
    """
    subjects, several = len(counts), sum(count > 1 for count in counts)
    many = sum(count > 2 for count in counts)
    told = sum(cues.values())
    heavy = several >= 5 and many >= _HEAVY * several
    if cues[False] >= max(1, 0.3 * told):
        return False
    if cues[True] >= 0.5 * told:
        return None if heavy else True
    if heavy:
        return False
    if subjects >= _ENOUGH and (
        (several <= _RARE * subjects and many == 0) or (several >= _WAVE and many <= _THIRD * several)
    ):
        return True
    return None


def _by_schema(memories: Sequence[Memory], topics: dict[str, Topic], schema: Schema | None) -> dict[str, bool]:
    """Return what the schema says of properties, under their comparable names."""
    found: dict[str, bool] = {}
    if schema is None:
        return found
    known = dict(_declared(schema))
    for memory in memories:
        topic = topics.get(memory.memory_id)
        if topic is None:
            continue
        said = known.get((memory.entity_type, memory.property_name))
        if said is not None:
            # Of types that disagree, the one that keeps more counts.
            found[topic.property_name] = said and found.get(topic.property_name, True)
    return found


def _declared(schema: Schema) -> Iterator[tuple[tuple[str, str], bool]]:
    for kind in schema.types:
        for prop in kind.properties:
            if prop.single_valued is not None:
                yield (kind.name, prop.name), prop.single_valued
                # What it covers may be another relation (a colleague, of an occupation): several values are safe.
                yield from (((kind.name, name), False) for name in prop.covers if not prop.single_valued)
