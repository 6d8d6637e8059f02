"""The projector: reads the log after the index's watermark, in order, and writes it into the index."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from mindmem.core import failpoints
from mindmem.core.embed.port import EmbedderIdentity, Embedding, TokenVectors
from mindmem.core.errors import CorruptStore, StaleGeneration
from mindmem.core.index.current import CurrentIndex, Generations, generation_key
from mindmem.core.index.documents import document, entity_document, vector_key
from mindmem.core.index.embedded.generations import EmbeddedGenerations
from mindmem.core.index.embedded.index import CACHE_BYTES
from mindmem.core.index.port import Document, EntityDocument, SearchIndex
from mindmem.core.ledger.port import Entry, Ledger
from mindmem.core.records import Entity, Memory
from mindmem.core.tables.rows import entity_of, memory_of

__all__ = ["WATERMARK", "Projector", "documents_of", "entities_of", "project"]

WATERMARK: Final = "index"
"""What the name of an index's watermark in the ledger begins with; the site follows where machines have their own."""
_ROWS: Final = 2_000
"""Rows after which a transaction of the index is closed; a single change is never split."""


class Projector:
    """Keeps the index up with the ledger. Several may project at once, in one process or many: each reads the log
    from the index's own watermark without a gap, so whoever comes first writes a row, and nobody skips another's."""

    def __init__(
        self,
        ledger: Ledger,
        folder: Path,
        *,
        identity: EmbedderIdentity | None = None,
        replace_damaged: bool = False,
        cache_bytes: int = CACHE_BYTES,
        lock_timeout: float = 60.0,
    ) -> None:
        """Open the generation that the ledger names, kept in ``folder``, or make the first one.

        ``identity`` is the embedder in use; without one an index of any embedder opens, and is searched by words.
        With ``replace_damaged``, an empty generation takes the place of one that can't be read.

        Raises:
            EmbedderMismatch: the index was built by another embedder; the message names the command that embeds again.
            CorruptStore: the index is damaged; the message names the command that builds it anew.
            StoreUnavailable: the folder or file can't be used.
        """
        self.ledger = ledger
        self.generations: Generations = EmbeddedGenerations(
            folder,
            current=lambda: ledger.get_meta(generation_key(self.generations)),
            embedder=identity,
            cache_bytes=cache_bytes,
            lock_timeout=lock_timeout,
        )
        self._index = CurrentIndex(ledger, self.generations, replace_damaged=replace_damaged)
        if self._watermark not in ledger.watermarks(self._watermark):
            self.publish()  # from now on the log is kept for this index

    @property
    def _watermark(self) -> str:
        site = self.generations.site
        return f"{WATERMARK}:{site}" if site else WATERMARK

    @property
    def index(self) -> CurrentIndex:
        """Return the index in use, which searches follow through a rebuild."""
        return self._index

    def catch_up(self, upto: int | None = None) -> int:
        """Project the log up to ``upto`` (None: its end) and return the index's watermark. Afterwards every change up
        to there is found by a search.

        Raises:
            StaleGeneration: the log was pruned beyond the index's watermark, so it must be rebuilt from the tables.
            CorruptStore: the log has a gap.
        """
        while True:
            with self._index.use() as index:
                try:
                    before = index.watermark()
                    if upto is not None and before >= upto:
                        return before
                    return project(self.ledger, index, upto)
                except StaleGeneration as error:
                    if not self._index.reopen(index):
                        raise StaleGeneration(
                            f"The log no longer reaches back to the index's watermark {index.watermark()}; "
                            "run: mindmem rebuild-index"
                        ) from error
                except CorruptStore:  # another process may have built it anew
                    if not self._index.reopen(index):
                        raise

    def publish(self) -> int:
        """Tell the ledger how far the index has read, so that pruning may go up to there; return it.

        Not part of catching up: it costs a commit, and only a fold asks for it. An old value merely keeps more log.
        """
        reached = self._index.watermark()
        self.ledger.set_watermark(self._watermark, reached)
        return reached

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def project(ledger: Ledger, index: SearchIndex, upto: int | None = None) -> int:
    """Write the log after this generation's watermark into it, and return how far it reaches now.

    Raises:
        StaleGeneration: the log was pruned beyond the watermark, or the generation was replaced.
    """
    reached = index.watermark()
    for entries in _batches(ledger.read_log(reached, upto, tables=("memories", "vectors", "entities"))):
        failpoints.reach("project.read")
        reached = entries[-1].change.seq
        index.apply(documents_of(entries, index.embedder), entities=entities_of(entries), watermark=reached)
    return reached


def documents_of(entries: Sequence[Entry], embedder: EmbedderIdentity | None) -> list[Document]:
    """Return the newest state of each memory that these entries hold, with its vector where they bring one.

    ``created_at`` is right for memories whose first revision is among the entries; an index keeps the one it has.
    """
    vectors = _all_vectors(entries, embedder)
    newest: dict[str, Memory] = {}
    oldest: dict[str, Memory] = {}
    for entry in entries:
        for row in entry.batches["memories"].to_pylist() if "memories" in entry.batches else ():
            memory = memory_of(row)
            oldest.setdefault(memory.memory_id, memory)
            newest[memory.memory_id] = memory
    documents = []
    for memory_id, memory in newest.items():
        created_at = oldest[memory_id].recorded_at
        if created_at is None:
            raise ValueError(f"The log's row of {memory_id!r} has no recorded_at.")
        documents.append(document(memory, created_at, vectors.get(vector_key(memory))))
    return documents


def entities_of(entries: Sequence[Entry]) -> list[EntityDocument]:
    """Return the newest state of each entity that these entries hold."""
    newest: dict[str, Entity] = {}
    for entry in entries:
        for row in entry.batches["entities"].to_pylist() if "entities" in entry.batches else ():
            newest[row["entity_id"]] = entity_of(row)
    return [entity_document(entity) for entity in newest.values()]


def _all_vectors(entries: Sequence[Entry], embedder: EmbedderIdentity | None) -> dict[str, Embedding]:
    vectors: dict[str, Embedding] = {}
    for entry in entries:
        if embedder is not None and "vectors" in entry.batches:
            vectors.update(_vectors(entry.batches["vectors"], str(embedder)))
    return vectors


def _batches(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    rows = 0
    for entry in entries:
        batch.append(entry)
        rows += sum(table.num_rows for table in entry.batches.values())
        if rows >= _ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _vectors(table: pa.Table, embedder: str) -> Iterator[tuple[str, Embedding]]:
    columns: dict[str, Any] = {name: table[name].combine_chunks() for name in table.column_names}
    lists = columns["vector"]
    values = np.asarray(lists.values.to_numpy(zero_copy_only=False), dtype=np.float32)
    bounds = lists.offsets.to_numpy()
    for at in range(table.num_rows):
        if columns["embedder"][at].as_py() != embedder:
            continue
        ids = np.frombuffer(columns["token_ids"][at].as_py() or b"", dtype="<u2")
        raw = columns["token_vectors"][at].as_py() or b""
        tokens = TokenVectors(ids, np.frombuffer(raw, dtype=np.int8).reshape(len(ids), -1)) if len(ids) else None
        yield columns["vector_key"][at].as_py(), Embedding(values[bounds[at] : bounds[at + 1]], tokens)
