"""Prefect's server as ``mindmem up`` runs it: ``python -m mindmem.deployments.server server start``, but calm.

The server's background worker looks for due work four times a second, which costs a small machine as much as everything
else together. Its work is due by the minute, and new work wakes it at once whatever the pause.
"""

import sys
from datetime import timedelta
from functools import partial
from typing import Final

from prefect.cli import app
from prefect.server.api import background_workers

__all__ = ["PAUSE", "calm", "main"]

PAUSE: Final = timedelta(seconds=5)


def calm() -> None:
    """Make the worker that the server starts look less often; a Prefect that has none is left as it is."""
    worker = getattr(background_workers, "Worker", None)
    if worker is not None:
        calmer = partial(worker, minimum_check_interval=PAUSE, scheduling_resolution=PAUSE)
        setattr(background_workers, "Worker", calmer)  # noqa: B010 (its type is a class)


def main() -> None:
    """Run Prefect's command line on the calm server."""
    calm()
    sys.argv[0] = "prefect"
    app()


if __name__ == "__main__":
    main()
