"""``bench locomo --answer --judge`` against an OpenAI-compatible server: models, tokens, failures, budget, going on."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from support.benchmarks import LOCOMO_SAMPLE, locomo_folder
from support.model_server import Behaviour, ModelServer, Request, reply, slow, status, unauthorized

from mindmem.core.serve.cli import cli

PARROT, CELLO, SURGEON = (LOCOMO_SAMPLE["qa"][number]["question"] for number in (0, 1, 3))
WHOLE_COMMAND = "from mindmem.core.serve.cli import main; main()"
SAID = {PARROT: "Biscuit", CELLO: "the cello", SURGEON: "no idea"}


def answering(request: Request) -> Behaviour:
    """Answer as a model would that reads well but knows no surgeon; judge by the right word alone."""
    question = next(question for question in SAID if question in request.prompt)
    if request.model == "judge-model":
        verdict = "wrong" if question == SURGEON else "correct"
        return reply({"reason": "as told", "verdict": verdict})
    return reply({"found": True, "answer": SAID[question], "memories": [1]})


def command(
    server: ModelServer, place: Path, *words: str, reasoner: str = "rules", **variables: str
) -> tuple[list[str], dict[str, str]]:
    """Return the words and the variables of a run on the data in ``place``."""
    options = ["--data", str(place / "data"), "--out", str(place / "out"), "--lexical", "--answer", "--judge", "--json"]
    models = ["--reader", "llm", "--answer-model", "answer-model", "--judge-model", "judge-model"]
    named = {f"MINDMEM_LLM__{name.upper()}": value for name, value in variables.items()}
    env = {"MINDMEM_LLM__BASE_URL": server.url, "MINDMEM_LLM__API_KEY": "k", "MINDMEM_REASONER": reasoner, **named}
    return ["bench", "locomo", *options, *models, *words], env


def run(server: ModelServer, place: Path, *words: str, reasoner: str = "rules", **variables: str) -> Result:
    if not (place / "data").exists():
        locomo_folder(place / "data")
    given, env = command(server, place, *words, reasoner=reasoner, **variables)
    return CliRunner().invoke(cli, given, env=env)


def rows(place: Path) -> dict[str, dict[str, Any]]:
    lines = (place / "out" / "rows.jsonl").read_text().splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def test_models_answer_and_judge_and_what_they_cost_is_counted_by_question(tmp_path: Path) -> None:
    prices = {name: {"input": 1.0, "output": 2.0} for name in ("answer-model", "judge-model")}
    with ModelServer(answering) as server:
        done = run(server, tmp_path, prices=json.dumps(prices))
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["judge_accuracy"] == 0.6667
    assert (document["sub_em"], document["failed"], document["incomplete"]) == (0.6667, 0, False)
    by_model = [request.model for request in server.requests]
    assert (by_model.count("answer-model"), by_model.count("judge-model")) == (3, 3)
    kept = rows(tmp_path)
    assert {name: row["verdict"] for name, row in kept.items()} == {"1:1": "correct", "1:2": "correct", "1:4": "wrong"}
    assert kept["1:1"]["cited"] == [kept["1:1"]["hits"][0]]
    assert document["input_tokens"] == sum(row["input_tokens"] for row in kept.values()) > 3 * 500
    tokens = document["input_tokens"] + 2 * document["output_tokens"]
    assert document["cost"] == round(tokens / 1_000_000, 6)
    configuration = document["configuration"]
    assert configuration["reader"].startswith("llm ")
    assert set(configuration["prompts"]) == {"answer", "judge"}
    assert "k" not in {configuration["answer_model"], configuration["judge_model"]}


def test_an_unpriced_model_has_no_cost_rather_than_none_to_pay(tmp_path: Path) -> None:
    with ModelServer(answering) as server:
        document = json.loads(run(server, tmp_path).stdout)
    assert document["cost"] is None
    assert document["output_tokens"] > 0


def test_what_passes_is_healed_and_what_cannot_be_read_counts_as_wrong_until_it_is_asked_again(tmp_path: Path) -> None:
    busy = [PARROT]

    def faulty(request: Request) -> Behaviour:
        if request.model == "answer-model" and CELLO in request.prompt:
            return reply("I would rather talk about the weather.")
        if busy and busy[0] in request.prompt:
            busy.pop()
            return status(429, retry_after=0)
        return answering(request)

    with ModelServer(faulty) as server:
        first = json.loads(run(server, tmp_path).stdout)
    assert (first["questions"], first["failed"], first["judge_accuracy"]) == (3, 1, 0.3333)
    assert str(rows(tmp_path)["1:2"]["failed"]).startswith("answer: ")
    with ModelServer(answering) as server:
        second = json.loads(run(server, tmp_path, "--resume").stdout)
    assert (second["failed"], second["judge_accuracy"]) == (0, 0.6667)
    assert [request.model for request in server.requests] == ["answer-model", "judge-model"]


def test_a_spent_budget_ends_the_run_and_the_next_one_goes_on(tmp_path: Path) -> None:
    limits = {"concurrency": "1", "max_output_tokens": "64"}
    with ModelServer(answering) as server:
        done = run(server, tmp_path, run_tokens="1500", **limits)
        assert done.exit_code == 0, done.stderr
        first = json.loads(done.stdout)
        assert (first["incomplete"], first["questions"], first["left"]) == (True, 1, 2)
        assert "MINDMEM_LLM__RUN_TOKENS" in first["stopped"]
        second = json.loads(run(server, tmp_path, "--resume", **limits).stdout)
    assert (second["incomplete"], second["questions"]) == (False, 3)
    # An answer whose verdict could not be paid any more was kept, too.
    assert len(server.requests) == 6


def test_a_refused_key_shows_in_every_row_with_the_endpoints_reason(tmp_path: Path) -> None:
    with ModelServer(lambda _: unauthorized()) as server:
        document = json.loads(run(server, tmp_path).stdout)
    assert (document["failed"], document["judge_accuracy"]) == (3, 0.0)
    assert all("API" in row["failed"] or "key" in row["failed"] for row in rows(tmp_path).values())


PARROT_MEMORY = {
    "type": "fact",
    "content": "Tomas adopted a grey parrot called Biscuit.",
    "entity": "Tomas",
    "entity_type": "person",
    "property": "pet",
    "value": "a grey parrot called Biscuit",
    "sources": [{"message": 1, "quote": "a grey parrot called Biscuit"}],
    "confidence": 0.95,
}


def reading_badly(request: Request) -> Behaviour:
    """Remember the parrot alone, and answer the other session's extraction with nonsense."""
    if request.model in {"answer-model", "judge-model"}:
        return answering(request)
    return reply("Nice talk!" if "surgeon" in request.prompt else {"memories": [PARROT_MEMORY]})


