"""A Delta table in a local folder after a loss of power: what must be fsynced, and what may be found torn.

delta-rs writes log entries without fsync. Until :func:`sync_log` returned, an entry may come back empty or name a file
that isn't whole; the ledger keeps the rows until then, so :func:`drop_torn` may take such entries out.
"""

import json
import os
from pathlib import Path
from typing import Final
from urllib.parse import unquote

__all__ = ["drop_torn", "sync_file", "sync_log"]

_MAGIC: Final = b"PAR1"


def sync_file(path: Path) -> None:
    """Flush a file, or a folder's list of names, to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_log(table: Path, after: int) -> None:
    """Flush the log entries and checkpoints above version ``after`` and every folder up to the tables' own parent."""
    log = table / "_delta_log"
    for path in log.iterdir():
        if path.is_file() and (path.name == "_last_checkpoint" or _version(path) > after):
            sync_file(path)
    for folder in (log, table, table.parent, table.parent.parent):
        sync_file(folder)


def drop_torn(table: Path, above: int) -> int:
    """Remove the first torn log entry above version ``above`` and all after it; return how many were removed.

    An entry is whole when each line is JSON and each file that it adds has the size it states and Parquet's end mark.
    """
    log = table / "_delta_log"
    if not log.is_dir():
        return 0
    entries = sorted(path for path in log.glob("*.json") if _version(path) > above)
    first = next((place for place, path in enumerate(entries) if not _whole(table, path)), len(entries))
    torn = entries[first:]
    end = _version(torn[0]) if torn else None
    checkpoints = [path for path in log.glob("*.parquet") if _version(path) > above]
    bad = [path for path in checkpoints if not _parquet(path) or (end is not None and _version(path) >= end)]
    if torn or bad or not _json(log / "_last_checkpoint"):
        (log / "_last_checkpoint").unlink(missing_ok=True)
    for path in (*bad, *reversed(torn)):
        path.unlink()
    sync_file(log)
    return len(torn)


def _version(path: Path) -> int:
    digits = path.name.split(".", 1)[0]
    return int(digits) if digits.isdigit() else -1


def _whole(table: Path, entry: Path) -> bool:
    try:
        actions = [json.loads(line) for line in entry.read_bytes().splitlines()]
    except ValueError:
        return False
    adds = [action["add"] for action in actions if isinstance(action, dict) and "add" in action]
    return bool(actions) and all(_parquet(table / unquote(add["path"]), add["size"]) for add in adds)


def _parquet(path: Path, size: int | None = None) -> bool:
    if not path.is_file() or path.stat().st_size < 2 * len(_MAGIC) or size not in (None, path.stat().st_size):
        return False
    with path.open("rb") as file:
        file.seek(-len(_MAGIC), os.SEEK_END)
        return file.read() == _MAGIC


def _json(path: Path) -> bool:
    try:
        return not path.exists() or bool(json.loads(path.read_bytes()))
    except ValueError:
        return False
