"""Eight processes add to one store while another folds it and rebuilds its index: nothing is lost, nothing doubled."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.forks import alone, together
from support.ledgers import ledger_urls, postgres_url
from support.stores import open_store, patiently

from mindmem.core.errors import LeaseLost, LeaseTaken
from mindmem.core.memory import Memory

pytestmark = pytest.mark.faults

WRITERS, ADDS = 8, 50
SHARED = [f"The shared fact number {number} is known to all." for number in range(5)]


@pytest.fixture(params=ledger_urls())
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "sqlite":
        yield ""
    else:
        with postgres_url() as found:
            yield found


def _write(home: Path, url: str, writer: int) -> int:
    memory = open_store(home, url)
    for number in range(ADDS):
        shared = number % 10 == 0
        text = (
            SHARED[number // 10] if shared else f"Writer {writer} noted that shelf {number} holds {number * 7} boxes."
        )
        receipt = memory.add(text, user_id="team" if shared or number % 2 else f"user-{writer}")
        assert receipt.actions
        found = memory.search(text, user_id=receipt.actions[0].memory.scope.user_id).hits
        assert any(hit.memory.content == text for hit in found), "searchable when add returns"
    memory.close()
    return ADDS


def _operate(home: Path, url: str) -> int:
    memory = open_store(home, url)
    rounds = 0
    while memory.services.ledger.last_seq() < WRITERS * ADDS and rounds < 200:
        try:
            memory.fold()
            if rounds % 3 == 0:
                memory.rebuild_index()
        except (LeaseTaken, LeaseLost):
            pass
        rounds += 1
    memory.close()
    return rounds


def test_all_adds_are_there_and_identical_ones_once(tmp_path: Path, url: str) -> None:
    home = tmp_path / "home"
    alone(lambda: open_store(home, url).close())
    works = [lambda writer=writer: _write(home, url, writer) for writer in range(WRITERS)]
    *written, rounds = together([*works, lambda: _operate(home, url)])
    assert written == [ADDS] * WRITERS
    assert rounds >= 2, "it folded and rebuilt while others wrote"

    def check() -> tuple[int, list[int], tuple[str, ...], int]:
        memory = open_store(home, url)
        seqs = memory.services.ledger.last_seq()
        patiently(Memory.fold, memory)
        team = memory.list(user_id="team", page_size=1000).memories
        counts = [one.reinforcement_count for one in team if one.content in SHARED]
        own = sum(len(memory.list(user_id=f"user-{writer}", page_size=1000).memories) for writer in range(WRITERS))
        result = len(team) + own, counts, tuple(str(one) for one in memory.verify()), seqs
        memory.close()
        return result

    active, counts, findings, seqs = alone(check)
    assert seqs == WRITERS * ADDS
    assert counts == [WRITERS] * len(SHARED)
    assert active == len(SHARED) + WRITERS * (ADDS - len(SHARED))
    assert findings == ()
