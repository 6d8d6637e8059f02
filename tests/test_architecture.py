"""What keeps the layers apart: import contracts, one reader of the environment, one place that asks the time."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    file for folder in ("core", "tasks", "flows", "dashboards", "deployments") for file in (ROOT / folder).rglob("*.py")
)
ASKS_TIME = {
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "datetime.datetime.now", "datetime.date.today",
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns",
}  # fmt: skip
READS_ENVIRONMENT = {"os.environ", "os.getenv", "os.environb", "os.getenvb"}
HEAVY = {
    "dateparser", "deltalake", "numpy", "onnxruntime", "openai", "polars", "prefect", "pyarrow", "pydantic", "rich",
    "sqlalchemy", "streamlit", "weaviate",
}  # fmt: skip


def dotted(node: ast.AST) -> str:
    """Return the dotted name of an attribute or name, empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def uses(source: str, forbidden: set[str]) -> list[tuple[int, str]]:
    """Return (line, name) where a source uses one of the names, however it was imported."""
    tree = ast.parse(source)
    renamed = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in {"os", "time"}
        for alias in node.names
    }
    found = []
    for node in ast.walk(tree):
        name = dotted(node) if isinstance(node, (ast.Attribute, ast.Name)) else ""
        first, _, rest = name.partition(".")
        full = renamed.get(first, first) + (f".{rest}" if rest else "")
        if full in forbidden:
            found.append((getattr(node, "lineno", 0), full))
    return found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("from datetime import datetime, UTC\ndatetime.now(UTC)", [(2, "datetime.now")]),
        ("from time import monotonic as tick\ntick()", [(2, "time.monotonic")]),
        ("import time\ntime.sleep(1)", []),
        ("clock.now()", []),
    ],
)
def test_the_search_for_forbidden_names_sees_through_imports(source: str, expected: list[tuple[int, str]]) -> None:
    assert uses(source, ASKS_TIME) == expected


def test_only_the_clock_asks_what_time_it_is() -> None:
    offenders = {
        str(file.relative_to(ROOT)): found
        for file in SOURCES
        if file != ROOT / "core" / "clock.py"
        if (found := uses(file.read_text(encoding="utf-8"), ASKS_TIME))
    }
    assert offenders == {}, "take a Clock or a datetime, or call clock.monotonic()"


def test_only_settings_reads_the_environment() -> None:
    offenders = {
        str(file.relative_to(ROOT)): found
        for file in SOURCES
        if file != ROOT / "core" / "settings.py"
        if (found := uses(file.read_text(encoding="utf-8"), READS_ENVIRONMENT))
    }
    assert offenders == {}, "add a setting instead"


def test_imports_keep_to_the_contracts() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("statement", ["import mindmem", "import mindmem.core.serve.cli", "import mindmem.core.errors"])
def test_a_first_import_is_light(statement: str) -> None:
    code = f"import sys; {statement}; print(*{HEAVY!r} & {{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == []
