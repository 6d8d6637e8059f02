"""``mindmem schema``: what to look for: list, show, import, diff and activate the schemas of a project."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mindmem.core.serve.console import Session, console, emit, with_session

if TYPE_CHECKING:
    from mindmem.core.schema.registry import Schemas, SchemaVersion

__all__ = ["schema"]


@click.group(short_help="List, show, import, compare and activate schemas.")
def schema() -> None:
    """Manage the schemas of the project: the entity types and properties that schema mode looks for.

    A schema is named NAME or NAME@VERSION; without a version the newest is meant. Presets come along as version 0.
    """


@contextmanager
def _schemas(session: Session) -> "Iterator[Schemas]":
    with session.memory() as memory:
        yield memory.services.schemas


def _row(one: "SchemaVersion") -> dict[str, object]:
    return {
        "name": one.schema.name,
        "version": one.version,
        "origin": one.origin,
        "active": one.active,
        "entity_types": len(one.schema.types),
        "properties": sum(len(each.properties) + len(each.static) for each in one.schema.types),
        "digest": one.digest,
    }


@schema.command("list", short_help="Show all schemas; the active one is marked.")
@with_session
def list_(session: Session) -> None:
    """Show presets and imported versions. JSON: {schemas: [{name, version, origin, active, entity_types, …}]}."""
    with _schemas(session) as schemas:
        rows = [_row(one) for one in schemas.versions()]
    if session.as_json:
        emit({"schemas": rows})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("", "schema", "origin", "entity types", "properties"):
        table.add_column(name)
    for row in rows:
        mark = "●" if row["active"] else ""
        table.add_row(
            mark,
            f"{row['name']}@{row['version']}",
            str(row["origin"]),
            str(row["entity_types"]),
            str(row["properties"]),
        )
    console().print(table)


@schema.command(short_help="Print a schema's JSON.")
@click.argument("label", required=False)
@with_session
def show(session: Session, label: str | None) -> None:
    """Print the JSON of LABEL, or of the active schema: it can be edited and imported again."""
    from mindmem.core.schema.document import dump

    with _schemas(session) as schemas:
        found = schemas.find(label) if label else schemas.active()
    click.echo(dump(found.schema))


@schema.command("import", short_help="Keep a schema file as the next version of its name.")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--name", help="Name of the schema (default: the file's).")
@click.option("--activate", is_flag=True, help="Use it from now on.")
@with_session
def import_(session: Session, file: Path, name: str | None, activate: bool) -> None:
    """Read FILE (MindMemOS's JSON, or {first_order, higher_order}) and keep it; the same content adds no version."""
    from mindmem.core.schema.document import parse

    given = parse(file.read_bytes(), name or file.stem)
    with _schemas(session) as schemas:
        made = schemas.add(given, activate=activate)
    _said(session, made, "active" if made.active else "imported")


@schema.command(short_help="Compare two schemas.")
@click.argument("before")
@click.argument("after", required=False)
@with_session
def diff(session: Session, before: str, after: str | None) -> None:
    """Show what changes from BEFORE to AFTER (default: the active schema). JSON: {before, after, lines}."""
    from mindmem.core.schema.difference import difference

    with _schemas(session) as schemas:
        one, other = schemas.find(before), schemas.find(after) if after else schemas.active()
    lines = difference(one.schema, other.schema)
    if session.as_json:
        emit({"before": one.label, "after": other.label, "lines": lines})
        return
    click.echo("\n".join(lines) if lines else f"{one.label} and {other.label} are the same.")


@schema.command(short_help="Use a schema from now on.")
@click.argument("label")
@with_session
def activate(session: Session, label: str) -> None:
    """Make LABEL the schema in use. What was remembered before stays as it is."""
    with _schemas(session) as schemas:
        made = schemas.activate(label)
    _said(session, made, "active")


def _said(session: Session, made: "SchemaVersion", state: str) -> None:
    if session.as_json:
        emit(_row(made))
    else:
        click.echo(f"{made.label} is {state}: {len(made.schema.types)} entity types.")
