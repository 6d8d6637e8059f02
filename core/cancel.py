"""Cancelling work in a thread, which nothing can stop from outside: it looks for a flag where it waits."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from mindmem.core.errors import MindMemError

__all__ = ["Cancelled", "cancellable", "refuse_if_cancelled", "until_cancelled"]

_POLL_SECONDS: Final = 0.2
_flag: Final[ContextVar[threading.Event | None]] = ContextVar("mindmem_cancel", default=None)


class Cancelled(MindMemError):
    """The run was cancelled: nothing more is asked or written; what is left stays pending."""

    code: ClassVar[str] = "cancelled"


@contextmanager
def cancellable(flag: threading.Event) -> Iterator[None]:
    """Have the work inside stop soon after ``flag`` is set; threads and tasks that inherit the context, too."""
    token = _flag.set(flag)
    try:
        yield
    finally:
        _flag.reset(token)


def refuse_if_cancelled() -> None:
    """Raise Cancelled once the work is to stop."""
    flag = _flag.get()
    if flag is not None and flag.is_set():
        raise Cancelled("The run was cancelled; what is left stays pending.")


async def until_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Run ``work``, and cancel what it waits for once it is to stop.

    Raises:
        Cancelled: it was stopped.
    """
    if _flag.get() is None:
        await work
        return
    task = asyncio.ensure_future(work)
    try:
        while not task.done():
            refuse_if_cancelled()
            await asyncio.wait({task}, timeout=_POLL_SECONDS)
        task.result()
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
