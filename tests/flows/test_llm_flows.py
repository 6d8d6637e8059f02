"""The flow of ingest when a model is asked: the same by one setting; a spent budget; tries that don't multiply."""

import json
from collections import Counter
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from support.careful_model import lockers
from support.model_server import ModelServer, Request, reply, status

from mindmem.core.ingest.inbox.summary import IngestSummary
from mindmem.core.memory import Memory
from mindmem.flows.ingest import Unfinished, ingest

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

SECRET = "Zanzibar"


def inbox(folder: Path, number: int, word: str = "") -> Path:
    folder.mkdir()
    lines = [
        {"user_id": "ann", "session_id": f"s{n}", "role": "user", "name": "Ann", "content": said}
        for n in range(number)
        for said in [f"My locker is number {n}. {word}".strip()]
    ]
    (folder / "lockers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return folder


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch):
    """Return a function that has everything opened from now on ask a server."""

    def ask(server: ModelServer, **variables: object) -> None:
        monkeypatch.setenv("MINDMEM_REASONER", "llm")
        monkeypatch.setenv("MINDMEM_EMBEDDER", "none")
        monkeypatch.setenv("MINDMEM_LLM__BASE_URL", server.url)
        for name, value in variables.items():
            monkeypatch.setenv(f"MINDMEM_{name.upper()}", str(value))

    return ask


def values(home: Path) -> list[str]:
    with Memory(home) as memory:
        return sorted(one.value for one in memory.list(user_id="ann", page_size=100).memories)


async def last_state(flow: str) -> tuple[str, str, str]:
    """Return type, name and message of the newest run's state."""
    async with get_client() as client:
        runs = [run for run in await client.read_flow_runs() if (await client.read_flow(run.flow_id)).name == flow]
        state = max(runs, key=lambda run: run.created).state
    return state.type.value, state.name, state.message


async def test_a_run_whose_budget_is_spent_ends_cleanly_and_the_next_one_goes_on(
    tmp_path: Path, home: Path, asked
) -> None:
    source = inbox(tmp_path / "inbox", 9)
    with ModelServer(lambda request: reply(lockers(request))) as server:
        asked(server, llm__run_tokens=9_000, ingest__overlap=4)
        runs: list[IngestSummary] = []
        while not runs or runs[-1].stopped:
            assert len(runs) < 9
            runs.append(await ingest(source, home=home))
            if len(runs) == 1:
                kind, name, message = await last_state("ingest")
                assert (kind, name) == ("COMPLETED", "BudgetReached")
                assert "MINDMEM_LLM__RUN_TOKENS" in message
                assert 0 < len(values(home)) < 9
        asked_for = Counter(request.prompt for request in server.requests)
    assert len(runs) > 1
    assert [run.failed for run in runs] == [False] * len(runs)
    assert [run.files[0].state for run in runs] == ["pending"] * (len(runs) - 1) + ["taken"]
    assert (await last_state("ingest"))[:2] == ("COMPLETED", "Completed")
    assert values(home) == [str(number) for number in range(9)]
    assert set(asked_for.values()) == {1}, "no run pays again for what another has paid for"


async def test_queued_adds_beyond_the_budget_stay_as_they_were(home: Path, asked) -> None:
    with ModelServer(lambda request: reply(lockers(request))) as server:
        asked(server, llm__run_tokens=9_000, ingest__overlap=4)
        with Memory(home) as memory:
            for number in range(9):
                memory.enqueue(f"My locker is number {number}.", user_id="ann")
        first = await ingest(home=home)
        assert first.stopped
        assert 0 < first.queued == 9 - first.pending < 9
        while (await ingest(home=home)).stopped:
            pass
    assert values(home) == [str(number) for number in range(9)]


async def test_the_tries_of_a_call_and_of_its_task_do_not_multiply(tmp_path: Path, home: Path, asked) -> None:
    source = inbox(tmp_path / "inbox", 2, SECRET)
    failed = Counter[str]()

    def script(request: Request):
        failed[request.prompt] += 1
        return status(503)

    with ModelServer(script) as server:
        asked(server)
        with pytest.raises(Unfinished) as caught:
            await ingest(source, home=home)
    assert caught.value.summary.unfinished == 2
    assert set(failed.values()) == {8}, "two tries in each of four runs of the task"
    assert SECRET not in json.dumps([gap.code for gap in caught.value.summary.failures])
    assert values(home) == []
