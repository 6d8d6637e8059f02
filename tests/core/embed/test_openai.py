"""Embeddings by an endpoint: a real client against a scripted server on a real socket."""

import base64
import json
import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.model_server import (
    Behaviour,
    ModelServer,
    Request,
    Script,
    body,
    cut_body,
    dripping,
    embedded,
    html,
    slow,
    status,
    unauthorized,
    unsupported,
)

from mindmem.core.clock import FixedClock
from mindmem.core.embed.cache import CachedEmbedder
from mindmem.core.embed.openai import OpenAIEmbedder, cut, open_embedder
from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.errors import BudgetReached, EmbedderMismatch, InvalidInput, MindMemError, ModelUnavailable
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url
from mindmem.core.llm.port import charged_to
from mindmem.core.llm.retry import tries
from mindmem.core.records import Scope
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import Settings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = "sk-do-not-tell-anyone"
PRIVATE = "The PIN of my cellar is 4711, tell nobody."


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with closing(open_ledger(sqlite_url(tmp_path / "ledger.db"))) as opened:
        yield opened


@contextmanager
def embedder(
    url: str, ledger: SqlLedger, *, llm: dict[str, Any] | None = None, **embed: Any
) -> Iterator[OpenAIEmbedder]:
    """Open an embedder that takes its address and key from the settings of the language model."""
    given = {"base_url": url, "api_key": SECRET, "retries": 2, **(llm or {})}
    settings = Settings.load({}, embedder="openai", llm=given, embed={"model": "test-embed", "dimensions": 16, **embed})
    with closing(open_embedder(settings, ledger, FixedClock(NOW), anew=False)) as opened:
        yield opened


@contextmanager
def serving(script: Script | None, ledger: SqlLedger, **given: Any) -> Iterator[tuple[OpenAIEmbedder, ModelServer]]:
    with ModelServer(embeddings=script) as server, embedder(server.url, ledger, **given) as opened:
        yield opened, server


def inputs(server: ModelServer) -> list[list[str]]:
    return [request.body["input"] for request in server.requests]


def axis(place: int, size: int = 16) -> list[float]:
    """Return a vector along one axis, so that a test can tell which text got which."""
    return [2.0 if at == place else 0.0 for at in range(size)]


def by_number(request: Request) -> Behaviour:
    """Answer texts such as "text 3" with the axis of their number."""
    return embedded([axis(int(text.split()[-1]) % 16) for text in request.body["input"]])


def answer(items: Sequence[object], **rest: object) -> Behaviour:
    """Answer with these items as they are."""
    return body(json.dumps({"data": items, **rest}).encode())


def test_vectors_are_unit_float32_and_in_the_order_of_the_texts_whatever_the_order_of_the_reply(
    ledger: SqlLedger,
) -> None:
    with serving(embedded([axis(5), axis(6), axis(7)], order=[2, 0, 1]), ledger) as (opened, _):
        found = opened.embed(["a", "b", "c"])
    assert [int(np.argmax(one.vector)) for one in found] == [5, 6, 7]
    assert all(one.vector.dtype == np.float32 and np.linalg.norm(one.vector) == pytest.approx(1) for one in found)
    assert all(one.tokens is None for one in found)


def test_numbers_and_base64_mean_the_same(ledger: SqlLedger) -> None:
    numbers = [float(at) for at in range(1, 17)]
    packed = base64.b64encode(struct.pack("<16f", *numbers)).decode()
    script = [answer([{"index": 0, "embedding": numbers}]), answer([{"index": 0, "embedding": packed}])]
    with serving(script, ledger) as (opened, _):
        [one], [other] = opened.embed(["a"]), opened.embed(["b"])
    assert np.allclose(one.vector, other.vector)


def test_items_without_an_index_stand_in_the_order_of_the_texts(ledger: SqlLedger) -> None:
    with serving(answer([{"embedding": axis(3)}, {"embedding": axis(1)}]), ledger) as (opened, _):
        assert [int(np.argmax(one.vector)) for one in opened.embed(["a", "b"])] == [3, 1]


def test_a_server_that_knows_no_base64_is_asked_for_numbers_from_then_on(ledger: SqlLedger) -> None:
    def script(request: Request) -> Behaviour:
        return unsupported("encoding_format") if request.body["encoding_format"] == "base64" else by_number(request)

    with serving(script, ledger) as (opened, server):
        opened.embed(["text 1"])
        opened.embed(["text 2"])
    assert [request.body["encoding_format"] for request in server.requests] == ["base64", "float", "float"]


