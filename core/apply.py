"""The one place that applies plans: embed what is new, commit one change, project it."""

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from mindmem.core import ids
from mindmem.core.embed.contextual import embed_in_context
from mindmem.core.embed.port import Embedder, Embedding
from mindmem.core.errors import StoreBusy, StoreUnavailable
from mindmem.core.failpoints import reach
from mindmem.core.index.documents import context_lines, embed_text, vector_key
from mindmem.core.index.projector import Projector
from mindmem.core.ledger.port import Draft, Fence, HeadKind, HeadMove, Joined, Ledger
from mindmem.core.records import Change, Memory, Operation, Plan, Scope, Status
from mindmem.core.tables import rows
from mindmem.core.tables.contracts import body

__all__ = ["Applier", "Request", "counts_of", "next_revision"]

log = logging.getLogger(__name__)

_NEW_WORDS: frozenset[Operation] = frozenset({"add", "merge", "update"})
"""Operations whose revision may say something that was not embedded before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Who asked for a change and how it is known: the words of a commit that the plan itself doesn't hold.

    ``key`` and ``digest`` make it idempotent, ``result`` is stored with the key, ``done`` takes a pending add out of
    the queue, ``joined`` are further adds of the same change, ``undoes`` names the change that is taken back.
    """

    actor: str = ""
    run_id: str = ""
    add_id: str = ""
    key: str = ""
    digest: str = ""
    result: str = ""
    done: str = ""
    undoes: str = ""
    fence: Fence | None = None
    joined: Sequence[Joined] = ()


def counts_of(plan: Plan) -> dict[str, int]:
    """Return how many of each operation a plan wants, and how many messages, entities, edges and skips it holds."""
    counts = Counter(str(action.op) for action in plan.actions)
    counts.update(messages=len(plan.messages), entities=len(plan.entities), edges=len(plan.edges))
    counts.update(skipped=len(plan.skips))
    return {name: number for name, number in sorted(counts.items()) if number}


