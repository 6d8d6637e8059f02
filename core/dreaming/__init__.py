"""Dreaming, the use case: decide what is to be consolidated, then apply it, propose it, or take it back.

A run goes scope by scope (one user's memories). All clusters of a scope are decided first, so that the cap sees the
whole; then each is applied as a change of its own under the run's id. Killed anywhere, the next run goes on under the
same id: what was applied is no issue any more, and adds are marked last, only where all their clusters succeeded.
"""

from mindmem.core.dreaming.proposing import dreams_of, proposals, reject
from mindmem.core.dreaming.runs import approve, close_night, dream, ended
from mindmem.core.dreaming.undoing import undo_run

__all__ = ["approve", "close_night", "dream", "dreams_of", "ended", "proposals", "reject", "undo_run"]
