"""The registry as a ``prefect.yaml``, for those who deploy with Prefect's own command: ``mindmem deploy --yaml``."""

from typing import Any

from mindmem.deployments.registry import SPECS, Spec

__all__ = ["manifest"]

_HEAD = """\
# Made from registry.py: mindmem deploy --yaml > deployments/prefect.yaml
# The pool must be there: prefect work-pool create --type process {pool}
# Then, with PREFECT_API_URL set: prefect --no-prompt deploy --all --prefect-file deployments/prefect.yaml
"""


def manifest(pool: str) -> str:
    """Return the text of a ``prefect.yaml`` that registers every deployment for a pool."""
    import yaml

    # An empty `pull` says that there is no code to fetch: workers have MindMem installed.
    document = {"name": "mindmem", "pull": [], "deployments": [_entry(spec, pool) for spec in SPECS]}
    text: str = yaml.safe_dump(document, sort_keys=False, width=100)
    return _HEAD.format(pool=pool) + text


def _entry(spec: Spec, pool: str) -> dict[str, Any]:
    strategy = "CANCEL_NEW" if spec.skip_if_running else "ENQUEUE"
    return {
        "name": spec.name,
        "description": spec.description,
        "entrypoint": spec.entrypoint,
        "tags": list(spec.tags),
        "parameters": dict(spec.parameters),
        "schedules": [{"cron": spec.cron, "timezone": spec.timezone}] if spec.cron else [],
        "concurrency_limit": {"limit": spec.limit, "collision_strategy": strategy},
        "work_pool": {"name": pool},
    }
