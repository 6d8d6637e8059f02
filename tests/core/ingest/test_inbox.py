"""What an inbox takes, what it sets aside, and what a second look at it adds."""

import json
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindmem.core.errors import InvalidInput, MindMemError, StoreBusy
from mindmem.core.ingest.inbox.batches import MAX_CHARACTERS, MAX_MESSAGES, Batch, Rejected, Source, read_batches
from mindmem.core.ingest.inbox.deliver import Undelivered, UndeliveredForNow, deliver
from mindmem.core.ingest.inbox.files import InboxFile, Unreadable, find_files
from mindmem.core.ingest.inbox.lines import RAW_LIMIT, read_lines
from mindmem.core.ingest.inbox.log import InboxLog
from mindmem.core.ingest.inbox.reading import CHUNK_MESSAGES, Reading
from mindmem.core.ingest.request import AddRequest
from mindmem.core.ledger.port import Ledger
from mindmem.core.ledger.sql import open_ledger
from mindmem.core.memory import Memory
from mindmem.core.records import Receipt
from mindmem.core.settings import Settings

SOURCE = Source()


def said(content: object, user: str = "ann", **more: object) -> dict[str, object]:
    return {"user_id": user, "role": "user", "content": content, **more}


def write(path: Path, *lines: object) -> Path:
    """Write JSONL; bytes and texts stand as they are."""
    raw = [
        line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    path.write_bytes(b"\n".join(raw))
    return path


def one(path: Path) -> InboxFile:
    [file] = find_files(path)
    assert isinstance(file, InboxFile)
    return file


def items(path: Path, source: Source = SOURCE) -> list[Batch | Rejected]:
    return list(read_batches(one(path), read_lines(path), source))


def taken(found: Iterable[Batch | Rejected]) -> list[object]:
    return [
        message.get("content", message.get("text"))
        for item in found
        if isinstance(item, Batch)
        for message in item.messages
    ]


def bad(found: Iterable[Batch | Rejected]) -> list[tuple[int, str]]:
    return [(item.line, item.item.reason) for item in found if isinstance(item, Rejected)]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()


class Listener:
    """Takes messages in as Memory does: a key is committed once, and what it can't take is refused whole."""

    def __init__(self, refuses: str = "", fails: Mapping[str, Exception] | None = None) -> None:
        self.heard: list[object] = []
        self.keys: set[str] = set()
        self.refuses = refuses
        self.fails = dict(fails or {})

    def add_each(self, requests: Iterable[AddRequest]) -> Iterator[Receipt | Exception]:
        for request in requests:
            outcome = self._outcome(request)
            yield outcome
            if isinstance(outcome, MindMemError) and outcome.transient:
                return

    def _outcome(self, request: AddRequest) -> Receipt | Exception:
        assert not isinstance(request.messages, str | Mapping)
        contents = [m.get("content", m.get("text")) for m in request.messages if isinstance(m, Mapping)]
        for content, error in self.fails.items():
            if content in contents:
                return error
        if self.refuses and self.refuses in contents:
            return InvalidInput(f"refused {self.refuses!r}", field="content")
        assert request.key
        if request.key in self.keys:
            return Receipt(add_id=request.key, repeated=True)
        self.keys.add(request.key)
        self.heard.extend(contents)
        return Receipt(add_id=request.key, counts={"messages": len(contents)})


def sweep(path: Path, ledger: Ledger, listener: Listener, source: Source = SOURCE) -> None:
    log = InboxLog(ledger, source)
    for file in find_files(path):
        assert isinstance(file, InboxFile)
        if log.finished(file):
            continue
        reading = Reading(file, source, log)
        complete = True
        for chunk in reading.chunks():
            try:
                reading.keep(deliver(chunk.items, listener, ledger))
            except Undelivered as error:
                reading.keep(error.delivered)
                complete = False
        reading.close(complete=complete)


# -- lines


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"user_id": "ann", "role"', "Not JSON"),
        (b'{"user_id": "ann", "role": "user", "content": "caf\xe9"}', "Not UTF-8: byte 0xe9"),
        (b'{"user_id": "ann", "role": "user", "content": NaN}', "Not JSON"),
        (b"[" * 100_000, "Not JSON"),
        (b'{"n": ' + b"9" * 5_000 + b"}", "Not JSON"),
        (b"[1, 2]", "The line is a list"),
        (b'"just a text"', "The line is a text"),
        (b"null", "The line is null"),
        (json.dumps({"user_id": "ann", "role": "user"}).encode(), "content is missing"),
        (json.dumps(said(12)).encode(), "content is a number"),
        (json.dumps(said({"type": "image"})).encode(), "content is an object"),
        (json.dumps({"user_id": "ann", "content": "who says so?"}).encode(), "role is missing: give one of user"),
        (json.dumps({"user_id": "ann", "role": "boss", "content": "I do."}).encode(), "role must be one of user"),
        (json.dumps(said("hi", role="boss")).encode(), "role must be one of"),
        (json.dumps({"role": "user", "content": "whose is it?"}).encode(), "user_id is missing"),
        (json.dumps({"user_id": 7, "role": "user", "content": "hi"}).encode(), "user_id is a number"),
        (json.dumps(said("hi", user="  ")).encode(), "user_id is not an id"),
        (json.dumps(said("hi", session_id="")).encode(), "session_id is not an id"),
        (json.dumps(said("hi", project_id="other")).encode(), "project_id can't be chosen"),
        (json.dumps(said("hi", timestamp="last tuesday")).encode(), "timestamp"),
        (json.dumps(said("hi", timezone="Mars/Base")).encode(), "timezone"),
        (json.dumps(said("hi", position=-1)).encode(), "position"),
        (json.dumps(said("hi", metadata=[1])).encode(), "metadata is a list"),
        (json.dumps(said("hi", metadata={"user_id": "bob"})).encode(), "reserved"),
        (json.dumps({"user_id": "ann", "messages": "hi"}).encode(), "messages is a text"),
        (json.dumps({"user_id": "ann", "messages": []}).encode(), "messages is empty"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_bad_line_is_set_aside_with_line_and_reason_and_the_rest_goes_through(
    tmp_path: Path, line: bytes, reason: str
) -> None:
    found = items(write(tmp_path / "chat.jsonl", said("before"), line, said("after")))
    assert taken(found) == ["before", "after"]
    [(number, why)] = bad(found)
    assert number == 2
    assert reason in why


def test_the_reason_that_reports_show_holds_nothing_of_the_line(tmp_path: Path) -> None:
    secret = "Zanzibar"
    lines = [
        said("hi", timestamp=secret), said("hi", role=secret), said("hi", timezone=secret),
        said("hi", session_id=secret * 99), said("hi", metadata={"user_id": secret}), f'{{"{secret}" {secret}',
        {secret: secret}, [secret],
    ]  # fmt: skip
    found = items(write(tmp_path / "chat.jsonl", *lines))
    kinds = [item.kind for item in found if isinstance(item, Rejected)]
    assert len(kinds) == len(lines)
    assert not [kind for kind in kinds if secret in kind]
    assert not [repr(item) for item in found if secret in repr(item)]


def test_a_message_over_the_limit_is_set_aside_and_its_raw_text_is_bounded(tmp_path: Path) -> None:
    found = items(write(tmp_path / "chat.jsonl", said("x" * 10_000_001), said("short")))
    assert taken(found) == ["short"]
    [rejected] = [item for item in found if isinstance(item, Rejected)]
    assert rejected.line == 1
    assert "10000001 characters" in rejected.item.reason
    assert len(rejected.item.raw) == RAW_LIMIT


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    with path.open("wb") as stream:
        stream.truncate(200 << 20)  # zeros, no line break
        stream.seek(0, 2)
        stream.write(b"\n" + json.dumps(said("after")).encode())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = items(path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
    assert taken(found) == ["after"]
    assert bad(found) == [(1, "The line is longer than 64 MiB.")]
    assert grown < 190, f"{grown} MiB more"


def test_what_is_kept_of_a_bad_line_can_be_stored_anywhere(tmp_path: Path) -> None:
    found = items(write(tmp_path / "chat.jsonl", b'{"a": "\xff\x00', b'["\\ud83d"]'))
    assert [item.item.raw for item in found if isinstance(item, Rejected)] == ['{"a": "\ufffd\ufffd', '["\\ud83d"]']


def test_a_lone_surrogate_in_a_message_is_no_reason_to_refuse_it(tmp_path: Path) -> None:
    found = items(write(tmp_path / "chat.jsonl", b'{"user_id": "ann", "role": "user", "content": "hi \\ud83d there"}'))
    assert len(taken(found)) == 1


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_are_no_trouble(tmp_path: Path) -> None:
    path = write(
        tmp_path / "chat.jsonl", b"\xef\xbb\xbf" + json.dumps(said("one")).encode() + b"\r", b"", b"  \r", said("two")
    )
    found = items(path)
    assert taken(found) == ["one", "two"]
    assert [item.lines for item in found if isinstance(item, Batch)] == [(1, 4)]


def test_a_file_in_utf_16_is_one_item_and_not_one_a_line(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(json.dumps(said(f"{n}")) for n in range(50)), encoding="utf-16")
    assert bad(items(path)) == [(0, "The file is UTF-16; save it as UTF-8.")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "user_id": JSON, "role": st.sampled_from(["user", "assistant", "nobody"]) | JSON, "content": JSON, "name": JSON,
        "timestamp": JSON, "timezone": JSON, "position": JSON, "session_id": JSON, "metadata": JSON, "messages": JSON,
    },
)  # fmt: skip
# A file that begins with a mark of UTF-16 is set aside as a whole.
BYTES = st.binary(max_size=40).filter(lambda raw: not raw.startswith((b"\xff\xfe", b"\xfe\xff")))
LINES = st.one_of(
    BYTES.map(lambda raw: raw.replace(b"\n", b" ")),
    JSON.map(lambda value: json.dumps(value).encode()),
    MESSAGES.map(lambda value: json.dumps(value).encode()),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=6), st.integers(0, 6))
def test_whatever_stands_in_other_lines_a_good_line_goes_through_and_each_other_is_named(
    tmp_path: Path, noise: list[bytes], at: int
) -> None:
    lines = [*noise[:at], json.dumps(said("the good line", user="only-here")).encode(), *noise[at:]]
    found = items(write(tmp_path / "chat.jsonl", *lines))
    mine = [item for item in found if isinstance(item, Batch) and item.scope.user_id == "only-here"]
    assert [batch.lines for batch in mine] == [(min(at, len(noise)) + 1,)]
    accounted = {line for item in found for line in (item.lines if isinstance(item, Batch) else (item.line,))}
    filled = {number for number, line in enumerate(lines, 1) if line.removeprefix(b"\xef\xbb\xbf").strip()}
    assert accounted in (filled, {0})


# -- files


def test_a_folder_is_read_with_its_subfolders_and_strange_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "2024" / ".hidden").mkdir(parents=True)
    for name in ("b.jsonl", "a.ndjson", "2024/c.json", "2024/.hidden/d.jsonl", ".e.jsonl", "notes.txt"):
        write(tmp_path / name, said("hi"))
    (tmp_path / "folder.jsonl").mkdir()
    assert [file.name for file in find_files(tmp_path)] == ["2024/c.json", "a.ndjson", "b.jsonl"]


