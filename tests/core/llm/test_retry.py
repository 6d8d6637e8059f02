"""What is tried again, after how long, and what is said of an endpoint that fails."""

import asyncio
import re
import ssl
from datetime import UTC, datetime

import pytest

from mindmem.core.errors import ModelUnavailable
from mindmem.core.llm.retry import (
    Complaint,
    Fault,
    Patience,
    Place,
    complaint,
    harmless,
    persist,
    refused,
    tries,
    unanswered,
)
from mindmem.core.settings import Settings

NOW = datetime(2025, 3, 1, 12, 0, tzinfo=UTC)
PLACE = Place("https://user:word@gateway.example/v1?token=abc", "small")
PASSING = Fault("It is busy.", transient=True)
LASTING = Fault("It says no.", transient=False)


def patience(**given: float) -> Patience:
    return Patience(**{"retries": 4, "seconds": 1000.0, **given})  # type: ignore[arg-type]  # retries is an int above


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_transient(status: int) -> None:
    assert refused(PLACE, status, None, {}, now=NOW).transient


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
def test_a_status_that_stays_is_terminal_and_names_a_variable_or_the_account(status: int) -> None:
    fault = refused(PLACE, status, None, {}, now=NOW)
    assert not fault.transient
    assert "MINDMEM_" in fault.why or "credit" in fault.why


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": None}},
        {"error": {"message": "Quota", "code": "insufficient_quota"}},
        {"code": "billing_hard_limit_reached", "message": "Limit"},
    ],
)
def test_a_429_for_want_of_money_is_terminal(body: object) -> None:
    assert not refused(PLACE, 429, body, {"retry-after": "1"}, now=NOW).transient


