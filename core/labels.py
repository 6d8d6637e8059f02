"""Short texts of a caller that are stored as they are: idempotency keys, run ids, names of who asked."""

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.language.words import clean

__all__ = ["MAX_LABEL", "idempotency_key_of", "label"]

MAX_LABEL = 512
"""Longest label in characters: what a database can index."""


def idempotency_key_of(idempotency_key: str | None) -> str:
    """Return a caller's key, empty for none.

    Raises:
        InvalidInput: it is no label, or blank.
    """
    if idempotency_key is None:
        return ""
    if not isinstance(idempotency_key, str) or not idempotency_key.strip():
        raise InvalidInput(
            f"idempotency_key must be a text with at least one character, got {bounded(idempotency_key)}.",
            field="idempotency_key",
        )
    return label("idempotency_key", idempotency_key)


def label(name: str, value: str) -> str:
    """Return the text of the argument ``name``, checked.

    Raises:
        InvalidInput: it is no text, too long, or can't be stored.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, got {bounded(value)}.", field=name)
    if len(value) > MAX_LABEL:
        raise InvalidInput(f"{name} has {len(value)} characters; at most {MAX_LABEL} are allowed.", field=name)
    if clean(value) != value:
        raise InvalidInput(f"{name} holds a NUL or a lone surrogate, which no table can store.", field=name)
    return value
