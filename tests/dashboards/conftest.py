"""Stores for pages: none, an empty one, the demo's, and one whose content would act if it could."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from support.pages import HOSTILE, SOURCE, Open, dream_in, settings

from mindmem.core.memory import Memory
from mindmem.core.serve.story import play


@pytest.fixture(scope="session", autouse=True)
def _streamlit() -> Iterator[None]:
    # Outside of a server each cache says so once a run.
    logging.getLogger("streamlit.runtime.caching.cache_data_api").setLevel(logging.ERROR)
    yield
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of a store without a memory."""
    home = tmp_path_factory.mktemp("empty")
    Memory(settings=settings(home)).close()
    return home


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of the demo's store, with an add that waits; it is only read."""
    home = tmp_path_factory.mktemp("demo")
    with Memory(settings=settings(home)) as memory:
        play(memory)
    with Memory(settings=settings(home)) as memory:
        memory.enqueue("I play the cello.", user_id="jonas")
    return home


@pytest.fixture(scope="session")
def dreamt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of a store with a dream that archived, a proposal that waits, and feedback; it is only read."""
    home = tmp_path_factory.mktemp("dreamt")
    dream_in(home)
    return home


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home of a store in which everything that a caller can name is hostile."""
    home = tmp_path_factory.mktemp("hostile")
    with Memory(settings=settings(home)) as memory:
        said = {"role": "user", "name": HOSTILE, "content": f"I live in Oslo. {HOSTILE}", "caption": HOSTILE}
        memory.add([said], user_id=HOSTILE, session_id=HOSTILE, metadata={"note": HOSTILE}, actor=HOSTILE)
        memory.enqueue(HOSTILE, user_id=HOSTILE)
    return home


@pytest.fixture
def shown() -> Open:
    """Return what opens a page of a store, with a query and the dashboard's settings."""

    def run(
        page: str, home: Path, dashboard: dict[str, object] | None = None, store: dict[str, object] | None = None,
        **query: str,
    ) -> AppTest:  # fmt: skip
        source = SOURCE.format(home=str(home), dashboard=dashboard or {}, store=store or {}, page=page)
        app = AppTest.from_string(source, default_timeout=120)
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    return run