def test_texts_go_out_in_batches_bounded_by_count_and_by_tokens(ledger: SqlLedger) -> None:
    texts = [f"text {number}" for number in range(10)]
    with serving(by_number, ledger, batch=4) as (opened, server):
        found = opened.embed(texts)
    assert sorted(map(len, inputs(server))) == [2, 4, 4]
    assert [int(np.argmax(one.vector)) for one in found] == list(range(10))
    with serving(by_number, ledger, batch_tokens=16) as (opened, server):
        opened.embed(["word " * 9 + str(number) for number in range(4)])
    assert list(map(len, inputs(server))) == [1, 1, 1, 1]


def test_batches_are_under_way_together_up_to_the_bound(ledger: SqlLedger) -> None:
    def script(request: Request) -> Behaviour:
        return slow(0.1, by_number(request))

    with serving(script, ledger, batch=1, llm={"concurrency": 4}) as (opened, server):
        found = opened.embed([f"text {number}" for number in range(12)])
    assert server.peak == 4
    assert [int(np.argmax(one.vector)) for one in found] == list(range(12))


def test_equal_texts_are_sent_once_and_blank_ones_never(ledger: SqlLedger) -> None:
    with serving(by_number, ledger) as (opened, server):
        found = opened.embed(["text 1", "", " \n", "text 2", "text 1"])
        assert [one.vector.any() for one in found] == [True, False, False, True, True]
        assert not opened.embed([""])[0].vector.any()
        assert opened.embed([]) == []
    assert inputs(server) == [["text 1", "text 2"]]


def test_a_long_text_is_cut_to_what_the_model_reads(ledger: SqlLedger) -> None:
    long = "word " * 2000 + "我喜欢猫" * 200
    with serving(None, ledger, max_tokens=100) as (opened, server):
        opened.embed([long])
    [[sent]] = inputs(server)
    assert long.startswith(sent)
    assert 95 <= estimate_tokens(sent) <= 100
    assert cut("short", 100) == "short"


def test_what_the_server_finds_too_long_is_split_then_cut_and_the_others_keep_whole(ledger: SqlLedger) -> None:
    def script(request: Request) -> Behaviour:
        if max(map(len, request.body["input"])) > 30:
            message = "This model's maximum context length is 10 tokens, however you requested 40 tokens."
            return body(json.dumps({"error": {"message": message}}).encode(), code=400)
        return by_number(request)

    texts = ["text 1", "text 2 " * 20 + "2", "text 3", "text 4"]
    with serving(script, ledger) as (opened, server):
        found = opened.embed([texts[0], "2 " * 60 + "2", texts[2], texts[3]])
    assert [int(np.argmax(one.vector)) for one in found] == [1, 2, 3, 4]
    served = [
        request.body["input"]
        for request, name in zip(server.requests, server.served, strict=True)
        if name == "embedded"
    ]
    assert ["text 3", "text 4"] in served


def test_a_text_that_is_refused_as_too_long_at_any_length_ends_in_an_error(ledger: SqlLedger) -> None:
    with serving(status(413), ledger) as (opened, server), pytest.raises(ModelUnavailable) as raised:
        opened.embed(["word " * 50])
    assert not raised.value.transient
    assert len(server.requests) < 12


def test_prefixes_go_before_queries_and_documents_and_that_of_documents_is_part_of_the_identity(
    ledger: SqlLedger,
) -> None:
    with serving(None, ledger, query_prefix="query: ", document_prefix="passage: ") as (opened, server):
        opened.embed(["cats"], "query")
        opened.embed(["cats"])
        prefixed = opened.identity
    assert inputs(server) == [["query: cats"], ["passage: cats"]]
    with serving(None, ledger, query_prefix="query: ") as (opened, _):
        assert opened.identity == EmbedderIdentity("test-embed", "api", 16)
        assert prefixed != opened.identity


def test_halves_of_signs_are_sent_to_no_server(ledger: SqlLedger) -> None:
    with serving(None, ledger) as (opened, server):
        opened.embed(["cat \ud83d and \x00 dog"])
    assert inputs(server) == [["cat  and  dog"]]


def test_a_dimension_that_was_asked_for_is_sent_and_must_come(ledger: SqlLedger) -> None:
    with serving(None, ledger, dimensions=8) as (opened, server):
        assert opened.identity.dimension == len(opened.embed(["a"])[0].vector) == 8
    assert [request.body["dimensions"] for request in server.requests] == [8]
    refusal = pytest.raises(InvalidInput, match="MINDMEM_EMBED__DIMENSIONS")
    with serving(embedded([axis(1)]), ledger, dimensions=8) as (opened, _), refusal:
        opened.embed(["a"])


def test_the_dimension_is_asked_for_once_and_remembered_by_the_store(ledger: SqlLedger) -> None:
    with serving(None, ledger, dimensions=None) as (opened, server):
        assert opened.identity.dimension == 16
        opened.embed(["a"])
    assert len(server.requests) == 2
    with embedder(server.url, ledger, dimensions=None, llm={"retries": 0}) as offline:
        assert offline.identity == EmbedderIdentity("test-embed", "api", 16)
        with pytest.raises(ModelUnavailable):
            offline.embed(["a"])


