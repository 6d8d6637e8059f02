"""A store whose endpoints are away: it opens, searches by words, keeps what is queued, and writes nothing by halves."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import Behaviour, ModelServer, Script, html, model_not_found, status, unauthorized

from mindmem.core.errors import ModelUnavailable
from mindmem.core.memory import Memory
from mindmem.core.records import SearchResult
from mindmem.core.settings import Settings

AWAY = "http://127.0.0.1:9/v1"


def opened(home: Path, url: str, rerank: str = "") -> Memory:
    llm = {"base_url": url, "retries": 0}
    reranking = {"url": rerank, "model": "test-rerank", "timeout": 5.0}
    return Memory(settings=Settings.load({}, home=home, embedder="openai", llm=llm, rerank=reranking))


@pytest.fixture
def store(home: Path) -> Path:
    """Return the home of a store that was filled while the endpoint answered."""
    with ModelServer() as server, opened(home, server.url) as memory:
        memory.add("Shelf 1 holds the map of Ghent.", user_id="ann")
        memory.add("Shelf 2 holds the map of Riga.", user_id="ann")
    return home


@pytest.fixture
def memory(store: Path) -> Iterator[Memory]:
    with opened(store, AWAY) as away:
        yield away


def test_a_search_finds_by_words_and_says_why_only_by_them(memory: Memory) -> None:
    found = memory.search("map of Ghent", user_id="ann")
    assert found.hits[0].memory.content == "Shelf 1 holds the map of Ghent."
    [note] = found.notes
    assert note.startswith(
        "Lexical search only: Model 'text-embedding-3-small' at http://127.0.0.1:9/v1 can't be reached"
    )


def test_an_add_fails_for_now_and_writes_nothing(memory: Memory) -> None:
    before = memory.status()
    with pytest.raises(ModelUnavailable) as raised:
        memory.add("Shelf 3 holds the map of Turin.", user_id="ann")
    assert raised.value.transient
    assert memory.status() == before
    assert memory.verify() == ()


def test_queued_adds_stay_pending_until_the_endpoint_is_back(memory: Memory, store: Path) -> None:
    memory.enqueue("Shelf 3 holds the map of Turin.", user_id="ann")
    assert memory.process_pending() == ()
    assert (memory.status().pending, memory.status().quarantined) == (1, 0)
    assert not memory.search("Turin", user_id="ann").hits


@pytest.mark.parametrize("fault", [unauthorized(), model_not_found()])
def test_a_key_or_model_that_is_refused_leaves_the_queue_as_it_is(store: Path, fault: Behaviour) -> None:
    with ModelServer(embeddings=fault) as server, opened(store, server.url) as memory:
        for town in ("Turin", "Bonn"):
            memory.enqueue(f"Shelf 3 holds the map of {town}.", user_id="ann")
        memory.process_pending()
        assert (memory.status().pending, memory.status().quarantined) == (2, 0)
        assert len(server.requests) == 1


def test_an_index_that_was_lost_is_built_anew_from_the_vectors_on_record(memory: Memory, store: Path) -> None:
    memory.fold()
    memory.rebuild_index()
    with ModelServer() as server, opened(store, server.url) as back:
        assert all(hit.explanation["dense"] > 0 for hit in back.search("map of Ghent", user_id="ann").hits)
        assert [request.body["input"] for request in server.requests] == [["map of Ghent"]]


def search(store: Path, rerank: Script | None) -> SearchResult:
    with ModelServer(rerank=rerank) as server, opened(store, server.url, f"{server.origin}/v1/rerank") as memory:
        return memory.search("Which shelf holds the map of Riga?", user_id="ann")


def test_a_reranker_orders_the_hits_of_a_search_anew(store: Path) -> None:
    found = search(store, None)
    assert found.notes == ()
    assert found.hits[0].memory.content == "Shelf 2 holds the map of Riga."
    assert all("rerank" in hit.explanation for hit in found.hits)


@pytest.mark.parametrize("fault", [status(500), status(401), html()])
def test_a_reranker_that_fails_leaves_the_hits_in_their_order_with_a_note(store: Path, fault: Behaviour) -> None:
    with ModelServer() as server, opened(store, server.url) as memory:
        before = memory.search("Which shelf holds the map of Riga?", user_id="ann")
    found = search(store, fault)
    assert found.hits == before.hits
    [note] = found.notes
    assert note.startswith("Not reranked: Model 'test-rerank' at http://127.0.0.1:")


def test_a_call_of_the_reranker_is_on_record(store: Path) -> None:
    search(store, None)
    with opened(store, AWAY) as memory:
        purposes = [(call.purpose, call.outcome) for call in memory.services.ledger.calls("default")]
    assert purposes.count(("rerank", "ok")) == 1
