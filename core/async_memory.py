"""The public Python API for asyncio."""

import asyncio
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from mindmem.core.clock import Clock
from mindmem.core.ingest.request import AddRequest
from mindmem.core.memory import Memory
from mindmem.core.records import Receipt
from mindmem.core.services import Services
from mindmem.core.settings import Settings

__all__ = ["AsyncMemory"]

P = ParamSpec("P")
T = TypeVar("T")


def _threaded(
    method: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate["AsyncMemory", P], Coroutine[Any, Any, T]]:
    @functools.wraps(method)
    async def call(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(method, self.memory, *args, **kwargs)

    return call


def _streamed(
    method: Callable[Concatenate[Memory, P], Iterator[T]],
) -> Callable[Concatenate["AsyncMemory", P], AsyncGenerator[T, None]]:
    @functools.wraps(method)
    async def steps(self: "AsyncMemory", /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[T, None]:
        found = method(self.memory, *args, **kwargs)
        try:
            while (step := await asyncio.to_thread(_following, found)) is not None:
                yield step[0]
        finally:
            if isinstance(found, Generator):
                await asyncio.to_thread(found.close)

    return steps


def _following(steps: Iterator[T]) -> tuple[T] | None:
    return next(((step,) for step in steps), None)


class AsyncMemory:
    """The same API for asyncio: each call runs in a worker thread, so the event loop never waits for the store.

    Takes the arguments of :class:`Memory`; ``memory`` is the synchronous twin over the same store.

    >>> import asyncio
    >>> from mindmem import AsyncMemory
    >>> async def main():
    ...     async with AsyncMemory(tmp_home) as memory:
    ...         await memory.add("I live in Oslo.", user_id="ann")
    ...         return [hit.memory.value for hit in (await memory.search("Where do I live?", user_id="ann")).hits]
    >>> asyncio.run(main())
    ['Oslo']
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        project_id: str | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        services: Services | None = None,
    ) -> None:
        self.memory = Memory(home, project_id=project_id, settings=settings, clock=clock, services=services)

    add = _threaded(Memory.add)
    enqueue = _threaded(Memory.enqueue)
    process_pending = _threaded(Memory.process_pending)
    flush = _threaded(Memory.flush)
    update = _threaded(Memory.update)
    delete = _threaded(Memory.delete)
    delete_all = _threaded(Memory.delete_all)
    merge_entities = _threaded(Memory.merge_entities)
    split_entity = _threaded(Memory.split_entity)
    undo = _threaded(Memory.undo)
    search = _threaded(Memory.search)
    search_steps = _streamed(Memory.search_steps)
    answer = _threaded(Memory.answer)
    context = _threaded(Memory.context)
    get = _threaded(Memory.get)
    evidence = _threaded(Memory.evidence)
    list = _threaded(Memory.list)
    scroll = _threaded(Memory.scroll)
    history = _threaded(Memory.history)
    timeline = _threaded(Memory.timeline)
    entity = _threaded(Memory.entity)
    entities = _threaded(Memory.entities)
    graph = _threaded(Memory.graph)
    changes = _threaded(Memory.changes)
    feedback = _threaded(Memory.feedback)
    feedback_pass = _threaded(Memory.feedback_pass)
    dream = _threaded(Memory.dream)
    proposals = _threaded(Memory.proposals)
    proposal = _threaded(Memory.proposal)
    approve = _threaded(Memory.approve)
    reject = _threaded(Memory.reject)
    undo_run = _threaded(Memory.undo_run)
    fold = _threaded(Memory.fold)
    maintain = _threaded(Memory.maintain)
    rebuild_index = _threaded(Memory.rebuild_index)
    estimate_reembedding = _threaded(Memory.estimate_reembedding)
    reembed = _threaded(Memory.reembed)
    status = _threaded(Memory.status)
    verify = _threaded(Memory.verify)
    close = _threaded(Memory.close)

    async def add_each(self, requests: Iterable[AddRequest]) -> AsyncIterator[Receipt | Exception]:
        """Carry out many adds and yield what came of each, in order (see ``Memory.add_each``)."""
        outcomes = self.memory.add_each(requests)
        while (outcome := await asyncio.to_thread(next, outcomes, None)) is not None:
            yield outcome

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
