"""The embedded index: bounded memory, incremental arrays, several threads and processes on one file."""

import gc
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.documents import ANN, IDENTITY, ask, embed, make
from support.forks import together

from mindmem.core.embed.port import EmbedderIdentity, Embedding
from mindmem.core.errors import CorruptStore, EmbedderMismatch, InvalidInput, StoreBusy, StoreUnavailable
from mindmem.core.index.embedded.generations import EmbeddedGenerations
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.index.embedded.store import Store
from mindmem.core.index.filters import parse_filter
from mindmem.core.index.port import Document, Query, Scored
from mindmem.core.records import Scope

WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


@pytest.fixture
def index(file: Path) -> Iterator[EmbeddedIndex]:
    opened = EmbeddedIndex(file, "g", create=True, embedder=IDENTITY)
    yield opened
    opened.close()


def _texts(count: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 8)) + f" nr{number}" for number in range(count)]


def _same(one: list[Scored], other: list[Scored]) -> None:
    assert [scored.memory_id for scored in one] == [scored.memory_id for scored in other]
    assert np.allclose([scored.score for scored in one], [scored.score for scored in other], atol=1e-5)


def test_arrays_that_grew_step_by_step_equal_arrays_loaded_at_once(index: EmbeddedIndex, file: Path) -> None:
    rng = np.random.default_rng(3)
    queries = [ask(text) for text in ("word1 word2 word3", "nr7", "word50 nr900 word9")]
    revisions: dict[int, int] = {}
    for step in range(40):
        batch = []
        for text in _texts(30, seed=step):
            name = int(rng.integers(600))
            revisions[name] = revisions.get(name, 0) + 1
            status = "archived" if rng.random() < 0.1 else "active"
            batch.append(make(text, name=str(name), revision=revisions[name], status=status, metadata={"n": step}))
        index.apply(batch, watermark=step)
        index.hybrid(queries[step % 3])
    fresh = EmbeddedIndex(file, "g")
    for query in queries:
        for way in ("hybrid", "lexical", "dense"):
            _same(getattr(index, way)(query), getattr(fresh, way)(query))
    late = parse_filter({"metadata.n": {"in": list(range(20, 40))}, "status": "active"})
    assert index.count(ANN.partition, late) == fresh.count(ANN.partition, late) > 0
    fresh.close()


def test_reinforcing_a_memory_many_times_does_not_grow_the_arrays(index: EmbeddedIndex) -> None:
    index.apply([make(text, name=str(place)) for place, text in enumerate(_texts(50))], watermark=1)
    index.hybrid(ask("word1"))
    before = index.cached_bytes
    for revision in range(2, 60):
        index.apply(
            [make(_texts(50)[0], name="0", revision=revision, reinforcement_count=revision)], watermark=revision
        )
        index.hybrid(ask("word1"))
    assert index.cached_bytes <= before * 1.1
    assert index.get(["mem_0"])["mem_0"].reinforcement_count == 59


def test_rewriting_a_memory_many_times_keeps_the_arrays_bounded(index: EmbeddedIndex) -> None:
    texts = _texts(400)
    for revision, text in enumerate(texts, start=1):
        index.apply([make(text, name="one", revision=revision)], watermark=revision)
        found = index.lexical(ask(f"nr{revision - 1}"))
        assert [scored.memory_id for scored in found] == ["mem_one"]
    assert index.lexical(ask("nr0")) == []
    assert index.cached_bytes < 3_000_000


def test_the_cache_stays_within_its_bound_and_answers_all_the_same(file: Path) -> None:
    bound = 1_000_000
    index = EmbeddedIndex(file, "g", create=True, embedder=IDENTITY, cache_bytes=bound)
    users = [Scope(user_id=f"user{number}") for number in range(12)]
    for number, scope in enumerate(users):
        index.apply([make(text, scope=scope) for text in _texts(100, seed=number)], watermark=number)
    for _ in range(2):
        for scope in users:
            assert len(index.hybrid(ask("nr42", scope=scope, k=1))) == 1
            assert index.cached_bytes <= bound
    index.close()


