"""What several pages show: memories, quotes, scores, facts, empty and failed states, links between pages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

import streamlit as st
from polars.exceptions import PolarsError
from streamlit.navigation.page import StreamlitPage

from mindmem.core.errors import CorruptStore, MindMemError
from mindmem.core.records import Change, Hit, Memory, Message
from mindmem.core.reports.facts import counted
from mindmem.core.search.explain import FACTORS
from mindmem.core.serve.render import day, period
from mindmem.dashboards import readers
from mindmem.dashboards.markup import Markup, element, group, highlighted
from mindmem.dashboards.store import Store

__all__ = [
    "about",
    "boundary",
    "change_detail",
    "change_line",
    "chips",
    "choose_user",
    "counted",
    "empty",
    "facts",
    "kind",
    "label",
    "link",
    "memory_card",
    "note",
    "numbers",
    "publish_links",
    "quote",
    "run_link",
    "score",
    "show",
    "steps",
    "title",
    "user",
    "zone",
]

_PAGES: Final = "mindmem.pages"
_USER: Final = "mindmem.user"
_FLOW_RUN: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What the id of a flow's run looks like; that of a dream that was called in person is another."""
_DOCTOR: Final = "`mindmem doctor` says what is missing; after a maintenance, open the page anew."
_CUT: Final = 4_000
"""Characters of a text that are shown at most in a list."""


def show(markup: Markup) -> None:
    """Show markup; what is in it was escaped when it was made."""
    st.html(markup)


def title(text: str, caption: str = "") -> None:
    """Show a page's heading, in words of our own."""
    st.title(text, anchor=False)
    if caption:
        st.caption(caption)


def zone(store: Store) -> tzinfo:
    """Return the project's time zone, in which pages show times."""
    return ZoneInfo(store.settings.timezone)


# -- states


def empty(heading: str, *lines: str) -> None:
    """Show that there is nothing here yet, and what to do about it. Words in backticks are commands."""
    told = [element("p", *_commands(line)) for line in lines]
    show(element("div", element("h3", heading), *told, class_="mm-empty"))


@contextmanager
def boundary(what: str = "This can't be shown now") -> Iterator[None]:
    """Show an error of ours as a message that says what to do, in the place of what failed."""
    try:
        yield
    except MindMemError as error:
        hint = "It may pass: try again in a moment." if error.transient else ""
        st.error(f"{what} ({error.code}). {hint}".strip(), icon=":material/error:")
        show(element("p", str(error), class_="mm-plain"))
        if isinstance(error, CorruptStore):
            show(element("p", *_commands(_DOCTOR), class_="mm-plain"))
    except (OSError, PolarsError) as error:
        st.error(f"{what} ({type(error).__name__}).", icon=":material/error:")
        show(
            element("p", *_commands(f"A file of the tables is missing or can't be read. {_DOCTOR}"), class_="mm-plain")
        )


def _commands(line: str) -> list[str]:
    return [element("b", part) if place % 2 else part for place, part in enumerate(line.split("`"))]


# -- whose


def choose_user(store: Store) -> None:
    """Show, in the sidebar, whose memories the pages are about."""
    known = readers.users(store, store.at())
    if _USER not in st.session_state:
        st.session_state[_USER] = st.query_params.get("user") or None
    sizes = dict(known)
    chosen: str | None = st.session_state[_USER]
    options: list[str | None] = [None, *sizes]
    if chosen is not None and chosen not in sizes:
        options.append(chosen)

    def told(one: str | None) -> str:
        return "All users" if one is None else f"{one} · {sizes[one]:,}" if one in sizes else one

    st.session_state[_USER] = st.sidebar.selectbox(
        "Whose memories", options, index=options.index(chosen), format_func=told, accept_new_options=True,
        help="A user of the project, with the number of active memories. Type an id that is not listed.",
    )  # fmt: skip


def user() -> str | None:
    """Return the chosen user, None for all."""
    chosen: str | None = st.session_state.get(_USER)
    return chosen


# -- links


def publish_links(pages: Mapping[str, StreamlitPage]) -> None:
    """Let pages lead to each other by their names."""
    st.session_state[_PAGES] = pages


def link(page: str, label: str, icon: str = ":material/arrow_forward:", **query: str) -> None:
    """Show a link to another page, with a query such as ``memory="mem_…"``. ``label`` is our words, never content."""
    st.page_link(st.session_state[_PAGES][page], label=label, icon=icon, query_params=query)


def run_link(store: Store, run_id: str) -> None:
    """Show a link to a run in the Prefect UI, where it was one of a flow."""
    url = store.settings.dashboard.prefect_url.rstrip("/")
    if url and _FLOW_RUN.fullmatch(run_id):
        st.link_button(f"Run {run_id[:8]}", f"{url}/runs/flow-run/{run_id}", icon=":material/play_circle:")


# -- memories


def kind(mem_type: str | None) -> str:
    """Return what people call a type of memory, where None means any."""
    return "Any type" if mem_type is None else mem_type.replace("_", " ")


def about(memory: Memory, at: tzinfo = UTC) -> str:
    """Return who, which property, when, which type, in one line."""
    parts = [memory.entity_name or memory.speaker, memory.property_name.replace("_", " "), period(memory, at),
             memory.mem_type.replace("_", " ")]  # fmt: skip
    if memory.reinforcement_count > 1:
        parts.append(f"said {memory.reinforcement_count} times")
    return " · ".join(part for part in parts if part)


