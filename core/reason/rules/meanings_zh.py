"""What a Chinese clause of a known structure states: which property of whom, and whether it has one value at a time."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from mindmem.core.dates.words import chinese_number
from mindmem.core.language.chinese import PLACE
from mindmem.core.reason.rules.statements import OWNER, TEAM, Statement

__all__ = [
    "PROPERTIES",
    "TAIL",
    "VERBS",
    "Build",
    "appointed",
    "dislikes",
    "has",
    "is_a",
    "joined",
    "likes",
    "lives",
    "of_person",
    "passive",
    "plain",
    "property_became",
    "property_is",
    "trade",
    "uses",
    "works",
]

TAIL: Final = re.compile(r"(?:了|的|啊|呀|哦|呢|吧|哈|嘛|啦|～|~|\s|[。！!.…]|哈哈|[\U0001f300-\U0001faff])+$")
_DEICTIC: Final = re.compile(
    r"^(?:这|那|它|他|她|你|您|我|咱|其|此|该|一下|什么|怎么|大家|自己|一样|一起|得|了|着|过|个|些|有点|去|来|不|没)"
)
_DENYING: Final = re.compile(
    r"(?:不|没有?|未(?!$)|并非|并未|从未|尚未|而非|除非)(?:再|会|可能|一定|太|该|能|算|就|怎么|那么|是很|很|必|只|仅|光|单|曾|有)*$"
)
"""Ends a name, property or value that has eaten the denial of the verb after it."""
_DENIES_WITHIN: Final = re.compile(
    r"[不没](?:有|再|太|怎么|会|想)*(?:喜欢|喜爱|爱|讨厌|是|叫|住|在|用|过敏|工作|上班|结婚)"
)
"""A second clause within a value, which denies: 咖啡不喜欢茶."""
VERBS: Final = {
    "创立": "founded", "创办": "founded", "成立": "founded", "创建": "founded", "写": "written", "编写": "written",
    "撰写": "written", "发明": "invented", "开发": "developed", "设计": "designed", "导演": "directed",
    "执导": "directed", "发现": "discovered", "收购": "acquired", "制造": "made", "生产": "produced",
    "出版": "published", "建造": "built", "演唱": "performed",
}  # fmt: skip
"""Verbs of 由X创立, with the participle that names the property."""
PROPERTIES: Final = {
    "名字": "name", "姓名": "name", "生日": "birthday", "年龄": "age", "职业": "occupation", "工作": "occupation",
    "邮箱": "email", "电子邮箱": "email", "邮箱地址": "email", "单位": "works_at", "工作单位": "works_at",
    "电话": "phone", "电话号码": "phone", "电话号": "phone", "手机": "phone", "手机号": "phone", "手机号码": "phone",
    "联系电话": "phone", "地址": "address", "住址": "address", "家庭住址": "address", "家庭地址": "address",
    "妻子": "wife", "老婆": "wife", "太太": "wife", "丈夫": "husband", "老公": "husband", "先生": "husband",
    "儿子": "son", "女儿": "daughter", "孩子": "child", "爸爸": "father", "父亲": "father", "妈妈": "mother",
    "母亲": "mother", "哥哥": "brother", "弟弟": "brother", "姐姐": "sister", "妹妹": "sister", "老板": "boss",
    "首都": "capital", "作者": "author", "总部": "headquarters", "创始人": "founder", "导演": "director", "狗": "dog",
    "猫": "cat", "家乡": "hometown", "老家": "hometown",
    "爱好": "hobby", "专业": "major", "身高": "height", "体重": "weight", "血型": "blood_type", "国籍": "nationality",
}  # fmt: skip
"""Nouns that are another word for a property; others name their own."""
_SINGLE: Final = frozenset(
    "name birthday age occupation email phone address works_at wife husband father mother boss capital author"
    " headquarters founder hometown height weight blood_type nationality".split()
)
"""Properties that have one value at a time."""
_VAGUE: Final = re.compile(
    "问题|原因|目的|意思|想法|重点|结果|情况|时候|地方|感觉|建议|事$|关键|目标|任务|特点|好处|^(?:具体|主要|重要|唯一|真正|目前|当前|整个|全部)"
)
_COMMON: Final = re.compile(
    "(?:.*[今明昨每去]?[年天月周]|[上下]次|医生|老师|护士|经理|朋友|同事|客户|老板|孩子|大家|别人|用户|家人|专家|领导|学生|关键|这里|那里"
    "|现在|目前|最后|首先|其次|接下来|重要|主要|真正|唯一|上述|以上|下面)$"
)
_ORGANISATION: Final = re.compile(
    r"(?:公司|集团|大学|学院|中学|小学|学校|医院|银行|事务所|研究所|研究院|工厂|厂|局|部|店|社|所|院|行)$|^[A-Z]"
)
_SOME: Final = re.compile(r"(?:某|[一两几][个间套栋座所家幢处])(?!人)")
"""Begins what is some place or employer rather than a named one."""
_NO_PLACE: Final = re.compile(
    r"(?:朋友|同学|亲戚|别人|父母|爸妈|他|她)家里?$|"
    r"(?<!市)(?:之中|当下|过去|回忆|阴影|梦里|幻想|压力|恐惧|孤独|痛苦|幸福|同一|原来的|老地方|时候)|[惧虑福苦暗望]中$"
)
"""What one lives or works in that is no place."""
_NO_EMPLOYER: Final = re.compile(r"家里?|这里|那里|外面|线上|[白夜]天|晚上|夜[里间晚]|深夜|凌晨|周末|节假日")
Build = Callable[["re.Match[str]"], Statement | None]
"""What a match of a structure states, None where its words say that it is nothing to keep."""


def _make(
    match: "re.Match[str]", name: str, value: str, *, single: bool | None = None, polarity: int = 1, began: bool = False
) -> Statement | None:
    value = TAIL.sub("", value).strip()
    if not value or len(value) > 30 or _DEICTIC.match(value):
        return None
    groups = match.groupdict()
    who = groups.get("who") or ""
    past = bool(groups.get("past"))
    denied = bool(groups.get("not") or groups.get("nor"))
    eaten = any(_DENYING.search(part) for part in (groups.get("name"), groups.get("property"), value) if part)
    if eaten or _DENIES_WITHIN.search(value) or (denied and (past or (groups.get("not") and groups.get("nor")))):
        return None  # nor is 以前不住在X a place where one lived
    if denied:
        polarity = -polarity
    entity = groups.get("name") or (TEAM if who in ("我们", "咱们") and name.startswith("uses") else OWNER)
    if entity not in (OWNER, TEAM) and (_DEICTIC.match(entity) or entity == "我们" or _COMMON.match(entity)):
        return None
    return Statement(
        entity=entity,
        entity_type="person" if entity == OWNER else "group" if entity == TEAM else "",
        property_name=name,
        value=value,
        content="",
        named="",
        start=0,
        end=0,
        single_valued=single,
        polarity=-polarity if past else polarity,
        began=began,
        past=past,
    )


def property_is(match: "re.Match[str]") -> Statement | None:
    """Read 我的X是Y, 我最喜欢的X是Y."""
    name, value = match["property"], match["value"]
    if _VAGUE.search(name) or _COMMON.match(match.groupdict().get("name") or ""):
        return None
    best = re.match(r"最(?:喜欢|爱)的?(.*)", name)
    known = f"favorite_{PROPERTIES.get(best[1], best[1])}" if best else PROPERTIES.get(name, name)
    if re.match(r"^(?:很|非常|真|太|最|比较|好|挺|特别)", value):
        return None
    return _make(match, known, value, single=True if known in _SINGLE or best else None)


def likes(match: "re.Match[str]") -> Statement | None:
    """Read 我喜欢X."""
    if match["value"].startswith(("死", "惨", "极")):
        return None  # 我爱死它了
    return _make(match, "likes", match["value"], single=False)


def dislikes(match: "re.Match[str]") -> Statement | None:
    """Read 我讨厌X."""
    return _make(match, "likes", match["value"], single=False, polarity=-1)


def works(match: "re.Match[str]") -> Statement | None:
    """Read 我在X工作, where X is an employer or a place."""
    place = match["value"]
    if _NO_EMPLOYER.fullmatch(place) or _NO_PLACE.search(place) or place.endswith(("找", "找到", "找到了")):
        return None
    if _SOME.match(place):
        return _make(match, "workplace", place)
    at = _ORGANISATION.search(place) is not None or PLACE.fullmatch(place) is None
    return _make(match, "works_at" if at else "works_in", place, single=True)


def lives(match: "re.Match[str]") -> Statement | None:
    """Read 我住在X."""
    place = match["value"]
    if _NO_PLACE.search(place):
        return None
    return _make(match, "dwelling", place) if _SOME.match(place) else _make(match, "lives_in", place, single=True)


def joined(match: "re.Match[str]") -> Statement | None:
    """Read 我加入了X, where X is an employer and no club."""
    if PLACE.fullmatch(match["value"]) or re.search(
        r"(?:社团|乐团|合唱团|旅行团|团队|群|[书协学工商]会|小组|社|党|军|部队|军队)$|俱乐部|健身房|计划|项目",
        match["value"],
    ):
        return None
    return _make(match, "works_at", match["value"], single=True, began=True)


def trade(match: "re.Match[str]") -> Statement | None:
    """Read 我是护士, where only a trade may stand without a measure word; 现在 and 转行 say that it is new."""
    newly = match.groupdict().get("newly") is not None
    return _make(match, "occupation", match["value"], single=True if newly else None)


def property_became(match: "re.Match[str]") -> Statement | None:
    """Read 我的X换成了Y and 我的新X是Y, of properties that have one value."""
    name = PROPERTIES.get(match["property"], match["property"])
    return _make(match, name, match["value"], single=True, began=True) if name in _SINGLE else None


def appointed(match: "re.Match[str]") -> Statement | None:
    """Read 会议定在X and 会议改到X."""
    moved = match.groupdict().get("moved") is not None
    if not re.search(r"[年月日号天周末期点]|明|后", match["value"]):
        return None
    statement = _make(match, "date", match["value"], single=True if moved else None)
    return None if statement is None else replace(statement, entity_type="event", correction=moved)


def is_a(match: "re.Match[str]") -> Statement | None:
    """Read 我是X人 and 我是一名X."""
    value = match["value"]
    if value.endswith("人") and len(value) <= 5:
        return _make(match, "from", value.removesuffix("人") or value, single=None)
    if not match["counted"]:
        return None
    return _make(match, "occupation" if match.groupdict().get("who") else "is_a", value)


def has(match: "re.Match[str]") -> Statement | None:
    """Read 我有两只猫 and 我养了一条狗，叫X."""
    noun, called = match["noun"], match["called"]
    count = chinese_number(match["count"]) if match["count"] else None
    value = f"{match['count'] or ''}{match['measure'] or ''}{noun}" + (f"（{called}）" if called else "")
    name = f"has_{PROPERTIES.get(noun, noun)}"
    return _make(match, name, value, single=False if count in (None, 1) else None)


def of_person(build: Build) -> Build:
    """Return a reading of the same about somebody by name."""

    def read_person(match: "re.Match[str]") -> Statement | None:
        statement = build(match)
        return None if statement is None else replace(statement, entity_type="person")

    return read_person


def uses(match: "re.Match[str]") -> Statement | None:
    """Read 我们用X and 我们用X做Y."""
    purpose = match["purpose"]
    name = f"uses_for_{purpose}" if purpose else "uses"
    return _make(match, name, match["value"])


def plain(name: str, single: bool | None, *, began: bool = False) -> Build:
    """Return the reading of a structure whose value is of the property ``name`` as it stands."""

    def build(match: "re.Match[str]") -> Statement | None:
        return _make(match, name, match["value"], single=single, began=began)

    return build


def passive(match: "re.Match[str]") -> Statement | None:
    """Read X由Y创立."""
    return _make(match, f"{VERBS[match['verb']]}_by", match["value"], single=True)
