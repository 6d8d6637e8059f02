"""What an add in schema mode brings into the graph: relations with their time and source, episodes, conclusions."""

from pathlib import Path

from support.schema import PARTITION, USER, entities, related, say, schema_store

from mindmem.core.memory import Memory
from mindmem.core.records import Edge
from mindmem.core.records import Memory as Record


def _relation(memory: Memory, kind: str, target: str) -> Edge:
    names = {one.entity_id: one.name for one in entities(memory)}
    edges = memory.services.reader.edges(PARTITION, relation="RELATED_TO")
    [found] = [one for one in edges if one.kind == kind and names.get(one.dst) == target]
    return found


def _second_order(memory: Memory) -> list[Record]:
    index = memory.services.projector.index
    return [one for one in index.scan(PARTITION, None, limit=1_000).memories if one.order == 2]


def test_a_relation_holds_from_when_it_was_said_and_names_the_memory_that_says_so(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "I work at Northwind.", day=3)
        edge = _relation(memory, "works_for", "Northwind")
        assert edge.valid_from is not None
        assert edge.valid_from.day == 3
        assert memory.get(edge.source).value == "Northwind"


def test_a_relation_ends_where_the_memory_that_says_so_is_superseded(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "I live in Oslo.", day=1)
        say(memory, "I live in Rome.", day=9)
        ended, stands = (_relation(memory, "location", town) for town in ("Oslo", "Rome"))
        assert ended.valid_to is not None
        assert ended.valid_to.day == 9
        assert stands.valid_to is None


def test_an_episode_has_a_memory_that_its_memories_are_part_of(tmp_path: Path) -> None:
    with schema_store(tmp_path, episode_memories=True) as memory:
        told = ("I signed up for the Graz Marathon!", "My knees hurt after each run.", "The marathon is in May.")
        say(memory, *told)
        index = memory.services.projector.index
        [summary] = [one for one in index.scan(PARTITION, None, limit=50).memories if "episode" in one.flags]
        assert summary.content.startswith("On 1 February 2026 Sam spoke of ")
        parts = memory.services.reader.edges(PARTITION, dst=[summary.memory_id], relation="RELATED_TO")
        assert len(parts) >= len(told)
        assert {one.kind for one in parts} == {"part_of"}


def test_memories_of_one_episode_know_it_and_a_conclusion_of_several_has_none(tmp_path: Path) -> None:
    with schema_store(tmp_path, episode_memories=True) as memory:
        say(memory, "I signed up for the Graz Marathon!", "My knees hurt after each run.", "The marathon is in May.")
        say(memory, "I love jazz.", day=9)
        say(memory, "I love chess.", day=19)
        found = memory.services.projector.index.scan(PARTITION, None, limit=1_000).memories
        told = {one.content: one.episode for one in found if one.order == 1}
        assert all(told.values())
        assert len({episode for content, episode in told.items() if "arathon" in content or "knees" in content}) == 1
        assert len(set(told.values())) == 3
        assert {one.episode for one in found if one.order == 2} == {""}


def test_a_conclusion_rests_on_at_least_two_memories_and_goes_when_one_is_left(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "I love jazz.", day=1)
        assert _second_order(memory) == []
        say(memory, "I love chess.", day=2)
        [drawn] = _second_order(memory)
        assert drawn.content == "Sam, likes: jazz; chess."
        assert {memory.get(parent).value for parent in drawn.parents} == {"jazz", "chess"}
        memory.delete(drawn.parents[0])
        [gone] = _second_order(memory)
        assert gone.status == "archived"
        assert not memory.verify()


def test_what_was_deleted_is_in_no_key_and_no_conclusion(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "I love jazz.", day=1)
        say(memory, "I love chess.", day=2)
        say(memory, "I love pottery.", day=3)
        [jazz] = [one for one in memory.list(user_id=USER, page_size=50).memories if one.value == "jazz"]
        memory.delete(jazz.memory_id)
        active = [one for one in _second_order(memory) if one.status == "active"]
        assert "jazz" not in " ".join(one.content for one in active)
        assert not any("jazz" in field for one in entities(memory) for field in one.search_fields)


def test_an_add_whose_conclusions_were_renewed_since_can_be_undone(tmp_path: Path) -> None:
    with schema_store(tmp_path) as memory:
        say(memory, "I love jazz.", day=1)
        say(memory, "I love chess.", day=2)
        say(memory, "I love pottery.", day=3)
        changes = memory.services.ledger.changes(partition=PARTITION)
        memory.undo(changes[1].change_id)
        active = [one for one in _second_order(memory) if one.status == "active"]
        assert "chess" not in " ".join(one.content for one in active)
        assert not memory.verify()


def test_the_same_messages_in_vanilla_mode_bring_no_relation_and_no_conclusion(tmp_path: Path) -> None:
    with schema_store(tmp_path, mode="vanilla") as memory:
        say(memory, "I work at Northwind.", "I love jazz.", "I love chess.")
        assert related(memory) == set()
        assert _second_order(memory) == []
