"""Dreaming: runs with what they kept and archived, proposals that wait for somebody's word, and what was decided."""

from collections.abc import Mapping
from typing import Final

import polars as pl
import streamlit as st

from mindmem.core.records.dream import DiffLine, Proposal
from mindmem.core.reports.runs import DreamRun
from mindmem.core.serve.render import day
from mindmem.dashboards import actions, charts, readers, widgets
from mindmem.dashboards.diff import diff_line
from mindmem.dashboards.markup import element
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_PROPOSALS: Final = 20
_LINES: Final = 20
"""Lines of a diff that are shown before one asks for more."""
_OFTEN: Final = 500
"""Lines that are shown at most."""


def render(store: Store) -> None:
    """Show the measures over the runs, what waits, the runs, and what was decided."""
    widgets.title("Dreaming", "By night, outdated values are archived, repetitions folded, doubts linked; nothing is "
                  "deleted, and a run can be taken back.")  # fmt: skip
    at, user = store.at(), widgets.user()
    runs = readers.dream_runs(store, at, user)
    proposals = readers.proposals(store, at, user)
    if not runs and not proposals:
        widgets.empty("Nothing was dreamt yet", "Consolidate now with `mindmem dream`, or wait for the night.")
        return
    waiting = [one for one in proposals if one.state == "open"]
    decided = [one for one in proposals if one.state in ("approved", "rejected")]
    _numbers(store, runs, waiting)
    if runs:
        left, right = st.columns(2, gap="large")
        left.altair_chart(charts.shares(runs))
        right.altair_chart(charts.issues(runs))
    names = [f"Waiting · {len(waiting):,}", f"Runs · {len(runs):,}", f"Decided · {len(decided):,}"]
    asked = st.query_params.get("run", "")
    opens = names[1] if asked or not waiting else names[0]
    first, second, third = st.tabs(names, default=opens)
    with first:
        _waiting(store, waiting)
    with second:
        _runs(store, runs, asked)
    with third:
        _decided(store, decided)


def _numbers(store: Store, runs: list[DreamRun], waiting: list[Proposal]) -> None:
    last = runs[-1] if runs else None
    kept = last.retention if last else None
    zone = widgets.zone(store)
    widgets.show(
        widgets.numbers([
            ("Last run", day(last.at, "day", zone) if last else "none", day(last.at, zone=zone)[-5:] if last else ""),
            ("AMCR", f"{last.amcr:.1%}" if last else "–",
             f"{last.archived:,} archived of {last.active_before:,} active" if last else ""),
            ("Recall kept", "–" if kept is None else f"{kept:.0%}",
             f"{last.retained:,} of {last.probes:,} questions" if last and last.probes else "nothing was asked"),
            ("Waiting", f"{len(waiting):,}", "for somebody's word"),
        ])
    )  # fmt: skip


# -- what waits, and what was decided


def _waiting(store: Store, waiting: list[Proposal]) -> None:
    if not waiting:
        widgets.empty(
            "Nothing waits for a word", "A dry run, or a run that would archive more than its cap, waits here."
        )
        return
    asked = st.query_params.get("proposal", "")
    waiting = sorted(waiting, key=lambda one: one.proposal_id != asked)
    writes = actions.writes_hint(store)
    for one in waiting[:_PROPOSALS]:
        with st.container(border=True):
            _head(store, one)
            _diff(store, list(one.lines), len(one.lines), one.proposal_id)
            if writes:
                actions.proposal_buttons(store, one)
    if len(waiting) > _PROPOSALS:
        st.caption(f"The newest {_PROPOSALS} are shown; choose a user at the side, or see `mindmem changes list`.")


def _head(store: Store, one: Proposal) -> None:
    when = day(one.recorded_at, zone=widgets.zone(store))
    told = f"{one.archived:,} of {one.active_before:,} active memories would be archived"
    about = " · ".join(part for part in (one.scope.user_id, when, one.cause, one.proposal_id) if part)
    widgets.show(
        element("div", element("p", told, class_="mm-said"), element("p", about, class_="mm-about"), class_="mm-card")
    )


def _decided(store: Store, decided: list[Proposal]) -> None:
    if not decided:
        widgets.empty("Nothing was decided yet", "What was approved or rejected is kept here.")
        return
    zone = widgets.zone(store)
    widgets.show(
        widgets.steps([
            (f"{one.state.capitalize()}: {widgets.counted(len(one.lines), 'line')}, {one.archived:,} to archive",
             " · ".join(part for part in (one.scope.user_id, day(one.recorded_at, zone=zone), one.cause,
                                          one.proposal_id) if part), one.state == "approved")
            for one in decided[: _PROPOSALS * 2]
        ])
    )  # fmt: skip


