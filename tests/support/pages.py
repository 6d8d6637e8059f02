"""Pages to test: how to open one, and what it says."""

from collections.abc import Callable
from pathlib import Path

from streamlit.testing.v1 import AppTest

from mindmem.core.settings import Settings

__all__ = ["HOSTILE", "PAGES", "SOURCE", "Open", "elements", "settings", "words"]

PAGES = ("overview", "timelines", "search", "memories", "ingestion", "cost", "schema")
HOSTILE = (
    "<img src=x onerror=alert(1)> **bold** [a](https://example.com) $x$ :material/home: :red[danger] </style><script>"
)
"""Has HTML, Markdown and Streamlit's own marks."""
SOURCE = """
from mindmem.core.settings import Settings
from mindmem.dashboards.app import main

main(Settings.load({{}}, home={home!r}, embedder="none", dashboard={dashboard!r}), start={page!r})
"""
Open = Callable[..., AppTest]


def settings(home: Path) -> Settings:
    """Return the settings of a store that needs no model."""
    return Settings.load({}, home=home, embedder="none")


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
