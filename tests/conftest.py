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
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """What forks and stays clear of threads itself, tests that fork, others beside them, all the rest."""
    forking = {name for name, value in vars(getattr(item, "module", None) or item).items() if _forks(value)}
    if not forking:
        return 3
    if item.get_closest_marker("faults") is not None:
        return 0
    code = getattr(getattr(item, "function", None), "__code__", None)
    return 1 if code is not None and forking & {*code.co_names} else 2


def _forks(value: object) -> bool:
    return getattr(value, "__module__", "") == "support.forks"


@pytest.fixture(scope="session", autouse=True)
def _scratch() -> Iterator[None]:
    yield
    SCRATCH.cleanup()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder for a store that nobody else uses; it is not made yet."""
    return tmp_path / "home"
