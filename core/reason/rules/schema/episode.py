"""What an episode is called and comes to, in its own words: who spoke, of what by its salient words, when, and the
sentence that holds most of them. It claims nothing but that this was said."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from mindmem.core.language import english
from mindmem.core.language.words import stem, words
from mindmem.core.reason.rules.sentences import Sentence, is_chinese, split
from mindmem.core.records import Message
from mindmem.core.redact import holds_mark, redact
from mindmem.core.text import STOP_WORDS

__all__ = ["Told", "salient", "tell"]

_READ: Final = 4_000  # characters of a message that are looked at
_TERMS: Final = 3
_QUOTED: Final = 200
_LEAST: Final = 20  # characters of a sentence worth quoting
_LATIN: Final = re.compile(r"[^\W\d_\u4e00-\u9fff][^\W_\u4e00-\u9fff]*(?:[-'’][^\W_]+)*")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]+")
_FAINT: Final = (
    STOP_WORDS["english"] | english.FILLERS | english.NEGATIONS | english.PLAIN_STARTS | english.TEMPORAL
    | frozenset(english.MONTHS) | frozenset(english.WEEKDAYS) | frozenset(english.NUMBERS)
    | frozenset(
        "get got getting go going gone went come came make made take took thing things something anything"
        " everything lot"
        " lots really good great nice well much many see saw seen look looks looking think thought know knew like love"
        " want wanted need feel felt say said tell told time times day days week weeks year years today yesterday"
        " tomorrow"
        " last next ago way bit kind sort sure yeah wow hey hi hello thanks thank glad happy hope sounds sound amazing"
        " awesome cool nice best better new old first one two people person always never ever maybe still even though"
        " back around lately recently pretty super keep keeps kept let lets give gave given put try tried"
        " trying".split()
    )
)  # fmt: skip
"""Words that say little about what is spoken of."""
_FAINT_ZH: Final = re.compile(
    "[的了吗呢吧啊呀嘛哦哈啦嗯是在我你他她它们这那和与跟也都就不很太真又还再把被给对从到去来上下里说想要会能有没着过得地个只最更]"
    "|[昨今明前后]天|[去今明前]年|现在|最近|已经|因为|所以|但是|觉得|喜欢|参加|非常|一起|什么|怎么|自己|大家|时候|今早|昨晚|开始"
)


@dataclass(frozen=True, slots=True)
class Told:
    """Title and summary of an episode, and the message and characters that the summary quotes."""

    title: str
    summary: str
    quoted: tuple[str, int, int] | None = None


def tell(messages: Sequence[Message], timezone: str = "UTC") -> Told:
    """Return what an episode is called and comes to; empty where nobody said anything."""
    spoken = [message for message in messages if message.role in ("user", "assistant") and message.content.strip()]
    if not spoken:
        return Told("", "")
    zh = sum(is_chinese(message.content) for message in spoken) * 2 > len(spoken)
    speakers = list(dict.fromkeys(_speaker(message, zh=zh) for message in spoken))
    names = {word for speaker in speakers for word in words(speaker)}
    weights = salient((message.content for message in spoken), names)
    terms = list(weights)[:_TERMS]
    who = _joined(speakers[:3], zh=zh)
    title = f"{who}{'：' if zh else ': '}{('、' if zh else ', ').join(terms)}" if terms else who
    message, sentence = _best(spoken, weights)
    when = _day(spoken[0].timestamp, timezone, zh=zh)
    about = _joined(terms, zh=zh)
    said = sentence.text[:_QUOTED] if sentence else ""
    quoted = _speaker(message, zh=zh)
    if zh:
        summary = f"{when}{who}谈到{about}" if about else f"{when}{who}说话"
        summary += f"；{quoted}说：“{said}”" if said else "。"
    else:
        summary = f"{when}{who} spoke of {about}" if about else f"{when}{who} spoke"
        summary = summary[0].upper() + summary[1:]
        summary += f"; {quoted} said: “{said}”" if said else "."
    place = (message.message_id, sentence.start, sentence.end) if sentence else None
    return Told(redact(title)[0], redact(summary)[0], place)


def salient(texts: Iterable[str], without: Iterable[str] = ()) -> Mapping[str, float]:
    """Return the words that texts turn on, as first written, with their weight, heaviest first.

    A word weighs by the texts that have it and its length; names weigh half as much again. Chinese is cut at particles
    and other signs of grammar.
    """
    kept = {stem(word) for word in without}
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    named: set[str] = set()
    for text in texts:
        seen: set[str] = set()
        for word in _LATIN.findall(text[:_READ]):
            plain = word.removesuffix("'s").removesuffix("’s")
            low = plain.casefold()
            key = stem(low)
            if len(low) < 3 or low in _FAINT or "'" in low or "’" in low or key in kept:
                continue
            seen.add(key)
            shown.setdefault(key, plain)
            if plain[0].isupper():
                named.add(key)
            else:
                shown[key] = plain if not shown[key][0].isupper() else shown[key]
        for run in _HAN.findall(text[:_READ]):
            for part in _FAINT_ZH.split(run):
                if 2 <= len(part) <= 6 and part not in kept:
                    seen.add(part)
                    shown.setdefault(part, part)
        counts.update(seen)
    weights = {
        shown[key]: count * math.log2(2 + min(len(shown[key]), 10)) * (1.5 if key in named else 1.0)
        for key, count in counts.items()
    }
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))


def _best(spoken: Sequence[Message], weights: Mapping[str, float]) -> tuple[Message, Sentence | None]:
    """Return the sentence with most salient weight for its length, and its message."""
    heaviest = {stem(term.casefold()): weight for term, weight in list(weights.items())[:20]}
    best: tuple[float, int, Message, Sentence | None] = (0.0, 0, spoken[0], None)
    for place, message in enumerate(spoken):
        for sentence in split(message.content, 0, min(len(message.content), _READ)):
            text = sentence.text
            asked = text.endswith(("?", "？"))
            if asked or holds_mark(text) or (len(text) < _LEAST and not (is_chinese(text) and len(text) > 5)):
                continue
            found = {stem(word) for word in words(text)}
            weight = sum(
                value for term, value in heaviest.items() if term in found or (len(term) == 2 and term in text)
            )
            score = weight / (4 + math.sqrt(len(found)))
            if score > best[0]:
                best = (score, -place, message, sentence)
    return best[2], best[3]


def _speaker(message: Message, *, zh: bool) -> str:
    if message.name:
        return message.name
    if zh:
        return "助手" if message.role == "assistant" else "用户"
    return "the assistant" if message.role == "assistant" else "the user"


def _joined(parts: Sequence[str], *, zh: bool) -> str:
    if zh:
        return "、".join(parts)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def _day(moment: datetime | None, timezone: str, *, zh: bool) -> str:
    if moment is None:
        return ""
    local = moment.astimezone(ZoneInfo(timezone))
    return f"{local.year}年{local.month}月{local.day}日，" if zh else f"On {local.day} {local:%B} {local.year} "
