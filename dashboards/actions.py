"""What people may do where the settings let them: archive, correct, undo, retry. Each asks first."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from mindmem.core.errors import Conflict
from mindmem.core.ingest.retry import can_retry, retry
from mindmem.core.ledger.port import Quarantined
from mindmem.core.records import Change, Memory
from mindmem.core.records.dream import Proposal
from mindmem.core.reports.dream import headline
from mindmem.dashboards import widgets
from mindmem.dashboards.store import Store

__all__ = [
    "memory_buttons", "proposal_buttons", "quarantine_buttons", "undo_button", "undo_run_button", "writes_hint",
]  # fmt: skip

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
    with st.popover("Correct", icon=":material/edit:"), st.form("correct", border=False):
        content = st.text_area("What it should say", memory.content, max_chars=4_000)
        st.write("The words as they were stay in the history, and the change can be taken back.")
        if st.form_submit_button("Save", type="primary"):
            with _done("Corrected."):
                store.memory.update(memory.memory_id, content=content.strip(), actor=_ACTOR)
    if memory.status == "active":
        with st.popover("Archive", icon=":material/archive:"):
            st.write("It leaves search and lists at once. Its history stays, and the change can be taken back.")
            if st.button("Archive this memory", type="primary"):
                with _done("Archived."):
                    store.memory.delete(memory.memory_id, actor=_ACTOR)


def undo_button(store: Store, change: Change, *, key: str = "") -> None:
    """Show the button that takes a change back; ``key`` tells several of a page apart."""
    if not store.settings.dashboard.writes:
        return
    with st.popover("Take this change back", icon=":material/undo:"):
        st.write("Everything that it wrote goes back to how it was, by a new change. The history stays.")
        cascade = st.checkbox("Also take back later changes of the same memories", key=f"cascade {key}")
        if st.button("Take it back", type="primary", key=f"undo {key}"):
            with _done("Taken back."):
                store.memory.undo(change.change_id, cascade=cascade, actor=_ACTOR)


def proposal_buttons(store: Store, proposal: Proposal) -> None:
    """Show the buttons that carry a dream's proposal out, or turn it down."""
    name = proposal.proposal_id
    with st.container(horizontal=True, gap="small"):
        with st.popover("Approve", icon=":material/check:"):
            st.write("It is decided again on today's memories, and nothing is done that is not shown here.")
            if st.button("Carry it out", type="primary", key=f"approve {name}"):
                with _done() as said, st.spinner("Consolidating…"):
                    report = store.memory.approve(name, actor=_ACTOR)
                    if report.failed:
                        # A user's id is no mark-up, but it may look like one: only the cause is told.
                        raise Conflict("; ".join(one.cause or "some clusters stay pending" for one in report.scopes))
                    said.append(headline(report))
        with st.popover("Reject", icon=":material/close:"):
            st.write("Nothing of it is done, and no later run proposes it again.")
            if st.button("Turn it down", type="primary", key=f"reject {name}"):
                with _done("Rejected."):
                    store.memory.reject(name, actor=_ACTOR)


def undo_run_button(store: Store, run_id: str) -> None:
    """Show the button that takes a whole dream back."""
    if not writes_hint(store):
        return
    with st.popover("Take this run back", icon=":material/undo:"):
        st.write("All that it did in every user's memories goes back to how it was, and no later run does it again.")
        cascade = st.checkbox("Also take back later changes of the same memories", key=f"cascade {run_id}")
        if st.button("Take the run back", type="primary", key=f"undo {run_id}"):
            with _done("Taken back."):
                store.memory.undo_run(run_id, cascade=cascade, actor=_ACTOR)


def quarantine_buttons(store: Store, item: Quarantined) -> None:
    """Show what can be done about an input in quarantine."""
    with st.container(horizontal=True, gap="small"):
        if can_retry(item):
            with st.popover("Try again", icon=":material/replay:"):
                st.write("It goes back into the queue; the next ingest carries it out.")
                if st.button("Queue it", type="primary", key=f"retry {item.quarantine_id}"):
                    with _done("Queued."):
                        retry(store.memory.services, item.quarantine_id)
        else:
            st.caption("Correct the source, then ingest it again.")
        with st.popover("Dismiss", icon=":material/close:"):
            st.write("It leaves this list and is not taken in. What came stays in the ledger.")
            if st.button("Dismiss it", type="primary", key=f"drop {item.quarantine_id}"):
                with _done("Dismissed."):
                    store.memory.services.ledger.resolve_quarantined(item.quarantine_id, "dropped")


@contextmanager
def _done(said: str = "") -> Iterator[list[str]]:
    """Show the page anew after what was done, or why it could not be. What is said may also be given in its course."""
    with widgets.boundary("That could not be done"):
        told = [said] if said else []
        yield told
        st.toast(" ".join(told), icon=":material/check:")
        st.rerun()
