"""What a memory tells of, under names that can be compared: its subject, its property whatever the sentence's form,
its value; and whether its own grammar says that the property takes one value at a time.

The cues are those of the language, never a list of relations: a definite description in the singular names one thing
("the anthem of X is"), an indefinite or plural one several; what is made, begins or ends does so once; habits, skills,
tastes and belongings are many. Weaker ones only lean to a side: a state that something is put in is one ("is moored
at"), what one does again and again, or is one of a kind of, may be several ("grows", "is a member of").
"""

import re
from functools import lru_cache
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.language.words import stem, words
from mindmem.core.reason.dream_port import Topic
from mindmem.core.reason.rules import lexicon_en as lexicon
from mindmem.core.reason.rules.dream.personal import belongs, replaces, timeless
from mindmem.core.reason.rules.dream.reading_zh import cue_zh, stated_zh, without_now
from mindmem.core.reason.rules.listed import read_item
from mindmem.core.reason.rules.sentences import Sentence, is_chinese
from mindmem.core.records import Memory
from mindmem.core.text import normalise_name

__all__ = ["comparable", "leaning", "same_value", "topic_of"]

_DENIED: Final = frozenset({"negated", "past", "hypothetical", "instruction_like", "quoted", "deleted", "conditional"})
"""Flags of memories that tell no present value."""
_PERSONAL: Final = re.compile(r"\b(?:i|me|my|we|us|our|you|your|he|she|they|it)\b|[?？!！]", re.IGNORECASE)
_LONGEST: Final = 240
"""Characters of a memory without a property of its own that is read as one statement at most."""
_TYPES: Final = frozenset({"profile", "fact", "episodic"})
_LIGHT: Final = frozenset("of the is was a an".split())
_ONCE: Final = frozenset(
    "born died dies ended began started originated arose emerged premiered debuted opened closed vanished".split()
)
"""Verbs of beginning and ending: what they tell of does so once."""
_ABLE: Final = frozenset({"can", "could"})
_PASSIVE: Final = re.compile(r"\b(?:is|are|was|were|been|being)\s+(?:[a-z]+ly\s+)?([a-z]+)\b")
_ROLES: Final = frozenset("in at on to for from with as near under after into".split())
_IRREGULAR: Final = {
    "written": "write", "writer": "write", "wrote": "write", "built": "build", "sung": "sing", "sang": "sing",
    "made": "make", "drawn": "draw", "led": "lead", "won": "win", "held": "hold", "taught": "teach", "born": "born",
    "spoken": "speak", "owned": "own", "chosen": "choose", "bought": "buy", "sold": "sell", "known": "know",
}  # fmt: skip
_ARTICLE: Final = re.compile(r"^(?:the|an?|his|her|their|its)\s+", re.IGNORECASE)
_ARTICLE_BEFORE: Final = re.compile(r"(?<= )(?:an?|his|her|their|its) $")
_COPULAS: Final = frozenset("is was has does".split())
_BESIDE: Final = re.compile(
    r"\b(?:also|too|as well|another|in addition|besides|among others)\b|也|还|另外", re.IGNORECASE
)
_SEVERAL: Final = re.compile(
    r"^(?:an?|one of|among|another|some(?: of)?)\s.*?\b(?:is|was|are|were)\b|\b(?:is|was) (?:one of|among)\b",
    re.IGNORECASE,
)
_DEFINITE: Final = re.compile(r"^the (?P<what>.+?) (?P<verb>is|was|are|were) ", re.IGNORECASE)
_OWNED: Final = re.compile(r"^.+?['’]s (?P<what>[a-z][\w -]*?) (?P<verb>is|was|are|were) ")
_ONE_OF_A_KIND: Final = re.compile(r"\b(?:is|are) an? (?:[a-z-]+ ){1,3}(?:of|for|in|at|with) $")
_PUT: Final = re.compile(r"\b(?:is|are) (?:[a-z]+ly )?(?P<done>[a-z]+) (?:at|in|on|under|near|by|after|from|to) $")
_TO_ONE: Final = 0.7
_TO_SEVERAL: Final = -1.1
"""How much a weak cue counts, as log odds: two to one for one value, one to three."""
_SORTAL: Final = re.compile(r"the (?:[a-z]+ )?(?P<sort>[a-z]+) of \S", re.IGNORECASE)
"""A value under the name of its kind: "the town of Tolva", "the part of the fool"."""
_DESCRIBED: Final = re.compile(r" (?:of|that|which|who|where|for|in|to|behind|at) ")
_SOLE_KIN: Final = frozenset(
    "wife husband spouse partner mother father mom mum dad boss manager fiance fiancee".split()
)


def topic_of(memory: Memory) -> Topic | None:
    """Return what a memory tells of, None where it tells no present value of a property."""
    if memory.mem_type not in _TYPES or memory.order != 1 or not _DENIED.isdisjoint(memory.flags):
        return None
    if memory.property_name and memory.value:
        named, name, value = memory.entity_name, memory.property_name, memory.value
    elif memory.speaker and (owned := belongs(memory.content)) is not None:
        named, name, value = memory.speaker, *owned
    else:
        item = _statement(memory.content)
        if item is None:
            return None
        named, name, value = item
    name = timeless(name, memory.content)
    named = without_now(named)
    value_key, who = comparable(value), normalise_name(named) or normalise_claim(named)
    if not who or not value_key or who in _COPULAS:
        return None
    # Apps and agents of one user have memories of their own.
    subject = "|".join((memory.scope.app_id, memory.scope.agent_id, who))
    cue = _cue(memory.content, name, value)
    later = cue is not False and replaces(memory.content, name)
    return Topic(subject, _comparable_property(name) + _sort(name, value), value_key, cue, replaces=later)


