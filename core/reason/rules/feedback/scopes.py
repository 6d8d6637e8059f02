"""How long a correction holds, by its words: for this task, wherever a condition is met, or from now on."""

import re
from typing import Final

from mindmem.core.reason.feedback_port import Persistence

__all__ = ["condition_of", "lasting", "lead_of", "persistence"]

_THIS: Final = (
    r"(?:one|time|once|task|email|e-mail|mail|message|reply|answer|question|draft|letter|report|case|chat|conversation"
    r"|session|trip|meeting|week|evening|document|text|post|list|recipe|paragraph|section|slide|version|round|order)"
)
_TEMPORARY: Final = re.compile(
    rf"\b(?:for|in|on|during) (?:just |only )?(?:this|that|today['’]s|tonight['’]s)(?: \w+)? {_THIS}\b"
    rf"|\bfor (?:this|that) one\b"
    rf"|\b(?:just |only )?this (?:time|once|one time)\b|\b(?:just|only) (?:for )?(?:today|tonight|now|once|this"
    rf"|that {_THIS})\b"
    r"|\bfor (?:now|today|tonight|the moment|once)\b|\b(?:today|tonight) only\b|\bright now\b|\btemporarily\b"
    r"|\bat the moment\b"
    r"|\bone[- ]off\b|\bthis {_THIS} only\b"
    r"|\b(?:first|second|third|fourth|last|next|final)"
    r" (?:paragraph|sentence|line|section|slide|page|verse|column|stanza)\b"
    r"|第[一二三四五六七八九十\d]+[句段页行章节]|这一?[次回封篇份个条段]|今[天晚]先|今天就|暂时|先这样|就一次|刚才那|眼下|现在先|本次|这会儿|只是今天|今天只",
    re.IGNORECASE,
)
_LASTING: Final = re.compile(
    r"\b(?:always|never|from now on|in (?:the )?future|going forward|from here on|ever again|again|any ?more"
    r"|every time|each time"
    r"|permanently|for good|remember|keep in mind)\b"
    r"|以后|今后|从现在起|从今|永远|总是|每次|一直|再也|别再|不要再|记住|一律|始终",
    re.IGNORECASE,
)
_WHO: Final = (
    r"(?:(?:close|old|new|good|best|my|our|the|other|senior|most|small|younger|older|immediate|work)[ -])*"
    r"(?:friends?|family|colleagues?|co-?workers?|clients?|customers?|strangers?|kids?|children|parents?"
    r"|boss(?:es)?|team(?:mates)?"
    r"|managers?|students?|teachers?|guests?|neighbou?rs?|investors?|partners?|wife|husband|mother|father|mom|mum"
    r"|dad|people"
    r"|relatives|doctors?|juniors?|staff|lawyers?|in-?laws)"
)
_WORK: Final = (
    r"(?:(?:(?:my|our|all|any|work|business|school|legal|medical|technical|family|private|short|long|formal) )*"
    r"(?:e-?mails|messages|letters|texts|replies|reports|posts|notes|questions|trips|meals|dinners|breakfasts|lunches"
    r"|presentations|slides|code reviews|documents|documentation|meetings|translations|essays|summaries|recipes"
    r"|workouts|flights"
    r"|calls|gifts|holidays|texts)|anything|everything)"
)
_PLACE: Final = (
    rf"(?:at (?:work|home|school|night|parties|the (?:office|gym|weekend))|on (?:weekends?|weekdays|work ?days|\w+days"
    rf"|(?:business )?trips|vacation|holidays?)|in (?:meetings?|public|private|the (?:mornings?|evenings?|office"
    rf"|car)|summer|winter"
    rf"|spring|autumn|{_WORK})|during (?:[\w'-]+ ?){{1,4}}|(?:with|around|among) {_WHO}|for {_WORK}(?: (?:to|with"
    rf"|from|about|at|on)"
    rf" [\w' -]{{2,40}})?)"
)
_CLAUSE: Final = (
    r"(?:when(?:ever)?|while|if|unless|as long as|every time) (?:i|i['’]m|we|we['’]re|you|you['’]re|it|it['’]s|my"
    r"|the|there"
    r"|talking|writing|speaking|travell?ing|working|cooking|planning|booking|someone|somebody|people)\b"
)
_LEAD: Final = re.compile(
    rf"^(?:and |but |also |so |please )*(?P<when>{_CLAUSE}[^,]*|{_PLACE})(?:,| (?=(?:i|please|always|never|don['’]t"
    rf"|use|we)\b))\s*",
    re.I,
)
_TRAIL: Final = re.compile(rf",? (?P<when>{_CLAUSE}[^,]*|{_PLACE})$", re.IGNORECASE)
_FOR_NOW: Final = re.compile(
    rf"^(?:for|in|on) (?:just |only )?(?:this|that|today['’]s)(?: \w+)? {_THIS},?\s+|^(?:just )?(?:this time"
    rf"|for now|for today|today),?\s+",
    re.IGNORECASE,
)
_HABIT: Final = re.compile(
    r"\b(?:prefer|like|love|want|need|hate|enjoy|dislike|tend|usually|communicate|talk|speak|write|drink|eat|use|am"
    r"|['’]m|feel"
    r"|avoid|keep|go|stay|dress|listen)\b",
    re.IGNORECASE,
)
_SPEAKS: Final = re.compile(
    r"\b(?:communicate|talk|speak|write|joke|am|['’]m|be|text|open up|share)\b|^(?:please |always |never |don['’]t "
    r"|use |keep |be )",
    re.I,
)
_CHINESE: Final = re.compile(
    r"(?:(?<=^)|(?<=[，,以后今后请]))(?P<when>(?:当|在)?[^，,。是]{1,16}?(?:的时候|时候|时|的场合|的情况下|的话)"
    r"|(?:跟|和|与|对|给)[^，,。]{1,10}?(?:说话|聊天|沟通|写邮件|发邮件|发消息|写信)(?:时|的时候)?"
    r"|在(?:公司|工作场合|家里?|学校|会议上|邮件里|朋友面前|公共场合)|工作(?:中|上|邮件里)|(?:周末|上班时?|出差时?|平日|工作日))"
    r"[，,]?"
)
_CHINESE_HABIT: Final = re.compile(
    r"喜欢|推荐|安排|选|只|偏好|习惯|希望|讨厌|不爱|爱|想|用|要|别|不|请|会|说|写|喝|吃|叫|回"
)


