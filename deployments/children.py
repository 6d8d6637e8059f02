"""The processes of ``mindmem up`` as data: what each runs, when it is ready, what it needs."""

import importlib.util
import sys
from dataclasses import dataclass, field
from typing import Final

from mindmem.core.settings import Settings
from mindmem.flows.environment import prefect_environment

__all__ = ["SERVED", "WATCHING", "Answers", "Child", "Says", "all_children"]

HOST: Final = "127.0.0.1"
SERVED: Final = "All deployments are served."
"""What the process that runs the deployments says once their schedules are active."""
WATCHING: Final = "Watching the inbox and the queue."


@dataclass(frozen=True, slots=True)
class Answers:
    """Ready when an HTTP GET of this address is answered with 200."""

    url: str


@dataclass(frozen=True, slots=True)
class Says:
    """Ready when it prints a line that holds these words."""

    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One process. ``env`` is added to the environment of ``up``; ``needs`` names the children that it talks to, which
    are stopped after it. ``port`` is what it listens on (0: nothing), ``option`` what chooses another one."""

    name: str
    argv: tuple[str, ...]
    ready: Answers | Says
    env: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    title: str = ""
    address: str = ""
    port: int = 0
    option: str = ""


def all_children(settings: Settings, *, prefect_port: int, dashboard_port: int, limit: int) -> list[Child]:
    """Return the children of a store: Prefect's server, the dashboard, what runs the deployments, what watches the
    inbox. Without the dashboard's pages in this installation there is none; the others are always there.
    """
    server = f"http://{HOST}:{prefect_port}"
    pages = f"http://{HOST}:{dashboard_port}"
    env = prefect_environment(settings.home, f"{server}/api")
    store = ("--home", str(settings.home), "--project", settings.project_id)
    prefect = Child(
        name="prefect",
        argv=(*_python("server"), "server", "start", "--host", HOST, "--port", str(prefect_port)),
        env=env,
        ready=Answers(f"{server}/api/health"),
        title="Prefect",
        address=server,
        port=prefect_port,
        option="--prefect-port",
    )
    dashboard = _dashboard(settings, pages, server, dashboard_port)
    linked = {"MINDMEM_DASHBOARD__URL": pages} if dashboard else {}
    flows = Child(
        name="flows",
        argv=(*_python("serve"), *store, "--limit", str(limit), "--alone"),
        env=env | linked,
        ready=Says(SERVED),
        needs=("prefect",),
    )
    watch = Child(
        name="watch",
        argv=(*_python("watch"), *store, "--server", f"{server}/api"),
        ready=Says(WATCHING),
        needs=("prefect", "flows"),
    )
    return [prefect, *dashboard, flows, watch]


def _python(module: str) -> tuple[str, ...]:
    return sys.executable, "-m", f"mindmem.deployments.{module}"


def _dashboard(settings: Settings, pages: str, server: str, port: int) -> list[Child]:
    if importlib.util.find_spec("mindmem.dashboards.command") is None:
        return []
    from mindmem.dashboards.command import arguments

    return [
        Child(
            name="dashboard",
            argv=tuple(arguments(settings, HOST, port)),
            # No watching of source files: they change with an installation, and then everything is started anew.
            env={
                "MINDMEM_DASHBOARD__PREFECT_URL": server,
                "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
                "STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none",
            },
            ready=Answers(f"{pages}/_stcore/health"),
            title="Dashboard",
            address=pages,
            port=port,
            option="--dashboard-port",
        )
    ]