def test_a_429_for_a_request_that_no_minute_has_room_for_is_terminal_and_says_what_makes_it_smaller() -> None:
    said = {
        "error": {"message": "Request too large for small (TPM): limit 1, requested 2", "code": "rate_limit_exceeded"}
    }
    fault = refused(PLACE, 429, said, {"retry-after": "1"}, now=NOW)
    assert not fault.transient
    assert "SOFT_TOKENS" in fault.why


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "Sat, 01 Mar 2025 12:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 01 Mar 2025 11:00:00 GMT"}, 0),
        ({"retry-after": "60", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_an_endpoint_asks_for_is_read_in_seconds_as_a_date_and_in_milliseconds(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert refused(PLACE, 429, None, headers, now=NOW).wait == seconds


def test_an_address_is_shown_without_its_credentials_and_query() -> None:
    assert str(PLACE) == "Model 'small' at https://gateway.example/v1"


@pytest.mark.parametrize("part", ["LLM", "EMBED", "RERANK"])
def test_every_variable_that_an_error_names_is_a_setting(part: str) -> None:
    place = Place("https://e.example/v1", "small", part)
    told = [refused(place, status, None, {}, now=NOW).why for status in (400, 401, 404, 413)]
    told += [refused(place, 404, "no such model", {}, now=NOW).why]
    told += [unanswered(place, error, 1).why for error in (TimeoutError(), ConnectionResetError())]
    names = {name for why in told for name in re.findall(r"MINDMEM_\w+", why)}
    assert len(names) >= 5
    for name in names:
        group, field = name.removeprefix("MINDMEM_").lower().split("__")
        assert field in type(getattr(Settings(), group)).model_fields, name


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ({"error": {"message": "m", "code": "c", "type": "t", "param": "p"}}, Complaint("m", "c", "t", "p")),
        ({"message": "m", "type": None, "code": 400}, Complaint("m", "400")),
        ({"error": "a plain string"}, Complaint("a plain string")),
        ({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs"}]}, Complaint("body.seed: Extra inputs")),
        ("a text", Complaint("a text")),
        ("<html>a page</html>", Complaint()),
        ([1], Complaint()),
        (None, Complaint()),
    ],
)
def test_complaints_are_read_in_the_forms_of_several_servers(body: object, read: Complaint) -> None:
    assert complaint(body) == read


def test_an_endpoints_words_are_shown_unless_they_repeat_what_was_sent() -> None:
    sent = "Remember that my door code is 4711 please."
    shown = refused(PLACE, 400, {"message": "max_tokens is too large"}, {}, now=NOW, sent=sent)
    hidden = refused(PLACE, 400, {"message": "Invalid input 'my  door code is 4711'"}, {}, now=NOW, sent=sent)
    assert "max_tokens is too large" in shown.why
    assert "4711" not in hidden.why


@pytest.mark.parametrize("words", ["key sk-1234567890 is wrong", "key ***34567890 is wrong", "bad \\u0048ello"])
def test_words_that_hold_the_key_or_escapes_are_not_shown(words: str) -> None:
    assert harmless(words, "hello", "sk-1234567890") == ""


def test_short_messages_count_as_repeated_too() -> None:
    assert harmless("input 'PIN 1234' is bad", "PIN 1234") == ""


def test_an_untrusted_certificate_is_terminal_and_a_lost_connection_is_not() -> None:
    distrust = OSError("no")
    distrust.__cause__ = ssl.SSLCertVerificationError("self-signed")
    assert not unanswered(PLACE, distrust, 1).transient
    assert unanswered(PLACE, ConnectionResetError(), 1).transient
    assert "MINDMEM_LLM__TIMEOUT" in unanswered(PLACE, TimeoutError(), 1).why


def test_waits_double_up_to_the_longest_and_half_of_them_is_chance() -> None:
    asked = patience(retries=9)
    assert [asked.wait(PASSING, failed, 0, lambda: 1.0) for failed in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert asked.wait(PASSING, 1, 0, lambda: 0.0) == 0.25


def test_a_wait_is_never_shorter_than_asked_and_one_too_long_ends_the_call() -> None:
    assert patience().wait(Fault("", True, wait=20), 1, 0, lambda: 0.5) == 20
    assert patience().wait(Fault("", True, wait=3600), 1, 0, lambda: 0.5) is None


def test_no_wait_goes_beyond_the_deadline_of_the_call() -> None:
    assert patience(seconds=10).wait(Fault("", True, wait=6), 1, 3, lambda: 0.5) == 6
    assert patience(seconds=10).wait(Fault("", True, wait=6), 1, 5, lambda: 0.5) is None


class Attempts:
    """Gives one outcome a try."""

    def __init__(self, *outcomes: str | Fault) -> None:
        self.outcomes = list(outcomes)
        self.made = 0

    async def __call__(self) -> str | Fault:
        self.made += 1
        return self.outcomes[min(self.made, len(self.outcomes)) - 1]


async def no_time(seconds: float) -> None:
    await asyncio.sleep(0)


async def test_the_first_value_ends_the_tries() -> None:
    attempts = Attempts(PASSING, PASSING, "done")
    assert await persist(attempts, patience(), sleep=no_time) == ("done", 2)


async def test_retries_are_bounded_and_the_last_fault_is_raised_as_transient() -> None:
    attempts = Attempts(PASSING)
    with pytest.raises(ModelUnavailable, match=r"It is busy\. Given up after 5 tries\.") as caught:
        await persist(attempts, patience(), sleep=no_time)
    assert caught.value.transient
    assert attempts.made == 5


async def test_a_terminal_fault_is_raised_at_once() -> None:
    attempts = Attempts(LASTING)
    with pytest.raises(ModelUnavailable, match="It says no") as caught:
        await persist(attempts, patience(), sleep=no_time)
    assert not caught.value.transient
    assert attempts.made == 1


async def test_waits_told_to_an_injected_sleep_count_towards_the_deadline() -> None:
    attempts = Attempts(Fault("Busy.", True, wait=40))
    with pytest.raises(ModelUnavailable):
        await persist(attempts, patience(seconds=100), sleep=no_time)
    assert attempts.made == 3


async def test_a_surrounding_limit_of_tries_is_inherited_by_tasks_and_only_lowered() -> None:
    attempts = Attempts(PASSING)
    with tries(2), tries(5), pytest.raises(ModelUnavailable):
        await asyncio.create_task(persist(attempts, patience(), sleep=no_time))  # type: ignore[arg-type]  # a coroutine
    assert attempts.made == 2
    with pytest.raises(ModelUnavailable):
        await persist(attempts, patience(), sleep=no_time)
    assert attempts.made == 7
