"""What people may do where the settings let them: archive, correct, undo, retry. Each asks first."""

import streamlit as st

from mindmem.core.ingest.retry import can_retry, retry
from mindmem.core.ledger.port import Quarantined
from mindmem.core.records import Change, Memory
from mindmem.dashboards import widgets
from mindmem.dashboards.store import Store

__all__ = ["memory_buttons", "quarantine_buttons", "undo_button", "writes_hint"]

_ACTOR = "dashboard"


def writes_hint(store: Store) -> bool:
    """Return whether people may write; tells how to allow it where they may not."""
    if not store.settings.dashboard.writes:
        st.caption(":material/visibility: Read only. `MINDMEM_DASHBOARD__WRITES=true` lets people change things here.")
    return store.settings.dashboard.writes


def memory_buttons(store: Store, memory: Memory) -> None:
    """Show what can be done to a memory."""
    if not writes_hint(store):
        return
    if st.button("Correct", icon=":material/edit:"):
        _correct(store, memory)
    if memory.status == "active" and st.button("Archive", icon=":material/archive:"):
        _archive(store, memory)


def undo_button(store: Store, change: Change) -> None:
    """Show the button that takes a change back."""
    if store.settings.dashboard.writes and st.button("Take this change back", icon=":material/undo:"):
        _undo(store, change)


@st.dialog("Archive this memory?")
def _archive(store: Store, memory: Memory) -> None:
    widgets.show(widgets.memory_card(memory, widgets.zone(store)))
    st.write("It leaves search and lists at once. Its history stays, and the change can be taken back.")
    if st.button("Archive", type="primary", key="archive.yes"):
        with widgets.boundary():
            store.memory.delete(memory.memory_id, actor=_ACTOR)
            st.rerun()


@st.dialog("Correct this memory")
def _correct(store: Store, memory: Memory) -> None:
    content = st.text_area("What it should say", memory.content, max_chars=4_000)
    st.write("The words as they were stay in the history, and the change can be taken back.")
    if st.button("Save", type="primary", key="correct.yes", disabled=content.strip() in ("", memory.content)):
        with widgets.boundary():
            store.memory.update(memory.memory_id, content=content.strip(), actor=_ACTOR)
            st.rerun()


@st.dialog("Take this change back?")
def _undo(store: Store, change: Change) -> None:
    detail = widgets.change_detail(change, widgets.zone(store))
    widgets.show(widgets.steps([(widgets.change_line(change), detail, True)]))
    st.write("Everything that it wrote goes back to how it was, by a new change. The history stays.")
    cascade = st.checkbox("Also take back later changes of the same memories")
    if st.button("Take it back", type="primary", key="undo.yes"):
        with widgets.boundary():
            store.memory.undo(change.change_id, cascade=cascade, actor=_ACTOR)
            st.rerun()


def quarantine_buttons(store: Store, item: Quarantined) -> None:
    """Show what can be done about an input in quarantine."""
    with st.container(horizontal=True, gap="small"):
        if can_retry(item):
            if st.button("Try again", icon=":material/replay:", key=f"retry {item.quarantine_id}"):
                _retry(store, item)
        else:
            st.caption("Correct the source, then ingest it again.")
        if st.button("Dismiss", icon=":material/close:", key=f"drop {item.quarantine_id}"):
            _drop(store, item)


@st.dialog("Try this add again?")
def _retry(store: Store, item: Quarantined) -> None:
    st.write("It goes back into the queue; the next ingest carries it out.")
    if st.button("Queue it", type="primary", key="retry.yes"):
        with widgets.boundary():
            retry(store.memory.services, item.quarantine_id)
            st.rerun()


@st.dialog("Dismiss this input?")
def _drop(store: Store, item: Quarantined) -> None:
    st.write("It leaves this list and is not taken in. What came stays in the ledger.")
    if st.button("Dismiss", type="primary", key="drop.yes"):
        with widgets.boundary():
            store.memory.services.ledger.resolve_quarantined(item.quarantine_id, "dropped")
            st.rerun()
