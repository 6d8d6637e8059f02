"""Names that a text states to be one, and those that it doesn't."""

import pytest
from support.extraction import said

from mindmem.core.reason.rules.schema.aliases import stated_aliases

STATED = [
    ("I'm Robert but everybody calls me Bob.", ("Bob", "Sam")),
    ("Just call me Sammy.", ("Sammy", "Sam")),
    ("I go by Max.", ("Max", "Sam")),
    ("Robert (Bob) Smith came by.", ("Bob", "Robert Smith")),
    ("My sister Anna is visiting. We call her Annie.", ("Annie", "Anna")),
    ("William Hart, aka Bill, wrote it.", ("Bill", "William Hart")),
    ("The World Health Organization (WHO) said so.", ("WHO", "World Health Organization")),
    ("WHO (World Health Organization) said so.", ("WHO", "World Health Organization")),
    ("NRL stands for Northern Research Lab.", ("NRL", "Northern Research Lab")),
    ("The Data Platform Group, DPG for short, is hiring.", ("DPG", "Data Platform Group")),
    ("Quicknote is now called Inkwell.", ("Quicknote", "Inkwell")),
    ("We renamed Falcon to Osprey last week.", ("Falcon", "Osprey")),
    ("Widget Works rebranded as Lumen Labs.", ("Widget Works", "Lumen Labs")),
    ("Acme Corp, formerly known as Widget Works, moved.", ("Widget Works", "Acme Corp")),
    ("Elena Petrova, née Ivanova, retired.", ("Ivanova", "Elena Petrova")),
    ("Anna's full name is Anna Keller.", ("Anna", "Anna Keller")),
    ("Everyone calls Margaret Peggy.", ("Peggy", "Margaret")),
    ("大家都叫我小明。", ("小明", "Sam")),
    ("北京大学简称北大。", ("北大", "北京大学")),
    ("我妹妹叫王芳，我们都叫她芳芳。", ("芳芳", "王芳")),
]

NOT_STATED = [
    "Don't call me Bob.",
    "Nobody calls me Bob.",
    "If you call me Bob I'll leave.",
    "Do they call me Bob?",
    "Call me later.",
    "Paris (France) is great.",
    "She goes by Lexi.",
    "别叫我小明。",
    "大家都叫我小明吗？",
]


@pytest.mark.parametrize(("text", "pair"), STATED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_text_states_another_name(text: str, pair: tuple[str, str]) -> None:
    assert pair in stated_aliases([said(text, name="Sam")])


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_denied_asked_or_of_nobody_known_states_no_name(text: str) -> None:
    assert stated_aliases([said(text, name="Sam")]) == ()


def test_a_user_without_a_name_gets_the_one_that_is_given() -> None:
    assert stated_aliases([said("My name is Ann Lee.")]) == (("Ann Lee", "user"),)


def test_a_name_that_an_assistant_speaks_of_itself_is_not_the_users() -> None:
    assert stated_aliases([said("You can call me Hal.", role="assistant")]) == ()
