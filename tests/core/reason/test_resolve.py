import pytest
from support.builders import at, candidate, memory, message, request

from mindmem.core.reason.port import Judged
from mindmem.core.reason.rules.resolve import RulesResolver


async def resolve(asked, *recalled):
    [verdict] = await RulesResolver().resolve([request(asked, *recalled)])
    assert isinstance(verdict, Judged)
    return verdict.value


async def resolved(old, new, *, about="Ann", **fields):
    """Resolve a candidate against one memory; ``old`` and ``new`` are (content, property, value)."""
    stored = memory(old[0], about=about, prop=old[1], value=old[2])
    found = await resolve(
        candidate(new[0], about=fields.pop("new_about", about), prop=new[1], value=new[2], **fields), stored
    )
    assert found.targets in ((), (stored.memory_id,))
    return found.op


async def test_the_same_claim_reinforces():
    stored = memory("Ann lives in Oslo.")
    found = await resolve(candidate("ann lives  in Oslo"), memory("Ann is a pilot"), stored)
    assert (found.op, found.targets) == ("reinforce", (stored.memory_id,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I really love the old town", "I love the old town."),
        ("Ann doesn't eat meat", "Ann does not eat meat"),
        ("The deploy is so slow", "The deploy is very slow!"),
        ("我住在北京了。", "我住在北京"),
    ],
)
async def test_a_trivial_paraphrase_reinforces(old, new):
    assert await resolved((old, "a", ""), (new, "b", "")) == "reinforce"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ann has 2 cats", "Ann has 3 cats"),
        ("The launch is on October 15th", "The launch is on October 16th"),
        ("我有两只猫", "我有三只猫"),
        ("Ann knows Bob's brother", "Ann knows Carl's brother"),
        ("Bob follows Carl", "Carl follows Bob"),
        ("Ann runs 5 km", "Ann runs 5 miles"),
    ],
)
async def test_what_differs_in_number_date_unit_or_name_is_added(old, new):
    assert await resolved((old, "note", ""), (new, "note", "")) == "add"


async def test_a_paraphrase_about_another_subject_is_added():
    assert await resolved(("is very tired", "a", ""), ("is tired", "a", ""), new_about="Bob") == "add"
    assert await resolved(("is very tired", "a", ""), ("is tired", "a", "")) == "reinforce"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("I love Chinese food", "likes", "Chinese food"), ("I hate Chinese food", "likes", "Chinese food")),
        (("I love Chinese food", "likes", "Chinese food"), ("I hate Chinese food", "dislikes", "Chinese food")),
        (("Ann likes running", "likes", "running"), ("Ann doesn't like running anymore", "likes", "running")),
        (("I don't like tea", "likes", "tea"), ("I like tea now", "likes", "tea")),
        (("我喜欢吃辣", "likes", "吃辣"), ("我讨厌吃辣", "likes", "吃辣")),
        (("我喜欢吃辣", "likes", "吃辣"), ("我不喜欢吃辣了", "likes", "吃辣")),
        (
            ("Production deployment is allowed", "deployment", "allowed"),
            ("Production deployment is not allowed", "deployment", "not allowed"),
        ),
    ],
)
async def test_the_same_value_with_the_opposite_sense_replaces_the_old(old, new):
    assert await resolved(old, new, polarity=-1) == "update"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("I love Chinese food", "likes", "Chinese food"), ("I hate Thai food", "likes", "Thai food")),
        (("I like tea in the morning", "likes", "tea"), ("I don't like tea at night", "likes", "tea")),
        (("I like hot tea", "likes", "hot tea"), ("I like cold tea", "likes", "cold tea")),
        (("I like tea early in the day", "likes", "tea"), ("I like tea late in the day", "likes", "tea")),
        (("I like the old house", "likes", "house"), ("I like the new house", "likes", "house")),
        (("我喜欢大狗", "likes", "大狗"), ("我喜欢小狗", "likes", "小狗")),
        (("我喜欢早起", "likes", "起"), ("我喜欢晚起", "likes", "起")),
        (("Ann likes Oslo", "likes", "Oslo"), ("Ann does not live in Oslo", "home", "Oslo")),
        (("Ann plays the piano", "hobby", "piano"), ("Ann said that it is not easy", "note", "")),
        (("The server is fast", "note", ""), ("The server is not new", "note", "")),
    ],
)
async def test_a_not_somewhere_is_no_conflict_without_the_same_property_and_value(old, new):
    assert await resolved(old, new, polarity=-1) == "add"


