"""The Embedder port: sentence vectors, and token vectors where the embedder has them, from one pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = ["Embedder", "EmbedderIdentity", "Embedding", "TokenVectors", "Warms"]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """What an index must know of the embedder that filled it; ``token_dimension`` is 0 without token vectors."""

    name: str
    version: str
    dimension: int
    token_dimension: int = 0

    def __str__(self) -> str:
        return f"{self.name}@{self.version}/{self.dimension}+{self.token_dimension}"


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """One text's tokens for late interaction: ``ids`` uint16 of shape (n,), ``vectors`` int8 of shape (n, d), each row
    a unit vector times 127, or a shorter one where the token counts less. Special tokens and bare punctuation are left
    out."""

    ids: npt.NDArray[np.uint16]
    vectors: npt.NDArray[np.int8]


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """One text's unit sentence vector, float32 of shape (dimension,), and its token vectors if there are any."""

    vector: npt.NDArray[np.float32]
    tokens: TokenVectors | None = None


class Embedder(Protocol):
    """Turns texts into vectors. Safe to call from several threads."""

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the name, version and dimensions under which vectors are kept."""
        ...

    def embed(self, texts: Sequence[str], kind: Literal["document", "query"] = "document") -> list[Embedding]:
        """Return one embedding a text, in order; texts beyond the model's length are cut."""
        ...


@runtime_checkable
class Warms(Protocol):
    """The optional ability of an embedder to load its model while its caller does something else."""

    def warm(self) -> None:
        """Begin to load the model and return at once; nothing happens where it is loaded, or can't be."""
        ...
