"""The planner without a model: a question of several steps to a search for each step, by simple grammar.

Chains of possessives ("Ann's sister's husband", "the boss of the sister of Ann", 安娜的姐姐的丈夫) are walked from
their beginning, with what the earlier rounds found put in the place of each step; "both A and B" and "A or B" ask for
each; a clause of time ("after she moved") or of description ("whose dog is called Rex") is searched on its own.
"""

import re
from collections.abc import Sequence
from typing import Final

from mindmem.core.ids import normalise_claim
from mindmem.core.reason.port import Judged, SearchPlan, SearchPlanRequest, Verdict
from mindmem.core.reason.rules.questions import read_question, related, same_family, share_told
from mindmem.core.records import Memory
from mindmem.core.search.timewords import asked_times
from mindmem.core.text import terms, words

__all__ = ["MOST_QUERIES", "RulesPlanner"]

MOST_QUERIES: Final = 4
_ENOUGH: Final = 0.75
"""Share of a question's topic that one memory must tell of to be enough for a question of one step."""
_READ: Final = 2_000
_SEEN: Final = 20  # found memories that are looked at
_NOUN: Final = r"[\w-]+(?: (?!is\b|was\b|does\b|did\b|has\b|and\b|or\b)[\w-]+)??"
_POSSESSIVES: Final = re.compile(
    rf"\b(?P<head>[^\W\d_][\w-]*)['’]s (?P<steps>{_NOUN}(?:['’]s {_NOUN})+)(?=\s|[?.,!]|$)"
)
_NAME: Final = r"[A-Z][\w'’-]*(?: (?:(?:of|the|de|van|von) )?[A-Z][\w'’-]*)*|[^\W\d_][\w-]*"
_OF: Final = re.compile(rf"\b[Tt]he (?P<nouns>[\w-]+(?: [\w-]+)?(?: of the [\w-]+(?: [\w-]+)?)+) of (?P<head>{_NAME})")
_CHINESE: Final = re.compile(r"(?P<head>[\w]{1,8}?)的(?P<first>[\u4e00-\u9fff]{1,4}?)的(?P<last>[\u4e00-\u9fff]{1,4})")
_WHOSE: Final = re.compile(r"(?<=\w )(?:whose|who|that(?= \w+s\b)) (?P<clause>[^?,]{3,120})", re.IGNORECASE)
_BOTH: Final = re.compile(
    r"\b(?:both|either|between) (?P<one>[^?,]{1,40}?) (?:and|or) (?P<other>[\w'’-]+(?: [A-Z][\w'’-]+)*)"
    r"|(?P<one_zh>[\w]{1,6}?)[和跟与](?P<other_zh>[\w]{1,6}?)(?=都|谁)"
)
_OR: Final = re.compile(
    r",? (?P<one>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*) or (?P<other>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*)\s*\?"
)
_WHEN: Final = re.compile(
    r"^(?P<main>.{8,}?)[, ]+(?:right |just |soon |shortly )?(?:after|before|while|since|when|until)"
    r" (?P<clause>\w+ .{6,}?)\??$",
    re.IGNORECASE,
)


class RulesPlanner:
    """Plans searches by the question's grammar; says enough once the topic's words were found."""

    async def plan(self, requests: Sequence[SearchPlanRequest]) -> list[Verdict[SearchPlan]]:
        """Return one judgement per request, in order."""
        return [Judged(_plan(request)) for request in requests]


def _plan(request: SearchPlanRequest) -> SearchPlan:
    question = request.question.strip()[:_READ]
    found = request.found[:_SEEN]
    spans = asked_times(question, request.asked_at, request.timezone)
    begin = spans[0].start if len(spans) == 1 else None
    end = spans[0].end if len(spans) == 1 else None
    steps, walked = _steps(question, found)
    if found and walked and _enough(question, steps, found):
        return SearchPlan((), enough=True, begin=begin, end=end, reason="the found memories tell of all that is asked")
    queries = [question] if question and not found else []
    queries += [step for step in steps if normalise_claim(step) != normalise_claim(question)]
    if found and not queries:
        queries = [_missing(question, found) or question]
    reason = f"{len(steps)} steps" if steps else "one step"
    return SearchPlan(tuple(dict.fromkeys(queries))[:MOST_QUERIES], begin=begin, end=end, reason=reason)


