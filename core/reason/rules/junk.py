"""What carries nothing to remember, and what must never be extracted: fences, boot files, dumps, instructions."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from mindmem.core.language.words import has_substance

__all__ = [
    "RECALLED", "blocks", "carries", "is_boot_file", "is_dump", "is_instruction", "is_partly_fenced", "outside_fences",
    "unanswered",
]  # fmt: skip

RECALLED: Final = "recalled memories"
"""Why what stands within a fence is skipped."""

_FENCE_OPEN: Final = re.compile(
    r"<(?P<tag>[A-Za-z_:-]*(?:memor(?:y|ies)|recall(?:ed)?|mindmem|system-reminder|system_reminder|relevant[-_]context|environment_context)[\w:-]*)(?:\s[^>]{0,500})?>",
    re.IGNORECASE,
)
_BRACKET_OPEN: Final = re.compile(
    r"(?:\[|={3,} ?|-{3,} ?)(?:BEGIN |START (?:OF )?)?(?P<tag>(?:RECALLED |RELEVANT |RETRIEVED )?MEMOR(?:Y|IES)"
    r"(?: CONTEXT)?)(?:\]| ?={3,}| ?-{3,})",
    re.IGNORECASE,
)
_FENCE_CLOSE: Final = re.compile(r"</(?P<tag>[\w:-]{1,80})\s*>")
_BRACKET_CLOSE: Final = re.compile(
    r"(?:\[|={3,} ?|-{3,} ?)(?:/|END )[^\n\]]{0,40}(?:MEMOR|CONTEXT|RECALL)[^\n\]]{0,20}(?:\]|={3,}|-{3,})",
    re.IGNORECASE,
)
_OWN_TAG: Final = "recalled_memories"
"""The tag of the fence that this library renders (``search.context``); no line of it is blank."""
_BLANK: Final = re.compile(r"\n[ \t]*\r?\n")
_LINE_END: Final = re.compile(r"[ \t\r]*(?:\n|\Z)")
_INDENT: Final = 80
"""Characters of quotation marks and spaces before a tag that has a line of its own, at most."""
_LIST_OPEN: Final = re.compile(
    r"^[ \t>#*]*(?:(?:here(?:'s|’s| is| are) (?:what|everything|the things|some things|the memories) (?:i|we) "
    r"(?:remember|know|recall|have stored)\b[^\n:]{0,60}"
    r"|(?:(?:relevant|recalled|retrieved|saved|stored|user|long[- ]term|existing) )+memor(?:y|ies)\b[^\n:]{0,40}"
    r"|memor(?:y|ies) (?:about|of|for) (?:you|me|(?:the )?user)\b[^\n:]{0,20}"
    r"|memor(?:y|ies) from (?:earlier|past|previous|prior)\b[^\n:]{0,40}"
    r"|(?:以下是?|这是|这些是)?(?:我)?(?:相关|检索到|召回|已保存|关于你|记得关于|用户)[^\n：:]{0,10}(?:记忆|事)[^\n：:]{0,10})"
    r"[*]*[：:][*]*|(?<=#) ?(?:relevant |recalled |retrieved |user )*memories)[ \t]*\n(?:[ \t]*\n)?"
    r"(?P<items>(?:[ \t>]*(?:[-*•·]|\d{1,3}[.)、])[ \t]*[^\n]*(?:\n|\Z))+)",
    re.IGNORECASE | re.MULTILINE,
)
"""A heading that announces recalled memories, and the list below it."""
_LIST_CUES: Final = ("memor", "remember", "know", "recall", "记忆", "记得")
_CODE: Final = re.compile(r"^(?:```|~~~)", re.MULTILINE)
_QUOTED_LINE: Final = re.compile(r"^[ \t]{0,3}(?:>|#{1,6}[ \t]|//|/\*|<!--).*\n?", re.MULTILINE)
"""Lines that quote somebody, head a section or comment on code: not what the speaker says."""
_BOOT: Final = re.compile(
    r"^\s*(?:#+ ?(?:AGENTS|CLAUDE|SOUL|MEMORY|IDENTITY|TOOLS|USER|BOOT(?:STRAP)?|HEARTBEAT|SYSTEM|GEMINI)"
    r"(?:\.md)?\b[^\n]{0,80}\n"
    r"|(?:system prompt|system):\s|You are (?:a|an|the|now) [^\n]{0,120}(?:assistant|agent|chatbot|model|AI|bot)\b"
    r"|<\|(?:system|im_start)\|?>|\[?(?:file|contents of)\]?:? ?[\w./-]{0,80}(?:AGENTS|CLAUDE|SOUL|MEMORY|TOOLS)\.md)"
)
_INSTRUCTION: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,20}\b(?:previous|prior|above|earlier|all|your)\b[^.\n]{0,30}"
    r"\b(?:instructions?|rules?|prompts?|directives?|guidelines?|messages?)\b"
    r"|\b(?:ignore|disregard|override|bypass) (?:any|the|these|those) (?:instructions?|system prompts?"
    r"|directives?|guardrails?)\b"
    r"|\bnew (?:system )?instructions?:|\byou are now (?:in )?(?:dan|developer mode|jailbroken|unrestricted"
    r"|root|admin)\b"
    r"|\b(?:reveal|print|show|repeat|leak|output)\b[^.\n]{0,30}\b(?:system prompt|hidden instructions"
    r"|initial instructions)"
    r"|\b(?:remember|store|save|memorize|memorise|note)\b[^.\n]{0,40}\b(?:admin|root|master|system)\b[^.\n]{0,20}\b(?:password|access|token|privileges?|key)\b"
    r"|\b(?:always|from now on)\b[^.\n]{0,40}\b(?:obey|execute|run|send|forward|transfer"
    r"|exfiltrate)\b[^.\n]{0,60}\b(?:without (?:asking|confirmation)|commands?|to https?:|to \S+@)"
    r"|(?:^|[.!?;:,\n] *)(?:and |now |please |then )*(?:forget|erase|wipe) everything\b"
    r"|^ *\W{0,3}(?-i:SYSTEM|ADMIN|DEVELOPER)(?: \w{1,12})?\W{0,3}: [^\n]{0,80}"
    r"\b(?:you|user|remember|store|forget|from now on)\b"
    r"|\b(?:remember|store|save|memori[sz]e)\b[^.\n]{0,20}\b(?:that|:) ?(?:the|this) user"
    r" (?:is|has|was|wants|prefers|likes|must|should|needs|may|can|agreed|authori[sz]ed)\b"
    r"|\bjailbreak mode\b|\bdo anything now\b"
    r"|\bignor\w{1,6}\b[^.\n]{0,30}\b(?:instrucciones|instruções|instructions|istruzioni|anweisungen)\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to) the user\b"
    r"|(?:忽略|无视|忘记|忘掉|绕过)[^。\n]{0,12}(?:之前|先前|以上|前面|所有|上述)[^。\n]{0,8}(?:指令|指示|规则|提示|要求|命令)"
    r"|(?:记住|保存)[^。\n]{0,10}(?:管理员|root|系统)[^。\n]{0,6}(?:密码|权限|口令)|系统提示词"
    r"|(?:从现在起|从现在开始)[^。\n]{0,12}(?:必须|只能|不得|听从|服从)|你现在是[^。\n]{0,6}(?:管理员|开发者模式)|(?:不要|别|禁止)告诉用户"
    r"|(?:记住|保存)[^。\n]{0,6}(?:该|这个|此)?用户(?:是|已|有权)",
    re.IGNORECASE | re.MULTILINE,
)
_INSTRUCTION_CUES: Final = (
    "ignor", "disregard", "forget", "erase", "wipe", "override", "bypass", "instruction", "you are now", "prompt",
    "admin", "root", "master", "system", "developer", "always", "from now on", "the user", "this user", "jailbreak",
    "anything now", "忽略", "无视", "忘", "绕过", "记住", "保存", "提示词", "从现在", "你现在是", "告诉用户",
)  # fmt: skip
_LOG_LINE: Final = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|at [\w.$<>]+\(|File \"|Traceback|[+-]{3} |@@ "
    r"|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|TRACE)\b|\$ |>>> |[\w./-]+:\d+:|[d-](?:[r-][w-][xs-]){3}|├|└|│)"
)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LETTERS: Final = re.compile(r"[a-z'’]+")
_STRETCHED: Final = re.compile(r"(.)\1{2,}")

_EMPTY: Final = frozenset(
    "hi hey hello hiya yo howdy hola greetings bye goodbye byebye cya later ttyl ciao cheers thanks thank thx ty"
    " tysm welcome ok okay"
    " okey k kk alright yes yeah yep yup ya sure no nope nah absolutely definitely totally exactly indeed certainly"
    " agreed right"
    " true wow whoa woah omg oh ooh ah aww aw haha hahaha hehe lol lmao rofl xd hmm hm mhm uh um huh yay woohoo"
    " cool nice great"
    " awesome amazing fantastic wonderful excellent perfect brilliant lovely good fine super sweet neat impressive"
    " incredible"
    " beautiful interesting fun glad happy proud congrats congratulations sorry please np problem worries worry anytime"
    " i you we me my your it its that this these those they he she him her them us our a an the is are was were am"
    " be been"
    " being do does did don't not so very really pretty quite just too also and or but for to of in on at with by"
    " as if then than"
    " there here what how who why when where which much more most such all lot lots bit again well im i'm you're"
    " it's that's"
    " we're they're can could will would should may might must have has had i've you've i'll you'll let's lets let"
    " got get"
    " sounds sound looks look seems seem feel feels hear heard see know mean say said like love way up out about"
    " day night"
    " morning afternoon evening everyone all guys man dude bro friend buddy dear folks one thing things something"
    " anything"
    " nothing everything always never ever now soon today course kind sort ill i'd you'd he's she's won't can't cannot"
    " doing going been today take care keep go good luck same appreciate talk best ones".split()
)
"""Words of greeting, thanks and applause, and what holds them together; alone they carry nothing."""

_EMPTY_CHINESE: Final = re.compile(
    r"(?:你好|您好|大家好|嗨|哈喽|早上好|早安|早|晚安|晚上好|下午好|再见|拜拜|谢谢你?|谢了|多谢|感谢|不客气|不用谢|没事|没关系|好的?|行|可以|嗯+|哦+|噢|啊+"
    r"|哈+|嘿+|呵+|是的?|对的?|没错|不是|不|收到|明白了?|知道了?|了解了?|懂了|太好了|太棒了|真棒|棒|厉害|真的|不错|很好|非常好|加油|辛苦了?|ok|okay|了|吧|呢|呀|哇|唉|诶"
    r"|我|你|您|们|大家|那|这|就|都|也|很|真|太|的|一下|请|麻烦|稍等|好嘞|好呀|赞|同意|没问题|当然|当然可以|恭喜|祝贺|对不起|抱歉|不好意思|[\W\d_]?)+"
)
_CJK: Final = re.compile(r"[\u3400-\u9fff\u3040-\u30ff]")
_ANSWERS: Final = frozenset(
    "yes yeah yep yup no nope nah sure never always sometimes definitely absolutely"
    " 是 是的 对 不 不是 没有 有 会 不会 可以".split()
)


def outside_fences(content: str) -> list[tuple[int, int]]:
    """Return the stretches of a message that lie outside fences of recalled memories and system reminders."""
    stretches: list[tuple[int, int]] = []
    place = 0
    lowered = content.lower()
    if "<" not in content and not any(cue in lowered for cue in _LIST_CUES):
        return [(0, len(content))] if content.strip() else []
    for start, end in _fences(content):
        if start > place:
            stretches.append((place, start))
        place = max(place, end)
    if place < len(content):
        stretches.append((place, len(content)))
    return [(start, end) for start, end in stretches if content[start:end].strip()]


def is_partly_fenced(content: str) -> bool:
    """Return whether a message holds more than what is outside its fences, letters or numbers that are cut."""
    place = 0
    for start, end in [*outside_fences(content), (len(content), len(content))]:
        if has_substance(content[place:start]):
            return True
        place = end
    return False


def _fences(content: str) -> Iterator[tuple[int, int]]:
    upcoming = {pattern: pattern.search(content) for pattern in (_FENCE_OPEN, _BRACKET_OPEN, _LIST_OPEN)}
    closes = _Closes(content)
    place = 0
    while True:
        for pattern, found in upcoming.items():
            if found is not None and found.start() < place:
                upcoming[pattern] = pattern.search(content, place)
        openings = [found for found in upcoming.values() if found is not None]
        if not openings:
            return
        opened = min(openings, key=lambda found: found.start())
        end = opened.end() if opened.re is _LIST_OPEN else closes.after(opened)
        if end:
            yield opened.start(), end
        place = end or opened.end()


class _Closes:
    """Where the fences of a message may end, found once for all of its openings."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._tags: dict[str, list[int]] = defaultdict(list)
        for close in _FENCE_CLOSE.finditer(content):
            self._tags[close["tag"].lower()].append(close.end())
        self._brackets = [close.end() for close in _BRACKET_CLOSE.finditer(content)]

    def after(self, opened: "re.Match[str]") -> int:
        """Return where the fence ends; 0 for an opening that is ordinary text.

        What is never closed is a fence only where its opening has a line of its own.
        """
        tag = opened["tag"].lower()
        ends = self._tags.get(tag, []) if opened.re is _FENCE_OPEN else self._brackets
        following = bisect_left(ends, opened.end() + 1)
        if opened[0].endswith("/>"):
            return 0
        if following < len(ends):
            return ends[following]
        if not self._own_line(opened):
            return 0
        blank = _BLANK.search(self._content, opened.end()) if tag == _OWN_TAG else None
        return blank.start() if blank else len(self._content)

    def _own_line(self, opened: "re.Match[str]") -> bool:
        before = self._content[max(0, opened.start() - _INDENT) : opened.start()]
        if len(before) == _INDENT and "\n" not in before:
            return False
        indent = before.rpartition("\n")[2]
        return not indent.strip(" \t>#*") and _LINE_END.match(self._content, opened.end()) is not None


