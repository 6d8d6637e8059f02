"""Entities in the projector, in rebuilds and verification; index files that know none of them are built anew."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.documents import ANN, IDENTITY, commit, commit_entities, entity, memory
from support.stores import open_store

from mindmem.core.errors import OutdatedIndex
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.index.projector import Projector
from mindmem.core.index.rebuild import rebuild
from mindmem.core.ledger.sql import SqlLedger

Open = Callable[..., Projector]


def test_entities_are_projected_with_the_change_that_wrote_them(ledger: SqlLedger, project: Open) -> None:
    projector = project()
    rome = entity("Rome", "the city")
    commit_entities(ledger, rome)
    assert projector.index.named(ANN.partition, ["Rome"]) == {}
    commit_entities(ledger, replace(rome, revision=2, description="where Ann lives"))
    projector.catch_up(None)
    assert projector.index.named(ANN.partition, ["the city"]) == {"the city": ("ent_Rome",)}
    assert projector.index.entities(["ent_Rome"])["ent_Rome"].revision == 2
    assert project().index.watermark() == 2


def test_two_projectors_see_each_others_entities(ledger: SqlLedger, project: Open) -> None:
    one, other = project(), project()
    for number in range(4):
        commit_entities(ledger, entity(f"Place {number}"))
        (one, other)[number % 2].catch_up(None)
        text = "From Place 0 to Place 3"
        assert one.index.linked(ANN.partition, text) == other.index.linked(ANN.partition, text)
    assert len(one.index.linked(ANN.partition, "From Place 0 to Place 3")) == 2


def test_a_rebuild_takes_entities_along_and_what_is_written_meanwhile(ledger: SqlLedger, project: Open) -> None:
    projector = project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    rex = entity("Rex", description="grey dog")
    commit_entities(ledger, rex)
    projector.catch_up(None)
    commit_entities(ledger, entity("Oslo"))
    rebuild(projector, [], 2, entities=[[rex]], embedder=IDENTITY)
    assert set(projector.index.entities(["ent_Rex", "ent_Oslo"])) == {"ent_Rex", "ent_Oslo"}
    assert [one.entity_id for one in projector.index.similar_entities(ANN.partition, "grey dog")] == ["ent_Rex"]


@pytest.fixture
def aged(home: Path) -> Path:
    """Give the home of a store whose index file is of the time before entities; its log was pruned."""
    with open_store(home) as store:
        store.add(["My sister Nora lives in Oslo.", "Nora works at Acme."], user_id="ann")
        store.fold()
        assert store.status().pruned_seq == store.status().last_seq
    [file] = (home / "index").glob("*.sqlite")
    with sqlite3.connect(file) as connection:
        connection.execute("update meta set value = '1' where name = 'format'")
        connection.execute("drop table entities")
        connection.execute("alter table documents drop column mentions")
    connection.close()
    return home


def test_an_older_index_file_is_built_anew_unasked(aged: Path) -> None:
    [file] = (aged / "index").glob("*.sqlite")
    with pytest.raises(OutdatedIndex, match="rebuild-index"):
        EmbeddedIndex(file, "old")
    with open_store(aged) as store:
        assert {"Nora", "Oslo", "Acme"} <= {one.name for one in store.entities(user_id="ann").entities}
        assert store.search("Where does Nora live?", user_id="ann").hits
        assert store.verify() == ()
        assert file not in (aged / "index").glob("*.sqlite")


def test_an_entity_that_the_index_lost_or_holds_otherwise_is_named(home: Path) -> None:
    with open_store(home) as store:
        store.add("My sister Nora lives in Oslo.", user_id="ann")
        nora = store.entity("Nora", user_id="ann").entity
        [file] = (home / "index").glob("*.sqlite")
        with sqlite3.connect(file) as connection:
            connection.execute("update entities set record = replace(record, '\"revision\":1', '\"revision\":9')")
        assert f"index: {nora.entity_id}: holds revision 9, the tables 1" in map(str, store.verify())
        with sqlite3.connect(file) as connection:
            connection.execute("delete from entities")
        connection.close()
        assert f"index: {nora.entity_id}: is missing" in map(str, store.verify())
