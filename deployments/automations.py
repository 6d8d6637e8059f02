"""The server's automations: a run whose process died without a word is marked as crashed, not as running for ever."""

from datetime import timedelta
from typing import Final

from prefect.automations import Automation
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification

__all__ = ["SILENCE", "apply_automations"]

SILENCE: Final = timedelta(minutes=5)
"""Ten heartbeats: a machine that is busy must not count as dead."""
_NAME: Final = "mindmem: crash runs that fell silent"


async def apply_automations() -> None:
    """Create what the server of ``PREFECT_API_URL`` does not have yet; a second call changes nothing."""
    try:
        await Automation.aread(name=_NAME)
    except ValueError:
        await _silent_runs_crash().acreate()


def _silent_runs_crash() -> Automation:
    ends = {f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed")}
    return Automation(
        name=_NAME,
        description="A flow run that sent heartbeats and then none for five minutes has lost its process.",
        trigger=EventTrigger(
            after={"prefect.flow-run.heartbeat"},
            expect={"prefect.flow-run.heartbeat", *ends},
            match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=SILENCE,
        ),
        actions=[ChangeFlowRunState(state=StateType.CRASHED, message="No heartbeat for five minutes; run it again.")],
    )