def chips(memory: Memory) -> Markup:
    """Return a memory's state and flags as small labels."""
    state = "mm-good" if memory.status == "active" else "mm-warn"
    labels = [element("span", memory.status, class_=f"mm-chip {state}")]
    labels += [element("span", flag.replace("_", " "), class_="mm-chip") for flag in memory.flags]
    return group(labels)


def memory_card(memory: Memory, at: tzinfo = UTC, *, dimmed: bool = False) -> Markup:
    """Return a memory: its words, who and when."""
    words = element("p", _cut(memory.content), class_="mm-said")
    line = element("p", about(memory, at), class_="mm-about")
    return element("div", words, line, class_="mm-card mm-dimmed" if dimmed else "mm-card")


def quote(message: Message, at: tzinfo = UTC, *, spans: Sequence[tuple[int, int]] = (), source: bool = False) -> Markup:
    """Return a message as it was said; ``spans`` are the characters that a memory rests on."""
    said = " · ".join(part for part in (message.name or message.role, day(message.timestamp, zone=at)) if part)
    words = highlighted(message.content[:_CUT], spans)
    rest = ["…"] if len(message.content) > _CUT else []
    caption = [element("small", f"[{message.caption}]")] if message.caption else []
    place = "mm-quote mm-source" if source else "mm-quote"
    return element("blockquote", element("small", said), words, *rest, *caption, class_=place)


def facts(pairs: Mapping[str, str]) -> Markup:
    """Return names and values as a list; empty values are left out."""
    rows = [group([element("dt", name), element("dd", value)]) for name, value in pairs.items() if value]
    return element("dl", *rows, class_="mm-facts")


def score(hit: Hit) -> Markup:
    """Return a hit's score and its parts as bars: legs add up, factors multiply."""
    rows = [_bar("score", hit.score, f"{hit.score:.2f}")]
    for name, value in hit.explanation.items():
        factor = name in FACTORS
        rows.append(_bar(name, value, f"×{value:.2f}" if factor else f"{value:.2f}", factor=factor))
    return element("div", *rows, class_="mm-parts")


def _bar(name: str, value: float, told: str, *, factor: bool = False) -> Markup:
    width = f"width: {max(0.0, min(value, 1.0)) * 100:.0f}%"
    fill = element("span", class_="mm-fill mm-factor" if factor else "mm-fill", style=width)
    track = element("span", fill, class_="mm-track", role="img", aria_label=f"{name} {told}")
    return group([element("span", name), track, element("span", told, class_="mm-number")])


def numbers(rows: Sequence[tuple[str, str, str]]) -> Markup:
    """Return figures beside each other, as many as fit: label, value, a note below it (may be empty)."""
    cards = [
        element("div", element("dt", label), element("dd", value, *([element("small", note)] if note else [])))
        for label, value, note in rows
    ]
    return element("dl", *cards, class_="mm-numbers")


def note(text: str) -> Markup:
    """Return a remark of the store for people."""
    return element("p", text, class_="mm-note")


def label(text: str) -> str:
    """Return a name for a label that reads Markdown: its letters, digits and spaces alone.

    >>> label("lives_in [x](y)")
    'lives in x y'
    """
    return " ".join("".join(one if one.isalnum() else " " for one in text).split()) or "unnamed"


def steps(rows: Sequence[tuple[str, str, bool]]) -> Markup:
    """Return events below each other: what, a detail (may be empty), and whether it holds now."""
    lines = [
        element("li", head, *([element("small", detail)] if detail else []), class_="mm-now" if now else "")
        for head, detail, now in rows
    ]
    return element("ul", *lines, class_="mm-steps")


def change_line(change: Change) -> str:
    """Return what a change did to memories, in one line.

    >>> from types import SimpleNamespace
    >>> change_line(SimpleNamespace(kind="add", counts={"add": 2, "archive": 1, "edges": 9, "messages": 1}))
    'Add: 2 added, 1 archived, from 1 message'
    """
    told = [f"{change.counts[name]:,} {verb}" for name, verb in _VERBS.items() if change.counts.get(name)]
    if change.counts.get("messages"):
        told.append(f"from {counted(change.counts['messages'], 'message')}")
    head = change.kind.replace("_", " ").capitalize()
    return f"{head}: {', '.join(told)}" if told else head


def change_detail(change: Change, at: tzinfo = UTC) -> str:
    """Return when a change was made, for whom, by whom and why."""
    # Ids of messages are for programs, and counts are told already.
    reason = (
        ""
        if change.reason == change.kind or change.kind == "feedback" or change.reason.startswith(f"{change.kind}:")
        else change.reason
    )
    parts = (day(change.recorded_at, zone=at), change.scope.user_id, change.actor and f"by {change.actor}", reason)
    return " · ".join(part for part in parts if part)


_VERBS: Final = {
    "add": "added", "update": "updated", "merge": "merged", "reinforce": "said again", "archive": "archived",
    "restore": "restored", "consolidated": "adds consolidated", "proposals": "to decide",
}  # fmt: skip


def _cut(text: str) -> str:
    return text if len(text) <= _CUT else text[:_CUT] + "…"
