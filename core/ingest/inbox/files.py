"""Find the files of an inbox and name them by content."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mindmem.core.errors import InvalidInput

__all__ = ["SUFFIXES", "InboxFile", "Unreadable", "find_files", "paths_below"]

SUFFIXES: Final = (".jsonl", ".ndjson", ".json", ".parquet")
"""Endings of the files that an inbox takes; others in a folder are left alone."""
_BLOCK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class InboxFile:
    """A file as it was found: ``name`` is its path below the inbox, ``sha256`` its content, ``size`` its bytes.

    ``breaks`` are its line breaks, for showing how far a reader is.
    """

    path: Path
    name: str
    size: int
    sha256: str
    modified_ns: int
    breaks: int

    def is_unchanged(self) -> bool:
        """Return whether the file seems to be what it was; one that grows while it is read is not."""
        try:
            now = self.path.stat()
        except OSError:
            return False
        return (now.st_size, now.st_mtime_ns) == (self.size, self.modified_ns)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that the operating system does not let us read; it is tried again by the next run."""

    path: Path
    name: str
    reason: str


def find_files(path: Path) -> list[InboxFile | Unreadable]:
    """Return the files of a folder and its subfolders, or the one file, ordered by name.

    Hidden files and files with other endings in a folder are somebody else's. Links to folders are not followed.

    Raises:
        InvalidInput: nothing is there, or a single file has an ending that no reader knows.
    """
    if not path.exists():
        raise InvalidInput(f"The inbox {str(path)!r} does not exist: give a folder or a file.", field="path")
    if path.is_dir():
        return [_named(found, found.relative_to(path).as_posix()) for found in sorted(paths_below(path))]
    if path.suffix.lower() not in SUFFIXES:
        raise InvalidInput(
            f"The file {path.name!r} is of no known kind: expected one of {', '.join(SUFFIXES)}.", field="path"
        )
    return [_named(path, path.name)]


def paths_below(folder: Path) -> list[Path]:
    """Return the files that a folder and its subfolders offer, unread, in no order; none where no folder is."""
    found: list[Path] = []
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found.extend(
            Path(where, name)
            for name in names
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES and Path(where, name).is_file()
        )
    return found


def _named(path: Path, name: str) -> InboxFile | Unreadable:
    hasher = hashlib.sha256()
    size = breaks = 0
    try:
        with path.open("rb") as stream:
            modified_ns = os.fstat(stream.fileno()).st_mtime_ns
            while block := stream.read(_BLOCK):
                hasher.update(block)
                size += len(block)
                breaks += block.count(b"\n")
    except OSError as error:
        return Unreadable(path, name, f"The file can't be read: {error.strerror or type(error).__name__}.")
    return InboxFile(path, name, size, hasher.hexdigest(), modified_ns, breaks)
