"""Feedback: what users corrected, what came of it, and how far their sessions have been read."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from mindmem.core.records import Memory
from mindmem.core.reports.corrections import Given, Reading
from mindmem.core.serve.render import day
from mindmem.dashboards import actions, readers, widgets
from mindmem.dashboards.markup import Markup, element, group
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_GIVEN: Final = 30
_USERS: Final = 50


def render(store: Store) -> None:
    """Show the corrections, and the reading of sessions."""
    widgets.title("Feedback", "What users put right or asked for, in so many words or within their sessions.")
    at, user = store.at(), widgets.user()
    if not at.seq:
        widgets.empty("Nothing is remembered yet", "Add a first memory with `mindmem add`.")
        return
    given = readers.corrections(store, at, user, _GIVEN)
    read = [one for one in readers.readings(store) if user in (None, one.user_id)]
    behind = sum(one.upto < one.last for one in read)
    said, sessions = st.tabs(["Corrections", f"Sessions · {behind:,} to read"])
    with said:
        _corrections(store, given)
    with sessions:
        _sessions(read)


def _corrections(store: Store, given: list[Given]) -> None:
    if not given:
        widgets.empty(
            "Nobody has corrected anything yet",
            "Tell it with `mindmem feedback`, or let `mindmem feedback --pass` look through the sessions.",
        )
        return
    writes = actions.writes_hint(store)
    for one in given:
        _given(store, one, writes=writes)
    if len(given) == _GIVEN:
        st.caption(f"The newest {_GIVEN} are shown; choose a user at the side for that user's.")


def _given(store: Store, one: Given, *, writes: bool) -> None:
    zone = widgets.zone(store)
    with st.container(border=True):
        spans = {source.message_id: (source.start, source.end) for memory in one.now for source in memory.sources}
        who = (one.user_id, one.app_id, one.agent_id, day(one.at, zone=zone), one.actor and f"by {one.actor}",
               "taken back" if one.undone else "")  # fmt: skip
        widgets.show(
            group([
                element("p", " · ".join(part for part in who if part), class_="mm-about"),
                *(widgets.quote(said, zone, spans=[spans[said.message_id]] if said.message_id in spans else (),
                                source=True) for said in one.said),
                *(_outcome("noted", memory) for memory in one.now),
                *(_outcome("replaced" if one.now else "taken out", memory) for memory in one.gone),
            ])
        )  # fmt: skip
        if not one.said:
            st.caption("The words are not kept any more.")
        with st.container(horizontal=True, gap="small"):
            _links((*one.now, *one.gone))
            change = store.ledger.change(one.change_id) if writes and not one.undone else None
            if change is not None:
                actions.undo_button(store, change, key=one.change_id)


def _outcome(told: str, memory: Memory) -> Markup:
    active = memory.status == "active"
    condition = [element("span", f"only: {memory.condition}", class_="mm-chip")] if memory.condition else []
    chip = element("span", told, class_="mm-chip mm-good" if active else "mm-chip mm-warn")
    words = element("p", memory.content, class_="mm-said")
    return element("div", chip, *condition, words, class_="mm-card" if active else "mm-card mm-dimmed")


def _links(memories: Sequence[Memory]) -> None:
    for memory in memories[:4]:
        told = "Open what was noted" if memory.status == "active" else "Open what was taken out"
        widgets.link("memories", told, memory=memory.memory_id)


def _sessions(read: list[Reading]) -> None:
    if not read:
        widgets.empty("This user has no memories", "Choose another one, or all users, at the side.")
        return
    st.caption("A pass reads what was recorded since the one before it: every hour with `mindmem up`, or now with "
               "`mindmem feedback --pass`.")  # fmt: skip
    widgets.show(
        widgets.steps([
            (one.user_id, f"read up to change {one.upto:,} of {one.last:,}" if one.upto < one.last
             else f"read to the end, change {one.last:,}", one.upto >= one.last)
            for one in read[:_USERS]
        ])
    )  # fmt: skip
    if len(read) > _USERS:
        st.caption(f"{len(read) - _USERS:,} more users.")


PAGE = Page("Feedback", ":material/rate_review:", 46, render)
