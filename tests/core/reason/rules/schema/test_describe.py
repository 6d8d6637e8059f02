"""Search fields hold names, kind, what is told, and other words for that."""

from support.builders import SCOPE, memory

from mindmem.core.reason.port import Judged
from mindmem.core.reason.rules.schema.describe import AUGMENTED, MOST, RulesDescriber
from mindmem.core.reason.schema_port import KeyRequest
from mindmem.core.records import Entity, Memory


async def _keys(entity: Entity, *memories: Memory) -> tuple[str, ...]:
    [verdict] = await RulesDescriber().describe([KeyRequest(entity, memories)])
    assert isinstance(verdict, Judged)
    return verdict.value.search_fields


async def test_an_entity_is_found_by_its_names_its_kind_and_what_is_told_of_it() -> None:
    entity = Entity("e", 1, SCOPE, "person", "Anna Keller", ("Annie",))
    keys = await _keys(entity, memory("Anna Keller lives in Lisbon.", prop="residence", value="Lisbon"))
    assert {"Anna Keller", "Annie", "person", "Lisbon"} <= set(keys)


async def test_some_keys_are_words_that_its_memories_do_not_use() -> None:
    entity = Entity("e", 1, SCOPE, "person", "Ann")
    keys = await _keys(entity, memory("Ann lives in Lisbon.", prop="residence", value="Lisbon"))
    assert {"home", "city"} <= set(keys)


async def test_keys_are_few_however_much_is_told() -> None:
    entity = Entity("e", 1, SCOPE, "person", "Ann")
    words = "sailing bread pottery chess novels gardens trumpets walnuts kayaks mosaics lanterns".split()
    memories = [memory(f"Ann likes {word}.", prop=f"hobby.{word}", value=word) for word in words]
    keys = await _keys(entity, *memories)
    assert len(keys) <= MOST
    used = " ".join(one.content.casefold() for one in memories)
    assert sum(key.casefold() not in used and key not in ("Ann", "person") for key in keys) <= AUGMENTED


async def test_an_entity_of_which_nothing_is_told_has_its_name() -> None:
    assert await _keys(Entity("e", 1, SCOPE, "thing", "Osprey")) == ("Osprey",)
