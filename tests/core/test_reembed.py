"""Embedding everything anew after a change of model: refused until done, resumable, paid once, swapped when whole."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from support.model_server import Behaviour, ModelServer, Request, embedded, slow, status

from mindmem.core.errors import BudgetReached, EmbedderMismatch, InvalidInput, ModelUnavailable
from mindmem.core.memory import Memory
from mindmem.core.reembed import reembed
from mindmem.core.serve.cli import cli
from mindmem.core.settings import Settings

SHELVES = [
    f"Shelf {number} holds the map of {town}." for number, town in enumerate("Ghent Riga Turin Bonn Cork".split())
]
PRICES = {"old": {"input": 1.0}, "new": {"input": 2.0}}


class Embeddings:
    """Embeddings of two models, ``old`` of 24 numbers and ``new`` of 16, told apart by the name in the request."""

    def __init__(self) -> None:
        self.sent: dict[str, list[str]] = {"old": [], "new": []}
        self.fails: Callable[[Request], Behaviour | None] = lambda request: None

    def __call__(self, request: Request) -> Behaviour:
        failure = self.fails(request)
        if failure is not None:
            return failure
        texts = request.body["input"]
        if texts != ["dimension"]:
            self.sent[request.model] += texts
        size = {"old": 24, "new": 16}[request.model]
        return embedded([_letters(text, size) for text in texts])


def _letters(text: str, size: int) -> list[float]:
    """Return how often each letter stands in a text: another text, another vector."""
    counts = [0.1] * size
    for letter in text.casefold():
        counts[ord(letter) % size] += 1.0
    return counts


@pytest.fixture
def embeddings() -> Embeddings:
    return Embeddings()


@pytest.fixture
def server(embeddings: Embeddings) -> Iterator[ModelServer]:
    with ModelServer(embeddings=embeddings) as started:
        yield started


def settings(home: Path, server: ModelServer, model: str, **llm: Any) -> Settings:
    given = {"base_url": server.url, "retries": 0, "prices": PRICES, **llm}
    return Settings.load({}, home=home, embedder="openai", llm=given, embed={"model": model})


def opened(home: Path, server: ModelServer, model: str, *, any_index: bool = False, **llm: Any) -> Memory:
    return Memory(settings=settings(home, server, model, **llm), any_index=any_index)


@pytest.fixture
def store(home: Path, server: ModelServer) -> Path:
    """Return the home of a store whose index holds five memories with vectors of the old model."""
    with opened(home, server, "old") as memory:
        for content in SHELVES:
            memory.add(content, user_id="ann")
    return home


def dense(memory: Memory, query: str, user: str = "ann") -> bool:
    """Return whether something is found, and the vector of every hit counted."""
    hits = memory.search(query, user_id=user).hits
    return bool(hits) and all(hit.explanation.get("dense", 0) > 0 for hit in hits)


def test_another_model_is_refused_at_opening_with_the_command_that_helps(  # G1
    store: Path, server: ModelServer
) -> None:
    with pytest.raises(EmbedderMismatch, match=r"old@api/24\+0.*new@api/16\+0.*mindmem reembed"):
        opened(store, server, "new")


def test_everything_is_embedded_once_and_the_old_index_answers_until_the_new_one_is_there(
    store: Path, server: ModelServer, embeddings: Embeddings
) -> None:
    answers: list[bool] = []
    with opened(store, server, "old") as old, opened(store, server, "new", any_index=True) as memory:
        done = memory.reembed(watch=lambda what, done, total: answers.append(dense(old, "map of Ghent")))
        assert answers == [True]
    assert (done.texts, done.memories, done.embedder) == (5, 5, "new@api/16+0")
    assert sorted(embeddings.sent["new"]) == sorted(SHELVES)
    with opened(store, server, "new") as again:
        assert dense(again, "map of Ghent")
        assert again.verify() == ()


def test_progress_ends_at_the_number_of_memories(store: Path, server: ModelServer) -> None:
    seen: list[tuple[str, int, int]] = []
    with opened(store, server, "new", any_index=True) as memory:
        reembed(memory.services, lambda *told: seen.append(told), step=2)
    assert seen == [("embed", 2, 5), ("embed", 4, 5), ("embed", 5, 5)]


def test_an_estimate_names_texts_tokens_and_money_and_sends_no_text(
    store: Path, server: ModelServer, embeddings: Embeddings
) -> None:
    with opened(store, server, "new", any_index=True) as memory:
        ahead = memory.estimate_reembedding()
        assert (ahead.held, ahead.embedder) == ("old@api/24+0", "new@api/16+0")
        assert (ahead.memories, ahead.texts) == (5, 5)
        assert ahead.tokens > 25
        assert ahead.cost == pytest.approx(ahead.tokens * 2.0 / 1e6)
        assert embeddings.sent["new"] == []
        memory.reembed()
        assert memory.estimate_reembedding().texts == 0
    with opened(store, server, "old", any_index=True, prices={}) as unpriced:
        assert unpriced.estimate_reembedding().cost is None


def test_after_a_failure_only_what_is_missing_is_sent(store: Path, server: ModelServer, embeddings: Embeddings) -> None:
    embeddings.fails = lambda request: (
        status(500) if request.model == "new" and len(embeddings.sent["new"]) >= 4 else None
    )
    with opened(store, server, "new", any_index=True) as memory:
        with pytest.raises(ModelUnavailable):
            reembed(memory.services, step=2)
        assert len(embeddings.sent["new"]) == 4
        with opened(store, server, "old") as old:
            assert dense(old, "map of Ghent")
        embeddings.fails = lambda request: None
        assert reembed(memory.services, step=2).texts == 1
    assert sorted(embeddings.sent["new"]) == sorted(SHELVES)


KILLED = """
from mindmem.core.memory import Memory
from mindmem.core.reembed import reembed
with Memory(any_index=True) as memory:
    reembed(memory.services, step=2)
