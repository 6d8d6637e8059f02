"""Reading the graph: an entity by its name, a property over time, a neighbourhood; in the present and as of a time."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from support.stores import open_store

from mindmem.core.async_memory import AsyncMemory
from mindmem.core.errors import InvalidInput, NotFound
from mindmem.core.memory import Memory


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Give a store of a few people; tests only read it."""
    opened = open_store(tmp_path_factory.mktemp("graph"))
    for month, words in (
        (1, "My sister Nora lives in Oslo."), (2, "Nora works at Acme."), (3, "My sister Nora lives in Bergen now."),
        (4, "Acme is based in Lyon."), (5, "My friend Ole lives in Oslo."),
    ):  # fmt: skip
        opened.add({"role": "user", "content": words, "timestamp": f"2025-{month:02}-01T09:00:00Z"}, user_id="ann")
    opened.add("My sister Nora lives in Rome.", user_id="bob")
    yield opened
    opened.close()


def at(month: int) -> datetime:
    return datetime(2025, month, 15, tzinfo=UTC)


def test_an_entity_shows_its_properties_relations_and_when_it_was_spoken_of(memory: Memory) -> None:
    view = memory.entity("NORA", user_id="ann")
    homes = next(one for one in view.properties if one.name == "lives_in")
    assert ([one.value for one in homes.memories], homes.total) == (["Bergen"], 2)
    assert {(one.entity.name, one.kind, one.outward) for one in view.related} >= {
        ("Bergen", "lives_in", True), ("Acme", "works_at", True)
    }  # fmt: skip
    assert "Oslo" not in {one.entity.name for one in view.related}
    assert (view.active, view.first_seen, view.last_seen) == (2, *(datetime(2025, n, 1, 9, tzinfo=UTC) for n in (1, 3)))
    other = memory.entity("Acme", user_id="ann")
    assert ("Nora", "works_at", False) in {(one.entity.name, one.kind, one.outward) for one in other.related}
    assert memory.entity(view.entity.entity_id, user_id="ann") == view


def test_an_unknown_name_is_told_with_those_near_it(memory: Memory) -> None:
    with pytest.raises(NotFound, match="Near it are: Nora"):
        memory.entity("Norah", user_id="ann")
    with pytest.raises(NotFound, match="mindmem entities"):
        memory.entity("Xerxes", user_id="nobody")
    with pytest.raises(InvalidInput, match="entity"):
        memory.entity("  ", user_id="ann")


def test_users_do_not_see_each_others_entities(memory: Memory) -> None:
    bobs = memory.entity("Nora", user_id="bob")
    assert [one.value for each in bobs.properties for one in each.memories] == ["Rome"]
    with pytest.raises(NotFound):
        memory.entity(bobs.entity.entity_id, user_id="ann")
    assert "Rome" not in {one.name for one in memory.entities(user_id="ann").entities}


def test_entities_come_in_pages(memory: Memory) -> None:
    every = memory.entities(user_id="ann")
    seen: list[str] = []
    cursor: str | None = None
    while True:
        page = memory.entities(user_id="ann", limit=2, cursor=cursor)
        seen += [one.name for one in page.entities]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == [one.name for one in every.entities]
    assert {"Nora", "Oslo", "Acme", "Lyon", "Ole"} <= set(seen)


def test_a_timeline_by_name_holds_the_past_and_as_of_what_was_true(memory: Memory) -> None:
    found = memory.timeline("nora", "Lives in", user_id="ann")
    assert [(one.value, one.status) for one in found] == [("Oslo", "archived"), ("Bergen", "active")]
    assert [one.value for one in memory.timeline("Nora", "lives_in", user_id="ann", as_of=at(2))] == ["Oslo"]
    assert [one.value for one in memory.timeline("Nora", "lives_in", user_id="ann", as_of=at(4))] == ["Bergen"]
    assert memory.timeline(found[0].memory_id) == found


def test_a_timeline_says_which_properties_there_are_and_what_it_takes(memory: Memory) -> None:
    with pytest.raises(NotFound, match="lives_in, works_at"):
        memory.timeline("Nora", "shoe size", user_id="ann")
    [one] = memory.list(user_id="bob").memories
    with pytest.raises(InvalidInput, match="user_id"):
        memory.timeline(one.memory_id, user_id="bob")
    with pytest.raises(InvalidInput, match="user_id"):
        memory.timeline("Nora", "lives_in")
    with pytest.raises(InvalidInput, match="time zone"):
        memory.timeline("Nora", "lives_in", user_id="ann", as_of=datetime(2025, 1, 1))  # noqa: DTZ001


def test_a_graph_grows_by_hops(memory: Memory) -> None:
    def reached(hops: int) -> dict[str, int]:
        return {node.label: node.hops for node in memory.graph("Nora", hops, user_id="ann").nodes}

    assert reached(1) == {"Nora": 0, "Bergen": 1, "Acme": 1}
    assert reached(2) == {"Nora": 0, "Bergen": 1, "Acme": 1, "Lyon": 2}
    view = memory.graph("Nora", 2, user_id="ann")
    names = {node.node_id: node.label for node in view.nodes}
    told = {(names[edge.source], edge.kind, names[edge.target]) for edge in view.edges}
    assert {("Nora", "lives_in", "Bergen"), ("Nora", "works_at", "Acme")} <= told
    assert all(edge.memory_id for edge in view.edges)
    assert not view.cut


def test_a_graph_as_of_a_time_shows_what_held_then(memory: Memory) -> None:
    then = {node.label for node in memory.graph("Nora", 2, user_id="ann", as_of=at(2)).nodes}
    assert then == {"Nora", "Oslo", "Acme"}


def test_a_graph_is_bounded_and_says_so(memory: Memory) -> None:
    view = memory.graph("Nora", 3, user_id="ann", limit=2)
    assert len(view.nodes) == 2
    assert view.cut
    assert {edge.source for edge in view.edges} | {edge.target for edge in view.edges} <= {
        node.node_id for node in view.nodes
    }
    for hops in (0, 4, True):
        with pytest.raises(InvalidInput, match="hops"):
            memory.graph("Nora", hops, user_id="ann")


def test_a_graph_with_memories_hangs_them_between_whom_they_are_about_and_whom_they_mention(memory: Memory) -> None:
    view = memory.graph("Nora", user_id="ann", memories=True)
    said = {node.node_id: node.label for node in view.nodes if node.kind == "memory"}
    assert set(said.values()) == {"My sister Nora lives in Bergen now.", "Nora works at Acme."}
    kinds = {(edge.kind, edge.source in said, edge.target in said) for edge in view.edges}
    assert {("HAS_PROPERTY", False, True), ("MENTIONS", True, False)} <= kinds


def test_the_asynchronous_twin_answers_the_same(memory: Memory) -> None:
    twin = AsyncMemory(services=memory.services)

    async def read() -> tuple[object, ...]:
        return (
            await twin.entity("Nora", user_id="ann"),
            await twin.entities(user_id="ann"),
            await twin.timeline("Nora", "lives_in", user_id="ann"),
            await twin.graph("Nora", 2, user_id="ann"),
        )

    assert asyncio.run(read()) == (
        memory.entity("Nora", user_id="ann"),
        memory.entities(user_id="ann"),
        memory.timeline("Nora", "lives_in", user_id="ann"),
        memory.graph("Nora", 2, user_id="ann"),
    )
