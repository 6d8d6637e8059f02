"""The flow feedback: corrects what users corrected in their sessions, reports without content, goes on next time."""

import asyncio
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from support.model_server import ModelServer, reply, status

from mindmem.core.errors import Conflict
from mindmem.core.failpoints import arm
from mindmem.core.feedback.receipt import FeedbackPass
from mindmem.core.memory import Memory
from mindmem.flows.feedback import PendingFeedback, feedback

pytestmark = [pytest.mark.prefect, pytest.mark.usefixtures("prefect_server")]

SECRET = "asparagus"
WISH = f"Please don't suggest {SECRET} again."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINDMEM_EMBEDDER", "none")
    with Memory(tmp_path) as memory:
        for user in ("ann", "ben"):
            talk = [{"role": "assistant", "content": f"How about {SECRET}?"}, {"role": "user", "content": WISH}]
            memory.add(talk, user_id=user, session_id="talk")
    return tmp_path


def run(home: Path) -> FeedbackPass:
    report = asyncio.run(feedback(home=home))
    assert isinstance(report, FeedbackPass)
    return report


def kept(home: Path, user: str) -> list[str]:
    with Memory(home) as memory:
        found = memory.list(user_id=user, page_size=100).memories
        return [one.content for one in found if one.mem_type == "profile"]


def artifacts() -> str:
    with get_client(sync_client=True) as client:
        made = client.request("POST", "/artifacts/filter").json()
    return "\n".join(str(one["data"]) for one in made if one["key"] == "feedback-report")


def last_state() -> State:
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs()
        mine = [one for one in runs if client.request("GET", f"/flows/{one.flow_id}").json()["name"] == "feedback"]
        state = max(mine, key=lambda one: one.created).state
    assert state is not None
    return state


def test_it_carries_out_what_was_said_once_and_its_report_holds_no_content(home: Path) -> None:
    first, second = run(home), run(home)
    assert (first.scopes, first.signals, first.counts) == (2, 2, {"update": 2})
    assert (second.messages, second.changes) == (0, ())
    assert kept(home, "ann") == kept(home, "ben") == [f"Don't suggest {SECRET} again."]
    text = artifacts()
    assert "corrections: put right" in text
    assert SECRET not in text
    assert "ann" not in text.split()


def test_a_user_whose_sessions_fail_is_counted_not_named_and_done_by_the_next_run(home: Path) -> None:
    failed: list[str] = []

    def fail_once(point: str) -> None:
        if point == "feedback.committed" and not failed:
            failed.append(point)
            raise Conflict(f"made up for the test: {SECRET}")

    arm(fail_once)
    try:
        with pytest.raises(PendingFeedback, match=r"The sessions of 1 users stay pending \(conflict\)"):
            asyncio.run(feedback(home=home))
    finally:
        arm(None)
    assert (last_state().type.value, SECRET in str(last_state().message)) == ("FAILED", False)
    assert kept(home, "ben") == [f"Don't suggest {SECRET} again."]
    assert run(home).failed == {}
    assert kept(home, "ann") == [f"Don't suggest {SECRET} again."]


def test_a_model_that_is_away_leaves_all_pending_and_a_spent_budget_is_no_failure(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINDMEM_REASONER", "llm")
    monkeypatch.setenv("MINDMEM_LLM__RETRIES", "0")
    with ModelServer(status(503)) as server:
        monkeypatch.setenv("MINDMEM_LLM__BASE_URL", server.url)
        with pytest.raises(PendingFeedback, match="The sessions of 2 users stay pending"):
            asyncio.run(feedback(home=home))
    with ModelServer(reply({"signals": []})) as server:
        monkeypatch.setenv("MINDMEM_LLM__BASE_URL", server.url)
        monkeypatch.setenv("MINDMEM_LLM__RUN_TOKENS", "1")
        report = run(home)
        assert report.stopped == ("ben",)
        assert (last_state().type.value, last_state().name) == ("COMPLETED", "BudgetReached")
        assert run(home).stopped == ()
