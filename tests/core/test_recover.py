"""A ledger made anew from the tables holds all that was folded, and the old one is never thrown away."""

import shutil
from pathlib import Path

import pytest

from mindmem import Memory
from mindmem.core.errors import CorruptStore
from mindmem.core.recover import rebuild_ledger
from mindmem.core.settings import Settings


def contents(home: Path) -> list[str]:
    with Memory(home) as memory:
        return sorted(claim.content for claim in memory.scroll(user_id="ann").memories)


def test_an_old_copy_that_was_put_back_is_refused_and_replaced(home: Path, tmp_path: Path) -> None:
    with Memory(home) as memory:
        memory.add("I play the cello.", user_id="ann")
    shutil.copy(home / "ledger.db", tmp_path / "old.db")
    with Memory(home) as memory:
        memory.add("I have two cats.", user_id="ann")
    before = contents(home)
    shutil.copy(tmp_path / "old.db", home / "ledger.db")
    with pytest.raises(CorruptStore, match="mindmem doctor --rebuild-ledger"):
        Memory(home)
    done = rebuild_ledger(Settings.load(home=home))
    assert done.last_seq == 2
    assert Path(done.kept).read_bytes()[:15] == b"SQLite format 3"
    assert contents(home) == before


def test_the_new_ledger_goes_on_where_the_tables_end(home: Path) -> None:
    with Memory(home) as memory:
        memory.add("I play the cello.", user_id="ann", idempotency_key="k")
    (home / "ledger.db").unlink()
    assert rebuild_ledger(Settings.load(home=home)).kept == ""
    with Memory(home) as memory:
        assert memory.add("I play the cello.", user_id="ann", idempotency_key="k").repeated
        memory.undo(memory.changes(user_id="ann")[0].change_id)
        assert memory.status().last_seq == 2
        assert not memory.verify()


def test_twice_keeps_both_old_ledgers(home: Path) -> None:
    with Memory(home) as memory:
        memory.add("I play the cello.", user_id="ann")
    kept = {rebuild_ledger(Settings.load(home=home)).kept for _ in range(2)}
    assert len(kept) == 2
    assert all(Path(file).exists() for file in kept)


def test_without_tables_nothing_is_touched(home: Path) -> None:
    settings = Settings.load(home=home)
    settings = settings.model_copy(update={"store": settings.store.model_copy(update={"fold_on_close": False})})
    with Memory(settings=settings) as memory:
        memory.add("I play the cello.", user_id="ann")
    with pytest.raises(CorruptStore, match="no tables"):
        rebuild_ledger(settings)
    assert contents(home) == ["I play the cello."]