def test_a_long_tail_of_candidates_is_cut_but_the_best_is_kept(index: EmbeddedIndex) -> None:
    index.apply([make(text) for text in _texts(500)], watermark=1)
    text = _texts(500)[321]
    wide, narrow = (index.hybrid(ask(text, k=3, candidates=count)) for count in (500, 10))
    assert narrow[0].memory_id == wide[0].memory_id
    assert len(index.hybrid(ask("word1", k=50, candidates=10))) == 50, "k is never cut by candidates"


def test_weights_choose_the_leg_and_missing_legs_give_theirs_away(index: EmbeddedIndex) -> None:
    index.apply([make(text) for text in _texts(40)], watermark=1)
    text = _texts(40)[5]
    only = index.hybrid(ask(text, weights={"lexical": 0.0, "dense": 1.0, "late": 0.0}))
    assert only[0].score == pytest.approx(only[0].parts["dense"], abs=1e-6)
    wordy = index.hybrid(ask(text, embedded=False))
    assert wordy[0].score == pytest.approx(wordy[0].parts["lexical"], abs=1e-6)
    assert set(wordy[0].parts) == {"lexical"}


def test_a_query_of_another_dimension_is_searched_by_words(index: EmbeddedIndex) -> None:
    index.apply([make(text) for text in _texts(5)], watermark=1)
    odd = Query(partition=ANN.partition, text="nr3", vector=np.ones(7, dtype=np.float32))
    assert [set(scored.parts) for scored in index.hybrid(odd)] == [{"lexical"}]


def test_vectors_of_another_shape_are_refused_and_nothing_is_written(index: EmbeddedIndex) -> None:
    wrong = make("one")
    wrong = Document(wrong.memory, wrong.fields, wrong.created_at, Embedding(np.ones(3, dtype=np.float32)))
    with pytest.raises(InvalidInput, match=r"shape \(3,\)"):
        index.apply([make("two"), wrong], watermark=5)
    assert index.watermark() == 0
    assert index.count(ANN.partition, None) == 0


def test_another_embedder_is_refused_once_there_are_documents(index: EmbeddedIndex) -> None:
    other = EmbedderIdentity("other", "2", 8)
    index.expect(None)
    index.expect(IDENTITY)
    index.apply([make("one")], watermark=1)
    with pytest.raises(EmbedderMismatch, match="mindmem reembed"):
        index.expect(other)
    assert index.embedder == IDENTITY


def test_an_empty_index_takes_over_the_embedder_in_use(file: Path) -> None:
    index = EmbeddedIndex(file, "g", create=True)
    index.expect(IDENTITY)
    index.apply([make("one word")], watermark=1)
    index.close()
    again = EmbeddedIndex(file, "g")
    assert again.embedder == IDENTITY
    assert again.dense(ask("one word"))
    again.close()


def test_what_is_written_is_there_after_opening_again(index: EmbeddedIndex, file: Path) -> None:
    index.apply([make(text) for text in _texts(30)], watermark=9)
    wanted = index.hybrid(ask("word3 nr5"))
    index.close()
    again = EmbeddedIndex(file, "g")
    assert again.watermark() == 9
    _same(again.hybrid(ask("word3 nr5")), wanted)
    again.close()


def test_another_process_is_seen_by_the_next_query(index: EmbeddedIndex, file: Path) -> None:
    index.apply([make("Ann keeps bees")], watermark=1)
    assert len(index.hybrid(ask("bees"))) == 1

    def write() -> None:
        other = EmbeddedIndex(file, "g")
        other.apply([make("Ann sells bees")], watermark=2)
        other.close()

    together([write])
    assert len(index.hybrid(ask("bees"))) == 2


def test_processes_that_write_at_once_lose_nothing(index: EmbeddedIndex, file: Path) -> None:
    def write(number: int) -> int:
        other = EmbeddedIndex(file, "g")
        for step in range(15):
            other.apply([make(f"writer {number} step {step}", name=f"{number}-{step}")], watermark=0)
            assert other.lexical(ask(f"step {step}"))
        other.close()
        return number

    assert together([lambda number=number: write(number) for number in range(4)]) == [0, 1, 2, 3]  # type: ignore[misc]
    assert index.count(ANN.partition, None) == 60


