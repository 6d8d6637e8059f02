"""Overview: how much is remembered, how it came to be, and whether everything keeps up."""

from typing import Final

import streamlit as st

from mindmem.core.records import Change, Partition
from mindmem.core.spending import total
from mindmem.dashboards import charts, readers, widgets
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_RUNS: Final = 200
"""Newest changes in which runs are looked for."""
_SHOWN: Final = 8


def render(store: Store) -> None:
    """Show the numbers, their course, the state of the store, and what happened last."""
    widgets.title("Overview", f"Project {store.project_id}")
    at, user = store.at(), widgets.user()
    if not at.seq:
        widgets.empty(
            "Nothing is remembered yet",
            "Add a first memory with `mindmem add`, or put a file of messages into the inbox and run `mindmem ingest`.",
        )
        return
    frame = readers.growth(store, at, user)
    _numbers(store, user)
    if frame.is_empty():
        widgets.empty("This user has no memories", "Choose another one, or all users, at the side.")
        return
    left, right = st.columns(2, gap="large")
    left.altair_chart(charts.growth(frame))
    right.altair_chart(charts.activity(frame))
    changes = readers.changes(store, at, user, _RUNS)
    left, right = st.columns(2, gap="large")
    with left:
        _health(store)
        _dreams(store, user)
    with right:
        _latest(store, changes)


def _numbers(store: Store, user: str | None) -> None:
    at, ledger = store.at(), store.ledger
    users, active = readers.totals(store, at)
    if user is not None:
        active = ledger.scope_state(Partition(store.project_id, user)).active
    about = readers.entities(store, at, user).height
    pending, aside = ledger.pending(store.project_id), ledger.in_quarantine(store.project_id)
    cost = total(readers.spent(store, 30))
    widgets.show(
        widgets.numbers([
            ("Active memories", f"{active:,}", "what search finds"),
            ("Entities", f"{about:,}", "whom they are about"),
            ("Users", f"{users:,}", "in this project"),
            ("Waiting adds", f"{pending:,}", "for the next ingest"),
            ("Quarantine", f"{aside:,}", "could not be read"),
            ("Models, 30 days", f"{cost.cost:,.2f}", widgets.counted(cost.calls, "call")),
        ])
    )  # fmt: skip


def _health(store: Store) -> None:
    st.subheader("Health", anchor=False)
    with widgets.boundary():
        state = store.memory.status()
        folded, indexed = state.last_seq - state.folded_seq, state.last_seq - state.indexed_seq
        widgets.show(
            widgets.facts({
                "Newest change": f"number {state.last_seq:,}",
                "Search index": f"{widgets.counted(indexed, 'change')} behind; the next search catches up"
                if indexed else "holds every change",
                "Parquet tables": f"{widgets.counted(folded, 'change')} behind; the next run folds them in, and they "
                "can be read here already" if folded else "hold every change",
                "Embedder": state.embedder,
                "Notes": "\n".join(state.notes),
            })
        )  # fmt: skip
    st.caption("`mindmem doctor` compares ledger, tables and index in full.")


def _dreams(store: Store, user: str | None) -> None:
    st.subheader("Dreams", anchor=False)
    runs = readers.dream_runs(store, store.at(), user)
    if not runs:
        widgets.empty("Nothing was dreamt yet", "Consolidate now with `mindmem dream`, or wait for the night.")
        return
    st.altair_chart(charts.shares(runs))
    widgets.link("dreaming", "All runs, and what waits for a word", ":material/bedtime:")


def _latest(store: Store, changes: list[Change]) -> None:
    st.subheader("Latest changes", anchor=False)
    zone = widgets.zone(store)
    widgets.show(
        widgets.steps([(widgets.change_line(one), widgets.change_detail(one, zone), False) for one in changes[:_SHOWN]])
    )
    runs = list(dict.fromkeys(one.run_id for one in changes if one.run_id))
    url = store.settings.dashboard.prefect_url.rstrip("/")
    if url:
        with st.container(horizontal=True, gap="small"):
            st.link_button("Prefect UI", url, icon=":material/account_tree:")
            for run in runs[:3]:
                widgets.run_link(store, run)


PAGE = Page("Overview", ":material/space_dashboard:", 10, render)