def blocks(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the stretches of prose between code blocks and quoted lines; an unclosed block runs to the end."""
    marks = [match.start() for match in _CODE.finditer(content, start, end)]
    prose: list[tuple[int, int]] = []
    place = start
    for opening, closing in zip(marks[::2], [*marks[1::2], None], strict=False):
        if opening > place:
            prose += _unquoted(content, place, opening)
        line = end if closing is None else content.find("\n", closing)
        place = end if line < 0 else min(end, line + 1)
    return prose + _unquoted(content, place, end)


def _unquoted(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the stretches between quoted lines, headings and comments."""
    found: list[tuple[int, int]] = []
    for line in _QUOTED_LINE.finditer(content, start, end):
        if line.start() > start:
            found.append((start, line.start()))
        start = line.end()
    if start < end:
        found.append((start, end))
    return found


def is_boot_file(content: str) -> bool:
    """Return whether a message restates an agent's boot file or system prompt."""
    opening = _BOOT.match(content[:400])
    return opening is not None and (len(content) > 60 or ".md" in opening[0])


def is_instruction(content: str) -> bool:
    """Return whether a message tries to steer whoever reads it rather than to tell something."""
    lowered = content.lower()
    return any(cue in lowered for cue in _INSTRUCTION_CUES) and _INSTRUCTION.search(content) is not None


def is_dump(content: str) -> bool:
    """Return whether a long message is mostly log lines, stack traces, diffs or listings."""
    if len(content) < 1200:
        return False
    lines = [line for line in content[:20_000].splitlines() if line.strip()]
    return len(lines) >= 15 and sum(_LOG_LINE.match(line) is not None for line in lines) > 0.7 * len(lines)


def carries(text: str, names: frozenset[str] = frozenset()) -> bool:
    """Return whether a text has a word, number or name to remember; ``names`` are speakers, who may just be addressed.

    >>> carries("Wow, that's great!"), carries("I adopted a puppy")
    (False, True)
    """
    if not has_substance(text):
        return False
    if _CJK.search(text):
        bare = re.sub(r"[\W_]+", "", text.lower())
        if _EMPTY_CHINESE.fullmatch(bare[:60]) is not None and len(bare) <= 60:
            return False
        if _CJK.search(bare):
            return True
    for match in _WORD.finditer(text):
        word = match[0].lower().replace("’", "'")
        if not word.isascii() or not _LETTERS.fullmatch(word):
            return True
        if (
            word not in _EMPTY
            and word not in names
            and _STRETCHED.sub(r"\1", word) not in _EMPTY
            and not word.startswith(("haha", "hehe"))
        ):
            return True
    return False


def unanswered(text: str, before: str) -> bool:
    """Return whether a bare yes or no answers the question that was asked right before."""
    return before.rstrip().endswith(("?", "？", "吗", "吗。")) and any(
        word in _ANSWERS for word in re.findall(r"[a-z]+|[\u4e00-\u9fff]+", text.lower())
    )
