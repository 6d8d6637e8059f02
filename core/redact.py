"""Secrets in text: keys, tokens, passwords and numbers of accounts are cut out before anything is stored."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mindmem.core.check_digits import numbers

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
_VALUE = r"(?P<quote>\\?['\"`“「])?(?P<value>[^\s'\"`”」,;，。；！]{3,200})"
_CUE: Final = re.compile(
    # An underscore may stand before: names such as DB_PASSWORD hold passwords.
    r"(?<![A-Za-z0-9])(?P<cue>pass(?:word|code|phrase|wd)?|pwd|pw|pin(?: code| number)?|api[ _-]?key|access[ _-]?(?:key"
    r"|token)|secret(?:[ _-]?(?:access[ _-]?)?key)?|(?:wi-?fi|wlan|wpa2?|network|router|encryption|licen[cs]e)[ _-]key"
    r"|auth(?:orization)?[ _-]?token|bearer|token|client[ _-]?secret|private[ _-]?key)"
    r"(?:\\?['\"]?\s{0,3}(?P<sign>=>|:=|[=:：])\s{0,3}|\s(?:for|of|to)\s[^\n.:=]{1,40}?\s(?:is|was|=)\s{1,3}|\s(?:is|was"
    r"|are|will be)(?: now)?(?P<told>:?)\s{1,3}|(?<=password)(?P<to>\sto\s)|(?<=bearer)\s{1,3})"
    rf"(?:(?:set|changed|updated|reset) to\s)?{_VALUE}",
    re.IGNORECASE,
)
_FOREIGN: Final = re.compile(
    # The first letters again, in one class: most places in a text fail there, without a look at every word.
    r"(?=[pkmcswlhşпパ暗비암ك])"
    r"(?P<cue>passwor[dt]|kennwort|passord|mot de passe|contrase(?:ñ|n\u0303|n)a|senha|wachtwoord|lösenord|hasło|şifre"
    r"|парол[ья]|パスワード|暗証番号|비밀번호|암호|mật khẩu|كلمة المرور|كلمة السر)\s?"
    rf"(?:(?P<sign>[:：=])\s{{0,3}}|(?:ist|lautet|est|es|é|är|er|to|это)\s{{1,3}}|[はが은는이가]\s?){_VALUE}",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?P<cue>密码|口令|密钥|令牌|验证码)(?P<sign>\s?(?:是|为|：|:|=|[改换]成了?|设为))?\s{0,2}['\"“「]?"
    r"(?P<value>[A-Za-z0-9!-/:-@\[-`{-~]{3,200})"
)
_CARD_CODE: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:cvv2?|cvc2?|cvn|card security code)(?: code| number)?(?: is)?\\?['\"]?\s?[:=：]?\s{0,3}['\"]?"
    r"(?P<value>\d{3,4})(?!\d)",
    re.IGNORECASE,
)
_CURL: Final = re.compile(r"\s(?:-u|--user|--proxy-user)[ =]{0,2}['\"]?[^\s:'\"]{1,80}:(?P<value>[^\s'\"]{3,200})")
_SET: Final = re.compile(r"\b(?:chang|reset|set|updat)\w* [^\n]{0,30}$", re.IGNORECASE)
_CHANGED: Final = frozenset("changed updated reset rotated replaced renewed".split())
_NEW: Final = re.compile(
    r"[^\n]{0,40}?(?=[int])\b(?:it['’]?s|it is|is|to|now)(?: now)?:?\s['\"“]?(?P<value>[^\s'\"`”,;，。；！]{3,200})",
    re.IGNORECASE,
)
_LONGEST: Final = 200
"""Characters of the longest passphrase."""
_PLAIN: Final = re.compile(r"[a-z]{2,}")
_ODD: Final = re.compile(r"\d|[a-z_-][A-Z]|[!@#$%^&*_+=~|]")
_WORD = r"[^\W_]++(?:[’-][^\W_]++)*+"
_WORDY: Final = re.compile(r"[^\W_]++(?:['’-][^\W_]++)*+")
_PHRASE: Final = re.compile(
    # Whole words only, never fewer of them to make it fit: nothing is tried twice.
    rf"(?>{_WORD}(?: {_WORD}){{1,11}})(?=\s*(?:[\n,;，。；！？!?'\"”」`]|\.(?:\s|$)| [-–—] |$))"
)
"""Two to twelve words to the end of their clause."""
_NO_SECRET: Final = frozenset(
    "wrong correct incorrect invalid valid required missing expired reset secure weak strong stored saved encrypted"
    " hashed changed updated rotated replaced renewed forgotten lost protected"
    " not too very now still also the this that these those here there broken needed used sent empty optional"
    " unique the"
    " being a an in on at my your our in_progress limit limits usage count counts based"
    " budget one something available".split()
)
_FUNCTION: Final = frozenset(
    "a an the is are was were be been of to for from in on at by with and or but if as so than then because it its this"
    " that these those not no my your our his her their you i we they he she must should can will would may has"
    " have had do does did before after until every each all any never always please now too again here there today"
    " yesterday tomorrow when who which".split()
)
"""Words that make prose: a passphrase is a row of others."""
_CUES: Final = ("pass", "pw", "pin", "key", "token", "secret", "bearer")
_FOREIGN_CUES: Final = (
    "passwor", "kennwort", "passord", "passe", "contrase", "senha", "wachtwoord", "lösenord", "hasło", "şifre", "парол",
    "パスワード", "暗証番号", "비밀번호", "암호", "mật khẩu", "كلمة",
)  # fmt: skip
_HAS_KEY: Final = re.compile(r"[A-Za-z0-9_-]{16}|://|-----BEGIN")


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Return the text with every secret replaced by ``[redacted KIND]``, and where in the original they stood.

    Found are keys and tokens by their form; numbers of cards, accounts and persons by their check digits; passwords
    (also several words long), pins, codes and keys by the words before them, in several languages. A six-digit number
    after the words "pin code" counts as a pin, though in India it may be the code of a place.

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
    found: list[tuple[int, int, str]] = []
    if _HAS_KEY.search(text):
        found += [(*match.span(kind), kind) for match in _KEYS.finditer(text) if (kind := match.lastgroup)]
    found += numbers(text)
    found += _told(text)
    kept: list[Secret] = []
    last = 0
    found.sort(key=lambda place: (place[0], -place[1]))
    for start, end, kind in found:
        if start >= last:
            kept.append(Secret(start, end, kind))
            last = end
    return kept


def _told(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what the words before it say to be a secret."""
    lowered = text.lower()
    if any(cue in lowered for cue in _CUES):
        yield from _english(text)
    if any(cue in lowered for cue in _FOREIGN_CUES):
        for match in _FOREIGN.finditer(text):
            start, end = _extent(text, match, phrase=match["sign"] is not None)
            if _is_password("password", value := text[start:end]) and (match["sign"] or _ODD.search(value)):
                yield start, end, "password"
    if any(cue in text for cue in ("密码", "口令", "密钥", "令牌", "验证码")):
        for match in _CHINESE.finditer(text):
            start, end = _extent(text, match, phrase=False)
            value = text[start:end]
            # Without a word between, "密码 hunter2" is told from "密码 app" by its digit.
            if _is_password(match["cue"], value) and (match["sign"] or any(sign.isdigit() for sign in value)):
                yield start, end, _kind(match["cue"])
    if any(cue in lowered for cue in ("cvv", "cvc", "cvn", "card security code")):
        yield from ((*match.span("value"), "pin") for match in _CARD_CODE.finditer(text))
    if "curl" in lowered:
        for match in _CURL.finditer(text):
            value = match["value"]
            before = text[max(0, match.start() - 300) : match.start()].lower()
            if "curl" in before and not value.startswith(("[redacted", "$", "<", "{")):
                yield *match.span("value"), "password"


