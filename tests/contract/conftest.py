"""The indexes that the contract is checked on. Another adapter adds itself to ``FACTORIES``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.documents import IDENTITY

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.index.port import SearchIndex


@contextmanager
def _embedded(folder: Path, embedder: EmbedderIdentity | None) -> Iterator[SearchIndex]:
    name = "vectors" if embedder else "words"
    index = EmbeddedIndex(folder / f"{name}.sqlite", name, create=True, embedder=embedder)
    yield index
    index.close()


FACTORIES = {"embedded": _embedded}


@pytest.fixture(params=FACTORIES)
def index_factory(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[EmbedderIdentity | None], SearchIndex]:
    """Return what makes an empty index for an embedder's vectors, closed when the test ends."""

    def make(embedder: EmbedderIdentity | None) -> SearchIndex:
        opened = FACTORIES[request.param](tmp_path, embedder)
        request.addfinalizer(lambda: opened.__exit__(None, None, None))
        return opened.__enter__()

    return make


@pytest.fixture
def index(index_factory: Callable[[EmbedderIdentity | None], SearchIndex]) -> SearchIndex:
    """Give an empty index with vectors."""
    return index_factory(IDENTITY)


@pytest.fixture
def lexical_index(index_factory: Callable[[EmbedderIdentity | None], SearchIndex]) -> SearchIndex:
    """Give an empty index without an embedder."""
    return index_factory(None)
