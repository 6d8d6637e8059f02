"""Reranking by an endpoint of the Jina, Cohere or vLLM form."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Final

from mindmem.core.clock import Clock
from mindmem.core.llm.endpoint import BadReply, Endpoint
from mindmem.core.llm.port import CallLog
from mindmem.core.llm.retry import Patience, Place
from mindmem.core.search.rerank import Reranker
from mindmem.core.search.tokens import estimate_tokens
from mindmem.core.settings import RerankSettings, Settings

__all__ = ["EndpointReranker", "open_reranker", "read_scores"]

_SCORES: Final = ("relevance_score", "score")


class EndpointReranker(Reranker):
    """The Reranker port over an endpoint: one try a search, since a search that waits is worse than the first order."""

    def __init__(self, endpoint: Endpoint, settings: RerankSettings) -> None:
        self._endpoint = endpoint
        self._settings = settings

    @property
    def top(self) -> int:
        """Return how many documents it is shown at most."""
        return self._settings.top

    def score(self, query: str, documents: Sequence[str]) -> list[float]:
        """Return how relevant each document is, in 0..1, in the order of the documents.

        Raises:
            ModelUnavailable: no usable answer.
            BudgetReached: the run's or the day's limit is spent.
        """
        body: dict[str, object] = {"query": query, "documents": list(documents), "top_n": len(documents)}
        if self._settings.model:
            body["model"] = self._settings.model
        return self._endpoint.run(
            self._endpoint.post(
                self._settings.url,
                body,
                purpose="rerank",
                sent=[query, *documents],
                tokens=estimate_tokens(query) * len(documents) + sum(map(estimate_tokens, documents)),
                read=lambda reply: read_scores(reply, len(documents)),
                patience=Patience(retries=0, seconds=self._settings.timeout),
                timeout=self._settings.timeout,
            )
        )

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def open_reranker(settings: Settings, calls: CallLog, clock: Clock) -> EndpointReranker:
    """Return the reranker that the settings name; it is asked at the first search."""
    wanted = settings.rerank
    place = Place(wanted.url, wanted.model or "reranker", "RERANK")
    endpoint = Endpoint(place, wanted.api_key.get_secret_value().strip(), settings, calls=calls, clock=clock)
    return EndpointReranker(endpoint, wanted)


def read_scores(body: bytes, count: int) -> tuple[list[float], int | None]:
    """Return the score of each document, in 0..1 and in their order, and the tokens where the endpoint counts them.

    The items are ``{"index", "relevance_score"}`` (or ``score``) in a list ``results`` or ``data``. Scores beyond 0..1
    are taken as logits, all of them.

    Raises:
        BadReply: some document has no score, or one that is no finite number.
    """
    try:
        reply = json.loads(body)
    except ValueError as error:
        raise BadReply(f"expected JSON, got {len(body)} bytes of another kind", passing=True) from error
    found = reply.get("results", reply.get("data")) if isinstance(reply, Mapping) else None
    if not isinstance(found, list):
        raise BadReply("expected a list 'results' or 'data' of scores, got none", passing=True)
    scores: dict[int, float] = {}
    for item in found:
        place, score = _read(item)
        scores[place] = score
    if len(found) != count or sorted(scores) != list(range(count)):
        raise BadReply(f"expected a score for each of {count} documents, got {len(found)}", passing=False)
    in_order = [scores[place] for place in range(count)]
    if not all(0.0 <= score <= 1.0 for score in in_order):
        in_order = [_logistic(score) for score in in_order]
    return in_order, _tokens(reply)


def _read(item: object) -> tuple[int, float]:
    if isinstance(item, Mapping):
        place = item.get("index")
        score = next((item[name] for name in _SCORES if name in item), None)
        if type(place) is int and isinstance(score, int | float) and math.isfinite(score):
            return place, float(score)
    raise BadReply("expected items with 'index' and 'relevance_score', got another", passing=False)


def _logistic(score: float) -> float:
    return 1.0 / (1.0 + math.exp(-score)) if score >= 0 else math.exp(score) / (1.0 + math.exp(score))


def _tokens(reply: Mapping[str, object]) -> int | None:
    usage = reply.get("usage")
    counted = usage.get("total_tokens") if isinstance(usage, Mapping) else None
    return counted if type(counted) is int and counted > 0 else None
