"""A scripted OpenAI-compatible server on a real socket of 127.0.0.1: it replies, fails and misbehaves as a test says.

    def test_an_overloaded_endpoint_is_asked_again() -> None:
        with ModelServer([status(429, retry_after=1), reply({"facts": []})], used_up=True) as server:
            ...  # LlmSettings(base_url=server.url, model="any")
        assert [request.model for request in server.requests] == ["any", "any"]

A script is one behaviour for ever, a sequence of them (one a request), or a function of the request:

    ModelServer(lambda request: reply("yes" if "Lisbon" in request.prompt else "no"))
    ModelServer(with_faults(lambda request: reply({}), [status(500), cut_body(), reply("{")], share=0.3))

``refuses`` names what the server answers with a 400 before the script is asked: ``json_schema``, ``json_object``, or a
parameter such as ``temperature``, ``seed``, ``max_tokens``. With ``wave`` nobody is answered until so many requests are
in flight, or nobody more comes: ``waves`` then counts in how many rounds a client asks, by no clock. Embeddings (words
have their directions) and reranking (by shared words) answer by themselves; ``embeddings`` and ``rerank`` take scripts
of their own. Azure's and Cohere's paths are understood.

Leaving the ``with`` raises AssertionError where the script failed, ended early or, with ``used_up``, was not used up.
The server lives in a thread of its own, so tests of any event loop, and of none, can use it.
"""

import asyncio
import base64
import hashlib
import json
import math
import random
import re
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = [
    "Behaviour",
    "ModelServer",
    "Request",
    "Script",
    "body",
    "chatter",
    "context_too_long",
    "cut_body",
    "cut_headers",
    "dripping",
    "embedded",
    "empty",
    "fenced",
    "filtered",
    "html",
    "huge",
    "left_open",
    "lone_surrogate",
    "model_not_found",
    "no_quota",
    "no_usage",
    "refusal",
    "reply",
    "scored",
    "slow",
    "status",
    "thinking",
    "truncated",
    "unauthorized",
    "unsupported",
    "with_faults",
]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came; ``in_flight`` counts it and those not answered yet, ``at`` is in monotonic seconds."""

    number: int
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    at: float
    in_flight: int

    @property
    def model(self) -> str:
        """Return the model asked for; Azure names it in the path."""
        found = re.search(r"/deployments/([^/]+)/", self.path)
        return unquote(found[1]) if found else str(self.body.get("model", ""))

    @property
    def prompt(self) -> str:
        """Return the texts of all messages, system first as sent, with blank lines between."""
        return "\n\n".join(str(message["content"]) for message in self.body.get("messages", []))

    @property
    def structure(self) -> Literal["json_schema", "json_object", "text"]:
        """Return the form asked for by ``response_format``."""
        kind: Literal["json_schema", "json_object", "text"] = self.body.get("response_format", {}).get("type", "text")
        return kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How one request is answered; made by the functions below."""

    name: str = "reply"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    render: Callable[[Request], bytes]
    """The body for a request."""
    delay: float = 0.0
    """Seconds until the first byte."""
    ending: Literal["whole", "cut_headers", "cut_body", "left_open", "dripping"] = "whole"


Script = Behaviour | Sequence[Behaviour] | Callable[[Request], Behaviour]


# --- replies of a model ---------------------------------------------------------------------------------------------