def _english(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _CUE.finditer(text):
        cue, kind = match["cue"], _kind(match["cue"])
        if match["to"] and not _SET.search(text[max(0, match.start() - 40) : match.start()]):
            continue
        start, end = _extent(text, match, phrase=kind == "password" and match["to"] is None)
        value = text[start:end]
        if kind == "password" and value.lower() in _CHANGED:
            later = _NEW.match(text, end)
            if later is None:
                continue
            start, end = _trimmed(text, *later.span("value"))
            value = text[start:end]
            if not _ODD.search(value):
                continue
        if " " in value or _is_password(cue, value):
            yield start, end, kind


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    return start, start + len(text[start:end].rstrip(".!?)]}\\"))


def _extent(text: str, match: "re.Match[str]", *, phrase: bool) -> tuple[int, int]:
    """Return where the value stands; with ``phrase`` it may be a passphrase, several words to the end of the clause."""
    start, end = _trimmed(text, *match.span("value"))
    if not phrase or _WORDY.fullmatch(text, start, end) is None:
        return start, end
    clause = _PHRASE.match(text, start, start + _LONGEST)
    if clause is None:
        return start, end
    said = clause[0].split(" ")
    groups = match.groupdict()
    prose = any(word.lower() in _FUNCTION for word in said)
    announced = bool(groups.get("told")) or (match["cue"].lower() == "passphrase" and bool(groups.get("sign")))
    least = 2 if said[0].lower() not in _NO_SECRET else 3 if announced or groups.get("sign") else 4
    if len(said) >= least and (not prose or (announced and len(said) >= 3)):
        return clause.span()
    return start, end


def _is_password(cue: str, value: str) -> bool:
    lowered, cue = value.lower(), cue.lower()
    if len(value) < 3 or lowered in _NO_SECRET or value.startswith(("[redacted", "<", "$", "{")):
        return False
    if cue.startswith("pin"):
        return value.isdigit() and len(value) <= 8
    if cue == "pass":
        # "pass: all", "pass: 12/14": the word has other meanings
        return (_ODD.search(value) is not None and re.search("[A-Za-z]", value) is not None) or (
            value.isdigit() and len(value) >= 6
        )
    if cue.startswith(("pass", "pw", "密码", "口令")):
        return True
    # "the token is unique", "secret: ingredient": a key has digits or mixed signs
    return _PLAIN.fullmatch(lowered) is None and len(value) >= (4 if cue == "验证码" else 6)


@functools.lru_cache(maxsize=256)
def _kind(cue: str) -> str:
    lowered = cue.lower()
    if lowered.startswith(("pass", "pw", "密码", "口令")):
        return "password"
    if lowered.startswith(("pin", "验证码")):
        return "pin"
    return "token" if "token" in lowered or lowered in ("bearer", "令牌") else "api_key"
