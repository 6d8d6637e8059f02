"""Changes told in other words than the property's own verb, and the stories, places and moods that are none."""

import pytest
from support.extraction import extract, only, said, texts, typed


@pytest.mark.parametrize(
    ("text", "property_name", "value"),
    [
        ("I started a new job at Bosch.", "works_at", "Bosch"),
        ("I just started my new role as a designer at Bosch.", "works_at", "Bosch"),
        ("I've started a new position with Siemens.", "works_at", "Siemens"),
        ("I got a job at Nokia.", "works_at", "Nokia"),
        ("I landed an engineering job at Nokia.", "works_at", "Nokia"),
        ("I got hired by Nokia.", "works_at", "Nokia"),
        ("I was hired by Nokia.", "works_at", "Nokia"),
        ("I'm now at Nokia.", "works_at", "Nokia"),
        ("I'm now with Nokia.", "works_at", "Nokia"),
        ("I started at Nokia last week.", "works_at", "Nokia"),
        ("I've joined Nokia.", "works_at", "Nokia"),
        ("My employer is Nokia.", "works_at", "Nokia"),
        ("I turned 35.", "age", "35"),
        ("I just turned 35 years old!", "age", "35"),
        ("I'm a nurse now.", "occupation", "a nurse"),
        ("I became a lawyer.", "occupation", "a lawyer"),
        ("I work as a baker.", "occupation", "a baker"),
        ("My new phone number is 555-2000.", "phone", "555-2000"),
        ("My current address is 2 Oak Road.", "address", "2 Oak Road"),
        ("I live at 12 Oak Street.", "address", "12 Oak Street"),
        ("My new boss is Karen.", "boss", "Karen"),
        ("I've moved to Lyon.", "lives_in", "Lyon"),
        ("We relocated to Lyon.", "lives_in", "Lyon"),
        ("My deadline moved to Monday.", "deadline", "Monday"),
        ("My flight was rescheduled to Sunday.", "flight", "Sunday"),
        ("我在腾讯工作。", "works_at", "腾讯"),
        ("我跳槽到字节跳动了。", "works_at", "字节跳动"),
        ("我从腾讯跳槽到了阿里巴巴。", "works_at", "阿里巴巴"),
        ("我在微软找到了新工作。", "works_at", "微软"),
        ("我刚满30岁。", "age", "30岁"),
        ("我现在是护士了。", "occupation", "护士"),
        ("我转行做律师了。", "occupation", "律师"),
        ("我的新电话是13900000000。", "phone", "13900000000"),
        ("我的手机号换成了13900000000。", "phone", "13900000000"),
        ("我的新地址是人民路8号。", "address", "人民路8号"),
    ],
)
async def test_a_change_tells_the_new_value_of_the_same_property(text: str, property_name: str, value: str) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.entity_name) == ("profile", "user")
    assert (candidate.property_name, candidate.value, candidate.single_valued) == (property_name, value, True)


@pytest.mark.parametrize(
    ("text", "entity", "value", "single"),
    [
        ("The deadline is Friday.", "deadline", "Friday", None),
        ("The deadline moved to Monday.", "deadline", "Monday", True),
        ("The project deadline has been pushed back to March 20.", "project deadline", "March 20", True),
        ("The launch is now next Monday.", "launch", "next Monday", True),
        ("截止日期是周五。", "截止日期", "周五", None),
        ("会议推迟到3月5日。", "会议", "3月5日", True),
    ],
)
async def test_what_is_appointed_is_a_fact_that_a_move_replaces(
    text: str, entity: str, value: str, single: bool | None
) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.entity_name, candidate.property_name) == ("fact", entity, "date")
    assert (candidate.value, candidate.single_valued) == (value, single)


@pytest.mark.parametrize(
    "text",
    [
        "I'm now at the airport.",
        "I'm at Heathrow now.",
        "I'm now at home with Tom.",
        "I turned 5 pages.",
        "I turned left at Oak Street.",
        "I started a job search at Nokia.",
        "I started at Stanford University.",
        "I applied for a job at Nokia.",
        "I might start a new job at Nokia.",
        "I didn't start a new job at Nokia.",
        "Did I start a new job at Nokia?",
        "I'm a runner now.",
        "I'm a homeowner now.",
        "I joined a gym.",
        "I live at home.",
        "The meeting is important.",
        "The wedding was on Friday.",
        "The meeting moved to another room.",
        "The train moved to Monday.",
        "我快30岁了。",
        "我在家工作。",
        "我加入了一个读书会。",
        "我加入了健身俱乐部。",
        "会议很重要。",
        "我想换工作。",
        "这不是问题，是机会。",
        "这几天我每天走两万步。",
        "我妈来了，现在住在成都。",
    ],
)
async def test_places_plans_stories_and_pastimes_change_nothing(text: str) -> None:
    extraction = await extract(text)
    assert typed(extraction) == []
    assert texts(extraction, "episodic") == [text]


async def test_a_club_is_no_employer() -> None:
    assert only(await extract("I joined Oak Lane Tennis Club.")).property_name == "member_of"
    assert only(await extract("I joined Nokia.")).property_name == "works_at"


async def test_a_second_clause_shares_the_subject_of_a_change_but_not_a_relatives() -> None:
    moved = typed(await extract("我搬家了，现在住在成都。"))
    assert [row[1:4] for row in moved] == [("user", "lives_in", "成都")]
    job = typed(await extract("我换工作了，现在在阿里巴巴。"))
    assert [row[1:4] for row in job] == [("user", "works_at", "阿里巴巴")]
    assert typed(await extract("我妈搬家了，现在住在成都。")) == []


