import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindmem.core.ingest.guards import distinct, series

DIFFERENT = [
    ("Ann has 2 cats", "Ann has 3 cats", "number"),
    ("Ann has two cats", "Ann has three cats", "number"),
    ("The fund holds 1,000 shares", "The fund holds 10,000 shares", "number"),
    ("Version 1.2 is stable", "Version 1.3 is stable", "number"),
    ("It took twenty-five minutes", "It took twenty-six minutes", "number"),
    ("She has 2 cats and 3 dogs", "She has 3 cats and 2 dogs", "number"),
    ("我有两只猫", "我有三只猫", "number"),
    ("会议室在三楼", "会议室在十三楼", "number"),
    ("The launch is on October 15th", "The launch is on October 16th", "date"),
    ("We meet on Monday", "We meet on Tuesday", "date"),
    ("Call me at 3pm", "Call me at 4pm", "date"),
    ("He was born in May 1990", "He was born in May 1991", "date"),
    ("The party was yesterday", "The party was last week", "date"),
    ("会议在10月15日", "会议在10月16日", "date"),
    ("我们星期三见", "我们星期四见", "date"),
    ("Ann runs 5 km", "Ann runs 5 miles", "unit"),
    ("It costs $5", "It costs €5", "unit"),
    ("Take 5 mg a day", "Take 5 g a day", "unit"),
    ("他重80公斤", "他重80斤", "unit"),
    ("Production deployment is allowed", "Production deployment is not allowed", "negation"),
    ("Ann eats meat", "Ann never eats meat", "negation"),
    ("Bob can come", "Bob can't come", "negation"),
    ("我吃肉", "我不吃肉", "negation"),
    ("他去过巴黎", "他没去过巴黎", "negation"),
    ("I love Chinese food", "I hate Chinese food", "antonym"),
    ("The feature is enabled", "The feature is disabled", "antonym"),
    ("Ann is happy at work", "Ann is unhappy at work", "antonym"),
    ("Prices increased", "Prices decreased", "antonym"),
    ("我喜欢吃辣", "我讨厌吃辣", "antonym"),
    ("I work at Google", "I work at Microsoft", "named entity"),
    ("Google hired Ann", "Microsoft hired Ann", "named entity"),
    ("The DGIA report is late", "The DGIB report is late", "named entity"),
    ("我住在北京", "我住在上海", "named entity"),
    ("小王喜欢咖啡", "小李喜欢咖啡", "named entity"),
    ("我在看《三体》", "我在看《活着》", "named entity"),
    ("Анна живёт в Москве", "Анна живёт в Казани", "named entity"),
]

ALIKE = [
    ("Ann has two cats", "Ann has 2 cats."),
    ("It costs 1,000 euros", "It costs 1000 euros"),
    ("I run 5 km", "I run 5 kilometers"),
    ("The launch is on October 15th", "The launch is on 15 October"),
    ("Production deployment is not allowed", "Production deployment isn't allowed"),
    ("I work at google", "I work at Google"),
    ("My manager is friendly", "my manager is very friendly"),
    ("我有两只猫", "我有2只猫"),
    ("这家店不错", "这家店非常不错"),
    ("他特别高兴", "他高兴"),
    ("I may go", "I might go"),
]


@pytest.mark.parametrize(("one", "other", "why"), DIFFERENT)
def test_what_makes_two_claims_keeps_two_memories(one, other, why):
    assert distinct(one, other) == why


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_no_guard_objects_where_only_the_wording_differs(one, other):
    assert distinct(one, other) is None


@pytest.mark.parametrize(("one", "other", "why"), DIFFERENT)
def test_an_objection_does_not_depend_on_the_order(one, other, why):
    assert distinct(other, one) == distinct(one, other)


def test_dated_readings_are_a_series_and_undated_ones_are_not():
    assert series("On May 1 Ann weighed 80 kg", "On May 8 Ann weighed 79 kg")
    assert series("5月1日体重80公斤", "5月8日体重79公斤")
    assert not series("Ann weighs 80 kg", "Ann weighs 79 kg")
    assert not series("On May 1 Ann moved", "On May 8 Ann moved")


SENTENCES = st.lists(
    st.sampled_from(
        "Ann Bob I not never 2 three 5 km kg October 15th Monday love hate happy unhappy 不 没有 喜欢 讨厌 "
        "两只 10月15日 北京 在 Google $ . , May ' \x00 \ud800".split(" ")
    ),
    max_size=8,
).map(" ".join)


@given(SENTENCES | st.text(max_size=30))
def test_no_sentence_differs_from_itself(sentence):
    assert distinct(sentence, sentence) is None


@given(SENTENCES, SENTENCES)
def test_guards_are_symmetric_for_any_sentences(one, other):
    assert distinct(one, other) == distinct(other, one)
    assert series(one, other) == series(other, one)


@given(st.integers(0, 99_999), st.integers(0, 99_999))
def test_two_numbers_are_told_apart_exactly_where_they_differ(one, other):
    assert (distinct(f"the tank holds {one} liters", f"the tank holds {other} liters") is None) == (one == other)
