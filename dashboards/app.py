"""The dashboard's entry: ``mindmem dashboard``, or ``streamlit run dashboards/app.py -- --home DIR --project ID``."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import streamlit as st

from mindmem.core.settings import Settings
from mindmem.dashboards import login, readers, widgets
from mindmem.dashboards.page import Page, discover
from mindmem.dashboards.theme import CSS

__all__ = ["main"]

_ICON: Final = Path(__file__).with_name("icon.png")


def main(settings: Settings, *, start: str = "overview") -> None:
    """Show the page that the address names, ``start`` where it names none."""
    st.set_page_config(page_title="MindMem", page_icon=str(_ICON), layout="wide")
    st.html(CSS)
    st.logo(str(_ICON), size="large")
    if not login.passed(settings.dashboard):
        return
    pages = discover()
    linked = {
        name: st.Page(_shown(page, settings), title=page.title, icon=page.icon, url_path=name, default=name == start)
        for name, page in pages.items()
    }
    widgets.publish_links(linked)
    # In one list: with sections, Streamlit's own markup of it is no list to a screen reader.
    st.navigation(list(linked.values())).run()


def _shown(page: Page, settings: Settings) -> Callable[[], None]:
    def show() -> None:
        with widgets.boundary():
            store = readers.store_of(settings)
            if store is None:
                widgets.title(page.title)
                widgets.empty(
                    "There is no store here yet",
                    f"It will be made in {settings.home} by the first memory.",
                    "Add one with `mindmem add`, or play the demo: `mindmem demo --home` followed by this folder.",
                )
                return
            widgets.choose_user(store)
            page.render(store)

    return show


def _settings(arguments: Sequence[str]) -> Settings:
    given = argparse.ArgumentParser(allow_abbrev=False)
    given.add_argument("--home", type=Path)
    given.add_argument("--project")
    known, _ = given.parse_known_args(arguments)
    return Settings.load(home=known.home, project_id=known.project)


if __name__ == "__main__":
    with widgets.boundary():
        _chosen = _settings(sys.argv[1:])
        login.check_exposure(st.get_option("server.address"), _chosen.dashboard)
        main(_chosen)
