"""The deployments on a real server: caught up once after a pause, registered for workers, the same by prefect.yaml."""

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from prefect.settings import get_current_settings

from mindmem.core.serve.cli import cli
from mindmem.deployments.api import Api
from mindmem.deployments.apply import apply_all
from mindmem.deployments.catch_up import CAUGHT_UP, catch_up, end_dead_runs
from mindmem.deployments.manifest import manifest
from mindmem.deployments.registry import SPECS, to_deployment
from mindmem.flows.artifacts import links

ROOT = Path(__file__).parents[2]


def test_prefect_yaml_is_what_the_registry_says() -> None:
    text = (ROOT / "deployments" / "prefect.yaml").read_text(encoding="utf-8")
    assert text == manifest("mindmem"), "mindmem deploy --yaml > deployments/prefect.yaml"
    entries = yaml.safe_load(text)["deployments"]
    assert len(entries) == len(SPECS)
    for spec, entry in zip(SPECS, entries, strict=True):
        made = to_deployment(spec)
        assert (entry["name"], entry["entrypoint"], entry["tags"]) == (made.name, made.entrypoint, made.tags)
        assert entry["parameters"] == made.parameters
        assert entry["concurrency_limit"]["limit"] == made.concurrency_limit
        assert f"{made.flow_name}/{made.name}" == spec.full_name


def test_reports_lead_into_the_dashboard_where_one_is_known() -> None:
    assert links("", "overview", "memories") == ""
    told = links("http://127.0.0.1:8501/", "overview", "memories")
    assert told == (
        "\nIn the dashboard: [Overview](http://127.0.0.1:8501/), [Memories](http://127.0.0.1:8501/memories)\n"
    )


