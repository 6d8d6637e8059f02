"""The public Python API: thin over services; none of the logic lives here."""

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypedDict, Unpack

from mindmem.core import dreaming, graph, identity, lifecycle, retrieve
from mindmem.core.answer import AnswerResult, answer
from mindmem.core.clock import Clock
from mindmem.core.errors import InvalidInput, StoreUnavailable
from mindmem.core.feedback import explicit, implicit
from mindmem.core.feedback.receipt import FeedbackPass, FeedbackReceipt
from mindmem.core.ingest import pipeline, queue
from mindmem.core.ingest.normalise import MessageInput
from mindmem.core.ingest.overlap import add_wave, stops
from mindmem.core.ingest.request import AddRequest
from mindmem.core.labels import idempotency_key_of, label
from mindmem.core.operate import MaintainReport, Status, maintain, status, verify
from mindmem.core.records import Change, Message, Page, Receipt, Scope, SearchResult
from mindmem.core.records import Memory as MemoryRecord
from mindmem.core.records.dream import DreamReport, Proposal
from mindmem.core.records.graph import EntityPage, EntityView, GraphView
from mindmem.core.reembed import Reembedded, Reembedding, Watch, estimate_reembedding, reembed
from mindmem.core.retrieve import check_count
from mindmem.core.running import iterate, run
from mindmem.core.search.agentic import Step
from mindmem.core.search.recipes import Strategy
from mindmem.core.services import Services, open_services
from mindmem.core.settings import DreamSettings, Family, Settings
from mindmem.core.tables.fold import FoldReport
from mindmem.core.tables.verify import Finding
from mindmem.core.upkeep import fold_if_free, fold_now, rebuild_index

__all__ = ["Memory", "Within"]

log = logging.getLogger(__name__)


class Within(TypedDict, total=False):
    """What narrows a user's memories down, or a project's: ids of up to 512 characters."""

    app_id: str | None
    agent_id: str | None
    session_id: str | None


