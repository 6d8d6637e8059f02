"""The LOCOMO benchmark on a small file of its form, written here."""

from pathlib import Path

import pytest
from support.benchmarks import locomo_folder

from mindmem.core.bench import locomo
from mindmem.core.errors import InvalidInput, NotFound


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return locomo_folder(tmp_path)


def test_sessions_are_in_the_order_of_their_numbers(folder: Path) -> None:
    (dialogue,) = locomo.load(folder)
    assert list(dialogue.sessions) == ["session_2", "session_10"]


def test_malformed_evidence_is_read_and_adversarial_questions_are_left_out(folder: Path) -> None:
    (dialogue,) = locomo.load(folder)
    assert [(q.category, q.answer, set(q.evidence)) for q in dialogue.questions] == [
        ("single_hop", "Biscuit", {"D2:1"}),
        ("multi_hop", "cello", {"D2:2"}),
        ("open_domain", "x", set()),
    ]


def test_recall_is_measured_of_questions_with_evidence_alone(folder: Path) -> None:
    assert [row["question"] for row in locomo.run(folder, embedder=False).rows] == [1, 2]


def test_session_times_are_read_and_turns_follow_each_other(folder: Path) -> None:
    first, second = locomo.load(folder)[0].sessions["session_2"]
    assert first.at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert second.at > first.at


def test_a_run_finds_the_turns_that_answer_and_names_its_figures_plainly(folder: Path) -> None:
    results = locomo.run(folder)
    figures = results.figures
    assert figures["questions"] == 2
    assert figures["turns"] == 3
    assert figures["recall_at_10"] == 1.0
    assert [row["found"][0] for row in results.rows] == ["D2:1", "D2:2"]  # type: ignore[index]  # rows hold lists
    assert figures["by_category"]["single_hop"]["questions"] == 1  # type: ignore[index]  # figures nest
    assert figures["by_half"]["second"]["questions"] == 0  # type: ignore[index]  # figures nest


def test_a_folder_without_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"locomo10\.json"):
        locomo.load(tmp_path)


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text('[{"sample_id": "x"}]')
    with pytest.raises(InvalidInput, match="not LOCOMO"):
        locomo.load(tmp_path)


def test_a_dialogue_that_does_not_exist_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="numbered 1 to 1"):
        locomo.run(folder, dialogues=[2])
