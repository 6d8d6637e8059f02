"""What a user asks of the assistant for good: its language, how it calls them, what it does or leaves in its answers.

An imperative is such a wish only where its words say that it holds beyond this answer ("always", "never", "from now
on", "以后") and that it is about answering; "never give up" and "answer in French: …" are not.
"""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Wish", "wish"]


@dataclass(frozen=True, slots=True)
class Wish:
    """A lasting wish: property, value, whether a newer one replaces it, and -1 for what is not wanted."""

    property_name: str
    value: str
    single_valued: bool
    polarity: int = 1


_ALWAYS: Final = (
    r"(?P<cue>always|from now on,?|in (?:the )?future,?|going forward,?|in all (?:your|future) (?:answers|replies),?)"
)
_POLITE: Final = r"(?:(?:please|remember to|hey|ok|okay|also|and|so|can you|could you|i want you to)[, ]+)*"
_AFTER: Final = r"(?:[, ]+(?:please|from now on|in (?:the )?future|going forward|always|okay|thanks))*"
_ANSWER: Final = r"(?:answer|reply|respond|write|speak|talk|chat|communicate|explain (?:things|everything))"
_LANGUAGE: Final = (
    r"(?P<language>(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+)?|english|french|german|spanish|italian|portuguese|dutch"
    r"|chinese|mandarin|japanese|korean|russian|arabic|hindi)"
)
_NICKNAME: Final = (
    r"(?P<name>(?-i:[A-Z])[\w.'-]*(?: (?-i:[A-Z])[\w.'-]*){0,2})(?: instead| from now on| please|,? not .{1,30})?"
)
_MANNER: Final = (
    r"emojis?|emoticons?|bullet (?:points|lists)|bullets|markdown|tables?|headings?|jargon|slang"
    r"|exclamation (?:marks|points)"
    r"|metric(?: units)?|imperial(?: units)?|celsius|fahrenheit|24[- ]hour(?: time| format| clock)?|small talk|flattery"
    r"|first name|formal|informal|casual|short|brief|concise|detailed|step by step|sources|citations|code blocks?"
    r"|disclaimers?|apologi[sz]e|apologies|abbreviations|acronyms|british spelling|american spelling|humou?r|sarcasm"
)
_TO_ME: Final = r"\b(?:with me|to me|for me|me|your (?:answers?|replies|reply|responses?|messages?))\b"
_DO: Final = (
    r"(?:answer|reply|respond|write|use|call|address|explain|include|add|format|keep|give|show|cite|ask|remind|avoid|put"
    r"|send|speak|talk|start|end|apologi[sz]e|suggest|recommend)"
)
_CALLED: Final = re.compile(
    rf"{_POLITE}(?:(?:you can|just|always|from now on,?) )*call me {_NICKNAME}{_AFTER}[.!]*", re.IGNORECASE
)
_IN_LANGUAGE: Final = re.compile(
    rf"{_POLITE}(?:{_ALWAYS} )?{_POLITE}{_ANSWER}(?: to me| with me)?(?: only)? in {_LANGUAGE}(?: only)?"
    rf"(?P<after>{_AFTER})[.!]*",
    re.IGNORECASE,
)
_STYLE: Final = re.compile(
    rf"{_POLITE}(?:{_ALWAYS}|(?P<never>never|(?:do not|don['’]t)(?: ever)?|stop|avoid)) {_POLITE}"
    rf"(?P<deed>(?:{_DO}|using|sending|adding|calling|writing|ending|starting)\b[^.!?\n]{{0,80}}?)(?P<after>{_AFTER})[.!]*",
    re.IGNORECASE,
)
_ABOUT_ANSWERS: Final = re.compile(rf"\b(?:{_MANNER})\b|{_TO_ME}", re.IGNORECASE)
_LASTING_DENIAL: Final = re.compile(
    rf"^{_POLITE}(?:never|(?:do not|don['’]t) ever|stop|avoid)\b|\b(?:with|to) me\b"
    r"|\byour (?:answers|replies|responses)\b",
    re.IGNORECASE,
)
_SOON: Final = re.compile(r"\b(?:yet|today|tonight|tomorrow|now|this time|when|until|if|before|after|later|back)\b")
_CHINESE_CALLED: Final = re.compile(
    r"(?:请|麻烦)?(?P<cue>以后|今后|从现在起|从今以后)?(?:请|你)?(?:都|就|可以|直接)*(?:叫我|称呼我为?|喊我)(?P<name>[\w·]{1,8}?)(?:就行|就好|吧|就可以)?了?[。！!]*"
)
_CHINESE_LANGUAGE: Final = re.compile(
    r"(?:请|麻烦)?(?P<cue>以后|今后|从现在起|从今以后|一直|始终|永远|总是|每次)(?:请|你)?(?:都|只|一直)*(?:用|使用|以)"
    r"(?P<language>[\u4e00-\u9fff]{1,6}[语文话])(?:来|跟我|和我|给我)*(?:回答|回复|答复|交流|聊天?|沟通|说话?|写)(?:我|问题)?(?:吧|就行)?[。！!]*"
)
_CHINESE_STYLE: Final = re.compile(
    r"(?:请|麻烦)?(?P<cue>以后|今后|从现在起|从今以后|永远|总是|每次)?(?:请|你)?(?:(?P<not>别|不要|请勿|不用)再?)?(?:(?P<me>对我|跟我|和我|给我)(?:说话|聊天)?(?:时|的时候)?)?"
    r"(?P<not2>别|不要)?再?(?P<deed>(?:用|使用|发|加)(?:表情符号|表情包?|emoji|颜文字|感叹号|敬语|列表|表格|markdown)|(?:回答|回复|说话)(?:都|要|得)?(?:简短|简洁|详细|正式|直接|礼貌)(?:一?些|一?点)?)(?:吧|了)?[。！!]*",
    re.IGNORECASE,
)


