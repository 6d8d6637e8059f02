"""Synthesiser without a model: what comes up often, how a number developed, what stands against what, what there is.

Each sentence counts, lists or quotes its evidence, so it claims no more than that holds. It is renewed when a parent
is gone or the evidence has grown by a quarter, and retired when fewer than two pieces are left.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from typing import Final, Literal

from mindmem.core.ids import normalise_claim
from mindmem.core.ingest.guards import distinct
from mindmem.core.language.words import content_words, stem, words
from mindmem.core.reason.port import Judged, Verdict
from mindmem.core.reason.rules.schema.episode import salient
from mindmem.core.reason.rules.sentences import is_chinese
from mindmem.core.reason.schema_port import Synthesis, SynthesisRequest
from mindmem.core.records import Memory
from mindmem.core.records.schema import EntityType, Property
from mindmem.core.schema.questions import fine_name

__all__ = ["RulesSynthesiser"]

Kind = Literal["frequency", "trend", "contrast", "collection"]
_WORDS: Final[dict[Kind, tuple[str, ...]]] = {
    "frequency": ("pattern", "frequency", "habit", "repeat", "interest", "recur"),
    "trend": ("development", "trend", "change", "grow", "progress"),
    "contrast": ("contrast", "conflict", "tension", "against"),
    "collection": ("interest", "collection", "summary", "overview", "keeps"),
}
"""Words by which a property of order 2 shows what it is for."""
_OFTEN: Final = 3
_TOPICS: Final = 5
_LISTS: Final = 8
_CONTRASTS: Final = 5
_LISTED: Final = 12
_PARENTS: Final = 64
_COMPARED: Final = 60
_GROWTH: Final = 1.25
_QUOTED: Final = 160
_READING: Final = re.compile(r"(?P<number>-?\d+(?:[.,]\d+)?)\s*(?P<unit>%|°?[^\W\d_]+)?")
_MEAT: Final = (
    "beef steak pork ham bacon chicken turkey lamb veal duck sausage burger salami meatball meatballs ribs brisket"
    " venison"
    " fish salmon tuna shrimp prawns sushi oyster 牛排 牛肉 猪肉 鸡肉 羊肉 火腿 培根 香肠 鱼"
).split()
_DAIRY: Final = "cheese milk butter cream yogurt egg eggs omelette honey 奶酪 牛奶 黄油 鸡蛋".split()
_DRINKS: Final = "wine beer whisky whiskey vodka gin cocktail cocktails champagne 红酒 啤酒 白酒 威士忌".split()
_EXCLUDES: Final = (
    (("vegetarian", "素食"), frozenset(map(stem, _MEAT))),
    (("vegan", "纯素"), frozenset(map(stem, (*_MEAT, *_DAIRY)))),
    (("teetotal", "teetotaler", "teetotaller", "滴酒不沾"), frozenset(map(stem, _DRINKS))),
)
"""What a way of living leaves out: a word for it, and what would stand against it."""
_TAKEN: Final = re.compile(
    r"\b(?:had|ate|eat|eats|eating|ordered|enjoyed|drank|drink|drinks|tried|devoured|cooked myself|love|loves|like"
    r"|likes)\b"
    r"|吃了?|喝了?|点了",
    re.IGNORECASE,
)


class RulesSynthesiser:
    """Draws sentences of order 2; its wording depends on the memories alone."""

    async def synthesise(self, requests: Sequence[SynthesisRequest]) -> list[Verdict[tuple[Synthesis, ...]]]:
        """Return one judgement per request, in order: what is new, renewed or retired."""
        return [Judged(_synthesised(request)) for request in requests]


@dataclass(frozen=True, slots=True)
class _Draft:
    kind: Kind
    key: str
    content: str
    parents: tuple[Memory, ...]


def _synthesised(request: SynthesisRequest) -> tuple[Synthesis, ...]:
    memories = _ordered(request.memories)
    drafts: dict[str, tuple[str, _Draft]] = {}
    name = request.entity.name
    zh = sum(is_chinese(one.content) for one in memories) * 2 > len(memories)
    made: tuple[tuple[Kind, Iterable[_Draft]], ...] = (
        ("frequency", _topics(name, memories, zh=zh)),
        ("trend", _trends(name, memories, zh=zh)),
        ("contrast", _contrasts(memories, zh=zh)),
        ("collection", _collections(name, memories, zh=zh)),
    )
    for kind, found in made:
        prop = _property(request.entity_type, kind)
        for draft in found if prop is not None else ():
            drafts[f"{kind}:{draft.key}"] = (prop.name if prop else "", draft)
    current = {one.value: one for one in request.current if one.value}
    outcome = []
    for key, (prop_name, draft) in drafts.items():
        known = current.pop(key, None)
        parents = tuple(one.memory_id for one in draft.parents[-_PARENTS:])
        if known is not None and _stands(known, parents):
            continue
        outcome.append(
            Synthesis(
                property_name=prop_name,
                content=draft.content,
                parents=parents,
                kind=draft.kind,
                replaces=known.memory_id if known else "",
                confidence=round(min(one.confidence for one in draft.parents), 4),
                key=key,
            )
        )
    kinds: dict[str, Kind] = {kind: kind for kind in _WORDS}
    for key, memory in current.items():
        gone = kinds.get(key.partition(":")[0])
        if gone is not None:
            outcome.append(Synthesis(memory.property_name, "", (), gone, memory.memory_id, key=key))
    return tuple(outcome)


def _ordered(memories: Iterable[Memory]) -> list[Memory]:
    """By event time; what has none comes first."""
    undated = [one for one in memories if one.order == 1 and one.event_time is None]
    dated = [(one.event_time, one.memory_id, one) for one in memories if one.order == 1 and one.event_time is not None]
    return sorted(undated, key=lambda one: one.memory_id) + [one for _, _, one in sorted(dated, key=lambda it: it[:2])]


def _property(kind_of_entity: EntityType | None, kind: Kind) -> Property | None:
    if kind_of_entity is None:
        return None
    wanted = [stem(word) for word in _WORDS[kind]]
    best: tuple[int, Property] | None = None
    for prop in kind_of_entity.of_order(2):
        told = [stem(word) for word in words(f"{prop.name.replace('_', ' ')} {prop.description}")]
        rank = min((wanted.index(word) for word in told if word in wanted), default=-1)
        if rank >= 0 and (best is None or rank < best[0]):
            best = (rank, prop)
    return best[1] if best else None


def _stands(known: Memory, parents: Sequence[str]) -> bool:
    """Whether what was said still holds: all its parents are there, and little came on top."""
    before = len(known.parents)
    return set(known.parents) <= set(parents) and len(parents) < max(before * _GROWTH, before + 1)


# -- the kinds


def _topics(name: str, memories: Sequence[Memory], *, zh: bool) -> Iterable[_Draft]:
    own = [*words(name), *(word for one in memories for word in words(one.speaker))]
    weights = salient((one.content for one in memories), own)
    holding: dict[str, list[Memory]] = defaultdict(list)
    stems = {stem(term.casefold()): term for term in list(weights)[: 6 * _TOPICS]}
    for memory in memories:
        said = {stem(word) for word in words(memory.content)}
        for key, term in stems.items():
            if key in said or (is_chinese(term) and term in memory.content):
                holding[key].append(memory)
    often = [(key, found) for key, found in holding.items() if len(found) >= _OFTEN and len(_days(found)) > 1]
    for key, found in sorted(often, key=lambda item: (-len(item[1]), item[0]))[:_TOPICS]:
        term = stems[key]
        if zh:
            content = f"关于{name}的{len(found)}条记忆提到{term}{_range(found, zh=True)}。"
        else:
            content = f"{term[0].upper()}{term[1:]} comes up in {len(found)} memories about {name}{_range(found)}."
        yield _Draft("frequency", key, content, tuple(found[-_PARENTS:]))


def _trends(name: str, memories: Sequence[Memory], *, zh: bool) -> Iterable[_Draft]:
    readings: dict[tuple[str, str, str], list[tuple[float, str, Memory]]] = defaultdict(list)
    for memory in memories:
        read = list(_READING.finditer(memory.value))
        if len(read) != 1 or memory.event_time is None or not memory.property_name or _denied(memory):
            continue
        unit = stem((read[0]["unit"] or "").casefold())
        rest = " ".join(content_words(memory.value.replace(read[0][0], " ")))
        number = float(read[0]["number"].replace(",", "."))
        readings[memory.property_name, unit, rest].append((number, read[0][0], memory))
    for (prop, unit, rest), found in readings.items():
        numbers = [number for number, _, _ in found]
        if len(found) < 2 or numbers[0] == numbers[-1] or len(_days([one for _, _, one in found])) < 2:
            continue
        up = all(one <= two for one, two in pairwise(numbers))
        down = all(one >= two for one, two in pairwise(numbers))
        first, last = found[0], found[-1]
        begin, end = _day(first[2].event_time, zh=zh), _day(last[2].event_time, zh=zh)
        about = fine_name(prop).replace("_", " ")
        if zh:
            way = "上升" if up else "下降" if down else "变化"
            content = f"{name}的{about}从{begin}的{first[1]}到{end}的{last[1]}，{way}（{len(found)}次记录）。"
        else:
            way = "rose" if up else "fell" if down else "changed"
            content = f"{name}'s {about} {way} from {first[1]} on {begin} to {last[1]} on {end}"
            content += f" ({len(found)} readings)."
        yield _Draft("trend", f"{prop}:{unit}:{rest}", content, tuple(one for _, _, one in found))


def _contrasts(memories: Sequence[Memory], *, zh: bool) -> Iterable[_Draft]:
    pairs = [*_excluded(memories), *_opposed(memories)]
    for one, other in pairs[:_CONTRASTS]:
        key = ":".join(sorted((one.memory_id, other.memory_id)))
        first, second = (f"“{memory.content[:_QUOTED]}”" for memory in (one, other))
        begin, end = (_dated(memory, zh=zh) for memory in (one, other))
        content = f"{first}{begin}与{second}{end}相对。" if zh else f"{first}{begin} stands against {second}{end}."
        yield _Draft("contrast", key, content, (one, other))


def _dated(memory: Memory, *, zh: bool) -> str:
    day = _day(memory.event_time, zh=zh)
    return (f"（{day}）" if zh else f" ({day})") if day else ""


def _excluded(memories: Sequence[Memory]) -> Iterable[tuple[Memory, Memory]]:
    told = [(one, {stem(word) for word in words(one.content)}) for one in memories if not _denied(one)]
    for ways, without in _EXCLUDES:
        holders = [one for one, _ in told if one.mem_type in ("profile", "fact") and _holds(one.value, ways)]
        for holder in holders[-1:]:
            for other, said in told:
                taken = other is not holder and _TAKEN.search(other.content) and "not" not in said
                if taken and (said & without or _holds(other.content, filter(is_chinese, without))):
                    yield holder, other


def _holds(text: str, names: Iterable[str]) -> bool:
    """Whether a text has one of the words, of Chinese ones as they stand in it."""
    found = set(words(text))
    return any(name in found or (is_chinese(name) and name in text) for name in names)


def _opposed(memories: Sequence[Memory]) -> Iterable[tuple[Memory, Memory]]:
    """Claims of one property that say the same but for a negation or an opposite, and stand side by side."""
    claims = [one for one in memories if one.mem_type in ("profile", "fact") and one.value][-_COMPARED:]
    for one, other in combinations(claims, 2):
        if one.property_name != other.property_name:
            continue
        shared = set(content_words(one.value)) & set(content_words(other.value))
        if shared and distinct(one.content, other.content) in ("negation", "antonym"):
            yield one, other


def _collections(name: str, memories: Sequence[Memory], *, zh: bool) -> Iterable[_Draft]:
    groups: dict[str, dict[str, Memory]] = defaultdict(dict)
    for memory in memories:
        if memory.mem_type in ("profile", "fact") and memory.value and memory.property_name and not _denied(memory):
            groups[memory.property_name].setdefault(normalise_claim(memory.value), memory)
    wide = sorted(
        ((prop, found) for prop, found in groups.items() if len(found) > 1), key=lambda it: (-len(it[1]), it[0])
    )
    for prop, found in wide[:_LISTS]:
        kept = list(found.values())[-_LISTED:]
        about = fine_name(prop).replace("_", " ")
        values = ("；" if zh else "; ").join(one.value for one in kept)
        content = f"{name}，{about}：{values}。" if zh else f"{name}, {about}: {values}."
        yield _Draft("collection", prop, content, tuple(kept))


def _denied(memory: Memory) -> bool:
    return not {"negated", "past", "hypothetical", "instruction_like"}.isdisjoint(memory.flags)


def _days(memories: Iterable[Memory]) -> set[object]:
    return {one.event_time.date() for one in memories if one.event_time is not None}


def _range(memories: Sequence[Memory], *, zh: bool = False) -> str:
    times = [one.event_time for one in memories if one.event_time is not None]
    if len(times) < 2:
        return ""
    begin, end = _day(min(times), zh=zh), _day(max(times), zh=zh)
    return f"，从{begin}到{end}" if zh else f", from {begin} to {end}"


def _day(moment: datetime | None, *, zh: bool = False) -> str:
    if moment is None:
        return ""
    return f"{moment.year}年{moment.month}月{moment.day}日" if zh else f"{moment.day} {moment:%B} {moment.year}"
