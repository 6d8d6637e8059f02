"""One small async, batched protocol per judgement, and the frozen bundle of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, Literal, Protocol, TypeVar

from mindmem.core.records import Memory, MemType, Scope, Source, TimePrecision, Window

__all__ = [
    "Answer",
    "AnswerRequest",
    "Answerer",
    "Candidate",
    "Envelope",
    "Extraction",
    "Extractor",
    "Failed",
    "Grade",
    "GradeRequest",
    "Grader",
    "Hint",
    "Judged",
    "Mention",
    "Reasoner",
    "Resolution",
    "ResolutionRequest",
    "Resolver",
    "SearchPlan",
    "SearchPlanRequest",
    "SearchPlanner",
    "Unsure",
    "Verdict",
]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Judged(Generic[T]):
    """A judgement."""

    value: T


@dataclass(frozen=True, slots=True)
class Unsure:
    """The reasoner can't tell; the caller takes the conservative action (keep, link)."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The judgement could not be made; ``transient`` says whether a later try may succeed. ``raw`` is the raw reply,
    ``cut`` that it ended too early: less asked at once may succeed."""

    reason: str
    transient: bool
    raw: str = ""
    cut: bool = False


Verdict = Judged[T] | Unsure | Failed


@dataclass(frozen=True, slots=True)
class Mention:
    """A named entity in a candidate: surface name, type (see Entity.entity_type), and the id of the entity that it was
    found to be (empty: the one that bears this name)."""

    name: str
    entity_type: str
    entity_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An extracted claim, not yet decided.

    ``entity_name`` is who or what it is about (the speaker where it says "I"); ``property_name`` is snake_case;
    ``value`` the property's value in the source's words. ``single_valued`` says whether a new value replaces the old
    one (True), adds to it (False) or nobody can tell (None). ``polarity`` is -1 for a denial or dislike. ``flags`` mark
    what readers should know (``instruction_like``, ``redacted``, ``unresolved_time``, …). ``entity_id`` is the entity
    that ``entity_name`` was found to be (empty: the one that bears this name). ``order`` 2 with ``parents`` is
    synthesised from memories. ``episode`` is the id of the stretch of talk that it was said in, where talk was parted.
    """

    mem_type: MemType
    content: str
    entity_name: str
    entity_type: str
    property_name: str
    value: str
    sources: tuple[Source, ...]
    confidence: float
    speaker: str = ""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    observed_at: datetime | None = None
    time_precision: TimePrecision = "unknown"
    mentions: tuple[Mention, ...] = ()
    single_valued: bool | None = None
    polarity: int = 1
    context: str = ""
    episode: str = ""
    flags: tuple[str, ...] = ()
    hint: "Hint | None" = None
    entity_id: str = ""
    order: int = 1
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hint:
    """What an extractor that saw the recalled memories thinks should become of its candidate; ``target`` is one of
    their memory_ids, empty for a new memory."""

    op: Literal["add", "reinforce", "update", "merge"]
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What an extractor sees of one window: evidence, context around it, and recalled memories.

    Only messages of ``window.evidence`` may be sources. ``recalled`` is for telling what is known already; it is never
    extracted again. ``timezone`` is the project's zone, for messages that bring none.
    """

    scope: Scope
    window: Window
    timezone: str
    recalled: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """The candidates of one window and, by message_id, why a message gave none (small talk, system prompt, blank …).

    ``rejected`` are items that could not be read as candidates, each with its reason and raw text: for quarantine.
    """

    candidates: tuple[Candidate, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    rejected: tuple[tuple[str, str], ...] = ()


class Extractor(Protocol):
    """Finds the claims of windows."""

    async def extract(self, envelopes: Sequence[Envelope]) -> list[Verdict[Extraction]]:
        """Return one verdict per envelope, in order."""
        ...


@dataclass(frozen=True, slots=True)
class ResolutionRequest:
    """A candidate and the recalled active memories that it might repeat, replace or complete."""

    candidate: Candidate
    recalled: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """What to do with a candidate. ``targets`` are memory_ids among the recalled ones: the one reinforced, the ones
    superseded (update), the one whose wording is completed by ``merged_content`` (merge). ``adopts`` says of an update
    that the words name values only, so that the candidate is about what its first target is about."""

    op: Literal["add", "reinforce", "update", "merge", "skip"]
    reason: str
    targets: tuple[str, ...] = ()
    confidence: float = 1.0
    merged_content: str = ""
    related: tuple[str, ...] = field(default=())
    adopts: bool = False


class Resolver(Protocol):
    """Decides whether a candidate is new, a repetition, a newer value, or a completion."""

    async def resolve(self, requests: Sequence[ResolutionRequest]) -> list[Verdict[Resolution]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A question and the memories that a search found for it, best first. ``asked_at`` is aware UTC."""

    question: str
    memories: tuple[Memory, ...]
    asked_at: datetime
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Answer:
    """A short answer and the memory_ids that it rests on, among those given."""

    text: str
    memory_ids: tuple[str, ...] = ()


class Answerer(Protocol):
    """Answers questions from recalled memories; ``Unsure`` when they don't hold the answer."""

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Verdict[Answer]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class GradeRequest:
    """An answer to be compared with the known right one."""

    question: str
    expected: str
    given: str


@dataclass(frozen=True, slots=True)
class Grade:
    """Whether an answer says the same as the right one."""

    correct: bool
    reason: str = ""


class Grader(Protocol):
    """Judges answers in evaluations."""

    async def grade(self, requests: Sequence[GradeRequest]) -> list[Verdict[Grade]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class SearchPlanRequest:
    """A question to be turned into searches. ``found`` are the memories of the rounds before, best first."""

    question: str
    asked_at: datetime
    timezone: str = "UTC"
    found: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The searches that would find what is missing; none when what was found is enough.

    ``begin`` and ``end`` (aware UTC, half-open) bound the time that the question asks about, where it names one.
    """

    queries: tuple[str, ...]
    enough: bool = False
    begin: datetime | None = None
    end: datetime | None = None
    reason: str = ""


class SearchPlanner(Protocol):
    """Decomposes questions into searches, and tells when the answer was found."""

    async def plan(self, requests: Sequence[SearchPlanRequest]) -> list[Verdict[SearchPlan]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Reasoner:
    """A frozen bundle of judgements; families can be mixed.

    ``recalls`` says that the extractor reads ``Envelope.recalled`` and waits for an endpoint: envelopes then bring
    what is known already, and several adds are extracted at a time.
    """

    name: str
    version: str
    extract: Extractor
    resolve: Resolver
    answer: Answerer
    grade: Grader
    plan_search: SearchPlanner
    recalls: bool = False
