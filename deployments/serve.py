"""Serve all deployments from this machine: ``python -m mindmem.deployments.serve`` or ``mindmem serve``."""

from collections.abc import Mapping

import click

from mindmem.core.errors import MindMemError
from mindmem.core.serve.console import Session, with_session

__all__ = ["NoServer", "serve", "serve_all"]


class NoServer(MindMemError):
    """Nobody answers at the Prefect server's address; the message says how to start one."""

    code = "no_server"
    transient = True


def serve_all(parameters: Mapping[str, str] | None = None, *, limit: int = 3) -> None:
    """Register the deployments with the server of ``PREFECT_API_URL`` and run what it schedules, until interrupted.

    Schedules are paused on a clean stop. ``parameters`` go to every run; ``limit`` bounds runs at once, each a process
    of about 150 MB: after a long stop Prefect would start every late run together.

    Raises:
        NoServer: nobody answers there.
    """
    from httpx import ConnectError
    from prefect import serve as serve_deployments
    from prefect.settings import get_current_settings

    from mindmem.deployments.automations import apply_automations
    from mindmem.deployments.registry import SPECS, to_deployment

    try:
        apply_automations()
    except ConnectError as error:
        server = get_current_settings()
        raise NoServer(
            f"No Prefect server answers at {server.api.url}; start one with: PREFECT_HOME={server.home} "
            "prefect server start (or name another in PREFECT_API_URL)."
        ) from error
    deployments = [to_deployment(spec, parameters or {}) for spec in SPECS]
    serve_deployments(*deployments, pause_on_shutdown=True, limit=limit)


@click.command(short_help="Serve the deployments to a Prefect server.")
@click.option("--limit", type=click.IntRange(min=1), default=3, show_default=True, help="Runs at once.")
@with_session
def serve(session: Session, limit: int) -> None:
    """Register the deployments with a Prefect server and run what it schedules, until interrupted.

    The server is that of PREFECT_API_URL, else http://127.0.0.1:4200/api; see deployments/README.md for starting one.
    """
    from mindmem.flows.environment import prepare_prefect

    settings = session.settings()
    prepare_prefect(settings.home, server="http://127.0.0.1:4200/api")
    serve_all({"home": str(settings.home), "project_id": settings.project_id}, limit=limit)


if __name__ == "__main__":
    serve()
