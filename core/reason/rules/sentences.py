"""Text into sentences with their places, so that every claim can point at its exact characters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Sentence", "is_chinese", "split"]

_LINE: Final = re.compile(r"[^\n]+")
_MARKER: Final = re.compile(
    r"\s*(?:[-*•·>]+|#{1,6}|\(?\d{1,6}[.)](?=\s)|[a-zA-Z]\)|[（(]?[一二三四五六七八九十\d]{1,3}[)）、])\s*"
)
_END: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|[。！？；…]+[”』」）]*|(?<=[^\W\d_]{3}[.!?])(?=[A-Z][a-z])")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|approx|no|inc|ltd|co|corp|dept|est|fig|al|gen|sen|rep|rev"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a\.m|p\.m|u\.s|u\.k|ph\.d|[A-Z])\.$",
    re.IGNORECASE,
)
_INITIALS: Final = re.compile(r"(?<![^\W\d_])(?:[^\W\d_]\.){2,}$")
_GOES_ON: Final = re.compile(r"\s+[^\W\d_A-Z]")
_CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: its words and its characters ``start`` to ``end`` (half-open) in the message's content."""

    text: str
    start: int
    end: int


def is_chinese(text: str) -> bool:
    """Return whether the text is written in Chinese characters, at least in part."""
    return _CHINESE.search(text) is not None


def split(content: str, start: int = 0, end: int | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a stretch of a message: lines, list items, and what full stops of any script part."""
    stop = len(content) if end is None else end
    for line in _LINE.finditer(content, start, stop):
        marker = _MARKER.match(content, line.start(), line.end())
        begin = marker.end() if marker else line.start()
        for match in _END.finditer(content, begin, line.end()):
            if match[0] == "." and _inside(content, begin, match.end()):
                continue
            yield from _sentence(content, begin, match.end())
            begin = match.end()
        yield from _sentence(content, begin, line.end())


def _inside(content: str, begin: int, end: int) -> bool:
    """Whether a full stop ends an abbreviation, or initials after which the sentence goes on in small letters."""
    said = content[max(begin, end - 12) : end]
    return bool(_ABBREVIATION.search(said) or (_INITIALS.search(said) and _GOES_ON.match(content, end)))


def _sentence(content: str, start: int, end: int) -> Iterator[Sentence]:
    text = content[start:end]
    stripped = text.strip()
    if stripped:
        offset = start + len(text) - len(text.lstrip())
        yield Sentence(stripped, offset, offset + len(stripped))
