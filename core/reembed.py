"""Embed everything again after the embedder was changed: resumable, and the old index answers until all is there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from mindmem.core import ids
from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.errors import Conflict, InvalidInput
from mindmem.core.index.documents import embed_text, vector_key
from mindmem.core.llm.port import charged_to
from mindmem.core.records import Memory, Scope
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.services import Services
from mindmem.core.upkeep import build_index, fold_unless_busy, keep_vectors

__all__ = ["STEP", "Reembedded", "Reembedding", "Watch", "estimate_reembedding", "reembed"]

Watch = Callable[[str, int, int], None]
"""Told what is being done, how much of it is, and of how much."""

STEP: Final = 512
"""Memories embedded between two commits: so many are embedded again after a kill, at most."""
_FOLD_EVERY: Final = 20
"""Steps between two folds, so that the ledger isn't filled with vectors."""
_ROUNDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """What embedding again would take: ``texts`` have no vector by ``embedder`` on record yet, of ``memories`` in all.

    ``tokens`` and ``cost`` are estimates, and on the safe side; ``cost`` is None where the settings hold no price of
    the model, 0 where it runs on this machine. ``held`` is the embedder of the index in use, empty without one.
    """

    embedder: str
    held: str
    memories: int
    texts: int
    tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedded:
    """What embedding again came to: ``texts`` were embedded, the others of ``memories`` had their vectors already."""

    embedder: str
    memories: int
    texts: int
    generation: str


def estimate_reembedding(services: Services) -> Reembedding:
    """Return what ``reembed`` would take now; nothing is sent or written.

    Raises:
        InvalidInput: there is no embedder.
    """
    identity = _identity(services)
    held = services.projector.index.embedder
    texts: dict[str, int] = {}
    for _, missing in _steps(services, identity, STEP):
        texts.update({vector_key(memory): _tokens(services, memory) for memory in missing})
    tokens = sum(texts.values())
    return Reembedding(
        embedder=str(identity),
        held="" if held is None else str(held),
        memories=_memories(services),
        texts=len(texts),
        tokens=tokens,
        cost=_cost(services, tokens),
    )


def reembed(services: Services, watch: Watch | None = None, *, step: int = STEP) -> Reembedded:
    """Embed what has no vector by the embedder in use, then build an index of these vectors and swap it in.

    Vectors are put on record as they come: after a kill, or at a limit of the budget, the next call goes on. What is
    added meanwhile, by processes that still use another embedder, is embedded at the end. Open with ``any_index``.
    ``step`` memories are embedded between two commits.

    Raises:
        InvalidInput: there is no embedder.
        ModelUnavailable, BudgetReached: the embedder is an endpoint that gives no more vectors; call again later.
        StoreBusy: writers of the present index held it for too long.
        Conflict: others kept adding memories with vectors of another embedder.
    """
    identity = _identity(services)
    texts = 0
    with charged_to(Scope(project_id=services.settings.project_id), ids.random_id("reembed")):
        for _ in range(_ROUNDS):
            texts += _embed_missing(services, identity, watch, step)
            generation = build_index(services, complete=True)
            if not any(missing for _, missing in _steps(services, identity, STEP)):
                return Reembedded(
                    embedder=str(identity), memories=_memories(services), texts=texts, generation=generation
                )
    raise Conflict(
        f"Memories without a vector of {identity} kept coming in {_ROUNDS} rounds: stop the processes that use another "
        "embedder, then run mindmem reembed again."
    )


def _embed_missing(services: Services, identity: EmbedderIdentity, watch: Watch | None, size: int) -> int:
    """Embed step by step, and return how many texts were."""
    fold_unless_busy(services)
    done = looked_at = 0
    total = _memories(services)
    for step, (seen, missing) in enumerate(_steps(services, identity, size), start=1):
        if missing:
            done += len(keep_vectors(services, missing))
        looked_at += seen
        if watch is not None:
            watch("embed", min(looked_at, total), total)
        if step % _FOLD_EVERY == 0:
            fold_unless_busy(services)
    return done


def _steps(services: Services, identity: EmbedderIdentity, size: int) -> Iterator[tuple[int, list[Memory]]]:
    """Yield how many memories are in each step, and those of them that have no vector by this embedder."""
    for batch in services.reader.documents(vector_key=vector_key, embedder=str(identity)):
        for start in range(0, len(batch), size):
            step = batch[start : start + size]
            yield len(step), [memory for memory, _, embedding in step if embedding is None]


def _identity(services: Services) -> EmbedderIdentity:
    if services.embedder is None:
        why = " ".join(services.notes) or "the setting embedder is none."
        raise InvalidInput(f"There is no embedder to embed with: {why}", field="embedder")
    return services.embedder.identity


def _memories(services: Services) -> int:
    projects = {partition.project_id for partition, _ in services.ledger.partitions(None)}
    return sum(sum(services.reader.counts(project).values()) for project in projects)


def _tokens(services: Services, memory: Memory) -> int:
    settings = services.settings
    text = embed_text(memory)
    if settings.embedder != "openai":
        return estimate_tokens(text)
    return min(estimate_tokens(settings.embed.document_prefix + text), settings.embed.max_tokens)


def _cost(services: Services, tokens: int) -> float | None:
    settings = services.settings
    if settings.embedder != "openai":
        return 0.0
    price = settings.llm.prices.get(settings.embed.model)
    return None if price is None else price.input * tokens / 1e6
