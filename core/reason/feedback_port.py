"""What feedback asks a reasoner: which words correct something and for how long, and what to do with what is known."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from mindmem.core.reason.port import Candidate, Verdict
from mindmem.core.records import Memory, Message

__all__ = [
    "Correction",
    "CorrectionPlanner",
    "CorrectionRequest",
    "FeedbackReasoner",
    "Persistence",
    "Signal",
    "SignalDetector",
    "SignalRequest",
]

Persistence = Literal["task_temporary", "scenario_specific", "long_term"]
"""How long a correction holds: for the task at hand, wherever its condition is met, from now on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Words of a user that correct or instruct the assistant: characters ``start`` to ``end`` (half-open) of a message.

    ``kind`` is what they do: say what is so in place of something (``replace``) or beside what is known (``state``),
    ask the assistant for something (``instruct``), or take something back and put nothing in its place (``retract``).
    ``statement`` is what holds from now on, in the user's words; with ``fragment`` it is a value only, which says
    nothing without what it replaces. ``rejected`` are the words that are wrong (empty: not named). ``condition``
    belongs to scenario_specific.
    """

    message_id: str
    start: int
    end: int
    kind: Literal["replace", "state", "instruct", "retract"]
    statement: str
    persistence: Persistence
    rejected: str = ""
    condition: str = ""
    fragment: bool = False


@dataclass(frozen=True, slots=True)
class SignalRequest:
    """Messages in order, of which those in ``heard`` (ids) may carry signals; the others are what they answer to.

    ``explicit`` says that they were handed in as feedback, so that a plain statement is one, too.
    """

    messages: tuple[Message, ...]
    heard: frozenset[str]
    explicit: bool = False


class SignalDetector(Protocol):
    """Finds corrections in rounds of dialogues."""

    async def detect(self, requests: Sequence[SignalRequest]) -> list[Verdict[tuple[Signal, ...]]]:
        """Return one verdict per request, in order; its signals in the order in which they were said."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionRequest:
    """A signal, the claim that its statement makes (None: it makes none by itself), and what is known.

    ``recalled`` are active memories that it may be about, best first; ``own`` are those that were made of the very
    message that carries it; ``speaker`` is who corrects, as entities are named; ``before`` is what was said right
    before. ``last`` says that nothing more will be searched: then ``Unsure`` leads to nothing being done.
    """

    signal: Signal
    claim: Candidate | None
    recalled: tuple[Memory, ...] = ()
    own: tuple[Memory, ...] = ()
    speaker: str = "user"
    before: str = ""
    last: bool = False


@dataclass(frozen=True, slots=True)
class Correction:
    """What to do: ``add`` the content, let it take the place of ``targets`` (``update``), take them out (``delete``),
    nothing (``none``), or look for more before that is decided (``search``, with a ``query``; not for the last time).
    ``targets`` are memory_ids among those of the request; ``value`` is the content's, where the content is a target's
    with another value put in, empty otherwise."""

    op: Literal["add", "update", "delete", "none", "search"]
    reason: str
    targets: tuple[str, ...] = ()
    content: str = ""
    value: str = ""
    query: str = ""


class CorrectionPlanner(Protocol):
    """Decides what a signal does to what is known; ``Unsure`` while there is too little to tell."""

    async def plan(self, requests: Sequence[CorrectionRequest]) -> list[Verdict[Correction]]:
        """Return one verdict per request, in order."""
        ...


@dataclass(frozen=True, slots=True)
class FeedbackReasoner:
    """The judgements of feedback, by one family or mixed."""

    name: str
    version: str
    detect: SignalDetector
    plan: CorrectionPlanner
