"""Records and text as bytes in the index file: a memory as JSON, a document's words as a packed array."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.port import FIELD_WEIGHTS
from mindmem.core.records import Memory, Scope, Source
from mindmem.core.text import terms

__all__ = ["FIELDS", "POSTING", "decode", "encode", "micros", "moment", "pack_terms", "term_hash"]

FIELDS: Final = tuple(FIELD_WEIGHTS)
POSTING: Final = np.dtype([("term", "<u8"), ("counts", "u1", (len(FIELDS),))])
"""One word of one document: the term's hash and how often each field holds it. The weights of the fields are applied
when a partition is loaded, so that they can be tuned without building the index again."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN: Final = (
    "memory_id", "revision", "mem_type", "content", "content_hash", "entity_id", "entity_name", "entity_type",
    "property_name", "order", "value", "time_precision", "status", "confidence", "reinforcement_count", "speaker",
    "context", "episode", "change_id", "seq",
)  # fmt: skip
_TIMES: Final = ("valid_from", "valid_to", "observed_at", "recorded_at")


def micros(at: datetime | None) -> int | None:
    """Return microseconds since 1970 UTC, exactly."""
    if at is None:
        return None
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(at: int | None) -> datetime | None:
    """Return the aware UTC datetime of microseconds since 1970."""
    return None if at is None else _EPOCH + timedelta(microseconds=at)


def encode(memory: Memory) -> str:
    """Return the memory as JSON."""
    scope = memory.scope
    row: dict[str, Any] = {name: getattr(memory, name) for name in _PLAIN}
    row.update({name: micros(getattr(memory, name)) for name in _TIMES})
    row["scope"] = [scope.project_id, scope.user_id, scope.app_id, scope.agent_id, scope.session_id]
    row["sources"] = [[source.message_id, source.start, source.end] for source in memory.sources]
    row["parents"], row["flags"], row["metadata"] = list(memory.parents), list(memory.flags), dict(memory.metadata)
    row["mentions"] = list(memory.mentions)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def decode(record: str) -> Memory:
    """Return the memory of :func:`encode`'s JSON."""
    row: dict[str, Any] = json.loads(record)
    row.update({name: moment(row[name]) for name in _TIMES})
    row["scope"] = Scope(*row["scope"])
    row["sources"] = tuple(Source(*source) for source in row["sources"])
    row["parents"], row["flags"] = tuple(row["parents"]), tuple(row["flags"])
    row["mentions"] = tuple(row.get("mentions", ()))
    return Memory(**row)


@lru_cache(maxsize=200_000)
def term_hash(term: str) -> int:
    """Return the 64-bit number that stands for a term; it never changes, so that no dictionary need be kept."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def pack_terms(fields: Mapping[str, str]) -> tuple[bytes, bytes]:
    """Return a document's words (``POSTING`` rows) and its fields' lengths in primary terms (uint16)."""
    counts: dict[int, list[int]] = {}
    lengths = [0] * len(FIELDS)
    for place, name in enumerate(FIELDS):
        for term, weight in terms(fields.get(name, "")):
            counts.setdefault(term_hash(term), [0] * len(FIELDS))[place] += 1
            lengths[place] += weight == 1.0
    packed = np.zeros(len(counts), dtype=POSTING)
    packed["term"] = list(counts)
    if counts:
        packed["counts"] = np.minimum(np.array(list(counts.values()), dtype=np.int64), 255)
    return packed.tobytes(), np.minimum(np.array(lengths, dtype=np.int64), 65_535).astype("<u2").tobytes()


def unpack_terms(packed: Sequence[bytes], weights: npt.NDArray[np.float32]) -> "tuple[Any, Any, Any]":
    """Return (term hashes, row numbers, weighted counts) of many documents' words, in the order of the documents."""
    sizes = np.fromiter(map(len, packed), dtype=np.int64, count=len(packed)) // POSTING.itemsize
    rows = np.frombuffer(b"".join(packed), dtype=POSTING)
    owners = np.repeat(np.arange(len(packed), dtype=np.int32), sizes)
    return rows["term"].astype(np.uint64), owners, rows["counts"].astype(np.float32) @ weights
