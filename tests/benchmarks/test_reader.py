"""The rules reader on a made-up world: single facts, and chains of facts, some contradicted by later ones."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.chains import Asked, singles, world

from mindmem.core.bench.scoring import sub_em
from mindmem.core.memory import Memory
from mindmem.core.reason.port import AnswerRequest, Judged
from mindmem.core.reason.rules.answer import RulesAnswerer
from mindmem.core.settings import Settings

WORLD = world(7)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    home: Path = tmp_path_factory.mktemp("world")
    settings = Settings.load({}, home=home, embedder="none", ingest={"resolve_updates": False, "resolve_merges": False})
    with Memory(settings=settings) as opened:
        for place in range(0, len(WORLD.statements), 100):
            opened.add("\n".join(f"* {one}" for one in WORLD.statements[place : place + 100]), user_id="ann")
        yield opened


def right(memory: Memory, questions: tuple[Asked, ...]) -> float:
    found = []
    for one in questions:
        hits = memory.search(one.text, user_id="ann", top_k=50, strategy="balanced").hits
        request = AnswerRequest(one.text, tuple(hit.memory for hit in hits), datetime(2026, 1, 1, tzinfo=UTC))
        [verdict] = asyncio.run(RulesAnswerer().answer([request]))
        found.append(sub_em(verdict.value.text, one.answer) if isinstance(verdict, Judged) else 0.0)
    return sum(found) / len(found)


def test_the_latest_of_contradicting_facts_is_read(memory: Memory) -> None:
    assert right(memory, singles(WORLD, seed=7)) >= 0.85


def test_chains_of_facts_are_followed_to_their_end(memory: Memory) -> None:
    chains = tuple(one for one in WORLD.questions if len(one.facts) > 1)
    assert right(memory, chains) >= 0.45