def test_threads_share_one_index(index: EmbeddedIndex) -> None:
    texts = _texts(200)
    index.apply([make(text) for text in texts[:100]], watermark=1)
    failures: list[object] = []

    def read(offset: int) -> None:
        for number in range(offset, 100, 4):
            found = index.hybrid(ask(f"nr{number}", k=1))
            if [scored.memory_id for scored in found] != [make(texts[number]).memory.memory_id]:
                failures.append((number, found))

    readers = [threading.Thread(target=read, args=(offset,)) for offset in range(4)]
    for reader in readers:
        reader.start()
    for place, text in enumerate(texts[100:], start=100):
        index.apply([make(text)], watermark=place)
    for reader in readers:
        reader.join()
    assert failures == []
    assert index.count(ANN.partition, None) == 200


def test_reading_columns_gives_the_garbage_collector_no_work(index: EmbeddedIndex, file: Path) -> None:
    store = Store(file, create=False, lock_timeout=1.0)
    numbers = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) select i, -i from n"

    def collections() -> int:
        return sum(generation["collections"] for generation in gc.get_stats())

    before = collections()
    columns = store.columns(numbers)
    between = collections()
    rows = store.rows(numbers)
    assert collections() - between > 10
    assert between - before <= 1
    assert columns == [list(column) for column in zip(*rows, strict=True)]
    assert store.columns(numbers + " where i < 0") == [[], []]
    store.close()


def test_a_reader_sees_whole_changes_only(index: EmbeddedIndex, file: Path) -> None:
    index.apply([make("home is Berlin", name="old"), make("spare", name="new", status="archived")], watermark=1)
    active = parse_filter({"status": "active"})
    stop = threading.Event()
    counts = set()

    def read() -> None:
        while not stop.is_set():
            counts.add(index.count(ANN.partition, active))

    reader = threading.Thread(target=read)
    reader.start()
    writer = EmbeddedIndex(file, "g")
    for revision in range(2, 40):
        one, two = ("active", "archived") if revision % 2 else ("archived", "active")
        writer.apply(
            [make("home is Berlin", name="old", revision=revision, status=one),
             make("spare", name="new", revision=revision, status=two)],
            watermark=revision,
        )  # fmt: skip
    stop.set()
    reader.join()
    writer.close()
    assert counts == {1}


def test_a_locked_file_is_busy_and_a_broken_one_is_said_to_be(index: EmbeddedIndex, file: Path, tmp_path: Path) -> None:
    hasty = EmbeddedIndex(file, "g", lock_timeout=0.05)
    with index.hand_over("next"), pytest.raises(StoreBusy, match="locked"):
        hasty.apply([make("one")], watermark=1)
    hasty.close()
    broken = tmp_path / "broken.sqlite"
    broken.write_bytes(b"this is not a database" * 100)
    with pytest.raises(CorruptStore, match="rebuild-index"):
        EmbeddedIndex(broken, "g")
    with pytest.raises(StoreUnavailable, match="rebuild-index"):
        EmbeddedIndex(tmp_path / "missing.sqlite", "g")


def test_token_vectors_are_optional(file: Path) -> None:
    plain = EmbedderIdentity("plain", "1", IDENTITY.dimension)
    index = EmbeddedIndex(file, "g", create=True, embedder=plain)
    documents = []
    for text in _texts(10):
        made = make(text)
        documents.append(Document(made.memory, made.fields, made.created_at, Embedding(embed(text).vector)))
    index.apply(documents, watermark=1)
    found = index.hybrid(ask(_texts(10)[4]))
    assert found[0].memory_id == documents[4].memory.memory_id
    assert set(found[0].parts) == {"lexical", "dense"}
    index.close()


def test_many_equal_matches_by_words_do_not_push_out_the_best_by_meaning(index: EmbeddedIndex) -> None:
    alike = [make(f"ferry {number}", name=f"f{number}", metadata={"n": number}) for number in range(400)]
    best = make("the boat to the island leaves at noon", name="boat")
    index.apply([*alike, best], watermark=1)
    asked = ask("the boat to the island leaves at noon")
    by_meaning = {"lexical": 0.2, "dense": 0.4, "late": 0.4}
    worded = replace(asked, text="ferry", candidates=20, k=20, weights=by_meaning)
    found = [scored.memory_id for scored in index.hybrid(worded)]
    assert found[0] == "mem_boat"
    assert len(found) == 20


