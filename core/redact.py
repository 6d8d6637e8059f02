"""Secrets in text: keys, tokens, card numbers and passwords are cut out before anything is stored."""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Secret", "holds_mark", "redact"]


@dataclass(frozen=True, slots=True)
class Secret:
    """Characters ``start`` to ``end`` (half-open) of the original text, and what kind of secret stood there."""

    start: int
    end: int
    kind: str


_OPEN, _CLOSE = "[redacted ", "]"
# Letters of every script count as \w, so a key beside Chinese text has no \b: borders are ASCII only.
_LEFT, _RIGHT = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"
_KEYS: Final = re.compile(
    rf"(?P<private_key>-----BEGIN [A-Z ]{{0,20}}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{{0,10000}}"
    rf"(?:-----END [A-Z ]{{0,20}}PRIVATE KEY-----)?)"
    rf"|(?P<url_password>(?<=://)[^\s/:@]{{1,80}}:[^\s/@]{{1,200}}(?=@))"
    rf"|{_LEFT}(?P<token>eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{8,}})"
    rf"|{_LEFT}(?P<api_key>(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_]){{0,4}}[A-Za-z0-9_-]{{16,}}|(?:AKIA|ASIA)[A-Z0-9]{{16}}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abeprs]-[A-Za-z0-9-]{10,}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}"
    rf"|SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}|dop_v1_[a-f0-9]{{40,}}|key-[a-f0-9]{{32}}){_RIGHT}"
)
_CARD: Final = re.compile(r"(?<![A-Za-z0-9_.-])[2-6]\d{3}(?:[ -]?\d){8,15}(?!\d)")
_CUE: Final = re.compile(
    rf"{_LEFT}(?P<cue>pass(?:word|code|phrase|wd)|pwd|pin(?: code| number)?|api[ _-]?key|access[ _-]?(?:key"
    rf"|token)|secret(?:[ _-]?key)?"
    r"|auth(?:orization)?[ _-]?token|bearer|token|client[ _-]?secret|private[ _-]?key|cvv|cvc)"
    r"(?:['\"]?\s{0,3}(?:=>|:=|[=:：])\s{0,3}|\s(?:for|of|to)\s[^\n.:=]{1,40}?\s(?:is|was|=)\s{1,3}|\s(?:is|was"
    r"|are|will be)(?: now)?:?\s{1,3}|(?<=password)(?P<to>\sto\s)|(?<=bearer)\s{1,3})"
    r"(?:set to\s|changed to\s)?['\"`“]?(?P<value>[^\s'\"`”,;，。；！]{3,200})"
    r"|(?P<zh>密码|口令|密钥|令牌|验证码)\s?(?:是|为|：|:|=|改成了?|设为)\s{0,2}['\"“「]?(?P<zh_value>[A-Za-z0-9!-/:-@\[-`{-~]{3,200})",
    re.IGNORECASE,
)
_SET: Final = re.compile(r"\b(?:chang|reset|set|updat)\w* [^\n]{0,30}$", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[a-z]{2,}")
_NO_SECRET: Final = frozenset(
    "wrong correct incorrect invalid valid required missing expired reset secure weak strong stored saved encrypted"
    " hashed"
    " not too very now still also the this that these those here there broken needed used sent empty optional"
    " unique the"
    " being a an in on at my your our in_progress limit limits usage count counts based"
    " budget one something available".split()
)
_CUES: Final = (
    "pass", "pwd", "pin", "key", "token", "secret", "bearer", "cvv", "cvc", "密码", "口令", "密钥", "令牌", "验证码",
)  # fmt: skip
_HAS_KEY: Final = re.compile(r"[A-Za-z0-9_-]{16}|://|-----BEGIN")
_HAS_CARD: Final = re.compile(r"\d{4}[ -]?\d{4}")


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Return the text with every secret replaced by ``[redacted KIND]``, and where in the original they stood.

    Found are keys and tokens by their form, card numbers by their check digit, and passwords, pins and keys by the
    words before them, beside letters of any script.

    >>> redact("密码是hunter2！")[0]
    '密码是[redacted password]！'
    """
    secrets = _find(text)
    if not secrets:
        return text, ()
    pieces: list[str] = []
    last = 0
    for secret in secrets:
        pieces += [text[last : secret.start], _OPEN, secret.kind, _CLOSE]
        last = secret.end
    pieces.append(text[last:])
    return "".join(pieces), tuple(secrets)


def holds_mark(text: str) -> bool:
    """Return whether something was redacted in a text before."""
    return _OPEN in text


def _find(text: str) -> list[Secret]:
    found: list[Secret] = []
    if _HAS_KEY.search(text):
        found += [Secret(*match.span(kind), kind) for match in _KEYS.finditer(text) if (kind := match.lastgroup)]
    if _HAS_CARD.search(text):
        found += [Secret(*match.span(), "card_number") for match in _CARD.finditer(text) if _is_card(match[0])]
    lowered = text.lower()
    if any(cue in lowered for cue in _CUES):
        for match in _CUE.finditer(text):
            group = "value" if match["value"] else "zh_value"
            start, end = match.span(group)
            end = start + len(match[group].rstrip(".!?)]}"))
            told = match["to"] is None or _SET.search(text[max(0, match.start() - 40) : match.start()])
            if told and _is_password(match["cue"] or match["zh"], text[start:end]):
                found.append(Secret(start, end, _kind(match["cue"] or match["zh"])))
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda item: (item.start, -item.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def _is_card(number: str) -> bool:
    digits = [int(sign) for sign in number if sign.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = (digit * 2 - 9 * (digit > 4) if place % 2 else digit for place, digit in enumerate(reversed(digits)))
    return sum(doubled) % 10 == 0


def _is_password(cue: str, value: str) -> bool:
    lowered = value.lower()
    if len(value) < 3 or lowered in _NO_SECRET or value.startswith(("[redacted", "<", "$", "{")):
        return False
    if cue.lower().startswith(("pin", "cvv", "cvc")):
        return value.isdigit() and len(value) <= 8
    if cue.lower().startswith(("pass", "pwd", "密码", "口令")):
        return True
    # "the token is unique", "secret: ingredient": a key has digits or mixed signs
    return _PLAIN.fullmatch(lowered) is None and len(value) >= 6


def _kind(cue: str) -> str:
    lowered = cue.lower()
    if lowered.startswith(("pass", "pwd", "密码", "口令")):
        return "password"
    if lowered.startswith(("pin", "cvv", "cvc", "验证码")):
        return "pin"
    return "token" if "token" in lowered or lowered in ("bearer", "令牌") else "api_key"