async def test_the_opposite_sense_about_another_subject_is_no_conflict():
    old, new = ("I love tea", "likes", "tea"), ("I hate tea", "likes", "tea")
    assert await resolved(old, new, polarity=-1, new_about="Bob") == "add"
    assert await resolved(old, new, polarity=-1) == "update"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("I work at Google", "employer", "Google"), ("I just joined Microsoft", "employer", "Microsoft")),
        (("I live in Berlin", "home", "Berlin"), ("I moved to Paris", "home", "Paris")),
        (("The meeting is on May 5", "date", "May 5"), ("The meeting is on May 7", "date", "May 7")),
        (("Ann is 30", "age", "30"), ("Ann is 31", "age", "31")),
        (("我在谷歌工作", "employer", "谷歌"), ("我刚加入微软", "employer", "微软")),
    ],
)
async def test_a_new_value_replaces_the_old_where_the_property_has_one(old, new):
    assert await resolved(old, new, single_valued=True) == "update"
    assert await resolved(old, new, single_valued=False) == "add"
    assert await resolved(old, new, single_valued=None) == "add"
    assert await resolved(old, new, single_valued=True, new_about="Bob") == "add"
    assert await resolved((old[0], "other", old[2]), new, single_valued=True) == "add"


async def test_all_older_values_of_the_property_are_replaced():
    stored = [
        memory(f"Ann lives in {place}", prop="home", value=place, seq=n) for n, place in enumerate(("Oslo", "Rome"), 1)
    ]
    found = await resolve(candidate("Ann lives in Bonn", prop="home", value="Bonn", single_valued=True), *stored)
    assert (found.op, found.targets) == ("update", tuple(one.memory_id for one in stored))


@pytest.mark.parametrize(
    "new",
    [
        ("We use MySQL, not PostgreSQL", "database", "MySQL"),
        ("We switched from PostgreSQL to MySQL", "database", "MySQL"),
        ("We use MySQL instead of PostgreSQL", "database", "MySQL"),
        ("我们不再用PostgreSQL，改用MySQL", "database", "MySQL"),
        ("我们从PostgreSQL换成MySQL", "database", "MySQL"),
    ],
)
async def test_a_correction_that_names_the_old_value_closes_it_even_where_there_may_be_several(new):
    assert await resolved(("We use PostgreSQL", "database", "PostgreSQL"), new) == "update"
    assert await resolved(("We use Redis", "database", "Redis"), new) == "add"


async def test_an_explicit_correction_closes_the_one_value_of_the_property():
    old, new = ("We use PostgreSQL", "database", "PostgreSQL"), ("Correction: we use MySQL", "database", "MySQL")
    assert await resolved(old, new) == "update"
    assert await resolved(old, ("We use MySQL", "database", "MySQL")) == "add"
    several = [memory(f"Ann uses {name}", prop="database", value=name) for name in ("PostgreSQL", "Redis")]
    assert (await resolve(candidate(new[0], prop=new[1], value=new[2]), *several)).op == "add"


@pytest.mark.parametrize("new", ["I also work at Acme", "I work at Acme as well", "我也在Acme工作"])
async def test_a_value_that_is_put_beside_the_old_one_does_not_replace_it(new):
    old = ("I work at Globex", "employer", "Globex")
    assert await resolved(old, (new, "employer", "Acme"), single_valued=True) == "add"
    assert await resolved(old, ("I work at Acme", "employer", "Acme"), single_valued=True) == "update"


async def test_source_text_of_great_length_is_compared_by_its_words_as_a_whole_alone():
    text = "Ann said a lot. " * 1_000
    assert await resolved((text, "note", ""), (text, "note", "")) == "reinforce"
    assert await resolved((text, "note", ""), (text + "very", "note", "")) == "add"


async def test_unrelated_facts_never_retire_each_other():
    facts = [
        ("Ann lives in Oslo", "home", "Oslo", True),
        ("Ann works at Acme", "employer", "Acme", True),
        ("Ann likes tea", "likes", "tea", False),
        ("Ann likes coffee", "likes", "coffee", False),
        ("Ann hates mushrooms", "likes", "mushrooms", False),
        ("Ann has a dog named Rex", "pet", "Rex", False),
        ("Ann has a cat named Tom", "pet", "Tom", False),
        ("Ann doesn't drive", "note", "", None),
        ("Ann never went to Rome", "travel", "Rome", False),
        ("Ann went to Paris", "travel", "Paris", False),
        ("Ann speaks French", "language", "French", False),
        ("Ann does not speak German", "language", "German", False),
    ]
    stored = [memory(content, prop=prop, value=value, seq=n) for n, (content, prop, value, _) in enumerate(facts, 1)]
    for content, prop, value, single in facts:
        others = [one for one in stored if one.content != content]
        found = await resolve(candidate(content, prop=prop, value=value, single_valued=single), *others)
        assert found.op == "add", content
    found = await resolve(candidate("Ann lives in Rome", prop="home", value="Rome", single_valued=True), *stored)
    assert (found.op, found.targets) == ("update", (stored[0].memory_id,))


