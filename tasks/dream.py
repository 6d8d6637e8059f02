"""The tasks of dream: which users of a project there are, and one task for each batch of them."""

from mindmem.core.dream.due import is_due
from mindmem.core.dreaming import close_night, dreams_of
from mindmem.core.records.dream import DreamReport
from mindmem.core.settings import DreamSettings, Family
from mindmem.tasks.runtime import Store, run_id, step

__all__ = ["dream_over", "end_night", "find_users", "projects_due"]


@step("find-projects", "find the projects whose night it is")
def projects_due(store: Store) -> list[str]:
    """Return the projects of the store that have not dreamt since their last two in the morning."""
    services = store.memory().services
    now, zone = services.clock.now(), services.settings.timezone
    names = dict.fromkeys(owner.project_id for owner, state in services.ledger.partitions() if state.active)
    return [name for name in names if is_due(now, zone, dreams_of(services, name).last_night())]


@step("find-users", "find users with memories")
def find_users(store: Store) -> list[str]:
    """Return the users of the project who have active memories."""
    services = store.memory().services
    return [owner.user_id for owner, state in services.ledger.partitions(store.project_id) if state.active]


@step("dream-over", "dream over some users' memories")
def dream_over(
    store: Store, users: list[str], dry_run: bool, limits: DreamSettings, reasoner: Family | None
) -> DreamReport:  # fmt: skip
    """Consolidate the memories of some users, one after the other."""
    memory = store.memory()
    reports = [
        memory.dream(user, dry_run, limits=limits, reasoner=reasoner, run_id=run_id(), actor="flow") for user in users
    ]
    return DreamReport(
        run_id=reports[0].run_id,
        project_id=store.project_id,
        dry_run=dry_run,
        scopes=tuple(scope for report in reports for scope in report.scopes),
        guards=reports[0].guards,
        seconds=sum(report.seconds for report in reports),
    )


@step("end-night", "record the night")
def end_night(store: Store, report: DreamReport) -> None:
    """Record that the whole project was dreamt over, so that the next tick leaves it alone."""
    close_night(store.memory().services, report, actor="flow")
