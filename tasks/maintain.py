"""The task of maintain: fold, compact, vacuum, sweep, verify."""

from mindmem.core.operate import MaintainReport
from mindmem.tasks.runtime import Store, step

__all__ = ["maintain_store"]


@step("maintain-store", "fold, compact, vacuum and verify")
def maintain_store(store: Store) -> MaintainReport:
    """Bring tables and index up to date, drop what nobody reads any more, and say where they disagree."""
    return store.memory().maintain()
