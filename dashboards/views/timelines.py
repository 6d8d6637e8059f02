"""Timelines: what was true of somebody or something, when, and on what it rests."""

from collections.abc import Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

import polars as pl
import streamlit as st

from mindmem.core.records import Memory, Message
from mindmem.core.serve.render import day, period
from mindmem.dashboards import charts, readers, widgets
from mindmem.dashboards.figures import VERSIONS, held_at
from mindmem.dashboards.markup import element, group
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_OFFERED: Final = 200
_ROWS: Final = 24
"""Most properties in the chart, those that changed last."""
_LISTED: Final = 12
"""Most versions of a property with their evidence; the latest ones."""
_VALUE: Final = 60
"""Characters of a value in a heading."""
_EVENTS: Final = ""
"""The property of memories that are of none: things that happened, or were merely said."""


def render(store: Store) -> None:
    """Let one choose an entity, and show its properties over time."""
    widgets.title("Timelines", "How each property of somebody or something changed, with the words that say so.")
    at, user = store.at(), widgets.user()
    known = readers.entities(store, at, user) if at.seq else pl.DataFrame()
    if known.is_empty():
        widgets.empty("Nobody is known yet", "Entities appear with the first memories: `mindmem add`.")
        return
    chosen = _entity(known)
    if chosen is None:
        return
    frame = readers.versions(store, at, user, str(chosen["entity_id"]))
    if frame.is_empty():
        widgets.empty("Nothing is remembered about it", "Its memories belong to another user, or were erased.")
        return
    name = str(chosen["name"])
    moment = _as_of(frame)
    _chart(frame, moment, name)
    if frame.height >= VERSIONS:
        st.caption(f"Of this entity, the latest {VERSIONS:,} memories are shown.")
    _properties(store, frame, moment, user)


def _entity(known: pl.DataFrame) -> dict[str, object] | None:
    asked = st.query_params.get("entity", "")
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    words = left.text_input("Find", placeholder="part of a name")
    fits = known
    if words.strip():
        fits = known.filter(pl.col("name").str.to_lowercase().str.contains(words.strip().lower(), literal=True))
    offered = fits.head(_OFFERED)
    wanted = known.filter(pl.col("entity_id") == asked)
    if not words.strip() and wanted.height and asked not in offered["entity_id"]:
        offered = pl.concat([wanted, offered])
    if offered.is_empty():
        widgets.empty("No name holds these words", "Try fewer letters.")
        return None
    rows = {str(row["entity_id"]): row for row in offered.iter_rows(named=True)}
    ids = list(rows)

    def told(one: str) -> str:
        row = rows[one]
        return f"{row['name']} · {row['entity_type']} · {widgets.counted(row['memories'], 'memory', 'memories')}"

    picked = right.selectbox("Entity", ids, index=ids.index(asked) if asked in ids else 0, format_func=told)
    if picked != asked:
        st.query_params["entity"] = picked
    if fits.height > _OFFERED:
        st.caption(f"{fits.height:,} entities fit; the {_OFFERED} with most memories are offered.")
    return rows[picked]


def _as_of(frame: pl.DataFrame) -> datetime:
    """Return the moment that the page is about, which the slider sets; the present where there is nothing to choose."""
    timed = frame.filter(pl.col("timed"))
    today = readers.now().date()
    times = [one.date() for name in ("start", "end") for one in timed[name].to_list() if one is not None]
    first, last = min(times, default=today) - timedelta(days=1), max([*times, today])
    if not times:
        return readers.now()
    chosen = st.slider("As of", first, last, last, format="YYYY-MM-DD", help="Show what was true on that day.")
    return datetime.combine(chosen, time(23, 59, 59), UTC)


def _chart(frame: pl.DataFrame, moment: datetime, name: str) -> None:
    recent = frame.group_by("property_name").agg(pl.col("start").max()).sort("start", descending=True, nulls_last=True)
    shown = recent.head(_ROWS)["property_name"]
    st.altair_chart(charts.timeline(frame.filter(pl.col("property_name").is_in(shown.to_list())), moment, name))
    if recent.height > _ROWS:
        st.caption(f"{recent.height:,} properties are known; the {_ROWS} that changed last are drawn.")


def _properties(store: Store, frame: pl.DataFrame, moment: datetime, user: str | None) -> None:
    held = held_at(frame, moment)
    st.subheader(f"As of {moment:%Y-%m-%d}", anchor=False)
    names = _in_order(frame)
    wanted = [
        memory_id
        for name in names
        for memory_id in frame.filter(pl.col("property_name") == name).tail(_LISTED)["memory_id"].to_list()
    ]
    at = store.at()
    memories = {one.memory_id: one for one in readers.memories(store, at, user, wanted)}
    ids = list(dict.fromkeys(source.message_id for one in memories.values() for source in one.sources[:2]))
    said = readers.messages(store, at, user, ids)
    zone = widgets.zone(store)
    for name in names:
        versions = frame.filter(pl.col("property_name") == name)
        true_then = held.filter(pl.col("property_name") == name)
        with st.expander(_heading(name, versions, true_then), expanded=name == names[0]):
            for row in reversed(versions.tail(_LISTED).to_dicts()):
                memory = memories.get(row["memory_id"])
                if memory is None:
                    continue
                _version(memory, row["state"], zone, said)
            if versions.height > _LISTED:
                st.caption(f"The latest {_LISTED} are listed.")


def _in_order(frame: pl.DataFrame) -> list[str]:
    """Return the properties: those with most to tell first, what was only withdrawn and events last."""
    ordered = (
        frame.filter(pl.col("property_name") != _EVENTS)
        .group_by("property_name")
        .agg(held=(pl.col("state") != "withdrawn").any(), versions=pl.len(), changed=pl.col("start").max())
        .sort("held", "versions", "changed", "property_name", descending=[True, True, True, False])
    )
    events = [_EVENTS] if (frame["property_name"] == _EVENTS).any() else []
    return ordered.head(_ROWS)["property_name"].to_list() + events


def _heading(name: str, versions: pl.DataFrame, true_then: pl.DataFrame) -> str:
    told = widgets.counted(versions.height, "version" if name else "memory", "" if name else "memories")
    if not name:
        return f"Events · {told}"
    values = [widgets.label(str(one))[:_VALUE] for one in true_then["value"].to_list()[-3:]]
    return f"**{widgets.label(name)}**: {', '.join(values) or 'nothing known'} · {told}"


def _version(memory: Memory, state: str, zone: tzinfo, said: Mapping[str, Message]) -> None:
    words = element("p", memory.value or memory.content, class_="mm-said")
    line = " · ".join((period(memory, zone), state, *memory.flags))
    quotes = [
        widgets.quote(said[source.message_id], zone, spans=[(source.start, source.end)])
        for source in memory.sources[:2]
        if source.message_id in said
    ]
    card = "mm-card" if state == "current" else "mm-card mm-dimmed"
    widgets.show(group([element("div", words, element("p", line, class_="mm-about"), class_=card), *quotes]))
    widgets.link("memories", f"Open the memory of {day(memory.observed_at or memory.recorded_at, 'day', zone)}",
                 memory=memory.memory_id)  # fmt: skip


PAGE = Page("Timelines", ":material/timeline:", 20, render)
