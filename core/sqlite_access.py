"""How a SQLite file can be opened by a process that may not write it: on a read-only mount, or without the rights.

SQLite reads a file in WAL mode through two more files beside it. Where they can't be made, a file that nobody writes to
can still be read as it lies there.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

__all__ = ["Access", "access"]


@dataclass(frozen=True, slots=True)
class Access:
    """What a file allows just now; a connection is good as long as this stays the same.

    ``query`` is the query of the URI that opens it (empty: for writing). ``state`` tells one state from another of a
    file that is read without locks: who reads it must look again afterwards, and drop what was read if it moved.
    """

    path: Path
    query: str = ""
    state: tuple[int, ...] = ()

    @property
    def writes(self) -> bool:
        """Return whether the file may be written."""
        return not self.query

    @property
    def uri(self) -> str:
        """Return the URI that opens the file in this way."""
        return f"file:{quote(str(self.path))}?{self.query}"


_WITHOUT_LOCKS: Final = "mode=ro&immutable=1"


def access(path: Path) -> Access:
    """Return how the file can be opened; one that isn't there is for its writer to make."""
    try:
        found = path.stat()  # first: a file that is made just now must not look like one without the right to write
        if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            return Access(path)
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            return Access(path, "mode=ro")
    except OSError:
        return Access(path)
    return Access(path, _WITHOUT_LOCKS, (found.st_ino, found.st_size, found.st_mtime_ns))
