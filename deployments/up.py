"""``mindmem up``: everything on one machine, until Ctrl-C: Prefect with its UI, the deployments, the dashboard."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mindmem.core.serve.console import Session, console, with_session

if TYPE_CHECKING:
    from mindmem.deployments.children import Child

__all__ = ["up"]

_COLOURS: Final = ("cyan", "magenta", "green", "yellow", "blue")
_PORT: Final = click.IntRange(1, 65535)


@click.command(short_help="Start everything on this machine: Prefect, the deployments, the dashboard.")
@click.option("--prefect-port", type=_PORT, default=4200, show_default=True, help="Port of Prefect's server and UI.")
@click.option("--dashboard-port", type=_PORT, default=8501, show_default=True, help="Port of the dashboard.")
@click.option("--limit", type=click.IntRange(min=1), default=3, show_default=True, help="Flow runs at once.")
@with_session
def up(session: Session, prefect_port: int, dashboard_port: int, limit: int) -> None:
    """Start everything on this machine, say where it answers, and keep it running until Ctrl-C.

    Prefect's server with its UI, all deployments with their schedules, and the dashboard, on 127.0.0.1 only, without
    telemetry or any request to elsewhere. What is dropped into the folder inbox of the home, and what is queued, is
    taken in at once. What ends is started again; what was due while nothing ran is caught up once. All state is in the
    home.
    """
    from mindmem.core.clock import monotonic
    from mindmem.deployments.children import all_children
    from mindmem.deployments.holder import check_apart, check_port, held_home
    from mindmem.flows.environment import prepare_prefect

    begun = monotonic()
    settings = session.settings()
    children = all_children(settings, prefect_port=prefect_port, dashboard_port=dashboard_port, limit=limit)
    addresses = {child.title: child.address for child in children if child.address}
    check_apart({child.option: child.port for child in children if child.port})
    say = _speaker(children)
    with ExitStack() as held:
        held.enter_context(held_home(settings.home, addresses))
        for child in children:
            if child.port:
                check_port(child.port, child.option)
        prepare_prefect(settings.home)
        inbox = settings.home / "inbox"
        inbox.mkdir(exist_ok=True)
        say("", f"MindMem starts on {settings.home}; Ctrl-C stops everything.")
        if "Dashboard" not in addresses:
            say("", "There is no dashboard in this installation; everything else starts.")

        def ready() -> None:
            say("", f"Ready after {monotonic() - begun:.0f} s.")
            for line in _where(addresses, inbox):
                say("", line)

        asyncio.run(_run(children, say, ready))
        say("", "Everything has stopped.")


async def _run(children: Sequence["Child"], say: Callable[[str, str], None], ready: Callable[[], None]) -> None:
    from mindmem.deployments.supervise import Supervisor

    supervisor = Supervisor(children, say)

    def stop() -> None:
        say("", "Stopping; a second Ctrl-C kills what is left.")
        supervisor.stop()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    await supervisor.run(ready)


def _where(addresses: dict[str, str], inbox: Path) -> list[str]:
    known = {**addresses, "Inbox": str(inbox)}
    width = max(map(len, known))
    return [f"  {title:<{width}}  {place}" for title, place in known.items()]


def _speaker(children: Sequence["Child"]) -> Callable[[str, str], None]:
    """Return what prints a line of a child under its name; our own lines have none."""
    out = console()
    coloured = out.is_terminal and not out.no_color
    styles = {child.name: _COLOURS[at % len(_COLOURS)] for at, child in enumerate(children)}
    width = max(map(len, styles))

    def say(name: str, line: str) -> None:
        prefix = click.style(f"{name:>{width}} |", fg=styles.get(name)) if name else click.style("mindmem:", bold=True)
        with suppress(OSError):  # a terminal that is gone takes no child along
            click.echo(f"{prefix} {line}", color=coloured)

    return say