def _steps(question: str, found: Sequence[Memory]) -> tuple[list[str], bool]:
    """The searches of a question of several steps (none for a question of one), and whether they reach its end."""
    chain = _chain(question)
    if chain:
        return _walk(question, chain, found)
    if both := _BOTH.search(question) or _OR.search(question):
        names = [name for name in both.groupdict().values() if name]
        return [_without(question, both, name) for name in names], True
    if dated := _WHEN.match(question):
        return [dated["clause"].strip(), dated["main"].strip() + "?"], True
    if described := _WHOSE.search(question, 1):
        return [described["clause"].strip()], True
    return [], True


def _walk(question: str, chain: Sequence[str], found: Sequence[Memory]) -> tuple[list[str], bool]:
    """The first step of a chain that the found memories don't know yet; the question about its end once they do."""
    head, *nouns = chain
    joint = "的" if "的" in question else "'s "
    for noun in nouns:
        known = _value_of(head, noun, found)
        if not known:
            return [f"{head}{joint}{noun}"], False
        head = known
    return [_about(question, head)], True


def _chain(question: str) -> list[str]:
    """Whom a question begins at and what leads on from there: ``[Ann, sister, husband]``; empty for no chain."""
    if match := _POSSESSIVES.search(question):
        return [match["head"], *re.split(r"['’]s ", match["steps"])]
    if match := _OF.search(question):
        return [match["head"], *reversed(match["nouns"].split(" of the "))]
    if match := _CHINESE.search(question):
        return [match["head"], match["first"], match["last"]]
    return []


def _value_of(head: str, noun: str, found: Sequence[Memory]) -> str:
    """What the found memories say that ``head``'s ``noun`` is, the empty string when they don't."""
    asked, about = _forms(noun), normalise_claim(head)
    for memory in found:
        if not memory.value or normalise_claim(memory.entity_name) != about or "negated" in memory.flags:
            continue
        if same_family(asked, _forms(memory.property_name.replace("_", " "))):
            return memory.value
    return ""


def _about(question: str, known: str) -> str:
    """The question with its chain replaced by what it was found to lead to."""
    pattern = next(pattern for pattern in (_POSSESSIVES, _OF, _CHINESE) if pattern.search(question))
    return pattern.sub(lambda _: known, question, count=1)


def _without(question: str, both: "re.Match[str]", name: str) -> str:
    """The question with only one of the two names."""
    return f"{question[: both.start()]} {name} {question[both.end() :]}".strip().replace("  ", " ")


def _enough(question: str, steps: Sequence[str], found: Sequence[Memory]) -> bool:
    topic = read_question(question).topic
    told = [_memory_forms(memory) for memory in found]
    if not steps:
        return any(share_told(topic, known) >= _ENOUGH for known in told)
    # Every step must be answered by one memory, or the last of them hangs in the air.
    return all(any(share_told(read_question(step).topic, known) >= _ENOUGH for known in told) for step in steps)


def _missing(question: str, found: Sequence[Memory]) -> str:
    """The question's words that no found memory tells of."""
    known = frozenset().union(*(_memory_forms(memory) for memory in found))
    topic = read_question(question).topic
    missing = {term for term in topic if related(term).isdisjoint(known)}
    return " ".join(dict.fromkeys(word for word in words(question) if not missing.isdisjoint(_forms(word))))


def _forms(text: str) -> frozenset[str]:
    return frozenset(term.text for term in terms(text))


def _memory_forms(memory: Memory) -> frozenset[str]:
    named = f"{memory.entity_name} {memory.speaker} {memory.property_name.replace('_', ' ')} {memory.value}"
    return _forms(f"{memory.content[:_READ]} {named}")
