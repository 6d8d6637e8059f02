"""Chinese statements as subject, property and value, and what they say of how many values a property has.

"X的N是V" describes one thing as "the N of X is V" does; people and things of which one has several are left open, and
也, 还, 有 or a list of values say that there are others.
"""

import re
from typing import Final

__all__ = ["cue_zh", "stated_zh", "without_now"]

_NOW: Final = r"(?:现在|目前|如今|现任)"
_DESCRIBED: Final = re.compile(
    rf"(?P<who>[^\s，,。？?！!的我你您他她它们这那]{{2,20}}?){_NOW}?的{_NOW}?(?P<what>[\u4e00-\u9fff]{{1,6}}?){_NOW}?"
    r"(?:是|为|叫|在|设在|位于)(?P<value>[^\s，,。；;？?！!]{1,30})[。.！!]?"
)
_ENDS_NOW: Final = re.compile(rf"(?<=.){_NOW}$")
_OTHERS: Final = re.compile(r"也|还|另外|之一|有一[个位只条]|、|[\u4e00-\u9fff]和[\u4e00-\u9fff]")
_MAY_BE_SEVERAL: Final = re.compile(
    r"(?:朋友|孩子|儿子|女儿|哥哥|弟弟|姐姐|妹妹|同学|同事|邻居|亲戚|学生|客户|成员|员工|宠物|猫|狗|书|作品|产品|爱好|特长|优点|缺点)$"
)


def stated_zh(content: str) -> tuple[str, str, str] | None:
    """Return subject, property and value of a plain Chinese description of somebody or something else.

    >>> stated_zh("安河厂现在的厂长是林松。"), stated_zh("我的厂长是谁？")
    (('安河厂', '厂长', '林松'), None)
    """
    found = _DESCRIBED.fullmatch(content.strip())
    return (found["who"], found["what"], found["value"]) if found else None


def without_now(name: str) -> str:
    """Return a subject without the "now" that ends it.

    >>> without_now("安河厂现在")
    '安河厂'
    """
    return _ENDS_NOW.sub("", name)


def cue_zh(content: str) -> bool | None:
    """Return what a Chinese sentence says of its property: one value at a time, several, or nothing.

    >>> cue_zh("安河厂的厂长是林松。"), cue_zh("安河厂的朋友是林松。"), cue_zh("林松也喜欢茶。")
    (True, None, False)
    """
    if _OTHERS.search(content):
        return False
    found = _DESCRIBED.fullmatch(content.strip())
    return True if found and not _MAY_BE_SEVERAL.search(found["what"]) else None
