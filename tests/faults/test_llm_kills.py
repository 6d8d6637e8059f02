"""A run that asks a model and is killed: the next one goes on, pays nothing twice, and comes to the same."""

import os
import signal
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest
from support.careful_model import inbox_of_lockers, lockers, model_store
from support.forks import KILLED, alone, outcome, start
from support.model_server import ModelServer, reply
from support.stores import Contents, contents

from mindmem.core import failpoints
from mindmem.core.ingest.inbox.batches import Batch, Rejected
from mindmem.core.ingest.inbox.deliver import deliver

pytestmark = pytest.mark.faults


def _take(home: Path, url: str, items: Iterable[Batch | Rejected], kill_at: tuple[str, int] = ("", 0)) -> None:
    point, left = kill_at

    def kill(name: str) -> None:
        nonlocal left
        left -= name == point
        if name == point and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    memory = model_store(home, url, overlap=4, concurrency=4)
    failpoints.arm(kill)
    deliver(items, memory, memory.services.ledger)
    memory.close()


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Let the forked children find imported what takes seconds to import."""
    import httpx2
    import openai

    assert httpx2
    assert openai.AsyncOpenAI


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Counter[str], Contents]:
    """Return what a run that nobody kills asks, and what it leaves."""
    folder = tmp_path_factory.mktemp("whole")
    with ModelServer(lambda request: reply(lockers(request))) as server:
        alone(partial(_take, folder / "home", server.url, inbox_of_lockers(folder / "inbox", 12)))
        asked = Counter(request.prompt for request in server.requests)
    return asked, _remembered(folder / "home")


def _remembered(home: Path) -> Contents:
    whole = alone(partial(contents, home))
    # The calls themselves differ: some were made before the kill, some are answered by the cache.
    assert whole.tables.pop("llm_calls")
    return whole


@pytest.mark.parametrize("kill_at", [("ingest.extracted", 1), ("ingest.committed", 6)], ids=lambda at: at[0])
def test_a_killed_run_is_gone_on_with_nothing_is_paid_twice_and_the_result_is_the_same(
    kill_at: tuple[str, int], tmp_path: Path, undisturbed: tuple[Counter[str], Contents]
) -> None:
    asked, whole = undisturbed
    items = inbox_of_lockers(tmp_path / "inbox", 12)
    with ModelServer(lambda request: reply(lockers(request))) as server:
        assert outcome(start(partial(_take, tmp_path / "home", server.url, items, kill_at))) == KILLED
        before = Counter(request.prompt for request in server.requests)
        alone(partial(_take, tmp_path / "home", server.url, items))
        after = Counter(request.prompt for request in server.requests) - before
    assert before.keys() | after.keys() == asked.keys(), "both ask the very same questions"
    twice = before.keys() & after.keys()
    assert len(twice) < 4, "only what was under way when the process was killed is asked again"
    assert set(after.values()) <= {1}
    killed = _remembered(tmp_path / "home")
    assert killed == whole
    assert killed.findings == ()
