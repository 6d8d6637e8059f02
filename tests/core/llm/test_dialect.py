"""What a server understands is found out once; requests, schemas and replies follow it."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field
from support.model_server import ModelServer, Request, body, refusal, reply, slow, status, unsupported

from mindmem.core.errors import ModelUnavailable
from mindmem.core.llm.answer import answer_of
from mindmem.core.llm.client import OpenAICompleter
from mindmem.core.llm.dialect import Dialect, Dialects, reads_over, strict, with_schema
from mindmem.core.llm.port import Completion
from mindmem.core.llm.retry import Fault, Place, complaint, refused
from mindmem.core.settings import LlmSettings

ASKED = [{"role": "system", "content": "Extract."}, {"role": "user", "content": "I moved to Lisbon."}]


class Spot(BaseModel):
    """Where something is."""

    name: str = Field(description="As it was said.", max_length=40)


class Fact(BaseModel):
    text: str
    kind: Literal["trait", "event"] = "trait"
    confidence: float = Field(default=0.5, ge=0, le=1)
    title: str | None = Field(default=None, title="Heading")
    place: Spot | None = None
    home: Spot = Field(description="Where it belongs.")


class Facts(BaseModel):
    facts: list[Fact]
    note: str = ""


class Node(BaseModel):
    children: list["Node"] = []


class Open(BaseModel):
    labels: dict[str, str]


SCHEMA = Facts.model_json_schema()
GOOD = {"facts": []}


async def no_time(seconds: float) -> None:
    await asyncio.sleep(0)


def completer(server: ModelServer, dialects: Dialects | None = None, **given: Any) -> OpenAICompleter:
    settings = LlmSettings(**{"base_url": server.url, "timeout": 5, "retries": 1, **given})
    return OpenAICompleter(settings, dialects=dialects, sleep=no_time)


async def ask(asked: OpenAICompleter, **given: Any) -> Completion:
    arguments: dict[str, Any] = {
        "model": "m", "schema_name": "facts of a window", "schema": SCHEMA, "max_output_tokens": 100, **given
    }  # fmt: skip
    return await asked.complete(ASKED, **arguments)


def structures(server: ModelServer) -> list[str]:
    return [request.structure for request in server.requests]


@pytest.mark.parametrize(
    ("refuses", "asked_as"),
    [
        ((), ["json_schema", "json_schema"]),
        (("json_schema",), ["json_schema", "json_object", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", "text", "text"]),
    ],
)
async def test_the_richest_structure_that_a_server_takes_is_found_out_once(
    refuses: tuple[str, ...], asked_as: list[str]
) -> None:
    with ModelServer(reply(GOOD), refuses=refuses) as server:
        asked = completer(server)
        first, second = await ask(asked), await ask(asked)
    assert structures(server) == asked_as
    assert json.loads(first.text) == json.loads(second.text) == GOOD
    # Finding out is no retry.
    assert first.retries == 0


@pytest.mark.parametrize(
    "refusal_of_schema",
    [
        (400, {"error": "'response_format.type' must be 'json_object' or 'text'"}),
        (422, {"error": {"message": "response_format.type `json_schema` is unavailable now", "param": None}}),
        (500, {"error": {"code": 500, "message": 'response_format type must be one of "text" or "json_object"'}}),
        (400, {"object": "error", "message": "The provided JSON schema contains features not supported by xgrammar."}),
        (404, {"error": {"message": "No endpoints found that support response_format", "code": 404}}),
        (422, {"detail": [{"loc": ["body", "response_format", "type"], "msg": "Input should be 'text'"}]}),
    ],
    ids=["lm studio", "deepseek", "llama.cpp", "vllm", "openrouter", "fastapi"],
)
async def test_refusals_of_a_schema_are_understood_in_the_words_of_many_servers(
    refusal_of_schema: tuple[int, dict[str, Any]],
) -> None:
    code, said = refusal_of_schema

    def script(request: Request) -> Any:
        return body(json.dumps(said).encode(), code=code) if request.structure == "json_schema" else reply(GOOD)

    with ModelServer(script) as server:
        await ask(completer(server))
    assert structures(server) == ["json_schema", "json_object"]


@pytest.mark.parametrize("name", ["temperature", "seed", "max_tokens"])
async def test_a_parameter_that_is_refused_is_left_out_or_renamed_from_then_on(name: str) -> None:
    with ModelServer(reply(GOOD), refuses=[name]) as server:
        asked = completer(server)
        for _ in range(2):
            await ask(asked, seed=3)
    sent = [name in request.body for request in server.requests]
    assert sent == [True, False, False]
    assert ("max_completion_tokens" in server.requests[-1].body) == (name == "max_tokens")


async def test_a_server_that_lacks_everything_is_still_asked() -> None:
    lacking = ["json_schema", "json_object", "temperature", "seed", "max_tokens"]
    with ModelServer(reply(GOOD), refuses=lacking) as server:
        await ask(completer(server), seed=3)
    assert set(server.requests[-1].body) == {"model", "messages", "max_completion_tokens"}


async def test_a_parameter_that_a_later_call_is_the_first_to_use_is_still_found_out() -> None:
    with ModelServer(reply(GOOD), refuses=["seed"]) as server:
        asked = completer(server)
        await ask(asked)
        await ask(asked, seed=1)
        await ask(asked, seed=2)
    assert ["seed" in request.body for request in server.requests] == [False, True, False, False]


async def test_a_template_without_a_system_role_gets_its_words_before_the_users() -> None:
    said = b'{"error": {"message": "System role not supported", "type": "server_error"}}'

    def script(request: Request) -> Any:
        return body(said, code=400) if request.body["messages"][0]["role"] == "system" else reply(GOOD)

    with ModelServer(script) as server:
        await ask(completer(server))
    assert server.requests[-1].body["messages"] == [{"role": "user", "content": "Extract.\n\nI moved to Lisbon."}]


async def test_a_server_that_reads_over_the_schema_gets_it_in_the_prompt() -> None:
    def script(request: Request) -> Any:
        return reply(GOOD) if "JSON schema" in request.prompt else reply("You moved to Lisbon, how nice!")

    with ModelServer(script) as server:
        asked = completer(server)
        first, second = await ask(asked), await ask(asked)
    assert structures(server) == ["json_schema", "json_object", "json_object"]
    assert json.loads(first.text) == json.loads(second.text) == GOOD
    # The reply that was given up was paid for.
    assert first.input_tokens > second.input_tokens


async def test_a_reply_that_reads_over_the_schema_is_handed_on_where_no_better_one_comes() -> None:
    with ModelServer([reply("Just words."), status(500), status(500), reply(GOOD)], used_up=True) as server:
        asked = completer(server)
        assert (await ask(asked)).text == "Just words."
        await ask(asked)
    assert structures(server) == ["json_schema", "json_object", "json_object", "json_schema"]


async def test_a_refusal_to_answer_says_nothing_about_schemas() -> None:
    with ModelServer([refusal(), reply(GOOD)], used_up=True) as server:
        asked = completer(server)
        assert (await ask(asked)).finish == "refusal"
        await ask(asked)
    assert structures(server) == ["json_schema"] * 2


@pytest.mark.parametrize(("structure", "kind"), [("schema", "json_schema"), ("json", "json_object"), ("text", "text")])
async def test_a_structure_that_is_set_is_kept(structure: str, kind: str) -> None:
    with ModelServer(reply("Just words.")) as server:
        asked = completer(server, structure=structure)
        await ask(asked)
        await ask(asked)
    assert structures(server) == [kind] * 2


async def test_a_structure_that_is_set_and_refused_is_an_error() -> None:
    with ModelServer(unsupported("json_schema")) as server, pytest.raises(ModelUnavailable, match="response_format"):
        await ask(completer(server, structure="schema"))
    assert len(server.requests) == 1


async def test_first_calls_go_out_together_and_what_is_refused_is_found_out_by_one_of_them() -> None:
    with ModelServer(slow(0.05, reply(GOOD)), refuses=["json_schema", "temperature"]) as server:
        asked = completer(server, concurrency=8)
        got = await asyncio.gather(*(ask(asked) for _ in range(12)))
    refused = structures(server).count("json_schema")
    assert 1 <= refused <= 8, "no more than may be in flight at once"
    # One of them alone is refused the temperature, too.
    assert [request.structure == "json_object" and "temperature" in request.body for request in server.requests].count(
        True
    ) == 1
    assert len(server.requests) == refused + 1 + 12
    assert [completion.retries for completion in got] == [0] * 12


async def test_where_the_first_guess_is_right_nothing_is_asked_alone_or_twice() -> None:
    with ModelServer(slow(0.05, reply(GOOD))) as server:
        asked = completer(server, concurrency=8)
        await asyncio.gather(*(ask(asked) for _ in range(12)))
    assert server.peak == server.requests[7].in_flight == 8
    assert structures(server) == ["json_schema"] * 12


async def test_first_calls_whose_schema_is_read_over_are_all_asked_again_and_both_replies_are_counted() -> None:
    def script(request: Request) -> Any:
        return slow(0.05, reply(GOOD if request.structure == "json_object" else "You moved to Lisbon, how nice!"))

    with ModelServer(script) as server:
        asked = completer(server, concurrency=4)
        got = await asyncio.gather(*(ask(asked) for _ in range(6)))
        [alone] = [await ask(asked)]
    assert [json.loads(completion.text) for completion in got] == [GOOD] * 6
    assert structures(server) == ["json_schema"] * 4 + ["json_object"] * 7
    assert sorted(completion.output_tokens > alone.output_tokens for completion in got) == [False] * 2 + [True] * 4
    assert all(completion.counted for completion in got)


async def test_one_of_the_first_replies_that_reads_over_the_schema_is_an_accident_if_the_others_follow_it() -> None:
    def script(request: Request) -> Any:
        return slow(0.3, reply("Words.")) if request.number == 1 else reply(GOOD)

    with ModelServer(script) as server:
        asked = completer(server, concurrency=4)
        got = await asyncio.gather(*(ask(asked) for _ in range(4)))
    assert sorted(completion.text for completion in got) == ["Words.", *['{"facts": []}'] * 3]
    assert structures(server) == ["json_schema"] * 4


async def test_where_finding_out_fails_the_others_do_not_queue_behind_each_other() -> None:
    def script(request: Request) -> Any:
        return unsupported("json_schema") if request.structure == "json_schema" else slow(0.2, status(500))

    with ModelServer(script) as server:
        asked = completer(server, concurrency=8, retries=0)
        given = await asyncio.gather(*(ask(asked) for _ in range(8)), return_exceptions=True)
    assert all(isinstance(error, ModelUnavailable) for error in given)
    assert max(request.in_flight for request in server.requests if request.structure == "json_object") == 7


async def test_an_endpoint_that_refuses_every_form_is_an_error_in_its_words() -> None:
    said = b'{"error": {"message": "max_tokens and max_completion_tokens are not supported"}}'
    with ModelServer(body(said, code=400)) as server, pytest.raises(ModelUnavailable, match="not supported") as caught:
        await ask(completer(server))
    assert not caught.value.transient
    assert ["max_tokens" in request.body for request in server.requests] == [True, False]


async def test_models_of_one_endpoint_are_found_out_separately() -> None:
    def script(request: Request) -> Any:
        old = request.model == "old" and request.structure == "json_schema"
        return unsupported("json_schema") if old else reply(GOOD)

    with ModelServer(script) as server:
        asked = completer(server)
        for model in ("old", "new", "old", "new"):
            await ask(asked, model=model)
    assert structures(server) == ["json_schema", "json_object", "json_schema", "json_object", "json_schema"]


async def test_what_was_found_out_is_found_in_the_folder_by_other_processes(tmp_path: Path) -> None:
    with ModelServer(reply(GOOD), refuses=["json_schema", "temperature"]) as server:
        await ask(completer(server, Dialects(tmp_path / "cache")))
        before = len(server.requests)
        await ask(completer(server, Dialects(tmp_path / "cache")))
    assert before == 3
    assert structures(server)[before:] == ["json_object"]


async def test_a_garbled_file_is_read_as_none_and_written_anew(tmp_path: Path) -> None:
    (tmp_path / "dialects.json").write_text('[{"base_url": 1}')
    with ModelServer(reply(GOOD)) as server:
        await ask(completer(server, Dialects(tmp_path)))
    assert Dialects(tmp_path).known(server.url, "m") == Dialect()


async def test_a_folder_that_cannot_be_written_stops_no_call(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("no folder")
    with ModelServer(reply(GOOD)) as server:
        await ask(completer(server, Dialects(tmp_path / "file")))
    assert "can't be kept" in caplog.text


async def test_neither_an_accident_nor_a_setting_is_written_to_the_folder(tmp_path: Path) -> None:
    with ModelServer([reply("Words."), reply(GOOD), reply(GOOD)], used_up=True) as server:
        await ask(completer(server, Dialects(tmp_path)))
        await ask(completer(server, Dialects(tmp_path), structure="text"), model="other")
    assert Dialects(tmp_path).known(server.url, "m") is None
    assert Dialects(tmp_path).known(server.url, "other") is None


def test_a_strict_schema_closes_every_object_and_requires_every_field() -> None:
    form, exact = strict(SCHEMA)
    assert exact
    assert form["additionalProperties"] is False
    assert form["required"] == ["facts", "note"]
    fact = form["$defs"]["Fact"]
    assert fact["required"] == ["text", "kind", "confidence", "title", "place", "home"]
    assert fact["properties"]["kind"] == {"enum": ["trait", "event"], "type": "string"}
    # Bounds, titles and defaults are no part of the strict form; a field of that name is.
    assert fact["properties"]["confidence"] == {"type": "number"}
    assert fact["properties"]["title"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert form["$defs"]["Spot"]["properties"]["name"] == {"type": "string", "description": "As it was said."}


def test_a_reference_never_has_neighbours() -> None:
    form, _ = strict(SCHEMA)
    home = form["$defs"]["Fact"]["properties"]["home"]
    assert home["description"] == "Where it belongs."
    assert home["required"] == ["name"]
    assert form["$defs"]["Fact"]["properties"]["place"]["anyOf"][0] == {"$ref": "#/$defs/Spot"}


def test_a_strict_schema_stays_what_it_is_when_made_strict_again() -> None:
    once, _ = strict(SCHEMA)
    assert strict(once) == (once, True)


def test_recursive_schemas_end() -> None:
    form, exact = strict(Node.model_json_schema())
    assert exact
    assert form["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_an_open_map_has_no_strict_form() -> None:
    form, exact = strict(Open.model_json_schema())
    assert not exact
    assert form["properties"]["labels"]["additionalProperties"] == {"type": "string"}


async def test_a_schemas_name_is_made_of_the_signs_that_servers_take() -> None:
    with ModelServer(reply(GOOD)) as server:
        await ask(completer(server))
    assert server.requests[0].body["response_format"]["json_schema"]["name"] == "facts_of_a_window"


def test_a_schema_in_the_prompt_stands_below_the_system_message_with_its_bounds_and_without_titles() -> None:
    system, user = with_schema(ASKED, SCHEMA)
    assert user == ASKED[1]
    assert system["content"].startswith("Extract.\n\n")
    assert "JSON" in system["content"]
    assert '"maximum":1' in system["content"]
    assert "Heading" not in system["content"]
    assert '"title":{' in system["content"]
    assert [message["role"] for message in with_schema(ASKED[1:], SCHEMA)] == ["system", "user"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('<think>\nIs it {"a": 1}?\n</think>\n\n{"a": 2}', '{"a": 2}'),
        ('Is it {"a": 1}?</think>{"a": 2}', '{"a": 2}'),
        ("<thinking>so long that it was cut", ""),
        ('{"text": "she wrote </think> there"}', '{"text": "she wrote </think> there"}'),
        ('```json\n{"text": "<think>no</think>"}\n```', '```json\n{"text": "<think>no</think>"}\n```'),
        ("plain", "plain"),
    ],
)
def test_thoughts_before_an_answer_are_dropped_and_those_inside_of_it_stay(text: str, answer: str) -> None:
    assert answer_of(text) == answer


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ('{"facts": []}', False),
        ('```json\n{"facts": [], "more": 1}\n```', False),
        ('{"facts": [', False),
        ("", False),
        ('{"answer": 1}', True),
        ("No braces here.", True),
    ],
)
def test_a_reply_shows_whether_its_schema_was_followed(text: str, over: bool) -> None:
    assert reads_over(text, SCHEMA) is over


@pytest.mark.parametrize(
    "said",
    [
        "max_tokens is too large: 8192. This model supports at most 4096 completion tokens.",
        "This model's maximum context length is 4096 tokens.",
        "Something is wrong.",
    ],
)
def test_a_complaint_about_a_value_changes_no_dialect(said: str) -> None:
    fault = Fault("", False, status=400, complaint=complaint({"message": said}))
    sent = Dialect().body(ASKED, model="m", schema_name="n", schema=None, max_output_tokens=1, temperature=0, seed=None)
    assert Dialect().after(fault, sent, fixed=False) is None


@pytest.mark.parametrize("code", [401, 429, 503])
def test_a_status_that_has_another_meaning_changes_no_dialect(code: int) -> None:
    fault = refused(
        Place("http://a", "m"), code, {"message": "response_format"}, {}, now=datetime(2025, 1, 1, tzinfo=UTC)
    )
    assert Dialect().after(fault, {"response_format": {}}, fixed=False) is None
