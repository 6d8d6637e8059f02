"""Who is who in a store: merging, splitting, another subject, deleting with what hangs on it; all of it undoable."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core import ids
from mindmem.core.apply import Request
from mindmem.core.errors import Conflict, InvalidInput, NotFound
from mindmem.core.memory import Memory
from mindmem.core.records import Action, Edge, Entity, Partition, Plan, Scope

ANN = Partition("default", "ann")


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = open_store(home)
    opened.add(
        ["My sister Nora lives in Oslo.", "Nora works at Acme.", "My friend Nonni lives in Bergen."], user_id="ann"
    )
    yield opened
    assert opened.verify() == ()
    opened.close()


def names(memory: Memory) -> set[str]:
    return {one.name for one in memory.entities(user_id="ann").entities}


def about(memory: Memory, name: str) -> set[str]:
    return {one.content for each in memory.entity(name, user_id="ann").properties for one in each.memories}


def edges(memory: Memory) -> set[tuple[str, str, str]]:
    """Return the edges that stand, evidence apart, with names for ids."""
    known = {one.entity_id: one.name for one in memory.services.reader.entities(ANN)}
    said = {one.memory_id: one.content for one in memory.services.reader.memories(ANN)}
    names = known | said
    return {
        (names.get(edge.src, edge.src), edge.relation, names.get(edge.dst, edge.dst))
        for edge in memory.services.reader.edges(ANN)
        if edge.relation != "EXTRACTED_FROM"
    }


def state(memory: Memory) -> object:
    """Return entities (revisions apart), edges and active memories."""
    rows = memory.services.reader.entities(ANN)
    said = {(one.content, one.entity_name, one.mentions) for one in memory.list(user_id="ann").memories}
    return {replace(one, revision=0) for one in rows if one.status == "active"}, edges(memory), said


def found(memory: Memory, word: str) -> str:
    [one] = [one for one in memory.list(user_id="ann").memories if word in one.content]
    return one.memory_id


# -- merging and splitting


def test_a_merge_moves_memories_edges_and_names_and_undo_brings_all_back(memory: Memory) -> None:
    before = state(memory)
    gone = memory.entity("Nonni", user_id="ann").entity.entity_id
    done = memory.merge_entities("Nora", "Nonni", user_id="ann", actor="test")
    kept = memory.entity(gone, user_id="ann")
    assert (kept.entity.name, kept.entity.aliases) == ("Nora", ("Nonni",))
    assert memory.entity("nonni", user_id="ann").entity.entity_id == kept.entity.entity_id
    assert kept.active == 3
    assert "Nonni" not in names(memory)
    assert ("Nora", "HAS_PROPERTY", "My friend Nonni lives in Bergen.") in edges(memory)
    assert not any(src == "Nonni" for src, _, _ in edges(memory))
    assert memory.get(found(memory, "Bergen")).entity_name == "Nora"
    memory.undo(done.change_id)
    assert state(memory) == before


def test_a_merged_store_reads_the_same_after_fold_and_rebuild(memory: Memory) -> None:
    memory.merge_entities("Nora", "Nonni", user_id="ann")
    before = memory.entity("Nonni", user_id="ann")
    memory.fold()
    memory.rebuild_index()
    assert memory.entity("Nonni", user_id="ann") == before


def test_undoing_a_merge_keeps_what_came_later(memory: Memory) -> None:
    done = memory.merge_entities("Nora", "Nonni", user_id="ann")
    memory.add("My sister Nora loves chess.", user_id="ann")
    memory.undo(done.change_id)
    assert "My friend Nonni lives in Bergen." in about(memory, "Nonni")
    assert any("chess" in content for content in about(memory, "Nora"))


def test_an_entity_is_not_merged_with_itself(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="one entity already"):
        memory.merge_entities("Nora", "nora", user_id="ann")


def test_a_split_gives_some_memories_another_subject_and_undo_takes_it_back(memory: Memory) -> None:
    before = state(memory)
    work = found(memory, "Acme")
    done = memory.split_entity("Nora", [work], "Nora Berg", user_id="ann")
    assert about(memory, "Nora Berg") == {"Nora works at Acme."}
    assert "Nora works at Acme." not in about(memory, "Nora")
    assert ("Nora Berg", "HAS_PROPERTY", "Nora works at Acme.") in edges(memory)
    assert ("Nora", "HAS_PROPERTY", "Nora works at Acme.") not in edges(memory)
    memory.undo(done.change_id)
    assert state(memory) == before


def test_two_of_one_name_are_told_apart_by_id(memory: Memory) -> None:
    memory.split_entity("Nora", [found(memory, "Acme")], "Nora", user_id="ann")
    with pytest.raises(InvalidInput, match="Several entities") as error:
        memory.entity("Nora", user_id="ann")
    one = next(word for word in str(error.value).split() if word.startswith("ent_"))
    assert memory.entity(one, user_id="ann").entity.name == "Nora"


def test_a_split_takes_back_a_wrong_merge(memory: Memory) -> None:
    memory.merge_entities("Nora", "Nonni", user_id="ann")
    memory.split_entity("Nora", [found(memory, "Bergen")], "Nonni", user_id="ann")
    assert about(memory, "Nonni") == {"My friend Nonni lives in Bergen."}
    assert memory.entity("Nora", user_id="ann").entity.aliases == ()


def test_a_split_refuses_foreign_memories_and_taken_names(memory: Memory) -> None:
    with pytest.raises(NotFound, match="mem_none"):
        memory.split_entity("Nora", ["mem_none"], "Nora Berg", user_id="ann")
    with pytest.raises(NotFound):
        memory.split_entity("Nora", [], "Nora Berg", user_id="ann")
    with pytest.raises(Conflict, match="Nonni"):
        memory.split_entity("Nora", [found(memory, "Acme")], "Nonni", user_id="ann")


# -- another subject


def test_the_subject_of_a_memory_is_edited_by_name(memory: Memory) -> None:  # D6
    before = state(memory)
    work = found(memory, "Acme")
    done = memory.update(work, entity="nonni")
    assert memory.get(work).entity_name == "Nonni"
    assert "Nora works at Acme." in about(memory, "Nonni")
    assert ("Nora", "HAS_PROPERTY", "Nora works at Acme.") not in edges(memory)
    assert ("Nonni", "HAS_PROPERTY", "Nora works at Acme.") in edges(memory)
    memory.undo(done.change_id)
    assert state(memory) == before


def test_a_subject_that_nobody_knows_becomes_an_entity_and_the_old_one_goes_if_orphaned(memory: Memory) -> None:
    memory.update(found(memory, "Bergen"), entity="Nonni Olsen", content="Nonni Olsen lives in Bergen.")
    assert about(memory, "Nonni Olsen") == {"Nonni Olsen lives in Bergen."}
    assert "Nonni" not in names(memory)
    with pytest.raises(InvalidInput, match="entity"):
        memory.update(found(memory, "Bergen"), entity="...")


# -- deleting


def test_deleting_takes_edges_and_orphans_along_and_undo_brings_them_back(memory: Memory) -> None:  # E4
    before = state(memory)
    done = memory.delete(found(memory, "Bergen"))
    assert names(memory).isdisjoint({"Nonni", "Bergen"})
    assert "Nora" in names(memory)
    assert not any("Nonni" in end or "Bergen" in end for src, _, dst in edges(memory) for end in (src, dst))
    assert memory.services.projector.index.linked(ANN, "Was Nonni in Bergen?") == []
    memory.undo(done.change_id)
    assert state(memory) == before


def test_a_relation_that_only_a_deleted_memory_tells_goes_with_whom_only_it_names(memory: Memory) -> None:
    said = memory.get(found(memory, "Acme"))
    boss = Entity("ent_boss", 1, said.scope.without_session(), "person", "Ole Berg")
    edge = Edge(said.entity_id, "RELATED_TO", boss.entity_id, boss.scope, kind="social", source=said.memory_id)
    plan = Plan(kind="update", scope=boss.scope, base_version=None, entities=(boss,), edges=(edge,))
    memory.services.applier.apply(plan, Request(actor="test"))
    assert [one.entity.name for one in memory.entity("Nora", user_id="ann").related if one.kind == "social"]
    memory.delete(said.memory_id)
    assert "Ole Berg" not in names(memory)
    assert not [one for one in memory.entity("Nora", user_id="ann").related if one.kind == "social"]


def test_what_is_restored_has_its_edges_and_entities_again(memory: Memory) -> None:
    gone = found(memory, "Bergen")
    before = edges(memory)
    memory.delete(gone)
    memory.update(gone, status="active")
    assert {"Nonni", "Bergen"} <= names(memory)
    assert edges(memory) == before


def test_deleting_everything_leaves_no_entity_and_no_edge_and_can_be_undone(memory: Memory) -> None:
    before = state(memory)
    done = memory.delete_all(user_id="ann")
    assert (names(memory), edges(memory)) == (set(), set())
    memory.undo(done.change_id)
    assert state(memory) == before


def test_an_entity_that_is_spoken_of_again_comes_back(memory: Memory) -> None:
    memory.delete(found(memory, "Bergen"))
    memory.add("My friend Nonni plays chess.", user_id="ann")
    assert "Nonni" in names(memory)
    assert memory.services.projector.index.named(ANN, ["Nonni"])


def test_what_was_synthesised_from_a_deleted_memory_is_retired_with_it(memory: Memory) -> None:  # E5
    parent = memory.get(found(memory, "Acme"))
    content = "Nora works a lot, as far as is known."
    summary = replace(
        parent, memory_id="mem_summary", revision=1, content=content, content_hash=ids.content_hash(content), order=2,
        parents=(parent.memory_id,), property_name="work_habit",
    )  # fmt: skip
    plan = Plan(kind="update", scope=summary.scope, base_version=None, actions=(Action("add", summary, "test"),))
    memory.services.applier.apply(plan, Request(actor="test"))
    done = memory.delete(parent.memory_id)
    assert memory.get("mem_summary").status == "archived"
    memory.undo(done.change_id)
    assert memory.get("mem_summary").status == "active"


# -- undo


def test_undoing_an_add_takes_its_entities_and_leaves_those_of_others(memory: Memory) -> None:
    done = memory.add("My cousin Frida lives in Oslo.", user_id="ann").changes[0]
    assert "Frida" in names(memory)
    memory.undo(done.change_id)
    assert "Frida" not in names(memory)
    assert "Oslo" in names(memory)


def test_an_entity_stays_while_later_memories_have_to_do_with_it(memory: Memory) -> None:
    done = memory.add("My cousin Frida lives in Oslo.", user_id="ann").changes[0]
    memory.add("Frida works at Initech.", user_id="ann")
    memory.undo(done.change_id)
    assert about(memory, "Frida") == {"Frida works at Initech."}


def test_undo_takes_out_what_a_change_did_to_an_entity_and_leaves_what_came_later(memory: Memory) -> None:
    nora = memory.entity("Nora", user_id="ann").entity

    def write(revision: int, **fields: object) -> str:
        entity = replace(nora, revision=revision, **fields)  # type: ignore[arg-type]
        plan = Plan(kind="update", scope=Scope(user_id="ann"), base_version=None, entities=(entity,))
        return memory.services.applier.apply(plan, Request(actor="test")).change_id

    first = write(2, aliases=("Nori",), description="a sister")
    write(3, aliases=("Nori", "Norchen"), description="a sister", search_fields=("family",))
    memory.undo(first)
    now = memory.entity("Nora", user_id="ann").entity
    assert (now.aliases, now.description, now.search_fields) == (("Norchen",), "", ("family",))


def test_an_edge_that_a_later_change_writes_again_outlives_the_undo_of_the_first(memory: Memory) -> None:
    view = {one.name: one for one in memory.entities(user_id="ann").entities}
    edge = Edge(view["Nora"].entity_id, "RELATED_TO", view["Nonni"].entity_id, Scope(user_id="ann"), kind="social")

    def write(*written: Edge) -> str:
        plan = Plan(kind="update", scope=Scope(user_id="ann"), base_version=None, edges=written)
        return memory.services.applier.apply(plan, Request(actor="test")).change_id

    first, second = write(edge), write(edge)
    memory.undo(first)
    assert ("Nora", "RELATED_TO", "Nonni") in edges(memory)
    memory.undo(second)
    assert ("Nora", "RELATED_TO", "Nonni") not in edges(memory)


def test_restoring_a_ledger_keeps_archived_entities_archived(memory: Memory) -> None:
    memory.delete(found(memory, "Bergen"))
    known = [one for one in memory.services.reader.entities(ANN) if one.status == "archived"]
    heads = memory.services.ledger.heads("entity", [one.entity_id for one in known])
    assert {head.status for head in heads.values()} == {"archived"}
    assert isinstance(known[0], Entity)
