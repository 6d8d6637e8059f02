"""Names as they stand in sentences: which a claim holds, which stand beside each other, which are kept as aliases."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from mindmem.core.reason.port import Candidate, Mention
from mindmem.core.schema.known import KnownEntities
from mindmem.core.schema.names import name_key, titled

__all__ = ["aliases_of", "beside", "named", "spotted"]

_READ: Final = 20_000
_OPENING: Final = re.compile(r"(?:^|[.!?\n]\s+)(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?)(?=(?:['’]s)? [a-z])")
_SENTENCE: Final = re.compile(r"[.!?。！？\n]+\s*")
_FORMS: Final = 12
"""Aliases that an entity keeps."""


def spotted(candidate: Candidate, known: KnownEntities) -> Candidate:
    """Return the candidate with mentions of the known names that begin its sentences: a capital letter there tells
    nothing, unless somebody goes by that name."""
    there = {name_key(mention.name) for mention in candidate.mentions} | {name_key(candidate.entity_name)}
    words = (match["name"] for match in _OPENING.finditer(candidate.content[:_READ]))
    found = [
        Mention(word, one.entity_type)
        for word in dict.fromkeys(words)
        if name_key(word) not in there and len(bearers := known.named(word)) == 1
        for one in bearers
        if one.name[:1].isupper() or word in one.aliases
    ]
    return replace(candidate, mentions=(*candidate.mentions, *found)) if found else candidate


def named(candidate: Candidate) -> Iterable[tuple[str, str]]:
    """Yield the names of a candidate with their types: its subject's, then those that it mentions, in order."""
    yield candidate.entity_name, candidate.entity_type
    for mention in candidate.mentions:
        yield mention.name, mention.entity_type


def aliases_of(name: str, forms: Iterable[str]) -> tuple[str, ...]:
    """Return further names, each once whatever its spelling, without those that only lead with a title."""
    kept: dict[str, str] = {}
    for form in forms:
        key = name_key(form)
        if key != name_key(name) and form and not (titled(form) and key in name_key(name).split()):
            kept.setdefault(key, form)
    return tuple(kept.values())[:_FORMS]


def beside(text: str, one: str, other: str) -> bool:
    """Return whether a sentence of a text names both, each for itself.

    >>> beside("Anna met Anna Keller.", "Anna", "Anna Keller"), beside("Anna Keller came.", "Anna", "Anna Keller")
    (True, False)
    """
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return any(
        _has(sentence, longer) and _has(_without(sentence, longer), shorter) for sentence in _SENTENCE.split(text)
    )


def _has(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _without(text: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
