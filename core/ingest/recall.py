"""Recall: which memories a candidate might repeat, replace or complete, and which a window is about.

A claim that is active in the same words short-circuits. Else five rankings are fused by weighted reciprocal ranks:
shared entities and BM25 (weights of the MindMemOS paper, arXiv 2608.12428), and dense similarity, the newest, and the
same property of the same entity. Candidates of one add see each other, too: the earlier ones as the memories that
they would become.

A window is recalled by its passages, before anything is extracted: the legs are those of a candidate without the
property, and an extractor sees the best few within a bounded number of tokens.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from mindmem.core.index.filters import Filter, Negation, Test, all_of
from mindmem.core.index.port import Query, SearchIndex
from mindmem.core.ingest.memories import entity_of_name
from mindmem.core.language.words import estimate_tokens, has_substance
from mindmem.core.reason.port import Candidate, ResolutionRequest
from mindmem.core.records import Memory, Scope, Window

__all__ = ["Recalled", "Timelines", "passages", "recall", "recall_window"]

WEIGHTS: Final = {"property": 2.0, "dense": 1.5, "entity": 1.2, "lexical": 1.0, "recent": 0.5}
RANK_CONSTANT: Final = 60
"""The k of reciprocal rank fusion."""

_LEG: Final = 20
_TIMELINE: Final = 64
_FROM_BATCH: Final = 3
_QUERY_CHARS: Final = 1_000
_PASSAGES: Final = 12
_NAMES: Final = 48
_WINDOW_TOP: Final = 10
_WINDOW_TOKENS: Final = 1_500
_WORD: Final = re.compile(r"[^\W\d_][\w'’-]*")

Timelines = Mapping[tuple[str, str], Sequence[Memory]]
"""Stored memories by (entity_id, property_name), archived ones included, the 64 recorded last."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """One request per candidate, in order, and the stored timelines that the candidates fall on."""

    requests: tuple[ResolutionRequest, ...]
    timelines: Timelines = field(default_factory=dict)


def recall(
    candidates: Sequence[Candidate],
    memories: Sequence[Memory],
    scope: Scope,
    *,
    index: SearchIndex,
    claims: Mapping[str, str],
    vectors: Sequence[npt.NDArray[np.float32] | None] | None = None,
    top: int = 5,
) -> Recalled:
    """Return what is known already around each candidate.

    Args:
        memories: what each candidate would become (``new_memory``), in order.
        index: must have projected every change of the partition that the plan will be based on.
        claims: content hash to memory_id of the scope's active memories that say the same (``Ledger.active_claims``).
        vectors: the memories' sentence vectors, in order; None for a lexical recall.
        top: stored memories for each candidate; up to three candidates of the same add come on top.
    """
    legs = _Legs(scope, index)
    exact = index.get(sorted({claims[memory.content_hash] for memory in memories if memory.content_hash in claims}))
    batch: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    same_words: dict[str, Memory] = {}
    requests: list[ResolutionRequest] = []
    for place, (candidate, memory) in enumerate(zip(candidates, memories, strict=True)):
        known = exact.get(claims.get(memory.content_hash, ""))
        if known is not None and known.status == "active":
            recalled = [known]
        else:
            recalled = legs.related(candidate, memory, None if vectors is None else vectors[place], top)
        topic = (memory.entity_id, memory.property_name)
        earlier = batch[topic][-1:] if candidate.single_valued else batch[topic][-_FROM_BATCH:]
        if not candidate.single_valued and memory.content_hash in same_words:
            earlier = [same_words[memory.content_hash], *earlier]
        unique = {one.memory_id: one for one in (*recalled, *earlier) if one.memory_id != memory.memory_id}
        requests.append(ResolutionRequest(candidate, tuple(unique.values())))
        batch[topic].append(memory)
        same_words.setdefault(memory.content_hash, memory)
    timelines = {topic: legs.timeline(*topic) for topic in batch if all(topic)}
    return Recalled(tuple(requests), timelines)


def passages(window: Window) -> tuple[str, ...]:
    """Return up to twelve texts of about 1,000 characters that stand for a window, evenly chosen in its order.

    A recall by all of a long window at once would find what is near to nothing in particular.
    """
    found = [""]
    for message in window.evidence:
        if message.role == "system" or not has_substance(message.content):
            continue
        if found[-1] and len(found[-1]) + len(message.content) > _QUERY_CHARS:
            found.append("")
        found[-1] = f"{found[-1]}\n{message.content}".strip()[:_QUERY_CHARS]
    kept = [text for text in found if text]
    step = max(len(kept) / _PASSAGES, 1.0)
    return tuple(kept[int(place * step)] for place in range(min(len(kept), _PASSAGES)))


def recall_window(
    window: Window,
    scope: Scope,
    *,
    index: SearchIndex,
    claims: Mapping[str, str],
    vectors: Sequence[npt.NDArray[np.float32]] = (),
) -> tuple[Memory, ...]:
    """Return the active memories around a window, best first: at most ten, of 1,500 tokens together.

    Args:
        claims: content hash to memory_id of the scope's active memories that say what a message says in its words.
        vectors: one for each of the window's ``passages``; none for a lexical recall.
    """
    legs = _Legs(scope, index)
    best = legs.around(window, vectors)
    exact = index.get(sorted(claims.values()))
    first = [exact[one] for one in claims.values() if one in exact and exact[one].status == "active"]
    kept: list[Memory] = []
    room = _WINDOW_TOKENS
    for memory in {one.memory_id: one for one in (*first, *best)}.values():
        room -= estimate_tokens(memory.content)
        if room < 0 or len(kept) == _WINDOW_TOP:
            break
        kept.append(memory)
    return tuple(kept)


class _Votes:
    """Weighted reciprocal ranks, and the memories that the legs have brought along."""

    def __init__(self) -> None:
        self.known: dict[str, Memory] = {}
        self._scores: dict[str, float] = defaultdict(float)

    def vote(self, leg: str, ranked: Iterable[str]) -> None:
        for rank, memory_id in enumerate(ranked, start=1):
            self._scores[memory_id] += WEIGHTS[leg] / (RANK_CONSTANT + rank)

    def see(self, memories: Iterable[Memory]) -> list[str]:
        seen = {one.memory_id: one for one in memories if one.status == "active"}
        self.known.update(seen)
        return list(seen)

    def best(self, number: int) -> list[str]:
        return sorted(self._scores, key=lambda memory_id: (-self._scores[memory_id], memory_id))[:number]


class _Legs:
    """The rankings over one scope's stored memories; what several candidates ask is asked once."""

    def __init__(self, scope: Scope, index: SearchIndex) -> None:
        self._scope = scope.without_session()
        self._index = index
        self._owner = all_of(_is("app_id", scope.app_id), _is("agent_id", scope.agent_id))
        self._active = all_of(self._owner, Test("status", "eq", "active"))
        self._timelines: dict[tuple[str, str], list[Memory]] = {}
        self._entities: dict[str, list[Memory]] = {}
        self._newest: list[Memory] | None = None

    def related(
        self, candidate: Candidate, memory: Memory, vector: npt.NDArray[np.float32] | None, top: int
    ) -> list[Memory]:
        votes = _Votes()
        if memory.entity_id and memory.property_name:
            votes.vote("property", votes.see(self.timeline(memory.entity_id, memory.property_name))[:_LEG])
        votes.vote("entity", votes.see(self._sharing(candidate, memory)))
        votes.vote("recent", votes.see(self._recent()))
        self._search(votes, candidate.content[:_QUERY_CHARS], vector)
        hinted = candidate.hint.target if candidate.hint else ""
        # A few more than asked for, since the index may name what another owner's filter let through.
        best = votes.best(2 * top)
        return self._fetched(
            votes, [hinted, *best] if hinted else best, top + bool(hinted and hinted not in best[:top])
        )

    def around(self, window: Window, vectors: Sequence[npt.NDArray[np.float32]]) -> list[Memory]:
        """The memories that a window's passages, speakers and names lead to, best first."""
        votes = _Votes()
        texts = passages(window)
        names = [message.name for message in window.evidence if message.name] + _names("\n".join(texts))
        entities = tuple(dict.fromkeys(entity_of_name(self._scope, name) for name in names))
        if entities:
            wanted = all_of(self._active, Test("entity_id", "in", entities))
            votes.vote("entity", votes.see(self._scan(wanted, _LEG)))
        votes.vote("recent", votes.see(self._recent()))
        for place, text in enumerate(texts):
            self._search(votes, text, vectors[place] if vectors else None)
        return self._fetched(votes, votes.best(2 * _WINDOW_TOP), _WINDOW_TOP)

    def _search(self, votes: _Votes, text: str, vector: npt.NDArray[np.float32] | None) -> None:
        query = Query(
            partition=self._scope.partition,
            text=text,
            vector=vector,
            filter=self._active,
            k=_LEG,
            candidates=_LEG,
            exact=False,
        )
        votes.vote("lexical", (scored.memory_id for scored in self._index.lexical(query)))
        if vector is not None:
            votes.vote("dense", (scored.memory_id for scored in self._index.dense(query)))

    def _fetched(self, votes: _Votes, best: Sequence[str], top: int) -> list[Memory]:
        known = votes.known
        missing = [memory_id for memory_id in best if memory_id not in known]
        known.update(self._index.get(missing) if missing else {})
        found = (known[memory_id] for memory_id in dict.fromkeys(best) if memory_id in known)
        return [one for one in found if one.status == "active" and self._owns(one)][:top]

    def timeline(self, entity_id: str, property_name: str) -> list[Memory]:
        """The stored memories of one entity's property, archived ones too, newest recorded first."""
        topic = (entity_id, property_name)
        if topic not in self._timelines:
            of_topic = all_of(
                self._owner, Test("entity_id", "eq", entity_id), Test("property_name", "eq", property_name)
            )
            found = self._scan(of_topic, _TIMELINE)
            # What holds under a condition only is no value of the property at any time.
            self._timelines[topic] = [memory for memory in found if not memory.condition]
        return self._timelines[topic]

    def _sharing(self, candidate: Candidate, memory: Memory) -> list[Memory]:
        """Memories about the candidate's entity, then about those that it mentions."""
        named = (mention.entity_id or entity_of_name(self._scope, mention.name) for mention in candidate.mentions)
        found: list[Memory] = []
        for entity in dict.fromkeys(one for one in (memory.entity_id, *named) if one):
            if entity not in self._entities:
                self._entities[entity] = self._scan(all_of(self._active, Test("entity_id", "eq", entity)), _LEG)
            found.extend(self._entities[entity])
        return found[:_LEG]

    def _recent(self) -> list[Memory]:
        if self._newest is None:
            self._newest = self._scan(self._active, _LEG)
        return self._newest

    def _scan(self, wanted: Filter | None, limit: int) -> list[Memory]:
        memories = self._index.scan(self._scope.partition, wanted, limit=limit).memories
        return [memory for memory in memories if self._owns(memory)]

    def _owns(self, memory: Memory) -> bool:
        """Whether a memory is of this very owner, whatever the index let through."""
        return memory.scope.without_session() == self._scope


def _names(text: str) -> list[str]:
    """Return what may be names in a text, the most frequent first: capitalised words, alone and in pairs."""
    words = _WORD.findall(text)
    found = Counter(word for word in words if word[0].isupper())
    found.update(f"{one} {two}" for one, two in pairwise(words) if f"{one[0]}{two[0]}".isupper())
    return [name for name, _ in found.most_common(_NAMES)]


def _is(name: str, value: str) -> Filter:
    """An unset id is absent in the filter language, not equal to the empty string."""
    return Test(name, "eq", value) if value else Negation((Test(name, "present"),))
