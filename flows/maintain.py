"""Maintain: fold, compact, vacuum, sweep, and verify that ledger, tables and index agree."""

from pathlib import Path
from typing import Annotated, Final

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed
from pydantic import Field

from mindmem.core.errors import MindMemError
from mindmem.core.operate import MaintainReport
from mindmem.core.reports.facts import facts
from mindmem.flows.artifacts import publish_report
from mindmem.tasks.maintain import maintain_store
from mindmem.tasks.runtime import is_stale, opened

__all__ = ["Disagreement", "maintain"]

_FACTS: Final = {
    "expired": "memories archived as their time was over",
    "fold after": "tables held changes up to",
    "fold upto": "tables hold changes up to",
    "fold rounds": "rounds of folding",
    "fold pruned": "changes dropped from the log",
}  # fmt: skip
"""What is counted, in words; other counts are told by their name."""


class Disagreement(MindMemError):
    """Ledger, tables and index do not agree; ``report`` names where."""

    code = "disagreement"

    def __init__(self, report: MaintainReport) -> None:
        super().__init__(
            f"{len(report.findings)} disagreements between ledger, tables and index: mindmem doctor --repair"
        )
        self.report = report


@flow(name="maintain", flow_run_name="maintain", persist_result=False)
async def maintain(
    home: Path | None = None,
    project_id: str | None = None,
    stale_after_minutes: Annotated[int, Field(ge=1)] = 720,
) -> MaintainReport | State[None]:
    """Look after the store.

    Args:
        home: folder of the store; left out: ``MINDMEM_HOME`` or ``~/.mindmem``.
        project_id: project named in the report; all projects of the store are maintained.
        stale_after_minutes: a scheduled run that starts later than that is skipped; the next one does its work.

    Raises:
        Disagreement: ledger, tables and index do not agree; the run ends Failed, the report names where.
    """
    if is_stale(stale_after_minutes):
        return Completed(name="SkippedStale", message="The next run does this one's work.")
    with opened(home, project_id) as store:
        report = await maintain_store(store)
        dashboard = store.memory().services.settings.dashboard.url
    findings = [str(finding) for finding in report.findings]
    told = {_FACTS.get(name, name): value for name, value in facts(report).items()}
    await publish_report("maintain-report", "Maintain", told, findings, dashboard)
    if report.findings:
        raise Disagreement(report)
    return report
