"""Other names that a text states: what somebody is called, what letters stand for, what something was renamed to."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from mindmem.core.language.english import PLAIN_STARTS
from mindmem.core.reason.rules.sentences import is_chinese, split
from mindmem.core.records import Message
from mindmem.core.schema.names import first_names, is_initials, name_key

__all__ = ["USER", "stated_aliases"]

USER: Final = "user"
"""The entity of a user without a name."""
_READ: Final = 20_000
_UPPER: Final = (
    "[A-Z\u00c0-\u00d6\u00d8-\u00de\u0106\u010c\u0141\u015a\u0160\u0179\u017b\u017d\u0391-\u03a9\u0410-\u042f]"
)
_PART: Final = rf"{_UPPER}[\w&+#]*(?:[.'’-][\w&+#]+)*"
_NAME: Final = rf"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?{_PART}(?: (?:(?:of|the|de|van|von|for|and) )?{_PART}){{0,5}}"
_Q: Final = "[\"“”'‘’]?"
_OTHER: Final = (
    r"(?:also|better|otherwise|commonly|widely|affectionately|sometimes) (?:known|called|referred to)(?: as)?"
    r"|aka|a\.k\.a\.?|alias|known as|nicknamed|goes by|who goes by|known to (?:\w+ ){1,3}as|short for"
)
_CALL: Final = (
    r"(?:(?:every(?:body|one)|people|(?:all )?my (?:\w+ )?(?:friends|family|colleagues|coworkers|kids|students|team"
    r"|mates)"
    r"|friends|folks|most people|they|you can|you may|just|please) (?:all |just |always |usually |still )*calls? me"
    r"|(?:^|[,.;] ?|but |and |so )(?:just |please )?call me|I (?:also |usually |mostly )?(?:go|went) by(?: the name)?"
    r"|I(?:['’]m| am) (?:also |better |usually )?(?:known as|called|nicknamed)|my (?:nick ?name|nick|short name) is"
    r"|I(?:['’]ve| have)? (?:legally )?changed my name to)"
)
_SPEAKER: Final = re.compile(rf"(?i:{_CALL}) {_Q}(?P<alias>{_NAME})")
_MY_NAME: Final = re.compile(rf"(?i:\bmy (?:real |full |legal )?name is) {_Q}(?P<alias>{_NAME})")
_BESIDE: Final = re.compile(
    rf"(?P<name>{_NAME})['\"”’]? ?[,(–—-] ?(?:who (?:is|was) )?(?i:{_OTHER}) (?:the )?{_Q}(?P<alias>{_NAME})"
)
_IS_ALSO: Final = re.compile(
    rf"(?P<name>{_NAME}) (?:is|was|are|were|has been) (?:also |often |usually )?(?i:{_OTHER}|called|abbreviated(?:"
    rf" as| to)?)"
    rf" (?:the )?{_Q}(?P<alias>{_NAME})"
)
_FORMER: Final = re.compile(
    rf"(?P<name>{_NAME}) ?[,(] ?(?i:formerly(?: known as| called)?|previously(?: known as| called)?|née|nee|born"
    rf"|once called"
    rf"|ex-) ?(?:the )?{_Q}(?P<alias>{_NAME})"
)
_NOW: Final = re.compile(
    rf"(?P<alias>{_NAME})(?:,? which)?(?: just| recently| officially| finally| has| have)*"
    r" (?i:is now (?:called|known as|named)|(?:(?:was|has been|got|is being) )?renamed"
    rf"(?: itself)?(?: to| as)?|(?:has )?rebranded(?: itself)?(?: as| to)|now goes by|(?:has )?(?:legally )?changed"
    rf" (?:its|his|her|their) name to|became known as) (?:the )?{_Q}(?P<name>{_NAME})"
)
_WE_RENAMED: Final = re.compile(
    rf"\b(?i:renam(?:ed|ing)|rebranded) (?:(?:our|the|my) (?:\w+ )?)?(?:from )?{_Q}(?P<alias>{_NAME}){_Q}"
    rf" (?:to|as|into) {_Q}(?P<name>{_NAME})"
)
_FULL: Final = re.compile(rf"(?P<alias>{_NAME})['’]s (?:full|real|birth|legal|proper|maiden) name is (?P<name>{_NAME})")
_PARENS: Final = re.compile(
    rf"(?P<first>{_NAME}) ?[(\"“‘] ?(?:or )?(?P<inner>{_NAME})(?P<mark> for short| in short)? ?[)\"”’]"
    rf"(?: (?P<last>{_PART}))?"
)
_FOR_SHORT: Final = re.compile(
    rf"(?P<name>{_NAME}),? (?:or |and |abbreviated |we (?:just )?call (?:it|her|him|them) )?{_Q}(?P<alias>{_NAME}){_Q}"
    r" (?:for|in) short"
)
_STANDS: Final = re.compile(
    rf"(?P<alias>{_NAME}) (?:stands for|is short for|is an abbreviation (?:of|for)|means|abbreviates)"
    rf" (?:the )?(?P<name>{_NAME})"
)
_CALLED: Final = re.compile(
    r"\b(?i:every(?:body|one)|we|people|they|(?:his|her|their|my) (?:friends|family)|friends|I|most people|whom we"
    r"|the kids)"
    r" (?i:all |just |usually |always |mostly )*calls? "
    rf"(?P<whom>her|him|them|it|{_PART}(?: {_PART})??) {_Q}(?P<alias>{_PART}){_Q}(?=$|[\s,.;!?)])"
)
_GOES: Final = re.compile(rf"(?<!\w)(?P<whom>[Ss]he|[Hh]e|[Tt]hey) (?:usually |also )?goe?s? by {_Q}(?P<alias>{_NAME})")
_NAMED: Final = re.compile(_NAME)

_SIGN: Final = r"[\u4e00-\u9fffA-Za-z·]"
_STOP: Final = r"(?=$|[，。！？；,.!?;、”」）)（(])"
_ZH_ME: Final = re.compile(
    r"(?:(?:大家|人家|朋友们?|同事们?|同学们?|家里人|家人|他们|别人|周围的人)(?:都|平时|一般|总是|经常)*(?:叫|喊|管)我(?:叫)?|叫我"
    rf"|我(?:的)?(?:外号|小名|昵称|绰号|英文名|网名|曾用名|乳名)(?:是|叫做?)|我改名(?:为|叫|成))[“「\"]?(?P<alias>{_SIGN}{{1,12}}?)"
    rf"(?:就好|就行|吧|了)?[”」\"]?{_STOP}"
)
_ZH_ALSO: Final = re.compile(
    rf"(?P<name>{_SIGN}{{2,12}}?)[，,（(]?(?:又名|又称|又叫|也叫|别名|简称|俗称|人称|外号|绰号|小名叫?|昵称|英文名叫?)(?:是|为|叫)?"
    rf"[“「\"]?(?P<alias>{_SIGN}{{1,12}}?)[”」\"]?{_STOP}"
)
_ZH_OLD: Final = re.compile(
    rf"(?P<name>{_SIGN}{{2,12}}?)[，,（(]?(?:原名|曾用名|以前叫做?|原来叫做?|本名|旧称)(?:是|为)?"
    rf"[“「\"]?(?P<alias>{_SIGN}{{1,12}}?)[”」\"]?{_STOP}"
)
_ZH_NOW: Final = re.compile(
    rf"(?P<alias>{_SIGN}{{2,12}}?)(?:现在|已经|已|正式)?(?:改名|更名|改称)(?:为|叫做?|成)"
    rf"[“「\"]?(?P<name>{_SIGN}{{1,12}}?)(?:了)?[”」\"]?{_STOP}"
)
_ZH_CALLED: Final = re.compile(
    rf"(?:大家|我们|朋友们?|家里人|同事们?)(?:都|平时|一般)*叫(?:她|他|它)[“「\"]?(?P<alias>{_SIGN}{{1,8}}?)[”」\"]?{_STOP}"
)
_ZH_WHO: Final = re.compile(rf"(?:叫|是|名叫)(?P<name>{_SIGN}{{2,4}}?){_STOP}")

_DENIED: Final = re.compile(
    r"\b(?:not|never|no ?one|nobody|n['’]t|don['’]?t|doesn['’]?t|isn['’]?t|wasn['’]?t|if|unless|would|could|might"
    r"|should"
    r"|imagine|suppose|maybe|perhaps|wish|stop(?:ped)?|hate (?:it )?when|used to|joked?|pretend)\b",
    re.IGNORECASE,
)
_DENIED_ZH: Final = re.compile("别叫|不要叫|不叫|没人叫|不喜欢|讨厌|如果|假如|要是|也许|可能|吗")
_NO_NAMES: Final = PLAIN_STARTS | frozenset(
    "mr mrs ms dr everybody everyone people friends mom mum dad grandma grandpa".split()
)


def stated_aliases(messages: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """Return the (alias, name) pairs that the messages state, each once; the speaker without a name is ``USER``.

    Questions, denials and suppositions state nothing. Of a renaming, the newer name is the name.
    """
    found: dict[tuple[str, str], None] = {}
    for message in messages:
        if message.role not in ("user", "assistant"):
            continue
        speaker = message.name or ("" if message.role == "assistant" else USER)
        last = ""
        for sentence in split(message.content, 0, min(len(message.content), _READ)):
            text = sentence.text[:1000]
            if text.endswith(("?", "？")):
                continue
            reader = _chinese if is_chinese(text) else _english
            for alias, name in reader(text, speaker, last):
                alias, name = _clean(alias), _clean(name)
                if _is_name(alias) and _is_name(name) and name_key(alias) != name_key(name):
                    found.setdefault((alias, name))
            last = _person(text) or last
    return tuple(found)


def _english(text: str, speaker: str, last: str) -> Iterable[tuple[str, str]]:
    for pattern in (_BESIDE, _IS_ALSO, _FORMER, _NOW, _WE_RENAMED, _FULL, _FOR_SHORT, _STANDS):
        for match in pattern.finditer(text):
            if _asserted(text, match):
                yield match["alias"], match["name"]
    for match in _PARENS.finditer(text):
        yield from _parenthesis(match)
    if speaker:
        for match in _SPEAKER.finditer(text):
            if _asserted(text, match):
                yield match["alias"], speaker
        for match in _MY_NAME.finditer(text):
            if _asserted(text, match) and (speaker == USER or _akin(match["alias"], speaker)):
                yield match["alias"], speaker
    for match in (*_CALLED.finditer(text), *_GOES.finditer(text)):
        whom = match["whom"]
        if not whom[0].isupper() or whom.lower() in ("she", "he", "they"):
            whom = _person(text[: match.start()]) or last
        if whom and _asserted(text, match):
            yield match["alias"], whom


def _parenthesis(match: re.Match[str]) -> Iterable[tuple[str, str]]:
    """Read "Robert (Bob) Smith", "World Health Organization (WHO)" and "WHO (World Health Organization)"."""
    first, inner, last = _clean(match["first"]), _clean(match["inner"]), match["last"] or ""
    quoted = match[0][len(match["first"]) :].lstrip()[0] in '"“‘'
    if is_initials(inner, first) or match["mark"]:
        yield inner, first
    elif is_initials(first, inner):
        yield first, inner
    elif last and len(inner.split()) == 1 and (quoted or _nick(inner, first)):
        yield inner, f"{first} {last}"
        yield f"{inner} {last}", f"{first} {last}"
    elif not last and len(inner.split()) == 1 and _nick(inner, first):
        yield inner, first


def _nick(short: str, name: str) -> bool:
    first = name_key(name).split()[0]
    return first in first_names(name_key(short)) or (len(short) > 1 and first.startswith(name_key(short)))


def _akin(alias: str, speaker: str) -> bool:
    """Whether a name given as one's own goes with the name under which one speaks: "Ann Smith" for "Ann"."""
    one, other = set(name_key(alias).split()), set(name_key(speaker).split())
    return bool(one & other) or _nick(speaker, alias)


