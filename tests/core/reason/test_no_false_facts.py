"""What looks like a claim and isn't one, and values that must be read whole: English and Chinese."""

import pytest
from support.extraction import extract


async def facts(text: str) -> set[tuple[str, str]]:
    """Return property and value of what a message states."""
    found = await extract(text)
    return {(each.property_name, each.value) for each in found.candidates if each.mem_type in ("profile", "fact")}


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("My budget is 1,200 euros, not 12,000.", ("budget", "1,200 euros")),
        ("My salary is $85,000.", ("salary", "$85,000")),
        ("My rent is €1.250,50 per month.", ("rent", "€1.250,50 per month")),
        ("My rent is 1 200 euros.", ("rent", "1 200 euros")),
        ("My budget is 12,000.5 dollars.", ("budget", "12,000.5 dollars")),
        ("My weight is 63,5 kg.", ("weight", "63,5 kg")),
        ("My height is 1.72 m and weight 63.5 kg.", ("height", "1.72 m")),
        ("My savings are £3,450.75, and my debt is £120.", ("savings", "£3,450.75")),
        ("我的预算是¥85,000。", ("预算", "¥85,000")),
        ("我的房租是1,200.50元，每月付。", ("房租", "1,200.50元")),
        ("我的电话是138,0013,8000。", ("phone", "138,0013,8000")),
        ("My address is 12 High Street, Flat 3B, London.", ("address", "12 High Street, Flat 3B, London")),
        ("Tom's birthday is on July 14, mine is on July 15.", ("birthday", "July 14")),
        ("My birthday is on July 14, 1990.", ("birthday", "July 14, 1990")),
    ],
)
async def test_a_value_keeps_its_separators_and_stops_at_the_next_clause(text: str, stated: tuple[str, str]) -> None:
    assert stated in await facts(text)


@pytest.mark.parametrize("text", ["My favorite fruits are apples, pears and plums.", "I have a car, and I love tea."])
async def test_commas_between_words_still_part_items_and_clauses(text: str) -> None:
    values = {value for _, value in await facts(text)}
    assert values in ({"apples, pears and plums"}, {"a car", "tea"})


@pytest.mark.parametrize(
    "text",
    [
        "I live in the moment.",
        "I live in the same house as before.",
        "I live in fear of my landlord.",
        "I live in hope.",
        "I live in Excel all day.",
        "I live in Tom's basement.",
        "I'm living the dream.",
        "I live for the weekend.",
        "I work at night.",
        "I work at Christmas.",
        "I work at my own pace.",
        "I work for a living.",
        "I work for peanuts.",
        "I have a cat in the bag.",
        "I have bigger fish to fry.",
        "I have a car in mind.",
        "I work in silence.",
        "In the novel, I live in Tokyo.",
        "I live in Tokyo # just a comment",
        "My car is worth $12,500.",
        "我爱死它了。",
        "> I work at Apple",
        "# I live in Tokyo",
        "// I live in Tokyo",
        "```\nI live in Tokyo\n```",
        "'I live in Tokyo', he wrote.",
        "Tom wrote: I live in Tokyo.",
        "i live in fear of spiders",
        "My daughter is Mia's best friend.",
        "I hate coriander. Well, I used to, now I love it.",
        "I hate tofu. Just kidding.",
        "我讨厌香菜。开玩笑的。",
        "我住在恐惧中。",
        "我在压力下工作。",
        "我在夜里工作。",
        "他说「我住在东京」。",
    ],
)
async def test_idioms_quotes_code_and_what_is_taken_back_state_nothing_but_are_kept(text: str) -> None:
    found = await extract(text)
    assert [each.mem_type for each in found.candidates] == ["episodic"]


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("I live in the Netherlands.", ("lives_in", "Netherlands")),
        ("I live in downtown Chicago.", ("lives_in", "downtown Chicago")),
        ("I live in King's Lynn.", ("lives_in", "King's Lynn")),
        ("i live in berlin", ("lives_in", "berlin")),
        ("I live in a small flat near the river.", ("dwelling", "a small flat")),
        ("I work at a bank.", ("workplace", "a bank")),
        ("I work at the Louvre.", ("works_at", "Louvre")),
        ("- I live in Lyon.", ("lives_in", "Lyon")),
        ("> I live in Tokyo\nI live in Rome.", ("lives_in", "Rome")),
        ("I have a cat.", ("has_cat", "a cat")),
        ("I work in finance.", ("works_in", "finance")),
        ("我爱咖啡。", ("likes", "咖啡")),
        ("I hate tofu. I used to love it.", ("likes", "tofu")),
        ("我住在北京市中心。", ("lives_in", "北京市中心")),
        ("我住在一间小公寓里。", ("dwelling", "一间小公寓里")),
        ("我在第一人民医院工作。", ("works_at", "第一人民医院")),
        ("我在一家银行工作。", ("workplace", "一家银行")),
        ("My daughter is Mia.", ("daughter", "Mia")),
        ("My daughter is 4 years old.", ("daughter_age", "4")),
        ("My wife is a nurse.", ("wife_occupation", "a nurse")),
    ],
)
async def test_plain_statements_beside_them_are_read(text: str, stated: tuple[str, str]) -> None:
    assert await facts(text) == {stated}
