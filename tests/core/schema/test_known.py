"""Names looked up through the index: what is found is what a look at every entity finds."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from mindmem.core.index.documents import entity_document
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.records import Entity, Scope
from mindmem.core.schema.known import Indexed, KnownEntities, Listed, fit
from mindmem.core.schema.names import incompatible, name_key

SCOPE = Scope(user_id="sam")
WORDS = (
    "Anna Annie Bob Robert Rob Liz Elizabeth Dr. Mr. Keller Smith Moore The World Health Organization Bank of England"
    " WHO W.H.O. PhD Springfield, Ohio New York, NY Acme Inc. DJ J. R. Jones's Wo Ho 王芳 北京大学"
).split()
KINDS = ("person", "organization", "place", "thing", "item")


def named(dice: random.Random) -> str:
    return " ".join(dice.choices(WORDS, k=dice.choice((1, 1, 2, 2, 3, 4))))


def some(dice: random.Random, count: int) -> list[Entity]:
    """Return entities of all kinds, some archived, some merged, some of another agent's scope."""
    return [
        Entity(
            f"ent_{place:02d}",
            1,
            replace(SCOPE, agent_id=dice.choice(("", "", "", "clerk"))),
            dice.choice(KINDS),
            named(dice),
            tuple(named(dice) for _ in range(dice.choice((0, 0, 1, 2)))),
            status=dice.choice(("active", "active", "archived")),
            merged_into=f"ent_{dice.randrange(count):02d}" if dice.random() < 0.15 else "",
        )
        for place in range(count)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_the_index_finds_whom_a_look_at_every_entity_finds(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    rows = some(dice, 60)
    index = EmbeddedIndex(tmp_path / "names.sqlite", "names", create=True)
    index.apply([], entities=[entity_document(one) for one in some(dice, 60)], watermark=1)
    index.apply([], entities=[entity_document(replace(one, revision=2)) for one in rows], watermark=2)  # renamed, all
    own = [replace(one, revision=2) for one in rows if not one.scope.agent_id]
    every = KnownEntities(Listed(own))
    found = KnownEntities(Indexed(index, replace(SCOPE, session_id="s1")))
    for _ in range(150):
        name, kind = named(dice), dice.choice(KINDS)
        assert found.named(name) == every.named(name), name
        assert found.near(name, kind) == every.near(name, kind), name
    assert all(found.get(one.entity_id) == one for one in own)
    index.close()


@pytest.mark.parametrize("seed", range(8))
def test_nobody_whom_a_name_may_stand_for_is_missed(seed: int) -> None:
    dice = random.Random(seed)
    rows = [replace(one, merged_into="") for one in some(dice, 60)]
    known = KnownEntities(Listed(rows))
    for _ in range(150):
        name, kind = named(dice), dice.choice(KINDS)
        bearers = {
            one.entity_id for one in rows if name_key(name) in {name_key(other) for other in (one.name, *one.aliases)}
        }
        assert {one.entity_id for one in known.named(name)} == bearers, name
        fitting = {
            one.entity_id
            for one in rows
            if not incompatible(one.entity_type, kind) and fit(name, kind, one)[0] in ("short", "qualified")
        }
        assert fitting <= {one.entity_id for one in known.near(name, kind)}, name
