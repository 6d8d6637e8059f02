"""Sentences whose words look like a correction and are none: questions, suppositions, others' words, jokes, code."""

import re
from typing import Final

from mindmem.core.language.words import asks

__all__ = ["about_code", "denies", "in_jest", "laughs", "unmeant", "unquoted"]

_JEST: Final = re.compile(
    r"\b(?:just |only )?(?:kidding|joking)\b|\bjk\b|\bjust a joke\b|[😜😝]|开玩笑|逗你|说着玩|骗你的", re.IGNORECASE
)
_LAUGHTER: Final = re.compile(r"\blo+l\b|\blmao\b|\brofl\b|\b(?:ha){2,}\b|[😂🤣]|哈哈+", re.IGNORECASE)
_REQUEST: Final = re.compile(
    r"^(?:hey,? |ok(?:ay)?,? |please )*(?:can|could|would|will) you (?:please )?(?:stop|always|never|not|avoid"
    r"|remember)\b"
    r"|^(?:can|could|may|might) (?:i|we) (?:please |just )*(?:ask for|get|have|see|use|keep to|stick to|switch to)\b.*"
    r"\b(?:from now on|going forward|in (?:the )?future|every time)\b"
    r"|^(?:can|could|would|will) you\b.*\b(?:from now on|going forward|every time)\b"
    r"|^(?:能不能|可不可以|可以|能)?(?:请|麻烦)?你?(?:以后)?(?:别再|不要再)",
    re.IGNORECASE,
)
_SINCE_WHEN: Final = re.compile(
    r"^(?:(?:wait|hang on|hold on|um+|huh|eh|hm+)[,.!…]* )*since when (?:do|did|am|was|have) i\b"
    r"|^since when (?:is|are|was|were) my\b|我什么时候.{0,6}(?:说过|喜欢|喝|吃|住|是|有|在|用).{0,12}了?[?？]?$",
    re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"\b(?:what if|imagine|suppose|supposing|pretend|hypothetically|let['’]?s say|say,? for example"
    r"|for the sake of argument"
    r"|if (?:i|you|he|she|we|they|somebody|someone) (?:said|were|was|had|told|asked|did|ever (?:say|said))|as if"
    r"|(?:i|it|that|you|he|she|they|we) (?:would|could|might) (?:be|have|say|mean)|would(?:n['’]t| not)? (?:be|mean"
    r"|have)"
    r"|i wonder|maybe (?:i|you|it)|in (?:the|a|my) (?:story|novel|movie|film|dream|game|song|play|book))\b"
    r"|如果|假如|假设|要是|万一|假装|想象|会不会|小说里|电影里|游戏里|梦里",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"^(?:please )?if (?:i|you|we) (?:ask|write|say|talk|am|send|share|mention|want|need|travel|work)\b", re.IGNORECASE
)
_TEACHES: Final = r"(?:妈|爸|老师|老板|同事|朋友|医生|经理|客户|他们?|她们?|别人|有人|大家|书上|网上|新闻)"
_OTHERS: Final = re.compile(
    r"\b(?:he|she|they|people|everyone|everybody|someone|somebody|nobody|(?:my|the|his|her|our|their|a) \w+(?: \w+)?"
    r"|(?-i:[A-Z])[a-z]+)(?:['’](?:s|d|ve)| had| has| have| always| just| once| keeps?| kept| even| then| often| also)*"
    r" (?:said|says?|saying|told|tells?|telling|asked|asks|replied|wrote|writes|yelled|shouted|goes|was like|is like"
    r"|were like|texted|claims?|claimed|insists?|insisted|complained|warned|answered|thinks?|believes?)\b"
    r"|\bas (?:they|the saying) (?:say|goes)\b|\baccording to\b|\bthe (?:quote|saying|lyrics?)\b"
    rf"|(?<![给跟和对与]){_TEACHES}[^，,。]{{0,4}}?(?:说|告诉|问|写|喊|觉得|认为|骂)|俗话|常言",
    re.IGNORECASE,
)
_TO_ASSISTANT: Final = re.compile(
    r"\b(?:I|we)(?:['’]ve| have| had)?(?: already| just)* (?:told|said|asked)\b|^(?:you)\b|^你", re.I
)
_QUOTED: Final = re.compile(r"[\"“][^\"”]{6,}[\"”]|(?<!\w)['‘][^'’]{12,}['’](?!\w)|「[^」]{3,}」|“[^”]{3,}”")
_CODE: Final = re.compile(
    r"`|\b\w+\(\)|\b\w+_\w+\b|\b[\w-]+\.(?:py|js|ts|go|rs|java|css|html|json|ya?ml|toml|sh|sql|md|txt|csv)\b|\bline \d+"
    r"|\b(?:function|variable|method|class|module|unit tests?|tests?|assert(?:ion)?|compiler?|branch|commit"
    r"|pull request"
    r"|endpoint|regex|null|exception|stack trace|query|index|loop|import|api|script|repo|bug|merge|docker|server|thread"
    r"|cache|config|parameter|argument|return value|output|column|array|dict|log)s?\b"
    r"|代码|函数|变量|参数|报错|编译|脚本|接口|测试|分支|第\d+行|返回值|数组|循环|日志",
    re.IGNORECASE,
)


def in_jest(message: str) -> bool:
    """Return whether a message says that it isn't serious."""
    return _JEST.search(message) is not None


def denies(sentence: str) -> bool:
    """Return whether a sentence asks only to deny: "Since when do I drink milk?"."""
    return _SINCE_WHEN.search(sentence) is not None


def laughs(sentence: str) -> bool:
    """Return whether a sentence laughs: what it says may be meant, but not as it stands."""
    return _LAUGHTER.search(sentence) is not None


def unquoted(text: str) -> str:
    """Return the text with spaces in place of longer quotations, as long as before."""
    return _QUOTED.sub(lambda match: " " * len(match.group()), text)


def about_code(sentence: str) -> bool:
    """Return whether a sentence talks of code or of a machine's work, so that it belongs to the task at hand."""
    return _CODE.search(sentence) is not None


def unmeant(sentence: str) -> bool:
    """Return whether a sentence asks, supposes, or tells what others say, so that it corrects nothing.

    >>> unmeant("What if that's wrong?"), unmeant("My boss said don't call again"), unmeant("That's wrong")
    (True, True, False)
    """
    if denies(sentence):
        return False
    if asks(sentence) and _REQUEST.search(sentence) is None:
        return True
    if _SUPPOSED.search(sentence) is not None and _CONDITION.search(sentence) is None:
        return True
    return _OTHERS.search(sentence) is not None and _TO_ASSISTANT.search(sentence) is None