def lasting(text: str) -> bool:
    """Return whether words say that something holds from now on."""
    return _LASTING.search(text) is not None


def condition_of(text: str, *, directive: bool) -> str:
    """Return the words that say when a wish or habit holds, empty for always.

    >>> condition_of("When I'm at work, keep it formal", directive=True), condition_of("I like tea", directive=False)
    ("When I'm at work", '')
    """
    for pattern in (_LEAD, _TRAIL):
        match = pattern.search(text)
        if match is None:
            continue
        rest = text[: match.start()] + text[match.end() :]
        when = match["when"].strip()
        clause = re.match(_CLAUSE, when, re.IGNORECASE) is not None
        by_place = (
            pattern is _LEAD or directive or _SPEAKS.search(rest) is not None or not when.lower().startswith("with")
        )
        if (directive or _HABIT.search(rest)) and (clause or by_place):
            return when
    found = _CHINESE.search(text)
    if found is not None and _CHINESE_HABIT.search(text[found.end() :]) is not None:
        return re.sub(r"^(?:以后|今后|请|我)+", "", found["when"])
    return ""


def lead_of(text: str) -> str:
    """Return the words at the beginning of a sentence that say when the rest of it holds, empty for none.

    >>> lead_of("For emails to my boss, use a formal tone")
    'For emails to my boss, '
    """
    match = _LEAD.match(text) or _FOR_NOW.match(text)
    return match.group() if match else ""


def persistence(sentence: str, statement: str, *, directive: bool, lasts: bool) -> tuple[Persistence, str]:
    """Return how long a correction holds, and its condition, by its sentence and by what it states.

    An instruction that says neither is meant for the task at hand; a statement holds until something else is said.
    """
    strongly = re.search(r"\bfrom now on\b|\balways\b|以后|从现在起", sentence, re.IGNORECASE) is not None
    if _TEMPORARY.search(sentence) is not None and not strongly:
        return "task_temporary", ""
    condition = condition_of(statement, directive=directive)
    if condition:
        return "scenario_specific", condition
    return ("long_term" if lasts or not directive or lasting(sentence) else "task_temporary"), ""