def test_the_subjects_memories_are_not_pushed_out_by_anothers(index: EmbeddedIndex) -> None:
    his = [make(f"ferry landing {number}", name=f"b{number}", speaker="Bob") for number in range(100)]
    hers = make("a ferry crossed the wide bay yesterday evening", name="hers", speaker="Ann")
    index.apply([*his, hers], watermark=1)
    found = index.lexical(ask("ferry", subject="ann", candidates=10, k=1))
    assert [scored.memory_id for scored in found] == ["mem_hers"]


def test_what_was_said_in_the_same_episode_lifts_a_memory_and_is_told_apart(index: EmbeddedIndex) -> None:
    fixed = "I mended it after supper"
    index.apply(
        [
            make("The kayak leaks at the bow", name="leak", episode="epi_1"),
            make(fixed, name="beside", episode="epi_1"),
            make(fixed, name="elsewhere", episode="epi_2"),
            make(fixed, name="alone"),
        ],
        watermark=1,
    )
    found = {one.memory_id: one for one in index.hybrid(ask("who mended the kayak that leaks"))}
    beside, elsewhere, alone = (found[f"mem_{name}"] for name in ("beside", "elsewhere", "alone"))
    assert beside.score > elsewhere.score + 0.01
    assert elsewhere.score == pytest.approx(alone.score, abs=1e-6)
    assert beside.parts["late"] == pytest.approx(alone.parts["late"], abs=1e-6)
    assert beside.parts["echo"] > elsewhere.parts["echo"] == alone.parts["echo"] == 0.0
    assert index.hybrid(ask("quarterly budget of the ministry")) == []


def test_a_rebuild_that_died_costs_later_openings_nothing(index: EmbeddedIndex, tmp_path: Path) -> None:
    folder = tmp_path / "generations"
    generations = EmbeddedGenerations(folder, current=lambda: "one")
    generations.create("one", None).close()
    with pytest.raises(RuntimeError, match="died"), generations.hand_over("one", "two"):
        raise RuntimeError("died")
    opened = generations.open("one")
    assert opened.successor == ""
    opened.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedIndex]:
    """An index with more memories of one user than are compared one by one where that isn't asked for."""
    index = EmbeddedIndex(tmp_path_factory.mktemp("large") / "index.sqlite", "g", create=True, embedder=IDENTITY)
    texts = _texts(4_200)
    index.apply([make(text, status="archived" if at % 10 == 0 else "active") for at, text in enumerate(texts)],
                watermark=1)  # fmt: skip
    yield index
    index.close()


@pytest.mark.parametrize("leg", ["lexical", "dense"])
def test_a_query_that_need_not_be_exact_finds_the_best_and_obeys_its_filter(large: EmbeddedIndex, leg: str) -> None:
    for number in (20, 1_999, 4_111):
        query = ask(_texts(4_200)[number], k=5)
        exact, near = getattr(large, leg)(query), getattr(large, leg)(replace(query, exact=False))
        assert near[0].memory_id == exact[0].memory_id
        assert near[0].score == pytest.approx(exact[0].score, abs=1e-5)
    archived = parse_filter({"status": "archived"})
    found = getattr(large, leg)(replace(ask(_texts(4_200)[21]), filter=archived, exact=False))
    assert found
    assert {memory.status for memory in large.get([scored.memory_id for scored in found]).values()} == {"archived"}


def test_token_vectors_that_were_read_one_by_one_score_as_those_read_before(large: EmbeddedIndex) -> None:
    queries = [ask(_texts(4_200)[number]) for number in (3, 4_000, 3)]
    first = [large.hybrid(query) for query in queries]
    assert first[0] == first[2]
    assert first[0][0].parts["late"] == pytest.approx(1.0, abs=0.02)
    revised = make("word1 word2 something else entirely", name="revised")
    large.apply([revised], watermark=2)
    assert large.hybrid(ask("something else entirely"))[0].memory_id == "mem_revised"
    large.apply([make("word1 word2 quite another thing", name="revised", revision=2)], watermark=3)
    found = large.hybrid(ask("quite another thing"))[0]
    assert (found.memory_id, large.hybrid(queries[0])[0].memory_id) == ("mem_revised", first[0][0].memory_id)
    assert found.parts["late"] > 0.5