def test_a_model_ingests_too_and_a_session_that_it_answers_with_nonsense_is_counted(tmp_path: Path) -> None:
    with ModelServer(reading_badly) as server:
        done = run(server, tmp_path, model="extract-model", reasoner="llm")
        assert done.exit_code == 0, done.stderr
        document = json.loads(done.stdout)
        assert (document["memories"], document["ingest_failed"]) == (1, 1)
        assert document["ingest_input_tokens"] > 500
        assert document["ingest_cost"] is None
        assert document["configuration"]["ingest_model"] == "extract-model"
        kept = rows(tmp_path)
        assert (kept["1:1"]["verdict"], len(kept["1:1"]["hits"])) == ("correct", 1)
        before = len(server.requests)
        run(server, tmp_path, "--resume", model="extract-model", reasoner="llm")
        assert len(server.requests) == before


def test_a_budget_that_ends_the_ingest_leaves_all_questions_for_the_next_run(tmp_path: Path) -> None:
    with ModelServer(reading_badly) as server:
        first = json.loads(run(server, tmp_path, reasoner="llm", run_tokens="10").stdout)
        assert (first["questions"], first["left"], first["incomplete"]) == (0, 3, True)
        assert "MINDMEM_LLM__RUN_TOKENS" in first["stopped"]
        second = json.loads(run(server, tmp_path, "--resume", reasoner="llm").stdout)
    assert (second["questions"], second["left"], second["judge_accuracy"] > 0) == (3, 0, True)


def test_a_killed_run_asks_only_what_it_had_not_kept(tmp_path: Path) -> None:
    """The first question is answered at once, the others hang until the run is killed."""
    kept = tmp_path / "out" / "rows.jsonl"
    hanging = threading.Event()

    def script(request: Request) -> Behaviour:
        answer = answering(request)
        return answer if PARROT in request.prompt or hanging.is_set() else slow(60, answer)

    with ModelServer(script) as server:
        locomo_folder(tmp_path / "data")
        words, env = command(server, tmp_path)
        process = subprocess.Popen([sys.executable, "-c", WHOLE_COMMAND, *words], env={**os.environ, **env})
        deadline = time.monotonic() + 60
        while not (kept.is_file() and kept.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        process.wait()
        assert list(rows(tmp_path)) == ["1:1"]
        hanging.set()
        before = len(server.requests)
        document = json.loads(run(server, tmp_path, "--resume").stdout)
        asked = [request.prompt for request in server.requests[before:]]
    assert (document["questions"], document["judge_accuracy"]) == (3, 0.6667)
    assert len(asked) == 4
    assert not any(PARROT in prompt for prompt in asked)
