"""Secrets are cut out of text of every script; numbers and words that only look like secrets stay."""

import pytest

from mindmem.core.redact import holds_mark, redact


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("key sk-proj-abcdefghijklmnop1234567890 works", "api_key"),
        ("密钥sk-abcdefghij1234567890ABCD在这里", "api_key"),
        ("aws AKIAIOSFODNN7EXAMPLE", "api_key"),
        ("push with ghp_abcdefghijklmnopqrstuvwxyz0123456789", "api_key"),
        ("my card is 4111 1111 1111 1111 ok", "card_number"),
        ("卡号6222021234567890128，谢谢", "card_number"),
        ("password: s3cret!", "password"),
        ("the password for the wifi is correcthorse", "password"),
        ("I changed my password to Foo123", "password"),
        ("我的密码是hunter2，别告诉别人", "password"),
        ("postgres://bob:pa55w0rd@db/x", "url_password"),
        ("my pin is 4821", "pin"),
        ("API_KEY=abcd1234efgh", "api_key"),
        ("Bearer eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijk", "token"),
    ],
)
def test_a_secret_is_replaced_by_its_kind(text: str, kind: str) -> None:
    clean, secrets = redact(text)
    assert [secret.kind for secret in secrets] == [kind]
    assert f"[redacted {kind}]" in clean
    assert text[secrets[0].start : secrets[0].end] not in clean


@pytest.mark.parametrize(
    "text",
    [
        "order 4111 1111 1111 1112",
        "at 1683554160000",
        "password is required",
        "the token count is 500",
        "the secret: love",
        "call +47 400 12 345 or 555-2019",
        "Enter your password to confirm the change",
        "密码很重要",
        "I live in Oslo",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == (text, ())


def test_redacting_twice_changes_nothing_more() -> None:
    once, _ = redact("password: hunter2, card 4111111111111111")
    assert redact(once) == (once, ())
    assert holds_mark(once)
    assert not holds_mark("no secret here")
