"""Search: a question, what is found and why, and the text that an agent would get."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from typing import Any, Final

import streamlit as st

from mindmem.core.records import Hit, SearchResult
from mindmem.core.records.memory import MEM_TYPES
from mindmem.core.search.agentic import Done, Judged, Planned, Retrieved, Step
from mindmem.core.search.context import render as context
from mindmem.core.search.recipes import STRATEGIES, Strategy
from mindmem.dashboards import widgets
from mindmem.dashboards.markup import group
from mindmem.dashboards.page import Page
from mindmem.dashboards.store import Store

__all__ = ["PAGE"]

_QUOTES: Final = 3
_STRATEGY: Final = {
    "fast": "asks the index once",
    "balanced": "also follows paths over the entities that the question names",
    "deep": "also adds neighbours on timelines and related memories",
    "agentic": "plans, searches and judges in rounds",
}
_BUDGETS: Final = (500, 1_000, 2_000, 4_000, 8_000)


def render(store: Store) -> None:
    """Ask, and show what is found."""
    widgets.title("Search", "The search that agents use, with the reasons for its order.")
    if not store.ledger.last_seq():
        widgets.empty("Nothing is remembered yet", "Add a first memory with `mindmem add`.")
        return
    asked = st.query_params.get("q", "")
    query = st.text_input("Question", asked, placeholder="Where does Mara live?", icon=":material/search:")
    if query != asked:
        st.query_params["q"] = query
    strategy = _strategy(store)
    with st.expander("Filters", icon=":material/tune:"):
        filters, top_k, as_of, threshold = _narrowed()
    if not query.strip():
        widgets.empty("Ask something", "In the words that an agent would use; any language will do.")
        return
    asks: dict[str, Any] = {
        "user_id": widgets.user(), "top_k": top_k, "filters": filters, "as_of": as_of,
        "score_threshold": threshold or None, "evidence": True,
    }  # fmt: skip
    if strategy == "agentic":
        result = _in_rounds(store.memory.search_steps(query, **asks))
    else:
        result = store.memory.search(query, strategy=strategy, **asks)
    for note in result.notes:
        widgets.show(widgets.note(note))
    if not result.hits:
        widgets.empty("Nothing relevant is remembered", "Other words, fewer filters, or all users may find it.")
        return
    found, rendered = st.tabs([widgets.counted(len(result.hits), "hit"), "What an agent gets"])
    with found:
        for place, hit in enumerate(result.hits):
            _hit(store, hit, place)
    with rendered:
        _context(result, query)


def _strategy(store: Store) -> Strategy:
    asked = st.query_params.get("strategy", store.settings.search.strategy)
    chosen: Strategy = st.segmented_control(
        "Strategy", STRATEGIES, default=asked if asked in STRATEGIES else "fast", required=True, key="search.strategy",
        format_func=str.capitalize,
    )  # fmt: skip
    if chosen != asked:
        st.query_params["strategy"] = chosen
    st.caption(f"{chosen.capitalize()} {_STRATEGY[chosen]}.")
    return chosen


def _in_rounds(steps: Iterator[Step]) -> SearchResult:
    """Show each step of an agentic search as it is done, and return the result."""
    shown: list[tuple[str, str, bool]] = []
    with st.status("Searching in rounds…", expanded=True) as box:
        place = st.empty()
        for step in steps:
            if isinstance(step, Done):
                told = f"{widgets.counted(step.rounds, 'round')}, {widgets.counted(len(step.result.hits), 'hit')}"
                box.update(label=told, state="complete", expanded=True)
                return step.result
            shown.append(_step(step))
            place.html(widgets.steps(shown))
    raise AssertionError("the last step is Done")


def _step(step: Planned | Retrieved | Judged) -> tuple[str, str, bool]:
    if isinstance(step, Planned):
        span = " to ".join(f"{one:%Y-%m-%d}" for one in (step.begin, step.end) if one is not None)
        about = "\n".join(part for part in (step.reason, span and f"about {span}") if part)
        return f"Round {step.round}: search for " + "; ".join(f"“{one}”" for one in step.queries), about, False
    if isinstance(step, Retrieved):
        return f"{widgets.counted(len(step.hits), 'memory', 'memories')} so far, {step.new} of them new", "", False
    return "That is enough" if step.enough else "Not enough yet", step.reason, step.enough


def _narrowed() -> tuple[dict[str, object], int, datetime | None, float]:
    left, middle, right = st.columns(3)
    kind = left.selectbox("Type", [None, *MEM_TYPES], format_func=widgets.kind, key="search.kind")
    prop = middle.text_input("Property", placeholder="such as lives_in", key="search.property")
    as_of = right.date_input("As of", value=None, help="What was true on that day, archived memories included.")
    top_k = left.slider("Hits at most", 1, 50, 10)
    threshold = middle.slider("Lowest score", 0.0, 1.0, 0.0, 0.05)
    filters: dict[str, object] = {}
    if kind:
        filters["mem_type"] = kind
    if prop.strip():
        filters["property_name"] = prop.strip()
    return filters, top_k, datetime.combine(as_of, time(23, 59, 59), UTC) if as_of else None, threshold


def _hit(store: Store, hit: Hit, place: int) -> None:
    zone = widgets.zone(store)
    with st.container(border=True):
        left, right = st.columns([3, 2], gap="small")
        with left:
            card = widgets.memory_card(hit.memory, zone, dimmed=hit.memory.status != "active")
            spans = {source.message_id: [(source.start, source.end)] for source in hit.memory.sources}
            quotes = [
                widgets.quote(message, zone, spans=spans.get(message.message_id, ()), source=True)
                for message in hit.evidence[:_QUOTES]
            ]
            widgets.show(group([card, *quotes]))
        with right:
            widgets.show(widgets.score(hit))
        with st.container(horizontal=True, gap="small"):
            widgets.link("memories", f"Open memory {place + 1}", memory=hit.memory.memory_id)
            if hit.memory.entity_id:
                widgets.link("timelines", "Timeline", ":material/timeline:", entity=hit.memory.entity_id)


def _context(result: SearchResult, query: str) -> None:
    budget = st.select_slider("Tokens at most", _BUDGETS, 2_000)
    st.code(context(result, token_budget=budget, query=query), language=None, wrap_lines=True)
    st.caption("`Memory.context` returns this text: fenced as data, by whom it is about, with times.")


PAGE = Page("Search", ":material/search:", 30, render)
