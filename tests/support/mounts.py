"""Disks that can be made read-only or full: mounts that only the child of a test sees, gone when it ends."""

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["filled", "own_mounts", "read_only", "refusal", "small_disk"]

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_READ_ONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 32, 4096, 16384, 1 << 18

_libc = ctypes.CDLL(None, use_errno=True)


def own_mounts() -> None:
    """Give this process mounts of its own; call it in a forked child, which has one thread.

    Raises:
        OSError: this machine doesn't permit it.
    """
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_NEW_MOUNTS) != 0:
        _checked(_libc.unshare(_NEW_MOUNTS | _NEW_USER), "unshare")
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    _mount("none", Path("/"), "", _REC | _PRIVATE)


def small_disk(folder: Path, size: int) -> None:
    """Mount an empty disk of ``size`` bytes at a folder."""
    _mount("tmpfs", folder, "tmpfs", 0, f"size={size}")


@contextmanager
def read_only(folder: Path, *, at: Path | None = None) -> Iterator[None]:
    """Mount a folder at ``at`` (over itself), read-only in the block and writable after it."""
    at = at or folder
    _mount(str(folder), at, "", _BIND)
    _mount("none", at, "", _REMOUNT | _BIND | _READ_ONLY)
    yield
    _mount("none", at, "", _REMOUNT | _BIND)


@contextmanager
def filled(folder: Path, left: int) -> Iterator[None]:
    """Let only ``left`` bytes be free on a folder's disk in the block."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as file:
        state = os.statvfs(folder)
        os.posix_fallocate(file.fileno(), 0, max(1, state.f_bavail * state.f_frsize - left))
    yield
    ballast.unlink()


def refusal(folder: Path) -> str:
    """Return why this machine permits no such mounts, empty if it does; call it in a forked child."""
    try:
        own_mounts()
        small_disk(folder, 1 << 20)
        with read_only(folder):
            try:
                (folder / "file").touch()
            except OSError as error:
                return "" if error.errno == errno.EROFS else str(error)
        return "a read-only mount was written"
    except OSError as error:
        return f"mounts are not permitted here: {error}"


def _mount(source: str, target: Path, kind: str, flags: int, data: str = "") -> None:
    done = _libc.mount(source.encode(), str(target).encode(), kind.encode() or None, flags, data.encode() or None)
    _checked(done, f"mount of {target}")


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
