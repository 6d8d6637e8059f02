"""The Delta adapter: exactly once, sorted, statistics without content, whole after a loss of power."""

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.changes import memory, message

from mindmem.core.errors import StoreUnavailable
from mindmem.core.records import Scope
from mindmem.core.tables.contracts import CONTRACTS, conform
from mindmem.core.tables.delta import DeltaTables
from mindmem.core.tables.layout import statistics, statistics_columns
from mindmem.core.tables.rows import memories_table, message_of, messages_table

SCOPE = Scope(user_id="ann", session_id="s")


def stamped(rows: pa.Table, table: str, seq: int) -> pa.Table:
    at = datetime(2024, 5, 1, 9, 0, 0, seq, tzinfo=UTC)
    for name, value in (("change_id", f"chg_{seq}"), ("seq", seq), ("recorded_at", at)):
        field = CONTRACTS[table].field(name)
        rows = rows.append_column(field, pa.array([value] * rows.num_rows, field.type))
    return conform(rows, CONTRACTS[table])


def messages(seq: int, user: str = "ann", count: int = 1) -> pa.Table:
    scope = Scope(user_id=user, session_id="s")
    said = [message(scope, 100 * seq + place, f"words {seq} {place}") for place in range(count)]
    return stamped(messages_table(said), "messages", seq)


def seqs(tables: DeltaTables, table: str = "messages", version: int | None = None) -> list[int]:
    return sorted(tables.scan(table, version).select("seq").collect()["seq"].to_list())


def data_files(tables: DeltaTables, table: str = "messages") -> list[Path]:
    return sorted(Path(tables.location(table)).glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)


def test_a_table_that_was_never_written_is_empty_and_has_no_version(tables: DeltaTables) -> None:
    assert not tables.exists("memories")
    assert (tables.version("memories"), tables.transaction_version("memories", "u"), tables.last_seq("memories")) == (
        -1,
        0,
        0,
    )
    frame = tables.scan("memories").collect()
    assert frame.is_empty()
    assert frame.columns == CONTRACTS["memories"].names


def test_the_same_append_twice_writes_once(tables: DeltaTables) -> None:
    first = tables.append("messages", messages(5), app_id="u", seq=5)
    assert tables.append("messages", messages(5), app_id="u", seq=5) == first
    assert seqs(tables) == [5]
    assert tables.transaction_version("messages", "u") == 5


def test_an_append_leaves_out_the_rows_that_an_earlier_one_already_holds(tables: DeltaTables) -> None:
    tables.append("messages", pa.concat_tables([messages(1), messages(2)]), app_id="u", seq=2)
    tables.append("messages", pa.concat_tables([messages(seq) for seq in (1, 2, 3)]), app_id="u", seq=3)
    assert seqs(tables) == [1, 2, 3]


def test_writers_that_race_with_the_same_rows_write_each_once(tables: DeltaTables) -> None:
    barrier = threading.Barrier(3)
    failures: list[BaseException] = []

    def write() -> None:
        mine = DeltaTables(tables.uri)
        try:
            for seq in range(1, 5):
                barrier.wait(30)
                mine.append("messages", messages(seq), app_id="u", seq=seq)
        except BaseException as error:
            barrier.abort()
            failures.append(error)

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert seqs(tables) == [1, 2, 3, 4]


def test_list_columns_and_weird_ids_come_back_as_they_went_in(tables: DeltaTables) -> None:
    scope = Scope("p'; drop", "a:b/…🧠\\%20 #", "x\ty", "", "s")
    said = message(scope, 0, "Ünïcode 中文")
    made = memory(scope, said, "中文 'quoted'", parents=("p1", "p2"), flags=("f",), metadata={"k": [1, "v"]})
    tables.append("memories", stamped(memories_table([made]), "memories", 1), app_id="u", seq=1)
    tables.append("messages", stamped(messages_table([said]), "messages", 1), app_id="u", seq=1)
    where = {"project_id": [scope.project_id], "user_id": [scope.user_id], "memory_id": [made.memory_id]}
    found = tables.scan("memories", where=where).collect()
    arrow = conform(found.to_arrow(), CONTRACTS["memories"])
    assert arrow.schema == CONTRACTS["memories"]
    assert arrow.to_pylist()[0]["sources"] == [{"message_id": said.message_id, "start": 0, "end": len(said.content)}]
    assert arrow.to_pylist()[0]["parents"] == ["p1", "p2"]
    (row,) = tables.scan("messages", where={"message_id": [said.message_id]}).collect().iter_rows(named=True)
    assert message_of(row) == said


