"""Items in batches of a bounded number and size, in order."""

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["packed"]

T = TypeVar("T")


def packed(items: Iterable[T], size: Callable[[T], int], *, most: int, within: int) -> list[list[T]]:
    """Return the items in batches of at most ``most`` that come to ``within``; one that is larger stands alone.

    >>> packed([1, 2, 3, 9, 1], lambda item: item, most=2, within=5)
    [[1, 2], [3], [9], [1]]
    """
    batches: list[list[T]] = []
    left = 0
    for item in items:
        needed = size(item)
        if not batches or len(batches[-1]) == most or needed > left:
            batches.append([])
            left = within
        batches[-1].append(item)
        left -= needed
    return batches
