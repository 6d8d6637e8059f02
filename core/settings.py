"""Settings: one frozen class, filled from arguments and ``MINDMEM_*`` variables; the only reader of the environment."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from mindmem.core.errors import InvalidInput

__all__ = ["IngestSettings", "SearchSettings", "Settings", "StoreSettings", "bench_data", "default_environment"]

PREFIX = "MINDMEM_"


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
    confidence_add: float = Field(default=0.75, ge=0, le=1)
    confidence_update: float = Field(default=0.7, ge=0, le=1)
    confidence_merge: float = Field(default=0.8, ge=0, le=1)
    resolve_updates: bool = True
    """Let an add supersede what it contradicts; off leaves that to dreaming."""
    resolve_merges: bool = True
    concurrency: int = Field(default=4, ge=1)


class SearchSettings(_Part):
    """Fusion weights, floor and limits of search."""

    top_k: int = Field(default=10, ge=1, le=100)
    candidates: int = Field(default=200, ge=10)
    floor: float = Field(default=0.0, ge=0, le=1)
    """Extra floor on the score, above the built-in relevance test."""


class Settings(_Part):
    """Everything that can be set. Nested names use two underscores: ``MINDMEM_STORE__LEDGER_URL``."""

    home: Path = Field(default_factory=lambda: Path("~/.mindmem").expanduser())
    project_id: str = "default"
    timezone: str = "UTC"
    """IANA zone of the project, for messages that bring none."""
    embedder: Literal["bundled", "none"] = "bundled"
    threads: int = Field(default_factory=lambda: min(2, os.cpu_count() or 1), ge=1)
    """Threads of one embedding session; more than two help little with short texts."""
    store: StoreSettings = StoreSettings()
    ingest: IngestSettings = IngestSettings()
    search: SearchSettings = SearchSettings()

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
        for name, text in (os.environ if environ is None else environ).items():
            if not name.startswith(PREFIX) or name in _NOT_SETTINGS:
                continue
            path = name[len(PREFIX) :].lower().split("__")
            place = values
            for step in path[:-1]:
                inner = place.setdefault(step, {})
                if not isinstance(inner, dict):
                    raise InvalidInput(f"{name} is nested below a plain value.", field=name)
                place = inner
            place[path[-1]] = text
        values.update({name: value for name, value in given.items() if value is not None})
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            place_name = "__".join(str(part) for part in first["loc"])
            raise InvalidInput(
                f"Setting {place_name!r} (variable {PREFIX}{place_name.upper()}): {first['msg']}.", field=place_name
            ) from error


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
