"""Stores for measuring: opened with an embedder whose time is taken, filled with generated memories through commits."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from mindmem.core.bench.generate import Generator
from mindmem.core.clock import monotonic
from mindmem.core.embed.port import Embedder, EmbedderIdentity, Embedding

if TYPE_CHECKING:
    from mindmem.core.memory import Memory
    from mindmem.core.records import Edge, Entity
    from mindmem.core.records import Memory as Record
    from mindmem.core.services import Services

__all__ = ["WITHOUT_EMBEDDER", "Timed", "disk_bytes", "fill", "open_store"]

WITHOUT_EMBEDDER: Final = EmbedderIdentity("none", "0", 0)
_BATCH: Final = 1000


class Timed:
    """An embedder that adds up the time that it takes."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.seconds = 0.0

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the inner embedder's identity."""
        return self._inner.identity

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"] = "document") -> list[Embedding]:
        """Return the inner embedder's answer."""
        begun = monotonic()
        try:
            return self._inner.embed(texts, kind)
        finally:
            self.seconds += monotonic() - begun


def open_store(home: Path, *, mode: Literal["vanilla", "schema"] = "vanilla") -> "tuple[Services, Timed | None]":
    """Open a store whose embedder is timed, without a fold at the end."""
    from mindmem.core.services import open_services
    from mindmem.core.settings import Settings

    settings = Settings.load(home=home, ingest={"mode": mode})
    settings = settings.model_copy(update={"store": settings.store.model_copy(update={"fold_on_close": False})})
    services = open_services(settings)
    if services.embedder is None:
        return services, None
    timed = Timed(services.embedder)
    services.close()
    return open_services(settings, embedder=timed), timed


def fill(
    memory: "Memory",
    user: str,
    size: int,
    generator: Generator,
    identity: EmbedderIdentity,
    watch: Callable[[int], None] = lambda _: None,
    *,
    entities: "Sequence[Entity]" = (),
) -> None:
    """Commit ``size`` generated memories of a user in changes of 1,000; with ``entities`` as schema mode does: they are
    named by memories, and linked with them and with each other."""
    from mindmem.core.apply import Request
    from mindmem.core.index.documents import vector_key
    from mindmem.core.records import Action, Plan, Scope

    scope = Scope(user_id=user)
    for place in range(0, size, _BATCH):
        memories = [generator.memory(scope, entities) for _ in range(min(_BATCH, size - place))]
        embeddings = generator.embeddings(len(memories), identity) if identity.dimension else []
        made = Plan(
            kind="import",
            scope=scope,
            base_version=None,
            actions=tuple(Action("add", made, "generated") for made in memories),
            entities=tuple(entities) if place == 0 else (),
            edges=tuple(_edges(memories, generator, entities)) if entities else (),
        )
        known = dict(zip(map(vector_key, memories), embeddings, strict=bool(embeddings)))
        memory.services.applier.apply(made, Request(actor="bench"), embeddings=known)
        watch(place + len(memories))


def _edges(memories: "Sequence[Record]", generator: Generator, entities: "Sequence[Entity]") -> "Iterator[Edge]":
    from mindmem.core.records import Edge

    for one in memories:
        yield Edge(one.entity_id, "HAS_PROPERTY", one.memory_id, one.scope, one.property_name)
        yield from (Edge(one.memory_id, "MENTIONS", other, one.scope) for other in one.mentions)
    yield from generator.related(entities)


def disk_bytes(home: Path) -> int:
    """Return the size of a store's files."""
    return sum(file.stat().st_size for file in home.rglob("*") if file.is_file())
