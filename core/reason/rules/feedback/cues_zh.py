"""Corrections in Chinese sentences, by the words that open them and by what is left of them then."""

import re
from typing import Final

from mindmem.core.reason.rules.feedback.reading import Reading
from mindmem.core.reason.rules.feedback.scopes import condition_of
from mindmem.core.reason.rules.feedback.unmeant import about_code, denies

__all__ = ["read"]

_OPENING: Final = re.compile(
    r"^(?:嗯|哦|啊|呃|诶|哎|喂|等等|等一下|对不起|抱歉|不好意思|那个|好的?|谢谢|而且|还有|另外|但是?)+[，,！!。 ]*"
)
_WRONG: Final = re.compile(
    r"^(?:别(?:再)?这么(?:叫|称呼|写)(?:我)?|(?:你|这|那|这个|那个|你说的|你记的)?(?:完全|都|又)?(?:不对|不正确|错了|搞错了?|弄错了?|记错了?|听错了?|说错了?|理解错了?|误会了?)(?:了|啦|哦|啊)?"
    r"|不是的|不是这样的?|不是|不|没有)[，,。！!；; ]+"
)
_ALONE: Final = re.compile(
    r"^(?:你|这|那|这个|那个|你说的)?(?:完全|都|又)?(?:不对|不正确|错了|搞错了|弄错了|记错了|听错了|说错了|理解错了|误会了|不是这样的?)(?:啦|哦|啊|吧)?$"
)
_ACTUALLY: Final = re.compile(r"^(?:其实|实际上|事实上|更正(?:一下)?|纠正(?:一下)?)[，,：: ]*")
_MEANT: Final = re.compile(
    r"^(?:我(?:刚才)?(?:是)?说的是|我的意思是|我是说|我指的是|我想说的是)[，,：: ]*(?P<rest>.+)$"
)
_TOLD: Final = re.compile(
    r"^我(?:早就|已经|之前|以前|上次|都)*(?:跟你|和你|对你)?(?:说过|告诉过你|讲过|提过)"
    r"(?:很多次|好几次|多少次|了)*[，,：: ]*(?P<rest>.+)$"
)
_BOTH: Final = re.compile(
    r"^(?P<head>.*?)不是(?P<old>[^，,。]{1,20})[，,]?\s*(?:而)?(?:应该)?是(?P<new>[^，,。]{1,24})$"
)
_AFTER: Final = re.compile(r"^(?P<claim>.+?)[，,]\s*(?:而)?不是(?P<old>[^，,。]{1,20})$")
_STANDING: Final = re.compile(
    r"^(?:请|麻烦|拜托|希望)?你?(?P<deed>(?:以后|今后|从现在起|从今以后|往后)[^，,。]*[，,]?.*(?:请|都|别|不要|不用|要|用|叫|只|先|再|得|给|记得|避免|少|控制|保持|尽量|写|回|改|换|按|就).+"
    r"|(?:别|不要|请勿|再也别|再也不要|别总是?|不要总是?|别老是?|不要老)(?:再|总|老)?.+|(?:永远|总是|每次|一律|始终)(?:都|要|用|别|不要|请).+)$"
)
_AGAIN: Final = re.compile(r"再|总|老|以后|今后|永远|每次|从现在|从今|往后|一律|始终")
_REMEMBER: Final = re.compile(r"^(?:请|麻烦)?(?:你)?(?:记住|牢记|请记得)[，,：: ]*(?P<rest>.+)$")
_AFTERWARDS: Final = re.compile(
    r"^(?P<rest>.{4,}?)[，,；; ]+(?:请|麻烦)?(?:你|您)?(?:帮我)?"
    r"(?:记(?:一下|下来|着|住|好)|备注一下|要记得|别忘了)(?:吧|啊|哦|了)?$"
)
_COMPLAINT: Final = re.compile(
    r"^(?:太|有点儿?|不够|还是太|又)[^，,是我]{1,8}[，,](?:请)?(?=以后|今后|往后|从|请|别|不要)"
)
_PRESENT: Final = re.compile(
    r"^(?:(?:早就?|已经|前阵子|上个?月|去年|今年|不久前)[^，,。]{1,10}[，,])(?:所以)?(?:我)?(?:现在|如今|目前|已经|都)?"
    r"(?P<rest>(?:改)?(?:住|在|用|叫|是|做|喝|吃|姓|养|学|开)[^，,。]{1,20})$"
)
"""That something is over, then how it is now, without saying of whom: the one who speaks."""
_FORGET: Final = re.compile(
    r"^(?:请|麻烦)?(?:你)?(?:忘(?:掉|了|记)|删(?:掉|除))(?:我(?:之前)?说(?:过)?的)?(?P<what>.{2,}?)(?:这件事|的事|的记录|的记忆)?(?:吧)?$"
    r"|^(?:请|麻烦)?把(?P<it>.{2,}?)(?:的记录|的记忆|这件事|的事)?(?:忘|删|去)(?:掉|了|除)(?:吧)?$|^我(?:从来?)?没(?:有)?说过(?P<said>.{2,})$"
)
_ONCE: Final = re.compile(
    r"^(?:那|这|刚才那个?|那个)(?:只是|只|就)?(?:是)?(?:针对|为了|用于)?.{0,8}(?:那一?次|这一?次|当时|临时|一次性)的?|不用记(?:住|下来?)?$|别记(?:住|下)"
)
_CLAIM: Final = re.compile(r"^(?:我们?|我的|咱们|他的?|她的?|[\u4e00-\u9fff]{1,6}(?:是|在|叫|有|改|用)).{1,}")
_VERB: Final = re.compile(
    r"是|在|叫|有|住|喜欢|讨厌|不吃|不喝|吃|喝|用|过敏|改|换|搬|偏好|习惯|想要|需要|更|不能|不会|不爱|爱|养|学|会|属|姓|上班|工作|喜"
)
_NO_CLAIM: Final = re.compile(
    r"^(?:现在|先|暂时|以后)?不(?:用|要|需要|必)了?$|^我(?:知道|觉得|想想|不知道|不确定|明白|同意|看看|没事|很好|也是|也觉得|只是(?:问|想)|在想|还没|也喜欢这|喜欢这个|很喜欢这|很喜欢你|现在很?忙|不是很懂|懂)|^(?:这|那|它|你)"
)
_IMPERATIVE: Final = re.compile(
    r"^(?:请|麻烦)?(?:你)?(?:用|写|给|把|改|换|加|说|叫|回复|回答|发|翻译|推荐|列|做|先|帮|直接|简短|保持|尽量|避免|对)"
)
_ASKED: Final = re.compile(r"^[，, ]*(?:请|麻烦|你?要|别|不要|尽量|都|就|回答|回复|语气|用)")
_IDIOM: Final = re.compile(
    r"^(?:别|不要)(?:担心|着急|客气|闹|逗|急|怕|介意|这样说?|生气|难过|开玩笑|想太多)|^不用谢|^不是吧|^不是吗|^没关系|^不对劲"
)
_AVERSION: Final = re.compile(r"^我(?:真的|其实|一直)?(?:不(?:吃|喝|喜欢|爱)|讨厌|对.{1,8}过敏|受不了)")
_SUGGESTS: Final = re.compile(r"怎么样|要不要|推荐|建议|可以试|不如|来点|试试|如何|好吗|为您|给你")