def wish(sentence: str) -> Wish | None:
    """Return the lasting wish of one sentence of a user, None when it is none.

    >>> wish("Please always answer in French.")
    Wish(property_name='answer_language', value='French', single_valued=True, polarity=1)
    """
    text = sentence.strip()
    if len(text) > 200:
        return None
    if match := _CALLED.fullmatch(text):
        return Wish("called", match["name"].rstrip("."), True)
    if match := _IN_LANGUAGE.fullmatch(text):
        lasting = match["cue"] or re.search(r"now on|future|forward|always", match["after"], re.IGNORECASE)
        return Wish("answer_language", match["language"], True) if lasting else None
    if match := _STYLE.fullmatch(text):
        return _style(text, match)
    if match := _CHINESE_CALLED.fullmatch(text):
        asked = match["cue"] or text.startswith(("叫我", "请叫我", "称呼我", "请称呼我", "你可以叫我", "可以叫我"))
        return Wish("called", match["name"], True) if asked and match["name"][0] not in "去来什怎做起回等" else None
    if match := _CHINESE_LANGUAGE.fullmatch(text):
        return Wish("answer_language", match["language"], True)
    match = _CHINESE_STYLE.fullmatch(text)
    if match is None or not (match["cue"] or match["me"]):
        return None
    return Wish("answer_style", match["deed"], False, -1 if match["not"] or match["not2"] else 1)


def _style(text: str, match: "re.Match[str]") -> Wish | None:
    deed = match["deed"].strip(" ,")
    if not _ABOUT_ANSWERS.search(text) or _SOON.search(deed.lower()):
        return None
    never = match["never"]
    if never and not (_LASTING_DENIAL.search(text) or "from now on" in text.lower()):
        return None
    if not never and re.match(r"(?:call|remind|give|show|send|ask)\b", deed, re.IGNORECASE) and " me" not in f" {deed}":
        return None
    return Wish("answer_style", deed, False, -1 if never else 1)
