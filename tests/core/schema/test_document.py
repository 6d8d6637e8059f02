"""A schema's JSON: read with the path of a mistake, written so that it reads the same."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindmem.core.errors import InvalidInput
from mindmem.core.records.schema import EntityType, Property, Schema
from mindmem.core.schema.document import dump, parse, schema_digest
from mindmem.core.schema.registry import PRESETS, preset

ONE = {
    "entity_type": "boat",
    "entity_description": "A vessel.",
    "static_property": {"hull": "What it is made of."},
    "dynamic_property": {
        "berth": {"type": "string", "desc": "Where it lies.", "example": "The Tern lies in Bergen."},
        "voyages": {"type": "string", "order": 2, "desc": "Where it keeps going."},
    },
}


def test_mindmemos_form_is_read_with_orders_and_static_properties() -> None:
    [boat] = parse(json.dumps([ONE]), "harbour").types
    assert boat.name == "boat"
    assert boat.static == {"hull": "What it is made of."}
    assert [one.name for one in boat.of_order(1)] == ["berth"]
    assert [one.name for one in boat.of_order(2)] == ["voyages"]
    assert boat.search_weight == 1.0


def test_the_short_form_names_one_persons_properties_by_order() -> None:
    schema = parse('{"first_order": ["home", "work"], "higher_order": ["habits"]}', "short")
    assert [(one.name, one.order) for one in schema.by_name["person"].properties] == [
        ("home", 1),
        ("work", 1),
        ("habits", 2),
    ]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"dynamic_property": {"berth": {"order": 3}}}, "[0].dynamic_property.berth.order"),
        ({"dynamic_property": {"berth": {"kind": "x"}}}, "[0].dynamic_property.berth.kind"),
        ({"search_weight": "much"}, "[0].search_weight"),
        ({"entity_type": " "}, "[0].entity_type"),
        ({"static_property": {"berth": "fixed"}}, "boat.dynamic_property.berth"),
        ({"colour": "red"}, "[0].colour"),
    ],
)
def test_a_mistake_is_named_by_its_path(change: dict[str, object], path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(json.dumps([ONE | change]), "harbour")
    assert caught.value.field == path
    assert path.rsplit(".", 1)[-1] in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "nonsense", "{}", "3", "[]", "[1]", '{"first_order": [1]}', "[{}]", '["\\ud800"]']
)
def test_what_is_no_schema_is_refused_whatever_it_is(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text, "bad")


def test_a_name_that_is_there_twice_is_refused_and_not_the_last_one_taken() -> None:
    with pytest.raises(InvalidInput, match="'boat' is there twice"):
        parse(json.dumps([ONE, ONE]), "harbour")
    with pytest.raises(InvalidInput, match="'order' is there twice"):
        parse('[{"entity_type": "boat", "dynamic_property": {"berth": {"order": 1, "order": 2}}}]', "harbour")


_NAMES = st.text("abcdefghij_äß船", min_size=1, max_size=12)
_TEXTS = st.text(max_size=30).filter(lambda text: "\x00" not in text)
_PROPERTIES = st.builds(
    Property,
    name=_NAMES,
    description=_TEXTS,
    order=st.sampled_from([1, 2]),
    example=_TEXTS,
    covers=st.lists(_NAMES, max_size=2).map(tuple),
    single_valued=st.none() | st.booleans(),
)
_TYPES = st.builds(
    EntityType,
    name=_NAMES,
    description=_TEXTS,
    search_weight=st.floats(0, 10),
    properties=st.lists(_PROPERTIES, max_size=3, unique_by=lambda one: one.name).map(tuple),
)


@given(st.lists(_TYPES, min_size=1, max_size=3, unique_by=lambda one: one.name).map(tuple))
def test_a_written_schema_reads_the_same(types: tuple[EntityType, ...]) -> None:
    schema = Schema(name="any", types=types)
    assert parse(dump(schema), "any") == schema


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_complete_and_reads_back(name: str) -> None:
    schema = preset(name)
    assert parse(dump(schema), name) == schema
    assert "episodes" in schema.by_name
    for one in schema.types:
        assert one.description, one.name
        assert one.property("default_property"), one.name
        assert all(each.description for each in one.properties)
    assert any(one.of_order(2) for one in schema.types)


def test_the_digest_tells_contents_apart_and_not_names_or_layout() -> None:
    compact, spaced = json.dumps([ONE]), json.dumps([ONE], indent=4)
    assert schema_digest(parse(compact, "a")) == schema_digest(parse(spaced, "b"))
    assert schema_digest(parse(compact, "a")) != schema_digest(preset("general"))
