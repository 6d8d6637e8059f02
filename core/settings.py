"""Settings: one frozen class, filled from arguments and ``MINDMEM_*`` variables; the only reader of the environment."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from mindmem.core.errors import InvalidInput

__all__ = [
    "DashboardSettings",
    "DreamSettings",
    "EmbedSettings",
    "Family",
    "IngestSettings",
    "LlmSettings",
    "Price",
    "RerankSettings",
    "SearchSettings",
    "Settings",
    "StoreSettings",
    "bench_data",
    "child_environment",
    "default_environment",
]

PREFIX = "MINDMEM_"
ModelPurpose = Literal["extract", "judge", "answer", "evolve"]
Family = Literal["rules", "llm"]
"""Who judges."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreSettings(_Part):
    """Where things live and how the ledger, tables and index behave."""

    ledger_url: str = ""
    """SQLAlchemy URL of the ledger; empty means SQLite in the home folder."""
    tables_uri: str = ""
    """Folder or object-store URI of the Delta tables; empty means ``tables`` in the home folder."""
    lock_timeout: float = Field(default=60.0, gt=0)
    """Seconds to wait for another writer before StoreBusy."""
    lease_seconds: float = Field(default=120.0, gt=0)
    keep_days: int = Field(default=7, ge=0)
    """Days of ledger tail and table versions kept for readers that lag."""
    cache_bytes: int = Field(default=1_500_000_000, ge=1_000_000)
    """Bound of the index's per-partition arrays, in bytes."""
    fold_on_close: bool = True
    storage_options: dict[str, str] = Field(default_factory=dict)
    """Passed to the object store of ``tables_uri`` (keys, region, endpoint); empty for a local folder."""


class IngestSettings(_Part):
    """MindVanilla's knobs (design, 7.1)."""

    turn_gap_seconds: float = Field(default=1800.0, gt=0)
    soft_tokens: int = Field(default=26_000, ge=16)
    hard_tokens: int = Field(default=32_000, ge=16)
    max_message_chars: int = Field(default=10_000_000, ge=1)
    """Longer messages are refused (one add) or quarantined (a file)."""
    recall_top: int = Field(default=5, ge=1)
    mode: Literal["vanilla", "schema"] = "vanilla"
    """vanilla keeps single claims; schema also binds them to entities and properties of the project's schema."""
    episode_turns: int = Field(default=15, ge=2)
    """Longest episode, in turns; queued adds of schema mode are worked off at the latest when they hold as many."""
    episode_messages: int = Field(default=1_000, ge=1)
    """Messages at which queued adds of schema mode are worked off, whatever they are about."""
    episode_minutes: float = Field(default=30.0, gt=0)
    """Minutes after the last queued message at which an episode is over."""
    schema_name: str = "general"
    """Preset that is active until the project activates a schema of its own."""
    episode_memories: bool = True
    """Schema mode keeps a memory for each episode, which says who spoke of what."""
    catch_all: bool = True
    """Schema mode keeps what fits no property under the schema's catch-all one; off leaves it the extractor's name."""
    confidence_add: float = Field(default=0.75, ge=0, le=1)
    confidence_update: float = Field(default=0.7, ge=0, le=1)
    confidence_merge: float = Field(default=0.8, ge=0, le=1)
    resolve_updates: bool = True
    """Let an add supersede what it contradicts; off leaves that to dreaming."""
    resolve_merges: bool = True
    overlap: int = Field(default=16, ge=1)
    """Adds of an inbox or queue that are extracted at a time, on one state of the store, where a model is asked."""


class SearchSettings(_Part):
    """Fusion weights, floor and limits of search."""

    top_k: int = Field(default=10, ge=1, le=100)
    strategy: Literal["fast", "balanced", "deep", "agentic"] = "fast"
    """What a search does that names no strategy: one of the recipes, or rounds of planning and judging."""
    rounds: int = Field(default=3, ge=1, le=10)
    """Rounds of an agentic search at most."""
    candidates: int = Field(default=200, ge=10)
    floor: float = Field(default=0.0, ge=0, le=1)
    """Extra floor on the score, above the built-in relevance test."""


