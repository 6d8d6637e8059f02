"""One memory's page: what it says, its dialogue, revisions, timeline, relatives, and the change that made it."""

import streamlit as st

from mindmem.core.errors import NotFound
from mindmem.core.records import Memory, Message
from mindmem.core.serve.console import plain
from mindmem.core.serve.render import day, period
from mindmem.dashboards import actions, readers, widgets
from mindmem.dashboards.markup import element, group
from mindmem.dashboards.store import Store

__all__ = ["memory_page", "relation_of"]

_AROUND = 3
"""Messages shown before and after one that a memory rests on."""
_RELATIVES = 50
_RELATIONS = {
    "supersedes": ("gave way to this one", "took its place"),
    "derived_from": ("went into this one", "was made of it"),
}
"""Kinds of edges by what the other memory is, where the edge begins here and where it ends here."""


def memory_page(store: Store, memory_id: str) -> None:
    """Show a memory, whatever its status."""
    if st.button("All memories", icon=":material/arrow_back:", type="tertiary"):
        del st.query_params["memory"]
        st.session_state["memories.back"] = st.session_state.get("memories.back", 0) + 1
        st.rerun()
    try:
        memory = store.memory.get(memory_id)
    except NotFound:
        widgets.title("Memories")
        widgets.empty("There is no such memory in this project", f"The address asks for {memory_id[:80]}.")
        return
    zone = widgets.zone(store)
    widgets.show(group([element("p", memory.content, class_="mm-title"), widgets.chips(memory)]))
    widgets.show(
        widgets.facts({
            "About": " · ".join(part for part in (memory.entity_name, memory.entity_type) if part),
            "Property": memory.property_name.replace("_", " "),
            "Value": memory.value,
            "True": period(memory, zone),
            "Said": " · ".join(part for part in (memory.speaker, day(memory.observed_at, zone=zone)) if part),
            "Type": memory.mem_type.replace("_", " ") + (" · synthesised" if memory.order == 2 else ""),
            "Confidence": f"{memory.confidence:.0%} · said {widgets.counted(memory.reinforcement_count, 'time')}",
            "User": memory.scope.user_id,
            "Id": memory.memory_id,
        })
    )  # fmt: skip
    with st.container(horizontal=True, gap="small"):
        actions.memory_buttons(store, memory)
        if memory.entity_id:
            widgets.link("timelines", "Timeline of whom it is about", ":material/timeline:", entity=memory.entity_id)
    evidence, revisions, timeline, relatives, change = st.tabs(
        ["Evidence", "Revisions", "Timeline", "Relatives", "Change"]
    )
    with evidence:
        _evidence(store, memory)
    with revisions:
        _revisions(store, memory)
    with timeline:
        _timeline(store, memory)
    with relatives:
        _relatives(store, memory)
    with change:
        _change(store, memory)


def _evidence(store: Store, memory: Memory) -> None:
    zone = widgets.zone(store)
    ids = list(dict.fromkeys(source.message_id for source in memory.sources))
    known = readers.messages(store, store.at(), memory.scope.user_id, ids)
    shown: dict[str, Message] = {}
    for message_id in ids:
        if message_id in known and message_id not in shown:
            shown |= {one.message_id: one for one in store.reader.around(known[message_id], _AROUND, _AROUND)}
    if not shown:
        widgets.empty("No dialogue is kept for this memory", "It came without messages, or they were erased.")
        return
    spans: dict[str, list[tuple[int, int]]] = {}
    for source in memory.sources:
        spans.setdefault(source.message_id, []).append((source.start, source.end))
    widgets.show(
        group(
            widgets.quote(one, zone, spans=spans.get(one.message_id, ()), source=one.message_id in spans)
            for one in shown.values()
        )
    )
    st.caption("Marked is what the memory rests on; around it is what was said before and after.")


