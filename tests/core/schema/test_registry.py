"""The schemas of a project: versions, the active one, and what happens when two import at once."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core.errors import InvalidInput, NotFound
from mindmem.core.memory import Memory
from mindmem.core.records.schema import EntityType, Property, Schema
from mindmem.core.schema.registry import PRESETS, Schemas


def harbour(*properties: str, name: str = "harbour") -> Schema:
    return Schema(
        name=name, types=(EntityType(name="boat", properties=tuple(Property(name=one) for one in properties)),)
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def schemas(memory: Memory) -> Schemas:
    return memory.services.schemas


def test_a_new_project_uses_the_default_preset(schemas: Schemas) -> None:
    assert schemas.active().label == "general@0"
    assert [one.label for one in schemas.versions()] == [f"{name}@0" for name in PRESETS]


def test_versions_are_numbered_and_the_same_content_adds_none(schemas: Schemas) -> None:
    assert schemas.add(harbour("berth")).label == "harbour@1"
    assert schemas.add(harbour("berth")).label == "harbour@1"
    assert schemas.add(harbour("berth", "crew")).label == "harbour@2"
    assert schemas.find("harbour").label == "harbour@2"
    assert schemas.find("harbour@1").schema == harbour("berth")
    assert schemas.active().label == "general@0"


def test_going_back_is_activating_the_earlier_version(schemas: Schemas) -> None:
    schemas.add(harbour("berth"), activate=True)
    schemas.add(harbour("berth", "crew"), activate=True)
    assert schemas.active().label == "harbour@2"
    assert schemas.activate("harbour@1").active
    assert schemas.active().schema == harbour("berth")
    assert [one.label for one in schemas.versions() if one.active] == ["harbour@1"]


def test_activating_what_is_active_writes_nothing(memory: Memory, schemas: Schemas) -> None:
    schemas.add(harbour("berth"), activate=True)
    before = memory.services.ledger.last_seq()
    schemas.activate("harbour@1")
    assert memory.services.ledger.last_seq() == before


def test_a_schema_that_another_process_activates_is_used_from_the_next_question_on(tmp_path: Path) -> None:
    with open_store(tmp_path) as one, open_store(tmp_path) as other:
        assert one.services.schemas.active().label == "general@0"
        one.add("I live in Rome.", user_id="ann")
        assert one.services.schemas.active().label == "general@0"
        other.services.schemas.add(harbour("berth"), activate=True)
        assert one.services.schemas.active().label == "harbour@1"
        other.services.schemas.activate("general@0")
        for number in range(3):
            one.add(f"I own boat number {number}.", user_id="ann")
        assert one.services.schemas.active().label == "general@0"


def test_asking_for_the_active_schema_again_reads_no_table(
    memory: Memory, schemas: Schemas, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemas.add(harbour("berth"), activate=True)
    assert schemas.active().label == "harbour@1"
    reads: list[str] = []
    view = memory.services.reader.view

    def counted(*tables: str) -> object:
        reads.extend(tables)
        return view(*tables)

    monkeypatch.setattr(memory.services.reader, "view", counted)
    memory.add("I live in Rome.", user_id="ann")
    reads.clear()
    assert schemas.active().label == "harbour@1"
    assert reads == []
    schemas.activate("general@0")
    reads.clear()
    assert schemas.active().label == "general@0"
    assert "schemas" in reads


def test_the_active_schema_is_right_after_the_log_was_pruned(memory: Memory, schemas: Schemas) -> None:
    assert schemas.active().label == "general@0"
    Schemas(memory.services.ledger, memory.services.reader, "default").add(harbour("berth"), activate=True)
    memory.fold()
    memory.services.ledger.prune(memory.services.ledger.last_seq())
    assert schemas.active().label == "harbour@1"


def test_projects_do_not_see_each_others_schemas(memory: Memory, schemas: Schemas) -> None:
    schemas.add(harbour("berth"), activate=True)
    other = Schemas(memory.services.ledger, memory.services.reader, "other")
    assert other.active().label == "general@0"
    with pytest.raises(NotFound, match="general@0"):
        other.find("harbour")


def test_schemas_outlive_a_fold_and_a_restart(tmp_path: Path) -> None:
    with open_store(tmp_path) as memory:
        memory.services.schemas.add(harbour("berth"), activate=True)
        memory.fold()
        memory.services.schemas.add(harbour("crew"))
    with open_store(tmp_path) as memory:
        assert memory.services.schemas.active().schema == harbour("berth")
        assert memory.services.schemas.find("harbour").version == 2
        assert not memory.verify()


def test_imports_at_the_same_time_get_numbers_of_their_own(schemas: Schemas) -> None:
    threads = [threading.Thread(target=schemas.add, args=(harbour(f"property_{n}"),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    imported = [one for one in schemas.versions() if one.schema.name == "harbour"]
    assert [one.version for one in imported] == [1, 2, 3, 4, 5, 6]
    assert len({one.digest for one in imported}) == 6


@pytest.mark.parametrize("name", ["", " ", "a@b", "x" * 101])
def test_a_name_that_could_not_be_told_from_a_label_is_refused(schemas: Schemas, name: str) -> None:
    with pytest.raises(InvalidInput):
        schemas.add(harbour("berth", name=name))