@pytest.mark.prefect
def test_the_worker_of_prefects_server_can_be_made_to_look_less_often(
    prefect_server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from prefect.server.api import background_workers

    from mindmem.deployments.server import PAUSE, calm

    real = background_workers.Worker
    known = signature(real).parameters
    monkeypatch.setattr(background_workers, "Worker", real)
    calm()
    calmer = background_workers.Worker
    assert isinstance(calmer, partial)
    assert calmer.keywords == {"minimum_check_interval": PAUSE, "scheduling_resolution": PAUSE}
    assert set(calmer.keywords) <= set(known), "this Prefect's worker takes them"


@pytest.fixture
def api(prefect_server: Path) -> Api:
    assert get_current_settings().api.url
    return Api(str(get_current_settings().api.url))


@pytest.fixture
def registered(api: Api) -> Api:
    """Return the server with all deployments registered and no run of theirs."""
    apply_all({})
    for spec in SPECS:
        for run in runs(api, spec.full_name):
            api.delete(f"flow_runs/{run['id']}")
    return api


def runs(api: Api, name: str, **wanted: object) -> list[dict[str, Any]]:
    states = ("SCHEDULED", "PENDING", "RUNNING", "CANCELLING", "CANCELLED", "COMPLETED", "FAILED", "CRASHED")
    found = api.runs(api.deployment(name)["id"], states)
    return [run for run in found if all(run[key] == value for key, value in wanted.items())]


def set_state(api: Api, run: str, kind: str) -> None:
    api.post(f"flow_runs/{run}/set_state", {"state": {"type": kind}, "force": True})


@pytest.mark.prefect
def test_what_was_due_in_a_pause_of_two_days_runs_once(registered: Api) -> None:
    later = datetime.now(UTC) + timedelta(days=2)
    inbox = registered.deployment("ingest/inbox")["id"]
    span = {"start_time": datetime.now(UTC).isoformat(), "end_time": later.isoformat(), "min_runs": 20, "max_runs": 20}
    registered.post(f"deployments/{inbox}/schedule", span)  # some of the missed times were filled in, most were not
    scheduled = [spec.full_name for spec in SPECS if spec.cron]
    assert catch_up(registered, SPECS, later) == scheduled
    for name in scheduled:
        assert {run["state_name"] for run in runs(registered, name, auto_scheduled=True)} == {"Missed"}
        [caught] = runs(registered, name, auto_scheduled=False)
        assert CAUGHT_UP in caught["tags"]
        set_state(registered, caught["id"], "RUNNING")
        set_state(registered, caught["id"], "COMPLETED")


@pytest.mark.prefect
def test_nothing_is_caught_up_where_nothing_was_missed(registered: Api) -> None:
    now = datetime.now(UTC)
    assert catch_up(registered, SPECS, now) == []
    sweep = registered.start(registered.deployment("ingest/inbox")["id"], "by-hand")
    set_state(registered, sweep, "RUNNING")
    set_state(registered, sweep, "COMPLETED")
    assert catch_up(registered, SPECS, datetime.now(UTC)) == []
    [only] = runs(registered, "ingest/inbox", auto_scheduled=False)
    assert CAUGHT_UP not in only["tags"]


@pytest.mark.prefect
def test_a_run_whose_process_is_gone_is_crashed_and_a_scheduled_one_runs_again(registered: Api) -> None:
    inbox, daily = (registered.deployment(name)["id"] for name in ("ingest/inbox", "maintain/daily"))
    soon = datetime.now(UTC) + timedelta(hours=1)
    span = {"start_time": datetime.now(UTC).isoformat(), "end_time": soon.isoformat(), "min_runs": 1, "max_runs": 1}
    registered.post(f"deployments/{inbox}/schedule", span)
    scheduled = next(run["id"] for run in runs(registered, "ingest/inbox", auto_scheduled=True))
    by_hand = registered.start(daily, "by-hand")
    for run in (scheduled, by_hand):
        set_state(registered, run, "PENDING")
        set_state(registered, run, "RUNNING")
    lost = end_dead_runs(registered, SPECS)
    assert lost == ["ingest/inbox"], "what a person started, that person may start again"
    states = {registered.get(f"flow_runs/{run}")["state_type"] for run in (scheduled, by_hand)}
    assert states == {"CRASHED"}
    assert catch_up(registered, SPECS, datetime.now(UTC), lost=lost) == ["ingest/inbox"]
    assert end_dead_runs(registered, SPECS) == []


@pytest.mark.prefect
@pytest.mark.slow
def test_what_mindmem_deploy_registers_is_run_by_a_worker_on_its_own_store(api: Api, home: Path) -> None:
    shown = CliRunner().invoke(cli, ["deploy", "--pool", "here", "--json"], catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    ids = json.loads(shown.stdout)
    assert set(ids) == {spec.full_name for spec in SPECS}
    pool = api.get("work_pools/here")
    assert pool["type"] == "process"
    for name, deployment_id in ids.items():
        found = api.deployment(name)
        assert (found["id"], found["work_pool_name"]) == (deployment_id, "here")
        assert "home" not in found["parameters"], "each worker has its own"
        properties = found["parameter_openapi_schema"]["properties"]
        assert {"home", "project_id"} <= set(properties)
        assert all("title" in one for one in properties.values())
    run = api.start(ids["maintain/daily"], "by-hand")
    given = os.environ | {
        "PREFECT_API_URL": str(get_current_settings().api.url), "MINDMEM_HOME": str(home),
        "PREFECT_HOME": str(home.parent / "prefect"), "PREFECT_WORKER_QUERY_SECONDS": "1",
    }  # fmt: skip
    (home.parent / "prefect").mkdir()
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", "here", "--run-once"]
    worked = subprocess.run(command, env=given, capture_output=True, text=True, timeout=240, check=False)
    end = time.monotonic() + 60
    while (state := api.get(f"flow_runs/{run}")["state_type"]) not in {"COMPLETED", "FAILED", "CRASHED"}:
        assert time.monotonic() < end, worked.stdout + worked.stderr
        time.sleep(0.5)
    assert state == "COMPLETED", worked.stdout + worked.stderr
    assert (home / "ledger.db").exists()
