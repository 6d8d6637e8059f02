"""Which known entity a name may stand for, by the names alone."""

import pytest
from support.builders import SCOPE

from mindmem.core.reason.port import Judged, Unsure
from mindmem.core.reason.rules.schema.match import RulesMatcher
from mindmem.core.reason.schema_port import MatchRequest
from mindmem.core.records import Entity


def _person(name: str, *aliases: str) -> Entity:
    return Entity(f"ent_{name}", 1, SCOPE, "person", name, aliases)


async def _match(name: str, *known: Entity, kind: str = "person") -> object:
    [verdict] = await RulesMatcher().match([MatchRequest(name, kind, (), known)])
    return verdict.value.entity_id if isinstance(verdict, Judged) else type(verdict)


@pytest.mark.parametrize("name", ["Anna", "Dr. Keller", "Ann Keller", "Annie"])
async def test_a_part_of_a_name_or_a_nickname_denotes_the_one_that_it_fits(name: str) -> None:
    expected = "" if name == "Ann Keller" else "ent_Anna Keller"
    assert await _match(name, _person("Anna Keller")) == expected


async def test_a_name_that_fits_two_is_unsure() -> None:
    assert await _match("Anna", _person("Anna Keller"), _person("Anna Schmidt")) is Unsure


async def test_a_fuller_name_completes_the_one_known_by_less_unless_others_share_that() -> None:
    assert await _match("Anna Keller", _person("Anna")) == "ent_Anna"
    assert await _match("Anna Keller", _person("Anna"), _person("Anna Schmidt")) is Unsure


async def test_somebody_with_a_full_name_is_not_completed_by_another() -> None:
    assert await _match("Peter Vogel", _person("Dr. Vogel", "Miriam Vogel")) == ""


async def test_initials_count_only_where_the_text_expands_them() -> None:
    known = Entity("ent_w", 1, SCOPE, "organization", "World Health Organization")
    assert await _match("WHO", known, kind="organization") is Unsure


async def test_nothing_known_is_nothing_found() -> None:
    assert await _match("Anna") == ""