class DreamSettings(_Part):
    """Dreaming: how far it looks back, and the guards that keep it from doing harm."""

    look_back_days: float = Field(default=7.0, gt=0)
    """Adds that are older than that and were never consolidated are left alone."""
    min_age_hours: float = Field(default=24.0, ge=0)
    """Memories that are younger are never archived; their adds stay pending."""
    cap: float = Field(default=0.3, ge=0, le=1)
    """Share of a user's active memories that a run may archive without approval."""
    cap_from: int = Field(default=20, ge=0)
    """Active memories from which on the cap counts: of a few, most may be repetitions."""
    window: int = Field(default=40, ge=2)
    """Memories that are judged at a time."""
    probes: int = Field(default=40, ge=0)
    """Questions asked before and after a run, to tell whether recall suffered."""


class Price(_Part):
    """What a million tokens cost, in one currency for all models."""

    input: float = Field(ge=0)
    output: float = Field(default=0.0, ge=0)


class LlmSettings(_Part):
    """The endpoint that a language model is asked at, how, and what it may cost."""

    base_url: str = ""
    """Any OpenAI-compatible address, such as ``http://localhost:11434/v1``; empty: OPENAI_BASE_URL, else OpenAI's."""
    api_key: SecretStr = SecretStr("")
    """Empty: OPENAI_API_KEY, else none is sent (local servers want none)."""
    api: Literal["openai", "azure"] = "openai"
    api_version: str = ""
    """Azure only."""
    organization: str = ""
    project: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with each call; gateways want some."""
    model: str = "gpt-4.1-mini"
    """Model of every purpose that ``models`` doesn't name."""
    models: dict[ModelPurpose, str] = Field(default_factory=dict)
    structure: Literal["auto", "schema", "json", "text"] = "auto"
    """How a reply's form is asked for; auto tries them in this order once per endpoint and model."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds until one try is given up."""
    retries: int = Field(default=4, ge=0)
    concurrency: int = Field(default=8, ge=1)
    max_output_tokens: int = Field(default=8192, ge=64)
    fallback: Literal["none", "rules"] = "none"
    """What judges when a reply stays unreadable: nobody (it goes to quarantine), or the rules, marked as such."""
    cache_bytes: int = Field(default=500_000_000, ge=0)
    """Bound of the replies kept on disk; 0 keeps none."""
    prices: dict[str, Price] = Field(default_factory=dict)
    """By model, per million tokens; as JSON in a variable: ``{"gpt-4.1-mini": {"input": 0.4, "output": 1.6}}``."""
    run_tokens: int | None = Field(default=None, ge=0)
    day_tokens: int | None = Field(default=None, ge=0)
    run_cost: float | None = Field(default=None, ge=0)
    day_cost: float | None = Field(default=None, ge=0)
    """Limits of one run and of one day in the project's zone; None: no limit."""

    def model_for(self, purpose: str) -> str:
        """Return the model of a purpose."""
        return next((model for name, model in self.models.items() if name == purpose), self.model)


class EmbedSettings(_Part):
    """The endpoint that embeddings come from, where ``embedder`` is openai; what is empty is taken from ``llm``."""

    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    model: str = "text-embedding-3-small"
    dimensions: int | None = Field(default=None, ge=8)
    """Asked of models that can shorten their vectors; None: as they come."""
    batch: int = Field(default=128, ge=1, le=2048)
    max_tokens: int = Field(default=8191, ge=16)
    """Longest text that the model reads; more is cut."""
    batch_tokens: int = Field(default=200_000, ge=16)
    query_prefix: str = ""
    document_prefix: str = ""
    """Words that some models want before a text."""


class RerankSettings(_Part):
    """An endpoint of the Jina, Cohere or vLLM form that orders hits anew; empty: none."""

    url: str = ""
    """The complete address, such as ``https://api.jina.ai/v1/rerank``."""
    api_key: SecretStr = SecretStr("")
    model: str = ""
    top: int = Field(default=50, ge=1, le=1000)
    timeout: float = Field(default=20.0, gt=0)


class DashboardSettings(_Part):
    """The dashboard: who may open it, and what it lets them do."""

    password: SecretStr = SecretStr("")
    """Asked for before anything is shown; empty: none is, and the dashboard listens on this machine only."""
    writes: bool = False
    """Let people archive, correct, undo and retry; off: everything is read only."""
    prefect_url: str = "http://127.0.0.1:4200"
    """Where the Prefect UI answers, for links to runs; empty: no links."""
    url: str = ""
    """Where the dashboard answers, for links in reports of runs; empty: no links."""


