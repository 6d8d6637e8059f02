"""Reranking: the order, the scores and the floor; what an endpoint may reply; what happens when it fails."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import memory
from support.model_server import Behaviour, ModelServer, body, scored, slow, status

from mindmem.core.clock import FixedClock
from mindmem.core.errors import BudgetReached, ModelUnavailable
from mindmem.core.index.documents import document
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.llm.endpoint import BadReply
from mindmem.core.llm.rerank import EndpointReranker, open_reranker, read_scores
from mindmem.core.records import Hit, SearchResult
from mindmem.core.search.explain import describe
from mindmem.core.search.rerank import Reranker, rerank
from mindmem.core.search.run import SearchRequest, run_search
from mindmem.core.settings import Settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOWNS = ("Ghent", "Riga", "Turin", "Bonn")


class Fixed:
    """Scores documents by a table of words; fails with an error instead, if it has one."""

    def __init__(self, scores: dict[str, float], *, top: int = 50, error: Exception | None = None) -> None:
        self._scores = scores
        self._error = error
        self.shown: list[str] = []
        self.top = top

    def score(self, query: str, documents: Sequence[str]) -> list[float]:
        self.shown = list(documents)
        if self._error is not None:
            raise self._error
        return [next((score for word, score in self._scores.items() if word in text), 0.0) for text in documents]


def hits(*scores: float, **explanation: float) -> list[Hit]:
    return [
        Hit(memory(f"The map of {town}.", seq=number), score, {"lexical": score, **explanation})
        for number, (town, score) in enumerate(zip(TOWNS, scores, strict=False))
    ]


def towns(found: Sequence[Hit]) -> list[str]:
    return [hit.memory.content.split()[-1].rstrip(".") for hit in found]


def test_the_second_model_decides_the_order_and_the_score() -> None:
    found, note = rerank(Fixed({"Ghent": 0.1, "Riga": 0.9, "Turin": 0.4}), "maps", hits(0.8, 0.7, 0.6))
    assert (towns(found), note) == (["Riga", "Turin", "Ghent"], "")
    assert [hit.score for hit in found] == [0.9, 0.4, 0.1]
    assert describe(found[0]) == "0.90 = rerank 0.90, lexical 0.70"


def test_it_reads_who_said_what() -> None:
    reranker = Fixed({})
    rerank(reranker, "maps", hits(0.8))
    assert reranker.shown == ["Ann: The map of Ghent."]


def test_what_it_is_not_shown_follows_in_its_old_order_and_no_better() -> None:
    found, _ = rerank(Fixed({"Ghent": 0.3, "Riga": 0.5}, top=2), "maps", hits(0.9, 0.8, 0.7, 0.6))
    assert towns(found) == ["Riga", "Ghent", "Turin", "Bonn"]
    assert [hit.score for hit in found] == [0.5, 0.3, 0.3, 0.3]


def test_factors_of_subject_and_time_go_on_counting() -> None:
    [found], _ = rerank(Fixed({"Ghent": 0.8}), "maps", hits(0.5, subject=0.5, time=0.5))
    assert found.score == pytest.approx(0.2)
    assert describe(found) == "0.20 = rerank 0.80, lexical 0.50; subject ×0.50, time ×0.50"


@pytest.mark.parametrize(
    "error", [ModelUnavailable("It is away.", transient=True), BudgetReached("The limit is reached.")], ids=type
)
def test_a_failure_leaves_everything_as_it_was_and_is_told(error: Exception) -> None:
    before = hits(0.8, 0.7)
    assert rerank(Fixed({}, error=error), "maps", before) == (before, f"Not reranked: {error}")


def test_nothing_found_is_nothing_to_ask() -> None:
    reranker = Fixed({}, error=AssertionError("was asked"))
    assert rerank(reranker, "maps", []) == ([], "")


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.integers(1, 4),
)
def test_scores_stay_in_range_and_fall_along_the_order(first: list[float], second: list[float], top: int) -> None:
    before = hits(*sorted(first, reverse=True))
    found, _ = rerank(Fixed(dict(zip(TOWNS, second, strict=True)), top=top), "maps", before)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert {hit.memory.memory_id for hit in found} == {hit.memory.memory_id for hit in before}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[EmbeddedIndex]:
    with closing(EmbeddedIndex(tmp_path / "index.sqlite", "g", create=True)) as made:
        made.apply([document(memory(f"The map of {town}.", about="", seq=1), NOW) for town in TOWNS], watermark=1)
        yield made


def ask(index: EmbeddedIndex, reranker: Reranker | None, **more: float) -> SearchResult:
    partition = memory("").scope.partition
    request = SearchRequest(query="the map", partition=partition, now=NOW, **more)  # type: ignore[arg-type]
    return run_search(index, None, request, reranker=reranker)


def test_a_search_shows_the_reranker_more_than_it_returns(index: EmbeddedIndex) -> None:
    reranker = Fixed({"Bonn": 0.9, "Turin": 0.8}, top=4)
    assert towns(ask(index, reranker, top_k=1).hits) == ["Bonn"]
    assert len(reranker.shown) == 4


def test_the_floor_holds_before_and_after(index: EmbeddedIndex) -> None:
    reranker = Fixed({"Bonn": 0.9, "Turin": 0.2})
    least = min(hit.score for hit in ask(index, None).hits) - 0.01
    assert towns(ask(index, reranker, score_threshold=least).hits) == ["Bonn"]
    assert ask(index, Fixed(dict.fromkeys(TOWNS, 0.95)), score_threshold=0.94).hits == ()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with closing(open_ledger(sqlite_url(tmp_path / "ledger.db"))) as opened:
        yield opened


def endpoint(server: ModelServer, ledger: SqlLedger, **given: object) -> EndpointReranker:
    wanted = {
        "url": f"{server.origin}/v2/rerank",
        "api_key": "sk-rerank",
        "model": "test-rerank",
        "timeout": 5.0,
        **given,
    }
    return open_reranker(Settings.load({}, rerank=wanted), ledger, FixedClock(NOW))


def scores_of(rerank_script: Behaviour, ledger: SqlLedger, count: int = 2, **given: object) -> list[float]:
    with ModelServer(rerank=rerank_script) as server, closing(endpoint(server, ledger, **given)) as reranker:
        return reranker.score("maps", [f"document {number}" for number in range(count)])


def test_the_endpoint_is_asked_in_the_common_form_and_the_call_recorded(ledger: SqlLedger) -> None:
    with ModelServer() as server, closing(endpoint(server, ledger)) as reranker:
        assert reranker.score("red map", ["a red map", "a map", "an atlas"]) == [1.0, 0.5, 0.0]
    [request] = server.requests
    assert request.body == {
        "model": "test-rerank", "query": "red map", "documents": ["a red map", "a map", "an atlas"], "top_n": 3
    }  # fmt: skip
    assert request.headers["authorization"] == "Bearer sk-rerank"
    [call] = ledger.calls("default")
    assert (call.purpose, call.model, call.outcome) == ("rerank", "test-rerank", "ok")
    assert call.input_tokens > 0


def answer(reply: object) -> Behaviour:
    return body(json.dumps(reply).encode())


def test_both_lists_and_both_names_of_a_score_are_read(ledger: SqlLedger) -> None:
    items = [{"index": 1, "score": 0.7}, {"index": 0, "score": 0.2}]
    assert scores_of(answer({"data": items, "usage": {"total_tokens": 77}}), ledger) == [0.2, 0.7]
    assert [call.input_tokens for call in ledger.calls("default")] == [77]
    assert scores_of(scored({1: 0.9, 0: 0.4}), ledger) == [0.4, 0.9]


def test_logits_are_brought_into_range_in_their_order() -> None:
    raw = [-800.0, -2.0, 0.5, 4.0, 900.0]
    reply = json.dumps({"results": [{"index": at, "relevance_score": score} for at, score in enumerate(raw)]})
    found, _ = read_scores(reply.encode(), 5)
    assert found == sorted(found)
    assert all(0 <= score <= 1 for score in found)


@pytest.mark.parametrize(
    "reply",
    [
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 0.5}]},
        {"results": [{"index": 0, "relevance_score": 0.5}] * 2},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 2, "relevance_score": 0.5}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": float("nan")}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": "high"}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, "document 1"]},
        {"error": "out of memory"},
        ["no object"],
    ],
    ids="empty one-too-few twice beyond nan words bare error list".split(),
)
def test_a_reply_without_a_score_for_each_document_is_refused(reply: object, ledger: SqlLedger) -> None:
    with pytest.raises(BadReply):
        read_scores(json.dumps(reply).encode(), 2)
    with pytest.raises(ModelUnavailable, match="'test-rerank'"):
        scores_of(answer(reply), ledger)


def test_a_search_does_not_wait_for_a_second_try_or_a_slow_endpoint(ledger: SqlLedger) -> None:
    with pytest.raises(ModelUnavailable):
        scores_of(status(503), ledger)
    with pytest.raises(ModelUnavailable, match="MINDMEM_RERANK__TIMEOUT"):
        scores_of(slow(5, scored({0: 0.5, 1: 0.5})), ledger, timeout=0.2)
    assert [(call.outcome, call.retries) for call in ledger.calls("default")] == [("failed", 0), ("failed", 0)]
