"""Find the JSON that a model meant in the text that it wrote. Forms are forgiven, values are never guessed.

Forgiven are: chatter and code fences around, thinking before, a byte order mark, single quotes, a comma before a
closing bracket, raw line breaks in strings, escapes that JSON doesn't know (kept as written), Python's literals, NaN
(read as null), lone surrogates and NUL (dropped, as everywhere). Of a text that breaks off, what is complete is kept:
whole elements of the outermost list, whole pairs of the outermost object.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from mindmem.core.language.words import clean

__all__ = ["MAX_DEPTH", "Found", "find_json"]

MAX_DEPTH: Final = 32
"""Deepest nesting that is read; no reply of ours needs a third of it."""
_READINGS: Final = 8
"""What is no JSON is read again from the next bracket on; a text is looked at about so many times in all."""

_SPACE: Final = " \t\n\r\ufeff\u00a0\u200b"
_TEXT: Final = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,300})(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?")
_NUMERAL: Final = re.compile(r"[-+.0-9eE]*")
_WORD: Final = re.compile(r"-?[A-Za-z]+")
_WORDS: Final = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None,
    "NaN": None, "Infinity": None, "-Infinity": None,
}  # fmt: skip
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_HEX: Final = re.compile(r"[0-9a-fA-F]{4}")
_OPENING: Final = re.compile(r"[{\[]|</?think(?:ing)?>", re.IGNORECASE)
_CLOSING_THOUGHT: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object or list and where it stood in the text; ``rest`` is what could not be kept because the text broke
    off there (None: it is whole)."""

    value: Any  # what JSON holds
    start: int
    end: int
    rest: str | None = None

    @property
    def whole(self) -> bool:
        """Return whether the value was closed by its writer."""
        return self.rest is None


def find_json(text: str) -> list[Found]:
    """Return the objects and lists that stand in the text side by side, in order; none when there are none.

    What a model thought aloud (``<think>``) is not looked at. Never raises.
    """
    found: list[Found] = []
    place = looked_at = 0
    while (opening := _OPENING.search(text, place)) and looked_at <= _READINGS * len(text):
        place, mark = opening.start(), opening[0]
        if mark in "{[":
            reader = _Reader(text, place)
            one, place = _read(reader)
            looked_at += reader.place - opening.start()
            found.extend([one] if one else [])
        elif mark.startswith("</"):  # many templates open the thought themselves
            found.clear()
            place = opening.end()
        else:
            closing = _CLOSING_THOUGHT.search(text, opening.end())
            place = closing.end() if closing else len(text)
    return found


def _read(reader: "_Reader") -> tuple[Found | None, int]:
    """Return what begins where the reader stands, and where to look on."""
    text, place = reader.text, reader.place
    try:
        return Found(reader.value(), place, reader.place), reader.place
    except _BrokenOff as broken:
        return Found(broken.kept, place, len(text), text[broken.place :]), len(text)
    except _TooDeep:
        return None, reader.place  # not from the next bracket on: that would take long
    except _NotJson:
        return None, place + 1


class _NotJson(Exception):
    """What stands here is no JSON, however kindly one reads."""


class _TooDeep(_NotJson):
    """What stands here is nested deeper than any reply."""


class _BrokenOff(Exception):
    """The text ended inside a value: what of it is complete (None: nothing), and where the rest begins."""

    def __init__(self, place: int, kept: dict[str, Any] | list[Any] | None = None) -> None:
        super().__init__(place)
        self.place = place
        self.kept = kept


class _Reader:
    """Reads one value by descending; ``place`` is the next character."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.depth = 0

    def value(self) -> Any:  # what JSON holds
        sign = self.peek()
        if sign in "{[":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise _TooDeep
            read = self.mapping() if sign == "{" else self.sequence()
            self.depth -= 1
            return read
        if sign in "\"'":
            return self.string()
        if sign in "-0123456789" and not self.text.startswith("-I", self.place):
            return self.number()
        return self.word()

    def mapping(self) -> dict[str, Any]:
        read: dict[str, Any] = {}
        outermost = self.depth == 1
        self.place += 1
        pair = self.place
        try:
            while self.peek() != "}":
                pair = self.place
                if self.peek() not in "\"'":
                    raise _NotJson
                name = self.string()
                self.expect(":")
                try:
                    read[name] = self.value()
                except _BrokenOff as broken:
                    # Only the outermost list is kept in part: an item that lacks something is no item.
                    if outermost and isinstance(broken.kept, list):
                        read[name] = broken.kept
                        pair = broken.place
                    raise
                pair = self.place
                if self.peek() != "}":
                    self.expect(",")
        except _BrokenOff:
            raise _BrokenOff(pair, read) from None
        self.place += 1
        return read

    def sequence(self) -> list[Any]:
        read: list[Any] = []
        self.place += 1
        item = self.place
        try:
            while self.peek() != "]":
                item = self.place
                read.append(self.value())
                item = self.place
                if self.peek() != "]":
                    self.expect(",")
        except _BrokenOff:
            raise _BrokenOff(item, read) from None
        self.place += 1
        return read

    def string(self) -> str:
        start, quote = self.place, self.text[self.place]
        parts: list[str] = []
        place = start + 1
        while True:
            run = _TEXT[quote].match(self.text, place)
            assert run is not None, "the pattern fits everywhere"
            parts.append(run[0])
            place = run.end()
            if place >= len(self.text) - 1 and self.text[place:] != quote:
                raise _BrokenOff(start)
            if self.text[place] == quote:
                self.place = place + 1
                return clean("".join(parts))
            sign = self.text[place + 1]
            place += 2
            digits = _HEX.match(self.text, place) if sign == "u" else None
            if digits:
                parts.append(chr(int(digits[0], 16)))
                place = digits.end()
            else:
                parts.append(_ESCAPES.get(sign, "\\" + sign))

    def number(self) -> int | float | None:
        numeral = _NUMERAL.match(self.text, self.place)
        assert numeral is not None, "the pattern fits everywhere"
        if numeral.end() == len(self.text):
            raise _BrokenOff(self.place)  # more digits may have followed
        if not _NUMBER.fullmatch(numeral[0]):
            raise _NotJson
        self.place = numeral.end()
        read = json.loads(numeral[0])
        assert isinstance(read, (int, float))
        return read if abs(read) != float("inf") else None

    def word(self) -> bool | None:
        found = _WORD.match(self.text, self.place)
        if found is None:
            raise _NotJson
        if found.end() == len(self.text):
            raise _BrokenOff(self.place)
        if found[0] not in _WORDS:
            raise _NotJson
        self.place = found.end()
        return _WORDS[found[0]]

    def peek(self) -> str:
        """Return the next character that is no space."""
        while self.place < len(self.text) and self.text[self.place] in _SPACE:
            self.place += 1
        if self.place == len(self.text):
            raise _BrokenOff(self.place)
        return self.text[self.place]

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise _NotJson
        self.place += 1
