"""Pages to test: how to open one, and what it says."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest
from support.dreams import dream_store, say

from mindmem.core.settings import Settings

__all__ = ["HOSTILE", "PAGES", "SOURCE", "Open", "dream_in", "elements", "settings", "words"]

PAGES = ("overview", "timelines", "search", "memories", "dreaming", "feedback", "ingestion", "cost", "schema")
HOSTILE = (
    "<img src=x onerror=alert(1)> **bold** [a](https://example.com) $x$ :material/home: :red[danger] </style><script>"
)
"""Has HTML, Markdown and Streamlit's own marks."""
SOURCE = """
from mindmem.core.settings import Settings
from mindmem.dashboards.app import main

main(Settings.load({{}}, home={home!r}, embedder="none", dashboard={dashboard!r}, store={store!r}), start={page!r})
"""
Open = Callable[..., AppTest]


def settings(home: Path) -> Settings:
    """Return the settings of a store that needs no model."""
    return Settings.load({}, home=home, embedder="none")


def dream_in(home: Path) -> None:
    """Let a store dream once for ann, propose for ben, and take feedback of ann's."""
    with dream_store(home) as memory:
        say(memory, "I live in Rome.", day=1)
        say(memory, "I live in Oslo now.", day=9)
        say(memory, "I live in Bonn.", user="ben", day=1, name="Ben")
        say(memory, "I live in Kiel now.", user="ben", day=9, name="Ben")
        memory.dream("ann")
        memory.dream("ben", dry_run=True)
        memory.feedback("No, I meant Bergen, not Oslo.", user_id="ann", name="Ann")
        memory.feedback("For emails to my boss, please use a formal tone.", user_id="ann", name="Ann")


def words(app: AppTest) -> str:
    """Return everything that a page says, its markup included."""
    return "\n".join(said for _, said in elements(app))


def elements(app: AppTest) -> list[tuple[str, str]]:
    """Return the kind and the text of each element, in order: what it holds, and its labels."""
    found: list[tuple[str, str]] = []

    def walk(block: object) -> None:
        for child in getattr(block, "children", {}).values():
            proto = getattr(child, "proto", None)
            texts = [getattr(proto, name, "") for name in ("body", "label", "value", "code_text", "placeholder")]
            found.extend((child.type, text) for text in texts if isinstance(text, str) and text)
            walk(child)

    walk(app._tree)
    return found
