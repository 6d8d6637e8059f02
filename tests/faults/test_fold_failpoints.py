"""A fold that is killed at any of its points: the next one completes it, and nothing is lost or doubled."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from support.builders import llm_call
from support.changes import revise, say
from support.folding import fold_in_child

from mindmem.core.failpoints import FAILPOINTS
from mindmem.core.ledger.sql import open_ledger
from mindmem.core.tables.contracts import TABLES
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold
from mindmem.core.tables.reader import Reader
from mindmem.core.tables.verify import verify

pytestmark = pytest.mark.faults

POINTS = [name for name in FAILPOINTS if name.startswith("fold.")]
# Once in the first table and round, once in the midst of a later one.
CASES = [(name, times) for name in POINTS for times in (1, 8) if times == 1 or name in ("fold.appended", "fold.synced")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a folded part and an unfolded one that takes several rounds."""
    home = tmp_path_factory.mktemp("prepared")
    with open_ledger(f"sqlite:///{home}/ledger.db") as ledger:
        made = [say(ledger, f"u{place % 3}", place, f"thing {place}")[1] for place in range(6)]
        fold(ledger, DeltaTables(home / "tables"), owner="test")
        for place in range(6, 16):
            say(ledger, f"u{place % 3}", place, f"thing {place}")
        for one in made[:3]:
            revise(ledger, one, status="archived")
    return home


def rows(home: Path) -> dict[str, pl.DataFrame]:
    tables = DeltaTables(home / "tables")
    return {name: tables.scan(name).collect().sort(pl.all()) for name in TABLES if tables.exists(name)}


def complete(home: Path) -> None:
    """Fold as the next run does."""
    with open_ledger(f"sqlite:///{home}/ledger.db") as ledger:
        fold(ledger, DeltaTables(home / "tables"), owner="test")


@pytest.fixture(scope="module")
def expected(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pl.DataFrame]:
    home = tmp_path_factory.mktemp("uninterrupted") / "store"
    shutil.copytree(prepared, home)
    assert fold_in_child(home, "none", 1) == 0
    return rows(home)


@pytest.mark.parametrize(("point", "times"), CASES)
def test_a_fold_killed_at_any_point_is_completed_by_the_next(
    prepared: Path, expected: dict[str, pl.DataFrame], tmp_path: Path, point: str, times: int
) -> None:
    home = tmp_path / "store"
    shutil.copytree(prepared, home)
    assert fold_in_child(home, point, times) == -9
    with open_ledger(f"sqlite:///{home}/ledger.db") as ledger:
        seen = Reader(ledger, DeltaTables(home / "tables")).memories("default")
        assert len(seen) == 16
        assert sum(one.revision == 2 for one in seen) == 3
        assert verify(ledger, DeltaTables(home / "tables")) == []
    complete(home)
    found = rows(home)
    assert list(found) == list(expected)
    for name, frame in expected.items():
        assert_frame_equal(found[name], frame)
    with open_ledger(f"sqlite:///{home}/ledger.db") as ledger:
        assert ledger.pinned()[1] == ledger.pruned_to() == 19
        assert verify(ledger, DeltaTables(home / "tables")) == []


def test_a_fold_killed_again_and_again_gets_there(
    prepared: Path, expected: dict[str, pl.DataFrame], tmp_path: Path
) -> None:
    home = tmp_path / "store"
    shutil.copytree(prepared, home)
    for point in ("fold.all_appended", "fold.appended", "fold.synced", "fold.pinned"):
        assert fold_in_child(home, point, 1) == -9
    complete(home)
    for name, frame in rows(home).items():
        assert_frame_equal(frame, expected[name])


@pytest.mark.parametrize("point", [name for name in POINTS if name not in ("fold.leased", "fold.all_appended")])
def test_calls_of_models_are_neither_lost_nor_doubled_by_a_kill(tmp_path: Path, point: str) -> None:
    with open_ledger(f"sqlite:///{tmp_path}/ledger.db") as ledger:
        for number in range(1, 31):  # two rounds
            ledger.record_call(llm_call(f"c{number}"))
    assert fold_in_child(tmp_path, point, 1) == -9
    complete(tmp_path)
    assert rows(tmp_path)["llm_calls"]["seq"].sort().to_list() == list(range(1, 31))


def test_every_fold_point_is_covered() -> None:
    assert {name for name, _ in CASES} == set(POINTS)
    assert len(POINTS) == 6
