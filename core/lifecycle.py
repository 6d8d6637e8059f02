"""What happens to memories after they were added: update, delete, undo, fold."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from mindmem.core import ids
from mindmem.core.apply import Request, next_revision
from mindmem.core.errors import Conflict, InvalidInput, NotFound, ScopeChanged, bounded
from mindmem.core.graph import all_entities
from mindmem.core.identity import about, orphans, traces
from mindmem.core.index.filters import All, Filter, Test
from mindmem.core.ingest.links import Links
from mindmem.core.language.words import clean
from mindmem.core.records import Action, Change, Edge, Entity, Memory, Partition, Plan, Scope
from mindmem.core.records.plan import ChangeKind
from mindmem.core.redact import redact
from mindmem.core.retrieve import get, scope_filter
from mindmem.core.running import run
from mindmem.core.services import Services
from mindmem.core.undo import inverse
from mindmem.core.upkeep import caught_up

__all__ = ["DELETED", "archive_expired", "delete", "delete_all", "derived", "undo", "update"]

DELETED = "deleted"
"""Flag of a memory that somebody took out, unlike one that a newer value superseded: ``as_of`` doesn't show it."""
EDITED = "edited"
"""Flag of a memory whose words somebody has put differently than its sources do."""
_TRIES = 8
_PAGE = 1000


def update(
    services: Services,
    project_id: str,
    memory_id: str,
    *,
    content: str | None,
    metadata: Mapping[str, object] | None,
    status: Literal["active", "archived"] | None,
    entity: str | None,
    actor: str,
) -> Change:
    """Write a memory's next revision (see ``Memory.update``)."""
    if content is None and metadata is None and status is None and entity is None:
        raise InvalidInput("Nothing to update: give content, metadata, status or entity.", field="content")
    if content is not None and (not isinstance(content, str) or not any(map(str.isalnum, content))):
        raise InvalidInput(f"content must be a text with a letter or a digit, got {bounded(content)}.", field="content")
    most = services.settings.ingest.max_message_chars
    if content is not None and len(content) > most:
        raise InvalidInput(f"content has {len(content)} characters; at most {most} are allowed.", field="content")
    if content is not None:
        content, _ = redact(clean(content))
    if status is not None and status not in ("active", "archived"):
        raise InvalidInput(f"status must be 'active' or 'archived', got {bounded(status)}.", field="status")

    def plan() -> Plan:
        memory = get(services, project_id, memory_id)
        base = services.ledger.scope_state(memory.scope.partition).version
        changed = next_revision(
            memory,
            content=memory.content if content is None else content,
            content_hash=memory.content_hash if content is None else ids.content_hash(content),
            metadata=memory.metadata if metadata is None else _merged(memory.metadata, metadata),
            status=status or memory.status,
            value=memory.value if content is None else _still_said(memory.value, content),
            flags=_flags(memory, status, edited=content is not None and content != memory.content),
        )
        _refuse_double(services, changed)
        new_words = changed.content != memory.content
        op: Literal["update", "archive", "restore"] = (
            "update" if new_words else "archive" if changed.status == "archived" else "restore"
        )
        fresh: Entity | None = None
        if entity is not None:
            subject, fresh = about(services, memory, entity)
            changed = replace(
                changed, entity_id=subject.entity_id, entity_name=subject.entity_name,
                entity_type=subject.entity_type, mentions=subject.mentions,
            )  # fmt: skip
        edges, entities = _consequences(services, memory, changed)
        plain = _plan("update", memory.scope, base, (Action(op, changed, "asked for by the caller"),), "update")
        plan = replace(plain, edges=edges, entities=(*entities, *((fresh,) if fresh else ())))
        said = (memory.content, memory.status, memory.entity_id)
        return plan if said == (changed.content, changed.status, changed.entity_id) else derived(services, plan)

    return _commit(services, plan, actor)


def delete(services: Services, project_id: str, memory_id: str, *, actor: str) -> Change:
    """Archive one memory (see ``Memory.delete``)."""

    def plan() -> Plan:
        memory = get(services, project_id, memory_id)
        base = services.ledger.scope_state(memory.scope.partition).version
        return _without(services, memory.scope, base, [memory], f"delete of {memory_id}")

    return _commit(services, plan, actor)


def delete_all(services: Services, scope: Scope, *, actor: str) -> Change:
    """Archive all active memories of a scope as one change (see ``Memory.delete_all``)."""

    def plan() -> Plan:
        base = services.ledger.scope_state(scope.partition).version
        gone = _all(services, scope.partition, scope_filter(scope, active=True))
        plan = _without(services, scope, base, gone, "delete of a whole scope")
        if (scope.app_id, scope.agent_id, scope.session_id) != ("", "", ""):
            return plan
        known = [entity.entity_id for entity in all_entities(services, scope.partition)]
        return replace(plan, entities=orphans(services, scope.partition, known, [one.memory_id for one in gone]))

    return _commit(services, plan, actor)


def undo(services: Services, project_id: str, change_id: str, *, cascade: bool, actor: str) -> Change:
    """Take a change back (see ``Memory.undo``)."""
    change = services.ledger.change(change_id)
    if change is None or change.scope.project_id != project_id:
        raise NotFound(
            f"No change {bounded(change_id)} in project {project_id!r}; list them with `mindmem undo` or changes()."
        )

    def plan() -> Plan:
        return derived(services, inverse(change, services.ledger, services.reader, cascade=cascade))

    return _commit(services, plan, actor, undoes=change_id)