def test_an_endpoint_that_is_away_at_the_very_first_opening_says_so(ledger: SqlLedger) -> None:
    with (
        pytest.raises(ModelUnavailable) as raised,
        embedder("http://127.0.0.1:9/v1", ledger, dimensions=None, llm={"retries": 0}),
    ):
        pass
    assert raised.value.transient
    assert "test-embed" in str(raised.value)


def test_a_model_that_changed_its_dimension_is_noticed_with_the_command_that_helps(ledger: SqlLedger) -> None:
    with serving(None, ledger, dimensions=None) as (opened, _):
        assert opened.identity.dimension == 16
    with (
        ModelServer(dimensions=24) as server,
        embedder(server.url, ledger, dimensions=None) as opened,
        pytest.raises(EmbedderMismatch, match="mindmem reembed"),
    ):
        opened.embed(["a"])


@pytest.mark.parametrize(
    "behaviour",
    [
        answer([{"index": 0, "embedding": axis(1)}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 0, "embedding": axis(2)}]),
        answer([{"index": 1, "embedding": axis(1)}, {"index": 2, "embedding": axis(2)}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1, "embedding": [1.0, 2.0]}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1, "embedding": [0.0] * 16}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1, "embedding": [float("nan")] * 16}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1, "embedding": [1e300] * 16}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1, "embedding": "not base64!"}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1, "embedding": [[1.0], [2.0]]}]),
        answer([{"index": 0, "embedding": axis(1)}, {"index": 1}]),
    ],
    ids="one-too-few same-index wrong-index short zero nan immense garbled nested none".split(),
)
def test_vectors_that_nobody_can_use_are_a_terminal_error_that_names_model_and_endpoint(
    behaviour: Behaviour, ledger: SqlLedger
) -> None:
    with serving(behaviour, ledger) as (opened, server), pytest.raises(ModelUnavailable) as raised:
        opened.embed([PRIVATE, "another"])
    assert not raised.value.transient
    assert "'test-embed'" in str(raised.value)
    assert server.url in str(raised.value)
    assert "4711" not in str(raised.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "fault", [status(500), status(429, retry_after=0.01), cut_body(), html(), body(b'{"data": null}')]
)
def test_what_passes_is_tried_again(fault: Behaviour, ledger: SqlLedger) -> None:
    with serving([fault, embedded([axis(4)])], ledger) as (opened, _):
        [found] = opened.embed(["a"])
    assert int(np.argmax(found.vector)) == 4
    [call] = ledger.calls("default")
    assert (call.outcome, call.retries) == ("ok", 1)


def test_what_does_not_pass_is_a_transient_error_after_the_retries(ledger: SqlLedger) -> None:
    with (
        serving(status(503), ledger, llm={"retries": 1}) as (opened, server),
        pytest.raises(ModelUnavailable) as raised,
    ):
        opened.embed(["a"])
    assert raised.value.transient
    assert len(server.requests) == 2


def test_a_task_that_retries_itself_leaves_a_call_one_try(ledger: SqlLedger) -> None:
    with serving(status(503), ledger) as (opened, server), tries(1), pytest.raises(ModelUnavailable):
        opened.embed(["a"])
    assert len(server.requests) == 1


def test_a_key_that_is_refused_is_not_tried_again_nor_shown(ledger: SqlLedger) -> None:
    with serving(unauthorized(SECRET), ledger) as (opened, server), pytest.raises(ModelUnavailable) as raised:
        opened.embed([PRIVATE])
    assert not raised.value.transient
    assert len(server.requests) == 1
    assert "MINDMEM_EMBED__API_KEY" in str(raised.value)
    [call] = ledger.calls("default")
    assert call.outcome == "refused"
    for told in (str(raised.value), repr(call)):
        assert SECRET not in told
        assert "4711" not in told


def test_a_search_gives_up_sooner_than_an_add(ledger: SqlLedger) -> None:
    script = status(429, retry_after=30)
    with serving(script, ledger) as (opened, server), pytest.raises(ModelUnavailable):
        opened.embed(["a"], "query")
    assert len(server.requests) == 1


def test_each_batch_leaves_a_record_charged_to_who_asked(ledger: SqlLedger) -> None:
    prices = {"test-embed": {"input": 0.5}}
    with serving(None, ledger, batch=2, llm={"prices": prices}) as (opened, _):
        with charged_to(Scope(project_id="default", user_id="ann"), "run_1"):
            opened.embed(["one two three", "four five", "six"])
        opened.embed(["seven"])
    calls = ledger.calls("default")
    assert [(call.purpose, call.model, call.outcome) for call in calls] == [("embed", "test-embed", "ok")] * 3
    assert sorted((call.scope.user_id, call.run_id, call.input_tokens) for call in calls) == [
        ("", "", 1), ("ann", "run_1", 1), ("ann", "run_1", 5),
    ]  # fmt: skip
    assert ledger.spent("default", run_id="run_1").cost == pytest.approx(6 * 0.5 / 1e6)


