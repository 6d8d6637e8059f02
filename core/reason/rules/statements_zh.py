"""Chinese clauses into statements by their structure: 我…, X的Y是Z, X位于Y, X由Y创立, and what the first person likes,
has, speaks and does. What fits no structure fully is left to be kept in its own words.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from mindmem.core.reason.rules.changes_zh import JOB_CHANGE
from mindmem.core.reason.rules.meanings_zh import TAIL, works
from mindmem.core.reason.rules.sentences import Sentence
from mindmem.core.reason.rules.statements import OWNER, TEAM, Statement
from mindmem.core.reason.rules.structures_zh import RULES

__all__ = ["read"]

_CLAUSE: Final = re.compile(r"(?:[^，,；;。！!]|(?<=\d)(?:,(?=\d)|，(?=\d{3}(?!\d))))+")
_UNSAID: Final = re.compile(
    r"[？?“”\"「」『』`]|吗[。！]?$|呢[。]?$|如果|要是|假如|假设|也许|可能|大概|好像|似乎|听说|据说|觉得|认为|以为|估计|应该|希望|想要|打算|想(?!念|象)"
    r"|[这那][几两]天|这阵子|那时候|当时|小时候|能不能|是不是|有没有|请|帮我|怎么|什么|哪|谁|多少|几点|说(?!英|中|法|德|日|韩|俄|西|葡|意|阿|粤|汉|普|一口|[\u4e00-\u9fff]{0,4}[语话文])"
)
_OPENER: Final = re.compile(
    r"^(?:其实|对了|嗯|啊|哦|另外|还有|而且|不过|但是|但|然后|所以|因为|你好|大家好|顺便说一下|更正一下|更正|补充一下|记住|请记住|以及|并且|我说过)[，,：:\s]*"
)
_FIRST: Final = re.compile(
    r"(?P<who>我们?)(?:已经|刚刚?|最近|前[天段]|上[周个]|去年|今年|又|也|都|现在|终于|全家|换|搬|辞|跳|离|升|结婚|毕业|转行|改行|退休)"
)
"""Clauses whose subject is the first person and no relative of theirs, so that the next clause may share it."""
_NOW_AT: Final = re.compile(
    r"(?P<who>我)?(?:现在|目前|如今|去了|加入了?|到了)+(?:就)?(?:在|去了|加入了|到)?(?P<value>[^在是的]{2,20}?)(?:工作|上班|任职)?"
)


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
        bare = TAIL.sub("", timed).strip()
        if not bare:
            continue
        unread = TAIL.sub("", body).strip()
        said_so = bare.startswith(("我", "咱", "他", "她"))
        if found and not said_so and found[-1].entity in (OWNER, TEAM):
            subject = _subject_of(found[-1])
        employer = _NOW_AT.fullmatch(unread) if left else None
        if employer is not None:
            statement = works(employer)
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
    for pattern, build in RULES:
        match = pattern.fullmatch(text)
        statement = build(match) if match else None
        if statement is not None:
            return replace(statement, content=said) if said else statement
    return None
