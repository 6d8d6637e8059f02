"""A ledger that is opened to be read only: no write can happen, and nobody who writes waits."""

from pathlib import Path

import pytest

from mindmem.core.errors import StoreUnavailable
from mindmem.core.ledger.sql import open_ledger, sqlite_url


@pytest.mark.parametrize("name", ["ledger.db", "a b%2.db", "ä?#&x=1.db"])
def test_it_sees_what_others_write_and_refuses_to_write(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    with open_ledger(sqlite_url(file)) as writer, open_ledger(sqlite_url(file, read_only=True)) as reader:
        assert reader.uuid == writer.uuid
        writer.set_meta("colour", "blue")
        assert reader.get_meta("colour") == "blue"
        with pytest.raises(StoreUnavailable, match="read-only"):
            reader.set_meta("colour", "red")


def test_it_is_not_made_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        open_ledger(sqlite_url(tmp_path / "ledger.db", read_only=True))
    assert not (tmp_path / "ledger.db").exists()