def test_tokens_are_estimated_where_the_server_counts_none(ledger: SqlLedger) -> None:
    with serving(answer([{"index": 0, "embedding": axis(1)}], usage={"prompt_tokens": 0}), ledger) as (opened, _):
        opened.embed(["a text of some length"])
    [call] = ledger.calls("default")
    assert call.input_tokens == estimate_tokens("a text of some length")


def test_nothing_is_sent_when_the_budget_is_spent(ledger: SqlLedger) -> None:
    with serving(None, ledger, llm={"day_tokens": 3}) as (opened, server):
        opened.embed(["one two three four"])
        with pytest.raises(BudgetReached):
            opened.embed(["five"])
    assert len(server.requests) == 1


def test_a_reply_that_drips_is_given_up_in_time(ledger: SqlLedger) -> None:
    script = dripping(embedded([axis(1)]))
    with (
        serving(script, ledger, llm={"timeout": 0.3, "retries": 0}) as (opened, _),
        pytest.raises(ModelUnavailable) as raised,
    ):
        opened.embed(["a"])
    assert raised.value.transient
    assert "within 0.3 s (MINDMEM_LLM__TIMEOUT)" in str(raised.value)


def test_batches_under_way_are_taken_back_when_one_fails_and_are_on_record(ledger: SqlLedger) -> None:
    def script(request: Request) -> Behaviour:
        return status(400) if "text 0" in request.body["input"] else slow(30, by_number(request))

    with serving(script, ledger, batch=1, llm={"concurrency": 3}) as (opened, server), pytest.raises(ModelUnavailable):
        opened.embed([f"text {number}" for number in range(9)])
    assert len(server.requests) <= 4
    assert {call.error for call in ledger.calls("default")} <= {"status 400 (terminal)", "taken back"}


def test_several_threads_may_embed_at_once(ledger: SqlLedger) -> None:
    with serving(by_number, ledger) as (opened, _), ThreadPoolExecutor(8) as threads:
        texts = [f"text {number}" for number in range(16)]
        found = list(threads.map(lambda text: opened.embed([text])[0], texts))
    assert [int(np.argmax(one.vector)) for one in found] == list(range(16))
    assert len(ledger.calls("default")) == 16


def test_a_failing_batch_fails_the_call_and_the_next_call_works(ledger: SqlLedger) -> None:
    broken = True

    def script(request: Request) -> Behaviour:
        return status(400) if broken and "text 3" in request.body["input"] else by_number(request)

    with serving(script, ledger, batch=1) as (opened, _):
        texts = [f"text {number}" for number in range(6)]
        with pytest.raises(MindMemError):
            opened.embed(texts)
        broken = False
        assert len(opened.embed(texts)) == 6


def test_a_cache_in_front_sends_each_text_once(ledger: SqlLedger) -> None:
    with serving(by_number, ledger) as (opened, server):
        cached = CachedEmbedder(opened)
        cached.embed(["text 1", "text 2"])
        cached.embed(["text 2", "text 3"])
    assert inputs(server) == [["text 1", "text 2"], ["text 3"]]


def test_an_own_address_is_asked_without_the_headers_of_the_other(ledger: SqlLedger) -> None:
    llm = {"base_url": "http://127.0.0.1:9/v1", "headers": {"X-Team": "blue"}, "organization": "org_1"}
    with ModelServer() as server:
        with embedder("", ledger, llm=llm, base_url=server.url, api_key="another") as opened:
            opened.embed(["a"])
        with embedder(server.url, ledger, llm={**llm, "base_url": server.url, "api_key": ""}) as opened:
            opened.embed(["a"])
    foreign, own = (request.headers for request in server.requests)
    assert foreign["authorization"] == "Bearer another"
    assert not {"x-team", "openai-organization"} & foreign.keys()
    assert "authorization" not in own
    assert (own["x-team"], own["openai-organization"]) == ("blue", "org_1")


def test_azure_is_asked_in_its_own_way(ledger: SqlLedger) -> None:
    with ModelServer() as server:
        llm = {"api": "azure", "api_version": "2024-10-21", "base_url": server.origin}
        with embedder(server.origin, ledger, llm=llm) as opened:
            opened.embed(["a"])
    [request] = server.requests
    assert request.path == "/openai/deployments/test-embed/embeddings"
    assert request.query == {"api-version": "2024-10-21"}
    assert request.headers["api-key"] == SECRET
