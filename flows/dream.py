"""Dream: an hourly tick; each project dreams once a local date, from two in the morning of its zone on."""

from pathlib import Path
from typing import Annotated, Final

from prefect import flow
from prefect.artifacts import acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import Field

from mindmem.core.dreaming import ended
from mindmem.core.errors import MindMemError
from mindmem.core.records.dream import DreamReport
from mindmem.core.reports.dream import headline, report_markdown
from mindmem.core.settings import DreamSettings, Family
from mindmem.flows.artifacts import links
from mindmem.tasks.dream import dream_over, end_night, find_users, projects_due
from mindmem.tasks.runtime import Store, is_stale, opened, run_id

__all__ = ["PendingDreams", "dream"]

BATCH: Final = 20
"""Users of one task."""


class PendingDreams(MindMemError):
    """Some clusters stay pending, or some users' memories could not be dreamt over; the next run does them.
    ``reports`` tell which."""

    code = "pending_dreams"

    def __init__(self, reports: list[DreamReport]) -> None:
        super().__init__(" ".join(headline(report) for report in reports if report.failed))
        self.reports = reports


@flow(name="dream", flow_run_name="dream", persist_result=False)
async def dream(
    home: Path | None = None,
    project_id: str | None = None,
    user_id: str | None = None,
    dry_run: bool = False,
    only_due: bool = False,
    look_back_days: Annotated[float | None, Field(gt=0)] = None,
    min_age_hours: Annotated[float | None, Field(ge=0)] = None,
    cap: Annotated[float | None, Field(ge=0, le=1)] = None,
    reasoner: Family | None = None,
    stale_after_minutes: Annotated[int, Field(ge=1)] = 60,
) -> list[DreamReport] | State[None] | State[list[DreamReport]]:
    """Consolidate memories.

    Args:
        home: folder of the store; left out: ``MINDMEM_HOME`` or ``~/.mindmem``.
        project_id: project that dreams; with ``only_due`` and without it, every project of the store whose night it is.
        user_id: only this user's memories.
        dry_run: change nothing; what would be done is kept as proposals.
        only_due: do nothing for a project that has dreamt since its last two in the morning. A tick that was missed is
            made up for by the next one.
        look_back_days, min_age_hours, cap: other limits than those of the settings.
        reasoner: who judges, rules or a language model; left out: whom the settings name.
        stale_after_minutes: a scheduled run that starts later than that is skipped; the next one does its work.

    A run that would archive more than the cap allows is kept as a proposal and ends Completed. One whose budget for
    models is spent ends Completed under the name BudgetReached; the next one goes on.

    Raises:
        PendingDreams: something failed and stays pending; everything else was done.
    """
    if is_stale(stale_after_minutes):
        return Completed(name="SkippedStale", message="The next run does this one's work.")
    given = {"look_back_days": look_back_days, "min_age_hours": min_age_hours, "cap": cap}
    chosen = {name: value for name, value in given.items() if value is not None}
    reports = []
    dashboard = ""
    with opened(home, project_id) as store:
        projects = [store.project_id]
        if only_due:
            due = await projects_due(store)
            projects = [name for name in due if project_id is None or name == project_id]
    for project in projects:
        with opened(home, project) as store:
            reports.append(await _project(store, user_id, dry_run, chosen, reasoner))
            dashboard = store.memory().services.settings.dashboard.url
    await _publish(reports, dashboard)
    if any(report.failed for report in reports):
        raise PendingDreams(reports)
    if any(report.stopped for report in reports):
        said = " ".join(headline(report) for report in reports if report.stopped)
        return Completed(name="BudgetReached", message=said, data=reports)
    return reports


async def _publish(reports: list[DreamReport], dashboard: str) -> None:
    for report in reports:
        told = report_markdown(report, f"Dream of project {report.project_id}")
        told += links(dashboard, f"dreaming?run={report.run_id}", "overview")
        about = f"{report.project_id}: counts, AMCR, recall kept, limits"
        await acreate_markdown_artifact(told, key="dream-report", description=about)


async def _project(
    store: Store, user_id: str | None, dry_run: bool, chosen: dict[str, float], reasoner: Family | None
) -> DreamReport:  # fmt: skip
    settings = store.memory().services.settings.dream
    limits: DreamSettings = settings.model_copy(update=chosen)
    users = await find_users(store) if user_id is None else [user_id]
    done = [
        await dream_over(store, users[start : start + BATCH], dry_run, limits, reasoner)
        for start in range(0, len(users), BATCH)
    ]
    report = DreamReport(
        run_id=done[0].run_id if done else run_id(),
        project_id=store.project_id,
        dry_run=dry_run,
        scopes=tuple(scope for part in done for scope in part.scopes),
        guards=done[0].guards if done else {},
        seconds=sum(part.seconds for part in done),
    )
    if not dry_run and user_id is None and ended(report):
        await end_night(store, report)
    return report
