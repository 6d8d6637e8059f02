"""Dialects: what servers that call themselves OpenAI-compatible understand, found out once per address and model.

The first call asks for the most (a strict JSON schema, temperature, seed). A server that refuses is asked again without
what it complains about, until it answers; the form that worked is kept for all later calls. Replies are asked for as

- ``schema``: ``response_format`` json_schema, in the strict form that constrained decoding wants (:func:`strict`);
- ``json``: ``response_format`` json_object, with the schema written below the system message (JSON mode promises an
  object, not which one, and OpenAI's wants the word JSON in the messages);
- ``text``: no ``response_format``; the schema written below the system message.

Known ways to refuse: OpenAI and Azure 400 with ``param``; DeepSeek 400 or 422 "response_format type is unavailable";
LM Studio 400 with a plain string, json_object only; older llama.cpp a 500; vLLM and Mistral a list of validation
errors; OpenRouter a 404 "no endpoints found that support". Some gateways refuse nothing and read over the schema:
a first reply without the schema's fields shows it (:func:`reads_over`).
"""

import json
import logging
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

from mindmem.core.llm.retry import Fault
from mindmem.core.llm.slots import Slots

__all__ = ["Dialect", "Dialects", "reads_over", "strict", "with_schema"]

log = logging.getLogger(__name__)

Structure = Literal["schema", "json", "text"]

# What complaints about each part of a request are made of.
_OF_STRUCTURE: Final = ("response_format", "json_schema", "json schema", "json_object", "structured output", "grammar")
_OF_SYSTEM: Final = ("system role", "role 'system'", "'system' with this model", "system message")
_UNKNOWN: Final = ("unsupported", "not supported", "unknown", "unrecognized", "extra", "not permitted", "unexpected")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one model at one address understands."""

    structure: Structure = "schema"
    tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    seed: bool = True
    system: bool = True
    """Off: the system message is put before the first user message."""

    def body(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        model: str,
        schema_name: str,
        schema: Mapping[str, Any] | None,
        max_output_tokens: int,
        temperature: float,
        seed: int | None,
    ) -> dict[str, Any]:
        """Return the request in this dialect."""
        body: dict[str, Any] = {"model": model, self.tokens: max_output_tokens}
        if self.temperature:
            body["temperature"] = temperature
        if self.seed and seed is not None:
            body["seed"] = seed
        if schema is not None and self.structure == "schema":
            form, exact = strict(schema)
            name = re.sub(r"[^a-zA-Z0-9_-]", "_", schema_name)[:64] or "reply"
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "strict": exact, "schema": form},
            }
        elif schema is not None:
            messages = with_schema(messages, schema)
            if self.structure == "json":
                body["response_format"] = {"type": "json_object"}
        body["messages"] = [dict(message) for message in (messages if self.system else _without_system(messages))]
        return body

    def after(self, fault: Fault, body: Mapping[str, Any], *, fixed: bool) -> "Dialect | None":
        """Return the dialect to try after a refusal of ``body``; None where the complaint is about something else.

        ``fixed`` keeps the structure as it is set.
        """
        said = fault.complaint
        # A 500 is a refusal only in the words of servers that know no better.
        if fault.status is None or fault.status in {401, 402, 403, 429} or fault.status > 501:
            return None
        if fault.status >= 500 and not said.mentions(*_OF_STRUCTURE):
            return None
        if "response_format" in body and not fixed and said.mentions(*_OF_STRUCTURE):
            return replace(self, structure="json" if self.structure == "schema" else "text")
        if self.tokens == "max_tokens" and said.mentions("max_completion_tokens") and said.mentions(*_UNKNOWN):
            return replace(self, tokens="max_completion_tokens")
        if self.tokens != "max_tokens" and said.mentions("max_completion_tokens") and said.mentions(*_UNKNOWN):
            return replace(self, tokens="max_tokens")
        if "temperature" in body and said.mentions("temperature"):
            return replace(self, temperature=False)
        if "seed" in body and said.mentions("seed"):
            return replace(self, seed=False)
        if self.system and said.mentions(*_OF_SYSTEM):
            return replace(self, system=False)
        return None


def with_schema(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Return the messages with the schema written at the end of the system message."""
    form = json.dumps(_bare(schema), ensure_ascii=False, separators=(",", ":"))
    rule = f"Reply with one JSON object and nothing else: no fence, no comment. It follows this JSON schema:\n{form}"
    if messages and messages[0]["role"] == "system":
        return [{**messages[0], "content": f"{messages[0]['content']}\n\n{rule}"}, *messages[1:]]
    return [{"role": "system", "content": rule}, *messages]


