"""Chinese sentences to statements, in their own words."""

import pytest
from support.extraction import extract, only, said, texts, typed


@pytest.mark.parametrize(
    ("text", "property_name", "value", "polarity"),
    [
        ("我叫小明。", "name", "小明", 1),
        ("我今年28岁。", "age", "28岁", 1),
        ("我住在上海。", "lives_in", "上海", 1),
        ("我搬到深圳了。", "lives_in", "深圳", 1),
        ("我以前住在北京。", "lives_in", "北京", -1),
        ("我不再住在北京。", "lives_in", "北京", -1),
        ("我在腾讯公司工作。", "works_at", "腾讯公司", 1),
        ("我刚加入微软。", "works_at", "微软", 1),
        ("我是四川人。", "from", "四川", 1),
        ("我是一名护士。", "occupation", "护士", 1),
        ("我最喜欢吃的就是火锅。", "likes", "火锅", 1),
        ("我不喜欢香菜。", "likes", "香菜", -1),
        ("我讨厌下雨天。", "likes", "下雨天", -1),
        ("我对花生过敏。", "allergic_to", "花生", 1),
        ("我养了两只猫。", "has_cat", "两只猫", 1),
        ("我会说英语和法语。", "speaks", "英语和法语", 1),
        ("我的妻子叫李娜。", "wife", "李娜", 1),
        ("我的生日是5月8日。", "birthday", "5月8日", 1),
        ("我每天早上跑步。", "habit", "每天早上跑步", 1),
    ],
)
async def test_what_the_user_says_of_themselves_is_their_profile(
    text: str, property_name: str, value: str, polarity: int
) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.property_name, candidate.value) == ("profile", property_name, value)
    assert (candidate.polarity, candidate.content) == (polarity, text)


@pytest.mark.parametrize(
    ("text", "entity", "property_name", "value"),
    [
        ("法国的首都是巴黎。", "法国", "capital", "巴黎"),
        ("腾讯由马化腾创立。", "腾讯", "founded_by", "马化腾"),
        ("故宫位于北京。", "故宫", "located_in", "北京"),
        ("李雷住在杭州。", "李雷", "lives_in", "杭州"),
        ("我们用PostgreSQL做账单。", "team", "uses_for_账单", "PostgreSQL"),
    ],
)
async def test_a_claim_about_something_named_is_a_fact(text: str, entity: str, property_name: str, value: str) -> None:
    candidate = only(await extract(text))
    assert (candidate.mem_type, candidate.entity_name) == ("fact", entity)
    assert (candidate.property_name, candidate.value) == (property_name, value)


@pytest.mark.parametrize(
    "text",
    [
        "你住在上海吗？",
        "如果我住在上海就好了。",
        "我想住在上海。",
        "我觉得他住在上海。",
        "听说李雷住在杭州。",
        "今天天气很好。",
    ],
)
async def test_questions_wishes_and_hearsay_are_kept_as_said_and_no_more(text: str) -> None:
    extraction = await extract(text)
    assert typed(extraction) == []
    assert texts(extraction, "episodic") == [text]


async def test_a_chinese_memory_stays_chinese_with_its_names() -> None:
    extraction = await extract("我每年春天都热爱在优胜美地攀岩。")
    assert [c.content for c in extraction.candidates] == ["我每年春天都热爱在优胜美地攀岩。"]
    english = await extract("Every spring we go climbing in Yosemite.")
    assert [c.content for c in english.candidates] == ["Every spring we go climbing in Yosemite."]


async def test_clauses_share_their_subject_and_a_named_speaker_takes_its_place() -> None:
    extraction = await extract(said("我叫小明，今年28岁，住在上海。", name="小明"))
    assert texts(extraction, "profile") == ["小明叫小明。", "小明今年28岁。", "小明住在上海。"]


