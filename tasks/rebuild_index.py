"""The task of rebuild_index: a new search index beside the old one, then the swap."""

from dataclasses import dataclass

from mindmem.tasks.runtime import Store, step

__all__ = ["IndexState", "rebuild_search_index"]


@dataclass(frozen=True, slots=True)
class IndexState:
    """How many memories are active in the project, the last change of the ledger, and the last one in the index."""

    active: int
    last_seq: int
    indexed_seq: int


@step("rebuild-index", "rebuild the search index")
def rebuild_search_index(store: Store, re_embed: bool) -> IndexState:
    """Build the index anew from tables and tail, and swap it in."""
    memory = store.memory()
    if re_embed:
        memory.reembed()
    else:
        memory.rebuild_index()
    status = memory.status()
    return IndexState(status.active, status.last_seq, status.indexed_seq)