def _revisions(store: Store, memory: Memory) -> None:
    zone = widgets.zone(store)
    rows: list[tuple[str, str, bool]] = []
    before: Memory | None = None
    for one in store.memory.history(memory.memory_id):
        told = f"Revision {one.revision} · {day(one.recorded_at, zone=zone)} · {one.status}"
        rows.append((told, "\n".join(_differences(before, one)), one.revision == memory.revision))
        before = one
    widgets.show(widgets.steps(rows))


def _differences(before: Memory | None, after: Memory) -> list[str]:
    if before is None:
        return [after.content]
    told = []
    for name in ("content", "value", "property_name", "valid_from", "valid_to", "status", "reinforcement_count",
                 "flags", "metadata"):  # fmt: skip
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            told.append(f"{name.replace('_', ' ')}: {_plain(old)} → {_plain(new)}")
    return told or ["nothing that is shown here"]


def _plain(value: object) -> str:
    shown = plain(value)
    return "none" if shown in (None, "", [], {}) else str(shown)


def _timeline(store: Store, memory: Memory) -> None:
    zone = widgets.zone(store)
    if not (memory.entity_id and memory.property_name):
        widgets.empty("This memory stands for itself", "It is of no property, so nothing comes before or after it.")
        return
    versions = store.memory.timeline(memory.memory_id)[-_RELATIVES:]
    widgets.show(
        widgets.steps([
            (f"{one.value or one.content}", " · ".join(["this one"] * (one.memory_id == memory.memory_id)
             + [period(one, zone), one.status]), one.status == "active" and one.valid_to is None)
            for one in versions
        ])
    )  # fmt: skip


def _relatives(store: Store, memory: Memory) -> None:
    zone, owner = widgets.zone(store), memory.scope.partition
    edges = store.reader.edges(owner, src=[memory.memory_id], relation="RELATED_TO")
    edges += store.reader.edges(owner, dst=[memory.memory_id], relation="RELATED_TO")
    told = {
        one.dst if one.src == memory.memory_id else one.src: relation_of(one.kind, outwards=one.src == memory.memory_id)
        for one in edges
    }
    told = dict.fromkeys(memory.parents, relation_of("derived_from", outwards=True)) | told
    told.pop(memory.memory_id, None)
    found = store.reader.memories(owner, ids=list(told)[:_RELATIVES]) if told else []
    if not found:
        widgets.empty("It has no relatives", "It was said, and neither came from other memories nor led to any.")
        return
    for place, one in enumerate(found, 1):
        chip = element("span", told[one.memory_id], class_="mm-chip")
        widgets.show(group([chip, widgets.memory_card(one, zone, dimmed=one.status != "active")]))
        widgets.link("memories", f"Open relative {place}", memory=one.memory_id)


def relation_of(kind: str, *, outwards: bool) -> str:
    """Return how a relative stands to the memory shown: ``outwards`` where the edge begins there.

    >>> relation_of("supersedes", outwards=False)
    'took its place'
    """
    way, back = _RELATIONS.get(kind, (kind.replace("_", " ") or "related",) * 2)
    return way if outwards else back


def _change(store: Store, memory: Memory) -> None:
    zone = widgets.zone(store)
    change = store.ledger.change(memory.change_id)
    if change is None:
        widgets.empty("The change that made this revision is not known", "Run `mindmem doctor`.")
        return
    widgets.show(
        widgets.facts({
            "Kind": change.kind, "When": day(change.recorded_at, zone=zone), "By": change.actor,
            "Reason": change.reason, "Run": change.run_id,
            "What": ", ".join(f"{number:,} {name}" for name, number in change.counts.items()),
            "Takes back": change.undoes, "Id": change.change_id,
        })
    )  # fmt: skip
    written = store.reader.written_by(change.change_id, change.scope.partition)[:_RELATIVES]
    others = [one for one in written if one.memory_id != memory.memory_id]
    if others:
        st.caption("The same change also wrote")
        widgets.show(group(widgets.memory_card(one, zone, dimmed=one.status != "active") for one in others))
    actions.undo_button(store, change)
    if st.toggle("Show the raw record", key="memory.raw"):
        st.json(plain(memory))
