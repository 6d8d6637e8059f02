"""One BLAS thread for a query: on a busy machine a second one makes a 1 ms product wait 10 ms for its turn.

numpy's wheels carry OpenBLAS, whose own function sets the count; it is found in the library that numpy brought. Where
there is none (another BLAS, another platform) nothing is done, and the product runs as numpy was built."""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["one_thread"]

_inside = 0
_before = 1
_lock = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the block's products on one thread; the last block to end sets back the count that was found."""
    global _inside, _before
    calls = _openblas()
    if calls is None:
        yield
        return
    get, put = calls
    with _lock:
        if _inside == 0:
            _before = get()
            if _before != 1:
                put(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _before != 1:
                put(_before)


@cache
def _openblas() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for library in sorted(folder.glob("*openblas*")) if folder.is_dir() else ():
            try:
                loaded = ctypes.CDLL(str(library))
                return loaded.scipy_openblas_get_num_threads64_, loaded.scipy_openblas_set_num_threads64_
            except (OSError, AttributeError):
                continue
    return None
