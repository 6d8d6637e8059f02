"""Cases from the field in schema mode: what went wrong elsewhere, beside a control that must stay as it is."""

from pathlib import Path

import pytest
from support.schema import PARTITION, USER, entities, related, say, schema_store, whose

from mindmem.core.memory import Memory
from mindmem.core.records import Memory as Record


def kept(memory: Memory, status: str = "active") -> list[Record]:
    page = memory.list(user_id=USER, page_size=200, filters={"status": status})
    return [one for one in page.memories if one.order == 1]


def concluded(memory: Memory) -> list[Record]:
    return [one for one in memory.list(user_id=USER, page_size=200).memories if one.order == 2]


def texts(memory: Memory, status: str = "active") -> set[str]:
    return {one.content for one in kept(memory, status)}


def test_an_exact_name_is_one_entity_whatever_stands_around_it_and_a_near_twin_another(tmp_path: Path) -> None:  # B6
    with schema_store(tmp_path) as memory:
        for day, content in enumerate(
            ["I work at DGIA.", "The budget of DGIA was cut.", "Ruth left DGIA in May.", "DGIA moved to Bonn.",
             "My aunt works at DGIB."], start=1,
        ):  # fmt: skip
            say(memory, content, day=day)
        assert len(whose(memory, "DGIA")) == len(whose(memory, "DGIB")) == 1
        assert whose(memory, "DGIA") != whose(memory, "DGIB")


def test_a_habit_and_what_was_done_against_it_are_both_kept_and_their_tension_is_told(tmp_path: Path) -> None:  # C2
    with schema_store(tmp_path) as memory:
        say(memory, "I'm vegetarian.", day=1)
        assert concluded(memory) == []
        say(memory, "I had steak yesterday.", day=2)
        said = {one.memory_id: one.content for one in kept(memory)}
        assert sorted(said.values()) == ["I had steak yesterday.", "Sam is vegetarian."]
        [tension] = [one for one in concluded(memory) if one.property_name == "contrasts"]
        assert set(tension.parents) == set(said)
        assert all(words in tension.content for words in said.values())
        hits = memory.search("Is Sam vegetarian?", user_id=USER).hits
        assert tension.memory_id in {hit.memory.memory_id for hit in hits}


def test_a_habit_and_what_goes_with_it_are_in_no_tension(tmp_path: Path) -> None:  # C2
    with schema_store(tmp_path) as memory:
        say(memory, "I'm vegetarian.", day=1)
        say(memory, "I had lentil soup yesterday.", day=2)
        assert [one for one in concluded(memory) if one.property_name == "contrasts"] == []


def test_of_two_claims_of_one_batch_that_exclude_each_other_the_later_one_is_active(tmp_path: Path) -> None:  # C6
    with schema_store(tmp_path) as memory:
        say(memory, "I live in Rome.", "I live in Oslo.", "I like tea.", "I like rye bread.")
        assert texts(memory) == {"Sam lives in Oslo.", "Sam likes tea.", "Sam likes rye bread."}
        assert texts(memory, "archived") == {"Sam lives in Rome."}


def test_a_loop_of_the_same_tool_turn_is_one_memory_and_another_turn_a_second(tmp_path: Path) -> None:  # C6
    def turn(number: int, result: str) -> list[dict[str, object]]:
        at = f"2026-02-01T10:{number:02d}:00Z"
        call = {"id": f"c{number}", "name": "run", "arguments": "{}"}
        return [
            {"role": "assistant", "content": "Trying again.", "tool_calls": [call], "timestamp": at},
            {"role": "tool", "name": "run", "tool_call_id": f"c{number}", "content": result, "timestamp": at},
        ]

    with schema_store(tmp_path) as memory:
        loop = [message for number in range(8) for message in turn(number, "exit 1: file not found")]
        memory.add([*loop, *turn(9, "done")], user_id=USER)
        traces = [one.content for one in kept(memory) if one.mem_type == "tool_trace"]
        assert sorted(traces) == [
            "Tool run() failed: exit 1: file not found",
            "Tool run() returned: done",
        ]


