"""The structures of Chinese clauses that state something, and how each is read: 我住在X, X的Y是Z, X由Y创立."""

import re
from typing import Final

from mindmem.core.reason.rules import meanings_zh as meaning
from mindmem.core.reason.rules.changes_zh import APPOINTMENTS, MOVED_TO, PROPERTY_CHANGE
from mindmem.core.reason.rules.entities import CHINESE_PERSON
from mindmem.core.reason.rules.meanings_zh import PROPERTIES, VERBS, Build

__all__ = ["RULES"]

_ADVERB: Final = (
    r"(?:现在|目前|一直|平时|通常|真的|真|也|还|都|就|最|很|非常|特别|超级?|比较|更|一般|经常|常常"
    r"|总是|其实|从小|每天|个人)*"
)
_DENIAL: Final = r"(?:已经不再?|从来不|从来没有?|从不|从没有?|并不|根本不|绝不|并没有?|不再|不|没有|没)"
_DISLIKE: Final = r"(?P<not>已经不再?|不再|不太|从来不|从不|并不|不)?"
"""Denials of what lasts: 没 would tell of one occasion."""
_NOT: Final = rf"(?P<not>{_DENIAL})?"
_NOR: Final = rf"(?P<nor>{_DENIAL})?"
"""A denial after the value: 对花生不过敏, 和李娜没有结婚."""
_IS: Final = rf"(?:(?P<not>{_DENIAL}(?:是|叫)|(?:并非|绝非)是?)|是|叫)"
_STILL: Final = r"(?:现在|目前|如今|其实)*"
_PAST: Final = r"(?P<past>以前|曾经|过去|原来|之前)?"
_WHO: Final = r"(?P<who>我们|我|咱们)"
_NAME: Final = r"(?P<name>[A-Za-z][\w.&-]*(?: [A-Z][\w.&-]*){0,3}|《[^》]{1,40}》|[\u4e00-\u9fff]{2,12}?)"
_PERSON: Final = rf"(?P<name>{CHINESE_PERSON}|[A-Z][a-z]{{1,15}})"
_V: Final = r".{1,24}"
_TRADES: Final = (
    "老师|教师|护士|医生|工程师|程序员|律师|会计|设计师|厨师|司机|警察|记者|编辑|翻译|作家|画家|演员|歌手|摄影师|产品经理|项目经理"
    "|销售|教授|研究员|科学家|药剂师|牙医|兽医|建筑师|公务员|军人|农民|飞行员|消防员|咨询师|分析师|架构师|导游|教练|店长|学生|研究生|博士生|大学生"
)
RULES: Final[tuple[tuple["re.Pattern[str]", Build], ...]] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{_WHO}(?:的名字)?{_NOT}(?:叫做?|是叫)(?P<value>[\w·• ]{{1,20}})", meaning.plain("name", True)),
        (
            rf"(?:{_WHO}的?)?(?P<name>{APPOINTMENTS})(?P<moved>(?:时间|日期)?(?:已经?|被|又)*{MOVED_TO})(?P<value>{_V})",
            meaning.appointed,
        ),
        (rf"(?P<name>{APPOINTMENTS})(?:时间|日期)?(?:是在|是|在|定在|定于)(?P<value>{_V})", meaning.appointed),
        (
            rf"{_WHO}的?新的?(?P<property>{'|'.join(PROPERTIES)})(?:是|叫|为)(?P<value>[^是]{{1,24}})",
            meaning.property_became,
        ),
        (
            rf"{_WHO}的?(?P<property>{'|'.join(PROPERTIES)})(?:已经|刚刚?|最近)*{PROPERTY_CHANGE}(?P<value>[^是]{{1,24}})",
            meaning.property_became,
        ),
        (
            rf"{_WHO}{_ADVERB}(?:今年|已经|刚满|刚过|满|刚)*(?P<value>[0-9一二三四五六七八九十两]{{1,3}}岁)",
            meaning.plain("age", True),
        ),
        (rf"{_WHO}{_PAST}{_ADVERB}{_NOT}{_ADVERB}住在?(?P<value>{_V})", meaning.lives),
        (
            rf"{_WHO}(?:刚刚?|已经|最近|全家)*(?:搬到|搬去|搬家到|移居到?|定居在?)了?(?P<value>{_V})",
            meaning.plain("lives_in", True, began=True),
        ),
        (
            rf"{_WHO}(?:刚刚?|已经|最近)*(?:从.{{1,12}}?)?(?:加入|入职|跳槽到|跳槽去|跳槽到|转到|换到)了?"
            rf"(?P<value>{_V}?)(?:工作|上班|任职)?",
            meaning.joined,
        ),
        (rf"{_WHO}(?:刚刚?|已经|最近)*在(?P<value>{_V}?)找到了?(?:一份|份)?新?工作", meaning.joined),
        (rf"{_WHO}(?:刚刚?|已经|最近)*开始在(?P<value>{_V}?)(?:工作|上班|任职)", meaning.joined),
        (rf"{_WHO}(?:刚刚?|已经|最近)*去了?(?P<value>{_V}?)(?:工作|上班|任职)", meaning.joined),
        (
            rf"{_WHO}(?:已经|刚刚?|最近)*(?P<newly>现在|如今|转行做?|改行做?|转行当|改行当|成为|当上)了?(?:是|当)?(?:一名|一位|一个|名|个)?"
            rf"(?P<value>[^\W的]{{0,6}}(?:{_TRADES}))",
            meaning.trade,
        ),
        (rf"{_WHO}{_NOT}是(?:一名|一位|一个|名|个)?(?P<value>[^\W的]{{0,6}}(?:{_TRADES}))", meaning.trade),
        (rf"{_WHO}{_PAST}{_ADVERB}{_NOT}{_ADVERB}在(?P<value>{_V}?){_NOR}(?:工作|上班|任职|做事)", meaning.works),
        (
            rf"{_WHO}{_PAST}{_ADVERB}{_NOT}{_ADVERB}在(?P<value>{_V}?){_NOR}(?:上学|读书|念书|读研|读博)",
            meaning.plain("studies_at", True),
        ),
        (
            rf"{_WHO}{_ADVERB}{_NOT}{_ADVERB}(?:对)(?P<value>.{{1,12}}?){_NOR}(?:严重)?过敏",
            meaning.plain("allergic_to", None),
        ),
        (
            rf"{_WHO}{_STILL}的?(?P<property>最(?:喜欢|爱)的[\u4e00-\u9fff]{{1,6}}?){_STILL}{_IS}(?P<value>[^是]{{1,24}})",
            meaning.property_is,
        ),
        (
            rf"{_WHO}{_PAST}{_ADVERB}{_DISLIKE}{_ADVERB}(?:喜欢|喜爱|热爱|爱|偏爱|偏好)(?:吃的|喝的|的)?(?:是|就是)?(?P<value>[^是]{{1,24}})",
            meaning.likes,
        ),
        (rf"{_WHO}{_PAST}{_ADVERB}(?:讨厌|厌恶|受不了)(?P<value>{_V})", meaning.dislikes),
        (
            rf"{_WHO}{_ADVERB}{_DISLIKE}{_ADVERB}(?:会说|会讲|说|讲)(?P<value>[\u4e00-\u9fff]{{1,6}}[语话文](?:[和、与][\u4e00-\u9fff]{{1,6}}[语话文])*)",
            meaning.plain("speaks", False),
        ),
        (
            rf"{_WHO}{_ADVERB}{_DISLIKE}{_ADVERB}(?:吃)(?P<value>素|荤|肉|辣|牛肉|猪肉|羊肉|海鲜|鸡蛋|香菜)",
            meaning.plain("eats", False),
        ),
        (
            rf"{_WHO}(?:家)?(?:现在|目前|还|也|家里)*(?:(?P<not>(?:从来|从|并|已经)?(?:没有养|没有|没养|不再有|不再养|不养))|养了?|有)(?:(?P<count>[0-9一二两三四五六七八九十]{{1,3}})?(?P<measure>[只条个匹头辆套位]))?(?P<noun>(?:(?![不没的])[\u4e00-\u9fff]){{0,3}}(?:狗|猫|鸟|鱼|兔子|仓鼠|乌龟|马|孩子|儿子|女儿|哥哥|弟弟|姐姐|妹妹|车|房子))(?:[，,]?(?:名字)?叫(?P<called>[\w·]{{1,10}}))?",
            meaning.has,
        ),
        (rf"{_WHO}{_PAST}{_ADVERB}{_NOT}是(?P<counted>一名|一个|一位|个|名)?(?P<value>[\w·]{{1,16}})", meaning.is_a),
        (
            rf"{_WHO}{_ADVERB}(?P<value>(?:每天|每周|每个?月|每年|每晚|经常|通常).{{2,24}})",
            meaning.plain("habit", False),
        ),
        (
            rf"{_WHO}(?:团队|项目|公司)?{_ADVERB}(?:(?P<not>{_DENIAL}(?:使用|采用|用(?=[A-Za-z]))|用的{_DENIAL}是)|用的是|使用|采用|用)"
            rf"(?P<value>(?!的)[\w.+# -]{{1,24}}?)(?:来?"
            rf"(?:做|处理|存储?|管理|开发|部署)(?P<purpose>[\w]{{1,10}}))?",
            meaning.uses,
        ),
        (
            rf"{_WHO}{_STILL}的(?P<property>[\u4e00-\u9fff]{{1,8}}?){_STILL}{_IS}(?P<value>[^是]{{1,24}})",
            meaning.property_is,
        ),
        (
            rf"{_WHO}{_STILL}(?P<property>{'|'.join(PROPERTIES)})(?:的名字)?{_STILL}{_IS}(?P<value>[^是]{{1,24}})",
            meaning.property_is,
        ),
        (rf"{_NAME}的(?P<property>[\u4e00-\u9fff]{{1,8}}?){_STILL}{_IS}(?P<value>[^是]{{1,24}})", meaning.property_is),
        (rf"{_NAME}{_NOT}(?:坐落于|坐落在|位于)(?P<value>{_V})", meaning.plain("located_in", True)),
        (
            rf"{_PERSON}{_ADVERB}{_DISLIKE}{_ADVERB}(?:喜欢|喜爱|热爱|爱吃|爱喝)"
            rf"(?:吃的|喝的|的)?(?:是|就是)?(?P<value>[^是]{{1,24}})",
            meaning.of_person(meaning.likes),
        ),
        (rf"{_PERSON}{_ADVERB}(?:讨厌|厌恶|受不了)(?P<value>{_V})", meaning.of_person(meaning.dislikes)),
        (
            rf"{_PERSON}{_STILL}{_NOT}是(?:一名|一位|一个|名|个)?(?P<value>[^\W的]{{0,6}}(?:{_TRADES}))",
            meaning.of_person(meaning.trade),
        ),
        (
            rf"{_NAME}(?:(?P<not>{_DENIAL}|并非|绝非))?(?:是)?(?:由|被)(?P<value>.{{1,20}}?)(?:所)?(?P<verb>{'|'.join(VERBS)})(?:出?来?的|了)?",
            meaning.passive,
        ),
        (rf"{_NAME}{_STILL}{_NOT}住在(?P<value>{_V})", meaning.plain("lives_in", True)),
        (rf"{_NAME}{_STILL}{_NOT}在(?P<value>{_V}?){_NOR}(?:工作|上班|任职)", meaning.works),
        (
            rf"{_NAME}{_NOT}(?:和|跟|与)(?P<value>[\u4e00-\u9fffA-Za-z ]{{2,12}}?){_NOR}结婚",
            meaning.plain("married_to", True, began=True),
        ),
        (rf"{_NAME}{_NOT}是(?P<counted>一名|一位|一个|一种|一家|一座)(?P<value>{_V})", meaning.is_a),
    )
)
