"""The planner without a model: steps of questions, and when enough was found."""

from datetime import UTC, datetime

import pytest
from support.builders import memory

from mindmem.core.reason.port import Judged, SearchPlan, SearchPlanRequest
from mindmem.core.reason.rules.plan_search import MOST_QUERIES, RulesPlanner
from mindmem.core.records import Memory

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SISTER = memory("Ann's sister is Lucy.", prop="sister", value="Lucy")
HUSBAND = memory("Lucy is married to Tom.", about="Lucy", prop="husband", value="Tom")
WORK = memory("Tom works at Acme.", about="Tom", prop="works_at", value="Acme")


async def planned(question: str, *found: Memory) -> SearchPlan:
    [verdict] = await RulesPlanner().plan([SearchPlanRequest(question, NOW, found=found)])
    assert isinstance(verdict, Judged)
    assert len(verdict.value.queries) <= MOST_QUERIES
    assert bool(verdict.value.queries) != verdict.value.enough
    return verdict.value


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("Where does Ann live?", ("Where does Ann live?",)),
        (
            "Where does Ann's sister's husband work?",
            ("Where does Ann's sister's husband work?", "Ann's sister"),
        ),
        ("Who is the boss of the sister of Ann?", ("Who is the boss of the sister of Ann?", "Ann's sister")),
        (
            "What do both Ann and Bob like?",
            ("What do both Ann and Bob like?", "What do Ann like?", "What do Bob like?"),
        ),
        (
            "What did Ann do after she moved to Paris?",
            ("What did Ann do after she moved to Paris?", "she moved to Paris", "What did Ann do?"),
        ),
        (
            "Who has a friend whose dog is called Rex?",
            ("Who has a friend whose dog is called Rex?", "dog is called Rex"),
        ),
        ("安娜的姐姐的丈夫在哪里工作?", ("安娜的姐姐的丈夫在哪里工作?", "安娜的姐姐")),
        ("安娜和鲍勃都喜欢什么?", ("安娜和鲍勃都喜欢什么?", "安娜 都喜欢什么?", "鲍勃 都喜欢什么?")),
    ],
)
async def test_a_question_of_several_steps_is_searched_step_by_step(question: str, queries: tuple[str, ...]) -> None:
    assert (await planned(question)).queries == queries


async def test_a_chain_is_walked_with_what_each_round_found() -> None:
    question = "Where does Ann's sister's husband work?"
    assert (await planned(question, SISTER)).queries == ("Lucy's husband",)
    assert (await planned(question, SISTER, HUSBAND)).queries == ("Where does Tom work?",)
    assert (await planned(question, SISTER, HUSBAND, WORK)).enough


async def test_a_chain_may_be_long_and_begin_at_a_name_of_several_words() -> None:
    question = "Who is the boss of the husband of the sister of Ann Lee?"
    assert (await planned(question)).queries[1] == "Ann Lee's sister"
    sister = memory("Ann Lee's sister is Lucy.", about="Ann Lee", prop="sister", value="Lucy")
    assert (await planned(question, sister)).queries == ("Lucy's husband",)
    assert (await planned(question, sister, HUSBAND)).queries == ("Tom's boss",)


async def test_enough_is_judged_by_the_words_that_are_told_of() -> None:
    lives = memory("Ann lives in Berlin.", prop="lives_in", value="Berlin")
    assert (await planned("Where does Ann live?", lives)).enough
    plan = await planned("Which piano did Ann sell?", lives)
    assert not plan.enough
    assert plan.queries == ("piano sell",)


async def test_a_named_time_bounds_the_search() -> None:
    plan = await planned("What did Ann do in May 2023?")
    assert (plan.begin, plan.end) == (datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC))
    assert (await planned("Where does Ann live?")).begin is None


@pytest.mark.parametrize("question", ["?", "的的的", "'s 's 's", "whose", "both and", "a's b's c's d's e's?" * 50])
async def test_odd_questions_still_give_a_search(question: str) -> None:
    assert (await planned(question)).queries[0] == question[:2000]
