"""Any report as named numbers: one row for each count in it, however it is nested."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

__all__ = ["counted", "facts"]


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "memory", "memories"), counted(1200, "change")
    ('1 memory', '1,200 changes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def facts(report: object, prefix: str = "") -> dict[str, str | int]:
    """Return the texts and numbers of a record and of the records and mappings in it, by the way to them.

    >>> facts({"fold": {"rows": 3, "last_seq": 7}})
    {'fold rows': 3, 'fold last seq': 7}
    """
    if isinstance(report, (str, int)):
        return {prefix: report}
    inner: Mapping[str, object] = {}
    if isinstance(report, Mapping):
        inner = {str(name): value for name, value in report.items()}
    elif is_dataclass(report):
        inner = {part.name: getattr(report, part.name) for part in fields(report)}
    found: dict[str, str | int] = {}
    for name, value in inner.items():
        found.update(facts(value, f"{prefix} {name}".replace("_", " ").strip()))
    return found
