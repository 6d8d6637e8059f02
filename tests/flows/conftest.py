"""One Prefect server for the flow tests, started when one of them runs, on a copy of a migrated database."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="package")
def prefect_server() -> Iterator[Path]:
    """Run a server on this machine; yield the folder of its database.

    Prefect's own harness migrates a new database each time, 20 seconds of work; a copy of the last one's takes none.
    """
    import prefect
    from prefect.settings import (
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
        PREFECT_LOGGING_LEVEL,
        PREFECT_LOGGING_TO_API_ENABLED,
        PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW,
        PREFECT_SERVER_EPHEMERAL_ENABLED,
        temporary_settings,
    )
    from prefect.testing import utilities

    template = Path(tempfile.gettempdir()) / f"prefect-{prefect.__version__}-template.db"
    made: list[str] = []
    real = utilities.mkdtemp

    def mkdtemp() -> str:
        made.append(real())
        if template.exists():
            shutil.copy(template, Path(made[-1]) / "prefect-test.db")
        return made[-1]

    here = {
        PREFECT_SERVER_EPHEMERAL_ENABLED: True,
        PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
        PREFECT_LOGGING_TO_API_ENABLED: True,
        PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW: "ignore",
        PREFECT_LOGGING_LEVEL: "INFO",
    }
    utilities.mkdtemp = mkdtemp
    try:
        with temporary_settings(here), utilities.prefect_test_harness(server_startup_timeout=180):
            database = Path(made[0]) / "prefect-test.db"
            if not template.exists():
                _keep(database, template)
            yield database.parent
    finally:
        utilities.mkdtemp = real


def _keep(database: Path, template: Path) -> None:
    copy = template.with_suffix(f".{os.getpid()}")
    source, target = sqlite3.connect(database), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()
    copy.replace(template)
