"""The parts of a partition's arrays: each keeps up row by row with what a look at all rows would give."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from mindmem.core.index.embedded.codec import pack_terms
from mindmem.core.index.embedded.columns import CODED, NEVER, TIMES, Columns
from mindmem.core.index.embedded.holders import Holders
from mindmem.core.index.embedded.postings import Postings
from mindmem.core.index.embedded.scoring import beside
from mindmem.core.index.embedded.vectors import Matrix
from mindmem.core.index.filters import parse_filter
from mindmem.core.text import query_terms

FILTERS: tuple[Mapping[str, Any] | None, ...] = (
    None,
    {"status": "active"},
    {"status": "active", "app_id": "a1"},
    {"NOT": [{"app_id": "*"}]},
    {"entity_id": "e3"},
    {"entity_id": "e3", "property_name": "p1", "status": "active"},
    {"entity_id": "nobody"},
    {"OR": [{"entity_id": "e1"}, {"entity_id": "e2"}]},
    {"property_name": {"ne": "p1"}},
)


class _Table:
    """Columns beside the plain rows that they were given."""

    def __init__(self, seed: int) -> None:
        self.columns = Columns("ann", list)
        self.rows: list[dict[str, Any]] = []
        self._rng = np.random.default_rng(seed)

    def write(self, new: int, changed: int) -> None:
        size = len(self.rows)
        old = np.sort(self._rng.permutation(size)[:changed])
        places = np.concatenate([old, np.arange(size, size + new)]).astype(np.int64)
        for place in places.tolist():
            if place == len(self.rows):
                self.rows.append({})
            self.rows[place] = self._row(place)
        given = [self.rows[place] for place in places.tolist()]
        names = ("memory_id", "metadata", "mentions", *TIMES.values())
        named = {name: tuple(row[name] for row in given) for name in names}
        coded = tuple(json.dumps([row[name] for name in CODED]) for row in given)
        self.columns.put(places, {**named, "coded": coded})

    def _row(self, place: int) -> dict[str, Any]:
        one = self._rng.integers
        statuses = ("archived", "active", "active", "active")
        row: dict[str, Any] = dict.fromkeys(CODED, "")
        row.update(
            memory_id=f"m{place}", metadata=None, mentions=None, app_id=("", "a1")[one(2)], status=statuses[one(4)],
            entity_id=f"e{one(9)}", property_name=f"p{one(3)}", valid_from=NEVER, valid_to=NEVER, created_at=place,
            recorded_at=int(place // 7 if one(3) else one(900)),
        )  # fmt: skip
        return row

    def passing(self, filter_: Mapping[str, Any] | None) -> list[int]:
        return [place for place, row in enumerate(self.rows) if filter_ is None or _holds(filter_, row)]


def _holds(filter_: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    if "OR" in filter_:
        return any(_holds(clause, row) for clause in filter_["OR"])
    if "NOT" in filter_:
        return row["app_id"] == ""
    return all(
        row[name] != value["ne"] if isinstance(value, dict) else row[name] == value for name, value in filter_.items()
    )


@pytest.fixture
def growing() -> _Table:
    """A table that is asked while it grows, so that lists and masks are kept from the first step on."""
    table = _Table(3)
    for new, changed in ((50, 0), (3, 2), (0, 5), (4_200, 0), (700, 90), (1, 0), (0, 1)):
        table.write(new, changed)
        for given in FILTERS:
            parsed = parse_filter(given)
            table.columns.mask(parsed)
            table.columns.newest(parsed, 5, None)
    return table


@pytest.mark.parametrize("given", FILTERS, ids=str)
def test_lists_and_kept_masks_say_what_a_look_at_all_rows_says(growing: _Table, given: Mapping[str, Any]) -> None:
    parsed, wanted = parse_filter(given), growing.passing(given)
    assert sorted(growing.columns.places(parsed).tolist()) == wanted
    mask = growing.columns.mask(parsed)
    assert mask is None if given is None else np.flatnonzero(mask).tolist() == wanted


@pytest.mark.parametrize("after", [None, 640, 12])
@pytest.mark.parametrize("given", FILTERS, ids=str)
def test_the_newest_are_among_the_few_places_that_are_looked_at(
    growing: _Table, given: Mapping[str, Any], after: int | None
) -> None:
    def newest(places: list[int]) -> list[tuple[int, str]]:
        keys = ((growing.rows[place]["recorded_at"], f"m{place}") for place in places)
        return sorted((key for key in keys if after is None or key < (after, "m5")), reverse=True)[:21]

    found = growing.columns.newest(parse_filter(given), 21, after).tolist()
    assert newest(found) == newest(growing.passing(given))
    assert len(found) == len(set(found))
    assert len(found) < 300


def test_a_row_that_changes_nothing_but_its_time_is_listed_once() -> None:
    holders = Holders(np.array([4, 1, 4], dtype=np.int32))
    holders.put(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32))
    holders.put(np.array([3, 4]), np.array([9, 4], dtype=np.int32))
    holders.put(np.array([1]), np.array([4], dtype=np.int32))
    assert [holders.of(code).tolist() for code in (4, 9, 7)] == [[0, 1, 2, 4], [3], []]
    assert holders.most(4) == 4


def _words(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"word{min(number, 300)}" for number in rng.zipf(1.3, 12)) for _ in range(count)]


def _put(postings: Postings, texts: Mapping[int, str]) -> None:
    packed = [pack_terms({"content": text}) for text in texts.values()]
    postings.put(
        np.array(list(texts), dtype=np.int64), [terms for terms, _ in packed], b"".join(sizes for _, sizes in packed)
    )


@pytest.fixture
def postings() -> tuple[Postings, Postings]:
    """Postings that grew and changed step by step with a query after each step, and the same filled at once."""
    grown, texts = Postings(), {}
    rng = np.random.default_rng(5)
    for step in range(30):
        changed = sorted(rng.permutation(len(texts))[:7].tolist())
        batch = dict(zip([*changed, *range(len(texts), len(texts) + 120)], _words(200, step), strict=False))
        texts.update(batch)
        _put(grown, batch)
        grown.score(query_terms("word1 word7"), ())
    whole = Postings()
    _put(whole, dict(sorted(texts.items())))
    return grown, whole


@pytest.mark.parametrize("query", ["word1", "word2 word9 word120", "word299 nothing", "nothing"])
def test_words_that_came_in_many_runs_score_as_those_sorted_at_once(
    postings: tuple[Postings, Postings], query: str
) -> None:
    (grown, grown_topic), (whole, whole_topic) = (some.score(query_terms(query), {"word9"}) for some in postings)
    assert np.allclose(grown, whole, atol=1e-6)
    assert np.allclose(grown_topic, whole_topic, atol=1e-6)
    assert (whole > 0.0).any() == (query != "nothing")


def test_the_first_query_over_a_long_tail_finds_what_later_ones_find_in_sorted_runs() -> None:
    filled = Postings()
    _put(filled, dict(enumerate(_words(2_000, seed=6))))
    asked = query_terms("word2 word9 word120"), {"word9"}
    first, later = filled.score(*asked), filled.score(*asked)
    assert np.count_nonzero(first[0]) > 100
    assert all(np.array_equal(one, other) for one, other in zip(first, later, strict=True))


def test_a_bounded_look_at_words_finds_the_best_by_rare_words(postings: tuple[Postings, Postings]) -> None:
    query = query_terms("word1 word150")
    exact, _ = postings[0].score(query, ())
    places, scores = postings[0].nearby(query, 400)
    assert 0 < len(places) <= 400
    assert exact[places[np.argmax(scores)]] > 0.95 * exact.max()
    everything, same = postings[0].nearby(query, 10**6)
    assert np.allclose(same, exact[everything])
    assert np.count_nonzero(exact) == len(everything)


def test_a_bounded_look_at_one_frequent_word_sees_the_documents_added_last(postings: tuple[Postings, Postings]) -> None:
    _, whole = postings
    places, _ = whole.nearby(query_terms("word1"), 100)
    holding = np.flatnonzero(whole.score(query_terms("word1"), ())[0])
    assert places.tolist() == holding[-100:].tolist()


def _unit(rng: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    rows = rng.standard_normal((count, 70)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_vectors_compared_by_signs_first_are_the_nearest_all_the_same() -> None:
    rng = np.random.default_rng(11)
    rows = _unit(rng, 3_000)
    matrix = Matrix(70)
    matrix.grow(2_000)
    matrix.put(np.arange(2_000), rows[:2_000].tobytes())
    matrix.nearby(rows[0], None, 50)
    matrix.drop(np.array([17]))
    matrix.grow(3_000)
    matrix.put(np.concatenate([[3], np.arange(2_000, 3_000)]), rows[[2_500, *range(2_000, 3_000)]].tobytes())
    for near in (4, 1_999, 2_000, 2_999):
        places, cosines = matrix.nearby(rows[near] + 0.3 * rows[0], None, 50)
        assert places[np.argmax(cosines)] == near
        assert np.allclose(cosines, matrix.score(rows[near] + 0.3 * rows[0], None)[places], atol=1e-6)
        assert len(places) < 300
    assert {3, 2_500} <= set(matrix.nearby(rows[2_500], None, 50)[0].tolist())
    assert 17 not in matrix.nearby(rows[17], None, 3_000)[0]
    mask = np.zeros(3_000, dtype=np.bool_)
    mask[[5, 9]] = True
    assert matrix.nearby(rows[4], mask, 50)[0].tolist() == [5, 9]


def test_a_group_gives_each_of_its_documents_what_the_best_of_them_matches_better() -> None:
    rng = np.random.default_rng(4)
    best = rng.random((40, 5)).astype(np.float32)
    groups = rng.integers(-1, 6, 40).astype(np.int32)
    more = beside(best, groups)
    for place, group in enumerate(groups.tolist()):
        most = best[groups == group].max(axis=0) if group >= 0 else best[place]
        assert np.array_equal(more[place], most - best[place])
    assert not beside(best, np.full(40, -1, dtype=np.int32)).any()
