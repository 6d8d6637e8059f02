"""The composition root: from settings to ledger, tables, index, embedder and reasoner."""

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mindmem.core.apply import Applier
from mindmem.core.clock import Clock, SystemClock
from mindmem.core.embed.port import Embedder
from mindmem.core.errors import MindMemError, StoreUnavailable
from mindmem.core.index.projector import Projector
from mindmem.core.ledger.port import Ledger
from mindmem.core.reason.port import (
    Answer,
    AnswerRequest,
    Envelope,
    Extraction,
    Grade,
    GradeRequest,
    Reasoner,
    Resolution,
    ResolutionRequest,
    SearchPlan,
    SearchPlanRequest,
    Verdict,
)
from mindmem.core.search.graph import Graphs
from mindmem.core.search.rerank import Reranker
from mindmem.core.settings import Family, Settings
from mindmem.core.tables.fold import refuse_older_ledger
from mindmem.core.tables.port import Tables
from mindmem.core.tables.reader import Reader

if TYPE_CHECKING:
    from mindmem.core.llm.model import LlmModel
    from mindmem.core.llm.port import Model
    from mindmem.core.reason.dream_port import DreamReasoner
    from mindmem.core.reason.feedback_port import FeedbackReasoner
    from mindmem.core.reason.schema_port import SchemaReasoner
    from mindmem.core.schema.registry import Schemas

__all__ = ["Services", "open_services"]


@dataclass(slots=True)
class Services:
    """Everything that a run needs, built once; ``notes`` say what is not available and why."""

    settings: Settings
    clock: Clock
    ledger: Ledger
    tables: Tables
    reader: Reader
    projector: Projector
    embedder: Embedder | None
    reasoner: Reasoner
    applier: Applier
    reranker: Reranker | None = None
    graphs: Graphs = field(default_factory=Graphs)
    notes: tuple[str, ...] = ()
    opened: ExitStack = field(default_factory=ExitStack)
    """Closes what was opened for these services, the last first."""
    closed: bool = False
    guard: threading.Lock = field(default_factory=threading.Lock)
    model: "Model | None" = None
    """Answers the questions of whichever reasoner asks one; None: none was needed so far."""
    schema_judge: "SchemaReasoner | None" = None
    """Given, or made when it is first asked for."""
    dream_judge: "DreamReasoner | None" = None
    feedback_judge: "FeedbackReasoner | None" = None
    known_schemas: "Schemas | None" = None
    """Likewise."""

    @property
    def schema_reasoner(self) -> "SchemaReasoner":
        """Return who judges in schema mode: the same family as the reasoner of the settings."""
        with self.guard:
            if self.schema_judge is None:
                self.schema_judge = self._schema_judge()
            return self.schema_judge

    def _schema_judge(self) -> "SchemaReasoner":
        from mindmem.core.reason.rules.schema.family import rules_schema_reasoner

        catch_all, llm = self.settings.ingest.catch_all, self.settings.llm
        rules = rules_schema_reasoner(catch_all=catch_all)
        if self.settings.reasoner == "rules":
            return rules
        from mindmem.core.reason.llm.schema.family import llm_schema_reasoner

        return llm_schema_reasoner(
            self._asked(), llm, fallback=rules if llm.fallback == "rules" else None, catch_all=catch_all
        )

    @property
    def dream_reasoner(self) -> "DreamReasoner":
        """Return who judges in dreams: the same family as the reasoner of the settings."""
        with self.guard:
            if self.dream_judge is None:
                self.dream_judge = self._dream_judge(self.settings.reasoner)
            return self.dream_judge

    def dream_reasoner_of(self, family: Family) -> "DreamReasoner":
        """Return dreaming's judgements by another family than the settings'.

        Raises:
            InvalidInput: a limit of money is set for a model without a price, or an endpoint's address can't be meant.
        """
        if family == self.settings.reasoner:
            return self.dream_reasoner
        with self.guard:
            return self._dream_judge(family)

    def _dream_judge(self, family: Family) -> "DreamReasoner":
        from mindmem.core.reason.rules.dream.family import rules_dream_reasoner

        rules, llm = rules_dream_reasoner(), self.settings.llm
        if family == "rules":
            return rules
        from mindmem.core.reason.llm.dream.family import llm_dream_reasoner

        return llm_dream_reasoner(self._asked(), llm, fallback=rules if llm.fallback == "rules" else None)

    @property
    def feedback_reasoner(self) -> "FeedbackReasoner":
        """Return who judges feedback: the same family as the reasoner of the settings."""
        with self.guard:
            if self.feedback_judge is None:
                self.feedback_judge = self._feedback_judge()
            return self.feedback_judge

    def _feedback_judge(self) -> "FeedbackReasoner":
        from mindmem.core.reason.rules.feedback.family import rules_feedback_reasoner

        rules, llm = rules_feedback_reasoner(), self.settings.llm
        if self.settings.reasoner == "rules":
            return rules
        from mindmem.core.reason.llm.feedback.family import llm_feedback_reasoner

        return llm_feedback_reasoner(self._asked(), llm, fallback=rules if llm.fallback == "rules" else None)

    def _asked(self) -> "Model":
        """Return the model, opened when it is first needed; called with ``guard`` held."""
        if self.model is None:
            self.model = _model(self.settings, self.ledger, self.clock, self.opened)
        return self.model

    @property
    def schemas(self) -> "Schemas":
        """Return the schemas of the project."""
        from mindmem.core.schema.registry import Schemas

        with self.guard:
            if self.known_schemas is None:
                name = self.settings.ingest.schema_name
                self.known_schemas = Schemas(self.ledger, self.reader, self.settings.project_id, default=name)
            return self.known_schemas

    def close(self) -> None:
        """Close index, models and ledger; a second call does nothing."""
        with self.guard:
            if self.closed:
                return
            self.closed = True
        self.opened.close()


