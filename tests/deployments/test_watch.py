"""What waits is seen, once, cheaply; what a run has left is not tried again before it changes."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from support.stores import open_store

from mindmem.core.settings import Settings
from mindmem.deployments.api import Api, NoServer
from mindmem.deployments.watch import Starter, Work
from mindmem.flows.direct import ingest_directly


@pytest.fixture
def work(home: Path) -> Iterator[Work]:
    (home / "inbox").mkdir(parents=True)
    with closing(Work(Settings.load({}, home=home, embedder="none"))) as looked_at:
        yield looked_at


def put(home: Path, name: str, *lines: str) -> Path:
    file = home / "inbox" / name
    file.write_text("\n".join(json.dumps({"user_id": "ann", "role": "user", "content": line}) for line in lines))
    return file


def kinds(work: Work) -> list[str]:
    return sorted(one[0] for one in work.waits())


def test_nothing_waits_in_an_empty_home_and_no_store_is_made(work: Work, home: Path) -> None:
    assert kinds(work) == []
    assert [path.name for path in home.iterdir()] == ["inbox"]


def test_a_file_waits_once_it_has_stopped_growing(work: Work, home: Path) -> None:
    file = put(home, "chat.jsonl", "I live in Oslo.")
    assert kinds(work) == []
    with file.open("a") as more:
        more.write("\n" + json.dumps({"user_id": "ann", "role": "user", "content": "I have a dog."}))
    assert kinds(work) == []
    assert kinds(work) == ["file"]
    assert work.waits() == work.waits()


def test_a_file_that_was_taken_does_not_wait_under_any_name(work: Work, home: Path) -> None:
    file = put(home, "chat.jsonl", "I live in Oslo.")
    assert [kinds(work), kinds(work)] == [[], ["file"]]
    ingest_directly(work.settings, None)
    assert kinds(work) == []
    file.rename(file.with_name("renamed.jsonl"))
    assert [kinds(work), kinds(work)] == [[], []]
    put(home, "renamed.jsonl", "I live in Oslo.", "I moved to Bergen.")
    assert [kinds(work), kinds(work)] == [[], ["file"]]


def test_hidden_files_and_those_of_other_kinds_are_left_alone(work: Work, home: Path) -> None:
    for name in (".chat.jsonl", "notes.txt", "chat.jsonl.part"):
        (home / "inbox" / name).write_text("{}")
    assert [kinds(work), kinds(work)] == [[], []]


def test_queued_adds_wait_until_they_are_worked_off(work: Work, home: Path) -> None:
    with closing(open_store(home)) as memory:
        assert kinds(work) == []
        memory.enqueue("I live in Oslo.", user_id="ann")
        memory.enqueue("My dog is called Rex.", user_id="ben")
        first = work.waits()
        assert kinds(work) == ["adds", "adds"]
        memory.enqueue("I play the cello.", user_id="ann")
        assert len(work.waits() - first) == 1, "a further one is something new"
        memory.process_pending()
        assert kinds(work) == []


def test_a_claimed_add_does_not_wait(work: Work, home: Path) -> None:
    with closing(open_store(home)) as memory:
        memory.enqueue("I live in Oslo.", user_id="ann")
        memory.services.ledger.claim("default", 10, "somebody", 60.0)
        assert kinds(work) == []


@pytest.mark.parametrize(("adds", "wait"), [(2, []), (3, ["adds"])])
def test_in_schema_mode_adds_wait_for_their_episode(home: Path, adds: int, wait: list[str]) -> None:
    with closing(open_store(home)) as memory:
        for number in range(adds):
            memory.enqueue(f"I saw bird number {number}.", user_id="ann")
    ingest = {"mode": "schema", "episode_turns": 3}
    with closing(Work(Settings.load({}, home=home, embedder="none", ingest=ingest))) as work:
        assert kinds(work) == wait


def test_another_ledger_in_the_place_of_the_old_one_is_seen(work: Work, home: Path) -> None:
    with closing(open_store(home)) as memory:
        memory.enqueue("I live in Oslo.", user_id="ann")
        assert kinds(work) == ["adds"]
    for file in home.glob("ledger.db*"):
        file.unlink()
    assert kinds(work) == []
    with closing(open_store(home)) as memory:
        memory.enqueue("I live in Bergen.", user_id="ann")
        assert kinds(work) == ["adds"]


def test_looking_takes_no_lock_from_a_writer(work: Work, home: Path) -> None:
    with closing(open_store(home)) as memory:
        memory.enqueue("I live in Oslo.", user_id="ann")
        before = (home / "ledger.db").stat().st_mtime_ns
        work.waits()
        assert (home / "ledger.db").stat().st_mtime_ns == before
        os.utime(home / "ledger.db")
        memory.process_pending()


class Server:
    """A server that speaks the two requests of a starter, on loopback."""

    def __init__(self) -> None:
        self.states: list[str] = []
        self.well = True

    @contextmanager
    def running(self) -> Iterator[Api]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                if server.well:
                    server.states.append("SCHEDULED")
                self._answer({"id": str(len(server.states) - 1)})

            def do_GET(self) -> None:
                self._answer({"state_type": server.states[int(self.path.rpartition("/")[2])]})

            def _answer(self, body: dict[str, str]) -> None:
                self.send_response(200 if server.well else 503)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
            thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield Api(f"http://127.0.0.1:{http.server_port}/api", tries=2)
            finally:
                http.shutdown()
                thread.join()


ONE, TWO = ("file", "one"), ("file", "two")


def test_one_run_is_started_for_what_waits_and_none_beside_it() -> None:
    server = Server()
    with server.running() as api:
        starter = Starter(api, "inbox")
        assert not starter.look(frozenset())
        assert starter.look(frozenset({ONE}))
        assert not starter.look(frozenset({ONE, TWO})), "one is on its way"
        server.states[0] = "COMPLETED"
        assert starter.look(frozenset({ONE, TWO})), "something new waits"
        server.states[1] = "FAILED"
        assert not starter.look(frozenset({ONE, TWO})), "what a run has left is for the sweep"
        assert not starter.look(frozenset())
        assert starter.look(frozenset({ONE})), "it waits anew"
    assert len(server.states) == 3


def test_a_run_that_was_killed_or_in_the_way_says_nothing_of_the_work_a_few_times() -> None:
    server = Server()
    with server.running() as api:
        starter = Starter(api, "inbox")
        for ending in ("CRASHED", "CANCELLED", "CRASHED"):
            assert starter.look(frozenset({ONE}))
            server.states[-1] = ending
        assert not starter.look(frozenset({ONE}))
        assert starter.look(frozenset({ONE, TWO}))


def test_a_server_that_is_away_is_asked_again() -> None:
    server = Server()
    with server.running() as api:
        starter = Starter(api, "inbox")
        server.well = False
        with pytest.raises(NoServer, match="503"):
            starter.look(frozenset({ONE}))
        server.well = True
        assert starter.look(frozenset({ONE}))
    with pytest.raises(NoServer, match="No Prefect server answers"):
        starter.look(frozenset({ONE}))


def test_another_server_at_the_address_is_told_from_prefects() -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!doctype html>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            api = Api(f"http://127.0.0.1:{http.server_port}/api")
            assert not api.healthy()
            with pytest.raises(NoServer, match="not a Prefect server"):
                api.get("deployments")
        finally:
            http.shutdown()
            thread.join()
