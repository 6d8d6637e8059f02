"""Differences of schemas as lines."""

from dataclasses import replace

from mindmem.core.records.schema import EntityType, Property, Schema
from mindmem.core.schema.difference import difference

BEFORE = Schema(
    name="s",
    types=(
        EntityType(name="boat", static={"hull": "wood"}, properties=(Property(name="berth"), Property(name="crew"))),
        EntityType(name="port"),
    ),
)


def test_equal_schemas_differ_in_nothing() -> None:
    assert difference(BEFORE, BEFORE) == []


def test_each_change_is_one_line_that_names_type_and_property() -> None:
    boat = replace(
        BEFORE.types[0],
        description="A vessel.",
        static={"hull": "steel"},
        properties=(Property(name="berth", order=2), Property(name="cargo")),
    )
    after = Schema(name="s", types=(boat, EntityType(name="light")))
    assert difference(BEFORE, after) == [
        "~ boat description: '' -> 'A vessel.'",
        "~ boat.hull (static): 'wood' -> 'steel'",
        "~ boat.berth order: 1 -> 2",
        "- boat.crew",
        "+ boat.cargo (order 1)",
        "- port",
        "+ light (0 properties)",
    ]
