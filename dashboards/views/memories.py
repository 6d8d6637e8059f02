"""Memories: a table to page through, and one memory's page with everything that it rests on."""

from datetime import UTC, datetime, time
from typing import Final

import polars as pl
import streamlit as st

from mindmem.core.records import Memory
from mindmem.core.records import Page as Found
from mindmem.core.records.memory import MEM_TYPES
from mindmem.dashboards import widgets
from mindmem.dashboards.memory_page import memory_page
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_PAGE: Final = 25
_TRAIL: Final = "memories.trail"
"""Where the cursors of the pages before are kept, with the filters that they belong to."""
_STATES: Final = {"active": ["active"], "archived": ["archived"], "all": ["active", "archived"]}


def render(store: Store) -> None:
    """Show one memory where the address names one, else the table."""
    memory_id = st.query_params.get("memory", "")
    if memory_id:
        memory_page(store, memory_id)
        return
    widgets.title("Memories", "Newest first. Tick a row to open it.")
    if not store.ledger.last_seq():
        widgets.empty("Nothing is remembered yet", "Add a first memory with `mindmem add`.")
        return
    filters = _filters()
    user = widgets.user()
    cursors = _cursors(user, filters)
    found = store.memory.scroll(user_id=user, filters=filters, limit=_PAGE, cursor=cursors[-1])
    if not found.memories:
        widgets.empty("No memory fits", "Take a filter away, or choose another user at the side.")
    else:
        _table(store, found)
    _paging(cursors, found)


def _filters() -> dict[str, object]:
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        words = st.text_input("Contains", key="memories.words", placeholder="words of the memory", width=180)
        state = st.selectbox("State", list(_STATES), format_func=str.capitalize, width=140)
        kind = st.selectbox("Type", [None, *MEM_TYPES], format_func=widgets.kind, width=165)
        prop = st.text_input("Property", placeholder="such as lives_in", width=140)
        since = st.date_input("Recorded since", value=None, width=140)
    found: dict[str, object] = {"status": {"in": _STATES[state]}}
    if words.strip():
        found["content"] = {"icontains": words.strip()}
    if kind:
        found["mem_type"] = kind
    if prop.strip():
        found["property_name"] = prop.strip()
    if since:
        found["created_at"] = {"gte": datetime.combine(since, time(), UTC)}
    return found


def _cursors(user: str | None, filters: dict[str, object]) -> list[str | None]:
    """Return the cursors up to the page shown; other filters begin at the first page."""
    key = f"{user!r} {filters!r}"
    known = st.session_state.get(_TRAIL)
    if known is None or known[0] != key:
        first: list[str | None] = [None]
        known = st.session_state[_TRAIL] = (key, first)
    trail: list[str | None] = known[1]
    return trail


def _table(store: Store, found: Found) -> None:
    zone = store.settings.timezone
    rows = pl.DataFrame(
        [_row(memory) for memory in found.memories], schema={
            "memory": pl.String, "about": pl.String, "property": pl.String, "true since": pl.Datetime("us", "UTC"),
            "type": pl.String, "state": pl.String, "user": pl.String, "recorded": pl.Datetime("us", "UTC"),
        }, orient="row",
    )  # fmt: skip
    chosen = st.dataframe(
        rows, hide_index=True, on_select="rerun", selection_mode="single-row", row_height=40, height="content",
        key=_table_key(found),
        column_config={
            "memory": st.column_config.TextColumn("Memory", width="large"),
            "true since": st.column_config.DatetimeColumn("True since", format="YYYY-MM-DD", timezone=zone),
            "recorded": st.column_config.DatetimeColumn("Recorded", format="YYYY-MM-DD HH:mm", timezone=zone),
            **{name: st.column_config.TextColumn(name.capitalize())
               for name in ("about", "property", "type", "state", "user")},
        },
    )  # fmt: skip
    picked = chosen["selection"]["rows"]
    if picked:
        st.query_params["memory"] = found.memories[picked[0]].memory_id
        st.rerun()


def _table_key(found: Found) -> str:
    # A selection is kept by key: the same key on the next page would open a memory that nobody chose.
    return f"memories.table {found.memories[0].memory_id} {st.session_state.get('memories.back', 0)}"


def _row(memory: Memory) -> tuple[object, ...]:
    return (
        memory.content, memory.entity_name or memory.speaker, memory.property_name.replace("_", " "),
        memory.event_time, memory.mem_type.replace("_", " "), memory.status, memory.scope.user_id, memory.recorded_at,
    )  # fmt: skip


def _paging(cursors: list[str | None], found: Found) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if st.button("Newer", icon=":material/chevron_left:", disabled=len(cursors) == 1):
            cursors.pop()
            st.rerun()
        if st.button("Older", icon=":material/chevron_right:", disabled=found.next_cursor is None):
            cursors.append(found.next_cursor)
            st.rerun()
        st.caption(f"Page {len(cursors)}, {widgets.counted(len(found.memories), 'memory', 'memories')}")


PAGE = Page("Memories", ":material/library_books:", 40, render)