def read(sentence: str, before: str, *, explicit: bool, opened: bool = False) -> Reading | None:
    """Return what a Chinese sentence corrects, None for nothing (see ``cues_en.read``)."""
    text = _OPENING.sub("", sentence.strip()).rstrip("。！!.?？ ~～")
    if denies(text):
        return Reading("replace", "", bare=True)
    if match := _AFTERWARDS.match(text):
        rest = match["rest"]
        return Reading("state", rest) if _claims(rest) or "我" in rest else _wish(rest)
    text = _COMPLAINT.sub("", text)
    if _IDIOM.match(text):
        return None
    if _ALONE.match(text):
        return Reading("replace", "", bare=True)
    wrong = _WRONG.match(text)
    text = text[wrong.end() :] if wrong else text
    actual = _ACTUALLY.match(text)
    text = text[actual.end() :] if actual else text
    cued = bool(wrong or actual or opened)
    if not text:
        return Reading("replace", "", bare=True) if cued else None
    if _ONCE.search(text):
        return Reading("retract", "", directive=True)
    if match := _FORGET.match(text):
        what = match["what"] or match["it"] or match["said"]
        return None if about_code(text) else Reading("retract", "", rejected=what)
    # Whom it is about is left out: whoever was spoken of.
    if (match := _PRESENT.match(text)) is not None and not re.search("[他她它]", before) and not about_code(text):
        whose = "我们" if re.search("你们|您们|咱们", before) else "我"
        return Reading("replace", f"{whose}{match['rest']}")
    if match := _REMEMBER.match(text):
        rest = match["rest"]
        return Reading("state", rest) if _claims(rest) else _wish(rest)
    if (match := _STANDING.match(text)) is not None and _AGAIN.search(text):
        return _wish(match["deed"])
    if (found := _instead(text, cued=cued or explicit)) is not None:
        return None if about_code(text) and not explicit else found
    if match := _MEANT.match(text):
        rest = match["rest"]
        return Reading("replace", rest, fragment=not _claims(rest)) if len(rest) <= 40 else None
    if match := _TOLD.match(text):
        return Reading("state", match["rest"]) if _claims(match["rest"]) else None
    conditioned = condition_of(text, directive=True) if not about_code(text) else ""
    if _IMPERATIVE.match(text) and not _claims(text):
        return Reading("state", text, directive=True) if cued or explicit or conditioned else None
    if conditioned and _ASKED.search(text[text.find(conditioned) + len(conditioned) :]):
        return Reading("state", text, directive=True)
    if _claims(text):
        if cued:
            return None if about_code(text) and not text.startswith("我") else Reading("replace", text)
        if explicit or (_AVERSION.match(text) and _SUGGESTS.search(before)):
            return Reading("state", text)
        return None
    return Reading("replace", text.removeprefix("是"), fragment=True) if wrong and len(text) <= 12 else None


def _claims(text: str) -> bool:
    return _CLAIM.match(text) is not None and _VERB.search(text) is not None and _NO_CLAIM.match(text) is None


def _wish(deed: str) -> Reading | None:
    return Reading("state", deed.strip("，, "), directive=True, lasting=True) if len(deed) > 3 else None


def _instead(text: str, *, cued: bool) -> Reading | None:
    """Return the reading of words that name both what is wrong and what is right."""
    if match := _BOTH.match(text):
        head, old, new = match["head"].strip("，, "), match["old"].strip(), match["new"].strip("了吧 ")
        if not head or head in ("我说的", "我的意思", "这", "那", "它", "我"):
            return Reading("replace", f"我是{new}" if head == "我" else new, rejected=old, fragment=head != "我")
        return Reading("replace", f"{head}是{new}", rejected=old)
    match = _AFTER.match(text)
    if match is None:
        return None
    claim, old = match["claim"], match["old"].strip("了吧 ")
    meant = _MEANT.match(claim)
    said = meant["rest"] if meant else claim
    if _claims(said):
        return Reading("replace", said, rejected=old)
    if cued or meant or said.startswith("是"):
        return Reading("replace", said.removeprefix("是"), rejected=old, fragment=True)
    return None
