"""What a run sees of a scope: active memories, what they tell of, when it was said, and which adds are new."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from mindmem.core.dream.clusters import Cluster, clusters
from mindmem.core.dream.sayings import Sayings, Told, ordered
from mindmem.core.dreaming.proposing import dreams_of
from mindmem.core.index.filters import Test
from mindmem.core.reason.dream_port import DreamReasoner, Survey
from mindmem.core.records import Memory, Partition, Scope
from mindmem.core.services import Services
from mindmem.core.settings import DreamSettings

__all__ = ["Seen", "seen"]

_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Seen:
    """A scope as a run saw it: everything that deciding needs.

    ``texts`` are messages by id, ``adds`` the change of each add, ``writers`` the changes that wrote each new memory;
    ``refused`` are wishes that were turned down.
    """

    partition: Partition
    active: tuple[Memory, ...]
    survey: Survey
    sayings: Sayings
    texts: Mapping[str, str]
    adds: Mapping[str, str]
    writers: Mapping[str, set[str]]
    clusters: tuple[Cluster, ...]
    refused: frozenset[tuple[object, ...]]

    @property
    def scope(self) -> Scope:
        """The scope, as changes and reports name it."""
        return Scope(*self.partition)


def seen(
    services: Services, partition: Partition, settings: DreamSettings, reasoner: DreamReasoner
) -> Seen:  # fmt: skip
    """Look at a scope: clusters around the adds of the look-back window that no run has consolidated."""
    records = dreams_of(services)
    active = _active(services, partition)
    since = services.clock.now() - timedelta(days=settings.look_back_days)
    adds = records.unconsolidated(partition, since)
    writers = records.written_by(partition, adds.values()) if adds else {}
    schema = services.schemas.active().schema if services.settings.ingest.mode == "schema" else None
    survey = reasoner.survey.survey(active, schema) if writers else Survey()
    grown = clusters(active, writers.keys(), survey, settings.window) if writers else []
    sayings, texts = _sayings(services, partition, grown)
    grown = [replace(one, memories=tuple(ordered(one.memories, sayings))) for one in grown]
    refused = records.refused(partition) if grown else frozenset()
    return Seen(partition, tuple(active), survey, sayings, texts, adds, writers, tuple(grown), refused)


def _active(services: Services, partition: Partition) -> list[Memory]:
    index = services.projector.index
    memories: list[Memory] = []
    cursor: str | None = None
    while True:
        page = index.scan(partition, Test("status", "eq", "active"), order="id", cursor=cursor, limit=_PAGE)
        memories.extend(one for one in page.memories if one.scope.partition == partition)
        cursor = page.cursor
        if cursor is None:
            return sorted(memories, key=lambda one: (one.seq, one.memory_id))


def _sayings(
    services: Services, partition: Partition, grown: Sequence[Cluster]
) -> tuple[dict[str, Told], dict[str, str]]:  # fmt: skip
    """Return when each message was said that a cluster rests on, and its words."""
    wanted = {source.message_id for one in grown for memory in one.memories for source in memory.sources}
    told: dict[str, Told] = {}
    texts: dict[str, str] = {}
    for message, seq, recorded_at in services.reader.said(partition, sorted(wanted)) if wanted else ():
        texts[message.message_id] = message.content
        told[message.message_id] = Told(
            message.position,
            seq,
            message.timestamp,
            recorded_at,
            tuple(_line_starts(message.content)),
        )
    return told, texts


def _line_starts(content: str) -> Iterator[int]:
    place = 0
    for line in content.splitlines(keepends=True):
        if line.strip():
            yield place
        place += len(line)