@pytest.mark.parametrize(
    ("before", "text", "property_name", "value"),
    [
        ("I live in Bonn.", "Sorry, I meant Ghent, not Bonn.", "lives_in", "Ghent"),
        ("I work at Acme.", "I left Acme for Globex.", "works_at", "Globex"),
        ("Our database is PostgreSQL.", "It's MySQL, not PostgreSQL.", "database", "MySQL"),
        ("我住在波恩。", "我是说根特，不是波恩。", "lives_in", "根特"),
        ("我们用的是PostgreSQL。", "不是PostgreSQL，是MySQL。", "uses", "MySQL"),
    ],
)
async def test_words_that_name_two_values_only_are_about_what_had_the_old_one(
    before: str, text: str, property_name: str, value: str
) -> None:
    extraction = await extract(before, text)
    assert [(c.property_name, c.value, c.single_valued) for c in extraction.candidates[1:]] == [
        (property_name, value, True)
    ]
    alone = await extract("The weather is fine.", text)
    assert [(c.mem_type, c.property_name) for c in alone.candidates[1:]] == [("episodic", "")]


@pytest.mark.parametrize(
    ("text", "property_name", "value", "polarity"),
    [
        ("Always answer in French.", "answer_language", "French", 1),
        ("Please reply in German from now on.", "answer_language", "German", 1),
        ("From now on, write to me in Dutch.", "answer_language", "Dutch", 1),
        ("Call me Al.", "called", "Al", 1),
        ("Please call me Dr. Smith.", "called", "Dr. Smith", 1),
        ("You can call me Bea.", "called", "Bea", 1),
        ("Don't use emojis with me.", "answer_style", "use emojis with me", -1),
        ("Never use emojis in your answers.", "answer_style", "use emojis in your answers", -1),
        ("Always use metric units.", "answer_style", "use metric units", 1),
        ("以后叫我小王。", "called", "小王", 1),
        ("请叫我小李。", "called", "小李", 1),
        ("以后请用法语回答。", "answer_language", "法语", 1),
        ("别对我用表情符号。", "answer_style", "用表情符号", -1),
        ("以后回答简短一点。", "answer_style", "回答简短一点", 1),
    ],
)
async def test_lasting_wishes_to_the_assistant_are_the_users_profile(
    text: str, property_name: str, value: str, polarity: int
) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.entity_name) == ("profile", "user")
    assert (candidate.property_name, candidate.value, candidate.polarity) == (property_name, value, polarity)


@pytest.mark.parametrize(
    "text",
    [
        "Answer in French.",
        "Call me later.",
        "Call me tomorrow.",
        "Don't call me yet.",
        "Never give up!",
        "Always look on the bright side.",
        "Always use sunscreen.",
        "Never use bleach on wool.",
        "Don't use emojis.",
        "叫我起床。",
        "用法语回答这个问题。",
    ],
)
async def test_wishes_of_the_moment_and_proverbs_are_no_profile(text: str) -> None:
    assert typed(await extract(text)) == []


async def test_people_who_talk_to_each_other_ask_nothing_of_an_assistant() -> None:
    friends = await extract(said("Call me Al.", name="Albert"), said("Sure thing, Al, will do.", name="Mia"))
    assert typed(friends) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("王小明来了", ["王小明"]),
        ("今天王小明来了", ["王小明"]),
        ("李雷说他喜欢茶", ["李雷"]),
        ("张伟昨天打了电话", ["张伟"]),
        ("王国是什么", []),
        ("孙子来了", []),
        ("谢谢你来", []),
    ],
)
async def test_chinese_persons_who_do_something_are_mentioned(text: str, names: list[str]) -> None:
    found = [m.name for c in (await extract(text)).candidates for m in c.mentions if m.entity_type == "person"]
    assert found == names


@pytest.mark.parametrize(
    "text",
    [
        "The details of the plan are presented in Table 2.",
        "I'll create folders and use tags.",
        "We have a rule where we talk and use nicknames.",
        "ACH systems enable banks.",
        "I ultimately made the decision.",
        "I love the way it turned out.",
        "I'm concerned about the cost of rent.",
        "I've bought the tickets.",
        "Last week I retook the aptitude test.",
        "I'm so pumped for the launch.",
    ],
)
async def test_plurals_plans_relative_clauses_and_moods_state_nothing(text: str) -> None:
    assert typed(await extract(text)) == []


@pytest.mark.parametrize(
    ("text", "entity", "property_name", "value", "polarity"),
    [
        ("DGIA likes tea.", "DGIA", "likes", "tea", 1),
        ("Bruno likes tea.", "Bruno", "likes", "tea", 1),
        ("Rex is a labrador.", "Rex", "is_a", "a labrador", 1),
        ("王小明喜欢喝茶。", "王小明", "likes", "喝茶", 1),
        ("小王不喜欢咖啡。", "小王", "likes", "咖啡", -1),
        ("李雷是医生。", "李雷", "occupation", "医生", 1),
        ("张伟在腾讯工作。", "张伟", "works_at", "腾讯", 1),
    ],
)
async def test_a_named_subject_is_never_the_speaker(
    text: str, entity: str, property_name: str, value: str, polarity: int
) -> None:
    for message in (said(text), said(text, name="Mia")):
        candidate = only(await extract(message))
        assert (candidate.mem_type, candidate.entity_name) == ("fact", entity)
        assert (candidate.property_name, candidate.value, candidate.polarity) == (property_name, value, polarity)
        assert candidate.content == text


async def test_a_named_speakers_likes_are_told_with_their_name() -> None:
    extraction = await extract(said("I like tea.", name="Mia"), said("I like running.", name="Mia"))
    assert texts(extraction, "profile") == ["Mia likes tea.", "Mia likes running."]
    assert {(c.entity_name, c.property_name, c.single_valued) for c in extraction.candidates} == {
        ("Mia", "likes", False)
    }