class Settings(_Part):
    """Everything that can be set. Nested names use two underscores: ``MINDMEM_STORE__LEDGER_URL``."""

    home: Path = Field(default_factory=lambda: Path("~/.mindmem").expanduser())
    project_id: str = "default"
    timezone: str = "UTC"
    """IANA zone of the project, for messages that bring none."""
    reasoner: Family = "rules"
    """Who judges: rules without a key, or a language model (see ``llm``)."""
    embedder: Literal["bundled", "openai", "none"] = "bundled"
    threads: int = Field(default_factory=lambda: min(2, os.cpu_count() or 1), ge=1)
    """Threads of one embedding session; more than two help little with short texts."""
    store: StoreSettings = StoreSettings()
    ingest: IngestSettings = IngestSettings()
    search: SearchSettings = SearchSettings()
    dream: DreamSettings = DreamSettings()
    llm: LlmSettings = LlmSettings()
    embed: EmbedSettings = EmbedSettings()
    rerank: RerankSettings = RerankSettings()
    dashboard: DashboardSettings = DashboardSettings()

    @field_validator("home")
    @classmethod
    def _absolute(cls, home: Path) -> Path:
        return home.expanduser().absolute()

    @field_validator("home", mode="before")
    @classmethod
    def _named(cls, home: object) -> object:
        if home == "":
            raise ValueError("the folder's name is empty; leave it out for ~/.mindmem")
        return home

    @field_validator("project_id")
    @classmethod
    def _some_project(cls, project_id: str) -> str:
        if not project_id.strip():
            raise ValueError("the project's id is empty; leave it out for 'default'")
        return project_id

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError) as error:
            raise ValueError(f"{name!r} is not an IANA time zone such as 'Europe/Berlin'") from error
        return name

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, **given: object) -> Self:
        """Return settings from ``MINDMEM_*`` variables, overridden by the arguments that are not None.

        Raises:
            InvalidInput: a value is of the wrong form or a variable is unknown; the message names it.
        """
        values: dict[str, object] = {}
        environ = os.environ if environ is None else environ
        for name, text in environ.items():
            if not name.startswith(PREFIX) or name in _NOT_SETTINGS:
                continue
            path = name[len(PREFIX) :].lower().split("__")
            place = values
            for step in path[:-1]:
                inner = place.setdefault(step, {})
                if not isinstance(inner, dict):
                    raise InvalidInput(f"{name} is nested below a plain value.", field=name)
                place = inner
            place[path[-1]] = _read(name, text)
        values.update({name: value for name, value in given.items() if value is not None})
        try:
            return cls.model_validate(_with_openai_names(values, environ))
        except ValidationError as error:
            first = error.errors()[0]
            place_name = "__".join(str(part) for part in first["loc"])
            raise InvalidInput(
                f"Setting {place_name!r} (variable {PREFIX}{place_name.upper()}): {first['msg']}.", field=place_name
            ) from error


def _read(name: str, text: str) -> object:
    """Return a variable's value; a table is given as JSON."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"{name} is not valid JSON: {error}.", field=name) from error


def _with_openai_names(values: dict[str, object], environ: Mapping[str, str]) -> dict[str, object]:
    """Fill in what the variables of the openai package say of the endpoint and nothing else names."""
    given = values.get("llm", {})
    if not isinstance(given, dict):
        return values
    known = {"api_key": "OPENAI_API_KEY", "base_url": "OPENAI_BASE_URL", "organization": "OPENAI_ORG_ID"}
    found = {field: environ[name] for field, name in known.items() if environ.get(name)}
    return {**values, "llm": {**found, **given}} if found else values


_NOT_SETTINGS = frozenset({"MINDMEM_BENCH_DATA", "MINDMEM_TEST_POSTGRES", "MINDMEM_TEST_DATA"})


def bench_data(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder of public benchmark data named by ``MINDMEM_BENCH_DATA``, or None."""
    folder = (os.environ if environ is None else environ).get("MINDMEM_BENCH_DATA")
    return Path(folder) if folder else None


def default_environment(values: Mapping[str, str]) -> dict[str, str]:
    """Set variables that nobody has set, for a library that is configured by the environment alone (Prefect).

    Returns the values that these variables have now.
    """
    return {name: os.environ.setdefault(name, value) for name, value in values.items()}


def child_environment(values: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with these values, for a child that serves and asks this machine alone: a proxy
    is not asked for loopback, and what it prints comes at once."""
    given = {**os.environ, "PYTHONUNBUFFERED": "1", **values}
    for name in ("NO_PROXY", "no_proxy"):
        given[name] = ",".join(filter(None, (given.get(name, ""), "127.0.0.1", "localhost")))
    return given