def same_value(one: str, other: str) -> bool:
    """Return whether two comparable values are the same, or one only says more than the other."""
    if one == other:
        return True
    a, b = set(one.split()), set(other.split())
    return a <= b or b <= a


@lru_cache(maxsize=65_536)
def leaning(content: str, value: str) -> float:
    """Return to which side the building of a sentence leans that says nothing outright: log odds that its property has
    one value at a time; ``value`` is comparable.

    >>> leaning("The Heron is moored at Tolva.", "tolva"), leaning("Kim grows leeks.", "leeks")
    (0.7, -1.1)
    """
    low = content.casefold()
    before = low[: low.rfind(value.split()[0])] if value.split()[0] in low else ""
    if before.endswith(" the "):
        return 0.0
    before = _ARTICLE_BEFORE.sub("", before)
    if _ONE_OF_A_KIND.search(before):
        return _TO_SEVERAL
    put = _PUT.search(before)
    if put is not None:
        return _TO_ONE if put["done"].endswith("ed") or put["done"] in lexicon.PARTICIPLES else 0.0
    verb = before.split()[-1] if before.split() else ""
    return _TO_SEVERAL if verb.endswith("s") and verb not in _COPULAS and lexicon.base_form(verb) != verb else 0.0


@lru_cache(maxsize=65_536)
def comparable(value: str) -> str:
    """Return a value as its words, without the article that leads it.

    >>> comparable("The Glass Harbour."), comparable("three cats")
    ('glass harbour', 'three cats')
    """
    return " ".join(words(_ARTICLE.sub("", value)))


def _statement(content: str) -> tuple[str, str, str] | None:
    """Read a plain sentence about somebody or something else as subject, property and value."""
    if is_chinese(content):
        return stated_zh(content) if len(content) <= _LONGEST else None
    if len(content) > _LONGEST or _PERSONAL.search(content):
        return None
    item = read_item(Sentence(content, 0, len(content)))
    if not item.property_name or not any(sign.isupper() for sign in item.entity) or "," in item.entity:
        return None
    return item.entity, item.property_name, item.value


@lru_cache(maxsize=16_384)
def _comparable_property(name: str) -> str:
    """Return a property's name whatever form the sentence had: "founder", "founded_by" and "was founded by" are one.

    What plays a role of its own (when, where, as what) stays told apart by its preposition, and a present verb by its
    being one: who is a player of something isn't what somebody plays.
    """
    name = lexicon.CANONICAL.get(name, name)
    parts = [part for part in name.split("_") if part and part not in _LIGHT]
    by = "by" in parts[1:]
    parts = [part for part in parts if part != "by" or len(parts) == 1]
    if not parts:
        return name
    role = parts[-1] if len(parts) > 1 and parts[-1] in _ROLES else ""
    core = parts[:-1] if role else parts
    verb = len(core) == 1 and core[0].endswith("s") and not core[0].endswith("ss") and not by and not role
    if verb and lexicon.base_form(core[0]) != core[0]:
        return f"{stem(core[0])}~verb"
    kept = "_".join(_base(part) for part in core)
    return f"{kept}~{role}" if role else kept


def _base(word: str) -> str:
    if word in _IRREGULAR:
        return stem(_IRREGULAR[word])
    for ending in ("person", "woman", "man"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return stem(word[: -len(ending)])
    short = stem(word)
    return short[:-2] if short.endswith(("er", "or")) and len(short) > 5 else short


def _sort(name: str, value: str) -> str:
    """Return what a value is said to be one of, as part of its property's name: who works in the town of X and in the
    trade of Y is told two things. What a copula joins has its property's name in the description before it."""
    parts = name.split("_")
    joined = parts[-1] in _ROLES if len(parts) > 1 else lexicon.base_form(name) != name
    sort = _SORTAL.match(value) if joined else None
    return f"~{stem(sort['sort'].lower())}" if sort else ""


@lru_cache(maxsize=16_384)
def _cue(content: str, name: str, value: str) -> bool | None:
    if _BESIDE.search(content) or _SEVERAL.search(content):
        return False
    described = _DEFINITE.match(content) or _OWNED.match(content)
    if described:
        return _one_of_a_kind(described["what"], described["verb"].lower())
    parts = name.split("_")
    if is_chinese(content) and (said := cue_zh(content)) is not None:
        return said
    if name in lexicon.SINGLE_VERBS or name == "married_to":
        return True
    if parts[0] in lexicon.MANY_VERBS or parts[0] in ("has", "have", *_ABLE):
        # "the part of the fool": what is definite may be the only one, and it is left to the corpus.
        return None if _SORTAL.match(value) and parts[0] in lexicon.MANY_VERBS else False
    if parts[0] in _ONCE:
        return True
    # Only what it is done to, or done in, is one: who founds may found several.
    done = parts[0] in lexicon.CREATION and parts[-1] in ("by", "in", "at", "to", "on")
    return True if done and parts[0] in _PASSIVE.findall(content.lower()) else None


def _one_of_a_kind(what: str, verb: str) -> bool | None:
    """Whether a definite description names one thing: singular, and no relative of whom one may have several."""
    if verb in ("are", "were"):
        return False
    head = _DESCRIBED.split(what, maxsplit=1)[0].split()[-1].lower()
    return None if head in lexicon.KIN - _SOLE_KIN else True