class Memory:
    """A store of memories on the embedded default: no key, no server, no network.

    Args:
        home: folder of the store (default ``~/.mindmem`` or ``MINDMEM_HOME``); made when missing.
        project_id: project that all calls work in (default ``default`` or ``MINDMEM_PROJECT_ID``).
        settings: everything else; ``home`` and ``project_id`` override it.
        clock: source of the current time, for tests and replays.
        any_index: open although the index is damaged or holds vectors of another embedder, to build it anew with
            ``rebuild_index`` or ``reembed``.
        services: parts that are open already, instead of all the above.

    Raises:
        StoreUnavailable: the folder can't be made or written, or the store is of a newer version.
        EmbedderMismatch: the index holds vectors of another embedder.
        CorruptStore: index or ledger are damaged; the message names the command that repairs them.

    One instance may be used from several threads; several processes may open one store. After a fork, open a new one.

    >>> from mindmem import Memory
    >>> with Memory(tmp_home) as memory:
    ...     receipt = memory.add("I live in Oslo.", user_id="ann")
    ...     [hit.memory.content for hit in memory.search("Where do I live?", user_id="ann").hits]
    ['I live in Oslo.']
    """

    def __init__(
        self,
        home: str | Path | None = None,
        *,
        project_id: str | None = None,
        settings: Settings | None = None,
        clock: Clock | None = None,
        any_index: bool = False,
        services: Services | None = None,
    ) -> None:
        if services is None:
            chosen = settings or Settings.load(home=home, project_id=project_id)
            if settings is not None:
                given = {"home": Path(home).expanduser().absolute() if home else None, "project_id": project_id}
                chosen = settings.model_copy(update={name: value for name, value in given.items() if value is not None})
            services = open_services(chosen, clock=clock, any_index=any_index)
        self._services = services

    # -- writing

    def add(
        self,
        messages: MessageInput,
        *,
        user_id: str,
        metadata: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        timezone: str | None = None,
        run_id: str = "",
        actor: str = "",
        **within: Unpack[Within],
    ) -> Receipt:
        """Remember what is worth knowing of the messages; it can be searched when this returns.

        Args:
            messages: a text, a mapping ``{"role", "content", "name"?, "timestamp"?, "timezone"?, "caption"?}``, or a
                sequence of them in order.
            user_id: whose memory it is.
            app_id, agent_id, session_id: where in it, where that matters.
            metadata: kept with each new memory; keys that name a scope are refused.
            idempotency_key: repeat an add with the same key and nothing is written twice.
            timezone: zone in which naive times and words such as "yesterday" are read: an IANA name, or an offset such
                as "+13:00". A message's own ``timezone`` goes first. With neither, the offset of its timestamp counts
                unless it is zero (stores write UTC for speakers everywhere), then the project's zone.

        Raises:
            InvalidInput: a message, an id or the metadata is not of the expected form; nothing was written.
            Conflict: the key was used for other messages.
            StoreBusy, StoreUnavailable: the store can't be written; nothing was.
            ExtractionFailed: a model was asked and gave no readable answer; nothing was written. ``transient`` says
                whether the same call may succeed later, ``raw`` what it wrote instead.
            BudgetReached: what models may cost is spent; nothing was written.

        >>> receipt = memory.add([{"role": "user", "name": "Ann", "content": "I have two cats."}], user_id="ann")
        >>> [action.op for action in receipt.actions]
        ['add']
        """
        request = AddRequest(
            messages=messages,
            scope=self._scope(user_id, within),
            metadata=metadata or {},
            key=idempotency_key_of(idempotency_key),
            timezone=timezone,
            run_id=label("run_id", run_id),
            actor=label("actor", actor),
        )
        return run(pipeline.add(self.services, request))

    def enqueue(
        self,
        messages: MessageInput,
        *,
        user_id: str,
        metadata: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        timezone: str | None = None,
        **within: Unpack[Within],
    ) -> str:
        """Keep an add durably for the next ``process_pending`` or ingest flow; return its add_id.

        The messages are checked now, so that a caller hears of a mistake; see ``add`` for the arguments and errors.

        >>> add_id = memory.enqueue("I play the cello.", user_id="ann")
        >>> [receipt.add_id == add_id for receipt in memory.process_pending()]
        [True]
        """
        request = AddRequest(
            messages=messages,
            scope=self._scope(user_id, within),
            metadata=metadata or {},
            key=idempotency_key_of(idempotency_key),
            timezone=timezone,
        )
        return queue.enqueue(self.services, request)

    def process_pending(self, limit: int = 100, *, run_id: str = "") -> tuple[Receipt, ...]:
        """Work off up to ``limit`` queued adds, oldest first; one that fails stays pending or goes to quarantine.

        Raises:
            BudgetReached: what models may cost is spent, so that not one could be done.

        >>> memory.process_pending()
        ()
        """
        check_count("limit", limit)
        return tuple(run(queue.process_pending(self.services, limit, run_id=label("run_id", run_id))))

    def flush(
        self,
        *,
        user_id: str | None = None,
        app_id: str | None = None,
        agent_id: str | None = None,
        run_id: str = "",
    ) -> tuple[Receipt, ...]:
        """Work off all queued adds of a user, app and agent, or as far as they are named, now.

        In schema mode queued adds wait until their episode is over; this ends it.

        >>> add_id = memory.enqueue("I play the cello.", user_id="ann")
        >>> [receipt.add_id == add_id for receipt in memory.flush(user_id="ann")]
        [True]
        """
        scope = self._scope(user_id, {"app_id": app_id, "agent_id": agent_id}, need_user=False)
        return tuple(
            run(queue.process_pending(self.services, sys.maxsize, run_id=label("run_id", run_id), flush=scope))
        )

    def add_each(self, requests: Iterable[AddRequest]) -> Iterator[Receipt | Exception]:
        """Carry out many adds and yield what came of each, in order; where a model is asked, several overlap.

        It ends early after an error that would meet every further add: the budget is spent, the store can't be
        written, no model answers. Nothing more was taken from ``requests`` then, nor before a refused add was yielded.
        """
        source = iter(requests)
        while outcomes := run(add_wave(self.services, source)):
            yield from outcomes
            if stops(outcomes) is not None:
                return

    def update(
        self,
        memory_id: str,
        *,
        content: str | None = None,
        metadata: Mapping[str, object] | None = None,
        status: Literal["active", "archived"] | None = None,
        entity: str | None = None,
        actor: str = "",
    ) -> Change:
        """Write a memory's next revision: corrected wording, merged metadata (None removes a key), status, or another
        subject (``entity``: a name, an alias or an id; a name that nobody bears makes an entity).

        Raises:
            NotFound: no such memory in this project.
            InvalidInput: nothing to change, or a value of the wrong form.
            Conflict: another active memory of that scope says the same.

        >>> [found] = memory.add("I live in Rome.", user_id="ann").memory_ids
        >>> _ = memory.update(found, content="I live in Rome, near the river.")
        >>> memory.get(found).revision
        2
        """
        return lifecycle.update(
            self.services,
            self._project,
            memory_id,
            content=content,
            metadata=metadata,
            status=status,
            entity=entity,
            actor=label("actor", actor),
        )

    def delete(self, memory_id: str, *, actor: str = "") -> Change:
        """Archive a memory: it leaves search and lists at once, stays in the history, and ``undo`` brings it back.

        Raises:
            NotFound: no such memory in this project.

        >>> [found] = memory.add("I live in Rome.", user_id="ann").memory_ids
        >>> _ = memory.delete(found)
        >>> memory.search("Rome", user_id="ann").hits
        ()
        """
        return lifecycle.delete(self.services, self._project, memory_id, actor=label("actor", actor))

    def delete_all(
        self,
        *,
        user_id: str,
        actor: str = "",
        **within: Unpack[Within],
    ) -> Change:
        """Archive all active memories of exactly that scope, as one change.

        >>> _ = memory.add("I live in Rome.", user_id="ann")
        >>> memory.delete_all(user_id="ann").counts["archive"]
        1
        """
        scope = self._scope(user_id, within)
        return lifecycle.delete_all(self.services, scope, actor=label("actor", actor))

    def merge_entities(
        self, keep: str, gone: str, *, user_id: str, actor: str = "", **within: Unpack[Within]
    ) -> Change:
        """Let two entities be one: ``gone``'s names become aliases of ``keep``, its memories are about ``keep``, and
        its id leads there. ``undo`` takes it back.

        Raises:
            NotFound, InvalidInput: see ``entity``; or they are one already.

        >>> _ = memory.add(["My sister Nora lives in Oslo.", "My sister Nonni plays chess."], user_id="ann")
        >>> _ = memory.merge_entities("Nora", "Nonni", user_id="ann")
        >>> memory.entity("Nonni", user_id="ann").entity.aliases
        ('Nonni',)
        """
        scope = self._scope(user_id, within)
        return identity.merge_entities(self.services, scope, keep, gone, actor=label("actor", actor))

    def split_entity(
        self, entity: str, memory_ids: Sequence[str], name: str, *, user_id: str, actor: str = "",
        **within: Unpack[Within],
    ) -> Change:  # fmt: skip
        """Let some memories that are about an entity, or mention it, be about another one, called ``name``: two of one
        name were taken for one, or a merge was wrong. ``undo`` takes it back.

        Raises:
            NotFound: a memory isn't about the entity; or see ``entity``.
            Conflict: there is an entity of that name already.

        >>> _ = memory.add(["My sister Nora lives in Oslo.", "Nora plays chess."], user_id="ann")
        >>> [chess] = [one.memory_id for one in memory.list(user_id="ann").memories if "chess" in one.content]
        >>> _ = memory.split_entity("Nora", [chess], "Nora Berg", user_id="ann")
        >>> memory.get(chess).entity_name
        'Nora Berg'
        """
        scope = self._scope(user_id, within)
        return identity.split_entity(self.services, scope, entity, memory_ids, name, actor=label("actor", actor))

    def undo(self, change_id: str, *, cascade: bool = False, actor: str = "") -> Change:
        """Take a change back whole, by a new change.

        Args:
            cascade: take later changes of the same memories back with it, all as one change.

        Raises:
            NotFound: no such change in this project.
            Conflict: some of its memories were changed again since, and ``cascade`` is off; the message names them and
                the later changes. Nothing was written.

        >>> change = memory.add("I live in Rome.", user_id="ann").changes[0]
        >>> memory.undo(change.change_id).counts["archive"]
        1
        """
        return lifecycle.undo(self.services, self._project, change_id, cascade=cascade, actor=label("actor", actor))

    # -- reading

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        top_k: int = 10,
        filters: Mapping[str, object] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        score_threshold: float | None = None,
        evidence: bool = False,
        strategy: Strategy | None = None,
        **within: Unpack[Within],
    ) -> SearchResult:
        """Find the active memories that answer a query, best first; nothing when nothing is relevant.

        Args:
            user_id: whose memories; left out: those of all users of the project together.
            app_id, agent_id, session_id: only those of that part.
            top_k: 1 to 100.
            filters: the filter language, such as ``{"mem_type": "profile", "created_at": {"gte": "2026-01-01"}}``.
            as_of: what was true in the world at that time (aware).
            known_at: what the store knew at that time (aware).
            score_threshold: drop hits below that score (0..1), besides the built-in floor.
            evidence: also read the messages that support each hit.
            strategy: ``fast`` asks the index once; ``balanced`` also follows paths over the entities that the question
                names; ``deep`` also adds neighbours on timelines and related memories; ``agentic`` plans, searches and
                judges in up to three rounds. Left out: the settings' (``search.strategy``), ``fast`` by default.

        Raises:
            InvalidInput: the query is not a text, or a filter names an unknown field or operator.

        >>> _ = memory.add("I have two cats.", user_id="ann")
        >>> [hit.memory.value for hit in memory.search("Which pets?", user_id="ann").hits]
        ['two cats']
        """
        scope = self._scope(user_id, within, need_user=False)
        request = retrieve.Request(
            query=query,
            scope=scope,
            top_k=top_k,
            filters=filters,
            as_of=as_of,
            known_at=known_at,
            score_threshold=score_threshold,
            evidence=evidence,
            strategy=strategy,
        )
        return retrieve.search(self.services, request)

    def search_steps(
        self,
        query: str,
        *,
        user_id: str | None = None,
        top_k: int = 10,
        filters: Mapping[str, object] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        score_threshold: float | None = None,
        evidence: bool = False,
        **within: Unpack[Within],
    ) -> Iterator[Step]:
        """Search in rounds (strategy ``agentic``) and yield each step as it is done: ``Planned``, ``Retrieved`` and
        ``Judged`` for each round, then ``Done`` with the result. See ``search`` for the arguments and errors.

        >>> _ = memory.add("I have two cats.", user_id="ann")
        >>> [type(step).__name__ for step in memory.search_steps("Which pets?", user_id="ann")]
        ['Planned', 'Retrieved', 'Judged', 'Done']
        """
        request = retrieve.Request(
            query=query,
            scope=self._scope(user_id, within, need_user=False),
            top_k=top_k,
            filters=filters,
            as_of=as_of,
            known_at=known_at,
            score_threshold=score_threshold,
            evidence=evidence,
        )
        return iterate(retrieve.search_steps(self.services, request))

    def answer(
        self,
        question: str,
        *,
        user_id: str | None = None,
        top_k: int = 30,
        filters: Mapping[str, object] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        asked_at: datetime | None = None,
        evidence: bool = False,
        run_id: str = "",
        **within: Unpack[Within],
    ) -> AnswerResult:
        """Answer a question in a few words from what is remembered, and say what the answer rests on.

        Args:
            user_id, app_id, agent_id, session_id, top_k, filters, as_of, known_at, evidence: see ``search``.
            asked_at: the present that "now" and "ago" count from (aware); left out: ``as_of``, else now.

        Raises:
            InvalidInput: see ``search``.
            ModelUnavailable: a model was asked and gave no readable answer.
            BudgetReached: the model may not be asked any more.

        >>> _ = memory.add("I have two cats.", user_id="ann")
        >>> memory.answer("How many cats do I have?", user_id="ann").text
        'two'
        """
        request = retrieve.Request(
            query=question,
            scope=self._scope(user_id, within, need_user=False),
            top_k=top_k,
            filters=filters,
            as_of=as_of,
            known_at=known_at,
            evidence=evidence,
        )
        return run(answer(self.services, request, asked_at=asked_at, run_id=label("run_id", run_id)))

    def context(
        self,
        query: str,
        *,
        user_id: str | None = None,
        top_k: int = 30,
        token_budget: int = 2000,
        filters: Mapping[str, object] | None = None,
        as_of: datetime | None = None,
        **within: Unpack[Within],
    ) -> str:
        """Return what a search finds as text for a prompt: by entity, with times, fenced as data, within a budget.

        >>> _ = memory.add("I have two cats.", user_id="ann")
        >>> "two cats" in memory.context("Which pets?", user_id="ann")
        True
        """
        scope = self._scope(user_id, within, need_user=False)
        request = retrieve.Request(query=query, scope=scope, top_k=top_k, filters=filters, as_of=as_of)
        return retrieve.context(self.services, request, token_budget=token_budget)

    def get(self, memory_id: str) -> MemoryRecord:
        """Return a memory's newest revision, archived ones too.

        Raises:
            NotFound: no such memory in this project.

        >>> [found] = memory.add("I live in Rome.", user_id="ann").memory_ids
        >>> memory.get(found).content
        'I live in Rome.'
        """
        return retrieve.get(self.services, self._project, memory_id)

    def evidence(self, memory_id: str) -> tuple[Message, ...]:
        """Return the messages that support a memory, in order.

        >>> [found] = memory.add("I live in Rome.", user_id="ann").memory_ids
        >>> [message.content for message in memory.evidence(found)]
        ['I live in Rome.']
        """
        return retrieve.evidence(self.services, self.get(memory_id))

    def list(
        self,
        *,
        user_id: str | None = None,
        filters: Mapping[str, object] | None = None,
        page: int = 1,
        page_size: int = 20,
        include_total: bool = False,
        **within: Unpack[Within],
    ) -> Page:
        """Return one page of active memories, newest first; ``filters`` may ask for others by ``status``.

        >>> _ = memory.add("I live in Rome.", user_id="ann")
        >>> memory.list(user_id="ann", include_total=True).total
        1
        """
        scope = self._scope(user_id, within, need_user=False)
        return retrieve.list_page(self.services, scope, filters, page=page, page_size=page_size, total=include_total)

    def scroll(
        self,
        *,
        user_id: str | None = None,
        filters: Mapping[str, object] | None = None,
        limit: int = 100,
        cursor: str | None = None,
        **within: Unpack[Within],
    ) -> Page:
        """Return the next ``limit`` active memories after ``cursor``; all are seen once, also while others are added.

        >>> _ = memory.add("I live in Rome.", user_id="ann")
        >>> page = memory.scroll(user_id="ann")
        >>> len(page.memories), page.next_cursor
        (1, None)
        """
        scope = self._scope(user_id, within, need_user=False)
        return retrieve.scroll(self.services, scope, filters, limit=limit, cursor=cursor)

    def history(self, memory_id: str) -> tuple[MemoryRecord, ...]:
        """Return all revisions of a memory, oldest first.

        >>> [found] = memory.add("I live in Rome.", user_id="ann").memory_ids
        >>> _ = memory.delete(found)
        >>> [revision.status for revision in memory.history(found)]
        ['active', 'archived']
        """
        return tuple(retrieve.history(self.services, self.get(memory_id)))

    def timeline(
        self,
        subject: str,
        property_name: str | None = None,
        *,
        user_id: str | None = None,
        as_of: datetime | None = None,
        **within: Unpack[Within],
    ) -> tuple[MemoryRecord, ...]:
        """Return what was true of one property of an entity over time: its memories in event time, superseded ones too.

        Args:
            subject: the entity's name, alias or id; without ``property_name`` the id of a memory, whose entity and
                property are meant.
            property_name: the property, "home city" or "home_city".
            user_id: whose memories; needed with a name.
            as_of: only what was true at that time (aware).

        Raises:
            NotFound: no such memory, entity or property; the message tells which there are.
            InvalidInput: several entities bear the name; the message tells their ids.

        >>> _ = memory.add("I work at Acme.", user_id="ann")
        >>> [found] = memory.add("I work at Initech now.", user_id="ann").memory_ids[:1]
        >>> [(claim.value, claim.status) for claim in memory.timeline(found)]
        [('Acme', 'archived'), ('Initech', 'active')]
        >>> [claim.value for claim in memory.timeline("user", memory.get(found).property_name, user_id="ann")]
        ['Acme', 'Initech']
        """
        if property_name is None:
            given = {"user_id": user_id, "as_of": as_of, **within}
            unused = [name for name, value in given.items() if value is not None]
            if unused:
                raise InvalidInput(
                    f"With {unused[0]}, property_name is needed, too: timeline(entity, property, user_id=…). The id of "
                    "a memory stands alone.",
                    field="property_name",
                )
            return tuple(retrieve.timeline(self.services, self.get(subject)))
        return graph.timeline(self.services, self._scope(user_id, within), subject, property_name, as_of=as_of)

    def entity(self, name: str, *, user_id: str, **within: Unpack[Within]) -> EntityView:
        """Return what is known of an entity: its aliases, properties with their active memories, and related entities.

        Args:
            name: its name, an alias, or its id; a merged entity's lead to the one that it became.

        Raises:
            NotFound: nobody is called that; the message tells names that are near.
            InvalidInput: several entities bear the name; the message tells their ids.

        >>> _ = memory.add("My sister Nora lives in Oslo.", user_id="ann")
        >>> memory.entity("nora", user_id="ann").entity.name
        'Nora'
        """
        return graph.entity_view(self.services, self._scope(user_id, within), name)

    def entities(
        self,
        *,
        user_id: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        **within: Unpack[Within],
    ) -> EntityPage:
        """Return the next ``limit`` entities after ``cursor``, those that stand for themselves; by id. Without
        ``user_id`` they are those of all users of the project.

        >>> _ = memory.add("My sister Nora lives in Oslo.", user_id="ann")
        >>> {"Nora", "Oslo"} <= {entity.name for entity in memory.entities(user_id="ann").entities}
        True
        """
        scope = self._scope(user_id, within, need_user=False)
        return graph.entities(self.services, scope, cursor=cursor, limit=limit)

    def graph(
        self,
        name: str,
        hops: int = 1,
        *,
        user_id: str,
        as_of: datetime | None = None,
        limit: int = 100,
        memories: bool = False,
        **within: Unpack[Within],
    ) -> GraphView:
        """Return the neighbourhood of an entity: who and what it is related to, over up to three hops.

        Args:
            name: see ``entity``.
            hops: 1 to 3.
            as_of: the relations that held at that time (aware); left out: those that hold now.
            limit: nodes at most, 1 to 500, the nearest first; ``cut`` in the result tells that there are more.
            memories: also return the memories that say so, as nodes.

        Raises:
            NotFound, InvalidInput: see ``entity``.

        >>> _ = memory.add("My sister Nora lives in Oslo.", user_id="ann")
        >>> "Oslo" in {node.label for node in memory.graph("Nora", user_id="ann").nodes}
        True
        """
        return graph.graph(
            self.services, self._scope(user_id, within), name, hops=hops, as_of=as_of, limit=limit, memories=memories
        )

    def changes(self, *, user_id: str | None = None, limit: int = 50) -> tuple[Change, ...]:
        """Return the newest changes of the project, or of one user in it.

        >>> _ = memory.add("I live in Rome.", user_id="ann")
        >>> [change.kind for change in memory.changes(user_id="ann")]
        ['add']
        """
        check_count("limit", limit)
        scope = self._scope(user_id, {}, need_user=False)
        partition = scope.partition if user_id is not None else None
        found = self.services.ledger.changes(
            partition=partition, project_id=scope.project_id, newest_first=True, limit=limit
        )
        return tuple(found)

    # -- dreaming

    def dream(
        self,
        user_id: str | None = None,
        dry_run: bool = False,
        *,
        limits: DreamSettings | None = None,
        reasoner: Family | None = None,
        run_id: str = "",
        actor: str = "",
    ) -> DreamReport:
        """Consolidate what was added lately: outdated values are archived, repetitions folded, doubts linked.

        Args:
            user_id: whose memories; left out: those of all users of the project.
            dry_run: change nothing, and keep what would be done as a proposal.
            limits: other limits than the settings' (``dream``): look-back, minimum age, cap.
            reasoner: who judges, ``rules`` or ``llm``; left out: whom the settings name.

        A run that would archive more than the cap allows is kept as a proposal, too: see ``proposals`` and ``approve``.
        Failures of one user's memories are named in the report and leave the others alone; what a model could not be
        asked about for its budget is done by the next run.

        >>> _ = memory.add("I live in Rome.", user_id="ann")
        >>> memory.dream(user_id="ann").archived
        0
        """
        scope = self._scope(user_id, {}, need_user=False)
        return dreaming.dream(
            self.services,
            user_id=scope.user_id if user_id is not None else None,
            dry_run=dry_run,
            limits=limits,
            reasoner=reasoner,
            run_id=label("run_id", run_id),
            actor=label("actor", actor),
        )

    def proposals(self, *, user_id: str | None = None, open_only: bool = True) -> tuple[Proposal, ...]:
        """Return what dreams proposed and nobody decided yet, newest first; ``open_only`` False: all of it.

        >>> memory.proposals()
        ()
        """
        scope = self._scope(user_id, {}, need_user=False)
        owner = scope.user_id if user_id is not None else None
        return dreaming.proposals(self.services, user_id=owner, open_only=open_only)

    def proposal(self, proposal_id: str) -> Proposal:
        """Return one proposal, decided or not.

        Raises:
            NotFound: there is no such proposal.
        """
        return dreaming.dreams_of(self.services).proposal(proposal_id)

    def approve(self, proposal_id: str, *, actor: str = "") -> DreamReport:
        """Carry a proposal out: decided again on today's state, and nothing done that was not shown.

        Raises:
            NotFound: there is no such proposal.
            Conflict: it was decided already.
        """
        return dreaming.approve(self.services, proposal_id, actor=label("actor", actor))

    def reject(self, proposal_id: str, *, actor: str = "") -> Proposal:
        """Turn a proposal down; what it held isn't proposed again.

        Raises:
            NotFound: there is no such proposal.
            Conflict: it was decided already.
        """
        return dreaming.reject(self.services, proposal_id, actor=label("actor", actor))

    def undo_run(self, run_id: str, *, cascade: bool = False, actor: str = "") -> tuple[Change, ...]:
        """Take back all that a dream did, one change for each user; it isn't done again by a later dream.

        Raises:
            NotFound: no dream of this project has that id.
            Conflict: some of its memories were changed again since, and ``cascade`` is off; nothing was written.
        """
        return dreaming.undo_run(self.services, run_id, cascade=cascade, actor=label("actor", actor))

    # -- feedback

    def feedback(
        self,
        text: str,
        *,
        user_id: str,
        messages: MessageInput = (),
        recalled: Sequence[str] = (),
        name: str = "",
        idempotency_key: str | None = None,
        timezone: str | None = None,
        run_id: str = "",
        actor: str = "",
        **within: Unpack[Within],
    ) -> FeedbackReceipt:
        """Correct what is remembered, by a user's words: "No, I meant Ghent", "please don't suggest steak again".

        A value that is put right leaves a successor, what is taken back is archived on record, and what holds under
        a condition keeps it (``condition`` of a record). What is meant for the task at hand isn't kept. ``undo`` takes
        it back.

        Args:
            text: the user's words.
            messages: the dialogue before them, as for ``add``; none of it is stored.
            recalled: ids of the memories that the assistant had at hand. Where they don't suffice, one search is made.
            name: who speaks; else the last message's name if it is the text itself.
            idempotency_key: repeat feedback with the same key and nothing is written twice.

        Raises:
            InvalidInput, Conflict, StoreBusy, StoreUnavailable, ExtractionFailed, BudgetReached: see ``add``.

        >>> _ = memory.add("I live in Bonn.", user_id="ann")
        >>> done = memory.feedback("No, I meant Ghent, not Bonn.", user_id="ann")
        >>> [(one.op, memory.get(one.memory_id).content) for one in done.corrections]
        [('update', 'I live in Ghent.')]
        """
        request = explicit.FeedbackRequest(
            text=text,
            scope=self._scope(user_id, within),
            messages=messages,
            recalled=recalled,
            name=name,
            key=idempotency_key_of(idempotency_key),
            timezone=timezone,
            run_id=label("run_id", run_id),
            actor=label("actor", actor),
        )
        return run(explicit.feedback(self.services, request))

    def feedback_pass(self, *, user_id: str | None = None, run_id: str = "", actor: str = "") -> FeedbackPass:
        """Look for corrections in what users said to the assistant since the last pass, and carry them out.

        Args:
            user_id: whose sessions; left out: those of all users of the project. One user's failure is named in the
                report, leaves the others alone, and is tried again by the next pass.

        >>> _ = memory.add(["I live in Bonn.", "Please don't suggest steak again."], user_id="ann")
        >>> memory.feedback_pass(user_id="ann").signals
        1
        """
        scope = self._scope(user_id, {}, need_user=False)
        return run(
            implicit.feedback_pass(
                self.services,
                user_id=scope.user_id if user_id is not None else None,
                run_id=label("run_id", run_id),
                actor=label("actor", actor),
            )
        )

    # -- operating

    def fold(self) -> FoldReport:
        """Write the ledger's tail into the Parquet tables."""
        return fold_now(self.services)

    def maintain(self) -> MaintainReport:
        """Fold, compact, vacuum, sweep what has expired, and verify."""
        return maintain(self.services)

    def rebuild_index(self) -> None:
        """Build a new index beside the old one from the tables, then swap; searches go on meanwhile."""
        rebuild_index(self.services)

    def estimate_reembedding(self) -> Reembedding:
        """Return how many texts ``reembed`` would embed now, and what that would cost; none is sent.

        >>> memory.estimate_reembedding().texts
        0
        """
        return estimate_reembedding(self.services)

    def reembed(self, *, watch: Watch | None = None) -> Reembedded:
        """Embed everything anew after the embedder was changed; open with ``any_index`` for it.

        What has a vector by this embedder already is not embedded again, so that a call that was cut off goes on where
        it was. The old index answers until the new one is complete. ``watch`` is told of the progress.

        Raises:
            InvalidInput: there is no embedder.
            ModelUnavailable, BudgetReached: the embedder is an endpoint that gives no more vectors; call again later.

        >>> memory.reembed().texts
        0
        """
        return reembed(self.services, watch)

    def status(self) -> Status:
        """Return counts, lag, watermarks and what is not available.

        >>> memory.status().last_seq
        0
        """
        return status(self.services)

    def verify(self) -> tuple[Finding, ...]:
        """Return where ledger, tables and index disagree; empty when all is well.

        >>> memory.verify()
        ()
        """
        return tuple(verify(self.services))

    def close(self) -> None:
        """Fold (if the settings say so) and close; a second call does nothing.

        Tables that can't be written stay behind: the ledger holds what they lack.
        """
        services = self._services
        try:
            if not services.closed and services.settings.store.fold_on_close:
                fold_if_free(services)
        except StoreUnavailable as error:
            log.warning("closed without writing the tables: %s", error)
        finally:
            services.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def services(self) -> Services:
        """Return the parts that this store is made of.

        Raises:
            StoreUnavailable: it was closed.
        """
        if self._services.closed:
            raise StoreUnavailable("This Memory is closed: open a new one.")
        return self._services

    @property
    def _project(self) -> str:
        return self.services.settings.project_id

    def _scope(self, user_id: str | None, within: Within, *, need_user: bool = True) -> Scope:
        unknown = within.keys() - Within.__annotations__.keys()
        if unknown:
            known = ", ".join(Within.__annotations__)
            raise TypeError(f"unexpected argument {min(unknown)!r}; what narrows a scope down is {known}")
        return Scope.of(user_id, project_id=self._project, need_user=need_user, **within)
