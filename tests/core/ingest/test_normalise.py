import json
from datetime import UTC, datetime

import pytest

from mindmem.core.errors import InvalidInput
from mindmem.core.ingest.normalise import Origin, check_metadata, normalise
from mindmem.core.records import Scope

SCOPE = Scope(user_id="ann")


def messages(given, scope=SCOPE, **options):
    return normalise(given, scope, zone="UTC", add_id=options.pop("add_id", "add_1"), **options).messages


def test_a_text_is_a_message_of_the_user():
    [said] = messages("I live in Oslo.")
    assert (said.role, said.content, said.name, said.timestamp) == ("user", "I live in Oslo.", "", None)


def test_every_form_of_the_wire_is_read():
    given = [
        {"role": "assistant", "content": "Hi", "timestamp": 1714564800000},
        {"text": "a note"},
        {"url": "https://example.org/a"},
        {"file_name": "plan.pdf", "file_path": "docs/plan.pdf", "file_type": "application/pdf"},
    ]
    said = messages(given)
    assert [one.content for one in said] == ["Hi", "a note", "https://example.org/a", "plan.pdf"]
    assert said[0].timestamp == datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert said[3].caption == "application/pdf"
    assert [one.position for one in said] == [0, 1, 2, 3]


def test_nul_and_lone_surrogates_are_stripped_and_all_else_is_verbatim():
    [said] = messages(" a\x00b \ud83d c\ud83d\ude00 我\u200b  ")
    assert said.content == " ab  c\U0001f600 我\u200b  "
    said.content.encode()


def test_blank_messages_are_kept_out_and_named():
    result = normalise(
        ["", " \n\t", "\u200b", "hi", {"role": "user", "content": "", "caption": "a cat"}],
        SCOPE,
        zone="UTC",
        add_id="a",
    )
    assert [(one.content, one.caption) for one in result.messages] == [("hi", ""), ("", "a cat")]
    assert [skip.reason for skip in result.skips] == ["blank"] * 3


@pytest.mark.parametrize(
    ("given", "place", "words"),
    [
        ([{"role": "user"}], "messages[0].content", "missing"),
        (["ok", {"role": "user", "content": None}], "messages[1].content", "NoneType"),
        ([{"role": "user", "content": 5}], "messages[0].content", "int 5"),
        ([{"role": "user", "content": ["a"]}], "messages[0].content[0]", "part of type text"),
        ([{"role": "wizard", "content": "a"}], "messages[0].role", "'wizard'"),
        ([{"content": "a"}], "messages[0].role", "missing"),
        ([{"role": "user", "content": "a", "name": 7}], "messages[0].name", "int 7"),
        ([{"role": "user", "content": "a", "timestamp": "soon"}], "messages[0].timestamp", "'soon'"),
        ([{"role": "user", "content": "a", "timestamp": [1]}], "messages[0].timestamp", "list"),
        ([{"role": "user", "content": "a", "timezone": "Mars/Base"}], "messages[0].timezone", "'Mars/Base'"),
        ([{"role": "user", "content": "a", "position": -1}], "messages[0].position", "-1"),
        ([{"role": "user", "content": "a", "position": True}], "messages[0].position", "bool"),
        ([{"role": "user", "content": "a", "user_id": "bob"}], "messages[0].user_id", "beside"),
        ([{"role": "user", "content": "a", "session_id": ""}], "messages[0].session_id", "empty"),
        ([42], "messages[0]", "int 42"),
        ([b"raw"], "messages[0]", "bytes"),
        ([], "messages", "empty"),
        (5, "messages", "int 5"),
        (b"raw", "messages", "bytes"),
        (None, "messages", "NoneType"),
    ],
)
def test_what_is_not_of_the_form_is_refused_with_its_place(given, place, words):
    with pytest.raises(InvalidInput) as caught:
        messages(given)
    assert caught.value.field == place
    assert words in str(caught.value)


def test_an_error_shows_a_bounded_part_of_what_came():
    with pytest.raises(InvalidInput) as caught:
        messages([{"role": "x" * 10_000, "content": "a"}])
    assert len(str(caught.value)) < 400


def test_a_message_may_be_as_long_as_allowed_and_no_longer():
    assert len(messages("x" * 50, max_chars=50)[0].content) == 50
    with pytest.raises(InvalidInput, match="51 characters; at most 50"):
        messages("x" * 51, max_chars=50)


def test_an_integer_user_id_is_refused_when_the_scope_is_made():
    with pytest.raises(InvalidInput) as caught:
        Scope.of(7)  # type: ignore[arg-type]
    assert caught.value.field == "user_id"


