"""The filter language of the wire protocol, parsed once and evaluated the same way by every index.

An object's keys are ``AND``, ``OR``, ``NOT`` (each a list of clauses) or a field; several keys must all hold. A bare
value is an exact match, ``"*"`` means present, else an operator object. An unknown field or operator is an error that
names it.

What an index must agree on, and :func:`matches` states: a field that is empty or missing equals nothing, so ``eq``,
``in`` and the comparisons are false on it while ``ne`` and ``nin`` are true; ``NOT`` holds where none of its clauses
does; times compare as instants; a list in metadata equals what one of its elements equals; true, 1 and "1" are three
different values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, get_args

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.records import Memory, Scope, Status
from mindmem.core.records.memory import MEM_TYPES

__all__ = [
    "KEYWORD_FIELDS",
    "METADATA",
    "TEXT_FIELDS",
    "TIME_FIELDS",
    "All",
    "Filter",
    "Negation",
    "Test",
    "all_of",
    "any_of",
    "matches",
    "not_ended",
    "parse_filter",
    "scope_filter",
    "valid_at",
    "value_equals",
]


@dataclass(frozen=True, slots=True)
class Test:
    """One field against one operand: eq, ne, in, nin, present, gt, gte, lt, lte, contains, icontains.

    ``operand`` is a str, bool, float, aware datetime, or a tuple of them for in and nin; None for present.
    """

    __test__ = False  # pytest must not collect it

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

KEYWORD_FIELDS: Final = (
    "memory_id", "user_id", "app_id", "session_id", "agent_id", "mem_type", "status", "property_name", "entity_id",
    "entity_type", "mentions",
)  # fmt: skip
TIME_FIELDS: Final = ("validate_from", "validate_to", "created_at", "updated_at")
TEXT_FIELDS: Final = ("content",)
_ALSO: Final = {"valid_from": "validate_from", "valid_to": "validate_to"}
"""The records' names of fields that the wire protocol names otherwise."""
CLOSED: Final = {"mem_type": MEM_TYPES, "status": tuple(get_args(Status))}
"""Fields that hold one of a few values."""
METADATA: Final = "metadata."
"""Prefix of a field that is a key of the caller's metadata; what follows it is the key as it stands."""

MAX_DEPTH: Final = 16
MAX_TESTS: Final = 1_000
MAX_OPERANDS: Final = 10_000
_KEYWORD_OPERATORS: Final = ("eq", "ne", "in", "nin")
_TIME_OPERATORS: Final = ("gt", "gte", "lt", "lte")
_TEXT_OPERATORS: Final = ("contains", "icontains")
_WILDCARD: Final = "*"


def parse_filter(given: object) -> Filter | None:
    """Return the filter of a request's ``filters`` object, None for None or an empty object.

    Raises:
        InvalidInput: an unknown field, an operator that the field doesn't have, an operand of the wrong type, an empty
            list of clauses, or more than 16 levels; the message names it and says what is allowed.
    """
    if given is None or (isinstance(given, Mapping) and not given):
        return None
    parsed = _clause(given, "filters", 0)
    if _size(parsed) > MAX_TESTS:
        raise InvalidInput(f"filters holds more than {MAX_TESTS} tests; use 'in' with a list.", field="filters")
    return parsed


def matches(filter_: Filter | None, memory: Memory, created_at: datetime) -> bool:
    """Return whether a memory passes; ``created_at`` is when its first revision was recorded. The reference for every
    index's own evaluation."""
    match filter_:
        case None:
            return True
        case All(clauses, any_=True):
            return any(matches(clause, memory, created_at) for clause in clauses)
        case All(clauses):
            return all(matches(clause, memory, created_at) for clause in clauses)
        case Negation(clauses):
            return not any(matches(clause, memory, created_at) for clause in clauses)
        case Test(field, operator, operand):
            return _test(_value(field, memory, created_at), operator, operand)


