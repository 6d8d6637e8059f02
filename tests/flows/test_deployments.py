"""Every deployment can be loaded, takes its parameters, and is served with a schedule that means something."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from prefect.flows import Flow, load_flow_from_entrypoint
from prefect.types.entrypoint import EntrypointType

from mindmem.deployments.registry import SPECS, Spec, to_deployment

each = pytest.mark.parametrize("spec", SPECS, ids=[spec.entrypoint.rsplit(".", 1)[1] for spec in SPECS])


@each
def test_its_entrypoint_loads_the_real_flow_and_takes_its_parameters(spec: Spec) -> None:
    flow: Flow[..., object] = load_flow_from_entrypoint(spec.entrypoint, use_placeholder_flow=False)
    assert flow.isasync, "a sync flow waits up to a second for its heartbeat at its end"
    checked = flow.validate_parameters({**spec.parameters, "home": "/somewhere"})
    assert checked["home"] == Path("/somewhere")


@each
def test_it_is_served_by_module_with_its_schedule_and_limit(spec: Spec) -> None:
    made = to_deployment(spec, {"home": "/somewhere"})
    assert (made.entrypoint, made.entrypoint_type) == (spec.entrypoint, EntrypointType.MODULE_PATH)
    assert made.parameters == {**spec.parameters, "home": "/somewhere"}
    assert [schedule.schedule.cron for schedule in made.schedules or []] == [spec.cron] * bool(spec.cron)
    assert [schedule.schedule.timezone for schedule in made.schedules or []] == [spec.timezone] * bool(spec.cron)
    assert made.concurrency_limit == spec.limit


def test_a_parameter_of_the_wrong_type_is_refused_before_anything_runs() -> None:
    flow: Flow[..., object] = load_flow_from_entrypoint("mindmem.flows.ingest.ingest", use_placeholder_flow=False)
    with pytest.raises(Exception, match="stale_after_minutes"):
        flow.validate_parameters({"stale_after_minutes": 0})


def test_ingest_dream_feedback_and_maintain_have_a_schedule_and_rebuild_index_runs_on_demand() -> None:
    crons = {spec.entrypoint.rsplit(".", 1)[1]: spec.cron for spec in SPECS}
    scheduled = {"ingest": "*/15 * * * *", "dream": "5 * * * *", "feedback": "35 * * * *", "maintain": "30 3 * * *"}
    assert crons == {**scheduled, "rebuild_index": ""}


@pytest.mark.parametrize("module", ["mindmem.flows.command", "mindmem.flows.direct", "mindmem.deployments.serve"])
def test_commands_are_known_before_prefect_is_imported(module: str) -> None:
    code = f"import sys, {module}; print('prefect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


def prepared(home: Path, **environ: str) -> dict[str, str]:
    """Prepare Prefect in a new process; return what Prefect then reads."""
    code = f"""
import json
from pathlib import Path
from mindmem.flows.environment import prepare_prefect
prepare_prefect(Path({str(home)!r}))
from prefect.settings import get_current_settings
now = get_current_settings()
print(json.dumps({{"home": str(now.home), "analytics": now.server.analytics_enabled, "v2": now.server.ui.v2_enabled,
                   "extra": now.logging.extra_loggers, "vacuum": sorted(now.server.services.db_vacuum.enabled)}}))
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | environ, cwd=home.parent, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    read: dict[str, str] = json.loads(done.stdout)
    return read


def test_prefect_lives_beside_the_store_and_reaches_for_nothing_outside(tmp_path: Path) -> None:
    home = tmp_path / "home"
    quiet = {
        "home": str(home / "prefect"), "analytics": False, "v2": False, "extra": ["mindmem"],
        "vacuum": ["events", "flow_runs"],
    }  # fmt: skip
    assert prepared(home) == quiet
    profile = tomllib.loads((home / "prefect" / "profiles.toml").read_text())
    assert profile["profiles"][profile["active"]]["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false", (
        "a server started with PREFECT_HOME alone is as quiet"
    )


def test_what_a_person_has_set_for_prefect_stays(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    read = prepared(tmp_path / "home", PREFECT_HOME=str(theirs), PREFECT_LOGGING_EXTRA_LOGGERS="mine")
    assert (read["home"], read["extra"]) == (str(theirs), ["mine"])
    assert not (theirs / "profiles.toml").exists()


def test_serving_without_a_server_says_how_to_start_one(tmp_path: Path) -> None:
    command = [Path(sys.executable).with_name("mindmem"), "serve", "--home", str(tmp_path)]
    given = {**os.environ, "PREFECT_API_URL": "http://127.0.0.1:9/api"}
    given.pop("PREFECT_HOME", None)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=given)
    assert done.returncode == 4
    [line] = [line for line in done.stderr.splitlines() if line.startswith("mindmem: ")]
    assert "No Prefect server answers at http://127.0.0.1:9/api" in line
    assert "prefect server start" in line
