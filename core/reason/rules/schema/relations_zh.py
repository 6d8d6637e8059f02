"""How entities are related, in Chinese sentences."""

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["stated"]

_NAME: Final = r"(?:[A-Za-z][\w·.-]*(?: [A-Z][\w.-]*)*|[\u4e00-\u9fff·]{2,8}?)"
_WHO: Final = rf"(?:^|(?<=[，。；、！]))(?:[昨今前]天|去年|上周|上个月|最近|现在|后来|目前)?(?P<a>我们?|{_NAME})"
_ADVERBS: Final = "(?:现在|目前|已经|刚刚?|最近|一直|也|都|曾经?|正式?|去年|上周|上个月|今年|昨天){0,3}"
_END: Final = r"(?=$|[，。；、！,.!的了]|(?:工作|上班|任职|就职|实习))"
_KIN: Final = (
    "(?:妈妈|母亲|爸爸|父亲|哥哥|弟弟|姐姐|妹妹|丈夫|妻子|老公|老婆|儿子|女儿|爷爷|奶奶|外公|外婆|叔叔|阿姨|舅舅|姑姑|表哥|表姐|表弟"
    "|表妹|堂哥|堂姐|堂弟|堂妹|未婚夫|未婚妻|男朋友|女朋友|侄子|侄女)"
)
_FRIEND: Final = "(?:好?朋友|同事|同学|室友|邻居|老板|上司|经理|老师|导师|教练|学生|医生|闺蜜|队友|房东)"
_GROUP: Final = r"[\w\u4e00-\u9fff]{1,12}?(?:俱乐部|协会|乐队|合唱团|球队|社团|学会|委员会|工会|团队|党|乐团|舞团|小组)"
_EVENT: Final = (
    r"[\w\u4e00-\u9fff]{1,14}?(?:马拉松|音乐节|会议|大会|比赛|锦标赛|婚礼|展览|艺术节|典礼|运动会|峰会|论坛|节|赛)"
)
_LIVES: Final = "(?:住在|居住在|定居在?|搬到|搬去|来自|位于|坐落于|出生于|出生在)"
_MADE: Final = "(?:写|创作|画|导演|拍|作曲|翻译|编写|发表|出版)"
_PET: Final = "(?:小?猫|小?狗|宠物|兔子|鹦鹉|仓鼠|乌龟)"
_GOT: Final = "(?:养|买|领养|收养)"

_FORMS: Final = (
    ("works_for", rf"{_WHO}{_ADVERBS}在(?P<b>{_NAME})(?:工作|上班|任职|就职|实习|当\w|做\w)", False),
    ("works_for", rf"{_WHO}{_ADVERBS}(?:入职|任职于|就职于|受雇于)了?(?P<b>{_NAME}){_END}", False),
    ("location", rf"{_WHO}{_ADVERBS}{_LIVES}了?(?P<b>{_NAME}){_END}", False),
    ("participation", rf"{_WHO}{_ADVERBS}(?:参加|出席|参与|报名)了?(?P<b>{_EVENT})(?=$|[，。；！,.!]|了)", False),
    ("membership", rf"{_WHO}{_ADVERBS}加入了?(?P<b>{_GROUP})(?=$|[，。；！,.!]|了)", False),
    ("membership", rf"{_WHO}{_ADVERBS}是(?P<b>{_NAME})的?(?:成员|会员|队员|团员|队长|会长)", False),
    ("family", rf"(?P<a>我|{_NAME})的?{_KIN}(?:叫|名叫|是)(?P<b>{_NAME}){_END}", False),
    ("family", rf"(?P<b>{_NAME})是(?P<a>我|{_NAME})的?{_KIN}{_END}", False),
    ("family", rf"{_WHO}{_ADVERBS}(?:和|跟|与)(?P<b>{_NAME}){_ADVERBS}(?:结婚|订婚|离婚)", False),
    ("social", rf"(?P<a>我|{_NAME})的?{_FRIEND}(?:叫|名叫|是)(?P<b>{_NAME}){_END}", False),
    ("social", rf"(?P<b>{_NAME})是(?P<a>我|{_NAME})的?{_FRIEND}{_END}", False),
    ("social", rf"{_WHO}{_ADVERBS}(?:和|跟|与)(?P<b>{_NAME})(?:是|成了?|做了?|当了?){_ADVERBS}{_FRIEND}", False),
    ("social", rf"{_WHO}{_ADVERBS}认识了?(?P<b>{_NAME}){_END}", False),
    ("authorship", rf"{_WHO}{_ADVERBS}{_MADE}了?(?:一[部本首幅篇])?\w{{0,4}}《(?P<b>[^》]+)》", False),
    ("authorship", rf"《(?P<b>[^》]+)》是?由?(?P<a>[\u4e00-\u9fff·]{{2,5}}?){_MADE}[的了]?(?=$|[，。；！])", False),
    ("ownership", rf"(?P<a>我|{_NAME})的{_PET}(?:叫|名叫)(?P<b>{_NAME}){_END}", False),
    ("ownership", rf"{_WHO}{_ADVERBS}{_GOT}了?\w{{1,6}}?[，,]?(?:名字)?名?叫(?P<b>{_NAME}){_END}", False),
    ("ownership", rf"{_WHO}{_ADVERBS}(?:拥有|收购|买下|经营)了?(?P<b>{_NAME})(?=$|[，。；！,.!]|了)", False),
    ("founding", rf"{_WHO}{_ADVERBS}(?:创办|创立|成立|创建)了?(?P<b>{_NAME})(?=$|[，。；！,.!]|了)", False),
    ("founding", rf"(?P<a>{_NAME})(?:是)?由(?P<b>{_NAME})(?:创办|创立|成立|创建)", True),
)  # fmt: skip
_COMPILED: Final = tuple((kind, re.compile(text), turned) for kind, text, turned in _FORMS)
_DOUBTED: Final = re.compile(
    "不|没|未|别|如果|假如|要是|假设|也许|可能|大概|或许|好像|听说|据说|想要?|打算|计划|希望|应该|吗|呢|是否|以前|曾经"
)
_NOT_DOUBT: Final = re.compile("不错|不但|不仅|不过|理想|思想|想法|特别|别墅|未来|没关系")
_NO_NAME: Final = frozenset("他们 她们 它们 我们 大家 自己 这里 那里 家里 公司 学校 医院 银行 外面 北方 南方".split())


def stated(text: str, speaker: str) -> Iterable[tuple[str, str, str]]:
    """Yield (source, kind, target) of what a Chinese sentence asserts; ``speaker`` is who 我 is.

    >>> list(stated("王芳在腾讯工作。", "user"))
    [('王芳', 'works_for', '腾讯')]
    """
    taken: set[tuple[str, str]] = set()
    for kind, pattern, turned in _COMPILED:
        for match in pattern.finditer(text):
            one, other = _named(match["a"], speaker), _named(match["b"], speaker)
            begin = max(text.rfind(mark, 0, match.start()) for mark in "，。；、！") + 1
            if not one or not other or (one, other) in taken or _doubted(text[begin : match.end()]):
                continue
            taken.add((one, other))
            yield (other, kind, one) if turned else (one, kind, other)


def _named(word: str, speaker: str) -> str:
    if word in ("我", "我们"):
        return speaker
    return "" if word in _NO_NAME or word.startswith(("他", "她", "它", "我", "你", "这", "那", "一")) else word


def _doubted(clause: str) -> bool:
    return _DOUBTED.search(_NOT_DOUBT.sub("", clause)) is not None
