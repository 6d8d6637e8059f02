"""Chinese time expressions."""

from datetime import UTC, datetime

import pytest

from mindmem.core.dates import find_times

FRIDAY = datetime(2023, 10, 20, 14, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "words", "first", "precision"),
    [
        ("我昨天去了医院。", "昨天", "2023-10-19", "day"),
        ("上周五见了老师。", "上周五", "2023-10-13", "day"),
        ("三年前我搬到北京。", "三年前", "2020-01-01", "year"),
        ("会议定在2023年5月8日。", "2023年5月8日", "2023-05-08", "day"),
        ("会议定在二〇二三年五月八日。", "二〇二三年五月八日", "2023-05-08", "day"),
        ("下个月开始上班。", "下个月", "2023-11-01", "month"),
        ("去年五月结婚了。", "去年五月", "2022-05-01", "month"),
        ("两个星期前摔了一跤。", "两个星期前", "2023-10-06", "day"),
        ("我们5月8号见过。", "5月8号", "2023-05-08", "day"),
        ("大前天下雨了。", "大前天", "2023-10-17", "day"),
    ],
)
def test_an_expression_is_resolved_against_the_message(text: str, words: str, first: str, precision: str) -> None:
    (span,) = find_times(text, FRIDAY, "UTC")
    assert text[span.start : span.end] == words
    assert (span.valid_from, span.precision) == (datetime.fromisoformat(first).replace(tzinfo=UTC), precision)


def test_days_are_those_of_the_zone() -> None:
    (span,) = find_times("今天", datetime(2023, 10, 20, 17, 0, tzinfo=UTC), "Asia/Shanghai")
    assert span.valid_from == datetime(2023, 10, 20, 16, tzinfo=UTC)


def test_a_time_of_day_is_read() -> None:
    (span,) = find_times("明天下午3点半开会", FRIDAY, "UTC")
    assert span.valid_from == datetime(2023, 10, 21, 15, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["三年前端开发经验", "我住房间2024", "每周五打球", "我有三年经验", "端口9077"])
def test_lengths_habits_and_numbers_are_no_dates(text: str) -> None:
    assert find_times(text, FRIDAY, "UTC") == []


@pytest.mark.parametrize("text", ["几天前", "那天", "12024年"])
def test_vague_words_and_impossible_years_are_unresolved(text: str) -> None:
    (span,) = find_times(text, FRIDAY, "UTC")
    assert not span.resolved


def test_since_and_until() -> None:
    (since,) = find_times("我从2019年起住在上海", FRIDAY, "UTC")
    (until,) = find_times("我的护照2024年5月3日到期", FRIDAY, "UTC")
    assert (since.role, since.valid_to) == ("since", None)
    assert (until.role, until.valid_from, until.valid_to) == ("until", None, datetime(2024, 5, 4, tzinfo=UTC))


def test_without_a_reference_relative_words_stay_unresolved() -> None:
    assert [span.resolved for span in find_times("昨天，2023年5月8日", None, "UTC")] == [False, True]
