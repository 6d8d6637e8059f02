"""A schema's JSON: MindMemOS's form and the paper's short form are read, MindMemOS's is written.

MindMemOS's form is a list of entity types: {entity_type, entity_description, entity_instruction, search_weight,
static_property: {name: text}, dynamic_property: {name: {type, order, desc, example}}}. Ours adds to a dynamic property,
where wanted, ``covers`` (other words for it) and ``single_valued``. The short form {first_order: […], higher_order:
[…]} names the properties of one person.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from mindmem.core.errors import InvalidInput, bounded
from mindmem.core.ids import digest
from mindmem.core.records.schema import EntityType, Property, Schema

__all__ = ["dump", "parse", "schema_digest"]

_MOST_TYPES: Final = 200
_MOST_PROPERTIES: Final = 500
_Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")
]
_Text = Annotated[str, StringConstraints(max_length=4000)]


class _Property(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    type: _Text | list[_Text] = "string"
    order: Annotated[int, Field(ge=1, le=2)] = 1
    desc: _Text = ""
    example: _Text | list[_Text] = ""
    covers: list[_Name] = Field(default_factory=list)
    single_valued: bool | None = None


class _EntityType(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    entity_type: _Name
    entity_description: _Text = ""
    entity_instruction: _Text = ""
    search_weight: Annotated[float, Field(ge=0, le=10)] = 1.0
    static_property: dict[_Name, _Text] = Field(default_factory=dict, max_length=_MOST_PROPERTIES)
    dynamic_property: dict[_Name, _Property] = Field(default_factory=dict, max_length=_MOST_PROPERTIES)


class _Short(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    first_order: list[_Name] = Field(max_length=_MOST_PROPERTIES)
    higher_order: list[_Name] = Field(default_factory=list, max_length=_MOST_PROPERTIES)


_TYPES: Final = TypeAdapter(Annotated[list[_EntityType], Field(min_length=1, max_length=_MOST_TYPES)])


def parse(text: str | bytes, name: str) -> Schema:
    """Return the schema that a JSON text states.

    Raises:
        InvalidInput: it is no JSON or not of the form; ``field`` and the message give the path to the first mistake.
    """
    try:
        given = json.loads(text, object_pairs_hook=_each_name_once)
    except ValueError as error:
        raise InvalidInput(f"The schema is not valid JSON: {error}.", field="schema") from error
    if isinstance(given, dict) and {"first_order", "higher_order"} & given.keys():
        return _of_short(_checked(TypeAdapter(_Short), given), name)
    if not isinstance(given, list):
        raise InvalidInput(
            'A schema is a list of entity types ([{"entity_type": …}, …]) or {"first_order": […], "higher_order": '
            f"[…]}}, got {bounded(given)}.",
            field="schema",
        )
    types = tuple(map(_of_type, _checked(_TYPES, given)))
    for place, one in enumerate(types):
        if one.name in {other.name for other in types[:place]}:
            raise InvalidInput(f"[{place}].entity_type: {one.name!r} is there twice.", field=f"[{place}].entity_type")
    return Schema(name=name, types=types)


def dump(schema: Schema) -> str:
    """Return the schema as JSON of MindMemOS's form; what has its default is left out."""
    return json.dumps([_type_document(one) for one in schema.types], ensure_ascii=False, indent=2)


def schema_digest(schema: Schema) -> str:
    """Return what tells one content from another, whatever its name and layout."""
    return digest("schema", dump(schema))


def _each_name_once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} is there twice in one object")
    return found


def _checked(form: TypeAdapter[Any], given: object) -> Any:  # the adapter's own type
    try:
        return form.validate_python(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
        raise InvalidInput(
            f"{place or 'schema'}: {first['msg']}, got {bounded(first['input'])}.", field=place or "schema"
        ) from error


def _of_type(given: _EntityType) -> EntityType:
    both = given.static_property.keys() & given.dynamic_property.keys()
    if both:
        raise InvalidInput(
            f"{given.entity_type}: {min(both)!r} is both a static and a dynamic property; keep one.",
            field=f"{given.entity_type}.dynamic_property.{min(both)}",
        )
    return EntityType(
        name=given.entity_type,
        description=given.entity_description,
        instruction=given.entity_instruction,
        search_weight=given.search_weight,
        static=given.static_property,
        properties=tuple(
            Property(
                name=name,
                description=one.desc,
                value_type=_joined(one.type),
                order=one.order,
                example=_joined(one.example),
                covers=tuple(one.covers),
                single_valued=one.single_valued,
            )
            for name, one in given.dynamic_property.items()
        ),
    )


def _of_short(given: _Short, name: str) -> Schema:
    both = set(given.first_order) & set(given.higher_order)
    if both:
        raise InvalidInput(f"{min(both)!r} is of both orders; keep one.", field="higher_order")
    properties = [
        *(Property(name=one) for one in dict.fromkeys(given.first_order)),
        *(Property(name=one, order=2) for one in dict.fromkeys(given.higher_order)),
    ]
    return Schema(name=name, types=(EntityType(name="person", properties=tuple(properties)),))


def _joined(given: str | list[str]) -> str:
    return given if isinstance(given, str) else " | ".join(given)


def _type_document(one: EntityType) -> dict[str, object]:
    return {
        "entity_type": one.name,
        "entity_description": one.description,
        "entity_instruction": one.instruction,
        "search_weight": one.search_weight,
        "static_property": dict(one.static),
        "dynamic_property": {each.name: _property_document(each) for each in one.properties},
    }


def _property_document(one: Property) -> Mapping[str, object]:
    document: dict[str, object] = {"type": one.value_type, "order": one.order, "desc": one.description}
    if one.example:
        document["example"] = one.example
    if one.covers:
        document["covers"] = list(one.covers)
    if one.single_valued is not None:
        document["single_valued"] = one.single_valued
    return document
