from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from support.documents import IDENTITY

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.index.projector import Projector
from mindmem.core.ledger.sql import SqlLedger, open_ledger, sqlite_url


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with open_ledger(sqlite_url(tmp_path / "ledger.db")) as opened:
        yield opened


@pytest.fixture
def project(ledger: SqlLedger, tmp_path: Path) -> Iterator[Callable[..., Projector]]:
    """Return what opens a further projector of the ledger."""
    with ExitStack() as opened:

        def open_one(identity: EmbedderIdentity | None = IDENTITY) -> Projector:
            return opened.enter_context(closing(Projector(ledger, tmp_path / "index", identity=identity)))

        yield open_one
