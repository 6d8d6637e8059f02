"""The world that tests run in: no network, no telemetry, no home folder, no variables of the person who runs them."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import network

KEPT = ("MINDMEM_TEST_POSTGRES", "MINDMEM_TEST_DATA", "MINDMEM_BENCH_DATA")
SCRATCH = tempfile.TemporaryDirectory(prefix="mindmem-tests-")

for name in [name for name in os.environ if name.startswith(("MINDMEM_", "PREFECT_")) and name not in KEPT]:
    del os.environ[name]
os.environ.update(
    DO_NOT_TRACK="1",
    MINDMEM_HOME=str(Path(SCRATCH.name) / "home"),
    # One thread each: many small arrays, and CI has two cores.
    OMP_NUM_THREADS="1",
    OPENBLAS_NUM_THREADS="1",
    # A flow that runs without its fixture fails at once instead of starting a server.
    PREFECT_API_URL="",
    PREFECT_HOME=str(Path(SCRATCH.name) / "prefect"),
    PREFECT_LOGGING_LEVEL="WARNING",
    PREFECT_LOGGING_TO_API_ENABLED="false",
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_SERVER_EPHEMERAL_ENABLED="false",
    PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="180",
)
network.forbid()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what forks first: Polars and onnxruntime start threads at first use, and a child forked after that hangs."""
    items.sort(key=lambda item: (not _forks(item), item.get_closest_marker("faults") is None))


def _forks(item: pytest.Item) -> bool:
    module = getattr(item, "module", None)
    return (
        any(getattr(value, "__module__", "") == "support.forks" for value in vars(module).values()) if module else False
    )


@pytest.fixture(scope="session", autouse=True)
def _scratch() -> Iterator[None]:
    yield
    SCRATCH.cleanup()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder for a store that nobody else uses; it is not made yet."""
    return tmp_path / "home"
