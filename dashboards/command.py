"""``mindmem dashboard``: the pages in a browser, on this machine unless a password guards them."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mindmem.core.serve.console import Session, with_session

if TYPE_CHECKING:
    from mindmem.core.settings import Settings

__all__ = ["APP", "OPTIONS", "arguments", "dashboard"]

APP: Final = Path(__file__).with_name("app.py")
"""The script that Streamlit runs."""
OPTIONS: Final[Mapping[str, str]] = {"server.headless": "true", "browser.gatherUsageStats": "false"}
"""Said on the command line too, where no other file of settings can take them back."""


def arguments(settings: "Settings", address: str, port: int) -> list[str]:
    """Return the command that serves the dashboard of a store: this Python, Streamlit, its options, the store.

    Raises:
        InvalidInput: other machines could reach it, and no password is set.
    """
    from mindmem.dashboards.login import check_exposure

    check_exposure(address, settings.dashboard)
    options = {**OPTIONS, "server.address": address, "server.port": str(port)}
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    store = ["--home", str(settings.home), "--project", settings.project_id]
    return [sys.executable, "-m", "streamlit", "run", str(APP), *given, "--", *store]


@click.command(short_help="Open the dashboard in a browser.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True, help="Port to listen on.")
@with_session
def dashboard(session: Session, address: str, port: int) -> None:
    """Serve the dashboard until interrupted: memories, timelines, search, ingestion, cost, schema.

    It reads; MINDMEM_DASHBOARD__WRITES=true lets people archive, correct, undo and retry. Beyond this machine it
    listens only with MINDMEM_DASHBOARD__PASSWORD set, which it asks for.
    """
    command = arguments(session.settings(), address, port)
    click.echo(f"The dashboard opens at http://{address}:{port} ; stop it with Ctrl-C.")
    sys.stdout.flush()
    # In this process's place: signals and exit codes are Streamlit's own, and nobody is left behind.
    os.execv(command[0], command)
