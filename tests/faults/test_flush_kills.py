"""Killed anywhere on the way from the queue to a change, each message of the buffers is taken once."""

import asyncio
import os
import signal
import time
from pathlib import Path
from shutil import copytree

import pytest
from support.dialogues import ENGLISH, read
from support.embedders import WordEmbedder
from support.forks import KILLED, alone, outcome, start

from mindmem.core import failpoints
from mindmem.core.ingest import queue
from mindmem.core.memory import Memory
from mindmem.core.reason.port import Envelope, Judged
from mindmem.core.reason.rules.extract import RulesExtractor
from mindmem.core.reason.rules.schema.family import rules_schema_reasoner
from mindmem.core.reason.schema_port import SchemaRequest
from mindmem.core.records import Scope, Window
from mindmem.core.schema import adding
from mindmem.core.schema.registry import preset
from mindmem.core.services import open_services
from mindmem.core.settings import Settings

pytestmark = pytest.mark.faults

POINTS = [
    name for name in failpoints.FAILPOINTS if name.startswith(("ingest.", "commit.")) and name != "ingest.file_done"
]
CASES = [*((point, 1) for point in POINTS), ("ingest.claimed", 2), ("ingest.extracted", 2), ("commit.durable", 2)]
SAID = [turn.messages[0] for turn in read(ENGLISH["cat, holiday, bicycle"]).turns]
"""Two episodes that are over, and one that waits."""
CLAIM_SECONDS = 0.3


def opened(home: Path) -> Memory:
    queue._CLAIM_SECONDS = CLAIM_SECONDS  # type: ignore[misc]  # a killed worker's claim runs out while the test waits
    settings = Settings.load({}, home=home, embedder="none", ingest={"mode": "schema"}, store={"fold_on_close": False})
    return Memory(services=open_services(settings, embedder=WordEmbedder("1")))


def enqueued(home: Path) -> None:
    with opened(home) as memory:
        for place, message in enumerate(SAID):
            item = {"role": "user", "name": message.name, "content": message.content}
            memory.enqueue([item], user_id="ann", idempotency_key=f"k{place}")


def worked_off(home: Path, point: str = "", hit: int = 1) -> None:
    left = hit

    def kill(name: str) -> None:
        nonlocal left
        if name == point:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    with opened(home) as memory:
        failpoints.arm(kill)
        memory.process_pending()
        memory.flush(user_id="ann")


def held(home: Path) -> tuple[list[str], int, list[str]]:
    """All messages in order, what is still pending, and the contents of all memories."""
    with opened(home) as memory:
        batches = [entry.batches["messages"] for entry in memory.services.ledger.read_log(0, tables=["messages"])]
        said = [content for batch in batches for content in batch.column("content").to_pylist()]
        found = sorted(one.content for one in memory.list(user_id="ann", page_size=100).memories)
        return said, memory.status().pending, found


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Let the forked children find modules imported and the rules' patterns compiled."""
    assert adding.bound
    reasoner = rules_schema_reasoner()
    messages = tuple(SAID)
    window = Window(0, messages, (), (), 9)
    envelope = Envelope(scope=Scope.of("ann"), window=window, timezone="UTC")
    [verdict] = asyncio.run(RulesExtractor().extract([envelope]))
    assert isinstance(verdict, Judged)
    request = SchemaRequest(
        scope=Scope.of("ann"), schema=preset("general"), messages=messages, candidates=verdict.value.candidates
    )
    asyncio.run(reasoner.bind.bind([request]))


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which everything is queued."""
    home = tmp_path_factory.mktemp("waiting") / "home"
    alone(lambda: enqueued(home))
    return home


@pytest.fixture(scope="module")
def uninterrupted(waiting: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    home = copytree(waiting, tmp_path_factory.mktemp("whole") / "home")
    said, pending, found = alone(lambda: (worked_off(home), held(home))[1])
    assert said == [message.content for message in SAID]
    assert pending == 0
    assert found
    return found


@pytest.mark.parametrize(("point", "hit"), CASES)
def test_killed_anywhere_each_message_is_taken_once(
    point: str, hit: int, tmp_path: Path, waiting: Path, uninterrupted: list[str]
) -> None:
    home = copytree(waiting, tmp_path / "home")
    assert outcome(start(lambda: worked_off(home, point, hit))) == KILLED
    time.sleep(CLAIM_SECONDS + 0.1)
    said, pending, found = alone(lambda: (worked_off(home), held(home))[1])
    assert said == [message.content for message in SAID]
    assert pending == 0
    assert found == uninterrupted
