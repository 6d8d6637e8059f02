"""Wanted and carried-out changes as a diff that people can read: what goes, what comes, and in favour of what."""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from mindmem.core.records.dream import DiffLine
from mindmem.dashboards.markup import Markup, element, highlighted

__all__ = ["changed", "diff_line"]

_VERBS: Final = {
    "archive": "archive", "merge": "reinforce", "update": "reword", "add": "add", "link": "link",
}  # fmt: skip
_WORDS: Final = re.compile(r"\w+|\W")
_LONG: Final = 2_000
"""Characters of a text that are compared and shown at most."""

Spans = list[tuple[int, int]]


def diff_line(line: DiffLine, words: Mapping[str, str]) -> Markup:
    """Return one line of a diff; ``words`` are those of the memories in whose favour it is, by id."""
    before, after = line.before[:_LONG], line.after[:_LONG]
    gone, come = changed(before, after) if before and after else ([], [])
    about = [element("span", _VERBS.get(line.op, line.op), class_="mm-chip"), line.reason]
    rows = [element("p", *about, class_="mm-about")]
    takes_away = line.op == "archive" or bool(after)
    if before:
        sign = "−" if takes_away else "+" if line.op == "merge" else "~"
        rows.append(_row(sign, highlighted(before, gone), "mm-gone" if takes_away else "mm-stays"))
    if after:
        rows.append(_row("+", highlighted(after, come), "mm-comes"))
    for memory_id in line.by:
        sign = "~" if line.op == "link" else "="
        rows.append(_row(sign, words.get(memory_id, f"a memory that is not here any more ({memory_id})"), "mm-stays"))
    return element("div", *rows, class_="mm-diff")


def changed(before: str, after: str) -> tuple[Spans, Spans]:
    """Return the half-open spans of the words that differ, in both texts.

    >>> changed("two cats", "three cats")
    ([(0, 3)], [(0, 5)])
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    gone: Spans = []
    come: Spans = []
    for op, a, b, c, d in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if op != "equal":
            gone.append(_span(old, a, b))
            come.append(_span(new, c, d))
    return [one for one in gone if one[0] < one[1]], [one for one in come if one[0] < one[1]]


def _span(words: Sequence[str], first: int, last: int) -> tuple[int, int]:
    begin = sum(map(len, words[:first]))
    return begin, begin + sum(map(len, words[first:last]))


def _row(sign: str, text: str, class_: str) -> Markup:
    return element("p", element("b", sign), " ", text, class_=f"mm-line {class_}")
