"""Cached reads: what pages ask for, kept until the store has moved on.

Open stores are kept by what identifies them; results by the store's state (``At``), which names its last change. What
is not part of the log (queue, quarantine, calls of models) is read anew each time, in small queries.
"""

from collections.abc import Sequence
from datetime import datetime

import polars as pl
import streamlit as st

from mindmem.core.clock import SystemClock
from mindmem.core.ledger.proposals import Dreams
from mindmem.core.records import Change, Memory, Message, Partition
from mindmem.core.records.dream import DiffLine, Proposal
from mindmem.core.reports import corrections as feedback
from mindmem.core.reports import runs
from mindmem.core.settings import Settings
from mindmem.core.spending import Line, spending
from mindmem.dashboards import figures
from mindmem.dashboards.store import At, Store, identity, open_existing

__all__ = [
    "changes", "corrections", "dream_runs", "entities", "growth", "memories", "messages", "now", "proposals",
    "readings", "run_lines", "spent", "store_of", "totals", "users", "versions",
]  # fmt: skip

USERS = 200
"""Most users offered for choosing; others can be typed."""


def store_of(settings: Settings) -> Store | None:
    """Return the open store, None where there is none yet.

    Raises:
        StoreUnavailable: its ledger can't be read.
    """
    found = identity(settings)
    return _open(settings, found) if found else None


@st.cache_resource(show_spinner="Opening the store…", max_entries=4, on_release=Store.close,
                   hash_funcs={Settings: lambda settings: settings.model_dump_json()})  # fmt: skip
def _open(settings: Settings, found: str) -> Store:  # noqa: ARG001 (a store that was put back is another one)
    return open_existing(settings)


def now() -> datetime:
    """Return the present (aware UTC)."""
    return SystemClock().now()


@st.cache_data(show_spinner=False, max_entries=32)
def users(_store: Store, at: At) -> list[tuple[str, int]]:
    """Return the project's users with their number of active memories: the largest ones."""
    found = [(partition.user_id, state.active) for partition, state in _store.ledger.partitions(at.project_id)]
    return sorted((one for one in found if one[0]), key=lambda one: (-one[1], one[0]))[:USERS]


@st.cache_data(show_spinner=False, max_entries=32)
def totals(_store: Store, at: At) -> tuple[int, int]:
    """Return how many users the project has, and how many active memories."""
    found = [state.active for partition, state in _store.ledger.partitions(at.project_id) if partition.user_id]
    return len(found), sum(found)


@st.cache_data(show_spinner="Counting memories over time…", max_entries=16)
def growth(_store: Store, at: At, user_id: str | None) -> pl.DataFrame:  # noqa: ARG001 (the cache's key)
    """Return ``figures.growth``."""
    return figures.growth(_store.reader, _store.owner(user_id))


@st.cache_resource(show_spinner="Finding out who memories are about…", max_entries=4)
def entities(_store: Store, at: At, user_id: str | None) -> pl.DataFrame:  # noqa: ARG001 (the cache's key)
    """Return ``figures.entities``; shared between sessions, as it may be long."""
    return figures.entities(_store.reader, _store.owner(user_id))


@st.cache_data(show_spinner="Reading the timeline…", max_entries=16)
def versions(_store: Store, at: At, user_id: str | None, entity_id: str) -> pl.DataFrame:  # noqa: ARG001 (the cache's key)
    """Return ``figures.versions``."""
    return figures.versions(_store.reader, _store.owner(user_id), entity_id)


@st.cache_data(show_spinner=False, max_entries=16)
def changes(_store: Store, at: At, user_id: str | None, limit: int) -> list[Change]:
    """Return the newest changes."""
    owner = _store.owner(user_id)
    partition = None if isinstance(owner, str) else owner
    return _store.ledger.changes(partition=partition, project_id=at.project_id, newest_first=True, limit=limit)


@st.cache_data(show_spinner=False, max_entries=16)
def memories(_store: Store, at: At, user_id: str | None, ids: Sequence[str]) -> list[Memory]:  # noqa: ARG001 (the cache's key)
    """Return the newest revision of each of these memories, ordered by id."""
    return _store.reader.memories(_store.owner(user_id), ids=ids) if ids else []


@st.cache_data(show_spinner=False, max_entries=64)
def messages(_store: Store, at: At, user_id: str | None, ids: Sequence[str]) -> dict[str, Message]:  # noqa: ARG001 (the cache's key)
    """Return the messages that exist, by id."""
    return _store.reader.messages(_store.owner(user_id), ids)


@st.cache_data(show_spinner="Reading the runs…", max_entries=16)
def dream_runs(_store: Store, at: At, user_id: str | None) -> list[runs.DreamRun]:  # noqa: ARG001 (the cache's key)
    """Return the latest runs of dreams, oldest first."""
    return runs.dream_runs(_store.reader, _store.owner(user_id))


@st.cache_data(show_spinner="Reading what the run did…", max_entries=16)
def run_lines(_store: Store, at: At, user_id: str | None, run_id: str, limit: int) -> tuple[list[DiffLine], int]:  # noqa: ARG001 (the cache's key)
    """Return what a run did, and how many lines that are in all."""
    return runs.run_lines(_store.reader, _store.owner(user_id), run_id, limit)


@st.cache_data(show_spinner="Reading the proposals…", max_entries=16)
def proposals(_store: Store, at: At, user_id: str | None) -> list[Proposal]:
    """Return all proposals of dreams, newest first."""
    owner = None if user_id is None else Partition(at.project_id, user_id)
    return Dreams(_store.ledger, _store.reader, at.project_id).proposals(owner, None)


@st.cache_data(show_spinner="Reading the feedback…", max_entries=16)
def corrections(_store: Store, at: At, user_id: str | None, limit: int) -> list[feedback.Given]:  # noqa: ARG001 (the cache's key)
    """Return the latest feedback that changed something, newest first."""
    return feedback.corrections(_store.reader, _store.owner(user_id), limit)


def readings(store: Store) -> list[feedback.Reading]:
    """Return how far each user's sessions have been read for feedback."""
    return feedback.readings(store.ledger, store.project_id)


def spent(store: Store, days: int | None) -> list[Line]:
    """Return what the project's calls of models came to, newest day first."""
    return spending(store.read_only, SystemClock(), days=days)
