"""Guards of a dream: minimum age, blast radius, approval; and what the report says of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.dreams import USER, active, dream_store, say, tell

from mindmem.core.errors import Conflict, NotFound
from mindmem.core.memory import Memory
from mindmem.core.settings import DreamSettings

PLACES = [f"Bay{number} Tolva" for number in range(24)]


def _mayors(memory: Memory, changed: int) -> None:
    tell(memory, [f"The mayor of {place} is Keeper{number} Grubb." for number, place in enumerate(PLACES)])
    if changed:
        later = [f"The mayor of {place} is Warden{number} Marn." for number, place in enumerate(PLACES[:changed])]
        tell(memory, [*later, *(f"The river Alna{number} has {number} locks." for number in range(3, 11))])


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with dream_store(tmp_path, cap=0.3) as opened:
        yield opened


def test_a_young_memory_is_not_archived_and_its_add_stays_pending(tmp_path: Path) -> None:
    with dream_store(tmp_path, min_age_hours=24) as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
        report = memory.dream()
        assert (report.archived, report.scopes[0].withheld, report.scopes[0].adds) == (0, 1, 0)
        assert len(active(memory)) == 2


def test_a_day_later_it_is(tmp_path: Path) -> None:
    with dream_store(tmp_path, min_age_hours=24) as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
        memory.dream()
    with dream_store(tmp_path, hours=25, min_age_hours=24) as memory:
        assert memory.dream().archived == 1
        assert active(memory) == {"Ann lives in Rome."}


def test_adds_older_than_the_look_back_are_left_alone(tmp_path: Path) -> None:
    with dream_store(tmp_path) as memory:
        say(memory, "I live in Oslo.")
        say(memory, "I live in Rome.")
    with dream_store(tmp_path, hours=24 * 9) as memory:
        assert memory.dream().archived == 0
        assert memory.dream(limits=DreamSettings(look_back_days=10, min_age_hours=0)).archived == 1


def test_a_run_over_the_cap_changes_nothing_and_waits_for_approval(memory: Memory) -> None:
    _mayors(memory, 24)
    before = active(memory)
    report = memory.dream()
    [scope] = report.scopes
    assert (scope.state, scope.archived, scope.active_before) == ("proposed", 24, 56)
    assert active(memory) == before
    assert "over the cap of 30%" in scope.cause
    assert [one.proposal_id for one in memory.proposals()] == [scope.proposal_id]
    assert report.guards["cap"] == 0.3


def test_a_run_below_the_cap_is_applied(memory: Memory) -> None:
    _mayors(memory, 10)
    report = memory.dream()
    assert (report.scopes[0].state, report.archived) == ("applied", 10)


def test_of_a_few_memories_most_may_go(memory: Memory) -> None:
    say(memory, "I live in Oslo.")
    say(memory, "I live in Rome.")
    assert memory.dream().scopes[0].state == "applied"


def test_the_same_proposal_is_not_kept_twice(memory: Memory) -> None:
    _mayors(memory, 24)
    first, second = memory.dream(), memory.dream()
    assert first.scopes[0].proposal_id == second.scopes[0].proposal_id
    assert len(memory.proposals()) == 1


def test_an_approved_proposal_is_carried_out(memory: Memory) -> None:
    _mayors(memory, 24)
    proposal_id = memory.dream().scopes[0].proposal_id
    done = memory.approve(proposal_id)
    assert (done.scopes[0].state, done.archived) == ("applied", 24)
    assert not any("Keeper" in one for one in active(memory) if "Grubb" in one)
    assert memory.proposals() == ()
    assert memory.dream().archived == 0, "its adds are consolidated"


def test_only_what_was_shown_is_carried_out(memory: Memory) -> None:
    _mayors(memory, 24)
    proposal_id = memory.dream().scopes[0].proposal_id
    say(memory, "I live in Oslo.")
    say(memory, "I live in Rome.")
    done = memory.approve(proposal_id)
    assert done.archived == 24
    assert {"Ann lives in Oslo.", "Ann lives in Rome."} <= active(memory)


def test_what_changed_since_is_decided_anew(memory: Memory) -> None:
    _mayors(memory, 24)
    proposal_id = memory.dream().scopes[0].proposal_id
    newest = [f"The mayor of {PLACES[0]} is Chief Dorn.", *(f"The lake Bo{n} has {n} fish." for n in range(3, 11))]
    tell(memory, newest)
    done = memory.approve(proposal_id)
    assert done.archived == 23, "one place has a third mayor now: that was not shown"
    assert f"The mayor of {PLACES[0]} is Chief Dorn." in active(memory)


def test_a_rejected_proposal_is_not_made_again(memory: Memory) -> None:
    _mayors(memory, 24)
    proposal_id = memory.dream().scopes[0].proposal_id
    memory.reject(proposal_id)
    report = memory.dream()
    assert (report.archived, report.scopes[0].withheld, memory.proposals()) == (0, 24, ())
    assert [one.state for one in memory.proposals(open_only=False)] == ["rejected"]


def test_a_proposal_is_decided_once(memory: Memory) -> None:
    _mayors(memory, 24)
    proposal_id = memory.dream().scopes[0].proposal_id
    memory.reject(proposal_id)
    with pytest.raises(Conflict, match="was rejected already"):
        memory.approve(proposal_id)
    with pytest.raises(NotFound, match="No proposal 'prop_none'"):
        memory.reject("prop_none")


def test_a_dry_run_writes_nothing_but_its_proposal(memory: Memory) -> None:
    say(memory, "I live in Oslo.")
    say(memory, "I live in Rome.")
    before, changes = active(memory), len(memory.changes(user_id=USER))
    report = memory.dream(dry_run=True)
    [line] = report.scopes[0].diff
    assert (line.op, line.before, report.archived) == ("archive", "Ann lives in Oslo.", 1)
    assert active(memory) == before
    assert len(memory.changes(user_id=USER)) == changes + 1
    assert memory.approve(report.scopes[0].proposal_id).archived == 1


def test_a_dry_run_with_nothing_to_do_writes_nothing(memory: Memory) -> None:
    say(memory, "I live in Oslo.")
    changes = memory.services.ledger.last_seq()
    assert memory.dream(dry_run=True).scopes[0].diff == ()
    assert memory.services.ledger.last_seq() == changes