@pytest.mark.parametrize("name", ["nothing", "notes.txt"])
def test_an_inbox_that_is_not_there_or_of_no_known_kind_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").write_text("hi")
    with pytest.raises(InvalidInput, match=name):
        find_files(tmp_path / name)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens but does not read")
def test_a_file_that_can_not_be_read_is_named_and_the_others_are_found(tmp_path: Path) -> None:
    write(tmp_path / "good.jsonl", said("hi"))
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "gone.jsonl")
    (tmp_path / "memory.jsonl").symlink_to("/proc/self/mem")  # opens, but does not read
    found = find_files(tmp_path)
    assert [(file.name, isinstance(file, Unreadable)) for file in found] == [
        ("good.jsonl", False),
        ("memory.jsonl", True),
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.parquet"])
def test_an_empty_file_holds_nothing_and_is_no_error(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert items(tmp_path / name) == []


def test_a_json_file_may_hold_a_list_one_conversation_or_lines(tmp_path: Path) -> None:
    as_list = tmp_path / "list.json"
    as_list.write_text(json.dumps([said("one"), 7, said("two")], indent=2))
    assert taken(items(as_list)) == ["one", "two"]
    assert [line for line, _ in bad(items(as_list))] == [2]
    single = tmp_path / "single.json"
    single.write_text(json.dumps({"user_id": "ann", "messages": [{"role": "user", "content": "one"}]}, indent=2))
    assert taken(items(single)) == ["one"]
    assert taken(items(write(tmp_path / "lines.json", said("one"), "{", said("two")))) == ["one", "two"]


def test_parquet_rows_are_lines_and_null_means_not_given(tmp_path: Path) -> None:
    rows = [said("one", name="Ann", timestamp=1_700_000_000_000), said("two", name=None, timestamp=None), said(None)]
    path = tmp_path / "chat.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    found = items(path)
    assert bad(found) == [(3, "content is missing.")]
    [batch] = [item for item in found if isinstance(item, Batch)]
    assert batch.messages == (
        {"role": "user", "content": "one", "name": "Ann", "timestamp": 1_700_000_000_000},
        {"role": "user", "content": "two"},
    )


def test_parquet_times_of_nanoseconds_are_read_as_times(tmp_path: Path) -> None:
    said_at = datetime(2024, 3, 1, 10, 0, 0, 250, tzinfo=UTC)
    table = pa.Table.from_pylist([said("one")]).append_column(
        "timestamp", pa.array([said_at], pa.timestamp("ns", "UTC"))
    )
    pq.write_table(table, tmp_path / "chat.parquet")
    [batch] = items(tmp_path / "chat.parquet")
    assert isinstance(batch, Batch)
    assert batch.messages[0]["timestamp"] == said_at


@pytest.mark.parametrize("cut", [1, 100, -9])
def test_parquet_that_is_damaged_or_cut_is_set_aside_as_a_whole(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "chat.parquet"
    pq.write_table(pa.Table.from_pylist([said("one")] * 50), path)
    path.write_bytes(path.read_bytes()[:cut])
    [(line, reason)] = bad(items(path))
    assert line == 0
    assert "Parquet" in reason


def test_parquet_that_breaks_in_the_middle_gives_the_rows_before_it(tmp_path: Path) -> None:
    path = tmp_path / "chat.parquet"
    rows = [said(f"{number:06d} {'lorem ipsum ' * 20}") for number in range(4_000)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=1_000, compression="zstd", use_dictionary=False)
    second = pq.ParquetFile(path).metadata.row_group(1).column(2)
    raw = bytearray(path.read_bytes())
    start = second.data_page_offset
    raw[start : start + second.total_compressed_size] = b"\x00" * second.total_compressed_size
    path.write_bytes(raw)
    found = items(path)
    count = len(taken(found))
    assert 0 < count <= 1_000
    [(line, reason)] = bad(found)
    assert line == count + 1
    assert f"after row {count}" in reason


# -- batches


def test_messages_are_grouped_by_owner_and_session_in_their_order(tmp_path: Path) -> None:
    lines = [
        said("a1", session_id="s"), said("b1", user="bob"), said("a2", session_id="s"), said("a3", session_id="t"),
        said("b2", user="bob"), said("b3", user="bob", metadata={"from": "mail"}),
    ]  # fmt: skip
    found = items(write(tmp_path / "chat.jsonl", *lines))
    groups = [(b.scope.user_id, b.scope.session_id, taken([b]), b.lines) for b in found if isinstance(b, Batch)]
    assert groups == [
        ("ann", "s", ["a1", "a2"], (1, 3)),
        ("bob", "", ["b1", "b2"], (2, 5)),
        ("ann", "t", ["a3"], (4,)),
        ("bob", "", ["b3"], (6,)),
    ]


def test_a_line_may_hold_a_whole_conversation_and_one_bad_message_of_it_is_set_aside(tmp_path: Path) -> None:
    conversation = {
        "user_id": "ann", "session_id": "s", "timezone": "Europe/Oslo", "metadata": {"from": "mail"},
        "messages": [
            {"role": "user", "content": "one"}, {"role": "user"}, "three", {"role": "assistant", "content": "four"},
        ],
    }  # fmt: skip
    found = items(write(tmp_path / "chat.jsonl", conversation))
    assert bad(found) == [(1, "content is missing.")]
    [batch] = [item for item in found if isinstance(item, Batch)]
    assert taken([batch]) == ["one", "three", "four"]
    assert {message["timezone"] for message in batch.messages} == {"Europe/Oslo"}
    assert (batch.scope.session_id, batch.metadata) == ("s", {"from": "mail"})


def test_lines_without_an_owner_go_to_the_default_user_and_others_keep_theirs(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", {"role": "user", "content": "mine"}, said("his", user="bob"))
    owners = [item.scope.user_id for item in items(path, Source(user_id="ann")) if isinstance(item, Batch)]
    assert owners == ["ann", "bob"]


def test_batches_are_bounded_in_messages_and_in_characters(tmp_path: Path) -> None:
    many = items(write(tmp_path / "many.jsonl", *(said(f"{n}") for n in range(MAX_MESSAGES * 2 + 1))))
    assert [len(taken([batch])) for batch in many] == [MAX_MESSAGES, MAX_MESSAGES, 1]
    long = items(
        write(tmp_path / "long.jsonl", said("x" * MAX_CHARACTERS), said("y"), said("z" * (MAX_CHARACTERS - 1)))
    )
    assert [len(taken([batch])) for batch in long] == [1, 2]


@pytest.mark.slow
def test_a_file_of_200_000_lines_is_read_whole_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "big.jsonl"
    with path.open("w") as stream:
        for number in range(200_000):
            stream.write(json.dumps(said(f"{number} {'lorem ipsum ' * 30}", user=f"u{number % 7_000}")) + "\n")
    code = f"""
import resource
from pathlib import Path
from mindmem.core.ingest.inbox.batches import Source, read_batches
from mindmem.core.ingest.inbox.files import find_files
from mindmem.core.ingest.inbox.lines import read_lines
[file] = find_files(Path({str(path)!r}))
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = sum(len(batch.messages) for batch in read_batches(file, read_lines(file.path), Source()))
print(count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) >> 10)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=280)
    count, grown = map(int, done.stdout.split())
    assert count == 200_000
    assert grown < 160, f"{grown} MiB for a file of {path.stat().st_size >> 20}"


# -- what a second look adds


def test_a_second_run_over_the_same_file_adds_nothing_under_any_name(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener()
    path = write(tmp_path / "chat.jsonl", said("hi"))
    sweep(tmp_path, ledger, listener)
    path.rename(path.with_name("renamed.jsonl"))
    sweep(tmp_path, ledger, listener)
    assert listener.heard == ["hi"]


def test_the_same_file_for_another_user_or_project_is_taken(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener()
    path = write(tmp_path / "chat.jsonl", {"role": "user", "content": "hi"})
    for source in (Source(user_id="ann"), Source(user_id="bob"), Source("other", user_id="ann"), Source(user_id="ann")):
        sweep(path, ledger, listener, source)
    assert listener.heard == ["hi", "hi", "hi"]


LOG = [said(f"message {number}", session_id=f"s{number % 3}") for number in range(30)]


@pytest.mark.parametrize(
    "changed",
    [
        [*LOG, said("new")],
        [said("new"), *LOG],
        [*LOG[:10], said("new"), *LOG[10:]],
        [*LOG[:10], said("new"), *LOG[11:]],
        [*LOG[:3], said("new")],
    ],
    ids=["appended", "prepended", "inserted", "replaced", "truncated"],
)
def test_of_a_changed_file_only_what_is_new_is_added(tmp_path: Path, ledger: Ledger, changed: list[object]) -> None:
    listener = Listener()
    sweep(write(tmp_path / "chat.jsonl", *LOG), ledger, listener)
    listener.heard.clear()
    sweep(write(tmp_path / "chat.jsonl", *changed), ledger, listener)
    assert listener.heard == ["new"]


def test_equal_lines_are_different_utterances_and_stay_so_when_the_file_grows(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener()
    sweep(write(tmp_path / "chat.jsonl", said("ok"), said("ok")), ledger, listener)
    assert listener.heard == ["ok", "ok"]
    sweep(write(tmp_path / "chat.jsonl", said("ok"), said("ok"), said("ok")), ledger, listener)
    assert listener.heard == ["ok", "ok", "ok"]


def test_equal_files_of_different_names_hold_their_own_utterances_where_they_differ(
    tmp_path: Path, ledger: Ledger
) -> None:
    listener = Listener()
    write(tmp_path / "monday.jsonl", said("ok"), said("sunny"))
    write(tmp_path / "tuesday.jsonl", said("ok"), said("rainy"))
    sweep(tmp_path, ledger, listener)
    assert listener.heard == ["ok", "sunny", "ok", "rainy"]


def test_a_run_that_was_killed_before_it_remembered_anything_doubles_nothing(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener()
    lines = [said(f"{number}") for number in range(CHUNK_MESSAGES + MAX_MESSAGES)]
    path = write(tmp_path / "chat.jsonl", *lines)
    first = next(Reading(one(path), SOURCE, InboxLog(ledger, SOURCE)).chunks())
    deliver(first.items, listener, ledger)
    sweep(write(path, *lines, said("grown meanwhile")), ledger, listener)
    assert listener.heard == [*(line["content"] for line in lines), "grown meanwhile"]


def test_a_bad_line_is_in_quarantine_once_however_often_and_wherever_it_is_read(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener()
    sweep(write(tmp_path / "chat.jsonl", said("one"), "{bad"), ledger, listener)
    sweep(write(tmp_path / "chat.jsonl", said("one"), said("two"), "{bad"), ledger, listener)
    [item] = ledger.quarantined("default")
    assert (item.origin, item.line, item.raw) == ("chat.jsonl", 2, "{bad")


def test_two_equal_bad_lines_are_two_items(tmp_path: Path, ledger: Ledger) -> None:
    sweep(write(tmp_path / "chat.jsonl", "{bad", "{bad"), ledger, Listener())
    assert sorted(item.line for item in ledger.quarantined("default")) == [1, 2]


# -- delivering


def test_a_message_that_memory_refuses_is_set_aside_alone(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener(refuses="5")
    path = write(tmp_path / "chat.jsonl", *(said(f"{number}") for number in range(9)))
    done = deliver(items(path), listener, ledger)
    assert listener.heard == [f"{number}" for number in range(9) if number != 5]
    assert [(item.line, item.reason) for item in done.set_aside] == [(6, "content can't be taken.")]
    [item] = ledger.quarantined("default")
    assert (item.line, item.reason, item.scope.user_id) == (6, "refused '5'", "ann")
    assert json.loads(item.raw) == {"user_id": "ann", "role": "user", "content": "5"}


def test_a_batch_that_fails_does_not_stop_the_others_and_is_taken_by_the_next_run(
    tmp_path: Path, ledger: Ledger
) -> None:
    listener = Listener(fails={"b": RuntimeError("quotes b, a secret")})
    path = write(
        tmp_path / "chat.jsonl", said("a", session_id="1"), said("b", session_id="2"), said("c", session_id="3")
    )
    with pytest.raises(Undelivered) as caught:
        deliver(items(path), listener, ledger)
    assert listener.heard == ["a", "c"]
    assert caught.value.delivered.messages == 2
    assert "secret" not in str(caught.value)
    assert [(gap.place, gap.code) for gap in caught.value.failures] == [("line 2", "RuntimeError")]
    sweep(path, ledger, listener)
    listener.fails.clear()
    sweep(path, ledger, listener)
    assert listener.heard == ["a", "c", "b"]


def test_an_error_that_may_pass_leaves_the_rest_to_the_retry(tmp_path: Path, ledger: Ledger) -> None:
    listener = Listener(fails={"b": StoreBusy("another process writes")})
    path = write(
        tmp_path / "chat.jsonl", said("a", session_id="1"), said("b", session_id="2"), said("c", session_id="3")
    )
    with pytest.raises(UndeliveredForNow, match="line 2 stay pending: store_busy"):
        deliver(items(path), listener, ledger)
    assert listener.heard == ["a"]
    listener.fails.clear()
    assert deliver(items(path), listener, ledger).repeated == 1
    assert listener.heard == ["a", "b", "c"]


def test_messages_that_were_taken_are_not_taken_again_when_the_time_zone_setting_has_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", said("I live in Oslo.", timestamp="2024-03-01T10:00:00"))
    given = Settings(home=tmp_path / "home", embedder="none")
    for zone, repeated in (("UTC", 0), ("Asia/Tokyo", 1)):
        with Memory(settings=given.model_copy(update={"timezone": zone})) as memory:
            done = deliver(items(path), memory, memory.services.ledger, run_id=zone)
            assert (done.messages, done.repeated) == (1, repeated)
            assert memory.status().last_seq == 1
