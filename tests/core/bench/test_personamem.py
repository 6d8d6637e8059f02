"""PersonaMem on small files of its form: what each question sees, which option counts, what is missing."""

from dataclasses import replace
from pathlib import Path

import pytest
from support.benchmarks import Scripted, personamem_folder

from mindmem.core.bench import personamem
from mindmem.core.bench.plan import Plan
from mindmem.core.errors import InvalidInput, NotFound
from mindmem.core.reason.port import Unsure
from mindmem.core.settings import Settings

SETTINGS = Settings(embedder="none")
PLAN = Plan(reader="llm", judge=False, answer_model="a", judge_model="j", top_k=10)
TODAY, CLAY, WHY = "What shall I do today?", "What do I make of clay?", "Why did I stop doing pottery?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return personamem_folder(tmp_path / "data")


def test_each_beginning_of_a_dialogue_is_a_case_whose_sessions_start_at_system_messages(folder: Path) -> None:
    early, late = personamem.load(folder)
    assert [question.question_id for question in early.questions] == ["q1", "q2"]
    assert [[message["role"] for message in messages] for messages in early.sessions.values()] == [
        ["system", "user", "assistant", "user"]
    ]
    assert [len(messages) for messages in late.sessions.values()] == [4, 3]
    assert late.asked_at > early.asked_at


def test_messages_lose_the_role_that_their_words_repeat(folder: Path) -> None:
    (messages,) = personamem.load(folder)[0].sessions.values()
    assert [message["content"] for message in messages[1:]] == [
        "I have taken up pottery and love it.",
        "Wonderful! What do you make?",
        "I make teapots.",
    ]


def test_options_are_read_as_json_and_as_python_writes_them(folder: Path) -> None:
    first, second = personamem.load(folder)[0].questions
    assert first.options == second.options
    assert (first.right, first.options["b"]) == ("a", "You could bake bread.")


def test_the_share_of_right_options_is_counted_by_type(folder: Path, tmp_path: Path) -> None:
    script = Scripted({TODAY: "(a)", CLAY: "(c)", WHY: "I think it is (b), since the kiln broke."})
    results = personamem.run(folder, tmp_path / "out", PLAN, settings=SETTINGS, reasoner=script.reasoner())
    assert results.figures["accuracy"] == pytest.approx(2 / 3, abs=1e-4)
    assert results.figures["by_type"] == {
        "recall_user_shared_facts": {"questions": 1, "accuracy": 0.0},
        "recalling_the_reasons_behind_previous_updates": {"questions": 1, "accuracy": 1.0},
        "suggest_new_ideas": {"questions": 1, "accuracy": 1.0},
    }
    assert [(row["id"], row["chosen"], row["right"]) for row in results.rows] == [
        ("q1", "a", True),
        ("q2", "c", False),
        ("q3", "b", True),
    ]


def test_a_reader_sees_the_options_but_nothing_that_was_said_after_the_question(folder: Path, tmp_path: Path) -> None:
    script = Scripted()
    personamem.run(folder, tmp_path / "out", PLAN, settings=SETTINGS, reasoner=script.reasoner())
    seen = {request.question.split("\n")[0]: request for request in script.asked}
    assert "(b) You could bake bread." in seen[CLAY].question
    assert seen[CLAY].memories
    assert not any("kiln" in memory.content for memory in seen[CLAY].memories)
    assert any("kiln" in memory.content for memory in seen[WHY].memories)


def test_no_option_named_is_wrong(folder: Path, tmp_path: Path) -> None:
    script = Scripted({TODAY: Unsure("not said"), CLAY: "(a) or (b)", WHY: "no idea"})
    figures = personamem.run(folder, tmp_path / "out", PLAN, settings=SETTINGS, reasoner=script.reasoner()).figures
    assert (figures["accuracy"], figures["unsure"], figures["questions"]) == (0.0, 1, 3)


def test_the_rules_choose_what_the_memories_support(folder: Path, tmp_path: Path) -> None:
    plan = replace(PLAN, reader="rules")
    results = personamem.run(folder, tmp_path / "out", plan, settings=SETTINGS)
    assert {row["id"]: row["chosen"] for row in results.rows}["q3"] == "b"
    assert results.figures["configuration"]["reader"] == "rules 1"  # type: ignore[index]  # figures nest


def test_without_the_dialogues_it_says_what_is_missing_and_how_many_questions_wait(tmp_path: Path) -> None:
    folder = personamem_folder(tmp_path / "data", dialogues=False)
    skipped = personamem.missing(folder)
    assert skipped is not None
    assert "shared_contexts_32k.jsonl" in str(skipped["skipped"])
    assert skipped["questions"] == 3
    with pytest.raises(NotFound, match="shared_contexts_32k"):
        personamem.load(folder)


def test_a_question_beyond_the_end_of_its_dialogue_is_refused(folder: Path) -> None:
    path = folder / "personamem" / "questions_32k.csv"
    path.write_text(path.read_text().replace("c0ffee,7", "c0ffee,8"))
    with pytest.raises(InvalidInput, match=r"'q3' is asked after message 8 .* has 7"):
        personamem.load(folder)


def test_a_right_answer_that_is_no_option_is_refused(folder: Path) -> None:
    path = folder / "personamem" / "questions_32k.csv"
    path.write_text(path.read_text().replace(",(b),", ",(e),"))
    with pytest.raises(InvalidInput, match="not PersonaMem's questions"):
        personamem.load(folder)
