"""HTML out of what people and models wrote: every text and attribute is escaped here, so that none acts.

Only :func:`element` makes markup, from text or from markup that it made; pages hand its result to ``st.html``, which
sanitises it once more.
"""

from collections.abc import Iterable
from html import escape
from typing import Final

__all__ = ["Markup", "element", "group", "highlighted"]

_TAGS: Final = frozenset(
    "a article b blockquote cite dd div dl dt em figure footer h2 h3 h4 header li mark ol p q section small span "
    "strong time ul".split()
)


class Markup(str):
    """Text that is safe to show as HTML; made by :func:`element` and its kin only."""

    __slots__ = ()


def element(tag: str, *children: str, **attributes: str) -> Markup:
    """Return an element. Children that are no Markup are escaped; ``class_`` and ``aria_label`` become ``class`` and
    ``aria-label``, empty attributes are left out.

    >>> element("p", "a <b>", element("em", "c"), class_="x")
    '<p class="x">a &lt;b&gt;<em>c</em></p>'
    """
    if tag not in _TAGS:
        raise ValueError(f"{tag!r} is none of the elements that pages use.")
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value, quote=True)}"'
        for name, value in attributes.items()
        if value
    )
    return Markup(f"<{tag}{named}>{group(children)}</{tag}>")


def group(children: Iterable[str]) -> Markup:
    """Return children one after the other, escaped where they are no Markup."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child, quote=True) for child in children))


def highlighted(text: str, spans: Iterable[tuple[int, int]]) -> Markup:
    """Return a text with its half-open spans of characters marked; spans that overlap are joined.

    >>> highlighted("I live in Oslo", [(2, 6), (4, 9)])
    'I <mark>live in</mark> Oslo'
    """
    joined: list[tuple[int, int]] = []
    for start, end in sorted((max(start, 0), min(end, len(text))) for start, end in spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    parts: list[str] = []
    place = 0
    for start, end in joined:
        parts += [text[place:start], element("mark", text[start:end])]
        place = end
    return group([*parts, text[place:]])
