"""The flow dream: applies, reports without content, and dreams a project once a night."""

import asyncio
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from support.model_server import Behaviour, ModelServer, Request, reply

from mindmem.core.memory import Memory
from mindmem.flows.dream import dream

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

SECRET = "Oslo"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINDMEM_EMBEDDER", "none")
    monkeypatch.setenv("MINDMEM_INGEST__RESOLVE_UPDATES", "false")
    with Memory(tmp_path) as memory:
        memory.add({"role": "user", "name": "Ann", "content": f"I live in {SECRET}."}, user_id="ann")
        memory.add({"role": "user", "name": "Ann", "content": "I live in Rome."}, user_id="ann")
    return tmp_path


def test_it_consolidates_and_its_report_holds_no_content(home: Path) -> None:
    [report] = asyncio.run(dream(home=home, min_age_hours=0))
    assert (report.archived, report.run_id != "") == (1, True)
    with get_client(sync_client=True) as client:
        made = client.request("POST", "/artifacts/filter").json()
    text = "".join(str(one["data"]) for one in made if one["key"] == "dream-report")
    assert "AMCR" in text
    assert SECRET not in text
    assert "ann" not in text.split()


def test_a_tick_dreams_once_a_night(home: Path) -> None:
    first = asyncio.run(dream(home=home, only_due=True, min_age_hours=0))
    second = asyncio.run(dream(home=home, only_due=True, min_age_hours=0))
    assert ([report.archived for report in first], second) == ([1], [])


def test_a_dry_run_leaves_a_proposal_and_the_night_open(home: Path) -> None:
    [report] = asyncio.run(dream(home=home, dry_run=True, min_age_hours=0))
    assert report.scopes[0].proposal_id
    assert len(asyncio.run(dream(home=home, only_due=True, min_age_hours=0))) == 1


def test_a_model_judges_where_the_run_says_so_and_a_spent_budget_is_no_failure(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: Request) -> Behaviour:
        if "\n<issues>\n" in request.prompt:
            return reply({"actions": [{"issue": 1, "action": "supersede", "survivor": 2, "confidence": 0.9}]})
        issue = {"kind": "conflict", "memories": [1, 2], "keep": 2, "ground": "one_value", "confidence": 0.9}
        return reply({"issues": [issue]})

    with ModelServer(answer) as server:
        monkeypatch.setenv("MINDMEM_LLM__BASE_URL", server.url)
        monkeypatch.setenv("MINDMEM_LLM__RUN_TOKENS", "1")
        [stopped] = asyncio.run(dream(home=home, min_age_hours=0, reasoner="llm", only_due=True))
        assert (stopped.stopped, stopped.failed, stopped.archived) == (True, False, 0)
        with get_client(sync_client=True) as client:
            states = [run.state for run in client.read_flow_runs() if run.state is not None]
        assert ("COMPLETED", "BudgetReached") in {(state.type.value, state.name) for state in states}
        [report] = asyncio.run(dream(home=home, min_age_hours=0, reasoner="llm", only_due=True))
        assert (report.archived, report.stopped, report.scopes[0].input_tokens > 0) == (1, False, True)
        assert len(server.requests) == 2, "no run pays again for what another has paid for"
        assert asyncio.run(dream(home=home, min_age_hours=0, reasoner="llm", only_due=True)) == []
