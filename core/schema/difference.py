"""What changed between two schemas, as lines that people read."""

from collections.abc import Iterator

from mindmem.core.records.schema import EntityType, Schema

__all__ = ["difference"]


def difference(before: Schema, after: Schema) -> list[str]:
    """Return one line a change, by entity type and property: ``+`` new, ``-`` gone, ``~`` changed."""
    lines: list[str] = []
    for name in dict.fromkeys([*before.by_name, *after.by_name]):
        old, new = before.by_name.get(name), after.by_name.get(name)
        if old is None and new is not None:
            lines.append(f"+ {name} ({len(new.properties)} properties)")
        elif new is None:
            lines.append(f"- {name}")
        elif old is not None and old != new:
            lines.extend(_within(old, new))
    return lines


def _within(old: EntityType, new: EntityType) -> Iterator[str]:
    for field in ("description", "instruction", "search_weight"):
        if getattr(old, field) != getattr(new, field):
            yield f"~ {new.name} {field}: {getattr(old, field)!r} -> {getattr(new, field)!r}"
    for name in dict.fromkeys([*old.static, *new.static]):
        if name not in new.static:
            yield f"- {new.name}.{name} (static)"
        elif name not in old.static:
            yield f"+ {new.name}.{name} (static)"
        elif old.static[name] != new.static[name]:
            yield f"~ {new.name}.{name} (static): {old.static[name]!r} -> {new.static[name]!r}"
    for name in dict.fromkeys([one.name for one in (*old.properties, *new.properties)]):
        one, other = old.property(name), new.property(name)
        if one is None and other is not None:
            yield f"+ {new.name}.{name} (order {other.order})"
        elif other is None:
            yield f"- {new.name}.{name}"
        elif one is not None and one != other:
            fields = [field for field in other.__slots__ if getattr(one, field) != getattr(other, field)]
            told = ", ".join(f"{field}: {getattr(one, field)!r} -> {getattr(other, field)!r}" for field in fields)
            yield f"~ {new.name}.{name} {told}"
