"""The projector: what was committed is found, in order, whoever projects; one generation follows another unnoticed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.documents import ANN, IDENTITY, ask, commit, embed, memory
from support.forks import together

from mindmem.core.embed.port import EmbedderIdentity, Embedding
from mindmem.core.errors import EmbedderMismatch, InvalidInput, StaleGeneration
from mindmem.core.index.current import generation_key
from mindmem.core.index.documents import embed_text
from mindmem.core.index.projector import Projector
from mindmem.core.index.rebuild import Built, rebuild
from mindmem.core.ledger.port import Ledger
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.records import Memory
from mindmem.core.tables.rows import memory_of

Open = Callable[..., Projector]


def _state(ledger: Ledger, *, vectors: bool = True) -> Iterator[list[Built]]:
    """Yield every memory at its newest revision, as the reader of the tables does, one a list."""
    newest: dict[str, Memory] = {}
    first: dict[str, Memory] = {}
    for entry in ledger.read_log(0):
        for row in entry.batches["memories"].to_pylist():
            made = memory_of(row)
            first.setdefault(made.memory_id, made)
            newest[made.memory_id] = made
    for memory_id, made in newest.items():
        embedding: Embedding | None = embed(embed_text(made)) if vectors else None
        recorded = first[memory_id].recorded_at
        assert recorded is not None
        yield [(made, recorded, embedding)]


def _found(projector: Projector, text: str) -> list[str]:
    return [scored.memory_id for scored in projector.index.hybrid(ask(text))]


def _files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.sqlite"))


def test_a_change_is_found_once_the_projector_has_reached_it(ledger: SqlLedger, project: Open) -> None:
    projector = project()
    change = commit(ledger, memory("Ann keeps bees", name="bees"))
    assert _found(projector, "bees") == []
    assert projector.catch_up(change.seq) == change.seq
    assert _found(projector, "bees") == ["mem_bees"]
    assert projector.index.get(["mem_bees"])["mem_bees"].seq == change.seq
    assert {projector.publish()} == set(ledger.watermarks("index").values()) == {change.seq}
    assert projector.catch_up(None) == change.seq


def test_later_revisions_keep_their_vectors_and_when_they_were_created(ledger: SqlLedger, project: Open) -> None:
    projector = project()
    first = memory("Ann keeps bees", name="bees")
    commit(ledger, first)
    projector.catch_up(None)
    created = projector.index.get(["mem_bees"])["mem_bees"].recorded_at
    commit(ledger, replace(first, revision=2, reinforcement_count=2), embedded=False)
    projector.catch_up(None)
    assert [scored.memory_id for scored in projector.index.dense(ask("Ann keeps bees"))] == ["mem_bees"]
    rows = project().index.scan(ANN.partition, None)
    assert rows.memories[0].revision == 2
    with projector.index.use() as index:
        stored = index._store.rows("select created_at, recorded_at from documents")  # type: ignore[attr-defined]
    assert created is not None
    assert stored[0][0] < stored[0][1]


def test_two_projectors_never_skip_each_others_rows(ledger: SqlLedger, project: Open) -> None:
    one, other = project(), project()
    changes = [commit(ledger, memory(f"fact nr{number}", name=str(number))) for number in range(6)]
    one.catch_up(changes[1].seq)
    other.catch_up(changes[4].seq)
    one.catch_up(changes[2].seq)
    assert one.index.watermark() == changes[4].seq
    assert one.index.count(ANN.partition, None) == other.index.count(ANN.partition, None) == 5
    one.catch_up(None)
    assert other.index.count(ANN.partition, None) == 6


def test_vectors_of_another_embedder_are_left_out(ledger: SqlLedger, project: Open) -> None:
    projector = project(EmbedderIdentity("another", "1", 16))
    commit(ledger, memory("Ann keeps bees", name="bees"))
    projector.catch_up(None)
    assert _found(projector, "bees") == ["mem_bees"]
    assert projector.index.dense(ask("bees")) == []


def test_the_wrong_embedder_is_refused_at_opening_and_none_is_not(ledger: SqlLedger, project: Open) -> None:
    first = project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    first.catch_up(None)
    with pytest.raises(EmbedderMismatch, match="mindmem reembed"):
        project(EmbedderIdentity("another", "1", 16))
    assert _found(project(None), "bees") == ["mem_bees"]


def test_a_pruned_log_asks_for_a_rebuild_and_gets_along_after_it(
    ledger: SqlLedger, project: Open, tmp_path: Path
) -> None:
    commit(ledger, memory("Ann keeps bees", name="bees"))
    commit(ledger, memory("Ann sells honey", name="honey"))
    built = list(_state(ledger))
    ledger.pin({}, 2, ledger.acquire("fold", "test", 60).fence)
    ledger.prune(2)
    projector = project()
    with pytest.raises(StaleGeneration, match="rebuild-index"):
        projector.catch_up(None)
    rebuild(projector, built, 2)
    assert projector.catch_up(None) == 2
    assert set(_found(projector, "Ann keeps bees sells honey")) == {"mem_bees", "mem_honey"}


def test_a_lost_index_file_is_filled_again_from_the_log(ledger: SqlLedger, project: Open, tmp_path: Path) -> None:
    first = project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    first.catch_up(None)
    first.close()
    for file in (tmp_path / "index").iterdir():
        file.unlink()
    again = project()
    again.catch_up(None)
    assert _found(again, "bees") == ["mem_bees"]


# -- rebuild


def test_a_rebuilt_index_takes_the_olds_place_under_open_handles(
    ledger: SqlLedger, project: Open, tmp_path: Path
) -> None:
    mine, yours = project(), project()
    commit(ledger, memory("Ann keeps bees", name="bees"), memory("Ann has a cat", name="cat"))
    mine.catch_up(None)
    old = mine.index.generation
    name = rebuild(mine, _state(ledger), ledger.last_seq())
    assert ledger.get_meta(generation_key(mine.generations)) == name != old
    assert _found(yours, "bees") == ["mem_bees"]
    assert yours.index.generation == name
    assert _found(mine, "cat") == ["mem_cat"]
    yours.index.scan(ANN.partition, None)
    project()
    assert _files(tmp_path / "index") == [f"{name}.sqlite"], "the old file goes when nobody uses it"


def test_the_old_file_stays_while_somebody_uses_it(ledger: SqlLedger, project: Open, tmp_path: Path) -> None:
    mine, yours = project(), project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    mine.catch_up(None)
    with yours.index.use() as index:
        name = rebuild(mine, _state(ledger), 1)
        assert f"{index.generation}.sqlite" in _files(tmp_path / "index")
        with pytest.raises(StaleGeneration):
            index.count(ANN.partition, None)
    assert yours.index.count(ANN.partition, None) == 1
    project()
    assert _files(tmp_path / "index") == [f"{name}.sqlite"]


def test_changes_during_a_rebuild_are_in_the_new_generation(ledger: SqlLedger, project: Open) -> None:
    mine, yours = project(), project()
    first = memory("Ann keeps bees", name="bees")
    commit(ledger, first, memory("Ann has a cat", name="cat"))
    mine.catch_up(None)

    def documents() -> Iterable[list[Built]]:
        for built in list(_state(ledger)):
            yield built
            change = commit(ledger, memory(f"Added beside {built[0][0].memory_id}"))
            yours.catch_up(change.seq)
        commit(ledger, replace(first, revision=2, status="archived"), embedded=False)

    rebuild(mine, documents(), ledger.last_seq())
    assert yours.index.count(ANN.partition, None) == 4
    assert mine.index.get(["mem_bees"])["mem_bees"].status == "archived"
    assert mine.index.watermark() == ledger.last_seq()
    assert len(mine.index.dense(ask("Ann keeps bees"))) >= 1


def test_a_projection_that_was_overtaken_by_a_swap_is_repeated_on_the_new_one(ledger: SqlLedger, project: Open) -> None:
    mine, yours = project(), project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    mine.catch_up(None)
    rebuild(mine, _state(ledger), 1)
    change = commit(ledger, memory("Ann has a cat", name="cat"))
    assert yours.catch_up(change.seq) == change.seq
    assert _found(mine, "cat") == ["mem_cat"]


def test_documents_of_another_embedder_than_the_projectors_are_refused(ledger: SqlLedger, project: Open) -> None:
    projector = project()
    with pytest.raises(InvalidInput, match="another@1"):
        rebuild(projector, [], 0, embedder=EmbedderIdentity("another", "1", 16))


def test_two_rebuilds_at_once_leave_one_whole_index(ledger: SqlLedger, project: Open, tmp_path: Path) -> None:
    mine, yours = project(), project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    mine.catch_up(None)

    def slowly() -> Iterable[list[Built]]:
        yield from _state(ledger)
        rebuild(yours, _state(ledger), 1)

    name = rebuild(mine, slowly(), 1)
    assert yours.index.count(ANN.partition, None) == 1
    assert yours.index.generation == mine.index.generation == name
    project()
    assert _files(tmp_path / "index") == [f"{name}.sqlite"]


def test_a_rebuild_can_change_the_embedder(ledger: SqlLedger, project: Open) -> None:
    old = project(EmbedderIdentity("another", "1", 16))
    commit(ledger, memory("Ann keeps bees", name="bees"))
    old.catch_up(None)
    wordy = project(None)
    rebuild(wordy, _state(ledger), 1, embedder=IDENTITY)
    assert [scored.memory_id for scored in project().index.dense(ask("bees"))] == ["mem_bees"]


def test_a_rebuild_that_fails_leaves_the_index_as_it_was(ledger: SqlLedger, project: Open, tmp_path: Path) -> None:
    projector = project()
    commit(ledger, memory("Ann keeps bees", name="bees"))
    projector.catch_up(None)
    before = projector.index.generation

    def broken() -> Iterable[list[Built]]:
        yield from _state(ledger)
        raise OSError("the tables are gone")

    with pytest.raises(OSError, match="gone"):
        rebuild(projector, broken(), 1)
    assert ledger.get_meta(generation_key(projector.generations)) == projector.index.generation == before
    assert _found(projector, "bees") == ["mem_bees"]
    project()
    assert _files(tmp_path / "index") == [f"{before}.sqlite"]


def test_processes_add_and_search_through_rebuilds(ledger: SqlLedger, project: Open, tmp_path: Path) -> None:
    first = project()
    first.catch_up(None)
    url, folder = sqlite_url(tmp_path / "ledger.db"), tmp_path / "index"

    def write(writer: int) -> int:
        with open_ledger(url) as mine:
            projector = Projector(mine, folder, identity=IDENTITY)
            for number in range(12):
                name = f"{writer}-{number}"
                projector.catch_up(commit(mine, memory(f"Writer w{writer} stored item i{number}", name=name)).seq)
                found = projector.index.lexical(ask(f"w{writer} i{number}", k=1))
                assert [scored.memory_id for scored in found] == [f"mem_{name}"], "searchable when catch_up returns"
            projector.close()
        return writer

    def rebuild_often() -> int:
        with open_ledger(url) as mine:
            projector = Projector(mine, folder, identity=IDENTITY)
            for _ in range(5):
                seq = mine.last_seq()
                rebuild(projector, _state(mine), seq)
            projector.close()
        return -1

    works: list[Callable[[], int]] = [lambda number=number: write(number) for number in range(3)]  # type: ignore[misc]
    assert together([*works, rebuild_often]) == [0, 1, 2, -1]
    first.catch_up(None)
    assert first.index.count(ANN.partition, None) == 36
    project()
    assert _files(folder) == [f"{first.index.generation}.sqlite"]