async def test_dated_readings_of_a_series_all_stay():
    old = ("On May 1 Ann weighed 80 kg", "weight", "80 kg")
    assert await resolved(old, ("On May 8 Ann weighed 79 kg", "weight", "79 kg"), single_valued=True) == "add"
    assert (
        await resolved(
            ("Ann weighs 80 kg", "weight", "80 kg"), ("Ann weighs 79 kg", "weight", "79 kg"), single_valued=True
        )
        == "update"
    )


async def test_a_state_that_was_over_when_told_replaces_nothing():
    old, new = ("Ann lives in Oslo", "home", "Oslo"), ("Ann lived in Rome until 2019", "home", "Rome")
    past = {"valid_to": at(-1_000), "observed_at": at(0)}
    assert await resolved(old, new, single_valued=True, **past) == "add"
    assert await resolved(old, new, single_valued=True) == "update"


async def test_less_said_about_the_same_value_replaces_nothing():
    old = ("Ann lives in Berlin Kreuzberg", "home", "Berlin Kreuzberg")
    assert await resolved(old, ("Ann's home is Berlin", "home", "Berlin"), single_valued=True) == "add"
    assert await resolved(("Ann's home is Berlin", "home", "Berlin"), old, single_valued=True) == "update"


async def test_the_same_single_value_in_fewer_words_reinforces_and_in_more_words_does_not():
    old = ("Ann has worked at Acme as a nurse since June", "employer", "Acme")
    assert await resolved(old, ("Ann worked at Acme since June", "employer", "Acme"), single_valued=True) == "reinforce"
    assert await resolved(old, ("Ann hates her boss at Acme", "employer", "Acme"), single_valued=True) == "add"


async def test_words_that_go_on_where_a_memory_ends_complete_it():
    old = ("Ann keeps bees", "hobby", "bees")
    stored = memory(old[0], prop=old[1], value=old[2])
    found = await resolve(candidate("Ann keeps bees in the garden", prop="hobby", value="bees"), stored)
    assert (found.op, found.targets, found.merged_content) == (
        "merge",
        (stored.memory_id,),
        "Ann keeps bees in the garden",
    )
    for other in (
        "Ann keeps bees wax",
        "Ann keeps bees in Oslo",
        "Ann keeps bees for 2 years",
        "Ann never keeps bees in summer",
    ):
        assert await resolved(old, (other, "hobby", "bees")) == "add", other


@pytest.mark.parametrize("flag", ["instruction_like", "quoted"])
async def test_words_that_are_not_trusted_change_no_memory(flag):
    old, new = ("Ann lives in Oslo", "home", "Oslo"), ("Ann lives in Rome", "home", "Rome")
    assert await resolved(old, new, single_valued=True, flags=(flag,)) == "add"
    assert await resolved(old, new, single_valued=True, flags=("redacted",)) == "update"


async def test_events_are_not_unmade_by_later_words():
    stored = memory("Ann joined Acme", prop="employer", value="Acme", mem_type="episodic")
    new = candidate("Ann works at Globex", prop="employer", value="Globex", single_valued=True)
    assert (await resolve(new, stored)).op == "add"


async def test_memories_of_the_subject_that_share_words_are_linked():
    near, far = memory("Ann grows tomatoes on the balcony"), memory("Ann bought a car", seq=2)
    found = await resolve(candidate("Ann waters tomatoes on the balcony daily"), near, far)
    assert (found.op, found.related) == ("add", (near.memory_id,))


async def test_answers_come_in_the_order_of_the_requests():
    said = message("x")
    asked = [request(candidate(text, said), memory("Ann is a pilot")) for text in ("Ann is a pilot", "Ann is a nurse")]
    verdicts = await RulesResolver().resolve(asked)
    assert [verdict.value.op for verdict in verdicts] == ["reinforce", "add"]