def archive_expired(services: Services) -> int:
    """Archive the project's active memories whose validity has ended; return how many."""
    caught_up(services)
    now = services.clock.now()
    over = All((Test("status", "eq", "active"), Test("validate_to", "lte", now)))
    project = Partition(services.settings.project_id, "")
    owners = {memory.scope.partition for memory in _all(services, project, over)}
    expired = 0
    for owner in sorted(owners):

        def plan(owner: Partition = owner) -> Plan:
            base = services.ledger.scope_state(owner).version
            actions = tuple(
                Action("archive", next_revision(memory, status="archived"), "its validity has ended")
                for memory in _all(services, owner, over)
            )
            return _plan("delete", Scope(*owner), base, actions, "sweep of what has expired")

        expired += _commit(services, plan, "maintain").counts.get("archive", 0)
    return expired


def _commit(services: Services, plan: Callable[[], Plan], actor: str, *, undoes: str = "") -> Change:
    """Decide and apply, and decide again while the scope moves under it."""
    for attempt in range(_TRIES):
        caught_up(services)
        try:
            return services.applier.apply(plan(), Request(actor=actor, undoes=undoes))
        except ScopeChanged:
            if attempt == _TRIES - 1:
                raise
    raise AssertionError("unreachable")


def _plan(kind: ChangeKind, scope: Scope, base: int, actions: tuple[Action, ...], reason: str) -> Plan:
    return Plan(kind=kind, scope=scope, base_version=base, actions=actions, reason=reason)


def _without(services: Services, scope: Scope, base: int, gone: Sequence[Memory], reason: str) -> Plan:
    """Return the plan that takes memories out, with their edges, the entities that only they have to do with, and what
    was synthesised from them."""
    edges, entities = traces(services, scope.partition, gone)
    plan = replace(
        _plan("delete", scope, base, tuple(_archive(memory) for memory in gone), reason), edges=edges, entities=entities
    )
    return derived(services, plan)


def derived(services: Services, plan: Plan) -> Plan:
    """Return the plan with what follows for memories of order 2: renewed in schema mode, retired where nobody would
    renew them."""
    if services.settings.ingest.mode == "schema":
        from mindmem.core.schema import adding

        return run(adding.derived(services, plan))
    lost = {action.memory.memory_id for action in plan.actions if action.op != "restore"}
    written = {action.memory.memory_id for action in plan.actions}
    retired = tuple(
        Action("archive", next_revision(memory, status="archived"), "a memory that it rests on is gone")
        for memory in services.reader.resting_on(plan.scope.partition, lost)
        if memory.memory_id not in written
    )
    return replace(plan, actions=(*plan.actions, *retired))


def _consequences(services: Services, before: Memory, after: Memory) -> tuple[tuple[Edge, ...], tuple[Entity, ...]]:
    """Return the edges and orphans that follow from a memory's being taken out, brought back, or given another
    subject."""
    owner = before.scope.partition
    if after.status == "archived":
        return traces(services, owner, [before]) if before.status == "active" else ((), ())
    if before.entity_id == after.entity_id and before.status == after.status:
        return (), ()
    loose = () if before.status != "active" else traces(services, owner, [before])[0]
    links = Links(after.scope, frozenset((after.entity_id, *after.mentions)))
    links.belongs(after)
    links.names(after)
    left = [one for one in (before.entity_id, *before.mentions) if one not in (after.entity_id, *after.mentions)]
    edges = {(one.src, one.relation, one.dst, one.kind): one for one in (*loose, *links.edges())}
    return tuple(edges.values()), orphans(services, owner, left, [before.memory_id])


def _archive(memory: Memory) -> Action:
    archived = next_revision(memory, status="archived", flags=_flags(memory, "archived"))
    return Action("archive", archived, "asked for by the caller")


def _flags(memory: Memory, status: str | None, *, edited: bool = False) -> tuple[str, ...]:
    flags = memory.flags if not edited else tuple(dict.fromkeys((*memory.flags, EDITED)))
    if status is None:
        return flags
    kept = tuple(flag for flag in flags if flag != DELETED)
    return (*kept, DELETED) if status == "archived" else kept


def _still_said(value: str, content: str) -> str:
    """Return a property's value as long as the memory's new words hold it; else nobody said what it is."""
    return value if value.casefold() in content.casefold() else ""


def _all(services: Services, partition: Partition, wanted: Filter) -> list[Memory]:
    memories: list[Memory] = []
    cursor: str | None = None
    while True:
        page = services.projector.index.scan(partition, wanted, order="id", cursor=cursor, limit=_PAGE)
        memories.extend(page.memories)
        cursor = page.cursor
        if cursor is None:
            return memories


def _refuse_double(services: Services, changed: Memory) -> None:
    if changed.status != "active":
        return
    other = services.ledger.active_claims(changed.scope.key, [changed.content_hash]).get(changed.content_hash)
    if other not in (None, changed.memory_id):
        raise Conflict(
            f"Memory {other!r} of the same scope is active and says the same. Archive one, or use other words."
        )


def _merged(old: Mapping[str, object], patch: Mapping[str, object]) -> dict[str, object]:
    from mindmem.core.ingest.normalise import check_metadata

    if not isinstance(patch, Mapping):
        raise InvalidInput(f"metadata must be a mapping, got {bounded(patch)}.", field="metadata")
    checked = check_metadata({name: value for name, value in patch.items() if value is not None})
    removed = {name for name, value in patch.items() if value is None}
    return json.loads(json.dumps({**{k: v for k, v in old.items() if k not in removed}, **checked}))  # type: ignore[no-any-return]
