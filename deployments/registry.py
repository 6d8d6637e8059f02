"""Every deployment of MindMem, in one place: what runs, when, with which parameters, how many at once.

The registry names no store: who registers the deployments adds ``home`` and ``project_id``, else a run works on
``MINDMEM_HOME`` of the machine that it runs on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

__all__ = ["SPECS", "Spec", "to_deployment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """One deployment. ``entrypoint`` is a module path, so that no copy of the code is loaded from a file.

    ``cron`` is read in ``timezone``; without it the deployment runs on demand. ``limit`` is how many of its runs go at
    once; further ones wait, or are left out where a later run does their work (``skip_if_running``).
    """

    flow: str
    """Name of the flow, in the UI and before the slash of a deployment's full name."""
    name: str
    entrypoint: str
    description: str
    cron: str = ""
    timezone: str = "UTC"
    tags: tuple[str, ...] = ()
    parameters: Mapping[str, str | int | bool] = field(default_factory=dict)
    limit: int = 1
    skip_if_running: bool = True

    @property
    def full_name(self) -> str:
        """Return ``flow/name``, by which Prefect knows the deployment."""
        return f"{self.flow}/{self.name}"


SPECS: Final = (
    Spec(
        flow="ingest",
        name="inbox",
        entrypoint="mindmem.flows.ingest.ingest",
        description="Every 15 minutes: the folder inbox in the home, and queued adds.",
        cron="*/15 * * * *",
        tags=("mindmem", "ingest"),
        parameters={"stale_after_minutes": 15},
    ),
    Spec(
        flow="dream",
        name="nightly",
        entrypoint="mindmem.flows.dream.dream",
        description="Every hour: projects whose night it is consolidate what was added lately.",
        cron="5 * * * *",
        tags=("mindmem", "dream"),
        parameters={"only_due": True, "stale_after_minutes": 60},
    ),
    Spec(
        flow="feedback",
        name="hourly",
        entrypoint="mindmem.flows.feedback.feedback",
        description="Every hour: what users corrected in their sessions since the last run.",
        cron="35 * * * *",
        tags=("mindmem", "feedback"),
        parameters={"stale_after_minutes": 60},
    ),
    Spec(
        flow="maintain",
        name="daily",
        entrypoint="mindmem.flows.maintain.maintain",
        description="Every night: fold, compact, vacuum, sweep, verify.",
        cron="30 3 * * *",
        tags=("mindmem", "maintain"),
        parameters={"stale_after_minutes": 720},
    ),
    Spec(
        flow="rebuild-index",
        name="on-demand",
        entrypoint="mindmem.flows.rebuild_index.rebuild_index",
        description="Build the search index anew from tables and ledger, then swap.",
        tags=("mindmem", "rebuild-index"),
        skip_if_running=False,
    ),
)
"""All deployments, in the order of the way of data."""


def to_deployment(
    spec: Spec, parameters: Mapping[str, str] | None = None, *, work_pool: str | None = None
) -> "RunnerDeployment":
    """Return what Prefect serves, or registers for the workers of a pool, with further parameters of every run."""
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.flows import Flow, load_flow_from_entrypoint
    from prefect.schedules import Cron
    from prefect.types.entrypoint import EntrypointType

    # A placeholder would hide an import that fails until the first run.
    flow: Flow[..., object] = load_flow_from_entrypoint(spec.entrypoint, use_placeholder_flow=False)
    strategy = ConcurrencyLimitStrategy.CANCEL_NEW if spec.skip_if_running else ConcurrencyLimitStrategy.ENQUEUE
    made = flow.to_deployment(
        spec.name,
        description=spec.description,
        schedule=Cron(spec.cron, timezone=spec.timezone) if spec.cron else None,
        tags=list(spec.tags),
        parameters={**spec.parameters, **(parameters or {})},
        concurrency_limit=ConcurrencyLimitConfig(limit=spec.limit, collision_strategy=strategy),
        entrypoint_type=EntrypointType.MODULE_PATH,
        work_pool_name=work_pool,
    )
    assert not isawaitable(made), "to_deployment is a coroutine inside an event loop only"
    return made
