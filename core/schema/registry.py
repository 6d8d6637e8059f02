"""The schemas of a project: presets that come along, versions that were imported, and which one is active.

Each import and each activation is a change of its own; the newest row that says ``active`` names the schema in use, so
going back is activating the earlier version.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final, Literal

import polars as pl
import pyarrow as pa

from mindmem.core import ids
from mindmem.core.errors import Conflict, InvalidInput, NotFound, StaleGeneration
from mindmem.core.ledger.port import Draft, Ledger
from mindmem.core.records import Change, Scope
from mindmem.core.records.schema import Schema
from mindmem.core.schema.document import dump, parse, schema_digest
from mindmem.core.tables.contracts import body
from mindmem.core.tables.reader import Reader

__all__ = ["PRESETS", "Origin", "SchemaVersion", "Schemas", "preset"]

Origin = Literal["preset", "import", "evolve"]
PRESETS: Final = ("general", "dialogue", "persona", "coding_agent", "support")
_TRIES: Final = 20
_LOOKED_THROUGH: Final = 100
"""Changes up to which the log costs less to look through than the table."""


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """One version of a named schema; ``version`` 0 is a preset that was never imported. ``seq`` is its last row's."""

    schema: Schema
    version: int
    digest: str
    origin: Origin
    active: bool
    seq: int = 0

    @property
    def label(self) -> str:
        """Return what people call it: name and version."""
        return f"{self.schema.name}@{self.version}"


@lru_cache(maxsize=len(PRESETS))
def preset(name: str) -> Schema:
    """Return a schema that comes along.

    Raises:
        NotFound: there is no preset of that name.
    """
    if name not in PRESETS:
        raise NotFound(f"There is no schema preset {name!r}; there are {', '.join(PRESETS)}.")
    file = resources.files("mindmem.core.schema") / "presets" / f"{name}.json"
    return parse(file.read_text(encoding="utf-8"), name)


class Schemas:
    """The schemas of one project. Safe to use from several threads."""

    def __init__(self, ledger: Ledger, reader: Reader, project_id: str, *, default: str = "general") -> None:
        self._ledger = ledger
        self._reader = reader
        self._scope = Scope(project_id)
        self._default = default
        self._active: tuple[int, SchemaVersion] | None = None

    def active(self) -> SchemaVersion:
        """Return the schema in use: the one activated last, else the default preset.

        What was read stays until the log holds another row of the schemas, whichever process wrote it.

        Raises:
            NotFound: none was activated, and there is no preset of the default's name.
        """
        known, last = self._active, self._ledger.last_seq()
        found = known[1] if known is not None and self._unchanged(known[0], last) else self._read_active()
        self._active = (last, found)
        return found

    def _unchanged(self, since: int, upto: int) -> bool:
        """Return whether the log holds no schema between two places; what is far apart isn't looked through."""
        if upto - since > _LOOKED_THROUGH:
            return False
        try:
            return not any(entry.batches for entry in self._ledger.read_log(since, upto, tables=("schemas",)))
        except StaleGeneration:  # the log between was pruned
            return False

    def _read_active(self) -> SchemaVersion:
        rows = self._rows().filter(pl.col("active")).sort("seq").tail(1).collect()
        if not rows.is_empty():
            row = rows.row(0, named=True)
            return _version(row, active=True)
        schema = preset(self._default)
        return SchemaVersion(schema, 0, schema_digest(schema), "preset", active=True)

    def versions(self) -> list[SchemaVersion]:
        """Return the presets, then every imported version by name and number."""
        used = self.active()
        presets = [SchemaVersion(schema, 0, schema_digest(schema), "preset", False) for schema in map(preset, PRESETS)]
        rows = self._rows().sort("seq").unique("schema_id", keep="last").sort("name", "version").collect()
        found = [*presets, *(_version(row, active=False) for row in rows.iter_rows(named=True))]
        return [used if one.label == used.label else one for one in found]

    def find(self, label: str) -> SchemaVersion:
        """Return ``name@version``, or the newest version of ``name``.

        Raises:
            NotFound: there is none; the message names those that there are.
        """
        known = self.versions()
        same = [one for one in known if one.label == label] or [one for one in known if one.schema.name == label]
        if not same:
            raise NotFound(f"There is no schema {label!r}; there are {', '.join(one.label for one in known)}.")
        return max(same, key=lambda one: one.version)

    def add(
        self, schema: Schema, *, origin: Origin = "import", actor: str = "", activate: bool = False
    ) -> SchemaVersion:
        """Keep a schema as the next version of its name; what equals the newest version adds none.

        Raises:
            InvalidInput: its name can't be one.
        """
        if not schema.name.strip() or "@" in schema.name or len(schema.name) > 100:
            raise InvalidInput(
                f"A schema's name has 1 to 100 characters and no '@', got {schema.name!r}.", field="name"
            )
        digest = schema_digest(schema)
        for _ in range(_TRIES):
            earlier = [one for one in self.versions() if one.schema.name == schema.name]
            newest = max(earlier, key=lambda one: one.version, default=None)
            if newest is not None and newest.digest == digest:
                return self.activate(newest.label, actor=actor) if activate and not newest.active else newest
            number = newest.version + 1 if newest else 1
            made = SchemaVersion(schema, number, digest, origin, activate)
            try:
                # The key is taken by whoever is first; another content gets the next number.
                self._write(made, actor, f"schema {made.label} imported", key=f"schema:{made.label}")
            except Conflict:
                continue
            return made
        raise Conflict(f"Others kept importing versions of {schema.name!r}; try again.")

    def activate(self, label: str, *, actor: str = "") -> SchemaVersion:
        """Make a version the one in use; nothing is written when it is already."""
        found = self.find(label)
        if found.active and found.seq:
            return found
        made = SchemaVersion(found.schema, found.version, found.digest, found.origin, active=True)
        self._write(made, actor, f"schema {made.label} activated")
        return made

    def _rows(self) -> pl.LazyFrame:
        where = {"project_id": [self._scope.project_id]}
        return self._reader.view("schemas").rows("schemas", where)

    def _write(self, made: SchemaVersion, actor: str, reason: str, *, key: str = "") -> Change:
        return self._ledger.commit(
            Draft(
                change_id=ids.change_id(),
                kind="schema",
                scope=self._scope,
                actor=actor,
                reason=reason,
                counts={"schemas": 1},
                batches={"schemas": _table([made], self._scope)},
                key=key,
                digest=made.digest,
            )
        )


def _table(versions: Iterable[SchemaVersion], scope: Scope) -> pa.Table:
    rows = [
        {
            "schema_id": "sch_" + ids.digest("schema", scope.project_id, one.schema.name, str(one.version)),
            "project_id": scope.project_id,
            "user_id": "",
            "app_id": "",
            "agent_id": "",
            "session_id": "",
            "name": one.schema.name,
            "version": one.version,
            "digest": one.digest,
            "document": dump(one.schema),
            "origin": one.origin,
            "active": one.active,
        }
        for one in versions
    ]
    return pa.Table.from_pylist(rows, schema=body("schemas"))


def _version(row: dict[str, object], *, active: bool) -> SchemaVersion:
    schema = parse(str(row["document"]), str(row["name"]))
    origin: Origin = row["origin"]  # type: ignore[assignment]  # the column holds nothing else
    return SchemaVersion(schema, int(str(row["version"])), str(row["digest"]), origin, active, int(str(row["seq"])))
