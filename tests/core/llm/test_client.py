"""OpenAICompleter against a server on a real socket: what it sends, what it makes of what comes, what stays open."""

import asyncio
import gc
import json
import logging
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr
from support.model_server import (
    Behaviour,
    ModelServer,
    body,
    chatter,
    context_too_long,
    cut_body,
    cut_headers,
    dripping,
    empty,
    fenced,
    filtered,
    html,
    huge,
    left_open,
    lone_surrogate,
    model_not_found,
    no_quota,
    no_usage,
    refusal,
    reply,
    slow,
    status,
    thinking,
    truncated,
    unauthorized,
    with_faults,
)

from mindmem.core.errors import InvalidInput, ModelUnavailable
from mindmem.core.llm.client import OpenAICompleter
from mindmem.core.llm.port import Completion
from mindmem.core.llm.retry import tries
from mindmem.core.settings import LlmSettings

KEY = "sk-test-0123456789abcdef"
SECRET = "Marlene keeps the spare key under the third flower pot."


class Facts(BaseModel):
    facts: list[str]


class Sleeps:
    """An asyncio.sleep that takes no time and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0)


def completer(server: ModelServer, sleep: Callable[[float], Any] | None = None, **given: Any) -> OpenAICompleter:
    settings = {"base_url": server.url, "api_key": SecretStr(KEY), "timeout": 5, "retries": 3, **given}
    return OpenAICompleter(LlmSettings(**settings), sleep=sleep or Sleeps(), dice=lambda: 0.5)


async def ask(asked: OpenAICompleter, words: str = SECRET, **given: Any) -> Completion:
    arguments: dict[str, Any] = {
        "model": "test-model",
        "schema_name": "facts",
        "schema": Facts.model_json_schema(),
        "max_output_tokens": 300,
        **given,
    }
    return await asked.complete(
        [{"role": "system", "content": "Extract."}, {"role": "user", "content": words}], **arguments
    )


async def test_a_question_is_sent_with_its_schema_and_bounds_and_the_answer_is_counted() -> None:
    with ModelServer([reply({"facts": ["a"]})], used_up=True) as server:
        got = await ask(completer(server), seed=7)
    sent = server.requests[0]
    assert got.text == '{"facts": ["a"]}'
    assert (got.finish, got.model, got.counted, got.retries) == ("stop", "test-model", True, 0)
    assert got.input_tokens > got.output_tokens > 0
    assert sent.path == "/v1/chat/completions"
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert {name: sent.body[name] for name in ("max_tokens", "temperature", "seed")} == {
        "max_tokens": 300,
        "temperature": 0.0,
        "seed": 7,
    }
    assert sent.body["response_format"]["json_schema"]["strict"] is True
    assert "stream" not in sent.body


async def test_without_a_key_none_is_sent() -> None:
    with ModelServer(reply({"facts": []})) as server:
        await ask(completer(server, api_key=SecretStr("")))
    assert "authorization" not in server.requests[0].headers


async def test_a_gateway_that_wants_another_way_to_sign_gets_the_header_of_the_settings() -> None:
    with ModelServer(reply({"facts": []})) as server:
        for place in ({}, {"base_url": server.origin, "api": "azure", "api_version": "2024-10-21"}):
            await ask(completer(server, api_key=SecretStr(""), headers={"Authorization": "Basic abc"}, **place))
    assert [request.headers["authorization"] for request in server.requests] == ["Basic abc"] * 2
    assert "api-key" not in server.requests[1].headers


async def test_headers_and_organisation_of_the_settings_are_sent() -> None:
    with ModelServer(reply({"facts": []})) as server:
        await ask(completer(server, headers={"X-Title": "notes"}, organization="org-1", project="proj-1"))
    sent = server.requests[0].headers
    assert (sent["x-title"], sent["openai-organization"], sent["openai-project"]) == ("notes", "org-1", "proj-1")


async def test_azure_is_asked_at_its_deployment_with_its_version_and_header() -> None:
    with ModelServer(reply({"facts": []})) as server:
        azure = completer(server, base_url=server.origin, api="azure", api_version="2024-10-21")
        await ask(azure, model="my-deployment")
    sent = server.requests[0]
    assert sent.path == "/openai/deployments/my-deployment/chat/completions"
    assert sent.query == {"api-version": "2024-10-21"}
    assert sent.headers["api-key"] == KEY


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"base_url": "localhost:11434/v1"}, "BASE_URL"),
        ({"api_key": SecretStr("sk-ab\ncd")}, "API_KEY"),
        ({"headers": {"X-Title": "sk-ab\u2026"}}, "HEADERS.*X-Title"),
        ({"api": "azure", "base_url": "https://x.openai.azure.com"}, "API_VERSION"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_by_name(given: dict[str, Any], names: str) -> None:
    with pytest.raises(InvalidInput, match=names) as caught:
        OpenAICompleter(LlmSettings(**given))
    assert "sk-ab" not in str(caught.value)


@pytest.mark.parametrize(
    ("behaviour", "text", "finish"),
    [
        (fenced({"facts": []}), '```json\n{"facts": []}\n```', "stop"),
        (truncated('{"facts": ["one", "two"]}', keep=0.5), '{"facts": ["', "length"),
        (empty(), "", "stop"),
        (refusal("No."), "No.", "refusal"),
        (filtered(), "", "refusal"),
        (filtered(as_error=True), "", "refusal"),
        (lone_surrogate('{"facts": ["\\ud83d"]}'), '{"facts": ["\\ud83d"]}', "stop"),
        (reply('{"facts": ["\ud83d"]}'), '{"facts": ["\ud83d"]}', "stop"),
        (thinking({"facts": []}), '{"facts": []}', "stop"),
        (thinking({"facts": []}, tagged=False), '{"facts": []}', "stop"),
        (reply(None, reasoning_content="Hm."), "", "stop"),
    ],
)
async def test_what_a_model_wrote_is_handed_on_as_it_is(behaviour: Behaviour, text: str, finish: str) -> None:
    with ModelServer([behaviour], used_up=True) as server:
        got = await ask(completer(server, structure="schema"))
    assert (got.text, got.finish) == (text, finish)


async def test_chatter_around_the_object_is_handed_on_for_the_parser() -> None:
    with ModelServer([chatter({"facts": []})], used_up=True) as server:
        assert '{"facts": []}' in (await ask(completer(server))).text


async def test_content_in_parts_is_joined_without_the_thoughts() -> None:
    parts = [
        {"type": "thinking", "thinking": "Hm."},
        {"type": "text", "text": '{"facts"'},
        {"type": "text", "text": ": []}"},
    ]
    message = {"choices": [{"message": {"content": parts}, "finish_reason": "stop"}]}
    with ModelServer(body(json.dumps(message).encode())) as server:
        got = await ask(completer(server))
    assert (got.text, got.counted, got.model) == ('{"facts": []}', False, "test-model")


async def test_missing_token_counts_are_estimated_and_marked() -> None:
    with ModelServer(no_usage({"facts": ["a"]})) as server:
        got = await ask(completer(server))
    assert not got.counted
    assert got.input_tokens > got.output_tokens > 0


@pytest.mark.parametrize(
    "fault",
    [
        status(429),
        status(408),
        status(409),
        status(500),
        status(502),
        status(503),
        status(529),
        cut_headers(),
        cut_body(),
        html(),
        html(502),
        body(b'{"choices": [{"mess'),
        body(b"[]"),
        body(b'{"error": {"message": "upstream is down", "code": 503}}'),
        huge(17_000_000),
    ],
    ids=lambda fault: fault.name,
)
async def test_what_may_pass_is_tried_again(fault: Behaviour) -> None:
    sleep = Sleeps()
    with ModelServer([fault, fault, reply({"facts": []})], used_up=True) as server:
        got = await ask(completer(server, sleep))
    assert (got.text, got.retries) == ('{"facts": []}', 2)
    # Half of a wait is chance, of which these dice give half: 0.75 of 0.5 s, then of 1 s.
    assert sleep.asked == [0.375, 0.75]


@pytest.mark.parametrize("fault", [slow(5, reply("late")), left_open(), dripping()], ids=lambda fault: fault.name)
async def test_a_try_ends_with_its_timeout_however_slowly_the_answer_drips(fault: Behaviour) -> None:
    began = time.monotonic()
    with ModelServer([fault, reply({"facts": []})], used_up=True) as server:
        got = await ask(completer(server, timeout=0.3))
    assert got.retries == 1
    assert time.monotonic() - began < 3


async def test_after_the_last_retry_the_error_is_transient_and_names_place_and_setting() -> None:
    with ModelServer(slow(5, reply("late"))) as server, pytest.raises(ModelUnavailable) as caught:
        await ask(completer(server, timeout=0.1, retries=1))
    assert caught.value.transient
    assert "test-model" in str(caught.value)
    assert "MINDMEM_LLM__TIMEOUT" in str(caught.value)
    assert "2 tries" in str(caught.value)


async def test_an_endpoint_that_nobody_runs_is_transient_and_named() -> None:
    with ModelServer() as server:
        asked = completer(server, retries=1)
    with pytest.raises(ModelUnavailable, match=r"can't be reached.*MINDMEM_LLM__BASE_URL") as caught:
        await ask(asked)
    assert caught.value.transient


@pytest.mark.parametrize(
    ("behaviour", "advice"),
    [
        (unauthorized(), "MINDMEM_LLM__API_KEY or OPENAI_API_KEY"),
        (status(403), "MINDMEM_LLM__API_KEY"),
        (model_not_found("test-model"), "MINDMEM_LLM__MODEL"),
        (html(404), "MINDMEM_LLM__BASE_URL"),
        (no_quota(), "no credit left"),
        (status(402), "no credit left"),
        (context_too_long(), "MINDMEM_INGEST__SOFT_TOKENS"),
        (status(422), "MINDMEM_LLM__MODEL"),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
async def test_what_no_waiting_heals_ends_at_once_and_says_what_to_fix(behaviour: Behaviour, advice: str) -> None:
    sleep = Sleeps()
    with ModelServer([behaviour], used_up=True) as server, pytest.raises(ModelUnavailable, match=advice) as caught:
        await ask(completer(server, sleep))
    assert not caught.value.transient
    assert sleep.asked == []


@pytest.mark.parametrize("echo", [unauthorized(KEY), unauthorized(SECRET), body(SECRET.encode(), code=400), html(400)])
async def test_neither_key_nor_message_stands_in_an_error_its_traceback_or_the_log(
    echo: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with ModelServer([status(500), echo]) as server, pytest.raises(ModelUnavailable) as caught:
        await ask(completer(server))
    told = "".join(traceback.format_exception(caught.value)) + caplog.text + repr(caught.value.__context__)
    assert KEY not in told
    assert SECRET[:20] not in told


async def test_code_that_retries_as_a_whole_leaves_a_call_one_try() -> None:
    with ModelServer([status(500)], used_up=True) as server, pytest.raises(ModelUnavailable) as caught, tries(1):
        await ask(completer(server))
    assert caught.value.transient


async def test_cancelling_ends_a_wait_and_a_call_at_once_and_frees_its_slot() -> None:
    with ModelServer([status(500), slow(30, reply("late")), reply({"facts": []})], used_up=True) as server:
        asked = completer(server, asyncio.sleep, concurrency=1, timeout=60)
        began = time.monotonic()
        for seconds in (0.2, 1.0):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(ask(asked), seconds)
        assert (await ask(asked)).text == '{"facts": []}'
    assert time.monotonic() - began < 5


def test_each_call_may_have_a_loop_of_its_own_and_leaves_nothing_open() -> None:
    with ModelServer(reply({"facts": []})) as server:
        asked = completer(server)
        for _ in range(3):
            assert asyncio.run(ask(asked)).text == '{"facts": []}'
        gc.collect()


def test_loops_in_several_threads_share_the_bound_on_calls_under_way() -> None:
    async def many(asked: OpenAICompleter) -> None:
        await asyncio.gather(*(ask(asked, f"number {number}") for number in range(6)))

    with ModelServer(slow(0.05, reply({"facts": []}))) as server:
        asked = completer(server, concurrency=3)
        asyncio.run(ask(asked))
        threads = [threading.Thread(target=lambda: asyncio.run(many(asked))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.requests) == 19
    assert 1 < server.peak <= 3


async def test_calls_under_way_overlap_up_to_the_bound() -> None:
    with ModelServer(slow(0.1, reply({"facts": []}))) as server:
        asked = completer(server, concurrency=16)
        await asyncio.gather(*(ask(asked, f"window {number}") for number in range(64)))
    assert server.peak == 16
    assert len(server.requests) == 64


async def test_under_faults_every_call_is_answered_with_its_own_answer() -> None:
    faults = [status(500), status(429), cut_body(), cut_headers(), html(), body(b"{")]
    with ModelServer(with_faults(lambda request: reply({"facts": [request.prompt[-3:]]}), faults, share=0.3)) as server:
        asked = completer(server, retries=12, timeout=60, concurrency=8)
        got = await asyncio.gather(*(ask(asked, f"say {number:03}") for number in range(200)))
    assert [completion.text for completion in got] == [f'{{"facts": ["{number:03}"]}}' for number in range(200)]
    assert sum(completion.retries for completion in got) > 40


async def test_half_a_surrogate_pair_in_a_prompt_is_sent_as_a_replacement() -> None:
    with ModelServer(reply({"facts": []})) as server:
        await ask(completer(server), "broken \ud83d emoji")
    assert "broken \ufffd emoji" in server.requests[0].prompt


async def test_a_closed_completer_refuses() -> None:
    with ModelServer() as server:
        asked = completer(server)
        asked.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await ask(asked)
    assert server.requests == []
