"""What an extractor was shown, kept until it is no longer needed: an add that is repeated asks the same question.

Adds that are prepared together see one state of the store. After a crash some of them are committed, and the others
would see another state, so that their replies, paid for and in the cache, would not be found. So the revisions that
each envelope brought are noted before anything is asked: ids only, one small value for a project.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from mindmem.core import ids
from mindmem.core.ledger.port import Ledger
from mindmem.core.records import Memory, Partition

__all__ = ["Pins", "note", "noted", "recovered"]

Pins = Sequence[Sequence[tuple[str, int]]]
"""The memory_id and revision of each recalled memory, by window."""

_KEPT: Final = 10_000
"""Pins that are remembered, the latest: more than some processes of a store need at one time, half a megabyte."""
_TRIES: Final = 20


def note(ledger: Ledger, project_id: str, shown: Mapping[str, Pins]) -> None:
    """Remember what adds were shown, by idempotency key."""
    name = _name(project_id)
    for _ in range(_TRIES):  # another process may note its own meanwhile
        before = ledger.get_meta(name) or ""
        known = _within(json.loads(before) if before else {}, _KEPT - sum(map(_size, shown.values())))
        both = known | {_place(key): pins for key, pins in shown.items()}
        if ledger.set_meta(name, json.dumps(both, separators=(",", ":")), expected=before):
            return


def noted(ledger: Ledger, project_id: str, keys: Iterable[str]) -> dict[str, Pins]:
    """Return what adds were shown when they were prepared before, by idempotency key."""
    text = ledger.get_meta(_name(project_id))
    known = json.loads(text) if text else {}
    return {key: known[_place(key)] for key in keys if key and _place(key) in known}


def recovered(
    pins: Pins, partition: Partition, histories: Callable[[Sequence[str], Partition], Mapping[str, Sequence[Memory]]]
) -> list[tuple[Memory, ...]]:
    """Return the very revisions that were shown, by window; what was erased since is left out."""
    wanted = sorted({memory_id for window in pins for memory_id, _ in window})
    found = histories(wanted, partition) if wanted else {}
    revisions = {(one.memory_id, one.revision): one for history in found.values() for one in history}
    return [tuple(revisions[pin] for pin in map(tuple, window) if pin in revisions) for window in pins]


def _within(known: Mapping[str, Pins], room: int) -> dict[str, Pins]:
    """Return the latest of what is known, as far as there is room."""
    kept: dict[str, Pins] = {}
    for place, pins in reversed(list(known.items())):
        room -= _size(pins)
        if room < 0:
            break
        kept[place] = pins
    return dict(reversed(kept.items()))


def _size(pins: Pins) -> int:
    return 1 + sum(map(len, pins))


def _name(project_id: str) -> str:
    return "ingest.shown." + ids.digest(project_id)


def _place(key: str) -> str:
    return ids.digest("shown", key, size=12)
