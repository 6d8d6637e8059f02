"""How entities are related, by sentence structure, with the direction right; what isn't asserted relates nothing."""

import pytest
from support.extraction import said

from mindmem.core.reason.rules.schema.relations import KINDS, relations_of

STATED = [
    ("Greta works at Contoso as a nurse.", ("Greta", "works_for", "Contoso")),
    ("I work as a data engineer at Northwind.", ("Sam", "works_for", "Northwind")),
    ("Ben was hired by Fabrikam last May.", ("Ben", "works_for", "Fabrikam")),
    ("My sister Anna lives in Lisbon.", ("Anna", "location", "Lisbon")),
    ("I moved from Oslo to Bergen in May.", ("Sam", "location", "Bergen")),
    ("The Rialto Cafe is in Venice.", ("Rialto Cafe", "location", "Venice")),
    ("Clara attended the Graz Marathon.", ("Clara", "participation", "Graz Marathon")),
    ("Ben and I went to the Harvest Festival.", ("Ben", "participation", "Harvest Festival")),
    ("I own the Blue Door Bakery.", ("Sam", "ownership", "Blue Door Bakery")),
    ("We adopted a dog named Rex.", ("Sam", "ownership", "Rex")),
    ("The Old Mill belongs to Greta Olsen.", ("Greta Olsen", "ownership", "Old Mill")),
    ("Northwind was acquired by Contoso.", ("Contoso", "ownership", "Northwind")),
    ("Anna is Ben's sister.", ("Ben", "family", "Anna")),
    ("My brother Tim called.", ("Sam", "family", "Tim")),
    ("I might visit my sister Lena next week.", ("Sam", "family", "Lena")),
    ("Clara is married to Jonas.", ("Clara", "family", "Jonas")),
    ("Tom is my best friend.", ("Sam", "social", "Tom")),
    ("Anna's boss, Ruth, resigned.", ("Anna", "social", "Ruth")),
    ("Greta Olsen wrote “The Long Tide”.", ("Greta Olsen", "authorship", "The Long Tide")),
    ("Winter Light was painted by Karin Holm.", ("Karin Holm", "authorship", "Winter Light")),
    ("I joined the Riverside Choir.", ("Sam", "membership", "Riverside Choir")),
    ("Ben is a member of the Chess Club.", ("Ben", "membership", "Chess Club")),
    ("Lumen Labs was founded by Mara.", ("Mara", "founding", "Lumen Labs")),
    ("王芳在腾讯工作。", ("王芳", "works_for", "腾讯")),
    ("我住在上海。", ("Sam", "location", "上海")),
    ("李明是我的哥哥。", ("Sam", "family", "李明")),
    ("张伟参加了北京马拉松。", ("张伟", "participation", "北京马拉松")),
    ("我和李雷是同事。", ("Sam", "social", "李雷")),
    ("鲁迅写了《呐喊》。", ("鲁迅", "authorship", "呐喊")),
    ("李明加入了登山俱乐部。", ("李明", "membership", "登山俱乐部")),
    ("我养了一只猫，名叫咪咪。", ("Sam", "ownership", "咪咪")),
]

NOT_STATED = [
    "Greta doesn't work at Contoso.",
    "Does Greta work at Contoso?",
    "If Greta worked at Contoso, she would be rich.",
    "Greta might move to Rome.",
    "I wish I lived in Rome.",
    "I think Greta works at Contoso.",
    "Greta used to work at Contoso.",
    "Ben never attended the Graz Marathon.",
    "Anna is not married to Ben.",
    "Is Tom your friend?",
    "I dream of living in Paris.",
    "Rumor has it that Contoso acquired Northwind.",
    "王芳没有在腾讯工作。",
    "王芳在腾讯工作吗？",
    "如果王芳在腾讯工作就好了。",
    "李明想加入登山俱乐部。",
]


@pytest.mark.parametrize(("sentence", "relation"), STATED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_sentence_relates_its_entities_in_its_direction(sentence: str, relation: tuple[str, str, str]) -> None:
    found = [(one.source, one.kind, one.target) for one in relations_of([said(sentence, name="Sam")], [])]
    assert relation in found
    source, kind, target = relation
    assert (target, kind, source) not in found
    assert {one[1] for one in found} <= set(KINDS)


@pytest.mark.parametrize("sentence", NOT_STATED)
def test_what_is_denied_supposed_asked_or_hearsay_relates_nothing(sentence: str) -> None:
    assert relations_of([said(sentence, name="Sam")], []) == ()


def test_a_user_without_a_name_is_the_user() -> None:
    [relation] = relations_of([said("I live in Lisbon.")], [])
    assert (relation.source, relation.target) == ("user", "Lisbon")


def test_a_tool_and_a_system_relate_nothing() -> None:
    spoken = [said("Anna works at Contoso.", role="tool"), said("Anna works at Contoso.", role="system")]
    assert relations_of(spoken, []) == ()
