"""The flow dream: applies, reports without content, and dreams a project once a night."""

import asyncio
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client

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
