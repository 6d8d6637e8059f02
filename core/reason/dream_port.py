"""What dreaming asks a reasoner: what is told of the same thing, what is wrong in a window, what to do about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from mindmem.core.reason.port import Verdict
from mindmem.core.records import Memory
from mindmem.core.records.dream import IssueKind
from mindmem.core.records.schema import Schema

__all__ = [
    "ActionPlanner",
    "ActionRequest",
    "DetectRequest",
    "DreamAction",
    "DreamReasoner",
    "Issue",
    "IssueDetector",
    "Survey",
    "Surveyor",
    "Topic",
]


@dataclass(frozen=True, slots=True)
class Topic:
    """What a memory tells of: a subject and a property under comparable names, and its value; ``cue`` is what the
    memory's own words say of the property: one value at a time (True), several (False), nothing (None). ``replaces``
    says that by its words the value takes the place of the one before."""

    subject: str
    property_name: str
    value: str
    cue: bool | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """A look over all active memories of one user: each one's topic by memory_id (missing: it has none), and which
    properties take one value at a time (True), several (False), or can't be told (missing)."""

    topics: Mapping[str, Topic] = field(default_factory=dict)
    single: Mapping[str, bool] = field(default_factory=dict)


class Surveyor(Protocol):
    """Reads what memories tell of, and the cardinality of properties, from all of a user's memories together."""

    def survey(self, memories: Sequence[Memory], schema: Schema | None = None) -> Survey:
        """Return topics and cardinalities; it must be quick for tens of thousands of memories."""
        ...


@dataclass(frozen=True, slots=True)
class DetectRequest:
    """A window of one cluster: memories in the order in which they became true and were said, and what a survey told.

    ``together`` are pairs of memory_ids that were said in one breath: nobody can tell which is the later one.
    """

    memories: tuple[Memory, ...]
    survey: Survey
    together: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong in a window. ``memory_ids`` are in the window's order; ``sure`` False leads to links only.

    ``keep`` names the survivor of a group: of a conflict the value that holds now, of duplicates the one whose words
    say most. ``content`` is a sentence that joins complementary memories. ``link`` says what an unsure one is
    linked as.
    """

    kind: IssueKind
    memory_ids: tuple[str, ...]
    reason: str
    keep: str = ""
    sure: bool = True
    confidence: float = 1.0
    content: str = ""
    link: str = "related"


class IssueDetector(Protocol):
    """Finds what is wrong in windows."""

    async def detect(self, requests: Sequence[DetectRequest]) -> list[Verdict[tuple[Issue, ...]]]:
        """Return one verdict per window, in order."""
        ...


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """An issue and its memories, in the window's order."""

    issue: Issue
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class DreamAction:
    """What to do about an issue.

    supersede: ``target`` is no longer so, ``by`` took its place. fold: ``target`` says no more than ``by``, whose
    sources grow by its own. write: ``target`` gets the words ``content``. create: a new memory of these words, derived
    from ``target`` and ``by``. archive: nothing is lost. link: ``target`` and ``by`` have to do with each other, as
    ``kind`` says.
    """

    op: Literal["supersede", "fold", "write", "create", "archive", "link"]
    target: str
    reason: str
    by: str = ""
    content: str = ""
    kind: str = "related"


class ActionPlanner(Protocol):
    """Decides what to do about issues."""

    async def plan(self, requests: Sequence[ActionRequest]) -> list[Verdict[tuple[DreamAction, ...]]]:
        """Return one verdict per issue, in order."""
        ...


@dataclass(frozen=True, slots=True)
class DreamReasoner:
    """A frozen bundle of dreaming's judgements; families can be mixed."""

    name: str
    version: str
    survey: Surveyor
    detect: IssueDetector
    act: ActionPlanner
