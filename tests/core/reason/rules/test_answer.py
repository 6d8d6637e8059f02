"""The reader without a model: what fits each kind of question, and when it says that it doesn't know."""

from datetime import UTC, datetime
from typing import Any

import pytest
from support.builders import memory

from mindmem.core.reason.port import (
    Answer,
    AnswerRequest,
    GradeRequest,
    Judged,
    SearchPlanRequest,
    Unsure,
    Verdict,
)
from mindmem.core.reason.rules.answer import MOST_WORDS, RulesAnswerer
from mindmem.core.reason.rules.questions import read_question
from mindmem.core.records import Memory
from mindmem.core.services import rules_reasoner

ASKED_AT = datetime(2024, 6, 1, tzinfo=UTC)


async def asked(question: str, *memories: Memory) -> Verdict[Answer]:
    request = AnswerRequest(question=question, memories=memories, asked_at=ASKED_AT)
    [verdict] = await RulesAnswerer().answer([request])
    return verdict


async def answer(question: str, *memories: Memory) -> str:
    verdict = await asked(question, *memories)
    assert isinstance(verdict, Judged), verdict
    assert set(verdict.value.memory_ids) <= {one.memory_id for one in memories}
    assert verdict.value.memory_ids
    return verdict.value.text


def told(content: str, **fields: Any) -> Memory:
    return memory(content, prop="", mem_type="episodic", **fields)


LIVES = memory("Ann lives in Berlin.", prop="lives_in", value="Berlin")
WORKS = memory("Ann works at Acme as a nurse.", prop="works_at", value="Acme")
CATS = memory("Ann has two cats.", prop="has_cat", value="two cats")
COLOUR = memory("Ann's favorite color is blue.", prop="favorite_color", value="blue")
SISTER = memory("Ann's sister is Lucy.", prop="sister", value="Lucy")
MOVED = memory(
    "Ann moved to Paris in May 2021.",
    prop="lives_in",
    value="Paris",
    valid_from=datetime(2021, 4, 30, 22, tzinfo=UTC),
    time_precision="month",
)
PUPPY = told(
    "I adopted a puppy called Rex on 12 April 2022.", valid_from=datetime(2022, 4, 12, tzinfo=UTC), time_precision="day"
)
MET = told("I met Bob at the Louvre yesterday.", valid_from=datetime(2022, 4, 12, tzinfo=UTC), time_precision="day")


@pytest.mark.parametrize(
    ("question", "memories", "expected"),
    [
        ("Where does Ann live?", (WORKS, LIVES), "Berlin"),
        ("Where does Ann work?", (LIVES, WORKS), "Acme"),
        ("How many cats does Ann have?", (LIVES, CATS), "two"),
        ("What is Ann's favorite color?", (CATS, COLOUR), "blue"),
        ("Who is Ann's sister?", (COLOUR, SISTER), "Lucy"),
        ("When did Ann move to Paris?", (LIVES, MOVED), "May 2021"),
        ("When did Ann adopt a puppy?", (CATS, PUPPY), "12 April 2022"),
        ("What did Ann adopt?", (PUPPY,), "puppy called Rex on 12 April 2022"),
        ("Who did Ann meet at the Louvre?", (MET,), "Bob"),
        ("Where did Ann meet Bob?", (MET,), "the Louvre"),
        ("Does Ann have cats?", (CATS,), "Yes"),
        ("How long has Ann lived in Paris?", (MOVED,), "3 years"),
    ],
)
async def test_the_answer_is_what_the_kind_of_question_asks_for(
    question: str, memories: tuple[Memory, ...], expected: str
) -> None:
    assert await answer(question, *memories) == expected


CHINESE = (
    memory("安娜住在上海。", about="安娜", prop="lives_in", value="上海"),
    memory("安娜养了两只猫。", about="安娜", prop="has_cat", value="两只猫"),
    memory(
        "安娜2021年5月搬到了北京。",
        about="安娜",
        prop="lived_in",
        value="北京",
        valid_from=datetime(2021, 4, 30, 16, tzinfo=UTC),
        time_precision="month",
    ),
)


@pytest.mark.parametrize(
    ("question", "place", "expected"),
    [
        ("安娜住在哪里?", 0, "上海"),
        ("安娜养了几只猫?", 1, "两"),
        ("安娜什么时候搬到北京的?", 2, "2021年5月"),
        ("安娜养猫吗?", 1, "是"),
    ],
)
async def test_chinese_questions_are_answered_in_chinese(question: str, place: int, expected: str) -> None:
    assert await answer(question, CHINESE[place]) == expected


