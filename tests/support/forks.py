"""Work in forked children, many at once or one that is killed. They have what their parent imported: no start-up."""

import os
import pickle
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["KILLED", "alone", "outcome", "start", "together"]

T = TypeVar("T")

KILLED = -signal.SIGKILL


def start(work: Callable[[], object]) -> int:
    """Run ``work`` in a forked child and return its pid.

    The child exits with 0, or with 1 after printing what was raised; it never returns into the test.
    """
    with warnings.catch_warnings():
        # Python 3.12 warns of threads; those that libraries keep are idle here, and the child does nothing but work.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def outcome(pid: int) -> int:
    """Wait for a child and return its exit code, negative for the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def alone(work: Callable[[], T]) -> T:
    """Return what ``work`` returns in a child of its own."""
    return together([work])[0]


def together(works: Sequence[Callable[[], T]]) -> list[T]:
    """Run each work in a child of its own, all beginning at the same moment; return what they return, in order.

    Raises:
        AssertionError: a child failed; its traceback is on stderr.
    """
    gate_out, gate_in = os.pipe()
    pids, answers = [], []
    for work in works:
        answer_out, answer_in = os.pipe()

        def run(work: Callable[[], T] = work, answer: int = answer_in) -> None:
            os.close(gate_in)
            os.read(gate_out, 1)  # ends when the last holder of the other end, the parent, closes it
            with os.fdopen(answer, "wb") as pipe:
                pickle.dump(work(), pipe)

        pids.append(start(run))
        os.close(answer_in)
        answers.append(answer_out)
    os.close(gate_in)
    os.close(gate_out)
    raw = []
    for answer in answers:
        with os.fdopen(answer, "rb") as pipe:
            raw.append(pipe.read())
    codes = [outcome(pid) for pid in pids]
    assert codes == [0] * len(codes), f"children ended with {codes}"
    return [pickle.loads(one) for one in raw]