"""


def test_after_a_kill_the_command_goes_on_and_nothing_is_paid_twice(
    store: Path, server: ModelServer, embeddings: Embeddings
) -> None:
    embeddings.fails = lambda request: slow(60, status(500)) if len(embeddings.sent["new"]) >= 2 else None
    variables = {
        "MINDMEM_HOME": str(store),
        "MINDMEM_EMBEDDER": "openai",
        "MINDMEM_EMBED__MODEL": "new",
        "MINDMEM_LLM__BASE_URL": server.url,
    }
    before = len(server.requests)
    child = subprocess.Popen([sys.executable, "-c", KILLED], env={**os.environ, **variables})
    deadline = time.monotonic() + 60
    while len(server.requests) < before + 3 and time.monotonic() < deadline:  # the probe, a step, the step that hangs
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    assert child.wait(30) == -signal.SIGKILL
    assert len(embeddings.sent["new"]) == 2
    embeddings.fails = lambda request: None
    with opened(store, server, "new", any_index=True) as memory:
        assert memory.estimate_reembedding().texts == 3
        assert memory.reembed().texts == 3
        assert memory.verify() == ()
    assert sorted(embeddings.sent["new"]) == sorted(SHELVES)


def test_at_a_limit_of_the_budget_the_rest_waits_for_the_next_run(  # G5
    store: Path, server: ModelServer, embeddings: Embeddings
) -> None:
    runs = 0
    with opened(store, server, "new", any_index=True, run_tokens=10) as memory:
        while runs < 10:
            runs += 1
            try:
                reembed(memory.services, step=1)
                break
            except BudgetReached:
                continue
        assert memory.verify() == ()
    assert 2 <= runs <= 5
    assert sorted(embeddings.sent["new"]) == sorted(SHELVES)


def test_what_a_process_with_the_old_model_adds_meanwhile_is_embedded_too(
    store: Path, server: ModelServer, embeddings: Embeddings
) -> None:
    late: list[object] = []

    def add_once(what: str, done: int, total: int) -> None:
        if not late:
            late.append(old.add("Shelf 9 holds the map of Oporto.", user_id="ben"))

    with opened(store, server, "old") as old, opened(store, server, "new", any_index=True) as memory:
        done = memory.reembed(watch=add_once)
    assert done.memories == 6
    assert "Shelf 9 holds the map of Oporto." in embeddings.sent["new"]
    with opened(store, server, "new") as again:
        assert dense(again, "Oporto", "ben")


def test_what_was_added_without_an_embedder_gets_its_vector(
    store: Path, server: ModelServer, embeddings: Embeddings
) -> None:
    with Memory(settings=Settings.load({}, home=store, embedder="none")) as lexical:
        lexical.add("Shelf 9 holds the map of Oporto.", user_id="ben")
        with pytest.raises(InvalidInput, match="no embedder"):
            lexical.reembed()
    with opened(store, server, "old", any_index=True) as memory:
        assert memory.reembed().texts == 1
        assert dense(memory, "Oporto", "ben")


def test_a_model_that_gives_other_dimensions_by_the_same_name_is_noticed_and_embedded_again(  # G1
    store: Path, server: ModelServer
) -> None:
    with ModelServer(dimensions=32) as other:
        with opened(store, other, "old") as memory:
            with pytest.raises(EmbedderMismatch, match=r"32 numbers.* have 24.*mindmem reembed"):
                memory.add("I live in Oslo.", user_id="ann")
            assert memory.status().last_seq == 5
        with opened(store, other, "old", any_index=True) as memory:
            assert memory.reembed().embedder == "old@api/32+0"
        with opened(store, other, "old") as memory:
            memory.add("I live in Oslo.", user_id="ann")
            assert dense(memory, "map of Ghent")


@pytest.fixture
def run(store: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Return a function that runs the command line on the store, with settings that name the new model."""
    for name, value in {
        "EMBEDDER": "openai",
        "EMBED__MODEL": "new",
        "LLM__BASE_URL": server.url,
        "LLM__RETRIES": "0",
    }.items():
        monkeypatch.setenv(f"MINDMEM_{name}", value)
    return lambda *words: CliRunner().invoke(cli, ["--home", str(store), *words])


def test_the_command_estimates_embeds_and_says_what_it_did(run: Callable[..., Result], embeddings: Embeddings) -> None:
    refused = run("search", "map of Ghent", "--user", "ann")
    assert refused.exit_code == 1
    assert "mindmem reembed" in refused.stderr
    ahead = json.loads(run("reembed", "--dry-run", "--json").stdout)
    assert (ahead["texts"], ahead["cost"]) == (5, None)
    assert "5 texts of 5 memories" in run("reembed", "--dry-run").stdout
    assert embeddings.sent["new"] == []
    assert "Embedded 5 texts" in run("reembed").stdout
    assert json.loads(run("reembed", "--json").stdout)["texts"] == 0
    assert "map of Ghent" in run("search", "map of Ghent", "--user", "ann").stdout


def test_the_command_says_that_it_may_be_tried_later_when_the_endpoint_is_away(
    run: Callable[..., Result], embeddings: Embeddings
) -> None:
    embeddings.fails = lambda request: status(503)
    done = run("reembed")
    assert done.exit_code == 4
    assert "'new'" in done.stderr