def reply(
    content: str | Mapping[str, Any] | Sequence[Any] | None,
    *,
    finish: str = "stop",
    name: str = "reply",
    usage: bool = True,
    **message: Any,
) -> Behaviour:
    """Answer with a text; what is not a text is written as JSON. ``message`` adds fields such as reasoning_content."""
    text = content if isinstance(content, str) or content is None else json.dumps(content, ensure_ascii=False)

    def render(request: Request) -> bytes:
        answer: dict[str, Any] = {
            "id": f"chatcmpl-{request.number}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.model,
            "choices": [
                {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
            ],
        }
        if usage:
            asked, said = len(request.prompt) // 4, len(text or "") // 4
            answer["usage"] = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
        # Escapes keep lone surrogates, which UTF-8 cannot carry.
        return json.dumps(answer).encode("ascii")

    return Behaviour(name=name, render=render)


def _written(content: str | Mapping[str, Any] | Sequence[Any]) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def fenced(content: str | Mapping[str, Any]) -> Behaviour:
    """Answer inside a Markdown fence."""
    return reply(f"```json\n{_written(content)}\n```", name="fenced")


def chatter(content: str | Mapping[str, Any], before: str = "Sure! Here is the JSON you asked for:\n\n") -> Behaviour:
    """Answer after some friendly words, with more of them behind."""
    return reply(f"{before}{_written(content)}\n\nLet me know if you need anything else.", name="chatter")


def thinking(content: str | Mapping[str, Any], *, tagged: bool = True, thought: str = "Is it {a} or {b}?") -> Behaviour:
    """Answer as reasoning models do: the thought in tags before the text, or in a field of its own."""
    if tagged:
        return reply(f"<think>\n{thought}\n</think>\n\n{_written(content)}", name="thinking")
    return reply(_written(content), name="thinking", reasoning_content=thought)


def truncated(content: str | Mapping[str, Any], keep: float = 0.6) -> Behaviour:
    """Answer with the first part of a text, as one that ran into the bound of output tokens."""
    text = _written(content)
    return reply(text[: int(len(text) * keep)], finish="length", name="truncated")


def empty() -> Behaviour:
    """Answer with nothing."""
    return reply("", name="empty")


def refusal(words: str = "I can't help with that.") -> Behaviour:
    """Refuse as structured output does: in ``message.refusal``, without content."""
    return reply(None, name="refusal", refusal=words)


def filtered(*, as_error: bool = False) -> Behaviour:
    """Be stopped by a content filter: ``finish_reason`` content_filter, or Azure's 400 for the prompt."""
    if as_error:
        return _failure(400, "The prompt triggered the content management policy.", code="content_filter")
    return reply("", finish="content_filter", name="filtered")


def lone_surrogate(content: str = '{"text": "broken \\ud83d emoji"}') -> Behaviour:
    """Answer with half an emoji, escaped inside the model's own JSON."""
    return reply(content, name="lone_surrogate")


def huge(characters: int = 40_000_000) -> Behaviour:
    """Answer with far more than was asked for."""
    return reply("blah " * (characters // 5), name="huge")


def no_usage(content: str | Mapping[str, Any]) -> Behaviour:
    """Answer without token counts, as some local servers do."""
    return reply(content, usage=False, name="no_usage")


def embedded(vectors: Sequence[Sequence[float]], *, order: Sequence[int] | None = None) -> Behaviour:
    """Answer an embeddings request with these vectors, listed in ``order`` (indices say where each belongs)."""

    def render(request: Request) -> bytes:
        as_text = request.body.get("encoding_format") == "base64"
        rows = [
            {"object": "embedding", "index": index, "embedding": _packed(vectors[index]) if as_text else vectors[index]}
            for index in (order if order is not None else range(len(vectors)))
        ]
        tokens = sum(len(text.split()) for text in _inputs(request))
        answer = {
            "object": "list",
            "model": request.model,
            "data": rows,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return json.dumps(answer).encode()

    return Behaviour(name="embedded", render=render)


def scored(scores: Mapping[int, float]) -> Behaviour:
    """Answer a rerank request with these scores by document index, best first."""
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))

    def render(request: Request) -> bytes:
        results = [{"index": index, "relevance_score": score} for index, score in ranked]
        return json.dumps({"id": f"rerank-{request.number}", "model": request.model, "results": results}).encode()

    return Behaviour(name="scored", render=render)


# --- failures -------------------------------------------------------------------------------------------------------


def body(content: bytes, *, code: int = 200, content_type: str = "application/json") -> Behaviour:
    """Answer with these bytes."""
    return Behaviour(name="body", status=code, content_type=content_type, render=lambda _: content)


def _failure(
    http_status: int, message: str, /, *, headers: Mapping[str, str] | None = None, **fields: object
) -> Behaviour:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}
    return Behaviour(
        name=f"status_{http_status}",
        status=http_status,
        headers=headers or {},
        render=lambda _: json.dumps({"error": error}).encode(),
    )


def status(
    code: int, *, retry_after: float | None = None, as_date: bool = False, milliseconds: bool = False
) -> Behaviour:
    """Fail with a status; ``retry_after`` seconds are named in seconds, as an HTTP date, or in milliseconds."""
    headers: dict[str, str] = {}
    if retry_after is not None and milliseconds:
        headers["Retry-After-Ms"] = str(int(retry_after * 1000))
    elif retry_after is not None:
        # The clock is read here: a date is good for the seconds after the script was written.
        headers["Retry-After"] = formatdate(time.time() + retry_after, usegmt=True) if as_date else f"{retry_after:g}"
    kind = "rate_limit_exceeded" if code == 429 else "server_error"
    return _failure(code, f"Scripted failure {code}.", headers=headers, type=kind)


def unauthorized(echo: str = "") -> Behaviour:
    """Refuse the key; some gateways put it into their message."""
    return _failure(401, f"Incorrect API key provided: {echo}", code="invalid_api_key")


def no_quota() -> Behaviour:
    """Refuse because nothing is paid any more: a 429 that no waiting heals."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return _failure(429, message, type="insufficient_quota", code="insufficient_quota")


def model_not_found(model: str = "unknown") -> Behaviour:
    """Know no such model."""
    return _failure(404, f"The model `{model}` does not exist.", code="model_not_found")


def context_too_long() -> Behaviour:
    """Refuse a prompt that is longer than the model reads."""
    message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return _failure(400, message, param="messages", code="context_length_exceeded")


def unsupported(name: str, *, code: int = 400) -> Behaviour:
    """Refuse a form of reply (json_schema, json_object) or a parameter in the words that servers use."""
    if name in {"json_schema", "json_object"}:
        message = f"Invalid parameter: 'response_format' of type '{name}' is not supported with this model."
        return replace(_failure(code, message, param="response_format"), name=f"unsupported_{name}")
    message = f"Unsupported parameter: '{name}' is not supported with this model."
    if name == "max_tokens":
        message += " Use 'max_completion_tokens' instead."
    return replace(_failure(code, message, param=name, code="unsupported_parameter"), name=f"unsupported_{name}")


def html(code: int = 200) -> Behaviour:
    """Answer with a page for people, as a proxy or a wrong base URL does."""
    page = b"<!doctype html><html><body><h1>It works!</h1></body></html>"
    return replace(body(page, code=code, content_type="text/html"), name="html")


def slow(seconds: float, then: Behaviour) -> Behaviour:
    """Let the client wait before anything comes."""
    return replace(then, name="slow", delay=seconds)


def dripping(then: Behaviour | None = None) -> Behaviour:
    """Send the body a byte at a time, so slowly that no single read times out."""
    return replace(then or reply("drop " * 10_000), name="dripping", ending="dripping")


def cut_headers() -> Behaviour:
    """Hang up in the middle of the headers."""
    return replace(reply("never sent"), name="cut_headers", ending="cut_headers")


def cut_body(then: Behaviour | None = None) -> Behaviour:
    """Hang up in the middle of the body."""
    return replace(then or reply("half of this is sent"), name="cut_body", ending="cut_body")


def left_open(then: Behaviour | None = None) -> Behaviour:
    """Send half of a chunked body and never the rest; the connection stays open."""
    return replace(then or reply("half of this is sent"), name="left_open", ending="left_open")


def with_faults(
    answer: Callable[[Request], Behaviour], faults: Sequence[Behaviour], *, share: float = 0.3, seed: int = 0
) -> Callable[[Request], Behaviour]:
    """Return a script that answers, but fails in a share of its requests.

    Which ones depends on the prompt and on how often it was asked, not on the order in which requests arrive: runs of
    other concurrency see the same faults.
    """
    asked: Counter[str] = Counter()

    def script(request: Request) -> Behaviour:
        prompt = hashlib.sha256(request.prompt.encode("utf-8", "surrogatepass")).hexdigest()
        asked[prompt] += 1
        dice = random.Random(f"{seed}:{prompt}:{asked[prompt]}")
        return dice.choice(faults) if dice.random() < share else answer(request)

    return script


# --- the server -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Wave:
    """Requests that are answered together."""

    size: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)


_QUIET = 1.0
"""Seconds without a further request after which a wave that is not full is answered."""


class ModelServer:
    """The server; ``url`` is its base URL, ``requests`` what came, ``peak`` the most requests in flight at once."""

    def __init__(
        self,
        script: Script = (),
        *,
        embeddings: Script | None = None,
        rerank: Script | None = None,
        models: Sequence[str] = ("test-model",),
        dimensions: int = 16,
        refuses: Iterable[str] = (),
        used_up: bool = False,
        wave: int = 0,
    ) -> None:
        self.requests: list[Request] = []
        self.served: list[str] = []
        """The names of the behaviours, in the order of their requests."""
        self.peak = 0
        self.waves: list[int] = []
        """How many requests were answered together, wave by wave."""
        self._full = wave
        self._wave = _Wave()
        self._scripts = {
            "chat": _Script("chat", script),
            "embeddings": _Script("embeddings", embeddings or self._embed),
            "rerank": _Script("rerank", rerank or _rank),
        }
        self._models = models
        self._dimensions = dimensions
        self._refuses = frozenset(refuses)
        self._used_up = used_up
        self._in_flight = 0
        self._failures: list[str] = []
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="model-server", daemon=True)
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._port = 0

    @property
    def origin(self) -> str:
        """Return scheme, host and port: Azure's endpoint."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        """Return the base URL of an OpenAI-compatible client."""
        return f"{self.origin}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._started.wait(30), "the model server did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        failures = list(self._failures)
        if self._used_up:
            failures += [left for script in self._scripts.values() if (left := script.left())]
        if failures:
            raise AssertionError("model server: " + "; ".join(failures)) from error

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        connections: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._connection(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            # The client has left, which clients may.
            pass
        finally:
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False where the connection ends with it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        try:
            place = urlsplit(target)
            request = Request(
                number=len(self.requests) + 1,
                method=method,
                path=place.path,
                query=dict(parse_qsl(place.query)),
                headers=headers,
                body=json.loads(raw) if raw else {},
                at=time.monotonic(),
                in_flight=self._in_flight,
            )
            self.requests.append(request)
            behaviour = self._behaviour(request)
            self.served.append(behaviour.name)
            if self._full:
                await self._together()
            if behaviour.delay:
                await asyncio.sleep(behaviour.delay)
            return await _send(writer, behaviour, behaviour.render(request))
        finally:
            self._in_flight -= 1

    async def _together(self) -> None:
        """Wait until the wave is full, or nobody joins it any more."""
        wave, seen = self._wave, 0
        wave.size += 1
        while not wave.over.is_set():
            if seen == wave.size or wave.size == self._full:
                self.waves.append(wave.size)
                self._wave = _Wave()
                wave.over.set()
            seen = wave.size
            with suppress(TimeoutError):
                await asyncio.wait_for(wave.over.wait(), _QUIET)

    def _behaviour(self, request: Request) -> Behaviour:
        if request.path.endswith("/chat/completions"):
            refused = self._refused(request)
            return unsupported(refused) if refused else self._scripted("chat", request)
        if request.path.endswith("/embeddings"):
            return self._scripted("embeddings", request)
        if request.path.endswith("/rerank"):
            return self._scripted("rerank", request)
        if request.path.endswith("/models"):
            listed = [{"id": name, "object": "model", "owned_by": "tests"} for name in self._models]
            return body(json.dumps({"object": "list", "data": listed}).encode())
        return _failure(404, f"Unknown path {request.path}.")

    def _refused(self, request: Request) -> str:
        sent = {*request.body, request.structure}
        return next((name for name in sorted(self._refuses) if name in sent), "")

    def _scripted(self, endpoint: str, request: Request) -> Behaviour:
        try:
            return self._scripts[endpoint].next(request)
        except Exception as error:
            # Whatever a test's script raises belongs into that test's report.
            self._failures.append(f"request {request.number}: {error!r}")
            return _failure(400, "The script failed; see the test's report.", code="script_failed")

    def _embed(self, request: Request) -> Behaviour:
        size = int(request.body.get("dimensions") or self._dimensions)
        return embedded([_direction(text, size) for text in _inputs(request)])


class _Script:
    """Gives a behaviour a request."""

    def __init__(self, endpoint: str, script: Script) -> None:
        self._endpoint = endpoint
        self._script = script
        self._used = 0

    def next(self, request: Request) -> Behaviour:
        self._used += 1
        if isinstance(self._script, Behaviour):
            return self._script
        if callable(self._script):
            return self._script(request)
        if self._used > len(self._script):
            raise AssertionError(f"the {self._endpoint} script ended after {len(self._script)} requests")
        return self._script[self._used - 1]

    def left(self) -> str:
        """Return what is wrong if part of a sequence was never asked for."""
        if isinstance(self._script, Behaviour) or callable(self._script) or self._used >= len(self._script):
            return ""
        return f"the {self._endpoint} script has {len(self._script)} behaviours, only {self._used} were asked for"


async def _send(writer: asyncio.StreamWriter, behaviour: Behaviour, content: bytes) -> bool:
    chunked = behaviour.ending in {"left_open", "dripping"}
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(content)}"
    lines = [
        f"HTTP/1.1 {behaviour.status} {_phrase(behaviour.status)}",
        f"Content-Type: {behaviour.content_type}",
        length,
        *(f"{name}: {value}" for name, value in behaviour.headers.items()),
    ]
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    half = content[: len(content) // 2]
    if behaviour.ending == "cut_headers":
        writer.write(head[: len(head) // 2])
    elif behaviour.ending == "cut_body":
        writer.write(head + half)
    elif behaviour.ending == "left_open":
        writer.write(head + _chunk(half))
        await writer.drain()
        await asyncio.Event().wait()
    elif behaviour.ending == "dripping":
        writer.write(head)
        for byte in content:
            writer.write(_chunk(bytes([byte])))
            await writer.drain()
            await asyncio.sleep(0.02)
        writer.write(b"0\r\n\r\n")
    else:
        writer.write(head + content)
    await writer.drain()
    if behaviour.ending in {"cut_headers", "cut_body"}:
        writer.close()
        await writer.wait_closed()
        return False
    return True


def _chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Overloaded"


def _inputs(request: Request) -> list[str]:
    given = request.body.get("input", [])
    return [given] if isinstance(given, str) else [str(text) for text in given]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _direction(text: str, size: int) -> list[float]:
    """Return the normed sum of the words' fixed directions: texts that share words are similar."""
    total = [0.0] * size
    for word in _words(text) or [""]:
        dice = random.Random(word)
        total = [value + dice.gauss(0, 1) for value in total]
    length = math.sqrt(sum(value * value for value in total)) or 1.0
    return [value / length for value in total]


def _packed(vector: Sequence[float]) -> str:
    """Return a vector as the openai package asks for it: little-endian floats in base64."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _rank(request: Request) -> Behaviour:
    """Score documents by the share of the query's words that they hold."""
    asked = set(_words(str(request.body.get("query", ""))))
    given = request.body.get("documents", [])
    texts = [str(item["text"]) if isinstance(item, dict) else str(item) for item in given]
    scores = {index: len(asked & set(_words(text))) / max(1, len(asked)) for index, text in enumerate(texts)}
    best = sorted(scores, key=lambda index: (-scores[index], index))[: request.body.get("top_n") or len(scores)]
    return scored({index: scores[index] for index in best})