def value_equals(value: object, operand: object) -> bool:
    """Return whether a stored value equals an operand: same kind (text, number, truth, instant) and equal; a list where
    one of its elements does."""
    if isinstance(value, list | tuple):
        return any(value_equals(element, operand) for element in value if not isinstance(element, list | tuple))
    if isinstance(value, bool) or isinstance(operand, bool):
        return isinstance(value, bool) and isinstance(operand, bool) and value is operand
    if isinstance(value, int | float) and isinstance(operand, int | float):
        return value == operand
    return type(value) is type(operand) and value == operand


def all_of(*filters: Filter | None) -> Filter | None:
    """Return what holds where all given filters do, None where none was given."""
    return _joined(filters, any_=False)


def any_of(*filters: Filter | None) -> Filter | None:
    """Return what holds where at least one given filter does, None where none was given."""
    return _joined(filters, any_=True)


def scope_filter(scope: Scope, *, status: Status | None = "active") -> Filter | None:
    """Return what narrows a partition to the app, agent and session that ``scope`` names (unset: any) and a status."""
    ids = {"app_id": scope.app_id, "agent_id": scope.agent_id, "session_id": scope.session_id}
    return all_of(*(Test(name, "eq", value) for name, value in {"status": status, **ids}.items() if value))


def not_ended(at: datetime) -> Filter:
    """Return what holds for memories whose validity has no end, or one after ``at`` (aware)."""
    return All((Negation((Test("validate_to", "present"),)), Test("validate_to", "gt", _instant(at))), any_=True)


def valid_at(at: datetime) -> Filter:
    """Return what holds for memories that are true in the world at ``at`` (aware): begun, or of unknown begin, and not
    ended. Intervals are half-open."""
    begun = All((Negation((Test("validate_from", "present"),)), Test("validate_from", "lte", _instant(at))), any_=True)
    return All((begun, not_ended(at)))


def _joined(filters: Sequence[Filter | None], *, any_: bool) -> Filter | None:
    clauses = tuple(clause for clause in filters if clause is not None)
    return clauses[0] if len(clauses) == 1 else All(clauses, any_) if clauses else None


def _size(filter_: Filter) -> int:
    return 1 if isinstance(filter_, Test) else sum(_size(clause) for clause in filter_.clauses)


def _clause(given: object, place: str, depth: int) -> Filter:
    if depth > MAX_DEPTH:
        raise InvalidInput(f"{place} is nested more than {MAX_DEPTH} levels deep.", field="filters")
    if not isinstance(given, Mapping) or not given:
        raise InvalidInput(f"{place} must be a non-empty object, got {bounded(given)}.", field=place)
    clauses: list[Filter] = []
    for key, value in given.items():
        if key in ("AND", "OR", "NOT"):
            if not isinstance(value, list | tuple) or not value:
                raise InvalidInput(
                    f"{place}.{key} must be a non-empty list of clauses, got {bounded(value)}.", field=f"{place}.{key}"
                )
            inner = tuple(_clause(item, f"{place}.{key}[{n}]", depth + 1) for n, item in enumerate(value))
            clauses.append(Negation(inner) if key == "NOT" else All(inner, key == "OR"))
        else:
            clauses.append(_field(key, value))
    return clauses[0] if len(clauses) == 1 else All(tuple(clauses))


def _field(name: object, value: object) -> Filter:
    name = _ALSO.get(name, name) if isinstance(name, str) else name
    operators = _operators(name)
    field = str(name)
    if isinstance(value, str) and value == _WILDCARD:
        return Test(field, "present")
    if not isinstance(value, Mapping):
        return Test(field, "eq", _operand(field, "eq", value))
    if not value:
        raise InvalidInput(f"Filter field {field!r} has no operator; allowed: {', '.join(operators)}.", field=field)
    tests: list[Filter] = []
    for operator, operand in value.items():
        if operator not in operators:
            raise InvalidInput(
                f"Filter field {field!r} has no operator {bounded(operator)}; allowed: {', '.join(operators)}, "
                "a bare value, or '*' for present.",
                field=field,
            )
        tests.append(Test(field, operator, _operand(field, operator, operand)))
    return tests[0] if len(tests) == 1 else All(tuple(tests))


