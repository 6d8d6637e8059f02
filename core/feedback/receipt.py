"""What feedback did, for its caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mindmem.core.reason.feedback_port import Signal
from mindmem.core.records import Action, Change

__all__ = ["Corrected", "FeedbackPass", "FeedbackReceipt"]


@dataclass(frozen=True, slots=True)
class Corrected:
    """What became of one signal. ``memory_id`` is the memory that holds from now on (empty: none), ``targets`` are
    those that were taken out; ``searched`` is the question that was asked for more evidence (empty: none was)."""

    signal: Signal
    op: Literal["add", "update", "delete", "none"]
    reason: str
    memory_id: str = ""
    targets: tuple[str, ...] = ()
    searched: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackReceipt:
    """What came of one piece of feedback: its corrections in the order in which they were said, and the change that
    holds them (none where nothing was to be changed: then ``reason`` says why, and what to do). ``repeated`` is True
    when the same feedback was given before."""

    changes: tuple[Change, ...] = ()
    corrections: tuple[Corrected, ...] = ()
    actions: tuple[Action, ...] = ()
    repeated: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackPass:
    """What a pass over recent sessions came to: scopes and messages looked at, signals found, changes made, actions by
    operation. ``failed`` holds the error's code by the user whose sessions have to be looked at again; ``stopped`` are
    those that the budget for models left to the next pass, which is no failure."""

    scopes: int = 0
    messages: int = 0
    signals: int = 0
    changes: tuple[Change, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)
    stopped: tuple[str, ...] = ()
