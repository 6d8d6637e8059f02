"""The Tables port on Delta Lake, in a local folder or any object store that ``deltalake`` can reach.

Data files are written and fsynced before the log entry that names them; ``sync`` does the same for the log entries,
because delta-rs never calls fsync. Object stores acknowledge only what is durable.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Schema, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler
from deltalake.transaction import AddAction, RemoveAction
from pyarrow.fs import PyFileSystem

from mindmem.core.clock import SystemClock
from mindmem.core.errors import CorruptStore, InvalidInput, StoreBusy, StoreUnavailable, bounded
from mindmem.core.tables import durable
from mindmem.core.tables.contracts import CONTRACTS, TABLES
from mindmem.core.tables.files import DataFile, mergeable
from mindmem.core.tables.layout import arrange, statistics, statistics_columns, write_parquet
from mindmem.core.tables.port import Where

__all__ = ["DeltaTables"]

_ATTEMPTS: Final = 5
_KEPT_VERSIONS: Final = 3
_SCHEMES: Final = ("file", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl")
# Old log entries are dropped by vacuum, after the newest checkpoint was made durable.
_HOOKS: Final = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)


class DeltaTables:
    """Delta tables below ``uri``, one folder each; ``storage_options`` go to the object store as they are."""

    def __init__(self, uri: str | Path, storage_options: Mapping[str, str] | None = None) -> None:
        """Name the place; nothing is read or made yet.

        Raises:
            InvalidInput: the URI's scheme is not one that tables can be kept at.
        """
        text = str(uri)
        scheme = text.partition("://")[0]
        if scheme != text and scheme.lower() not in _SCHEMES:
            raise InvalidInput(
                f"Tables can't be kept at a URI of scheme {bounded(scheme)}; known: {', '.join(_SCHEMES)}, or a plain "
                "folder (setting MINDMEM_STORE__TABLES_URI).",
                field="tables_uri",
            )
        self._options = dict(storage_options or {})
        self._folder: Path | None = None
        if "://" not in text:
            self._folder = Path(text).expanduser().absolute()
        elif text.startswith("file://"):
            self._folder = Path(unquote(urlsplit(text).path))
        self._uri = str(self._folder) if self._folder else text.rstrip("/")
        self._opened: dict[str, DeltaTable] = {}
        self._files: dict[tuple[str, int], tuple[DataFile, ...]] = {}

    @property
    def uri(self) -> str:
        """Return the folder or object-store URI of the tables."""
        return self._uri

    def location(self, table: str) -> str:
        """Return the folder or URI of one table."""
        return f"{self._uri}/{table}"

    def exists(self, table: str) -> bool:
        """Return whether the table was ever written."""
        return self._open(table) is not None

    def existing(self) -> list[str]:
        """Return the names of the tables that exist, in the order of the contracts."""
        return [table for table in TABLES if self.exists(table)]

    def version(self, table: str) -> int:
        """Return the newest version, -1 if the table doesn't exist."""
        delta = self._open(table)
        return -1 if delta is None else delta.version()

    def transaction_version(self, table: str, app_id: str) -> int:
        """Return the highest seq that was appended under ``app_id``, 0 if none."""
        delta = self._open(table)
        return 0 if delta is None else delta.transaction_version(app_id) or 0

    def last_seq(self, table: str) -> int:
        """Return the highest seq that the newest version holds, whoever appended it, 0 if none."""
        with self._storage(table):
            return max((file.last_seq for file in self._files_of(table, self.version(table))), default=0)

    def append(self, table: str, rows: pa.Table, *, app_id: str, seq: int) -> int:
        """Append the stamped rows up to ``seq`` exactly once and return the version that holds them."""
        for _ in range(_ATTEMPTS):
            # A conflict means that somebody else appended: what they did is read again, never guessed.
            with self._storage(table), suppress(CommitFailedError):
                delta = self._widened(table, self._open(table) or self._create(table))
                done = delta.transaction_version(app_id) or 0
                if done >= seq:
                    return delta.version()
                fresh = rows.filter(pc.greater(rows.column("seq"), done)) if done else rows
                if not fresh.num_rows:
                    return delta.version()
                add = self._write(table, arrange(table, fresh), data_change=True)
                return self._commit(delta, [add], [Transaction(app_id, seq)])
        raise StoreBusy(
            f"Table {table!r} at {self.location(table)!r} was changed by others during {_ATTEMPTS} attempts to append: "
            "let only one ledger fold into these tables, then fold again."
        )

    def sync(self, table: str, after: int) -> None:
        """Make everything written by the versions above ``after`` survive a loss of power."""
        if self._folder is not None:
            with self._storage(table):
                durable.sync_log(self._folder / table, after)

    def heal(self, table: str, above: int) -> int:
        """Drop what a loss of power left torn in versions above ``above``; return how many versions were dropped."""
        if self._folder is None:
            return 0
        with self._storage(table):
            dropped = durable.drop_torn(self._folder / table, above)
        if dropped:
            self._opened.pop(table, None)
            self._files = {key: files for key, files in self._files.items() if key[0] != table}
        return dropped

    def scan(self, table: str, version: int | None = None, where: Where | None = None) -> pl.LazyFrame:
        """Return the rows of a version (None: the newest) that fit ``where``, by the table's contract."""
        with self._storage(table):
            if version is None:
                version = self.version(table)
            files = [file for file in self._files_of(table, version) if file.may_hold(where or {})]
            frame = self._read(table, files)
        for name, values in (where or {}).items():
            frame = frame.filter(pl.col(name) == values[0] if len(values) == 1 else pl.col(name).is_in(list(values)))
        return frame

    def compact(self, table: str) -> int:
        """Merge small files of like size into larger sorted ones; return how many files went away."""
        gone = 0
        with self._storage(table):
            while group := mergeable(self._files_of(table, self.version(table))):
                delta = self._open(table)
                if delta is None:
                    break
                rows = arrange(table, _arrow(self._read(table, group)))
                add = self._write(table, rows, data_change=False)
                self._commit(delta, [add, *_removals(group, data_change=False)])
                gone += len(group) - 1
        return gone

    def vacuum(self, table: str, *, keep_hours: float, keep_versions: Sequence[int]) -> int:
        """Delete files that no version younger than ``keep_hours`` and none of ``keep_versions`` needs."""
        with self._storage(table):
            delta = self._open(table)
            if delta is None:
                return 0
            gone = delta.vacuum(
                retention_hours=int(keep_hours), dry_run=False, enforce_retention_duration=False, full=True,
                keep_versions=sorted({delta.version(), *keep_versions}), post_commithook_properties=_HOOKS,
            )  # fmt: skip
            delta.create_checkpoint()
            self.sync(table, after=-1)
            delta.cleanup_metadata()
        return len(gone)

    def discard_after(self, table: str, seq: int) -> int:
        """Take out the rows with a higher seq, left by a fold that never ended; return how many."""
        gone = 0
        with self._storage(table):
            before = self.version(table)
            for file in self._files_of(table, before):
                delta = self._open(table)
                if delta is None or file.last_seq <= seq:
                    continue
                rows = arrange(table, _arrow(self._read(table, [file])))
                kept = rows.filter(pc.less_equal(rows.column("seq"), seq))
                adds = [self._write(table, kept, data_change=True)] if kept.num_rows else []
                self._commit(delta, [*adds, *_removals([file], data_change=True)])
                gone += rows.num_rows - kept.num_rows
            if gone:
                self.sync(table, after=before)
        return gone

    # -- below: one table's files and log

    def _open(self, table: str) -> DeltaTable | None:
        """Return the table at its newest version, None if it doesn't exist; the open table is kept and moved on."""
        with self._storage(table):
            delta = self._opened.pop(table, None)
            if delta is None or not self._moved_on(table, delta):
                delta = self._open_at(table, None)
            if delta is not None:
                self._opened[table] = delta
        return delta

    def _moved_on(self, table: str, delta: DeltaTable) -> bool:
        """Bring an open table up to date; False if it has to be opened anew."""
        if self._folder is not None:
            log, version = self._folder / table / "_delta_log", delta.version()
            if not (log / f"{version:020}.json").exists():
                return False
            if not (log / f"{version + 1:020}.json").exists():
                return True
        delta.update_incremental()
        return True

    def _open_at(self, table: str, version: int | None) -> DeltaTable | None:
        if self._folder is not None and not (self._folder / table / "_delta_log").is_dir():
            return None
        try:
            return DeltaTable(self.location(table), version=version, storage_options=self._options or None)
        except TableNotFoundError:
            return None

    def _create(self, table: str) -> DeltaTable:
        if self._folder is not None:
            (self._folder / table).mkdir(parents=True, exist_ok=True)
        return DeltaTable.create(
            self.location(table),
            CONTRACTS[table],
            mode="ignore",
            name=table,
            configuration={"delta.dataSkippingStatsColumns": ",".join(statistics_columns(table))},
            storage_options=self._options or None,
        )

    def _widened(self, table: str, delta: DeltaTable) -> DeltaTable:
        """Add the columns that the contract got since the table was made; older rows hold null there."""
        known = {field.name for field in delta.schema().fields}
        missing = [field for field in Schema.from_arrow(CONTRACTS[table]).fields if field.name not in known]
        if missing:
            delta.alter.add_columns(missing)
            delta.update_incremental()
        return delta

    def _write(self, table: str, rows: pa.Table, *, data_change: bool) -> AddAction:
        """Write one durable data file that no log entry names yet."""
        path = f"part-{uuid.uuid4()}.zstd.parquet"
        store = PyFileSystem(DeltaStorageHandler(self.location(table), self._options or None))
        with store.open_output_stream(path) as sink:
            write_parquet(table, rows, sink)
        if self._folder is not None:
            durable.sync_file(self._folder / table / path)
            durable.sync_file(self._folder / table)
        size = store.get_file_info(path).size
        return AddAction(path, size, {}, _now(), data_change, statistics(table, rows))

    def _commit(
        self, delta: DeltaTable, actions: Sequence[AddAction | RemoveAction], marks: Sequence[Transaction] = ()
    ) -> int:
        delta.create_write_transaction(
            list(actions), mode="append", schema=delta.schema(),
            commit_properties=CommitProperties(max_commit_retries=0, app_transactions=list(marks)),
            post_commithook_properties=_HOOKS,
        )  # fmt: skip
        delta.update_incremental()
        return delta.version()

    def _files_of(self, table: str, version: int) -> tuple[DataFile, ...]:
        if version < 0:
            return ()
        known = self._files.get((table, version))
        if known is None:
            delta = self._open(table)
            if delta is None or delta.version() != version:
                delta = self._open_at(table, version)
            if delta is None:
                raise CorruptStore(f"Table {table!r} at {self.location(table)!r} has no version {version}.")
            # Not by pyarrow: its to_pylist of times imports pandas, half a second at each opening.
            rows = pl.DataFrame(delta.get_add_actions(flatten=True)).to_dicts()
            known = tuple(DataFile.of(table, row) for row in rows)
            for old in sorted(key for key in self._files if key[0] == table)[: -_KEPT_VERSIONS + 1]:
                self._files.pop(old, None)
            self._files[table, version] = known
        return known

    def _read(self, table: str, files: Sequence[DataFile]) -> pl.LazyFrame:
        empty = pl.from_arrow(CONTRACTS[table].empty_table())
        assert isinstance(empty, pl.DataFrame)
        if not files:
            return empty.lazy()
        return pl.scan_parquet(
            [f"{self.location(table)}/{file.path}" for file in files], glob=False, hive_partitioning=False,
            schema=empty.schema, storage_options=self._options or None, missing_columns="insert",
        )  # fmt: skip

    @contextmanager
    def _storage(self, table: str) -> Iterator[None]:
        try:
            yield
        except (DeltaError, OSError, pl.exceptions.ComputeError) as error:
            raise StoreUnavailable(self._trouble(table, error)) from error

    def _trouble(self, table: str, error: Exception) -> str:
        return (
            f"Table {table!r} at {self.location(table)!r} can't be read or written: {bounded(str(error), 300)}. "
            "Check that the place exists, may be written and has free space; nothing that was folded is lost."
        )


def _arrow(rows: pl.LazyFrame) -> pa.Table:
    return rows.collect().to_arrow(compat_level=pl.CompatLevel.oldest())


def _now() -> int:
    """Return milliseconds since 1970 for Delta's own bookkeeping; no record depends on it."""
    return int(SystemClock().now().timestamp() * 1000)


def _removals(files: Sequence[DataFile], *, data_change: bool) -> list[RemoveAction]:
    return [RemoveAction(file.path, data_change, _now(), file.size, {}) for file in files]
