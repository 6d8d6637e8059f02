"""The filter language: what is refused and how it is named, and that the index evaluates it as the reference does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.documents import ANN, BEGAN, make

from mindmem.core.errors import InvalidInput
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.index.filters import (
    KEYWORD_FIELDS,
    TIME_FIELDS,
    All,
    Negation,
    all_of,
    any_of,
    matches,
    parse_filter,
    scope_filter,
)
from mindmem.core.index.filters import Test as Condition
from mindmem.core.records import Scope


@pytest.mark.parametrize("empty", [None, {}])
def test_no_filter_is_none(empty: object) -> None:
    assert parse_filter(empty) is None


def test_keys_of_one_object_must_all_hold() -> None:
    assert parse_filter({"status": "active", "app_id": "*"}) == All(
        (Condition("status", "eq", "active"), Condition("app_id", "present"))
    )


def test_times_are_read_as_instants() -> None:
    parsed = parse_filter({"created_at": {"gte": "2024-05-01T12:00:00+02:00", "lt": "2024-05-02"}})
    assert parsed == All(
        (
            Condition("created_at", "gte", datetime(2024, 5, 1, 10, tzinfo=UTC)),
            Condition("created_at", "lt", datetime(2024, 5, 2, tzinfo=UTC)),
        )
    )


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"usr_id": "a"}, "'usr_id'"),
        ({"usr_id": "a"}, "user_id"),
        ({"metadata.": "a"}, "'metadata.'"),
        ({"metadata": {"eq": "a"}}, "metadata.<key>"),
        ({"and": []}, "'and'"),
        ({3: "a"}, "3"),
        ({"app_id": {"like": "a"}}, "'like'"),
        ({"app_id": {"gt": "a"}}, "eq, ne, in, nin"),
        ({"created_at": {"eq": "2024-05-01"}}, "gt, gte, lt, lte"),
        ({"content": {"eq": "a"}}, "contains, icontains"),
        ({"app_id": {}}, "'app_id'"),
        ({"app_id": 7}, "a string"),
        ({"app_id": None}, "'app_id'"),
        ({"app_id": {"in": "a"}}, "a list"),
        ({"app_id": {"in": ["a", 3]}}, "'app_id'"),
        ({"metadata.n": [1]}, "'metadata.n'"),
        ({"created_at": {"gt": "yesterday"}}, "ISO 8601"),
        ({"created_at": {"gt": 1714550400}}, "'created_at'"),
        ({"AND": {"status": "active"}}, "filters.AND"),
        ({"OR": []}, "filters.OR"),
        ({"NOT": [{}]}, "filters.NOT[0]"),
        ({"AND": ["status"]}, "filters.AND[0]"),
        ([{"status": "active"}], "filters"),
        ("status", "filters"),
    ],
)
def test_what_is_wrong_is_named(given: object, named: str) -> None:
    with pytest.raises(InvalidInput) as error:
        parse_filter(given)
    assert named in str(error.value)


def test_depth_and_size_are_bounded() -> None:
    deep: dict[str, Any] = {"status": "active"}
    for _ in range(16):
        deep = {"AND": [deep]}
    assert parse_filter(deep) is not None
    with pytest.raises(InvalidInput, match="16 levels"):
        parse_filter({"AND": [deep]})
    with pytest.raises(InvalidInput, match="1000 tests"):
        parse_filter({"OR": [{"app_id": str(number)} for number in range(1001)]})
    with pytest.raises(InvalidInput, match="at most 10000"):
        parse_filter({"app_id": {"in": ["a"] * 10_001}})


def test_a_scope_narrows_to_the_ids_that_it_names() -> None:
    assert scope_filter(ANN) == Condition("status", "eq", "active")
    assert scope_filter(ANN, status=None) is None
    assert scope_filter(Scope(user_id="ann", app_id="a", session_id="s"), status=None) == All(
        (Condition("app_id", "eq", "a"), Condition("session_id", "eq", "s"))
    )


def test_joining_skips_what_is_none() -> None:
    one, two = Condition("status", "eq", "active"), Condition("app_id", "present")
    assert all_of(None, one) == one
    assert all_of(None) is None
    assert any_of(one, None, two) == All((one, two), any_=True)


VALUES = st.sampled_from(["", "a", "b", "A", "ä", "a b", "*"])
SCALARS = st.one_of(VALUES, st.booleans(), st.integers(0, 2), st.sampled_from([0.0, 1.0, 1.5]))
ANYTHING = st.one_of(SCALARS, st.none(), st.lists(VALUES))
HOURS = st.integers(-3, 3).map(lambda hours: BEGAN + timedelta(hours=hours))
TIMES = st.one_of(st.none(), HOURS)
MEMORIES = st.fixed_dictionaries(
    {
        "app_id": VALUES, "agent_id": VALUES, "session_id": VALUES, "content": VALUES, "property_name": VALUES,
        "entity_id": VALUES, "entity_type": VALUES, "mem_type": st.sampled_from(["fact", "profile"]),
        "status": st.sampled_from(["active", "archived"]), "valid_from": TIMES, "valid_to": TIMES,
        "recorded_at": HOURS,
        "metadata": st.dictionaries(st.sampled_from(["k", "n", "x.y"]), ANYTHING, max_size=2),
    }
)  # fmt: skip
INSTANTS = HOURS.map(datetime.isoformat)
COMPARISONS = st.dictionaries(st.sampled_from(["gt", "gte", "lt", "lte"]), INSTANTS, min_size=1)
KEYWORDS = [name for name in KEYWORD_FIELDS if name not in ("memory_id", "mem_type", "status")]


def _operations(values: st.SearchStrategy[str]) -> st.SearchStrategy[object]:
    return st.one_of(
        values,
        st.dictionaries(st.sampled_from(["eq", "ne"]), values, min_size=1),
        st.dictionaries(st.sampled_from(["in", "nin"]), st.lists(values, max_size=3), min_size=1),
    )


LEAVES = st.one_of(
    st.dictionaries(st.sampled_from(KEYWORDS), _operations(VALUES), min_size=1, max_size=2),
    st.fixed_dictionaries({"mem_type": _operations(st.sampled_from(["fact", "profile", "skill_candidate"]))}),
    st.fixed_dictionaries({"status": _operations(st.sampled_from(["active", "archived", "erased"]))}),
    st.dictionaries(
        st.sampled_from(["metadata.k", "metadata.n", "metadata.x.y", "metadata.absent"]),
        st.one_of(
            SCALARS,
            st.fixed_dictionaries({"nin": st.lists(SCALARS, max_size=3)}),
            st.fixed_dictionaries({"ne": SCALARS}),
        ),
        min_size=1, max_size=2,
    ),
    st.dictionaries(
        st.sampled_from(TIME_FIELDS),
        st.one_of(INSTANTS, st.just("*"), COMPARISONS),
        min_size=1, max_size=2,
    ),
    st.fixed_dictionaries(
        {"content": st.one_of(VALUES, st.dictionaries(st.sampled_from(["contains", "icontains"]), VALUES, min_size=1))}
    ),
)  # fmt: skip
FILTERS = st.recursive(
    LEAVES,
    lambda inner: st.dictionaries(
        st.sampled_from(["AND", "OR", "NOT"]), st.lists(inner, min_size=1, max_size=3), min_size=1
    ),
    max_leaves=6,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(MEMORIES, min_size=1, max_size=5), st.lists(FILTERS, min_size=4, max_size=8))
def test_the_index_agrees_with_the_reference(rows: list[dict[str, Any]], filters: list[dict[str, Any]]) -> None:
    documents = []
    for place, row in enumerate(rows):
        app, agent, session, content = (row.pop(name) for name in ("app_id", "agent_id", "session_id", "content"))
        scope = Scope("default", "ann", app, agent, session)
        documents.append(make(content, name=str(place), scope=scope, embedded=False, **row))
    with TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder) / "i.sqlite", "i", create=True)
        index.apply(documents, watermark=1)
        for given_filter in filters:
            parsed = parse_filter(given_filter)
            wanted = {d.memory.memory_id for d in documents if matches(parsed, d.memory, d.created_at)}
            found = {memory.memory_id for memory in index.scan(ANN.partition, parsed).memories}
            assert found == wanted, given_filter
        index.close()


def test_a_negation_is_true_where_none_of_its_clauses_is() -> None:
    document = make("a", metadata={"k": 1})
    both = Negation((Condition("status", "eq", "archived"), Condition("metadata.k", "eq", 2.0)))
    assert matches(both, document.memory, document.created_at)
    assert not matches(Negation((Condition("metadata.k", "eq", 1.0),)), document.memory, document.created_at)


@pytest.mark.parametrize(
    "given", [{"mem_type": "bogus"}, {"mem_type": {"in": ["fact", "bogus"]}}, {"status": "deleted"}, {"status": 1}]
)
def test_a_value_that_a_closed_field_never_has_is_refused_with_the_allowed_ones(given: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"allowed: (profile, fact|active, archived)"):
        parse_filter(given)
