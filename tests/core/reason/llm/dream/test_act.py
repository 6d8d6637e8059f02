"""The action planner that asks a model: what it shows of issues; it may do less than they ask for, never more."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from support.builders import memory
from support.scripted_model import Cut, ScriptedModel, Step

from mindmem.core.reason.dream_port import ActionRequest, DreamAction, Issue
from mindmem.core.reason.llm.candidates import FALLBACK_FLAG
from mindmem.core.reason.llm.dream.act import LlmActionPlanner
from mindmem.core.reason.port import Failed, Judged
from mindmem.core.reason.rules.dream.act import RulesActionPlanner
from mindmem.core.records import Memory
from mindmem.core.records.dream import IssueKind
from mindmem.core.settings import LlmSettings

OLD, NEW = memory("Ann lives in Bern.", value="Bern"), memory("Ann lives in Graz.", value="Graz")
CAT, NAMED = (memory(words, about="小李") for words in ("小李养了一只猫。", "小李的猫叫小白。"))


def asked(kind: IssueKind, *memories: Memory, keep: int = -1, **fields: Any) -> ActionRequest:
    names = tuple(one.memory_id for one in memories)
    return ActionRequest(Issue(kind, names, "as found", keep=names[keep], **fields), memories)


def acted(action: str, survivor: int = 2, issue: int = 1, **fields: Any) -> dict[str, Any]:
    return {"issue": issue, "action": action, "survivor": survivor, "confidence": 0.9, "reason": "as decided", **fields}


async def actions(request: ActionRequest, *items: Mapping[str, Any]) -> tuple[DreamAction, ...]:
    [verdict] = await LlmActionPlanner(ScriptedModel([{"actions": list(items)}]), LlmSettings()).plan([request])
    assert isinstance(verdict, Judged)
    return verdict.value


def ops(found: Sequence[DreamAction]) -> list[str]:
    return [one.op for one in found]


async def test_an_issue_is_shown_with_its_memories_and_the_one_to_be_kept() -> None:
    model = ScriptedModel([{"actions": []}])
    await LlmActionPlanner(model, LlmSettings()).plan([asked("conflict", OLD, NEW)])
    assert "I1 conflict M1 M2 keep M2: as found" in model.asked[0].user
    assert "Ann lives in Bern." in model.asked[0].user


async def test_each_value_gives_way_to_the_one_after_it() -> None:
    latest = memory("Ann lives in Ulm.", value="Ulm")
    found = await actions(asked("conflict", OLD, NEW, latest), acted("supersede", 3))
    pairs = [(one.target, one.by) for one in found]
    assert pairs == [(OLD.memory_id, NEW.memory_id), (NEW.memory_id, latest.memory_id)]
    assert {one.reason for one in found} == {"as decided"}


async def test_an_issue_that_is_not_sure_is_linked_and_asks_nothing() -> None:
    doubt = asked("ambiguous", OLD, NEW, sure=False, link="contradicts")
    [verdict] = await LlmActionPlanner(ScriptedModel(), LlmSettings()).plan([doubt])
    assert isinstance(verdict, Judged)
    assert [(one.op, one.kind) for one in verdict.value] == [("link", "contradicts")]


async def test_an_issue_that_is_none_is_left_alone() -> None:
    assert await actions(asked("conflict", OLD, NEW), acted("keep")) == ()


@pytest.mark.parametrize(
    ("kind", "item"),
    [
        ("conflict", acted("link")),
        ("conflict", acted("merge", content="Ann lives in Bern and Graz.")),
        ("conflict", acted("archive")),
        ("conflict", acted("supersede", survivor=1)),
        ("conflict", acted("supersede", survivor=7)),
        ("conflict", acted("supersede", confidence=0.5)),
        ("conflict", acted("supersede", issue=4)),
        ("duplicate", acted("supersede")),
        ("complementary", acted("archive")),
        ("complementary", acted("merge", content="")),
    ],
)
async def test_what_an_issue_does_not_allow_becomes_a_link(kind: IssueKind, item: Mapping[str, Any]) -> None:
    found = await actions(asked(kind, OLD, NEW), item)
    assert ops(found) == ["link"]
    assert found[0].kind == ("contradicts" if kind == "conflict" else "related")


async def test_of_duplicates_the_one_that_says_all_stays_in_its_own_words() -> None:
    one, other = memory("Ann loves tea."), memory("Ann is fond of tea.")
    [found] = await actions(asked("near_duplicate", one, other), acted("merge", survivor=1))
    assert (found.op, found.target, found.by) == ("fold", other.memory_id, one.memory_id)


@pytest.mark.parametrize(
    ("content", "joined"),
    [
        ("小李养了一只叫小白的猫。", True),
        ("小李养了三只叫小白的猫。", False),
        ("小李没有养叫小白的猫。", False),
        ("小李养了一只猫。", False),
        ("Xiao Li has a cat called Xiaobai.", False),
    ],
)
async def test_chinese_fragments_are_joined_in_chinese_and_say_no_more(content: str, joined: bool) -> None:
    found = await actions(asked("complementary", CAT, NAMED), acted("merge", content=content))
    assert ops(found) == (["write", "fold"] if joined else ["link"])


async def test_a_reply_that_was_cut_is_asked_for_in_halves() -> None:
    model = ScriptedModel([Cut('{"actions": ['), {"actions": [acted("supersede")]}, {"actions": [acted("keep")]}])
    requests = [asked("conflict", OLD, NEW), asked("conflict", OLD, NEW)]
    verdicts = await LlmActionPlanner(model, LlmSettings()).plan(requests)
    assert [ops(one.value) for one in verdicts if isinstance(one, Judged)] == [["supersede"], []]


@pytest.mark.parametrize("step", [Failed("away", transient=True), Failed("no", transient=False, raw="no"), "chatter"])
async def test_a_failed_call_is_a_failed_issue(step: Step) -> None:
    [verdict] = await LlmActionPlanner(ScriptedModel([step]), LlmSettings()).plan([asked("conflict", OLD, NEW)])
    assert isinstance(verdict, Failed)


async def test_with_the_rules_behind_it_an_unreadable_reply_is_judged_by_them_and_marked() -> None:
    planner = LlmActionPlanner(ScriptedModel(["chatter"]), LlmSettings(), RulesActionPlanner())
    [verdict] = await planner.plan([asked("conflict", OLD, NEW)])
    assert isinstance(verdict, Judged)
    assert [(one.op, one.reason) for one in verdict.value] == [("supersede", f"{FALLBACK_FLAG}: as found")]
