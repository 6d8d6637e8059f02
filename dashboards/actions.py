"""What people may do to memories where the settings let them: archive, correct, undo, retry. Each asks first."""

import streamlit as st

from mindmem.core.records import Change, Memory
from mindmem.dashboards import widgets
from mindmem.dashboards.markup import element
from mindmem.dashboards.store import Store

__all__ = ["memory_buttons", "undo_button", "writes_hint"]

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
    widgets.show(element("p", widgets.change_line(change, widgets.zone(store)), class_="mm-plain"))
    st.write("Everything that it wrote goes back to how it was, by a new change. The history stays.")
    cascade = st.checkbox("Also take back later changes of the same memories")
    if st.button("Take it back", type="primary", key="undo.yes"):
        with widgets.boundary():
            store.memory.undo(change.change_id, cascade=cascade, actor=_ACTOR)
            st.rerun()
