"""A fold in a process of its own that is killed at a named point.

The children are forked from a server that has this module loaded and no thread started.
"""

import multiprocessing
import os
import signal
from pathlib import Path

from mindmem.core.failpoints import arm
from mindmem.core.ledger.sql import open_ledger
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.fold import fold

__all__ = ["fold_in_child"]


def fold_in_child(home: Path, die_at: str, times: int) -> int:
    """Fold the store in ``home`` in a child that is killed when it reaches ``die_at`` for the given time; return the
    child's exit code, minus 9 when it was killed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    child = context.Process(target=_fold, args=(str(home), die_at, times))
    child.start()
    child.join(60)
    assert child.exitcode is not None
    return child.exitcode


def _fold(home: str, die_at: str, times: int) -> None:
    left = [times]

    def hook(name: str) -> None:
        left[0] -= name == die_at
        if name == die_at and left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    arm(hook)
    with open_ledger(f"sqlite:///{home}/ledger.db") as ledger:
        fold(ledger, DeltaTables(f"{home}/tables"), owner="killed child", max_rows=25)
