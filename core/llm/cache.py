"""Valid replies on disk, so that what was paid once is not paid again: not by a resumed run, not by another process.

One file a reply, at a place that its question's digest names, below the folder of its user: dropping a user's folder
forgets them. A file appears whole by a rename and carries its own digest, so that a killed process, a torn disk or a
stranger's hand leaves a miss, never a wrong reply. A cache that can't be written costs money, not a run.
"""

import json
import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from mindmem.core.ids import digest, random_id
from mindmem.core.records import Partition

__all__ = ["ReplyCache"]

_SWEPT: Final = 0.9
"""A sweep leaves this share of the bound, so that the next one is not due at once."""
_SWEEP_EVERY: Final = 20
"""Sweeps come after each twentieth of the bound that this process wrote."""
_HALF_DONE: Final = ".new"


class ReplyCache:
    """Replies below ``folder``, of at most about ``max_bytes`` in all; the longest unused go first.

    Several processes may share it, each may write a twentieth of the bound beyond it. May be used from several threads.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._written = max_bytes  # the first reply sweeps: nobody knows what is there

    def get(self, owner: Partition, key: str) -> str | None:
        """Return the reply to the question with that digest, None if it isn't here."""
        file = self._file(owner, key)
        try:
            held = json.loads(file.read_bytes())
            text = held["text"]
            if not isinstance(text, str) or held["digest"] != digest(key, text):
                return None
            os.utime(file)  # by which a sweep tells what is in use
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return text

    def put(self, owner: Partition, key: str, text: str) -> None:
        """Keep a reply; where that fails it is not kept."""
        if not self._max_bytes:
            return
        file = self._file(owner, key)
        held = json.dumps({"digest": digest(key, text), "text": text}).encode()
        half = file.with_name(random_id("reply") + _HALF_DONE)
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            try:
                half.write_bytes(held)
                half.replace(file)
            finally:
                half.unlink(missing_ok=True)
        self._count(len(held))

    def forget(self, owner: Partition) -> None:
        """Drop all replies of a user.

        Raises:
            OSError: some could not be dropped.
        """
        if self._home(owner).exists():
            shutil.rmtree(self._home(owner))

    def _home(self, owner: Partition) -> Path:
        return self._folder / digest("project", owner.project_id) / digest("user", owner.user_id)

    def _file(self, owner: Partition, key: str) -> Path:
        return self._home(owner) / f"{key}.json"

    def _count(self, size: int) -> None:
        with self._lock:
            self._written += size
            if self._written * _SWEEP_EVERY < self._max_bytes:
                return
            self._written = 0
            with suppress(OSError):
                self._sweep()

    def _sweep(self) -> None:
        """Delete the longest unused replies, and what killed processes left, until the rest is within the bound."""
        files: list[tuple[float, int, Path]] = []
        for file in self._folder.rglob("*"):
            with suppress(OSError):  # another process sweeps, too
                state = file.lstat()
                if file.suffix in {".json", _HALF_DONE}:
                    files.append((state.st_mtime, state.st_size, file))
        total = sum(size for _, size, _ in files)
        if total <= self._max_bytes:
            return
        for _, size, file in sorted(files):
            if total <= self._max_bytes * _SWEPT:
                break
            file.unlink(missing_ok=True)
            total -= size
