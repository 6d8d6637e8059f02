"""Documentation runs: every docstring example, README's Python, and README's two commands are those of CI."""

import doctest
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import mindmem.core
from mindmem.core.tables import DUCKDB_QUERY, POLARS_QUERY

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _source(module: pkgutil.ModuleInfo) -> str:
    spec = importlib.util.find_spec(module.name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


MODULES = sorted(
    module.name for module in pkgutil.walk_packages(mindmem.core.__path__, "mindmem.core.") if ">>> " in _source(module)
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_give_what_they_say(name: str, home: Path) -> None:
    """Examples may use ``memory`` (a new store, one per docstring) and ``tmp_home`` (a folder for one)."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    examples = [found for found in doctest.DocTestFinder().find(importlib.import_module(name), name) if found.examples]
    for number, example in enumerate(examples):
        example.globs.update(tmp_home=home / f"{number}")
        if any(re.search(r"\bmemory\.", line.source) for line in example.examples):
            from mindmem import Memory

            with Memory(home / f"{number}") as memory:
                example.globs["memory"] = memory
                runner.run(example, out=report.append)
        else:
            runner.run(example, out=report.append)
    assert runner.tries
    assert not runner.failures, "".join(report)


def test_readme_python_runs_in_the_order_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 3, "the API, Polars, DuckDB"
    for number, block in enumerate(blocks):
        exec(compile(block, f"README.md, python block {number + 1}", "exec"), names)


def test_readme_has_two_commands_and_ci_runs_those() -> None:
    commands = re.findall(r"^python3\.11 -m venv .*$", README, flags=re.MULTILINE)
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert len(commands) == 2
    assert commands[0].endswith("mindmem demo")
    assert commands[1].endswith("pytest")
    assert "grep '^python3\\.11 -m venv' README.md" in run, "CI takes the commands from README, so they can't differ"


@pytest.mark.parametrize("query", [POLARS_QUERY, DUCKDB_QUERY])
def test_readme_shows_the_queries_that_are_tested_with_the_tables(query: str) -> None:
    assert query.format(tables="memories/tables") in README


def test_readme_names_commands_that_exist() -> None:
    from mindmem.core.serve.cli import cli

    named = set(re.findall(r"^mindmem ([a-z-]+)", README, flags=re.MULTILINE))
    assert named
    assert named <= set(cli.list_commands(None))  # type: ignore[arg-type]  # the context isn't used
