"""The fixed matrix that makes the model's token vectors small enough to keep: 384 numbers to 96.

It holds the main directions of the model's token vectors over general English (dictionary glosses and example sentences
of WordNet 3.0), each damped by its variance to the power of 0.3, so that the few directions which all words share don't
drown the others. :mod:`mindmem.core.embed.fit` makes it again from the same text.
"""

from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["fit_projection", "load_projection"]

DAMPING: Final = 0.3


@cache
def load_projection() -> npt.NDArray[np.float32]:
    """Return the vendored matrix, float32 of shape (384, 96), read-only."""
    raw = files("mindmem.core.embed").joinpath("data/projection_96.npy").read_bytes()
    matrix: npt.NDArray[np.float32] = np.load(BytesIO(raw), allow_pickle=False).astype(np.float32)
    matrix.setflags(write=False)
    return matrix


def fit_projection(states: npt.NDArray[np.float32], dimension: int) -> npt.NDArray[np.float32]:
    """Return a matrix, float32 of shape (width, dimension), from token vectors of shape (n, width).

    The sign of each direction is fixed (its largest entry is positive), so the same text gives the same matrix.
    """
    units = states / np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
    values, directions = np.linalg.eigh(units.T.astype(np.float64) @ units / len(units))
    values, directions = values[::-1][:dimension], directions[:, ::-1][:, :dimension]
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(dimension)])
    matrix: npt.NDArray[np.float32] = (directions * signs * values**-DAMPING).astype(np.float32)
    return matrix
