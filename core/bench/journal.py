"""The rows of a long benchmark, kept one by one, so that a run that ends early goes on where it stopped.

``configuration.json`` says what the rows were made with, ``rows.jsonl`` holds a row a line. A killed run loses what was
in flight: at worst a last line without its end, which the next run drops.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from mindmem.core.errors import CorruptStore, InvalidInput, StoreUnavailable, bounded
from mindmem.core.ids import digest

__all__ = ["Journal", "Row"]

Row = Mapping[str, object]
"""One question's outcome: JSON values; ``id`` names the question and is unique in its journal."""
_CONFIGURATION: Final = "configuration.json"
_ROWS: Final = "rows.jsonl"


class Journal:
    """The rows of one configuration in one folder.

    Args:
        folder: made when missing.
        configuration: everything that another outcome would come of (data, models, prompts, limits): JSON values.
        resume: go on with the rows that the folder holds; else it must hold none.

    Raises:
        InvalidInput: the folder holds rows and ``resume`` is off, or they were made with another configuration.
        CorruptStore: a line in the middle is not a row.
        StoreUnavailable: the folder can't be read or written.
    """

    def __init__(self, folder: Path, configuration: Mapping[str, object], *, resume: bool) -> None:
        self.folder = folder
        self.digest = digest(json.dumps(configuration, sort_keys=True), size=8)
        self._rows: dict[str, Row] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _check(folder, configuration, resume=resume)
            text = json.dumps(configuration, ensure_ascii=False, indent=2, sort_keys=True)
            (folder / _CONFIGURATION).write_text(text + "\n", encoding="utf-8")
            for row in _read(folder / _ROWS):
                self._rows[str(row["id"])] = row
            self._file = (folder / _ROWS).open("a", encoding="utf-8")
        except OSError as error:
            raise StoreUnavailable(f"Rows can't be kept in {str(folder)!r}: {error.strerror}.") from error

    @property
    def rows(self) -> Mapping[str, Row]:
        """Return the newest row of each question by its id, in the order in which they were first asked."""
        return self._rows

    def add(self, row: Row) -> None:
        """Keep a row at once; it replaces one of the same id.

        Raises:
            StoreUnavailable: the disk is full or gone; the row is not kept.
        """
        try:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            raise StoreUnavailable(f"A row can't be kept in {str(self.folder)!r}: {error.strerror}.") from error
        self._rows[str(row["id"])] = row

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check(folder: Path, configuration: Mapping[str, object], *, resume: bool) -> None:
    rows, kept = folder / _ROWS, folder / _CONFIGURATION
    if not rows.is_file() or not rows.stat().st_size:
        return
    if not resume:
        raise InvalidInput(
            f"{str(folder)!r} holds the rows of an earlier run. Go on with it by --resume, or give another --out.",
            field="out",
        )
    try:
        before = json.loads(kept.read_text("utf-8"))
    except (FileNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"{str(folder)!r} holds rows, but not what they were made with. Give another --out.", field="out"
        ) from error
    now = json.loads(json.dumps(configuration))
    differ = [name for name in sorted({*before, *now}) if before.get(name) != now.get(name)]
    if differ:
        values = "; ".join(f"{name} was {bounded(before.get(name))}, is {bounded(now.get(name))}" for name in differ)
        raise InvalidInput(
            f"The rows in {str(folder)!r} were made with another configuration: {values}. "
            "Give another --out, or the same options and settings.",
            field="out",
        )


def _read(path: Path) -> list[Row]:
    """Return the rows of a file; what follows its last complete line is cut off."""
    if not path.is_file():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    rows = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            row = json.loads(line)
            _ = row["id"]
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptStore(
                f"Line {number} of {str(path)!r} is not a row: {bounded(line)}. Delete it, or give another --out."
            ) from error
        rows.append(row)
    return rows