def _operators(name: object) -> tuple[str, ...]:
    if name in TIME_FIELDS:
        return _TIME_OPERATORS
    if name in TEXT_FIELDS:
        return _TEXT_OPERATORS
    if name in KEYWORD_FIELDS or (isinstance(name, str) and name.startswith(METADATA) and len(name) > len(METADATA)):
        return _KEYWORD_OPERATORS
    allowed = ", ".join((*KEYWORD_FIELDS, f"{METADATA}<key>", *TIME_FIELDS, *TEXT_FIELDS))
    raise InvalidInput(f"Unknown filter field {bounded(name)}; allowed: {allowed}, AND, OR, NOT.", field="filters")


def _operand(field: str, operator: str, value: object) -> object:
    if operator in ("in", "nin"):
        if not isinstance(value, list | tuple):
            raise InvalidInput(f"Filter {field!r} {operator!r} needs a list, got {bounded(value)}.", field=field)
        if len(value) > MAX_OPERANDS:
            raise InvalidInput(
                f"Filter {field!r} {operator!r} has {len(value)} values; at most {MAX_OPERANDS}.", field=field
            )
        return tuple(_operand(field, "eq", item) for item in value)
    if field in TIME_FIELDS:
        return _time(field, value)
    if field in CLOSED and value not in CLOSED[field]:
        raise InvalidInput(
            f"Filter {field!r} has no value {bounded(value)}; allowed: {', '.join(CLOSED[field])}.", field=field
        )
    if isinstance(value, str):
        return value
    if field.startswith(METADATA) and isinstance(value, bool | int | float):
        return value if isinstance(value, bool) else float(value)
    kinds = "a string, a number or true/false" if field.startswith(METADATA) else "a string"
    raise InvalidInput(f"Filter {field!r} {operator!r} needs {kinds}, got {bounded(value)}.", field=field)


def _time(field: str, value: object) -> datetime:
    try:
        if isinstance(value, str):
            return _instant(datetime.fromisoformat(value))
        if isinstance(value, datetime):
            return _instant(value)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        f"Filter {field!r} needs an ISO 8601 time such as '2026-05-01T12:00:00Z', got {bounded(value)}.", field=field
    )


def _instant(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _value(field: str, memory: Memory, created_at: datetime) -> object:
    if field.startswith(METADATA):
        return memory.metadata.get(field[len(METADATA) :])
    match field:
        case "user_id" | "app_id" | "session_id" | "agent_id":
            return getattr(memory.scope, field)
        case "validate_from":
            return memory.valid_from
        case "validate_to":
            return memory.valid_to
        case "mentions":
            return list(memory.mentions)
        case "created_at":
            return created_at
        case "updated_at":
            return memory.recorded_at
        case _:
            return getattr(memory, field)


def _test(value: object, operator: str, operand: object) -> bool:
    missing = value is None or value == "" or value == []
    match operator:
        case "present":
            return not missing
        case "eq":
            return not missing and value_equals(value, operand)
        case "ne":
            return missing or not value_equals(value, operand)
        case "in" | "nin":
            found = not missing and any(value_equals(value, item) for item in _items(operand))
            return found == (operator == "in")
        case "contains":
            return str(operand) in str(value)
        case "icontains":
            return str(operand).casefold() in str(value).casefold()
    if not isinstance(value, datetime) or not isinstance(operand, datetime):
        return False
    match operator:
        case "gt":
            return value > operand
        case "gte":
            return value >= operand
        case "lt":
            return value < operand
        case "lte":
            return value <= operand
    raise InvalidInput(f"Unknown filter operator {bounded(operator)}.", field="filters")


def _items(operand: object) -> tuple[object, ...]:
    return operand if isinstance(operand, tuple) else ()
