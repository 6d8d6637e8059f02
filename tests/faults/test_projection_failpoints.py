"""A projection or a rebuild that was killed at any of its points is completed by the next run."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from support.documents import ANN, IDENTITY, ask, commit, commit_entities, embed, entity, memory
from support.forks import KILLED, alone, outcome, start

from mindmem.core import failpoints
from mindmem.core.index.documents import embed_text
from mindmem.core.index.projector import Projector
from mindmem.core.index.rebuild import rebuild
from mindmem.core.ledger.sql import open_ledger, sqlite_url
from mindmem.core.tables.rows import memory_of

pytestmark = pytest.mark.faults

NAMES = [f"mem_{number}" for number in range(6)]
SHELF = entity("Shelf s3")


def _points(step: str) -> list[str]:
    return [name for name in failpoints.FAILPOINTS if name.startswith(f"{step}.")]


def _commit(home: Path) -> None:
    home.mkdir(exist_ok=True)
    with open_ledger(sqlite_url(home / "ledger.db")) as ledger:
        commit_entities(ledger, SHELF)
        for number in range(6):
            commit(ledger, memory(f"The shelf s{number} holds box b{number}", name=str(number)))


def _project(home: Path) -> None:
    with open_ledger(sqlite_url(home / "ledger.db")) as ledger:
        projector = Projector(ledger, home / "index", identity=IDENTITY)
        for seq in (2, None):
            projector.catch_up(seq)
        projector.close()


def _rebuild(home: Path) -> None:
    with open_ledger(sqlite_url(home / "ledger.db")) as ledger:
        entries = ledger.read_log(1, 5, tables=["memories"])
        rows = [memory_of(row) for entry in entries for row in entry.batches["memories"].to_pylist()]
        built = [(one, one.recorded_at, embed(embed_text(one))) for one in rows if one.recorded_at is not None]
        projector = Projector(ledger, home / "index", identity=IDENTITY)
        rebuild(projector, [built], 5, entities=[[SHELF]])
        projector.close()


def _killed(work: Callable[[Path], None], home: Path, point: str) -> int:
    def kill(name: str) -> None:
        if name == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def run() -> None:
        failpoints.arm(kill)
        work(home)

    return outcome(start(run))


def _look(home: Path) -> tuple[list[str], list[str], list[str], int, int]:
    """Return all ids, what a search for one finds, the entity in a text, the index's watermark, and the number of
    files."""
    with open_ledger(sqlite_url(home / "ledger.db")) as ledger:
        projector = Projector(ledger, home / "index", identity=IDENTITY)
        projector.catch_up(None)
        everything = [one.memory_id for one in projector.index.scan(ANN.partition, None, order="id").memories]
        found = [scored.memory_id for scored in projector.index.hybrid(ask("shelf s3 box b3", k=1))]
        linked = [name for link in projector.index.linked(ANN.partition, "On shelf s3") for name in link.entity_ids]
        seen = everything, found, linked, projector.index.watermark(), len(list((home / "index").glob("*.sqlite")))
        projector.close()
    return seen


@pytest.mark.parametrize("point", _points("project"))
def test_a_killed_projection_is_completed_by_the_next(point: str, tmp_path: Path) -> None:
    alone(lambda: _commit(tmp_path))
    assert _killed(_project, tmp_path, point) == KILLED
    assert alone(lambda: _look(tmp_path)) == (NAMES, ["mem_3"], [SHELF.entity_id], 7, 1)


@pytest.mark.parametrize("point", _points("rebuild"))
def test_a_killed_rebuild_leaves_one_whole_index(point: str, tmp_path: Path) -> None:
    alone(lambda: _commit(tmp_path))
    alone(lambda: _project(tmp_path))
    assert _killed(_rebuild, tmp_path, point) == KILLED
    assert alone(lambda: _look(tmp_path)) == (NAMES, ["mem_3"], [SHELF.entity_id], 7, 1)
    alone(lambda: _rebuild(tmp_path))
    assert alone(lambda: _look(tmp_path)) == (NAMES, ["mem_3"], [SHELF.entity_id], 7, 1)


def test_the_same_runs_without_a_kill_end_well(tmp_path: Path) -> None:
    alone(lambda: _commit(tmp_path))
    for work in (_project, _rebuild):
        assert _killed(work, tmp_path, "nowhere") == 0
        assert alone(lambda: _look(tmp_path)) == (NAMES, ["mem_3"], [SHELF.entity_id], 7, 1)