def test_naive_times_are_local_to_the_messages_own_zone():
    given = {"role": "user", "content": "a", "timestamp": "2024-05-01 12:00"}
    [utc], [tokyo] = messages([given]), messages([{**given, "timezone": "Asia/Tokyo"}])
    assert (utc.timestamp - tokyo.timestamp).total_seconds() == 9 * 3600
    assert (utc.timezone, tokyo.timezone) == ("UTC", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("own", "add_zone", "stamp", "zone"),
    [
        ("Asia/Tokyo", "Europe/Berlin", "2024-05-01T12:00-08:00", "Asia/Tokyo"),
        ("-03:30", None, "2024-05-01T12:00", "-03:30"),
        (None, "Europe/Berlin", "2024-05-01T12:00-08:00", "Europe/Berlin"),
        (None, "+05:30", "2024-05-01T12:00Z", "+05:30"),
        (None, None, "2024-05-01T12:00-08:00", "-08:00"),
        (None, None, "2024-05-01T12:00Z", "UTC"),
        (None, None, 1714564800000, "UTC"),
        (None, None, None, "UTC"),
    ],
)
def test_the_zone_is_the_messages_else_the_adds_else_the_offset_else_the_projects(own, add_zone, stamp, zone):
    given = {"role": "user", "content": "a", "timestamp": stamp, "timezone": own}
    assert messages([given], add_zone=add_zone)[0].timezone == zone


def test_a_zone_of_the_add_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="'Mars/Base'"):
        messages(["a"], add_zone="Mars/Base")


def test_the_same_utterance_of_a_session_keeps_its_id_over_adds():
    said = {"role": "user", "content": "I live in Oslo.", "timestamp": 1714564800000}
    session = Scope(user_id="ann", session_id="s1")
    [first], [again] = messages([said], session, add_id="a"), messages([said], session, add_id="b")
    assert first.message_id == again.message_id
    [later] = messages([{**said, "timestamp": 1714564800001}], session)
    assert later.message_id != first.message_id


def test_an_utterance_without_a_place_is_new_in_each_add():
    [first], [again] = messages("I live in Oslo.", add_id="a"), messages("I live in Oslo.", add_id="b")
    assert first.message_id != again.message_id


def test_equal_utterances_of_one_add_are_two():
    said = {"role": "user", "content": "ok", "timestamp": 1714564800000}
    assert len({one.message_id for one in messages([said, said], Scope(user_id="ann", session_id="s"))}) == 2
    assert len({one.message_id for one in messages(["ok", "ok"])}) == 2


def test_a_line_of_a_file_is_known_by_file_and_line():
    def read(lines, add_id):
        return normalise(["a", "b"], SCOPE, zone="UTC", add_id=add_id, origin=Origin("f00", lines))

    first, again, moved = read((1, 2), "x"), read((1, 2), "y"), read((1, 3), "z")
    assert [one.message_id for one in first.messages] == [one.message_id for one in again.messages]
    assert first.messages[1].message_id != moved.messages[1].message_id
    assert first.placed


def test_only_an_add_whose_messages_all_have_a_place_is_known_by_them():
    session = Scope(user_id="ann", session_id="s")
    placed = {"role": "user", "content": "a", "position": 3}
    assert normalise([placed], session, zone="UTC", add_id="a").placed
    assert not normalise([placed, "b"], session, zone="UTC", add_id="a").placed
    assert not normalise([placed], SCOPE, zone="UTC", add_id="a").placed


def test_positions_go_on_after_one_that_is_given():
    said = messages([{"role": "user", "content": "a", "position": 7}, "b"], Scope(user_id="ann", session_id="s"))
    assert [one.position for one in said] == [7, 8]


def test_a_message_may_name_its_session_only_where_the_add_has_none():
    given = [{"role": "user", "content": "a", "session_id": "s2"}]
    assert messages(given)[0].scope.session_id == "s2"
    with pytest.raises(InvalidInput, match="session_id"):
        messages(given, Scope(user_id="ann", session_id="s1"))


@pytest.mark.parametrize(
    "name", ["user_id", "project_id", "app_id", "agent_id", "session_id", " User_ID ", "memory_id"]
)
def test_metadata_cannot_override_the_owner(name):
    with pytest.raises(InvalidInput) as caught:
        check_metadata({"topic": "x", name: "bob"})
    assert caught.value.field == f"metadata.{name}"


def test_other_metadata_is_kept_as_plain_json():
    given = {"topic": "trip", "tags": ["a", "b\ud83d"], "depth": {"n": 1, "user_id": "inner"}, "none": None}
    assert check_metadata(given) == {
        "topic": "trip",
        "tags": ["a", "b"],
        "depth": {"n": 1, "user_id": "inner"},
        "none": None,
    }
    json.dumps(check_metadata(given), ensure_ascii=False).encode()
    assert check_metadata(None) == {}


@pytest.mark.parametrize("value", [object(), {1, 2}, float("nan"), b"raw", datetime(2024, 5, 1, tzinfo=UTC)])
def test_metadata_that_is_not_json_is_refused_by_key(value):
    with pytest.raises(InvalidInput) as caught:
        check_metadata({"good": 1, "bad": value})
    assert caught.value.field == "metadata.bad"


@pytest.mark.parametrize("given", [["a"], "text", 5, {1: "a"}, {"": "a"}, {"big": "x" * 70_000}])
def test_metadata_of_another_form_or_size_is_refused(given):
    with pytest.raises(InvalidInput):
        check_metadata(given)
