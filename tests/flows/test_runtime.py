"""A task's work runs in a thread: it stops when the task is cancelled, and its calls know that the task repeats."""

import asyncio
import time

import pytest

from mindmem.core.cancel import Cancelled, refuse_if_cancelled
from mindmem.core.llm.retry import Fault, Patience
from mindmem.tasks.runtime import step


async def test_the_work_of_a_cancelled_task_stops() -> None:
    ended: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(500):
                refuse_if_cancelled()
                time.sleep(0.01)
        except Cancelled as error:
            ended.append(error)
            raise

    running = asyncio.create_task(step("work", "work")(work).fn())
    await asyncio.sleep(0.05)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    for _ in range(100):
        await asyncio.sleep(0.01)
        if ended:
            break
    assert len(ended) == 1


async def test_the_work_of_a_task_that_goes_on_is_not_stopped() -> None:
    def work() -> str:
        refuse_if_cancelled()
        return "done"

    assert await step("work", "work")(work).fn() == "done"
    refuse_if_cancelled()


async def test_a_call_within_a_task_tries_twice_and_elsewhere_as_often_as_is_set() -> None:
    def tries() -> int:
        patience = Patience(retries=4, seconds=60.0)
        fault = Fault("busy", transient=True)
        return next(n for n in range(1, 9) if patience.wait(fault, n, 0.0, lambda: 0.0) is None)

    assert await step("work", "work")(tries).fn() == 2
    assert tries() == 5
