"""The generations of the embedded index: one SQLite file each in one folder, kept while anybody has it open."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO

from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.errors import CorruptStore, StoreUnavailable
from mindmem.core.ids import random_id
from mindmem.core.index.embedded.index import CACHE_BYTES, EmbeddedIndex

__all__ = ["EmbeddedGenerations"]


class EmbeddedGenerations:
    """Files ``<name>.sqlite`` in a folder. Each open one holds a shared lock on ``<name>.lock``; a generation is
    deleted only by who gets that lock alone. (A file of its own: closing any handle on a SQLite file drops SQLite's
    locks.)"""

    def __init__(
        self,
        folder: Path,
        *,
        current: Callable[[], str | None],
        embedder: EmbedderIdentity | None = None,
        cache_bytes: int = CACHE_BYTES,
        lock_timeout: float = 60.0,
    ) -> None:
        """``current`` returns the generation that the ledger names; ``embedder`` is the one in use, if there is any.

        Raises:
            StoreUnavailable: the folder can't be made or written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._site = _site(folder)
        except OSError as error:
            raise StoreUnavailable(
                f"The index folder {str(folder)!r} can't be made or written ({error.strerror}): it needs some space "
                "and this user's right to write."
            ) from error
        self._folder = folder
        self._current = current
        self._embedder = embedder
        self._cache_bytes = cache_bytes
        self._lock_timeout = lock_timeout

    @property
    def site(self) -> str:
        """Return the id of the folder, which it keeps in a file."""
        return self._site

    @property
    def embedder(self) -> EmbedderIdentity | None:
        """Return the embedder in use, None when there is none at hand."""
        return self._embedder

    def create(self, name: str, embedder: EmbedderIdentity | None) -> EmbeddedIndex:
        """Make an empty generation for the vectors of ``embedder`` and open it."""
        return self._opened(name, create=True, embedder=embedder)

    def open(self, name: str) -> EmbeddedIndex:
        """Open a generation.

        Raises:
            StoreUnavailable: there is none of that name.
            EmbedderMismatch: its vectors are another embedder's than the one in use.
            CorruptStore: its file is damaged.
        """
        index = self._opened(name)
        try:
            index.expect(self._embedder)
            if index.successor and not self.exists(index.successor) and self._current() == name:
                index.forget_successor()
        except BaseException:
            index.close()
            raise
        return index

    def exists(self, name: str) -> bool:
        """Return whether there is a generation of that name."""
        return self._file(name).is_file()

    @contextmanager
    def hand_over(self, name: str, successor: str) -> Iterator[None]:
        """Keep all writers of ``name`` out for the block and make its users look for ``successor`` from now on."""
        if not self.exists(name):
            yield
            return
        with ExitStack() as opened, ExitStack() as shut:
            try:
                index = opened.enter_context(closing(self._opened(name)))
                shut.enter_context(index.hand_over(successor))
            except CorruptStore:  # nobody can write to a damaged file, so there is nobody to keep out
                yield
                return
            yield
            shut.close()
            if self._current() == name:
                index.forget_successor()

    def sweep(self, keep: str) -> list[str]:
        """Delete the generations but ``keep`` that nobody has open; return their names."""
        deleted: list[str] = []
        if not os.access(self._folder, os.W_OK):
            return deleted
        for lock in sorted(self._folder.glob("*.lock")):
            name = lock.stem
            if name == keep:
                continue
            with lock.open("a") as handle:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue
                file = self._file(name)
                for path in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm")), lock):
                    path.unlink(missing_ok=True)
                deleted.append(name)
        return deleted

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.sqlite"

    def _opened(self, name: str, *, create: bool = False, embedder: EmbedderIdentity | None = None) -> EmbeddedIndex:
        if not create and not self.exists(name):
            raise StoreUnavailable(f"The index generation {name} has no file; run: mindmem rebuild-index")
        held = self._held(name)
        try:
            return _Held(
                self._file(name), name, create=create, embedder=embedder, cache_bytes=self._cache_bytes,
                lock_timeout=self._lock_timeout, is_current=lambda: self._current() == name, held=held,
            )  # fmt: skip
        except BaseException:
            held.close()
            raise

    def _held(self, name: str) -> IO[str]:
        file = self._folder / f"{name}.lock"
        try:
            handle = file.open("a" if os.access(self._folder, os.W_OK) else "r")
        except OSError as error:
            raise StoreUnavailable(
                f"The index file {str(file)!r} can't be opened ({error.strerror}): its folder needs some space and "
                "this user's right to write."
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError as error:
            handle.close()
            raise StoreUnavailable(f"The index generation {name} is being deleted; open the current one.") from error
        return handle


def _site(folder: Path) -> str:
    """Return the folder's id; of several processes that make it at once, the first one's stays."""
    file = folder / "site"
    if not file.exists():
        made = folder / f"{random_id('site')}.new"
        made.write_text(made.stem, encoding="ascii")
        with suppress(FileExistsError):
            os.link(made, file)
        made.unlink()
    return file.read_text(encoding="ascii")


class _Held(EmbeddedIndex):
    """A generation whose shared lock is held until it is closed."""

    def __init__(self, path: Path, generation: str, *, held: IO[str], **options: object) -> None:
        super().__init__(path, generation, **options)  # type: ignore[arg-type]  # the caller's, by name
        self._held = held

    def close(self) -> None:
        """Release the file, then the lock on it."""
        super().close()
        self._held.close()
