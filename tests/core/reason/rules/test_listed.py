"""Lists of statements are kept item by item."""

import asyncio
from datetime import UTC, datetime

import pytest

from mindmem.core.reason.port import Candidate, Envelope, Judged
from mindmem.core.reason.rules.extract import RulesExtractor
from mindmem.core.reason.rules.listed import Item, is_list, read_item
from mindmem.core.reason.rules.sentences import Sentence
from mindmem.core.records import Message, Scope, Window

ITEMS = (
    "curling was invented in Scotland.",
    "The river Mirn flows into the Gulf of Tarr.",
    "Ostia Polytechnic's rector is Vera Lund.",
    "The town where Ann Vries was raised is Delft Mere.",
    "zither is used in the genre of folk.",
    "Hollow Peak erupted in 1902.",
    "The mayor of Quill is Bo Ames.",
    "Lumen Radio belongs to Nordic Waves.",
    "fennel grows in the south.",
)


def listed(text: str) -> tuple[Candidate, ...]:
    scope = Scope.of("ann")
    message = Message("msg_1", scope, 0, "user", "", text, datetime(2026, 1, 1, tzinfo=UTC), "UTC", "add_1")
    window = Window(0, (message,), (), (), 100)
    [verdict] = asyncio.run(RulesExtractor().extract([Envelope(scope=scope, window=window, timezone="UTC")]))
    assert isinstance(verdict, Judged)
    return verdict.value.candidates


def test_each_item_of_a_list_of_statements_becomes_a_memory_of_its_own() -> None:
    text = "Some facts:\n" + "\n".join(f"{number}. {item}" for number, item in enumerate(ITEMS))

    found = listed(text)

    assert [each.content for each in found] == list(ITEMS)
    assert [text[each.sources[0].start : each.sources[0].end].rstrip(".") for each in found] == [
        item.rstrip(".") for item in ITEMS
    ]


def test_a_short_or_personal_list_stays_one_message() -> None:
    assert not is_list("\n".join(ITEMS[:3]))
    assert not is_list("\n".join(f"{n}. I went to place {n}." for n in range(20)))
    assert not is_list("\n".join(f"Shall we go to place {n}?" for n in range(20)))


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("curling was invented in Scotland.", Item("curling", "invented_in", "Scotland")),
        ("The river Mirn flows into the Gulf of Tarr.", Item("The river Mirn", "flows_into", "the Gulf of Tarr")),
        ("Ostia Polytechnic's rector is Vera Lund.", Item("Ostia Polytechnic", "rector", "Vera Lund")),
        ("The town where Ann Vries was raised is Delft Mere.", Item("Ann Vries", "town_raised", "Delft Mere")),
        ("Hollow Peak erupted in 1902.", Item("Hollow Peak", "erupted_in", "1902")),
        ("zither is used in the genre of folk.", Item("zither", "used_in", "the genre of folk")),
        ("Nothing here", Item()),
    ],
)
def test_the_first_finite_verb_parts_subject_and_value(text: str, item: Item) -> None:
    assert read_item(Sentence(text, 0, len(text))) == item


def test_the_number_of_an_item_is_no_item_however_long_the_list() -> None:
    found = listed("\n".join(f"{number}. {item}" for number, item in enumerate(ITEMS, start=17_770)))
    assert [candidate.content for candidate in found] == list(ITEMS)


def test_initials_at_the_end_of_a_name_end_no_item() -> None:
    items = ("Ulm A.C. is housed in the old mint.", "Bask S.p.A. was bought by Nordic Waves.", *ITEMS)
    assert [candidate.content for candidate in listed("\n".join(items))] == list(items)


def test_a_title_of_an_office_is_told_of_what_it_is_the_office_of() -> None:
    assert read_item(Sentence("The Lord Mayor of Quill is Bo Ames.", 0, 35)) == Item("Quill", "lord_mayor", "Bo Ames")
    assert read_item(Sentence("The Quay of Storms was built by Bo Ames.", 0, 40)).property_name == "built_by"
