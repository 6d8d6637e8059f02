"""Numbers that name a person or an account, told from other numbers by their check digits."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

__all__ = ["numbers"]

# What stands before is looked at after the first digit: a pattern that begins with digits skips prose at once.
_CARD: Final = re.compile(r"[2-69](?<![A-Za-z0-9_.-].)\d{3}(?:[ -]?\d){8,15}(?!\d)", re.ASCII | re.DOTALL)
_CHINESE_ID: Final = re.compile(
    r"[1-9](?<![A-Za-z0-9].)\d{5}(?P<day>(?:19|20)\d{2}[01]\d[0-3]\d)\d{3}[\dXx](?![A-Za-z0-9])", re.ASCII | re.DOTALL
)
_IBAN: Final = re.compile(r"\d\d(?<=(?<![A-Za-z0-9])[A-Za-z]{2}\d\d)(?=[ -]?[A-Za-z0-9]{4})", re.ASCII)
_SSN: Final = re.compile(r"\d(?<![\d-].)\d\d([ -]?)\d{2}\1\d{4}(?![\d-])", re.ASCII | re.DOTALL)
_SSN_CUES: Final = ("ssn", "social security")
_VALUES: Final = bytes(max(0, sign - 48) for sign in range(256))
"""The value of each ASCII digit."""
_DOUBLED: Final = bytes(value * 2 - 9 * (value > 4) if value < 10 else 0 for value in range(256))
"""The digit sum of each value's double."""
_LETTERS: Final = {ord(sign): str(int(sign, 36)) for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_FOUR: Final = re.compile(r"\d{4}[ -]?\d{4}", re.ASCII)

_IBAN_FORMS: Final = {
    country: re.compile(rf"(?:[ -]?+[A-Za-z0-9]){{{length}}}(?![A-Za-z0-9])", re.ASCII)
    for length, countries in (
        pair.split(":")
        for pair in (
            "15:NO 16:BE 18:DK,FI,FO,GL,NL 19:MK,SI 20:AT,BA,EE,KZ,LT,LU,XK 21:CH,HR,LI,LV"
            " 22:BG,BH,CR,DE,GB,GE,IE,ME,RS,VA 23:AE,GI,IL,IQ,TL 24:AD,CZ,ES,MD,PK,SA,SE,SK,TN,VG 25:PT,ST 26:IS,TR"
            " 27:FR,GR,IT,MC,MR,SM 28:AL,AZ,BY,CY,DO,GT,HU,LB,PL,SV 29:BR,EG,PS,QA,UA 30:JO,KW,MU 31:MT,SC 32:LC"
        ).split()
    )
    for country in countries.split(",")
}
"""How many letters and digits an account number has in each country (ISO 13616), in groups or together."""


def numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield ``(start, end, kind)`` of each bank card, Chinese identity card, IBAN and US social security number.

    The last has no check digit, so the words must stand beside it.

    >>> text = "IBAN GB82 WEST 1234 5698 7654 32 please"
    >>> [(text[start:end], kind) for start, end, kind in numbers(text)]
    [('GB82 WEST 1234 5698 7654 32', 'iban')]
    """
    for match in _IBAN.finditer(text):
        start = match.start() - 2
        end = _iban_end(text, start)
        if end:
            yield start, end, "iban"
    if _FOUR.search(text):
        for match in _CHINESE_ID.finditer(text):
            if _is_chinese_id(match[0], match["day"]):
                yield *match.span(), "id_number"
        for match in _CARD.finditer(text):
            end = _card_end(match[0])
            if end:
                yield match.start(), match.start() + end, "card_number"
    lowered = text.lower()
    if any(cue in lowered for cue in _SSN_CUES):
        for match in _SSN.finditer(text):
            beside = text[max(0, match.start() - 40) : match.end() + 30].lower()
            if any(cue in beside for cue in _SSN_CUES):
                yield *match.span(), "ssn"


def _card_end(number: str) -> int:
    """Return where the card number ends, 0 for none: what follows it after a space may be its date or code."""
    if number[0] == "9" and not number.startswith("9558"):
        return 0
    cuts = [len(number), *(place for place in range(len(number) - 1, 12, -1) if not number[place].isdigit())]
    return next((cut for cut in cuts if _is_card(number[:cut])), 0)


def _is_card(number: str) -> bool:
    digits = number.replace(" ", "").replace("-", "")
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    values = digits.encode("ascii").translate(_VALUES)
    return (sum(values[-1::-2]) + sum(values[-2::-2].translate(_DOUBLED))) % 10 == 0


def _is_chinese_id(number: str, born: str) -> bool:
    """Check the birthday and the last sign (GB 11643, ISO 7064 mod 11-2)."""
    try:
        date(int(born[:4]), int(born[4:6]), int(born[6:]))
    except ValueError:
        return False
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return number[17].upper() == "10X98765432"[total % 11]


def _iban_end(text: str, start: int) -> int:
    """Return where the account number that starts here ends, 0 for none."""
    form = _IBAN_FORMS.get(text[start : start + 2].upper())
    match = form.match(text, start) if form else None
    if match is None:
        return 0
    compact = match[0].replace(" ", "").replace("-", "").upper()
    number = (compact[4:] + compact[:4]).translate(_LETTERS)
    return match.end() if int(number) % 97 == 1 else 0
