"""Why a hit is where it is: the parts of its score, as numbers and as a line for people."""

from collections.abc import Mapping
from typing import Final

from mindmem.core.records import Explanation, Hit

__all__ = ["FACTORS", "describe", "explanation"]

FACTORS: Final = ("subject", "time", "part", "condition", "retold")
"""Parts that the sum of the legs, or the reranker's score in its place, is multiplied by; ``part`` where only a piece
of the question found it, ``condition`` where it says nothing of the condition under which the memory holds,
``retold`` where it was concluded from others or sums them up."""


def explanation(parts: Mapping[str, float], time: float | None) -> Explanation:
    """Return the parts of a score: the index's legs and factors, and the factor of the question's time words if any."""
    return dict(parts) if time is None else {**parts, "time": time}


def describe(hit: Hit) -> str:
    """Return one line such as ``0.71 = lexical 0.52, late 0.78; subject ×1.00``. A reranker's score, which takes the
    place of the legs, leads them; the entities that led to it come last."""
    legs = [f"{name} {value:.2f}" for name, value in hit.explanation.items() if name not in FACTORS]
    factors = [f"{name} ×{value:.2f}" for name, value in hit.explanation.items() if name in FACTORS]
    shown = "; ".join(part for part in (", ".join(legs), ", ".join(factors)) if part)
    via = f"; by way of {' → '.join(hit.via)}" if hit.via else ""
    return f"{hit.score:.2f} = {shown}{via}" if shown else f"{hit.score:.2f}{via}"