def open_services(
    settings: Settings,
    *,
    clock: Clock | None = None,
    embedder: Embedder | None = None,
    reasoner: Reasoner | None = None,
    any_index: bool = False,
) -> Services:
    """Open or create the store that ``settings`` name; ``any_index`` also opens an index of another embedder, and an
    empty one in the place of one that is damaged, to build it anew.

    Raises:
        StoreUnavailable: a folder can't be made or written, or the store is of a newer version.
        EmbedderMismatch: the index holds another embedder's vectors.
        ModelUnavailable: the embedder is an endpoint that was never asked before and gives no answer.
        InvalidInput: a limit of money is set for a model without a price, or an endpoint's address can't be meant.
        CorruptStore: the index is damaged, or the ledger behind its tables (an old copy of it was put back).
    """
    from mindmem.core.ledger.sql import open_ledger, sqlite_url
    from mindmem.core.tables.delta import DeltaTables

    home = _home(settings.home)
    clock = clock or SystemClock()
    notes: list[str] = []
    opened = ExitStack()
    try:
        ledger = open_ledger(
            settings.store.ledger_url or sqlite_url(home / "ledger.db"), lock_timeout=settings.store.lock_timeout
        )
        opened.callback(ledger.close)
        tables = DeltaTables(settings.store.tables_uri or str(home / "tables"), settings.store.storage_options)
        refuse_older_ledger(ledger, tables)
        if embedder is None and settings.embedder == "bundled":
            embedder, note = _bundled(settings.threads)
            notes.extend(note)
        elif embedder is None and settings.embedder == "openai":
            embedder = _by_endpoint(settings, ledger, clock, opened, anew=any_index)
        projector = Projector(
            ledger,
            home / "index",
            identity=None if embedder is None or any_index else embedder.identity,
            replace_damaged=any_index,
            cache_bytes=settings.store.cache_bytes,
        )
        opened.callback(projector.close)
        model = None
        if reasoner is None and settings.reasoner == "llm":
            model = _model(settings, ledger, clock, opened)
        return Services(
            settings=settings,
            clock=clock,
            ledger=ledger,
            tables=tables,
            reader=Reader(ledger, tables),
            projector=projector,
            embedder=embedder,
            reasoner=reasoner or _reasoner(settings, model),
            applier=Applier(ledger, projector, embedder),
            reranker=_reranker(settings, ledger, clock, opened),
            notes=tuple(notes),
            opened=opened,
            model=model,
        )
    except BaseException:
        opened.close()
        raise


class _Rules:
    """The rules family, loaded at its first judgement: who only searches doesn't wait for its patterns."""

    async def extract(self, envelopes: Sequence[Envelope]) -> list[Verdict[Extraction]]:
        from mindmem.core.reason.rules.extract import RulesExtractor

        return await RulesExtractor().extract(envelopes)

    async def resolve(self, requests: Sequence[ResolutionRequest]) -> list[Verdict[Resolution]]:
        from mindmem.core.reason.rules.resolve import RulesResolver

        return await RulesResolver().resolve(requests)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        from mindmem.core.reason.rules.answer import RulesAnswerer

        return await RulesAnswerer().answer(requests)

    async def grade(self, requests: Sequence[GradeRequest]) -> list[Verdict[Grade]]:
        from mindmem.core.reason.rules.grade import RulesGrader

        return await RulesGrader().grade(requests)

    async def plan(self, requests: Sequence[SearchPlanRequest]) -> list[Verdict[SearchPlan]]:
        from mindmem.core.reason.rules.plan_search import RulesPlanner

        return await RulesPlanner().plan(requests)


def rules_reasoner() -> Reasoner:
    """Return the default reasoner: rules, no key, no network."""
    rules = _Rules()
    return Reasoner(
        name="rules", version="1", extract=rules, resolve=rules, answer=rules, grade=rules, plan_search=rules
    )


def _model(settings: Settings, ledger: Ledger, clock: Clock, opened: ExitStack) -> "LlmModel":
    from mindmem.core.llm.open import open_model

    model = open_model(settings, ledger, clock)
    opened.callback(model.close)
    return model


def _reasoner(settings: Settings, model: "Model | None") -> Reasoner:
    if model is None:
        return rules_reasoner()
    from mindmem.core.reason.llm.family import llm_reasoner

    return llm_reasoner(model, settings.llm, fallback=rules_reasoner() if settings.llm.fallback == "rules" else None)


def _home(home: Path) -> Path:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"The home folder {str(home)!r} can't be made: {error.strerror}. Give another with home= or MINDMEM_HOME."
        ) from error
    return home


def _bundled(threads: int) -> tuple[Embedder | None, list[str]]:
    from mindmem.core.embed.bundled import load_bundled
    from mindmem.core.embed.cache import CachedEmbedder

    try:
        return CachedEmbedder(load_bundled(threads)), []
    except MindMemError as error:
        return None, [f"Search is lexical only: {error}"]


def _by_endpoint(settings: Settings, ledger: Ledger, clock: Clock, opened: ExitStack, *, anew: bool) -> Embedder:
    from mindmem.core.embed.cache import CachedEmbedder
    from mindmem.core.embed.openai import open_embedder

    embedder = open_embedder(settings, ledger, clock, anew=anew)
    opened.callback(embedder.close)
    return CachedEmbedder(embedder)


def _reranker(settings: Settings, ledger: Ledger, clock: Clock, opened: ExitStack) -> Reranker | None:
    if not settings.rerank.url:
        return None
    from mindmem.core.llm.rerank import open_reranker

    reranker = open_reranker(settings, ledger, clock)
    opened.callback(reranker.close)
    return reranker
