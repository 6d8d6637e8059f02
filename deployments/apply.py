"""Register all deployments on any Prefect server, for the workers of a process pool: ``mindmem deploy``."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from mindmem.core.serve.console import Session, console, emit, with_session
from mindmem.deployments.api import Api, NoServer

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

__all__ = ["POOL", "apply_all", "deploy"]

POOL: Final = "mindmem"
"""Name of the work pool that nobody named another for."""


def apply_all(parameters: Mapping[str, str], *, pool: str = POOL) -> dict[str, str]:
    """Register every deployment with the server of ``PREFECT_API_URL``; a second time, they are brought up to date.

    The pool is made where there is none, of type process: its workers run flows as processes of their own machine, from
    the MindMem that is installed there. ``parameters`` go to every run. Returns the ids by ``flow/name``.

    Raises:
        NoServer: nobody answers there.
    """
    from prefect.settings import get_current_settings

    from mindmem.deployments.registry import SPECS, to_deployment

    server = str(get_current_settings().api.url)
    if not Api(server).healthy():
        raise NoServer(f"No Prefect server answers at {server}; name one in PREFECT_API_URL, or start mindmem up.")
    return asyncio.run(_apply([to_deployment(spec, parameters, work_pool=pool) for spec in SPECS], pool))


async def _apply(deployments: Sequence["RunnerDeployment"], pool: str) -> dict[str, str]:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists

    from mindmem.deployments.automations import apply_automations

    async with get_client() as client:
        with suppress(ObjectAlreadyExists):  # one that is there may have a job template that is somebody's choice
            await client.create_work_pool(WorkPoolCreate(name=pool, type="process"))
    await apply_automations()
    return {deployment.full_name: str(await deployment.aapply()) for deployment in deployments}


@click.command(short_help="Register the deployments on a Prefect server, for workers.")
@click.option("--pool", default=POOL, show_default=True, help="Work pool, made where there is none (type process).")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print them as prefect.yaml instead, for `prefect deploy`.")
@with_session
def deploy(session: Session, pool: str, as_yaml: bool) -> None:
    """Register all deployments on the Prefect server of PREFECT_API_URL, for the workers of a pool.

    Runs work on the store that --home and --project name here; without these, on MINDMEM_HOME and MINDMEM_PROJECT_ID of
    the machine that a worker runs on. A second call brings the deployments up to date.

    \b
    PREFECT_API_URL=http://server:4200/api mindmem deploy
    PREFECT_API_URL=http://server:4200/api prefect worker start --pool mindmem

    JSON: the ids of the deployments by name.
    """
    from mindmem.flows.environment import prepare_prefect

    if as_yaml:
        from mindmem.deployments.manifest import manifest

        click.echo(manifest(pool), nl=False)
        return
    settings = session.settings()
    prepare_prefect(settings.home, server="http://127.0.0.1:4200/api")
    given = {"home": str(settings.home)} if session.home else {}
    made = apply_all(given | ({"project_id": session.project} if session.project else {}), pool=pool)
    if session.as_json:
        emit(made)
        return
    out = console()
    for name, identity in made.items():
        out.print(f"{name}  {identity}")
    out.print(f"Their runs wait for a worker: prefect worker start --pool {pool}")
