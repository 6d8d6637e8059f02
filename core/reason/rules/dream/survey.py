"""The survey: what each memory tells of, and which properties take one value at a time.

The schema is heard first; for what it doesn't name, :mod:`cardinality` weighs the grammar of the sentences and the
corpus, that is how many values the subjects have.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean

from mindmem.core.reason.dream_port import Survey, Topic
from mindmem.core.reason.rules.dream.cardinality import Evidence, cardinalities
from mindmem.core.reason.rules.dream.reading import leaning, topic_of
from mindmem.core.records import Memory
from mindmem.core.records.schema import Schema

__all__ = ["RulesSurveyor"]


class RulesSurveyor:
    """The surveyor that needs no model; its answer depends on nothing but the memories and the schema."""

    def survey(self, memories: Sequence[Memory], schema: Schema | None = None) -> Survey:
        """Return topics and cardinalities."""
        topics = {memory.memory_id: topic for memory in memories if (topic := topic_of(memory)) is not None}
        return Survey(topics, {**cardinalities(_seen(memories, topics)), **_by_schema(memories, topics, schema)})


def _seen(memories: Sequence[Memory], topics: dict[str, Topic]) -> dict[str, Evidence]:
    """Return what is seen of each property, by its comparable name."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    cues: dict[str, Counter[bool | None]] = defaultdict(Counter)
    leans: dict[str, list[float]] = defaultdict(list)
    for memory in memories:
        topic = topics.get(memory.memory_id)
        if topic is None:
            continue
        values[topic.property_name][topic.subject].add(topic.value)
        cues[topic.property_name][topic.cue] += 1
        if topic.cue is None:
            leans[topic.property_name].append(leaning(memory.content, topic.value))
    return {
        name: Evidence([len(some) for some in subjects.values()], cues[name], fmean(leans[name] or (0.0,)))
        for name, subjects in values.items()
    }


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