@pytest.mark.parametrize(
    ("question", "memories"),
    [
        ("Where does Ann live?", ()),
        ("Where does Ann live?", (WORKS, COLOUR)),
        ("Where does Bob live?", (memory("Bob has a dog.", about="Bob"), LIVES)),
        ("When did Ann buy a car?", (PUPPY, CATS)),
        ("Does Ann have dogs?", (CATS,)),
        ("安娜在哪里工作?", (CHINESE[0],)),
    ],
)
async def test_unsure_when_no_memory_holds_the_answer(question: str, memories: tuple[Memory, ...]) -> None:
    assert isinstance(await asked(question, *memories), Unsure)


async def test_a_denied_claim_answers_no_and_gives_no_value() -> None:
    denied = memory("Ann doesn't like coffee.", prop="likes", value="coffee", flags=("negated",))
    assert await answer("Does Ann like coffee?", denied) == "No"
    tea = memory("Ann likes tea.", prop="likes", value="tea")
    assert await answer("What does Ann like?", denied, tea) == "tea"


async def test_of_two_values_the_newer_answers() -> None:
    old = memory("Ann lives in Rome.", prop="lives_in", value="Rome", day=0)
    new = memory("Ann lives in Oslo.", prop="lives_in", value="Oslo", day=9)
    assert await answer("Where does Ann live?", old, new) == "Oslo"


async def test_values_of_a_property_that_takes_several_are_listed() -> None:
    found = [memory(f"Ann likes {what}.", prop="likes", value=what) for what in ("tea", "chess", "Tea")]
    assert await answer("What does Ann like?", *found) == "tea, chess"


async def test_a_week_is_not_told_as_its_first_day() -> None:
    said = told("I finished the quilt last week.", valid_from=datetime(2024, 4, 22, tzinfo=UTC), time_precision="day")
    assert await answer("When did Ann finish the quilt?", said) == "the week of 22 April 2024"


async def test_several_days_are_told_from_the_first_to_the_last() -> None:
    said = told("We camped last weekend.", valid_from=datetime(2024, 4, 27, tzinfo=UTC), time_precision="day")
    assert await answer("When did Ann camp?", said) == "27 April 2024 to 28 April 2024"


async def test_the_end_of_a_time_is_told_when_the_end_is_asked_for() -> None:
    visa = memory(
        "Ann's visa is valid until 3 June 2025.",
        prop="visa",
        valid_to=datetime(2025, 6, 4, tzinfo=UTC),
        time_precision="day",
    )
    assert await answer("Until when is Ann's visa valid?", visa) == "3 June 2025"


async def test_a_number_of_something_else_and_a_date_are_no_count() -> None:
    said = told("On 3 May 2024 I paid 40 dollars and bought 12 tulips.")
    assert await answer("How many tulips did Ann buy?", said) == "12"


async def test_answers_are_short() -> None:
    said = told("Yesterday I painted " + "a very long mural of rivers and hills " * 20)
    text = await answer("What did Ann paint?", said)
    assert 0 < len(text.split()) <= MOST_WORDS


async def test_the_default_reasoner_answers_grades_and_plans() -> None:
    family = rules_reasoner()
    [answered] = await family.answer.answer([AnswerRequest("Where does Ann live?", (LIVES,), ASKED_AT)])
    [graded] = await family.grade.grade([GradeRequest("Where does Ann live?", "Berlin", "in Berlin")])
    [planned] = await family.plan_search.plan([SearchPlanRequest("Where does Ann live?", ASKED_AT)])
    assert answered == Judged(Answer("Berlin", (LIVES.memory_id,)))
    assert isinstance(graded, Judged)
    assert graded.value.correct
    assert isinstance(planned, Judged)
    assert planned.value.queries == ("Where does Ann live?",)


async def test_what_somebody_asks_is_no_answer() -> None:
    question = told("Do you play the cello?", about="Bob")
    assert isinstance(await asked("What does Ann play?", question), Unsure)
    assert await answer("What does Ann play?", question, told("I play the cello.")) == "cello"


async def test_the_words_around_a_memory_tell_what_it_answers() -> None:
    reply = told("I play the oboe.", context="Bob: Which instruments of the orchestra do you play?")
    assert await answer("Which orchestra instruments does Ann play?", reply) == "oboe"


async def test_a_rare_word_of_the_question_decides_between_memories() -> None:
    painted = [told(f"I painted a {what} last summer.") for what in ("boat", "bridge", "harbour")]
    wanted = told("I painted the walnut cupboard green.")
    assert "green" in await answer("What did Ann do with the walnut cupboard she painted?", *painted, wanted)


