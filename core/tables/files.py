"""The data files of a table's version: what each may hold, and which are small enough to be merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import unquote

from mindmem.core.tables.layout import KEYS
from mindmem.core.tables.port import Where

__all__ = ["DataFile", "mergeable"]

_TIERS: Final = (1 << 20, 8 << 20, 64 << 20)
"""Upper sizes in bytes of the tiers; files of the last size and above are never merged again."""
_TIER_FILES: Final = 8
"""A tier is merged when it holds so many files: each row is rewritten about once a tier."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One data file of a version: its path below the table, bytes, highest seq, and bounds by id column."""

    path: str
    size: int
    last_seq: int
    bounds: Mapping[str, tuple[str, str]]

    @classmethod
    def of(cls, table: str, action: Mapping[str, Any]) -> Self:
        """Return the file of a flattened add action with its statistics."""
        names = ("project_id", "user_id", "session_id", KEYS[table])
        found = {name: (action.get(f"min.{name}"), action.get(f"max.{name}")) for name in names}
        bounds = {name: (low, high) for name, (low, high) in found.items() if low is not None and high is not None}
        return cls(unquote(action["path"]), action["size_bytes"], action["max.seq"], bounds)

    def may_hold(self, where: Where) -> bool:
        """Return False only when no row of the file can fit ``where``."""
        return all(
            any(self.bounds[name][0] <= value <= self.bounds[name][1] for value in values)
            for name, values in where.items()
            if name in self.bounds
        )


def mergeable(files: Sequence[DataFile]) -> list[DataFile]:
    """Return the files of the lowest full tier, smallest first, at most one largest file's worth of bytes."""
    floor = 0
    for ceiling in _TIERS:
        tier = sorted((file for file in files if floor <= file.size < ceiling), key=lambda file: (file.size, file.path))
        floor = ceiling
        if len(tier) >= _TIER_FILES:
            group: list[DataFile] = []
            while tier and sum(file.size for file in group) + tier[0].size <= _TIERS[-1]:
                group.append(tier.pop(0))
            if len(group) > 1:
                return group
    return []
