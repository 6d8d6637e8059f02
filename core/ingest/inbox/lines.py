"""Read a file of the inbox line by line, in bounded memory; what can't be read is named, never skipped."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, NoReturn

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MAX_JSON", "MAX_LINE", "RAW_LIMIT", "BadLine", "Line", "raw_text", "read_lines"]

MAX_LINE: Final = 64 << 20
"""Longest line of a JSONL file, in bytes: a whole conversation may stand in one line."""
MAX_JSON: Final = 256 << 20
"""Largest JSON file, in bytes: it is read as a whole, unlike JSONL."""
RAW_LIMIT: Final = 65_536
"""How much of a bad line is kept, in characters."""
_ROWS: Final = 512


@dataclass(frozen=True, slots=True)
class Line:
    """A line (JSONL), element (JSON list) or row (Parquet), 1-based; ``raw`` makes its text again when it is needed."""

    number: int
    value: object
    raw: Callable[[], str]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that can't be read. ``reason`` holds nothing of its content; ``number`` is 0 for the whole file."""

    number: int
    reason: str
    raw: str = ""


def read_lines(path: Path) -> Iterator[Line | BadLine]:
    """Yield the lines of a file in order. Blank lines are none; an empty file yields nothing.

    Raises:
        OSError: the file can't be opened or read.
    """
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _parquet(path)
    return _json(path) if suffix == ".json" else _jsonl(path)


def raw_text(data: bytes | str) -> str:
    """Return text that any table can store: bounded, without NUL, undecodable bytes and lone surrogates replaced."""
    if isinstance(data, bytes):
        data = data[: RAW_LIMIT * 4].decode("utf-8", "replace")
    return data[:RAW_LIMIT].encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")


def _jsonl(path: Path) -> Iterator[Line | BadLine]:
    with path.open("rb") as stream:
        number = 0
        while data := stream.readline(MAX_LINE + 1):
            number += 1
            if number == 1 and data.startswith((b"\xff\xfe", b"\xfe\xff")):
                yield BadLine(0, "The file is UTF-16; save it as UTF-8.", raw_text(data))
                return
            if len(data) > MAX_LINE:
                _skip_rest(stream, data)
                yield BadLine(number, f"The line is longer than {MAX_LINE >> 20} MiB.", raw_text(data))
            elif text := data.removeprefix(b"\xef\xbb\xbf").strip():
                yield _parsed(number, text)


def _skip_rest(stream: BinaryIO, data: bytes) -> None:
    while data and not data.endswith(b"\n"):
        data = stream.readline(1 << 20)


def _json(path: Path) -> Iterator[Line | BadLine]:
    size = path.stat().st_size
    if size > MAX_JSON:
        yield BadLine(0, f"A JSON file of {size >> 20} MiB is too large (at most {MAX_JSON >> 20}); save it as JSONL.")
        return
    data = path.read_bytes().removeprefix(b"\xef\xbb\xbf").strip()
    if not data:
        return
    whole = _parsed(1, data)
    if isinstance(whole, Line) and isinstance(whole.value, list):
        for number, element in enumerate(whole.value, 1):
            yield Line(number, element, _dumper(element))
    elif isinstance(whole, BadLine) and data.startswith(b"{") and b"\n" in data:
        yield from _jsonl(path)  # JSONL that somebody named .json
    else:
        yield whole


def _parsed(number: int, data: bytes) -> Line | BadLine:
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        return BadLine(number, f"Not UTF-8: byte {data[error.start]:#04x} at offset {error.start}.", raw_text(data))
    except json.JSONDecodeError as error:
        what = error.msg.split(": ")[0]  # what follows quotes the line
        return BadLine(number, f"Not JSON: {what} at character {error.pos}.", raw_text(data))
    except RecursionError:
        return BadLine(number, "Not JSON that can be read: nested too deeply.", raw_text(data))
    except ValueError:
        return BadLine(number, "Not JSON: a number is NaN, infinite or has too many digits.", raw_text(data))
    return Line(number, value, lambda: raw_text(data))


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _dumper(value: object) -> Callable[[], str]:
    return lambda: raw_text(json.dumps(value, ensure_ascii=False, default=str))


def _parquet(path: Path) -> Iterator[Line | BadLine]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with path.open("rb") as stream:
        if not stream.read(1):
            return
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for rows in file.iter_batches(batch_size=_ROWS, use_threads=False):
                columns = [_in_microseconds(column) for column in rows.columns]
                for row in pa.RecordBatch.from_arrays(columns, names=rows.schema.names).to_pylist():
                    number += 1
                    filled = _filled(row)
                    yield Line(number, filled, _dumper(filled))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno:
            raise  # the system's own word; Arrow's for a damaged file has no number
        after = f" after row {number}" if number else ""
        kind = type(error).__name__
        yield BadLine(number + 1 if number else 0, f"The Parquet file can't be read{after}: damaged or cut ({kind}).")


def _in_microseconds(column: "pa.Array") -> "pa.Array":
    """Return times of nanoseconds, as pandas writes them, as Python can hold them."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        return column.cast(pa.timestamp("us", column.type.tz), safe=False)
    return column


def _filled(row: Mapping[str, object]) -> dict[str, object]:
    # A column of a table is there for every row; null means that this row doesn't have it.
    return {name: _unnested(value) for name, value in row.items() if value is not None}


def _unnested(value: object) -> object:
    if isinstance(value, Mapping):
        return _filled(value)
    return [_unnested(item) for item in value] if isinstance(value, list) else value
