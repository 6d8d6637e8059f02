"""How Prefect behaves when MindMem starts it: local, quiet towards the outside, its data beside the store."""

from pathlib import Path
from typing import Final

from mindmem.core.settings import default_environment

__all__ = ["prefect_environment", "prepare_prefect"]

_SETTINGS: Final = {
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "mindmem",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # Kept in memory, a server that is killed leaves places of running flows taken for ever.
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": "prefect.server.concurrency.lease_storage.filesystem",
    "PREFECT_SERVER_EPHEMERAL_ENABLED": "true",
    # Prefect's 20 seconds are too short for its first start on a small machine.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180",
    # The newer UI loads a script from elsewhere.
    "PREFECT_SERVER_UI_V2_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # Recording task runs in batches costs the server a quarter of the time.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "50",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1.0",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    # What looks for things that happen by the minute need not look every few seconds.
    "PREFECT_SERVER_EVENTS_PROACTIVE_GRANULARITY": "PT30S",
    "PREFECT_SERVER_SERVICES_CANCELLATION_CLEANUP_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_CLEANUP_RECONCILER_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_FOREMAN_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_PAUSE_EXPIRATIONS_LOOP_SECONDS": "60",
    "PREFECT_SERVER_SERVICES_REPOSSESSOR_LOOP_SECONDS": "60",
}
_PROFILE: Final = "profiles.toml"


def prefect_environment(home: Path, server: str) -> dict[str, str]:
    """Return Prefect's variables for processes that share the server at this address, with its data under the home."""
    ours = {"DO_NOT_TRACK": "1", "PREFECT_HOME": str(home / "prefect"), "PREFECT_API_URL": server}
    return {**_SETTINGS, **ours, "PREFECT_SERVER_EPHEMERAL_ENABLED": "false"}


def prepare_prefect(home: Path, *, server: str = "") -> None:
    """Set Prefect's variables that nobody has set; call it before Prefect is imported.

    Without a server (here or in ``PREFECT_API_URL``) a run brings its own short-lived API, whose database under the
    home shows the run later. The folder gets a profile with the same settings, so that ``prefect server start`` with
    nothing but ``PREFECT_HOME`` is as quiet.
    """
    if server:
        default_environment({"PREFECT_API_URL": server})
    ours = home / "prefect"
    now = default_environment({"DO_NOT_TRACK": "1", "PREFECT_HOME": str(ours), **_SETTINGS})
    # Prefect opens its database there without making the folder.
    folder = Path(now["PREFECT_HOME"]).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    if folder == ours and not (folder / _PROFILE).exists():
        lines = [
            'active = "mindmem"',
            "",
            "[profiles.mindmem]",
            *(f'{name} = "{value}"' for name, value in _SETTINGS.items()),
        ]
        (folder / _PROFILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
