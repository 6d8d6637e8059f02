"""Every deployment can be loaded, takes its parameters, and is served with a schedule that means something."""

import subprocess
import sys
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


def test_ingest_and_maintain_have_a_schedule_and_rebuild_index_runs_on_demand() -> None:
    crons = {spec.entrypoint.rsplit(".", 1)[1]: spec.cron for spec in SPECS}
    assert crons == {"ingest": "*/15 * * * *", "maintain": "30 3 * * *", "rebuild_index": ""}


@pytest.mark.parametrize("module", ["mindmem.flows.command", "mindmem.flows.direct", "mindmem.deployments.serve"])
def test_commands_are_known_before_prefect_is_imported(module: str) -> None:
    code = f"import sys, {module}; print('prefect' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"
