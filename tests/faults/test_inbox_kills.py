"""An inbox that is killed around the end of a file: the next run takes in what is missing, nothing twice."""

import json
import os
import signal
from functools import partial
from pathlib import Path

import pytest
from support.forks import KILLED, alone, outcome, start
from support.stores import Contents, contents, open_store

from mindmem.core import failpoints
from mindmem.core.ingest.inbox.batches import Source
from mindmem.core.ingest.inbox.deliver import deliver
from mindmem.core.ingest.inbox.files import InboxFile, find_files
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.ingest.inbox.reading import Reading

pytestmark = pytest.mark.faults

SAID = {"one.jsonl": ["I live in Oslo.", "The boiler was serviced by Hansen."], "two.jsonl": ["My bike is green."]}


def _inbox(folder: Path) -> Path:
    folder.mkdir()
    for name, lines in SAID.items():
        rows = [json.dumps({"user_id": "ann", "role": "user", "content": line}) for line in lines]
        (folder / name).write_text("\n".join(rows), encoding="utf-8")
    return folder


def _take(home: Path, inbox: Path, kill_at: str = "") -> None:
    def kill(name: str) -> None:
        if name == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    memory = open_store(home)
    ledger = memory.services.ledger
    log = InboxLog(ledger, Source("default", None, 10_000))
    failpoints.arm(kill)
    for file in find_files(inbox):
        assert isinstance(file, InboxFile)
        if log.finished(file):
            continue
        reading = Reading(file, Source("default", None, 10_000), log)
        for chunk in reading.chunks():
            reading.keep(deliver(chunk.items, memory, ledger))
        reading.close(complete=True)
    memory.close()


def _whole(home: Path) -> Contents:
    return alone(partial(contents, home))


@pytest.mark.parametrize("point", ["ingest.file_done", "ingest.committed", "ingest.projected", "ingest.extracted"])
def test_a_killed_inbox_is_taken_in_by_the_next_run(point: str, tmp_path: Path) -> None:
    inbox = _inbox(tmp_path / "inbox")
    alone(partial(_take, tmp_path / "whole", inbox))
    assert outcome(start(partial(_take, tmp_path / "home", inbox, point))) == KILLED
    alone(partial(_take, tmp_path / "home", inbox))
    killed = _whole(tmp_path / "home")
    assert killed == _whole(tmp_path / "whole")
    assert killed.findings == ()
    assert len(killed.tables["messages"]) == 3
