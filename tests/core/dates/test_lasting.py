"""How long something holds from when it is said: an end; of the past, of a habit or from another moment: none."""

from datetime import UTC, datetime

import pytest

from mindmem.core.dates import find_times

NOON = datetime(2024, 3, 15, 12, tzinfo=UTC)


def _ends(text: str) -> list[datetime | None]:
    return [span.valid_to for span in find_times(text, NOON, "UTC") if span.role == "until"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("The coupon is valid for two weeks.", (2024, 3, 29)),
        ("The pass is good for 30 days.", (2024, 4, 14)),
        ("I'm on leave for three weeks.", (2024, 4, 5)),
        ("The licence is valid for a year.", (2025, 3, 15)),
        ("The trial runs for 14 days.", (2024, 3, 29)),
        ("The offer ends in three days.", (2024, 3, 18)),
        ("The exhibition closes on March 20.", (2024, 3, 20)),
        ("The road is closed until Friday.", (2024, 3, 22)),
        ("优惠券有效期两周。", (2024, 3, 29)),
        ("优惠券有效期为30天。", (2024, 4, 14)),
        ("会员有效期一年。", (2025, 3, 15)),
        ("优惠券三天内有效。", (2024, 3, 18)),
        ("优惠券还有两天到期。", (2024, 3, 17)),
        ("展览3月20日闭幕。", (2024, 3, 20)),
    ],
)
def test_what_holds_for_so_long_ends_with_that_day(text: str, last: tuple[int, int, int]) -> None:
    [end] = _ends(text)
    assert end is not None
    assert (end - datetime(*last, tzinfo=UTC)).days == 1


@pytest.mark.parametrize(
    "text",
    [
        "The ticket is valid for two weeks from purchase.",
        "The visa was valid for two weeks.",
        "The shop had been closed for two days.",
        "I waited for two weeks.",
        "The marathon runs for two hours each year.",
        "The exhibition closed on March 3.",
        "我还有两天就回来了。",
        "展览昨天结束了。",
        "有效的方法有三个月。",
    ],
)
def test_stories_and_other_beginnings_have_no_end(text: str) -> None:
    assert _ends(text) == []