async def test_a_word_that_begins_a_verb_is_no_place() -> None:
    assert await answer("Where did Ann swim?", told("I wanted to swim in the lake with Bob.")) == "the lake"
    moved = told("I came to Oslo from my village near the coast.")
    assert await answer("Where did Ann come from?", moved) == "my village"


@pytest.mark.parametrize("question", ["", "?", "…", "what", "的", "\ud800", "x" * 50_000])
async def test_odd_questions_never_raise(question: str) -> None:
    await asked(question, LIVES, *CHINESE)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who lives in Rome?", "who"),
        ("What year did it happen?", "when"),
        ("Which city does she like?", "where"),
        ("How much did it cost?", "count"),
        ("How long did it take?", "length"),
        ("When does the lease expire?", "until"),
        ("Is Ann married?", "yes_no"),
        ("Why did he leave?", "what"),
        ("谁住在罗马?", "who"),
        ("他多大了?", "count"),
        ("你有没有车?", "yes_no"),
    ],
)
def test_questions_are_of_a_kind(question: str, kind: str) -> None:
    assert read_question(question).kind == kind


FIRM = (
    memory("Ann's boss is Per Lund.", prop="boss", value="Per Lund"),
    memory("Per Lund is married to Tove Ek.", about="Per Lund", prop="married_to", value="Tove Ek"),
    memory("Tove Ek drinks the tea of Assam.", about="Tove Ek", prop="drinks", value="the tea of Assam"),
    memory("Nils Arn drinks the tea of Kenya.", about="Nils Arn", prop="drinks", value="the tea of Kenya"),
)


async def test_a_question_that_several_memories_answer_together_is_followed_from_one_to_the_next() -> None:
    assert await answer("Which tea does the wife of Ann's boss drink?", *FIRM) == "Assam"
    verdict = await asked("Which tea does the wife of Ann's boss drink?", *FIRM)
    assert isinstance(verdict, Judged)
    assert verdict.value.memory_ids == tuple(one.memory_id for one in FIRM[:3])


async def test_a_chain_goes_over_the_value_that_was_told_last() -> None:
    later = memory("Per Lund is married to Nils Arn.", about="Per Lund", prop="married_to", value="Nils Arn", day=9)
    assert await answer("Which tea does the spouse of Ann's boss drink?", *FIRM, later) == "Kenya"


async def test_a_step_that_the_question_leaves_out_is_taken_where_little_else_is_told() -> None:
    plays = memory("Tern Rovers is tied to the game of quoits.", about="Tern Rovers", prop="tied_to", value="quoits")
    comes = memory("quoits was invented in Malta.", about="quoits", prop="invented_in", value="Malta")
    rules = memory("The president of Malta is Bo Ames.", about="Malta", prop="president", value="Bo Ames")
    question = "Who is the president of the land where what Tern Rovers does was invented?"
    assert await answer(question, plays, comes, rules) == "Bo Ames"


async def test_a_value_leads_back_to_what_it_is_told_of() -> None:
    founded = memory("Siri Dahl founded Gneiss Audio.", about="Siri Dahl", prop="founded", value="Gneiss Audio")
    assert await answer("Who is the founder of Gneiss Audio?", founded) == "Siri Dahl"


async def test_a_part_of_a_name_is_not_the_name() -> None:
    lives = memory("Ann lives in York.", prop="lives_in", value="York")
    mayor = memory("The mayor of New York is Bo Ames.", about="New York", prop="mayor", value="Bo Ames")
    assert "Bo" not in str(await asked("Who is the mayor of the town that Ann lives in?", lives, mayor))


async def test_of_one_kind_the_latest_value_answers_and_of_several_all() -> None:
    played = [
        memory(f"Ann plays the {what}.", prop="plays", value=what, day=day) for day, what in enumerate(("oboe", "tuba"))
    ]
    assert await answer("Which instrument does Ann play?", *played) == "tuba"
    assert set((await answer("Which instruments does Ann play?", *played)).split(", ")) == {"oboe", "tuba"}


@pytest.mark.parametrize("request_", ["Tell me", "Can you tell me", "Could you name", "Do you remember"])
async def test_what_is_asked_for_by_request_is_answered_like_a_question(request_: str) -> None:
    captain = memory("The captain of the Tern is Bo Ames.", about="Tern", prop="captain", value="Bo Ames")
    assert await answer(f"{request_} the captain of the Tern?", captain) == "Bo Ames"
