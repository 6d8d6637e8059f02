from collections.abc import Iterator
from pathlib import Path

import pytest

from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.reader import Reader


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[SqlLedger]:
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as opened:
        yield opened


@pytest.fixture
def tables(tmp_path: Path) -> DeltaTables:
    return DeltaTables(tmp_path / "tables")


@pytest.fixture
def reader(ledger: SqlLedger, tables: DeltaTables) -> Reader:
    return Reader(ledger, tables)
