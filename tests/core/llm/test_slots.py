"""Slots bound what is under way at once over event loops and threads, and none is lost."""

import asyncio
import threading

from mindmem.core.llm.slots import Slots, shared_slots


async def test_a_cancelled_wait_takes_no_slot_even_when_it_was_just_handed_over() -> None:
    slots = Slots(1)

    async def hold() -> None:
        async with slots:
            await asyncio.sleep(0)

    for turns in range(6):
        await slots.__aenter__()
        waiting = asyncio.create_task(hold())
        await asyncio.sleep(0)
        await slots.__aexit__(None, None, None)
        for _ in range(turns):
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(hold(), 1)


def test_threads_with_loops_of_their_own_never_hold_more_than_the_bound() -> None:
    slots = Slots(2)
    lock = threading.Lock()
    inside: list[int] = []
    most: list[int] = []

    async def work(number: int) -> None:
        async with slots:
            with lock:
                inside.append(number)
                most.append(len(inside))
            await asyncio.sleep(0.001)
            with lock:
                inside.remove(number)

    async def many(first: int) -> None:
        await asyncio.gather(*(work(first + number) for number in range(20)))

    threads = [threading.Thread(target=lambda first=first: asyncio.run(many(first))) for first in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(most) == 60
    assert max(most) == 2


def test_a_slot_handed_to_a_loop_that_was_closed_goes_to_the_next() -> None:
    slots = Slots(1)
    dead, alive = asyncio.new_event_loop(), asyncio.new_event_loop()
    alive.run_until_complete(slots.__aenter__())
    waiting = slots.__aenter__()
    task = dead.create_task(waiting)
    dead.run_until_complete(asyncio.sleep(0))
    dead.close()
    alive.run_until_complete(slots.__aexit__(None, None, None))
    alive.run_until_complete(asyncio.wait_for(slots.__aenter__(), 1))
    alive.close()
    # Nobody can end a task of a closed loop properly; this keeps it from complaining.
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    waiting.close()


def test_whoever_asks_for_an_endpoint_with_the_same_bound_shares_its_slots() -> None:
    assert shared_slots("https://a.example", 3) is (kept := shared_slots("https://a.example", 3))
    assert shared_slots("https://a.example", 4) is not kept
    assert shared_slots("https://b.example", 3) is not kept
