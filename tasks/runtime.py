"""Services for a run: one open store per process and home, retries for what may pass, and nothing said in any log."""

import asyncio
import functools
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from prefect import Task, runtime, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import FlowRunContext
from prefect.tasks import exponential_backoff

from mindmem.core.cancel import cancellable
from mindmem.core.clock import SystemClock
from mindmem.core.errors import (
    CorruptStore,
    EmbedderMismatch,
    InvalidInput,
    LeaseTaken,
    MindMemError,
    StoreBusy,
    StoreUnavailable,
)
from mindmem.core.ingest.inbox.deliver import Undelivered, without_content
from mindmem.core.llm.retry import tries
from mindmem.core.memory import Memory
from mindmem.core.settings import Settings

__all__ = ["StepFailed", "StepFailedForNow", "Store", "is_stale", "only_transient", "opened", "run_id", "step"]

P = ParamSpec("P")
R = TypeVar("R")
_SPEAKABLE: Final = (Undelivered, StoreBusy, StoreUnavailable, CorruptStore, EmbedderMismatch, LeaseTaken)
"""Errors whose message is about the store, never about what somebody said."""
_TRIES: Final = 2
"""Tries of a call of a model within a task, which may itself run four times."""


class StepFailed(MindMemError):
    """A step failed; the message is the error's code and place, since its words may quote a memory."""

    code = "step_failed"


class StepFailedForNow(StepFailed):
    """A step failed for a reason that may pass."""

    code = "step_failed_for_now"
    transient = True


@dataclass(frozen=True, slots=True)
class Store:
    """Names the store that a run works on; cheap to hand to a task, also one in another process."""

    home: str
    project_id: str
    any_index: bool = False
    """Also open an index that is damaged or holds vectors of another embedder, to replace it."""

    def memory(self) -> Memory:
        """Return the store that this process has open, or open it."""
        with _guard:
            return _held(self).memory


@dataclass(slots=True)
class _Held:
    memory: Memory
    users: int = 0


_open: Final[dict[tuple[int, Store], _Held]] = {}
_guard: Final = threading.Lock()


def _held(store: Store) -> _Held:
    # The process id is part of the key: a forked child must not use its parent's connections.
    key = (os.getpid(), store)
    if key not in _open:
        _open[key] = _Held(Memory(store.home, project_id=store.project_id, any_index=store.any_index))
    return _open[key]


@contextmanager
def opened(home: Path | None = None, project_id: str | None = None, *, any_index: bool = False) -> Iterator[Store]:
    """Hold a store open for the length of a run; runs of one process share it, the last one closes it."""
    # Prefect forwards MindMem's own log lines, but only of loggers whose level is set.
    log = logging.getLogger("mindmem")
    if log.level == logging.NOTSET:
        log.setLevel(logging.INFO)
    settings = Settings.load(home=home, project_id=project_id)
    store = Store(str(settings.home), settings.project_id, any_index)
    with _guard:
        _held(store).users += 1
    try:
        yield store
    finally:
        with _guard:
            held = _open[os.getpid(), store]
            held.users -= 1
            last = held.users == 0
            if last:
                del _open[os.getpid(), store]
        if last:
            held.memory.close()


def run_id() -> str:
    """Return the id of this flow run, which every change that it makes carries; empty outside of a run."""
    return str(runtime.flow_run.id or "")


def is_stale(minutes: int) -> bool:
    """Return whether the schedule wanted this run more than ``minutes`` ago: a later run does its work.

    Runs that somebody asked for are never stale.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None or not context.flow_run.auto_scheduled:
        return False
    due = context.flow_run.expected_start_time
    return due is not None and (SystemClock().now() - due).total_seconds() > minutes * 60


def only_transient(_task: object, _run: TaskRun, state: State[Any]) -> bool:
    """Return whether a failed task may succeed later: only errors that say so."""
    return bool(getattr(state.data, "transient", False))


def step(
    name: str, run_name: str
) -> Callable[[Callable[P, R]], Task[P, Coroutine[Any, Any, R]]]:  # fmt: skip
    """Make a Prefect task of a blocking function: it runs in a thread, is retried on transient errors, caches nothing.

    Errors leave it without the words of the error, unless these are about the store alone.
    """

    def decorate(work: Callable[P, R]) -> Task[P, Coroutine[Any, Any, R]]:
        @functools.wraps(work)
        async def run(*args: P.args, **kwargs: P.kwargs) -> R:
            stop = threading.Event()
            # The task repeats what may pass: a call that did so as well would multiply the tries.
            with tries(_TRIES), cancellable(stop):
                try:
                    return await asyncio.to_thread(_without_content(work), *args, **kwargs)
                finally:
                    # A thread goes on when its task is cancelled, and would go on paying for answers.
                    stop.set()

        made: Task[P, Coroutine[Any, Any, R]] = task(
            name=name,
            task_run_name=run_name,
            retries=3,
            retry_delay_seconds=exponential_backoff(backoff_factor=2),
            retry_jitter_factor=0.5,
            retry_condition_fn=only_transient,
            cache_policy=NO_CACHE,
            persist_result=False,
        )(run)
        return made

    return decorate


def _without_content(work: Callable[P, R]) -> Callable[P, R]:
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return work(*args, **kwargs)
        except _SPEAKABLE:
            raise
        except Exception as error:
            if isinstance(error, InvalidInput) and error.field == "path":
                raise
            kind = StepFailedForNow if getattr(error, "transient", False) else StepFailed
            raise kind(without_content(error)) from None

    return run