@pytest.mark.parametrize(
    ("text", "property_name", "value"),
    [
        ("我对花生不过敏。", "allergic_to", "花生"),
        ("我对花生并不过敏。", "allergic_to", "花生"),
        ("我对花生已经不再过敏了。", "allergic_to", "花生"),
        ("我的手机号不是13912345678。", "phone", "13912345678"),
        ("我的手机号已经不是13912345678了。", "phone", "13912345678"),
        ("我现在的邮箱不是a@b.com。", "email", "a@b.com"),
        ("我的生日并非5月3日。", "birthday", "5月3日"),
        ("我的名字不叫小明。", "name", "小明"),
        ("我妈妈不叫李娜。", "mother", "李娜"),
        ("我最喜欢的颜色不再是蓝色。", "favorite_颜色", "蓝色"),
        ("我在腾讯公司从不上班。", "works_at", "腾讯公司"),
        ("我不养猫。", "has_cat", "猫"),
        ("我没有养猫。", "has_cat", "猫"),
    ],
)
async def test_a_denial_is_held_as_one_and_is_no_part_of_property_or_value(
    text: str, property_name: str, value: str
) -> None:
    candidate = only(await extract(text))
    assert (candidate.property_name, candidate.value) == (property_name, value)
    assert (candidate.polarity, candidate.flags) == (-1, ("negated",))


@pytest.mark.parametrize(
    ("text", "entity", "property_name", "value"),
    [
        ("法国的首都不是里昂。", "法国", "capital", "里昂"),
        ("故宫并不位于上海。", "故宫", "located_in", "上海"),
        ("腾讯不是由马云创立的。", "腾讯", "founded_by", "马云"),
        ("腾讯并非由马云创立。", "腾讯", "founded_by", "马云"),
        ("李雷已经不住在杭州了。", "李雷", "lives_in", "杭州"),
        ("李雷没在腾讯公司工作。", "李雷", "works_at", "腾讯公司"),
        ("李雷没有和韩梅梅结婚。", "李雷", "married_to", "韩梅梅"),
        ("李雷和韩梅梅没有结婚。", "李雷", "married_to", "韩梅梅"),
        ("李雷并不是护士。", "李雷", "occupation", "护士"),
        ("我们用的不是PostgreSQL。", "team", "uses", "PostgreSQL"),
        ("我们没用PostgreSQL。", "team", "uses", "PostgreSQL"),
    ],
)
async def test_a_denial_is_no_part_of_the_name_that_it_is_about(
    text: str, entity: str, property_name: str, value: str
) -> None:
    candidate = only(await extract(text))
    assert (candidate.entity_name, candidate.property_name, candidate.value) == (entity, property_name, value)
    assert (candidate.polarity, candidate.flags) == (-1, ("negated",))


@pytest.mark.parametrize(
    "text",
    [
        "我对花生不是很过敏。",
        "我的爱好不只是爬山。",
        "我的生日不可能是5月3日。",
        "李雷不讨厌香菜。",
        "我喜欢咖啡不喜欢茶。",
        "我以前不住在北京。",
        "我没有在腾讯找到工作。",
        "我没有说法语。",
        "我有的不是猫。",
        "我不用上班。",
        "我不是不在腾讯公司工作。",
    ],
)
async def test_what_is_denied_in_part_or_of_once_is_kept_as_said_and_no_more(text: str) -> None:
    extraction = await extract(text)
    assert (typed(extraction), texts(extraction, "episodic")) == ([], [text])


@pytest.mark.parametrize(
    ("text", "property_name", "value"),
    [
        ("我的性别是男。", "性别", "男"),
        ("我的未来是海洋。", "未来", "海洋"),
        ("我的座右铭是永不放弃。", "座右铭", "永不放弃"),
        ("我的不锈钢锅是双立人。", "不锈钢锅", "双立人"),
        ("我现在最喜欢的颜色是绿色。", "favorite_颜色", "绿色"),
        ("我现在的手机号是13912345678。", "phone", "13912345678"),
    ],
)
async def test_words_that_only_look_like_denials_deny_nothing(text: str, property_name: str, value: str) -> None:
    candidate = only(await extract(text))
    assert (candidate.property_name, candidate.value, candidate.polarity) == (property_name, value, 1)


async def test_a_bare_value_takes_back_the_one_claim_of_the_window_with_a_value_of_its_form() -> None:
    *_, last = (await extract("我的生日是5月3日，我喜欢茶。", "不对，是5月13日。")).candidates
    assert (last.property_name, last.value, last.flags) == ("birthday", "5月13日", ("correction",))
    *_, kept = (await extract("我的生日是5月3日。", "不对，是绿色。")).candidates
    assert (kept.mem_type, kept.property_name) == ("episodic", "")
