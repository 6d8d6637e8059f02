"""Rebuild the search index beside the old one and swap; searches go on meanwhile."""

from pathlib import Path

from prefect import flow

from mindmem.flows.artifacts import publish_report
from mindmem.tasks.rebuild_index import IndexState, rebuild_search_index
from mindmem.tasks.runtime import opened

__all__ = ["rebuild_index"]


@flow(name="rebuild-index", flow_run_name="rebuild index", persist_result=False)
async def rebuild_index(
    home: Path | None = None, project_id: str | None = None, re_embed: bool = False
) -> IndexState:  # fmt: skip
    """Build the index anew from tables and tail.

    Args:
        home: folder of the store; left out: ``MINDMEM_HOME`` or ``~/.mindmem``.
        project_id: project named in the report; the index of the whole store is rebuilt.
        re_embed: first embed everything anew, after the embedder was changed.
    """
    with opened(home, project_id, any_index=True) as store:
        state = await rebuild_search_index(store, re_embed)
        dashboard = store.memory().services.settings.dashboard.url
    await publish_report(
        "rebuild-index-report",
        "Rebuild index",
        {"active memories": state.active, "last change": state.last_seq, "indexed up to": state.indexed_seq},
        dashboard=dashboard,
    )
    return state
