"""The server's automations: a run whose process died without a word is marked as crashed, not as running for ever."""

from datetime import timedelta
from typing import Final

from prefect.automations import Automation
from prefect.client.schemas.objects import StateType
from prefect.events.actions import ChangeFlowRunState
from prefect.events.schemas.automations import EventTrigger, Posture
from prefect.events.schemas.events import ResourceSpecification

__all__ = ["ENDS", "SILENCE", "apply_automations"]

SILENCE: Final = timedelta(minutes=20)
"""Longer than the quarter of an hour for which a server holds an event back that follows one it has not seen. The
state Scheduled of a run that a schedule made comes without an event, and if it is younger than five minutes the states
after it wait so long, the end among them."""
ENDS: Final = ("Completed", "Failed", "Cancelled", "Crashed", "TimedOut", "BudgetReached", "SkippedStale")
"""Names of the states that end a run: a server names its events by them, not by the states' types."""
_NAME: Final = "mindmem: crash runs that fell silent"


async def apply_automations() -> None:
    """Create what the server of ``PREFECT_API_URL`` does not have yet, and bring up to date what an earlier version
    made; a further call changes nothing, and one that somebody switched off stays off."""
    wanted = _silent_runs_crash()
    try:
        found = await Automation.aread(name=_NAME)
    except ValueError:
        await wanted.acreate()
        return
    if _told(found) != _told(wanted):
        wanted.id, wanted.enabled = found.id, found.enabled
        await wanted.aupdate()


def _told(automation: Automation) -> tuple[str, object, object]:
    trigger = automation.trigger
    assert isinstance(trigger, EventTrigger), "made here, or by an earlier version"
    return automation.description, trigger.expect, trigger.within


def _silent_runs_crash() -> Automation:
    minutes = int(SILENCE.total_seconds() // 60)
    return Automation(
        name=_NAME,
        description=f"A flow run that sent heartbeats and then none for {minutes} minutes has lost its process.",
        trigger=EventTrigger(
            after={"prefect.flow-run.heartbeat"},
            expect={"prefect.flow-run.heartbeat", *(f"prefect.flow-run.{end}" for end in ENDS)},
            match=ResourceSpecification({"prefect.resource.id": ["prefect.flow-run.*"]}),
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=SILENCE,
        ),
        actions=[
            ChangeFlowRunState(state=StateType.CRASHED, message=f"No heartbeat for {minutes} minutes; run it again.")
        ],
    )
