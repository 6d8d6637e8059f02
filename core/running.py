"""Running coroutines and async iterators from code that waits for them, inside an event loop or not."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

__all__ = ["iterate", "run"]

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return what the coroutine returns; where a loop runs already, on a loop of a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(copy_context().run, asyncio.run, work).result()


def iterate(steps: AsyncGenerator[T, None]) -> Iterator[T]:
    """Yield what an async generator yields, each when it is asked for, on a loop of a thread of its own.

    A caller that stops early closes the generator.
    """
    context = copy_context()

    async def following() -> tuple[T] | None:
        try:
            return (await anext(steps),)
        except StopAsyncIteration:
            return None

    with ThreadPoolExecutor(max_workers=1) as pool:
        runner = asyncio.Runner()
        try:
            while (step := pool.submit(runner.run, following(), context=context).result()) is not None:
                yield step[0]
        finally:
            pool.submit(runner.run, steps.aclose(), context=context).result()
            pool.submit(runner.close).result()