class Applier:
    """Turns plans into changes."""

    def __init__(self, ledger: Ledger, projector: Projector, embedder: Embedder | None) -> None:
        self._ledger = ledger
        self._projector = projector
        self._embedder = embedder

    def embed(self, memories: Sequence[Memory]) -> dict[str, Embedding]:
        """Return embeddings by vector key, each text once; empty without an embedder."""
        if self._embedder is None:
            return {}
        texts = {vector_key(memory): (embed_text(memory), context_lines(memory)) for memory in memories}
        return dict(zip(texts, embed_in_context(self._embedder, list(texts.values())), strict=True))

    def apply(self, plan: Plan, request: Request, *, embeddings: Mapping[str, Embedding] | None = None) -> Change:
        """Commit the plan as one change and make it searchable; where the index can't be written, the next read does.

        Raises:
            ScopeChanged: the partition has moved since the plan was decided; decide again.
            Conflict, LeaseLost, StoreBusy, StoreUnavailable: as the ledger says; nothing was written.
        """
        change = self._ledger.commit(self.draft(plan, request, embeddings=embeddings))
        reach("ingest.committed")
        try:
            self._projector.catch_up(change.seq)
        except (StoreBusy, StoreUnavailable) as error:
            # The change stands: an error would have it asked for again. Who reads next catches up first, or is told.
            log.warning("change %s is in the ledger, not yet in the index: %s", change.change_id, error)
        reach("ingest.projected")
        return change

    def draft(self, plan: Plan, request: Request, *, embeddings: Mapping[str, Embedding] | None = None) -> Draft:
        """Return what the ledger is asked to write for a plan."""
        plan = self._standing(plan)
        memories = [action.memory for action in plan.actions]
        batches: dict[str, pa.Table] = {}
        if plan.messages:
            batches["messages"] = rows.messages_table(plan.messages)
        if memories:
            batches["memories"] = rows.memories_table(memories)
        if plan.entities:
            batches["entities"] = rows.entities_table(plan.entities)
        if plan.edges:
            batches["edges"] = rows.edges_table(plan.edges)
        vectors = self._vectors(plan, embeddings or {})
        if vectors is not None:
            batches["vectors"] = vectors
        if request.add_id:
            batches["adds"] = _add_rows(plan, request)
        return Draft(
            change_id=ids.change_id(),
            kind=plan.kind,
            scope=plan.scope,
            actor=request.actor,
            reason=plan.reason,
            run_id=request.run_id,
            undoes=request.undoes,
            counts=counts_of(plan),
            batches=batches,
            heads=_moves(plan),
            base={plan.scope.partition: plan.base_version},
            key=request.key,
            digest=request.digest,
            result=request.result,
            fence=request.fence,
            done=request.done,
            joined=request.joined,
        )

    def _standing(self, plan: Plan) -> Plan:
        """Return the plan with the entities brought back that were archived, and that its active memories have to do
        with again."""
        active = [action.memory for action in plan.actions if action.memory.status == "active"]
        named = {name for one in active for name in (one.entity_id, *one.mentions) if name}
        heads = self._ledger.heads("entity", sorted(named)) if named else {}
        gone = [name for name, head in heads.items() if head.status == "archived"]
        if not gone:
            return plan
        coming = {one.entity_id: one for one in plan.entities}
        stored = self._projector.index.entities([name for name in gone if name not in coming])
        back = {name: replace(one, revision=one.revision + 1) for name, one in stored.items()}
        back = {name: replace(one, status="active") for name, one in (coming | back).items() if name in gone}
        return replace(plan, entities=tuple((coming | back).values()))

    def _vectors(self, plan: Plan, known: Mapping[str, Embedding]) -> pa.Table | None:
        if self._embedder is None:
            return None
        wanted = {
            vector_key(action.memory): action.memory
            for action in plan.actions
            if action.op in _NEW_WORDS and action.memory.status == "active"
        }
        if not wanted:
            return None
        found = {key: known[key] for key in wanted if key in known}
        found.update(self.embed([memory for key, memory in wanted.items() if key not in known]))
        return rows.vectors_table(
            plan.scope, str(self._embedder.identity), list(wanted), [found[key] for key in wanted]
        )


def _moves(plan: Plan) -> list[HeadMove]:
    """Return the moves of all heads that a plan touches, each by one revision."""
    memories = [action.memory for action in plan.actions]
    return [
        *(_move("memory", one.memory_id, one.scope, one.revision, one.status, one.content_hash) for one in memories),
        *(_move("entity", one.entity_id, one.scope, one.revision, one.status) for one in plan.entities),
        *(_move("message", one.message_id, one.scope, 1) for one in plan.messages),
    ]


def _move(
    kind: HeadKind, object_id: str, scope: Scope, revision: int, status: Status = "active", content_hash: str = ""
) -> HeadMove:
    return HeadMove(
        kind=kind,
        object_id=object_id,
        partition=scope.partition,
        scope_key=scope.key,
        expected=revision - 1,
        revision=revision,
        status=status,
        content_hash=content_hash,
    )


def _add_rows(plan: Plan, request: Request) -> pa.Table:
    scope = plan.scope
    row = {
        "add_id": request.add_id,
        "project_id": scope.project_id,
        "user_id": scope.user_id,
        "app_id": scope.app_id,
        "agent_id": scope.agent_id,
        "session_id": scope.session_id,
        "idempotency_key": request.key,
        "request_digest": request.digest,
        "receipt": request.result or json.dumps(counts_of(plan)),
    }
    further = ({"add_id": one.done, "idempotency_key": one.key, "request_digest": one.digest} for one in request.joined)
    return pa.Table.from_pylist([row, *({**row, **one} for one in further)], schema=body("adds"))


def next_revision(memory: Memory, **changes: Any) -> Memory:  # the fields of Memory; replace() refuses other names
    """Return the memory's next revision with some fields changed; it isn't recorded yet."""
    return replace(memory, revision=memory.revision + 1, recorded_at=None, change_id="", seq=0, **changes)
