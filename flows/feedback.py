"""Feedback: an hourly pass over recent sessions for what users corrected in them."""

from pathlib import Path
from typing import Annotated, Final

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import Field

from mindmem.core.errors import MindMemError
from mindmem.core.feedback.receipt import FeedbackPass
from mindmem.core.reports.facts import facts
from mindmem.flows.artifacts import publish_report
from mindmem.tasks.feedback import correct_sessions
from mindmem.tasks.runtime import is_stale, opened, run_id

__all__ = ["PendingFeedback", "feedback"]


_OPS: Final = {"add": "added", "update": "put right", "delete": "taken out", "none": "nothing to do"}


class PendingFeedback(MindMemError):
    """Some users' sessions could not be looked at; the next run does them. ``report`` names the users."""

    code = "pending_feedback"

    def __init__(self, report: FeedbackPass) -> None:
        codes = ", ".join(sorted(set(report.failed.values())))
        super().__init__(f"The sessions of {len(report.failed)} users stay pending ({codes}); run it again.")
        self.report = report


@flow(name="feedback", flow_run_name="feedback", persist_result=False)
async def feedback(
    home: Path | None = None,
    project_id: str | None = None,
    user_id: str | None = None,
    stale_after_minutes: Annotated[int, Field(ge=1)] = 60,
) -> FeedbackPass | State[None] | State[FeedbackPass]:
    """Carry out what users corrected in their sessions since the last run.

    Args:
        home: folder of the store; left out: ``MINDMEM_HOME`` or ``~/.mindmem``.
        project_id: project whose sessions are read.
        user_id: only this user's.
        stale_after_minutes: a scheduled run that starts later than that is skipped; the next one does its work.

    A run whose budget for models is spent ends Completed under the name BudgetReached; the next one goes on.

    Raises:
        PendingFeedback: some users' sessions failed and stay pending; everything else was done.
    """
    if is_stale(stale_after_minutes):
        return Completed(name="SkippedStale", message="The next run does this one's work.")
    with opened(home, project_id) as store:
        report = await correct_sessions(store, user_id)
        services = store.memory().services
        spent, dashboard = services.ledger.spent(store.project_id, run_id=run_id()), services.settings.dashboard.url
    shown = {
        "users looked at": report.scopes, "messages read": report.messages, "signals found": report.signals,
    }  # fmt: skip
    counts = {f"corrections: {_OPS.get(op, op)}": number for op, number in report.counts.items()}
    codes = [f"a user's sessions: {code}" for code in report.failed.values()]
    found = facts(
        {
            **shown,
            **counts,
            "changes made": len(report.changes),
            "users that failed": len(report.failed),
            "users left by the budget": len(report.stopped),
        }
    )
    await publish_report(
        "feedback-report", "Feedback", found, codes, dashboard,
        heading="Stays pending", page="feedback", spent=spent,
    )  # fmt: skip
    if report.failed:
        raise PendingFeedback(report)
    if report.stopped:
        said = f"What models may cost is spent; the sessions of {len(report.stopped)} users wait for the next run."
        return Completed(name="BudgetReached", message=said, data=report)
    return report