def test_what_a_team_does_is_the_teams_and_what_its_member_does_is_not(tmp_path: Path) -> None:  # C6
    with schema_store(tmp_path) as memory:
        say(memory, "We use PostgreSQL for billing.", "I use Emacs.")
        subjects = {one.content: one.entity_name for one in kept(memory)}
        assert subjects == {"We use PostgreSQL for billing.": "team", "Sam uses Emacs.": "Sam"}


@pytest.mark.parametrize(
    "correction", ["Correction: we use MySQL for billing.", "We migrated billing from PostgreSQL to MySQL."]
)
def test_a_correction_closes_what_it_corrects_and_nothing_else(tmp_path: Path, correction: str) -> None:  # C7
    with schema_store(tmp_path) as memory:
        say(memory, "We use PostgreSQL for billing.", "We use Redis for sessions.", day=1)
        say(memory, correction, day=2)
        assert texts(memory) == {"We use Redis for sessions.", correction}
        [old] = kept(memory, "archived")
        assert (old.content, old.valid_to is not None) == ("We use PostgreSQL for billing.", True)


def test_the_subject_of_a_memory_is_edited_and_its_conclusions_follow(tmp_path: Path) -> None:  # D6
    with schema_store(tmp_path) as memory:
        say(memory, "My sister Eva lives in Graz.", "My friend Gina lives in Oslo.", day=1)
        wrong = next(one for one in kept(memory) if "Oslo" in one.content)
        memory.update(wrong.memory_id, entity="Eva")
        assert memory.get(wrong.memory_id).entity_id in whose(memory, "Eva")
        assert {one.value for one in memory.timeline("Eva", "residence", user_id=USER)} == {"Graz", "Oslo"}
        assert not memory.verify()


def test_deleting_takes_the_relations_and_orphans_along_and_leaves_all_else(tmp_path: Path) -> None:  # E4
    with schema_store(tmp_path) as memory:
        say(memory, "My sister Eva works at Quillon.", "My friend Gina works at Brightleaf.", day=1)
        assert {("Eva", "works_for", "Quillon"), ("Gina", "works_for", "Brightleaf")} <= related(memory)
        gone = next(one for one in kept(memory) if "Quillon" in one.content)
        memory.delete(gone.memory_id)
        active = {one.name for one in entities(memory) if one.status == "active"}
        assert active.isdisjoint({"Eva", "Quillon"})
        assert {"Sam", "Gina", "Brightleaf"} <= active
        ends = {end for edge in memory.services.reader.edges(PARTITION) for end in (edge.src, edge.dst)}
        assert gone.memory_id not in {edge.src for edge in memory.services.reader.edges(PARTITION, relation="MENTIONS")}
        assert ends.isdisjoint(whose(memory, "Eva") | whose(memory, "Quillon"))
        assert whose(memory, "Gina") <= ends


def test_a_deleted_fact_survives_in_no_conclusion_after_a_restart(tmp_path: Path) -> None:  # E5
    with schema_store(tmp_path) as memory:
        say(memory, "I'm vegetarian.", "I play the oboe.", day=1)
        say(memory, "I had steak yesterday.", day=2)
        assert any("steak" in one.content for one in concluded(memory))
        memory.delete(next(one for one in kept(memory) if "steak" in one.content).memory_id)
    with schema_store(tmp_path) as memory:
        assert not any("steak" in one.content for one in concluded(memory))
        assert texts(memory) == {"Sam is vegetarian.", "Sam plays the oboe."}


def test_a_deleted_fact_survives_in_no_key_of_an_entity_after_a_restart(tmp_path: Path) -> None:  # E5
    def keys(memory: Memory) -> set[str]:
        return {field for one in entities(memory) if one.name == "Gina" for field in one.search_fields}

    with schema_store(tmp_path) as memory:
        say(memory, "My friend Gina works at Quillon.", "Gina lives in Graz.", day=1)
        assert {"Quillon", "Graz"} <= keys(memory)
        memory.delete(next(one for one in kept(memory) if "Quillon" in one.content).memory_id)
    with schema_store(tmp_path) as memory:
        assert "Quillon" not in keys(memory)
        assert "Graz" in keys(memory)
