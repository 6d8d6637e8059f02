"""The filter language of the wire protocol, parsed once and evaluated the same way by every index.

An object's keys are ``AND``, ``OR``, ``NOT`` (each a list of clauses) or a field. A bare value is an exact match, ``"*"``
means present, else an operator object. An unknown field or operator is an error that names it.
"""

from dataclasses import dataclass

__all__ = ["All", "Filter", "Negation", "Test"]


@dataclass(frozen=True, slots=True)
class Test:
    """One field against one operand: eq, ne, in, nin, present, gt, gte, lt, lte, contains, icontains.

    ``operand`` is a str, bool, float, aware datetime, or a tuple of them for in and nin; None for present.
    """

    field: str
    operator: str
    operand: object = None


@dataclass(frozen=True, slots=True)
class Negation:
    """True where none of its clauses is."""

    clauses: tuple["Filter", ...]


@dataclass(frozen=True, slots=True)
class All:
    """True where all clauses are (``any_`` True: where at least one is)."""

    clauses: tuple["Filter", ...]
    any_: bool = False


Filter = Test | Negation | All
