"""Seeded texts, memories and vectors for measuring speed: word frequencies as in real language, vectors in clusters.

A few hundred frequent words and names are English; the long tail is made of syllables. Ranks follow Zipf's law and
sentence lengths a log-normal one, so that posting lists have the sizes of real text. Speed depends on that alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core import ids
from mindmem.core.embed.port import EmbedderIdentity, Embedding, TokenVectors
from mindmem.core.records import Edge, Entity, Memory, Scope, Source

__all__ = ["Generator"]

_FREQUENT: Final = (
    "the of and to a in is it you that he was for on are with as his they be at one have this from or had by not but "
    "what some we can out other were all there when up use your how said an each she which do their time if will way "
    "about many then them write would like so these her long make thing see him two has look more day could go come "
    "did number sound no most people my over know water than call first who may down side been now find any new work "
    "part take get place made live where after back little only round man year came show every good me give our under "
    "name very through just form sentence great think say help low line differ turn cause much mean before move right "
    "boy old too same tell does set three want air well also play small end put home read hand port large spell add "
    "even land here must big high such follow act why ask men change went light kind off need house picture try us "
    "again animal point mother world near build self earth father head stand own page should country found answer "
    "school grow study still learn plant cover food sun four between state keep eye never last let thought city tree"
).split()
_NAMES: Final = tuple(
    "Ada Bruno Chidi Dana Emre Farah Goran Hana Ivo Jun Kira Leo Mila Noor Olu Pia Quinn Ravi".split()
)
_PROPERTIES: Final = ("residence", "occupation", "hobby", "plan", "preference", "possession", "event", "opinion")
_SYLLABLES: Final = tuple(
    a + b for a in "b d f g k l m n p r s t v z ch sh".split() for b in "a e i o u an er in".split()
)
_VOCABULARY: Final = 30_000
_START: Final = datetime(2024, 1, 1, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Text:
    """A sentence, who says it, and when."""

    speaker: str
    words: str
    at: datetime


class Generator:
    """Makes the same things from the same seed.

    >>> Generator(7).sentence() == Generator(7).sentence()
    True
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        tail = self._random.choice(len(_SYLLABLES), size=(_VOCABULARY, 3))
        made = ("".join(_SYLLABLES[part] for part in row) for row in tail)
        self._words = np.array(list(dict.fromkeys([*_FREQUENT, *made])))
        weights = 1.0 / (np.arange(len(self._words)) + 2.7)
        self._ranks = np.cumsum(weights / weights.sum())
        self._said = 0

    def sentence(self) -> str:
        """Return one sentence of 3 to 60 words, about 12 on average."""
        length = int(np.clip(self._random.lognormal(2.35, 0.5), 3, 60))
        words = self._words[np.searchsorted(self._ranks, self._random.random(length))]
        text = " ".join(words)
        return text[0].upper() + text[1:] + "."

    def texts(self, number: int) -> Iterator[Text]:
        """Yield utterances in the first person by people taking turns, a minute apart."""
        for _ in range(number):
            speaker = _NAMES[self._said % 2]
            self._said += 1
            yield Text(speaker, f"I {self.sentence()}", _START + timedelta(minutes=self._said))

    def query(self) -> str:
        """Return a question of a few words, frequent and rare ones."""
        words = self._words[np.searchsorted(self._ranks, self._random.random(6))]
        return f"What did {self._random.choice(_NAMES)} say about {' '.join(words)}?"

    def some(self, most: int, below: int) -> list[int]:
        """Return up to ``most`` different numbers from 0 to ``below`` - 1."""
        return [int(number) for number in self._random.permutation(below)[:most]]

    def entities(self, scope: Scope, number: int) -> list[Entity]:
        """Return the people that ``memory`` speaks of, and ``number`` places and organisations with made-up names."""
        made = [Entity(ids.entity_id(scope.key, name), 1, scope, "person", name) for name in _NAMES]
        for one in range(number):
            words = (str(self._random.choice(self._words[len(_FREQUENT) :])).capitalize() for _ in range(2))
            name = " ".join(words)
            kind = ("place", "organization")[one % 2]
            made.append(Entity(ids.entity_id(scope.key, name), 1, scope, kind, name, search_fields=(name, kind)))
        return list({one.entity_id: one for one in made}.values())

    def related(self, entities: Sequence[Entity]) -> list[Edge]:
        """Return an edge from each entity to another one."""
        others = self._random.permutation(len(entities)).tolist()
        pairs = zip(entities, (entities[at] for at in others), strict=True)
        return [Edge(one.entity_id, "RELATED_TO", other.entity_id, one.scope, "social") for one, other in pairs]

    def question(self, contents: Sequence[str]) -> str:
        """Return a question for what one of these memories says: whom it is about, and some of its words in a row."""
        name, *said = contents[int(self._random.integers(len(contents)))].rsplit(" #", 1)[0].split()
        begin = int(self._random.integers(max(1, len(said) - 4)))
        return f"What did {name} say about {' '.join(said[begin : begin + 5]).rstrip('.')}?"

    def memory(self, scope: Scope, entities: Sequence[Entity] = ()) -> Memory:
        """Return a memory as an ingest would have written it; its source is a message that doesn't exist. It names one
        of ``entities`` besides whom it is about."""
        self._said += 1
        at = _START + timedelta(minutes=self._said)
        name = str(self._random.choice(_NAMES))
        named = (entities[int(self._random.integers(len(entities)))],) if entities else ()
        said = " ".join((self.sentence(), *(f"That was with {one.name}." for one in named)))
        content = f"{name} {said} #{self._said}"
        return Memory(
            memory_id=ids.memory_id(scope.key, name, "", content, ""),
            revision=1,
            scope=scope,
            mem_type="fact",
            content=content,
            content_hash=ids.content_hash(content),
            entity_id=ids.entity_id(scope.key, name),
            entity_name=name,
            entity_type="person",
            property_name=str(self._random.choice(_PROPERTIES)),
            observed_at=at,
            valid_from=at,
            time_precision="instant",
            sources=(Source(ids.digest(content), 0, len(content)),),
            speaker=name,
            context=self.sentence(),
            mentions=tuple(one.entity_id for one in named),
        )

    def embeddings(self, number: int, identity: EmbedderIdentity) -> list[Embedding]:
        """Return ``number`` embeddings of that identity's dimensions, unit vectors in 64 clusters."""
        centres = self._random.standard_normal((64, identity.dimension), dtype=np.float32)
        noise = self._random.standard_normal((number, identity.dimension), dtype=np.float32)
        vectors = _unit(centres[self._random.integers(0, 64, number)] + noise)
        return [Embedding(vector, self._tokens(identity)) for vector in vectors]

    def _tokens(self, identity: EmbedderIdentity) -> TokenVectors | None:
        if not identity.token_dimension:
            return None
        count = int(self._random.integers(8, 24))
        vectors = _unit(self._random.standard_normal((count, identity.token_dimension), dtype=np.float32))
        token_ids = self._random.integers(1000, 30_000, count).astype(np.uint16)
        return TokenVectors(token_ids, np.rint(vectors * 127).astype(np.int8))


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    unit: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
