"""Chinese sentences that tell of a change: 不是甲，是乙; 换工作了，现在在甲; 电话换成了乙; 会议改到周一."""

import re
from typing import Final

from mindmem.core.language.chinese import PLACE

__all__ = ["APPOINTMENTS", "JOB_CHANGE", "MOVED_TO", "PROPERTY_CHANGE", "corrected", "kind", "named", "restated"]

_OPEN: Final = r"(?:(?:更正(?:一下)?|纠正(?:一下)?|抱歉|不好意思|对不起|不对|哦不|我?说错了|我?记错了)[，,：:。！! ]*)*"
_V: Final = r"[^，,。；;！!？?]{1,20}?"
_CORRECTED: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_OPEN}(?:我说的|我指的|我们?用的|应该)?不是(?P<old>{_V})[，,、 ]*"
        rf"(?:而是|应该是|我说的是|我是说|是)(?P<new>{_V})[。！!]*",
        rf"{_OPEN}(?:我说的是|我是说|我指的是|应该是|是)(?P<new>{_V})[，,、 ]*(?:而)?不是(?P<old>{_V})[。！!]*",
        rf"我(?:已经|刚|最近)?离开了?(?P<old>{_V})[，,]?(?:去了|加入了?|到了)(?P<new>{_V})(?:了)?[。！!]*",
    )
)

JOB_CHANGE: Final = re.compile(
    r"^我(?:已经|刚刚?|最近|上周|上个?月|前[天段]时?间?|又)*(?:换了?(?:新|份|个|一份|一个)*工作|跳槽|换了?公司|离职|辞职)了?"
)
"""A clause that tells of leaving a job, after which 现在在甲 names the new one."""
MOVED_TO: Final = r"(?:改到|改成|改为|改在|推迟到|延期到|延到|推到|提前到|挪到|调整到|调整为|移到|换到|变更为)了?"
PROPERTY_CHANGE: Final = r"(?:换成|改成|改为|变成|变更为|更新为|换到)了?"
APPOINTMENTS: Final = (
    r"(?:截止日期|截止时间|会议|例会|发布会?|发布日期|上线时间|考试|面试|婚礼|"
    r"航班|聚会|评审|答辩|手术|体检|比赛|演出|课程|培训)"
)

_RESTATED: Final = re.compile(
    r"(?:(?:不对|不是|更正(?:一下)?|纠正(?:一下)?|抱歉|不好意思|对不起|哦不|我?说错了|我?记错了)[，,：:。！! ]+)+"
    rf"(?:应该)?是(?P<value>{_V})[。！!]*"
)
_KINDS: Final = (
    (
        "date",
        re.compile(
            r"(?:.{2,4}年)?(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})月(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})[日号]?"
        ),
    ),
    ("email", re.compile(r"[\w.+-]+@[\w.-]+")),
    ("number", re.compile(r"\+?[0-9][0-9 -]{5,}[0-9]")),
    ("age", re.compile(r"[0-9一二三四五六七八九十两]{1,3}岁")),
    ("colour", re.compile(r"[\u4e00-\u9fff]{1,4}色")),
    ("place", PLACE),
)
_FOUND: Final = 4
"""The first kinds, whose values are found within a sentence, too."""


def kind(value: str) -> str:
    """Return what sort of value this is, by its form; empty for one whose form doesn't say.

    >>> kind("5月3日"), kind("绿色"), kind("火锅")
    ('date', 'colour', '')
    """
    return next((name for name, form in _KINDS if form.fullmatch(value.strip())), "")


def named(text: str, sort: str) -> frozenset[str]:
    """Return the values of a sort that stand in a text; none of a sort that only a whole value shows."""
    form = dict(_KINDS[:_FOUND]).get(sort)
    return frozenset(match[0] for match in form.finditer(text)) if form is not None else frozenset()


def restated(sentence: str) -> str:
    """Return the value that a correction puts in the place of one just said, which its form alone names; else empty.

    >>> restated("不对，是5月13日。"), restated("是5月13日。"), restated("不对，是他。")
    ('5月13日', '', '')
    """
    match = _RESTATED.fullmatch(sentence.strip())
    return match["value"].strip() if match is not None and kind(match["value"]) else ""


def corrected(sentence: str) -> tuple[str, str]:
    """Return the new and the old value of a sentence that names both and no property; two empty strings otherwise.

    >>> corrected("不是PostgreSQL，是MySQL。"), corrected("我是说根特，不是波恩")
    (('MySQL', 'PostgreSQL'), ('根特', '波恩'))
    """
    for pattern in _CORRECTED:
        match = pattern.fullmatch(sentence.strip())
        if match is not None:
            return match["new"].strip(), match["old"].strip()
    return "", ""
