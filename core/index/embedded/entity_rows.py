"""Entities in the index file: their records, and what the arrays of a partition's entities are made of."""

import json
import sqlite3
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindmem.core.index.embedded.codec import term_hash
from mindmem.core.index.names import forms_of
from mindmem.core.index.port import EntityDocument
from mindmem.core.records import Entity, Scope
from mindmem.core.text import analyse

__all__ = ["BEARING", "READ", "SCHEMA", "Prepared", "decode_entity", "prepare_entity", "write_entity"]

SCHEMA: Final = """
create table if not exists entities (
  entity integer primary key, part integer not null, stamp integer not null, entity_id text not null unique,
  revision integer not null, status text not null, merged_into text not null,
  names text not null, sizes blob not null, terms blob not null, record text not null
);
create index if not exists entities_by_stamp on entities (part, stamp);
create table if not exists entity_parts (
  part integer not null, name_part text not null, entity integer not null, primary key (part, name_part, entity)
) without rowid;
create index if not exists entity_parts_by_entity on entity_parts (entity);
"""
READ: Final = "select entity_id, status, merged_into, names, sizes, terms from entities where part = ? and stamp > ?"
"""Rows of the arrays, written in a partition after a stamp."""
BEARING: Final = (
    "select e.entity_id from entity_parts n join entities e on e.entity = n.entity where n.part in "
    "(select part from parts where project_id = ? and (user_id = ? or ? = '')) and n.name_part in ({marks})"
)
"""Ids of the entities of a project's user, of all its users if empty, that have any of some parts of names."""

_PLAIN: Final = ("entity_id", "revision", "entity_type", "name", "description", "merged_into", "status")
_WRITE: Final = (
    "insert into entities"
    " (part, stamp, entity_id, revision, status, merged_into, names, sizes, terms, record)"
    " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (entity_id) do update set stamp = excluded.stamp,"
    " revision = excluded.revision, status = excluded.status, merged_into = excluded.merged_into,"
    " names = excluded.names, sizes = excluded.sizes, terms = excluded.terms,"
    " record = excluded.record returning entity"
)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An entity's columns, made ready outside of the transaction.

    ``names`` is JSON: its keys, and the forms under which it is looked for in texts. ``sizes`` are the numbers of terms
    of its fields (uint16), ``terms`` the terms' hashes (uint64), field by field.
    """

    document: EntityDocument
    names: str
    sizes: bytes
    terms: bytes


def prepare_entity(document: EntityDocument) -> Prepared:
    """Return what is written of an entity."""
    forms = [[" ".join(form), int(small)] for form, small in forms_of(document.entity).items()]
    fields = [list(dict.fromkeys(analyse(text)))[:65_535] for text in document.fields]
    fields = [field for field in fields if field]
    return Prepared(
        document,
        json.dumps([document.keys, forms], ensure_ascii=False, separators=(",", ":")),
        np.array([len(field) for field in fields], dtype="<u2").tobytes(),
        np.array([term_hash(term) for field in fields for term in field], dtype="<u8").tobytes(),
    )


def write_entity(connection: sqlite3.Connection, prepared: Prepared, part: int, stamp: int) -> None:
    """Write an entity unless a newer revision is there."""
    entity = prepared.document.entity
    found = connection.execute("select revision from entities where entity_id = ?", (entity.entity_id,)).fetchone()
    if found is not None and found[0] > entity.revision:
        return
    row = (
        part, stamp, entity.entity_id, entity.revision, entity.status, entity.merged_into, prepared.names,
        prepared.sizes, prepared.terms, _encode(entity),
    )  # fmt: skip
    number = connection.execute(_WRITE, row).fetchone()[0]
    connection.execute("delete from entity_parts where entity = ?", (number,))
    parts = [(part, one, number) for one in dict.fromkeys(prepared.document.parts)]
    connection.executemany("insert into entity_parts values (?, ?, ?)", parts)


def _encode(entity: Entity) -> str:
    scope = entity.scope
    row: dict[str, Any] = {name: getattr(entity, name) for name in _PLAIN}
    row["scope"] = [scope.project_id, scope.user_id, scope.app_id, scope.agent_id, scope.session_id]
    row["aliases"], row["search_fields"] = list(entity.aliases), list(entity.search_fields)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def decode_entity(record: str) -> Entity:
    """Return the entity of a row's ``record``."""
    row: dict[str, Any] = json.loads(record)
    row["scope"] = Scope(*row["scope"])
    row["aliases"], row["search_fields"] = tuple(row["aliases"]), tuple(row["search_fields"])
    return Entity(**row)
