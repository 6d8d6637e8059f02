"""After a pause: what was due meanwhile runs once, not many times, and runs whose process is gone don't look alive."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from mindmem.deployments.api import Api, NoServer
from mindmem.deployments.registry import Spec

__all__ = ["CAUGHT_UP", "catch_up", "end_dead_runs"]

CAUGHT_UP: Final = "catch-up"
"""Tag of a run that stands for the ones that were missed."""
_STARTED: Final = ("RUNNING", "COMPLETED", "FAILED", "CRASHED")
_ALIVE: Final = ("RUNNING", "PENDING", "CANCELLING")


def end_dead_runs(api: Api, specs: Sequence[Spec]) -> list[str]:
    """Mark every run of the deployments that seems to be going on as crashed, and free the places that they held.

    For who runs them all alone, before it starts any. Returns the names of scheduled deployments that lost one.
    """
    lost = []
    for spec in specs:
        deployment = api.deployment(spec.full_name)
        dead = api.runs(deployment["id"], _ALIVE)
        for run in dead:
            _force(api, run, "CRASHED", "Crashed", "Its process ended with the machine or with mindmem up.")
        if any(run["state_type"] == "RUNNING" and run["auto_scheduled"] for run in dead):
            lost.append(spec.full_name)
        # A server that was killed itself may have lost track of the places.
        try:
            api.patch(f"v2/concurrency_limits/deployment:{deployment['id']}", {"active_slots": 0})
        except NoServer:  # none has run yet
            continue
    return lost


def catch_up(api: Api, specs: Sequence[Spec], now: datetime, *, lost: Sequence[str] = ()) -> list[str]:
    """Cancel runs that are late and start one in their place, for each scheduled deployment that missed any.

    Missed is a time of the schedule that is over, since the last run that was started (or since the deployment was
    made), or a run that is named in ``lost``. Returns the names of the deployments that were started.
    """
    started = []
    for spec in specs:
        if not spec.cron:
            continue
        deployment = api.deployment(spec.full_name)
        _name_one_missed(api, deployment, now)
        if _cancel_late(api, deployment, now) or spec.full_name in lost:
            api.start(deployment["id"], CAUGHT_UP)
            started.append(spec.full_name)
    return started


def _name_one_missed(api: Api, deployment: dict[str, Any], now: datetime) -> None:
    """Let the server make a late run where a time of the schedule was missed: by itself it makes future ones only."""
    times = [deployment["created"], *(run["expected_start_time"] for run in api.runs(deployment["id"], _STARTED)[:1])]
    begin = max(datetime.fromisoformat(time) for time in times) + timedelta(seconds=1)
    if begin < now:
        span = {"start_time": begin.isoformat(), "end_time": now.isoformat(), "min_runs": 1, "max_runs": 1}
        api.post(f"deployments/{deployment['id']}/schedule", span)


def _cancel_late(api: Api, deployment: dict[str, Any], now: datetime) -> int:
    cancelled = 0
    while late := [
        run
        for run in api.runs(deployment["id"], ("SCHEDULED",), expected_start_time={"before_": now.isoformat()})
        if run["auto_scheduled"]
    ]:
        for run in late:
            _force(api, run, "CANCELLED", "Missed", "Due while nothing ran; one run in its place catches up.")
        cancelled += len(late)
    return cancelled


def _force(api: Api, run: dict[str, Any], kind: str, name: str, message: str) -> None:
    state = {"type": kind, "name": name, "message": message}
    api.post(f"flow_runs/{run['id']}/set_state", {"state": state, "force": True})
