"""Slots: a bound on what is under way at once, in all event loops and threads of a process."""

import asyncio
from collections import deque
from threading import Lock
from types import TracebackType
from typing import Final
from weakref import WeakValueDictionary

__all__ = ["Slots", "shared_slots"]


class Slots:
    """Like asyncio.Semaphore, but for tasks of any loop; first come, first served."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._lock = Lock()
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            loop = asyncio.get_running_loop()
            waiter = (loop, loop.create_future())
            self._waiting.append(waiter)
        try:
            await waiter[1]
        except BaseException:
            with self._lock:
                still_waiting = waiter in self._waiting
                if still_waiting:
                    self._waiting.remove(waiter)
            if not still_waiting:
                # The slot was handed over in the moment of the cancellation.
                self._release()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def _release(self) -> None:
        """Hand the slot to the longest waiting, else free it."""
        with self._lock:
            while self._waiting:
                loop, woken = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_wake, woken)
                except RuntimeError:
                    # That loop was closed under its tasks: nobody waits there any more.
                    continue
                return
            self._free += 1


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


_shared: Final[WeakValueDictionary[tuple[str, int], Slots]] = WeakValueDictionary()
_shared_lock: Final = Lock()


def shared_slots(name: str, most: int) -> Slots:
    """Return the process's slots of a name (an endpoint), the same ones for all who ask with the same bound."""
    with _shared_lock:
        slots = _shared.get((name, most))
        if slots is None:
            slots = _shared[name, most] = Slots(most)
        return slots
