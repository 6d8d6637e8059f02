"""Named points in every step of commit, fold, projection, rebuild, ingest and dreaming, where tests kill the process.

Outside tests a point costs one comparison.
"""

from collections.abc import Callable
from typing import Final

__all__ = ["FAILPOINTS", "arm", "reach"]

FAILPOINTS: Final = (
    "ingest.claimed",
    "ingest.extracted",
    "ingest.decided",
    "ingest.committed",
    "ingest.projected",
    "ingest.file_done",
    "commit.begun",
    "commit.key",
    "commit.rows",
    "commit.heads",
    "commit.seq",
    "commit.durable",
    "fold.leased",
    "fold.appended",
    "fold.synced",
    "fold.all_appended",
    "fold.pinned",
    "fold.pruned",
    "project.read",
    "project.applied",
    "project.durable",
    "rebuild.begun",
    "rebuild.entities",
    "rebuild.filled",
    "rebuild.caught_up",
    "rebuild.swapped",
    "rebuild.cleaned",
    "dream.decided",
    "dream.cluster",
    "dream.marked",
    "feedback.committed",
)
"""All points, in the order of the way of data. ``commit.seq`` is before the database's commit, ``commit.durable``
after; likewise ``project.applied`` and ``project.durable``."""

_hook: Callable[[str], None] | None = None


def arm(hook: Callable[[str], None] | None) -> None:
    """Call ``hook`` with the name of each point that is reached; None disarms."""
    global _hook
    _hook = hook


def reach(name: str) -> None:
    """Pass the named point."""
    if _hook is not None:
        _hook(name)
