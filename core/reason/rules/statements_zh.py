"""Chinese clauses into statements by their structure: 我…, X的Y是Z, X位于Y, X由Y创立, and what the first person likes,
has, speaks and does. What fits no structure fully is left to be kept in its own words.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.dates.words import chinese_number
from mindmem.core.language.chinese import PLACE
from mindmem.core.reason.rules.changes_zh import APPOINTMENTS, JOB_CHANGE, MOVED_TO, PROPERTY_CHANGE
from mindmem.core.reason.rules.entities import CHINESE_PERSON
from mindmem.core.reason.rules.sentences import Sentence
from mindmem.core.reason.rules.statements import OWNER, TEAM, Statement

__all__ = ["read"]

_CLAUSE: Final = re.compile(r"(?:[^，,；;。！!]|(?<=\d)(?:,(?=\d)|，(?=\d{3}(?!\d))))+")
_UNSAID: Final = re.compile(
    r"[？?“”\"「」『』`]|吗[。！]?$|呢[。]?$|如果|要是|假如|假设|也许|可能|大概|好像|似乎|听说|据说|觉得|认为|以为|估计|应该|希望|想要|打算|想(?!念|象)"
    r"|[这那][几两]天|这阵子|那时候|当时|小时候|能不能|是不是|有没有|请|帮我|怎么|什么|哪|谁|多少|几点|说(?!英|中|法|德|日|韩|俄|西|葡|意|阿|粤|汉|普|一口|[\u4e00-\u9fff]{0,4}[语话文])"
)
_OPENER: Final = re.compile(
    r"^(?:其实|对了|嗯|啊|哦|另外|还有|而且|不过|但是|但|然后|所以|因为|你好|大家好|顺便说一下|更正一下|更正|补充一下|记住|请记住|以及|并且|我说过)[，,：:\s]*"
)
_TAIL: Final = re.compile(r"(?:了|的|啊|呀|哦|呢|吧|哈|嘛|啦|～|~|\s|[。！!.…]|哈哈|[\U0001f300-\U0001faff])+$")
_ADVERB: Final = (
    r"(?:现在|目前|一直|平时|通常|真的|真|也|还|都|就|最|很|非常|特别|超级?|比较|更|一般|经常|常常"
    r"|总是|其实|从小|每天|个人)*"
)
_NOT: Final = r"(?P<not>不再|已经不|不太|从来不|从不|并不|不|没有|没)?"
_PAST: Final = r"(?P<past>以前|曾经|过去|原来|之前)?"
_WHO: Final = r"(?P<who>我们|我|咱们)"
_NAME: Final = r"(?P<name>[A-Za-z][\w.&-]*(?: [A-Z][\w.&-]*){0,3}|《[^》]{1,40}》|[\u4e00-\u9fff]{2,12}?)"
_PERSON: Final = rf"(?P<name>{CHINESE_PERSON}|[A-Z][a-z]{{1,15}})"
_DEICTIC: Final = re.compile(
    r"^(?:这|那|它|他|她|你|您|我|咱|其|此|该|一下|什么|怎么|大家|自己|一样|一起|得|了|着|过|个|些|有点|去|来|不|没)"
)
_PROPERTIES: Final = {
    "名字": "name", "姓名": "name", "生日": "birthday", "年龄": "age", "职业": "occupation", "工作": "occupation",
    "邮箱": "email", "电子邮箱": "email", "邮箱地址": "email", "单位": "works_at", "工作单位": "works_at",
    "电话": "phone", "电话号码": "phone", "电话号": "phone", "手机": "phone", "手机号": "phone", "手机号码": "phone",
    "联系电话": "phone", "地址": "address", "住址": "address", "家庭住址": "address", "家庭地址": "address",
    "妻子": "wife", "老婆": "wife", "太太": "wife", "丈夫": "husband", "老公": "husband",
    "先生": "husband",
    "儿子": "son", "女儿": "daughter", "孩子": "child", "爸爸": "father", "父亲": "father", "妈妈": "mother",
    "母亲": "mother",
    "哥哥": "brother", "弟弟": "brother", "姐姐": "sister", "妹妹": "sister", "老板": "boss", "首都": "capital",
    "作者": "author",
    "总部": "headquarters", "创始人": "founder", "导演": "director", "狗": "dog", "猫": "cat", "家乡": "hometown",
    "老家": "hometown",
    "爱好": "hobby", "专业": "major", "身高": "height", "体重": "weight", "血型": "blood_type", "国籍": "nationality",
}  # fmt: skip
_SINGLE: Final = frozenset(
    "name birthday age occupation email phone address works_at wife husband father mother boss capital author"
    " headquarters founder"
    " hometown height"
    " weight blood_type nationality".split()
)
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
_FIRST: Final = re.compile(
    r"(?P<who>我们?)(?:已经|刚刚?|最近|前[天段]|上[周个]|去年|今年|又|也|都|现在|终于|全家|换|搬|辞|跳|离|升|结婚|毕业|转行|改行|退休)"
)
"""Clauses whose subject is the first person and no relative of theirs, so that the next clause may share it."""
_NOW_AT: Final = re.compile(
    r"(?P<who>我)?(?:现在|目前|如今|去了|加入了?|到了)+(?:就)?(?:在|去了|加入了|到)?(?P<value>[^在是的]{2,20}?)(?:工作|上班|任职)?"
)
_Build = Callable[["re.Match[str]"], Statement | None]


def read(
    sentence: Sentence,
    names: Callable[[str], str],
    taken: Sequence[tuple[int, int]],
    _known: frozenset[str] = frozenset(),
) -> tuple[list[Statement], bool]:
    """Return the statements of a sentence, and whether they hold all that it says; see ``statements_en.read``."""
    if len(sentence.text) > 200 or _UNSAID.search(sentence.text):
        return [], False
    found: list[Statement] = []
    whole = True
    subject, left = "", False
    for match in _CLAUSE.finditer(sentence.text):
        text = match[0]
        opener = _OPENER.match(text)
        begin = match.start() + (opener.end() if opener else 0)
        body = text[opener.end() if opener else 0 :]
        timed = _without_times(body, sentence.start + begin, taken)
        bare = _TAIL.sub("", timed).strip()
        if not bare:
            continue
        unread = _TAIL.sub("", body).strip()
        said_so = bare.startswith(("我", "咱", "他", "她"))
        if found and not said_so and found[-1].entity in (OWNER, TEAM):
            subject = _subject_of(found[-1])
        employer = _NOW_AT.fullmatch(unread) if left else None
        if employer is not None:
            statement = _work(employer)
        elif subject and not said_so:
            statement = _statement(subject + bare, names) or _statement(bare, names)
        else:
            statement = _statement(bare, names) or _statement(unread, names)
        left = left or JOB_CHANGE.match(unread) is not None
        opening = _FIRST.match(unread)
        if opening is not None or said_so:
            subject = opening["who"] if opening is not None else ""
        if statement is None:
            whole = False
            continue
        start = sentence.start + begin + len(body) - len(body.lstrip())
        said = body.strip()
        if not said.startswith(("我", "咱")) and statement.entity in (OWNER, TEAM) and "我" not in said:
            said = _subject_of(statement) + said
        content = _closed(said if statement.content == "" else statement.content)
        takes_back = opener is not None and opener[0].startswith("更正")
        if takes_back and opener is not None:
            content = opener[0].strip() + content
        found.append(
            replace(
                statement,
                content=content,
                named=re.sub(r"我(?!们)", OWNER, content, count=1)
                if statement.entity == OWNER or "我" in content
                else content,
                start=sentence.start + match.start() if takes_back else start,
                end=sentence.start + match.end(),
                correction=statement.correction or bool(opener and opener[0].startswith(("其实", "更正"))),
            )
        )
    return found, whole and bool(found)


def _without_times(text: str, offset: int, taken: Sequence[tuple[int, int]]) -> str:
    for start, end in sorted(taken, reverse=True):
        if offset <= start < offset + len(text) and end <= offset + len(text):
            text = text[: start - offset] + text[end - offset :]
    return text


def _subject_of(statement: Statement) -> str:
    return "我们" if statement.entity == TEAM else "我"


def _closed(text: str) -> str:
    text = text.strip(" ，,；;")
    return text if text.endswith(("。", "！", "!", ".", "…")) else text + "。"


def _statement(text: str, names: Callable[[str], str]) -> Statement | None:
    said = ""
    if text[0] in "他她" and not text.startswith(("他们", "她们")):
        name = names("he" if text[0] == "他" else "she")
        if not name:
            return None
        said = name + text[1:]
        text = said
    for pattern, build in _RULES:
        match = pattern.fullmatch(text)
        statement = build(match) if match else None
        if statement is not None:
            return replace(statement, content=said) if said else statement
    return None


def _make(
    match: "re.Match[str]", name: str, value: str, *, single: bool | None = None, polarity: int = 1, began: bool = False
) -> Statement | None:
    value = _TAIL.sub("", value).strip()
    if not value or len(value) > 30 or _DEICTIC.match(value):
        return None
    groups = match.groupdict()
    who = groups.get("who") or ""
    if groups.get("not"):
        polarity = -polarity
    past = bool(groups.get("past"))
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


def _property(match: "re.Match[str]") -> Statement | None:
    name, value = match["property"], match["value"]
    if _VAGUE.search(name) or _COMMON.match(match.groupdict().get("name") or ""):
        return None
    favourite = re.match(r"最(?:喜欢|爱)的?(.*)", name)
    known = f"favorite_{_PROPERTIES.get(favourite[1], favourite[1])}" if favourite else _PROPERTIES.get(name, name)
    if re.match(r"^(?:很|非常|真|太|最|比较|好|挺|特别)", value):
        return None
    return _make(match, known, value, single=True if known in _SINGLE or favourite else None)


def _favourite(match: "re.Match[str]") -> Statement | None:
    if match["value"].startswith(("死", "惨", "极")):
        return None  # 我爱死它了
    return _make(match, "likes", match["value"], single=False)


def _dislike(match: "re.Match[str]") -> Statement | None:
    return _make(match, "likes", match["value"], single=False, polarity=-1)


def _work(match: "re.Match[str]") -> Statement | None:
    place = match["value"]
    if _NO_EMPLOYER.fullmatch(place) or _NO_PLACE.search(place):
        return None
    if _SOME.match(place):
        return _make(match, "workplace", place)
    at = _ORGANISATION.search(place) is not None or PLACE.fullmatch(place) is None
    return _make(match, "works_at" if at else "works_in", place, single=True)


def _lives(match: "re.Match[str]") -> Statement | None:
    place = match["value"]
    if _NO_PLACE.search(place):
        return None
    return _make(match, "dwelling", place) if _SOME.match(place) else _make(match, "lives_in", place, single=True)


def _joined(match: "re.Match[str]") -> Statement | None:
    if PLACE.fullmatch(match["value"]) or re.search(
        r"(?:社团|乐团|合唱团|旅行团|团队|群|[书协学工商]会|小组|社|党|军|部队|军队)$|俱乐部|健身房|计划|项目",
        match["value"],
    ):
        return None
    return _make(match, "works_at", match["value"], single=True, began=True)


def _trade(match: "re.Match[str]") -> Statement | None:
    """Read 我是护士, where only a trade may stand without a measure word; 现在 and 转行 say that it is new."""
    newly = match.groupdict().get("newly") is not None
    return _make(match, "occupation", match["value"], single=True if newly else None)


def _changed(match: "re.Match[str]") -> Statement | None:
    name = _PROPERTIES.get(match["property"], match["property"])
    if name not in _SINGLE:
        return None
    return _make(match, name, match["value"], single=True, began=True)


def _newer(match: "re.Match[str]") -> Statement | None:
    name = _PROPERTIES.get(match["property"], match["property"])
    return _make(match, name, match["value"], single=True, began=True) if name in _SINGLE else None


def _appointed(match: "re.Match[str]") -> Statement | None:
    moved = match.groupdict().get("moved") is not None
    if not re.search(r"[年月日号天周末期点]|明|后", match["value"]):
        return None
    statement = _make(match, "date", match["value"], single=True if moved else None)
    return None if statement is None else replace(statement, entity_type="event", correction=moved)


def _is(match: "re.Match[str]") -> Statement | None:
    value = match["value"]
    if value.endswith("人") and len(value) <= 5:
        return _make(match, "from", value.removesuffix("人") or value, single=None)
    if not match["counted"]:
        return None
    return _make(match, "occupation" if match.groupdict().get("who") else "is_a", value)


def _has(match: "re.Match[str]") -> Statement | None:
    noun, called = match["noun"], match["called"]
    count = chinese_number(match["count"]) if match["count"] else None
    value = f"{match['count'] or ''}{match['measure'] or ''}{noun}" + (f"（{called}）" if called else "")
    name = f"has_{_PROPERTIES.get(noun, noun)}"
    return _make(match, name, value, single=False if count in (None, 1) else None)


def _habit(match: "re.Match[str]") -> Statement | None:
    return _make(match, "habit", match["value"], single=False)


def _of_person(build: _Build) -> _Build:
    def read_person(match: "re.Match[str]") -> Statement | None:
        statement = build(match)
        return None if statement is None else replace(statement, entity_type="person")

    return read_person


def _uses(match: "re.Match[str]") -> Statement | None:
    purpose = match["purpose"]
    name = f"uses_for_{purpose}" if purpose else "uses"
    return _make(match, name, match["value"])


def _fixed(name: str, single: bool | None, *, began: bool = False) -> _Build:
    def build(match: "re.Match[str]") -> Statement | None:
        return _make(match, name, match["value"], single=single, began=began)

    return build


def _age(match: "re.Match[str]") -> Statement | None:
    return _make(match, "age", match["value"], single=True)


def _passive(match: "re.Match[str]") -> Statement | None:
    return _make(match, f"{_VERBS[match['verb']]}_by", match["value"], single=True)


_VERBS: Final = {
    "创立": "founded", "创办": "founded", "成立": "founded", "创建": "founded", "写": "written", "编写": "written",
    "撰写": "written",
    "发明": "invented", "开发": "developed", "设计": "designed", "导演": "directed", "执导": "directed",
    "发现": "discovered",
    "收购": "acquired", "制造": "made", "生产": "produced", "出版": "published", "建造": "built", "演唱": "performed",
}  # fmt: skip
_V: Final = r".{1,24}"
_TRADES: Final = (
    "老师|教师|护士|医生|工程师|程序员|律师|会计|设计师|厨师|司机|警察|记者|编辑|翻译|作家|画家|演员|歌手|摄影师|产品经理|项目经理"
    "|销售|教授|研究员|科学家|药剂师|牙医|兽医|建筑师|公务员|军人|农民|飞行员|消防员|咨询师|分析师|架构师|导游|教练|店长|学生|研究生|博士生|大学生"
)
_RULES: Final[tuple[tuple["re.Pattern[str]", _Build], ...]] = tuple(
    (re.compile(pattern), build)
    for pattern, build in (
        (rf"{_WHO}(?:的名字)?(?:叫做?|是叫)(?P<value>[\w·• ]{{1,20}})", _fixed("name", True)),
        (
            rf"(?:{_WHO}的?)?(?P<name>{APPOINTMENTS})(?P<moved>(?:时间|日期)?(?:已经?|被|又)*{MOVED_TO})(?P<value>{_V})",
            _appointed,
        ),
        (rf"(?P<name>{APPOINTMENTS})(?:时间|日期)?(?:是在|是|在|定在|定于)(?P<value>{_V})", _appointed),
        (rf"{_WHO}的?新的?(?P<property>{'|'.join(_PROPERTIES)})(?:是|叫|为)(?P<value>[^是]{{1,24}})", _newer),
        (
            rf"{_WHO}的?(?P<property>{'|'.join(_PROPERTIES)})(?:已经|刚刚?|最近)*{PROPERTY_CHANGE}(?P<value>[^是]{{1,24}})",
            _changed,
        ),
        (rf"{_WHO}{_ADVERB}(?:今年|已经|刚满|刚过|满|刚)*(?P<value>[0-9一二三四五六七八九十两]{{1,3}}岁)", _age),
        (rf"{_WHO}{_PAST}{_ADVERB}{_NOT}{_ADVERB}住在?(?P<value>{_V})", _lives),
        (
            rf"{_WHO}(?:刚刚?|已经|最近|全家)*(?:搬到|搬去|搬家到|移居到?|定居在?)了?(?P<value>{_V})",
            _fixed("lives_in", True, began=True),
        ),
        (
            rf"{_WHO}(?:刚刚?|已经|最近)*(?:从.{{1,12}}?)?(?:加入|入职|跳槽到|跳槽去|跳槽到|转到|换到)了?"
            rf"(?P<value>{_V}?)(?:工作|上班|任职)?",
            _joined,
        ),
        (rf"{_WHO}(?:刚刚?|已经|最近)*在(?P<value>{_V}?)找到了?(?:一份|份)?新?工作", _joined),
        (rf"{_WHO}(?:刚刚?|已经|最近)*开始在(?P<value>{_V}?)(?:工作|上班|任职)", _joined),
        (rf"{_WHO}(?:刚刚?|已经|最近)*去了?(?P<value>{_V}?)(?:工作|上班|任职)", _joined),
        (
            rf"{_WHO}(?:已经|刚刚?|最近)*(?P<newly>现在|如今|转行做?|改行做?|转行当|改行当|成为|当上)了?(?:是|当)?(?:一名|一位|一个|名|个)?"
            rf"(?P<value>[^\W的]{{0,6}}(?:{_TRADES}))",
            _trade,
        ),
        (rf"{_WHO}{_NOT}是(?:一名|一位|一个|名|个)?(?P<value>[^\W的]{{0,6}}(?:{_TRADES}))", _trade),
        (rf"{_WHO}{_PAST}{_ADVERB}{_NOT}{_ADVERB}在(?P<value>{_V}?)(?:工作|上班|任职|做事)", _work),
        (
            rf"{_WHO}{_PAST}{_ADVERB}{_NOT}{_ADVERB}在(?P<value>{_V}?)(?:上学|读书|念书|读研|读博)",
            _fixed("studies_at", True),
        ),
        (rf"{_WHO}{_ADVERB}{_NOT}{_ADVERB}(?:对)(?P<value>.{{1,12}}?)(?:严重)?过敏", _fixed("allergic_to", None)),
        (rf"{_WHO}(?P<property>最(?:喜欢|爱)的[\u4e00-\u9fff]{{1,6}})是(?P<value>[^是]{{1,24}})", _property),
        (
            rf"{_WHO}{_PAST}{_ADVERB}(?P<not>不再|已经不|不太|从来不|并不|不)?{_ADVERB}(?:喜欢|喜爱|热爱|爱|偏爱|偏好)(?:吃的|喝的|的)?(?:是|就是)?(?P<value>[^是]{{1,24}})",
            _favourite,
        ),
        (rf"{_WHO}{_PAST}{_ADVERB}(?:讨厌|厌恶|受不了)(?P<value>{_V})", _dislike),
        (
            rf"{_WHO}{_ADVERB}{_NOT}{_ADVERB}(?:会说|会讲|说|讲)(?P<value>[\u4e00-\u9fff]{{1,6}}[语话文](?:[和、与][\u4e00-\u9fff]{{1,6}}[语话文])*)",
            _fixed("speaks", False),
        ),
        (
            rf"{_WHO}{_ADVERB}{_NOT}{_ADVERB}(?:吃)(?P<value>素|荤|肉|辣|牛肉|猪肉|羊肉|海鲜|鸡蛋|香菜)",
            _fixed("eats", False),
        ),
        (
            rf"{_WHO}(?:家)?(?:现在|目前|还|也|家里)*(?:(?P<not>没|不再)(?:有|养)|养了?|有)(?:(?P<count>[0-9一二两三四五六七八九十]{{1,3}})?(?P<measure>[只条个匹头辆套位]))?(?P<noun>[\u4e00-\u9fff]{{0,3}}(?:狗|猫|鸟|鱼|兔子|仓鼠|乌龟|马|孩子|儿子|女儿|哥哥|弟弟|姐姐|妹妹|车|房子))(?:[，,]?(?:名字)?叫(?P<called>[\w·]{{1,10}}))?",
            _has,
        ),
        (rf"{_WHO}{_PAST}{_ADVERB}{_NOT}是(?P<counted>一名|一个|一位|个|名)?(?P<value>[\w·]{{1,16}})", _is),
        (rf"{_WHO}{_ADVERB}(?P<value>(?:每天|每周|每个?月|每年|每晚|经常|通常).{{2,24}})", _habit),
        (
            rf"{_WHO}(?:团队|项目|公司)?{_ADVERB}(?:用的是|使用|采用|用)(?P<value>[\w.+# -]{{1,24}}?)(?:来?"
            rf"(?:做|处理|存储?|管理|开发|部署)(?P<purpose>[\w]{{1,10}}))?",
            _uses,
        ),
        (rf"{_WHO}的(?P<property>[\u4e00-\u9fff]{{1,8}})(?:是|叫)(?P<value>[^是]{{1,24}})", _property),
        (rf"{_WHO}(?P<property>{'|'.join(_PROPERTIES)})(?:的名字)?(?:是|叫)(?P<value>[^是]{{1,24}})", _property),
        (rf"{_NAME}的(?P<property>[\u4e00-\u9fff]{{1,8}})(?:是|叫)(?P<value>[^是]{{1,24}})", _property),
        (rf"{_NAME}(?:坐落于|坐落在|位于)(?P<value>{_V})", _fixed("located_in", True)),
        (
            rf"{_PERSON}{_ADVERB}(?P<not>不再|已经不|不太|从来不|并不|不)?{_ADVERB}(?:喜欢|喜爱|热爱|爱吃|爱喝)"
            rf"(?:吃的|喝的|的)?(?:是|就是)?(?P<value>[^是]{{1,24}})",
            _of_person(_favourite),
        ),
        (rf"{_PERSON}{_ADVERB}(?:讨厌|厌恶|受不了)(?P<value>{_V})", _of_person(_dislike)),
        (
            rf"{_PERSON}(?:现在|目前)*是(?:一名|一位|一个|名|个)?(?P<value>[^\W的]{{0,6}}(?:{_TRADES}))",
            _of_person(_trade),
        ),
        (rf"{_NAME}(?:是)?(?:由|被)(?P<value>.{{1,20}}?)(?:所)?(?P<verb>{'|'.join(_VERBS)})(?:出?来?的|了)?", _passive),
        (rf"{_NAME}(?:现在|目前)?住在(?P<value>{_V})", _fixed("lives_in", True)),
        (rf"{_NAME}(?:现在|目前)?在(?P<value>{_V}?)(?:工作|上班|任职)", _work),
        (rf"{_NAME}(?:和|跟|与)(?P<value>[\u4e00-\u9fffA-Za-z ]{{2,12}})结婚", _fixed("married_to", True, began=True)),
        (rf"{_NAME}是(?P<counted>一名|一位|一个|一种|一家|一座)(?P<value>{_V})", _is),
    )
)
