"""The scripted server: a script that doesn't fit what was asked fails its test; what it computes is always the same."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from support.model_server import Behaviour, ModelServer, Request, Script, reply, status, with_faults


def post(url: str, body: dict[str, Any]) -> Any:
    sent = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(sent, timeout=10) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def chat(server: ModelServer, words: str = "hi") -> Any:
    return post(f"{server.url}/chat/completions", {"model": "m", "messages": [{"role": "user", "content": words}]})


def converse(script: Script, times: int, *, used_up: bool = False) -> None:
    with ModelServer(script, used_up=used_up) as server:
        for _ in range(times):
            chat(server)


def test_a_script_that_ends_early_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="chat script ended after 1 requests"):
        converse([reply("a")], 2)


def test_a_script_that_is_not_used_up_fails_where_asked_for() -> None:
    with pytest.raises(AssertionError, match="2 behaviours, only 1"):
        converse([reply("a"), reply("b")], 1, used_up=True)


def test_an_error_of_a_script_is_the_tests_error() -> None:
    def script(request: Request) -> Behaviour:
        raise KeyError("unexpected prompt")

    with pytest.raises(AssertionError, match="unexpected prompt"):
        converse(script, 1)


def test_faults_follow_the_prompts_and_not_their_order() -> None:
    def faulty(words: list[str]) -> dict[str, Any]:
        with ModelServer(with_faults(lambda request: reply("ok"), [status(500)], share=0.5)) as server:
            return {text: isinstance(chat(server, text), int) for text in words}

    words = [f"prompt {number}" for number in range(20)]
    first, second = faulty(words), faulty(words[::-1])
    assert first == second
    assert 4 < sum(first.values()) < 16


def test_embeddings_and_scores_are_computed_from_shared_words() -> None:
    with ModelServer(dimensions=8) as server:
        rows = post(f"{server.url}/embeddings", {"model": "e", "input": ["red cat", "red cat", "blue whale"]})["data"]
        ranked = post(
            f"{server.origin}/v2/rerank",
            {"model": "r", "query": "red cat", "documents": ["a whale", {"text": "red cat"}], "top_n": 1},
        )
    assert [len(row["embedding"]) for row in rows] == [8, 8, 8]
    assert rows[0]["embedding"] == rows[1]["embedding"] != rows[2]["embedding"]
    assert ranked["results"] == [{"index": 1, "relevance_score": 1.0}]