def test_a_folder_with_spaces_quotes_and_beyond_ascii_works(tmp_path: Path) -> None:
    tables = DeltaTables(tmp_path / "my 'tables' é#%")
    tables.append("messages", messages(1), app_id="u", seq=1)
    tables.sync("messages", after=-1)
    assert seqs(DeltaTables(tables.uri)) == [1]


def test_statistics_are_kept_on_ids_times_and_seq_and_never_on_content(tables: DeltaTables) -> None:
    made = memory(SCOPE, message(SCOPE, 0, "zebra-words"), "zebra-words", value="zebra-value", context="zebra-context")
    tables.append("memories", stamped(memories_table([made]), "memories", 1), app_id="u", seq=1)
    tables.compact("memories")
    log = b"".join(path.read_bytes() for path in Path(tables.location("memories"), "_delta_log").iterdir())
    assert b"zebra" not in log
    assert made.memory_id.encode() in log
    group = pq.ParquetFile(data_files(tables, "memories")[0]).metadata.row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    assert {one.path_in_schema for one in columns if one.is_stats_set} == set(statistics_columns("memories"))
    assert {one.compression for one in columns} == {"ZSTD"}
    assert not {"content", "value", "context", "entity_name", "property_name"} & set(statistics_columns("memories"))


def test_times_in_statistics_are_widened_to_whole_milliseconds() -> None:
    rows = stamped(messages_table([message(SCOPE, 0, "x")]), "messages", 1)
    found = json.loads(statistics("messages", rows))
    assert found["minValues"]["recorded_at"] == "2024-05-01T09:00:00.000Z"
    assert found["maxValues"]["recorded_at"] == "2024-05-01T09:00:00.001Z"
    assert found["numRecords"] == 1


def test_rows_of_a_file_are_sorted_by_project_user_and_id(tables: DeltaTables) -> None:
    rows = pa.concat_tables([messages(1, user, 3) for user in ("zoe", "ann", "bob")])
    tables.append("messages", rows, app_id="u", seq=1)
    keys = pq.read_table(data_files(tables)[0], columns=["user_id", "message_id"]).to_pylist()
    assert [tuple(key.values()) for key in keys] == sorted(tuple(key.values()) for key in keys)


def test_a_read_of_one_user_does_not_open_files_that_cannot_hold_them(tables: DeltaTables) -> None:
    tables.append("messages", messages(1, "ann"), app_id="u", seq=1)
    tables.append("messages", messages(2, "bob"), app_id="u", seq=2)
    data_files(tables)[1].unlink()
    assert len(tables.scan("messages", where={"user_id": ["ann"]}).collect()) == 1
    with pytest.raises((OSError, pl.exceptions.ComputeError)):
        tables.scan("messages", where={"user_id": ["bob"]}).collect()


def test_compaction_merges_small_files_and_changes_no_row(tables: DeltaTables) -> None:
    for seq in range(1, 10):
        tables.append("messages", messages(seq, f"user {seq % 3}", 2), app_id="u", seq=seq)
    before, version = tables.scan("messages").collect(), tables.version("messages")
    assert tables.compact("messages") == 8
    after = tables.scan("messages").collect()
    assert after.equals(before.sort("project_id", "user_id", "message_id"))
    assert tables.transaction_version("messages", "u") == 9
    assert tables.compact("messages") == 0
    assert seqs(tables, version=version) == seqs(tables)


def test_too_few_small_files_are_left_alone(tables: DeltaTables) -> None:
    for seq in range(1, 8):
        tables.append("messages", messages(seq), app_id="u", seq=seq)
    assert tables.compact("messages") == 0


def test_vacuum_keeps_the_versions_that_it_is_told_to_keep(tables: DeltaTables) -> None:
    versions = [tables.append("messages", messages(seq), app_id="u", seq=seq) for seq in range(1, 10)]
    tables.compact("messages")
    stray = Path(tables.location("messages"), "part-stray.zstd.parquet")
    stray.write_bytes(b"left by a killed append")
    assert tables.vacuum("messages", keep_hours=0, keep_versions=[versions[3]]) == 6
    assert seqs(tables) == list(range(1, 10))
    assert seqs(DeltaTables(tables.uri), version=versions[3]) == [1, 2, 3, 4]
    assert not stray.exists()
    assert tables.append("messages", messages(9), app_id="u", seq=9) == tables.version("messages")


