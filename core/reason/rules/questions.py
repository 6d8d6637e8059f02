"""What a question asks for, and the words that say of what: the grammar that answering and planning share.

English and Chinese, closed classes of words only.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

from mindmem.core.text import STOP_GRAMS, terms, topic_terms

__all__ = ["Asked", "Kind", "read_question", "related", "same_family", "share_told"]

Kind = Literal["who", "when", "until", "where", "count", "length", "yes_no", "what"]
"""What the answer is: a person, a time, the end of a time, a place, a number, how long, yes or no, anything else."""

_PATTERNS: Final[dict[Kind, str]] = {
    "length": r"\bhow long\b|\bfor how many (?:days|weeks|months|years)\b|多久|多长时间",
    "until": (
        r"\b(?:until|till|by) (?:when|what)\b"
        r"|\bwhen (?:is|do|does|will)\b.{1,60}\b(?:end|expire|over|due)\b"
        r"|什么时候(?:结束|到期|过期|截止)|到(?:什么时候|何时)"
    ),
    "count": (
        r"\bhow (?:many|much|old|tall|far|often|big|large)\b"
        r"|多少|几(?=[个只条岁本张辆次位台件套匹头])|多大|多高"
    ),
    "when": (
        r"\bwhen\b|\b(?:what|which) (?:exact )?(?:day|date|month|year|time)\b"
        r"|什么时候|何时|哪一?[天年月日]|几月|几号|何年"
    ),
    "where": (
        r"\bwhere\b|\b(?:what|which) (?:city|country|place|town|state|location)\b"
        r"|哪里|哪儿|在哪|何处|什么地方|哪[个座]?(?:城市|国家|地方|城)"
    ),
    "who": r"\bwho(?:m|se)?\b|\b(?:what|which) person\b|谁|哪位",
    "what": r"\b(?:what|which|how|why)\b|什么|哪|怎么|为什么|如何",
    "yes_no": (
        r"^(?:\w+, )?(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might)"
        r"(?:n['’]t)?\b|[吗嘛么]\s*[?？]?\s*$|是否|是不是|有没有|会不会|能不能"
    ),
}
_KINDS: Final = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS.items())
"""In the order in which they are tried."""
_NO_TOPIC: Final = frozenset(
    term.text
    for word in (
        "kind type sort date day month year time moment place city town country location state person people thing"
        " things many much long old often tall far big large number amount name named called whom whose exactly exact"
        " current currently recent recently usually generally ever"
    ).split()
    for term in terms(word)
)
"""Words that name what is asked for or how it is asked, and no topic."""
_NO_TOPIC_SIGNS: Final = frozenset("谁哪几多少久大时候何月号年天日地方位")
_IRREGULAR: Final = (
    "come/came see/saw/seen meet/met give/gave/given take/took/taken make/made find/found tell/told think/thought"
    " feel/felt lose/lost write/wrote/written run/ran win/won sell/sold leave/left teach/taught bring/brought"
    " build/built grow/grew/grown drink/drank sing/sang swim/swam drive/drove/driven ride/rode fly/flew speak/spoke"
    " choose/chose/chosen wear/wore/worn break/broke/broken catch/caught fall/fell hear/heard keep/kept know/knew/known"
    " sleep/slept spend/spent send/sent pay/paid hold/held become/became lead/led draw/drew/drawn say/said"
).split()
"""Forms of verbs that share no stem."""
_FAMILIES: Final = tuple(
    frozenset(term.text for word in family.replace("/", " ").split() for term in terms(word))
    for family in (
        *_IRREGULAR,
        "job work works worked working occupation profession career employer employed company",
        "live lives living lived home reside resides moved move moving relocated address based hometown",
        "like likes liked love loves loved enjoy enjoys favorite favourite prefer prefers hobby hobbies fan",
        "dislike dislikes hate hates avoid avoids",
        "born birthday birth birthdate",
        "married marry marries spouse wife husband wedding",
        "own owns has have got bought buy purchase purchased adopted adopt adopts pet",
        "study studies studied studying learn learns learning graduate graduated school university degree major",
        "visit visits visited travel travels traveled travelled trip went go goes going",
        "begin began begun start started starts since",
        "mother mom mum",
        "father dad",
        "kid kids child children son daughter",
        "boss manager",
        "car vehicle",
        "use uses used using switched",
        "speak speaks language",
        "allergic allergy allergies",
        "eat eats ate eating diet food",
    )
)
"""Words that ask for and tell of the same, by their stems."""
_AKIN: Final = 0.75
_CHINESE_PROPERTIES: Final = {
    "工作 上班 职业 任职": "work job",
    "住 居住 搬": "live",
    "喜欢 喜爱 爱好 热爱": "like",
    "出生 生日": "born",
    "结婚 妻子 丈夫 老婆 老公": "married",
    "养 有几 有多少": "has",
    "多大 几岁 年龄": "age",
    "叫什么 名字": "name",
}
"""Chinese words of questions, and the words of the property names that they ask for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's kind, and its topic: terms that tell of what (stems; single signs where no spaces part words).

    ``properties`` are the terms of property names that it asks for, which are English in every language's memories.
    """

    kind: Kind
    topic: frozenset[str]
    properties: frozenset[str]


def read_question(question: str) -> Asked:
    """Return what a question asks for.

    >>> read_question("When did Ann move to Paris?").kind, sorted(read_question("How many cats does Ann have?").topic)
    ('when', ['ann', 'cat'])
    """
    other: Kind = "what"
    kind = next((kind for kind, pattern in _KINDS if pattern.search(question)), other)
    topic = topic_terms(question)
    topic = (topic - _NO_TOPIC - _NO_TOPIC_SIGNS - STOP_GRAMS) or topic
    named = [
        name
        for words, names in _CHINESE_PROPERTIES.items()
        if any(word in question for word in words.split())
        for name in names.split()
    ]
    return Asked(kind, topic, topic | {term.text for name in named for term in terms(name)})


def related(term: str) -> frozenset[str]:
    """Return a topic's term with the terms that tell of the same.

    >>> "birthday" in related("born")
    True
    """
    return frozenset({term}).union(*(family for family in _FAMILIES if term in family))


def same_family(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two sets of terms tell of the same in at least one of them."""
    return any(not related(term).isdisjoint(other) for term in one)


def share_told(topic: frozenset[str], known: frozenset[str]) -> float:
    """Return which share of a topic some terms tell of, 0..1; a word that tells of the same counts three quarters.

    >>> share_told(frozenset({"cat", "job"}), frozenset({"cat", "works"}))
    0.875
    """
    told = (1.0 if term in known else _AKIN if not related(term).isdisjoint(known) else 0.0 for term in topic)
    return sum(told) / max(1, len(topic))
