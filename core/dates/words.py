"""The closed classes of words that dates are made of."""

import re
from typing import Final, Literal

__all__ = ["MONTH", "MONTHS", "NUMBER", "WEEKDAY", "WEEKDAYS", "Tense", "chinese_number", "number", "tense"]

Tense = Literal["past", "future", "unknown"]

MONTHS: Final = {
    name: index
    for index, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)

WEEKDAYS: Final = {
    name: index
    for index, names in enumerate(("mon", "tue tues", "wed", "thu thur thurs", "fri", "sat", "sun"))
    for name in names.split()
}
WEEKDAY: Final = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"

_NUMBERS: Final = {
    word: value
    for value, words in {
        1: "a an one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
        10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen", 18: "eighteen",
        20: "twenty", 25: "twenty-five", 30: "thirty", 40: "forty", 50: "fifty",
    }.items()
    for word in words.split()
}  # fmt: skip
NUMBER: Final = (
    r"(?:\d{1,6}|(?:a )?couple(?: of)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|fifteen|eighteen|twenty(?:-five)?|thirty|forty|fifty)"
)


def number(word: str) -> int:
    """Return the value of a word that NUMBER matched."""
    word = word.lower()
    if word.isdigit():
        return int(word)
    return 2 if "couple" in word else _NUMBERS[word]


_CHINESE_DIGITS: Final = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}


def chinese_number(text: str) -> int | None:
    """Return the value of Arabic or Chinese numerals below 100, or of a run of Chinese digits (二〇二三), else None.

    >>> chinese_number("二十五"), chinese_number("二〇二三"), chinese_number("两")
    (25, 2023, 2)
    """
    if text.isascii() and text.isdigit():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        if (tens and tens not in _CHINESE_DIGITS) or (ones and ones not in _CHINESE_DIGITS):
            return None
        return (_CHINESE_DIGITS[tens] if tens else 1) * 10 + (_CHINESE_DIGITS[ones] if ones else 0)
    if not text or any(sign not in _CHINESE_DIGITS for sign in text):
        return None
    return int("".join(str(_CHINESE_DIGITS[sign]) for sign in text))


_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[;\n。！？；]")
_REACH: Final = 200  # characters looked at on either side
_FUTURE: Final = re.compile(
    r"\b(?:will|won't|gonna|going to|(?:planning|plan|plans|hoping|hope|want|wants|need|needs|would like|about) to"
    r"|upcoming|coming up|see you|due|deadline|let's|shall|can (?:we|you)|could (?:we|you)|starts|begins|ends|expires"
    r"|scheduled|appointment)\b|'ll\b|’ll\b|将|会|要|打算|计划|准备|想",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|did|didn't|went|got|took|saw|met|made|came|gave|told|said|found|bought|ate|ran|drove|flew|won"
    r"|lost|left|felt|spent|began|became|wrote|read|sent|caught|taught|thought|brought|held|broke|chose|fell|heard|kept"
    r"|knew|led|paid|sold|slept|spoke|stood|swam|threw|wore|sang|built|[a-z]{2,}ed)\b|了|过",
    re.IGNORECASE,
)


_CLAUSE_END: Final = re.compile(
    r",(?=\s)|\s[—–-]\s|\b(?:and|but|so|because|although|though|while|when)\b", re.IGNORECASE
)
_PRESENT: Final = re.compile(r"\b(?:am|is|are|has|have|do|does|don't|doesn't)\b|\w['’](?:m|re|s|ve)\b", re.IGNORECASE)
_PLANNED: Final = re.compile(r"(?:\b(?:am|is|are)|['’](?:m|re|s))(?: not| \w+ly)? [a-z]{2,}ing\b", re.IGNORECASE)
_PASSIVE: Final = re.compile(r"\b(?:getting|being) \w+ed\b", re.IGNORECASE)
_IS_THEN: Final = re.compile(r"(?:\b(?:is|are)|['’]s) (?:(?:on|in) )?(?:the )?$", re.IGNORECASE)
_APPOINTED: Final = re.compile(
    r"\b(?:moved|postponed|rescheduled|shifted|pushed|delayed)(?: \w+){0,3} (?:to|until|till) (?:the )?$"
    r"|\b(?:booked|planned|fixed|set)(?: \w+){0,3} for (?:the )?$",
    re.IGNORECASE,
)
_STORY: Final = re.compile(r"\b(?:was|were|had|did|didn't)\b", re.IGNORECASE)
_SUITS: Final = re.compile(
    r" (?:works|suits|fits|would (?:work|suit)|is (?:fine|free|better|best|good))\b", re.IGNORECASE
)
_BOUNDED: Final = re.compile(r"(?:from|of|since|last)\b", re.IGNORECASE)


def tense(text: str, start: int, end: int) -> Tense:
    """Return whether a span lies in the past or the future, as far as the verbs of its own clause show.

    What has no verb ("In May, ...", "... and Ann on Sunday") is read with the clause beside it, at last with the
    whole sentence. A present progressive with a date tells a plan ("I'm moving in May").
    """
    before, after = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    ends = list(_SENTENCE_END.finditer(before))
    if ends:
        before = before[ends[-1].end() :]
    stop = _SENTENCE_END.search(after)
    after = after[: stop.start()] if stop else after
    lefts = [0, *(match.end() for match in _CLAUSE_END.finditer(before))]
    rights = [*(match.start() for match in _CLAUSE_END.finditer(after)), len(after)]
    left, right = lefts[-1], rights[0]
    wider = (left, rights[min(1, len(rights) - 1)]) if len(lefts) == 1 else (lefts[-2], right)
    for first, last in ((left, right), wider):
        told = _told(before[first:], text[start:end], after[:last])
        if told is not None:
            return told
    return _told(before, text[start:end], after) or "unknown"


def _told(before: str, span: str, after: str) -> Tense | None:
    """Return the tense of one stretch, None where no verb was seen."""
    words = before + " " + after
    past, future = _PAST.search(_PASSIVE.sub(" ", words)) is not None, _FUTURE.search(words) is not None
    at = before.rstrip() + " "
    if _APPOINTED.search(at):
        past, future = _STORY.search(words) is not None, True
    elif not past and not _BOUNDED.match(span):
        future = future or bool(_PLANNED.search(words) or _IS_THEN.search(at) or _SUITS.match(after))
    if past != future:
        return "past" if past else "future"
    return "unknown" if past or _PRESENT.search(words) else None