def _asserted(text: str, match: re.Match[str]) -> bool:
    start = max((text.rfind(mark, 0, match.start()) for mark in (";", " but ", ", and ", ". ")), default=0)
    return _DENIED.search(text[max(start, 0) : match.end()]) is None


def _person(text: str) -> str:
    """Return the one name in a text that may be spoken of as "her" or "it", or the empty string."""
    names = [name for match in _NAMED.finditer(text) if _is_name(name := _clean(match[0]))]
    if len({name_key(name) for name in names}) == 1:
        return names[0]
    found = {match["name"] for match in _ZH_WHO.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def _chinese(text: str, speaker: str, last: str) -> Iterable[tuple[str, str]]:
    if _DENIED_ZH.search(text):
        return
    for pattern in (_ZH_ALSO, _ZH_OLD, _ZH_NOW):
        for match in pattern.finditer(text):
            if not match["name"].startswith(("我", "他", "她", "大家")) and not match["alias"].startswith(("我", "他")):
                yield match["alias"], match["name"]
    if speaker:
        for match in _ZH_ME.finditer(text):
            yield match["alias"], speaker
    for match in _ZH_CALLED.finditer(text):
        whom = _person(text[: match.start()]) or last
        if whom:
            yield match["alias"], whom


def _is_name(word: str) -> bool:
    return bool(word) and (word.casefold() not in _NO_NAMES or (len(word) > 1 and word.isupper()))


def _clean(name: str) -> str:
    plain = name.strip(" \"“”‘’'.,")
    for ending in ("'s", "’s"):
        plain = plain.removesuffix(ending)
    return re.sub(r"^(?:The|A|My|Our) (?=[A-Z])", "", plain)