def _without_system(messages: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    if len(messages) < 2 or messages[0]["role"] != "system":
        return [{**message, "role": "user"} if message["role"] == "system" else message for message in messages]
    first = f"{messages[0]['content']}\n\n{messages[1]['content']}"
    return [{**messages[1], "content": first}, *messages[2:]]


# --- schemas --------------------------------------------------------------------------------------------------------

# What constrained decoders know; the rest of a schema is checked by the reply model when the answer is there.
_DECODED: Final = frozenset({"type", "enum", "const", "description", "items", "anyOf", "$ref"})


def strict(schema: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a pydantic schema in the strict form, and whether it could be made strict.

    Every object is closed and requires all its fields: a field with a default is simply asked for, and whatever is
    valid for it will do. Bounds, patterns and defaults are left to the reply model. A reference with neighbours is
    written out, since they aren't allowed beside it. Open maps and tuples have no strict form.

    >>> strict({"type": "object", "properties": {"n": {"type": "integer", "default": 0}}})[0]
    {'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n'], 'additionalProperties': False}
    """
    shared = schema.get("$defs", {})
    exact = True

    def form(node: Mapping[str, Any], inside: tuple[str, ...] = ()) -> dict[str, Any]:
        nonlocal exact
        if "allOf" in node and len(node["allOf"]) == 1:
            node = {**node["allOf"][0], **{key: value for key, value in node.items() if key != "allOf"}}
        if "oneOf" in node:
            node = {**node, "anyOf": node["oneOf"]}
        if "$ref" in node:
            name = str(node["$ref"]).rpartition("/")[2]
            if "description" not in node or name in inside:
                return {"$ref": node["$ref"]}
            return {**form(shared[name], (*inside, name)), "description": node["description"]}
        kept: dict[str, Any] = {key: value for key, value in node.items() if key in _DECODED}
        if "items" in kept:
            kept["items"] = form(node["items"], inside)
        if "anyOf" in kept:
            kept["anyOf"] = [form(choice, inside) for choice in node["anyOf"]]
        if node.get("type") == "object":
            properties = node.get("properties", {})
            if not properties and node.get("additionalProperties") is not False:
                exact = False
                return {**kept, "additionalProperties": node.get("additionalProperties", True)}
            kept["properties"] = {name: form(value, inside) for name, value in properties.items()}
            kept["required"] = list(properties)
            kept["additionalProperties"] = False
        elif node.get("type") == "array" and "items" not in kept:
            exact = False
        return kept

    made = form(schema)
    if shared:
        made["$defs"] = {name: form(node, (name,)) for name, node in shared.items()}
    return made, exact


def _bare(node: Any) -> Any:
    """Drop the titles that pydantic adds to a schema: tokens that tell a model nothing."""
    if isinstance(node, list):
        return [_bare(item) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {
        key: {name: _bare(value) for name, value in inner.items()} if key in {"properties", "$defs"} else _bare(inner)
        for key, inner in node.items()
        if key != "title"
    }


# --- replies --------------------------------------------------------------------------------------------------------


def reads_over(text: str, schema: Mapping[str, Any]) -> bool:
    """Say whether a finished reply shows that its schema was not followed: no object, or one without required fields.

    An object that can't be read decides nothing.
    """
    start = text.find("{")
    if start < 0:
        return bool(text.strip())
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return False
    return not set(schema.get("required", ())) <= set(found)


# --- memory ---------------------------------------------------------------------------------------------------------


class Dialects:
    """The dialects found out so far, by address and model; in ``folder`` (where given) other processes find them, too.

    A file there can be deleted at any time, as after an update of the server: the next call finds out anew.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._path = folder / "dialects.json" if folder else None
        self._known: dict[tuple[str, str], Dialect] = {}
        self._gates: dict[tuple[str, str], Slots] = {}
        self._lock = Lock()

    def known(self, base_url: str, model: str) -> Dialect | None:
        """Return what was found out."""
        with self._lock:
            if (base_url, model) not in self._known:
                self._known.update({key: found for key, found in self._stored().items() if key not in self._known})
            return self._known.get((base_url, model))

    def gate(self, base_url: str, model: str) -> Slots:
        """Return the gate that lets one caller at a time find out."""
        with self._lock:
            return self._gates.setdefault((base_url, model), Slots(1))

    def keep(self, base_url: str, model: str, dialect: Dialect, *, lasting: bool = True) -> None:
        """Remember what worked; ``lasting`` writes it to the folder, too."""
        with self._lock:
            self._known[base_url, model] = dialect
            if self._path is None or not lasting:
                return
            stored = {**self._stored(), (base_url, model): dialect}
            rows = [{"base_url": url, "model": name, **asdict(found)} for (url, name), found in sorted(stored.items())]
            try:
                _write(self._path, json.dumps(rows, indent=1))
            except OSError as error:
                # The calls go on; other processes find out for themselves.
                log.warning("What %s understands can't be kept in %s: %s.", model, self._path, error.strerror)

    def _stored(self) -> dict[tuple[str, str], Dialect]:
        if self._path is None:
            return {}
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return {(row.pop("base_url"), row.pop("model")): Dialect(**row) for row in rows}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            # Missing, or written by another version: it is found out again.
            return {}


def _write(path: Path, text: str) -> None:
    """Replace a file as a whole, so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        whole = Path(folder) / path.name
        whole.write_text(text, "utf-8")
        whole.replace(path)
