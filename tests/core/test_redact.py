"""Secrets are cut out of text of every script; numbers and words that only look like secrets stay."""

import time

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
        ("pw: Tr0ub4dor&3", "password"),
        ("pass: Sun-Base-88", "password"),
        ("DB_PASSWORD=quiet-Lake-4", "password"),
        ("wifi key is Frog-Lake-77", "api_key"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "api_key"),
        ("curl -u bob:Curl-Pw-2 https://example.org", "password"),
        ("cvv 123", "pin"),
        ("The CVC is 1234.", "pin"),
        ("验证码 482913", "pin"),
        ("验证码是482913", "pin"),
        ("验证码：482913，别外传", "pin"),
        ("密码 hunter22", "password"),
        ("Passwort: Sonne-12", "password"),
        ("mot de passe : Soleil-12", "password"),
        ("mi contraseña: sol12345", "password"),
        ("пароль: Солнце12", "password"),
        ("パスワード: Sun123", "password"),
        ("パスワードはSun123", "password"),
        ("비밀번호: Sun123", "password"),
        ("card 4111 1111 1111 1111 12/26", "card_number"),
        ("银行卡6222 0212 3456 7890 128", "card_number"),
        ("身份证11010519491231002X", "id_number"),
        ("pay to GB82 WEST 1234 5698 7654 32 IN TIME", "iban"),
        ("de89370400440532013000", "iban"),
        ("my SSN is 123-45-6789", "ssn"),
        ("123456789 is his social security number", "ssn"),
        ("The PIN code of Kothrud is 411038", "pin"),  # pins look the same: rather a place's code too few
        ("Bearer eyJhbGciOiJI.eyJzdWIiOiIx.abcdefghijk", "token"),
    ],
)
def test_a_secret_is_replaced_by_its_kind(text: str, kind: str) -> None:
    clean, secrets = redact(text)
    assert [secret.kind for secret in secrets] == [kind]
    assert f"[redacted {kind}]" in clean
    assert text[secrets[0].start : secrets[0].end] not in clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("My password is: correct horse battery staple", "My password is: [redacted password]"),
        ("My password is: red lake. I live in Oslo.", "My password is: [redacted password]. I live in Oslo."),
        ("my passphrase is: the quick brown fox jumps", "my passphrase is: [redacted password]"),
        ('the password is "purple monkey dishwasher", ok', 'the password is "[redacted password]", ok'),
        ("password: hunter and the user is bob", "password: [redacted password] and the user is bob"),
        (
            "The wifi password was changed, it's now Blue-Horse-9.",
            "The wifi password was changed, it's now [redacted password].",
        ),
        ("The password was reset to Blue-Horse-9", "The password was reset to [redacted password]"),
        ("The password was changed, now all works", "The password was changed, now all works"),
    ],
)
def test_a_password_ends_with_its_clause_and_what_is_said_of_it_stays(text: str, clean: str) -> None:
    assert redact(text)[0] == clean
    assert redact(clean) == (clean, ())


@pytest.mark.parametrize(
    "text",
    [
        "the password is required",
        "The password is required for all accounts",
        "Password: required for login",
        "password: not set yet",
        "pass the salt",
        "Pass: 12/14",
        "pass: all tests",
        "key point: tests",
        "the wifi key is under the mat",
        "the secret is patience",
        "pin the tab",
        "token count: 1200",
        "order number 123-45-6789",
        "id 110105194912310021",
        "GB82 WEST 1234 5698 7654 33",
        "on 2024-03-05 at 10:30",
        "密码 app",
        "contraseña es necesaria",
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


@pytest.mark.parametrize(
    "unit",
    [
        "password is ", "password: aa bb cc ", "password for a ", "wifi password was changed ", "4111 ", "GB82 ",
        "curl -u ", "密码 ", "4", "a", " ", "ssn 123-45-678 ",
    ],
)  # fmt: skip
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begun = time.process_time()
        redact(text)
        return time.process_time() - begun

    assert min(seconds(80_000) for _ in range(2)) < 24 * max(seconds(10_000), 0.002)