def test_vacuum_leaves_files_that_are_young_enough(tables: DeltaTables) -> None:
    for seq in range(1, 10):
        tables.append("messages", messages(seq), app_id="u", seq=seq)
    tables.compact("messages")
    assert tables.vacuum("messages", keep_hours=24, keep_versions=()) == 0
    assert len(data_files(tables)) == 10


@pytest.mark.parametrize("tear", ["entry_empty", "entry_cut", "data_short", "data_zeroed", "data_missing"])
def test_what_a_loss_of_power_tore_above_the_pin_is_dropped_and_appended_again(tables: DeltaTables, tear: str) -> None:
    pinned = tables.append("messages", messages(1), app_id="u", seq=1)
    torn = tables.append("messages", messages(2), app_id="u", seq=2)
    entry = Path(tables.location("messages"), "_delta_log", f"{torn:020}.json")
    data = data_files(tables)[-1]
    match tear:
        case "entry_empty":
            entry.write_bytes(b"")
        case "entry_cut":
            entry.write_bytes(entry.read_bytes()[:-20])
        case "data_short":
            data.write_bytes(data.read_bytes()[:100])
        case "data_zeroed":
            data.write_bytes(bytes(data.stat().st_size))
        case "data_missing":
            data.unlink()
    again = DeltaTables(tables.uri)
    assert again.heal("messages", above=pinned) == 1
    assert again.version("messages") == pinned
    again.append("messages", messages(2), app_id="u", seq=2)
    assert seqs(again) == [1, 2]


def test_a_table_torn_at_its_creation_is_made_anew(tables: DeltaTables) -> None:
    tables.append("messages", messages(1), app_id="u", seq=1)
    for entry in Path(tables.location("messages"), "_delta_log").glob("*.json"):
        entry.write_bytes(b"")
    again = DeltaTables(tables.uri)
    assert again.heal("messages", above=-1) == 2
    assert not again.exists("messages")
    again.append("messages", messages(1), app_id="u", seq=1)
    assert seqs(again) == [1]


def test_healing_leaves_whole_versions_and_pinned_ones_alone(tables: DeltaTables) -> None:
    tables.append("messages", messages(1), app_id="u", seq=1)
    newest = tables.append("messages", messages(2), app_id="u", seq=2)
    assert tables.heal("messages", above=0) == 0
    data_files(tables)[0].unlink()
    assert tables.heal("messages", above=newest) == 0
    assert tables.heal("memories", above=-1) == 0


def test_rows_above_a_seq_can_be_taken_out(tables: DeltaTables) -> None:
    tables.append("messages", messages(1), app_id="u", seq=1)
    tables.append("messages", pa.concat_tables([messages(2), messages(3)]), app_id="u", seq=3)
    assert tables.discard_after("messages", 2) == 1
    assert seqs(tables) == [1, 2]
    assert tables.discard_after("messages", 2) == 0
    assert tables.discard_after("memories", 2) == 0


def test_a_place_that_cannot_be_written_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable, match="can't be read or written"):
        DeltaTables(tmp_path / "file").append("messages", messages(1), app_id="u", seq=1)


def test_a_log_that_cannot_be_read_is_a_typed_error(tables: DeltaTables) -> None:
    tables.append("messages", messages(1), app_id="u", seq=1)
    Path(tables.location("messages"), "_delta_log", f"{1:020}.json").write_text("{")
    with pytest.raises(StoreUnavailable, match="'messages'"):
        DeltaTables(tables.uri).scan("messages").collect()


def test_a_column_that_the_contract_got_later_is_null_in_older_rows_and_kept_in_newer_ones(
    tables: DeltaTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = CONTRACTS["memories"]
    older = pa.schema([column for column in contract if column.name != "mentions"])

    def row(seq: int, mentions: tuple[str, ...]) -> pa.Table:
        claim = memory(SCOPE, message(SCOPE, seq, "said"), f"claim {seq}", mentions=mentions)
        return stamped(memories_table([claim]), "memories", seq)

    first, second = row(1, ()), row(2, ("ent_b",))
    with monkeypatch.context() as before:
        before.setitem(CONTRACTS, "memories", older)
        tables.append("memories", first.select(older.names), app_id="u", seq=1)
    again = DeltaTables(tables.uri)
    again.append("memories", second, app_id="u", seq=2)

    rows = again.scan("memories").sort("seq").select("mentions").collect()["mentions"].to_list()
    assert rows == [None, ["ent_b"]]
    assert pl.read_delta(again.location("memories")).sort("seq")["mentions"].to_list() == rows
