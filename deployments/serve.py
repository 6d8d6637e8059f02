"""Serve all deployments from this machine: ``python -m mindmem.deployments.serve`` or ``mindmem serve``."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from mindmem.core.clock import SystemClock, monotonic
from mindmem.core.serve.console import Session, with_session
from mindmem.deployments.api import Api, NoServer
from mindmem.deployments.catch_up import catch_up, end_dead_runs
from mindmem.deployments.children import SERVED

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

__all__ = ["serve", "serve_all"]

_WAIT: Final = 180.0
"""Seconds that a server which starts at the same time may take."""


def serve_all(parameters: Mapping[str, str] | None = None, *, limit: int = 3, alone: bool = False) -> None:
    """Register the deployments with the server of ``PREFECT_API_URL`` and run what it schedules, until interrupted.

    What was due while nothing ran is caught up by one run of each deployment. ``parameters`` go to every run; ``limit``
    bounds runs at once, each a process of about 150 MB: after a long stop Prefect would start every late run together.

    ``alone`` says that nobody else runs these deployments and that the server stops with this process: runs that seem
    to go on are marked as crashed, and schedules are not paused at the end, as they are otherwise on a clean stop.

    Raises:
        NoServer: nobody answers there.
    """
    from prefect.settings import get_current_settings

    from mindmem.deployments.registry import SPECS, to_deployment

    server = get_current_settings()
    api = Api(str(server.api.url))
    deployments = [to_deployment(spec, parameters or {}) for spec in SPECS]
    if not _answers(api, _WAIT if alone else 0.0):
        raise NoServer(
            f"No Prefect server answers at {server.api.url}; start one with: PREFECT_HOME={server.home} "
            "prefect server start (or name another in PREFECT_API_URL)."
        )
    asyncio.run(_run(api, deployments, limit=limit, alone=alone))


async def _run(api: Api, deployments: Sequence["RunnerDeployment"], *, limit: int, alone: bool) -> None:
    from prefect.runner import Runner

    from mindmem.deployments.automations import apply_automations
    from mindmem.deployments.registry import SPECS

    runner = Runner(name="mindmem", pause_on_shutdown=not alone, limit=limit)
    await apply_automations()
    for deployment in deployments:
        await runner.aadd_deployment(deployment)
    lost = await asyncio.to_thread(end_dead_runs, api, SPECS) if alone else []
    for name in await asyncio.to_thread(catch_up, api, SPECS, SystemClock().now(), lost=lost):
        click.echo(f"{name} was due while nothing ran: one run catches up.")
    click.echo(SERVED)
    await runner.start()


def _answers(api: Api, seconds: float) -> bool:
    begun = monotonic()
    while not api.healthy():
        if monotonic() - begun >= seconds:
            return False
        time.sleep(0.3)
    return True


@click.command(short_help="Serve the deployments to a Prefect server.")
@click.option("--limit", type=click.IntRange(min=1), default=3, show_default=True, help="Runs at once.")
@click.option("--alone", is_flag=True, hidden=True)
@with_session
def serve(session: Session, limit: int, alone: bool) -> None:
    """Register the deployments with a Prefect server and run what it schedules, until interrupted.

    The server is that of PREFECT_API_URL, else http://127.0.0.1:4200/api; `mindmem up` starts one, and serves, too.
    """
    from mindmem.flows.environment import prepare_prefect

    settings = session.settings()
    prepare_prefect(settings.home, server="http://127.0.0.1:4200/api")
    serve_all({"home": str(settings.home), "project_id": settings.project_id}, limit=limit, alone=alone)


if __name__ == "__main__":
    serve()
