"""Ingestion: what waits to be taken in, and what could not be."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

import polars as pl
import streamlit as st

from mindmem.core.ingest.inbox.files import SUFFIXES
from mindmem.core.ledger.port import Quarantined
from mindmem.core.records import Scope
from mindmem.core.serve.render import day
from mindmem.dashboards import actions, widgets
from mindmem.dashboards.markup import element
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_FILES: Final = 500
_BUFFERS: Final = 100
_ADDS: Final = 20
_ASIDE: Final = 50
_RAW: Final = 2_000


def render(store: Store) -> None:
    """Show the inbox, the queue and the quarantine."""
    widgets.title("Ingestion", "From files and queued adds to memories. `mindmem ingest` takes them in now.")
    aside = store.ledger.in_quarantine(store.project_id)
    pending = store.ledger.pending(store.project_id)
    quarantine, queue, inbox = st.tabs([f"Quarantine · {aside:,}", f"Queue · {pending:,}", "Inbox"])
    with quarantine:
        _quarantine(store, aside)
    with queue:
        _queue(store)
    with inbox:
        _inbox(store.settings.home / "inbox")


def _quarantine(store: Store, count: int) -> None:
    items = store.ledger.quarantined(store.project_id, limit=_ASIDE)
    if not items:
        widgets.empty("Nothing is in quarantine", "Inputs that can't be read come here with their reason.")
        return
    writes = actions.writes_hint(store)
    for item in items:
        _aside(store, item, writes=writes)
    if count > len(items):
        st.caption(f"The newest {len(items)} of {count:,} are shown.")


def _aside(store: Store, item: Quarantined, *, writes: bool) -> None:
    with st.container(border=True):
        place = f"{item.origin}, line {item.line:,}" if item.line else item.origin
        about = " · ".join(
            part for part in (place, item.scope.user_id, day(item.quarantined_at, zone=widgets.zone(store))) if part
        )
        widgets.show(
            element("div", element("p", item.reason, class_="mm-said"), element("p", about, class_="mm-about"),
                    class_="mm-card")
        )  # fmt: skip
        with st.expander("What came"):
            st.code(item.raw[:_RAW] + ("…" if len(item.raw) > _RAW else "") or "nothing", language=None,
                    wrap_lines=True)  # fmt: skip
        if writes:
            actions.quarantine_buttons(store, item)


def _queue(store: Store) -> None:
    buffers = store.ledger.buffers(store.project_id)
    if not buffers:
        widgets.empty("No add waits", "Queued adds come here: `Memory.enqueue`.")
        return
    for buffer in buffers[:_BUFFERS]:
        scope = buffer.scope
        who = " · ".join(part for part in (scope.user_id, scope.app_id, scope.agent_id) if part)
        told = f"{widgets.counted(buffer.adds, 'add')}, {widgets.counted(buffer.messages, 'message')}"
        state = "waits" if buffer.free else "is worked on, or waits for its next try"
        widgets.show(
            element("div", element("p", who, class_="mm-said"), element("p", f"{told} · {state}", class_="mm-about"),
                    class_="mm-card")
        )  # fmt: skip
        _tried(store, scope)
    if len(buffers) > _BUFFERS:
        st.caption(f"{len(buffers) - _BUFFERS:,} more users wait.")


def _tried(store: Store, scope: Scope) -> None:
    zone = widgets.zone(store)
    failed = [one for one in store.ledger.waiting(scope, _ADDS).adds if one.last_error]
    for one in failed:
        told = f"tried {widgets.counted(one.attempts, 'time')} · queued {day(one.enqueued_at, zone=zone)}"
        widgets.show(element("blockquote", element("small", told), one.last_error, class_="mm-quote"))


def _inbox(folder: Path) -> None:
    files = [] if not folder.is_dir() else list(islice(_below(folder), _FILES))
    if not files:
        widgets.empty("The inbox is empty", f"Put files of messages ({', '.join(SUFFIXES)}) into {folder}.")
        return
    rows = [(file.relative_to(folder).as_posix(), found.st_size / 1024, datetime.fromtimestamp(found.st_mtime, UTC))
            for file in files for found in [file.stat()]]  # fmt: skip
    st.dataframe(
        pl.DataFrame(rows, schema={"file": pl.String, "size": pl.Float64, "changed": pl.Datetime("us", "UTC")},
                     orient="row"),
        hide_index=True,
        column_config={
            "file": st.column_config.TextColumn("File", width="large"),
            "size": st.column_config.NumberColumn("Size", format="%.1f kB"),
            "changed": st.column_config.DatetimeColumn("Changed", format="YYYY-MM-DD HH:mm"),
        },
    )  # fmt: skip
    st.caption("Files stay where they are; what was taken before adds nothing when it is taken again.")


def _below(folder: Path) -> Iterator[Path]:
    return (file for file in sorted(folder.rglob("*")) if file.suffix.lower() in SUFFIXES and file.is_file())


PAGE = Page("Ingestion", ":material/move_to_inbox:", 50, render)
