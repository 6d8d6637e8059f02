"""Read what an ``/embeddings`` endpoint replied: one vector a text, in order, whichever encoding it chose."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindmem.core.llm.endpoint import BadReply

__all__ = ["read_embeddings"]

Floats = npt.NDArray[np.float32]

_LEAST: Final = 1e-12
"""Length under which a vector has no direction."""


def read_embeddings(body: bytes, count: int) -> tuple[Floats, int | None]:
    """Return unit vectors, float32 of shape (count, dimension), and the input tokens where the endpoint counts them.

    Vectors may be lists of numbers or base64 of little-endian float32, and are put in the order of their ``index``;
    where no item has one, they stand in the order of the texts.

    Raises:
        BadReply: it holds no vectors (a later try may help), or others than were asked for: a wrong number of them,
            different lengths, numbers that are not finite, or no direction (a later try won't).
    """
    try:
        reply = json.loads(body)
    except ValueError as error:
        raise BadReply(f"expected JSON, got {len(body)} bytes of another kind", passing=True) from error
    items = reply.get("data") if isinstance(reply, Mapping) else None
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise BadReply("expected a list 'data' of embeddings, got none", passing=True)
    if len(items) != count:
        raise BadReply(f"expected {count} embeddings, got {len(items)}", passing=False)
    vectors = [_vector(item.get("embedding"), place) for place, item in enumerate(_in_order(items))]
    sizes = sorted({len(vector) for vector in vectors})
    if len(sizes) != 1:
        raise BadReply(f"expected vectors of one length, got {sizes}", passing=False)
    return _unit(np.stack(vectors)), _tokens(reply)


def _in_order(items: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    given = [item.get("index") for item in items]
    if all(index is None for index in given):
        return items
    by_index = {index: item for index, item in zip(given, items, strict=True) if type(index) is int}
    if by_index.keys() != set(range(len(items))):
        raise BadReply(f"expected each index from 0 to {len(items) - 1} once, got others", passing=False)
    return [by_index[index] for index in range(len(items))]


def _vector(given: object, place: int) -> npt.NDArray[np.float64]:
    try:
        if isinstance(given, str):
            read = np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4").astype(np.float64)
        elif isinstance(given, list):
            read = np.asarray(given, dtype=np.float64)
        else:
            raise TypeError(f"{type(given).__name__} is no vector")
    except (ValueError, TypeError, binascii.Error) as error:
        raise BadReply(f"embedding {place} is neither numbers nor base64 of float32", passing=False) from error
    if read.ndim != 1 or not len(read):
        raise BadReply(f"embedding {place} has the shape {read.shape}", passing=False)
    return read


def _unit(vectors: npt.NDArray[np.float64]) -> Floats:
    if not np.isfinite(vectors).all():
        place = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise BadReply(f"embedding {place} holds numbers that are not finite", passing=False)
    with np.errstate(over="ignore"):  # what that leaves infinite is refused
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not ((lengths > _LEAST) & np.isfinite(lengths)).all():
        raise BadReply(f"embedding {int(np.argmin(lengths))} is zero or beyond measure", passing=False)
    scaled: Floats = (vectors / lengths).astype(np.float32)
    return scaled


def _tokens(reply: Mapping[str, Any]) -> int | None:
    usage = reply.get("usage")
    if not isinstance(usage, Mapping):
        return None
    counted = usage.get("prompt_tokens", usage.get("total_tokens"))
    return counted if type(counted) is int and counted > 0 else None