# -- runs


def _runs(store: Store, runs: list[DreamRun], asked: str) -> None:
    if not runs:
        widgets.empty("No run has ended yet", "Approve what waits, or run `mindmem dream`.")
        return
    zone = store.settings.timezone
    newest = runs[::-1]
    st.dataframe(
        pl.DataFrame([_row(one) for one in newest], schema=_COLUMNS, orient="row"), hide_index=True,
        column_config={
            "When": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", timezone=zone, pinned=True),
            "AMCR": st.column_config.NumberColumn(format="percent"),
            "Recall kept": st.column_config.NumberColumn(format="percent"),
        },
    )  # fmt: skip
    known = {one.run_id: one for one in newest}
    names = list(known)
    picked = st.selectbox(
        "Look at a run", names, index=names.index(asked) if asked in known else 0,
        format_func=lambda one: _told(store, known[one]),
    )  # fmt: skip
    if picked != asked and (asked or picked != names[0]):
        st.query_params["run"] = picked
    _run(store, known[picked])


_COLUMNS: Final[Mapping[str, pl.DataType | type[pl.DataType]]] = {
    "When": pl.Datetime("us", "UTC"), "AMCR": pl.Float64, "Archived": pl.Int64, "Active before": pl.Int64,
    "Recall kept": pl.Float64, "Adds": pl.Int64, "Pending": pl.Int64, "Users": pl.Int64, "State": pl.String,
}  # fmt: skip


def _row(one: DreamRun) -> tuple[object, ...]:
    return (one.at, one.amcr, one.archived, one.active_before, one.retention, one.adds, one.pending, one.users,
            _state(one))  # fmt: skip


def _state(one: DreamRun) -> str:
    return "taken back" if one.undone else "in part" if one.pending else "done"


def _told(store: Store, one: DreamRun) -> str:
    return f"{day(one.at, zone=widgets.zone(store))} · {one.archived:,} archived · {_state(one)}"


def _run(store: Store, one: DreamRun) -> None:
    widgets.show(
        widgets.facts({
            "Run": one.run_id,
            "Did": _counts(one.actions, _DID) or "nothing: there was nothing to do",
            "Found": _counts(one.issues, {}) or "no issue",
            "Pending": f"{widgets.counted(one.pending, 'cluster')}; the next run does them" if one.pending else "",
            "Took": f"{one.seconds:,.1f} s" if one.seconds else "",
            "Covered": f"{widgets.counted(one.adds, 'add')} of {widgets.counted(one.users, 'user')}",
        })
    )  # fmt: skip
    widgets.run_link(store, one.run_id)
    lines, total = readers.run_lines(store, store.at(), widgets.user(), one.run_id, _OFTEN)
    if not lines:
        st.caption("It changed no memory.")
        return
    _diff(store, lines, total, one.run_id)
    if one.undone:
        st.caption("All of this was taken back.")
    else:
        actions.undo_run_button(store, one.run_id)


def _counts(counts: Mapping[str, int], verbs: Mapping[str, str]) -> str:
    return ", ".join(f"{verbs.get(name, name.replace('_', ' '))} {number:,}" for name, number in counts.items())


_DID: Final = {"archive": "archived", "merge": "folded", "update": "reworded", "create": "made", "link": "linked"}


# -- diffs


def _diff(store: Store, lines: list[DiffLine], total: int, key: str) -> None:
    all_of_it = len(lines) > _LINES and st.toggle(f"Show all {total:,} lines", key=f"all {key}")
    shown = lines[: _OFTEN if all_of_it else _LINES]
    by = sorted({memory_id for line in shown for memory_id in line.by})
    known = {one.memory_id: one.content for one in readers.memories(store, store.at(), widgets.user(), by)}
    for place, line in enumerate(shown, 1):
        widgets.show(diff_line(line, known))
        if place <= _LINES:
            widgets.link("memories", f"Open the memory of line {place}", memory=line.memory_id)
    if total > len(shown):
        st.caption(f"{len(shown):,} of {total:,} lines are shown.")


PAGE = Page("Dreaming", ":material/bedtime:", 44, render)
