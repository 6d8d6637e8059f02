"""LongMemEval's benchmark on a small made-up file of its form."""

import json
from pathlib import Path

import pytest

from mindmem.core.bench import longmemeval as measure
from mindmem.core.bench.plan import Plan
from mindmem.core.errors import NotFound
from mindmem.core.memory import Memory
from mindmem.core.settings import Settings


@pytest.fixture
def data(tmp_path: Path) -> Path:
    item = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Which instrument did I buy?",
        "answer": "a cello",
        "question_date": "2023/05/30 (Tue) 20:42",
        "haystack_dates": ["2023/05/21 (Sun) 10:00", "2023-05-20T06:13:00"],
        "haystack_session_ids": ["answer_77", "other_1"],
        "answer_session_ids": ["answer_77"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought a cello, an old instrument from Cremona.", "has_answer": True},
                {"role": "assistant", "content": "Congratulations!"},
            ],
            [{"role": "user", "content": "My tomatoes are ripe."}, {"role": "assistant", "content": " "}],
        ],
    }
    (tmp_path / "longmemeval_made.json").write_text(json.dumps([item]), encoding="utf-8")
    return tmp_path


def test_sessions_and_turns_with_the_answer_are_counted(data: Path, tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path / "home", embedder="none")

    found = measure.run(data, tmp_path / "out", Plan.of(settings, top_k=10), settings=settings, answer=True)

    assert found.figures["session_recall_at_5"] == 1.0
    assert found.figures["turn_recall_at_5"] == 1.0
    assert found.figures["sub_em"] == 1.0


def test_the_store_sees_no_session_id_of_the_data(data: Path, tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path / "home", embedder="none")
    measure.run(data, tmp_path / "out", Plan.of(settings, top_k=10), settings=settings)
    [home] = (tmp_path / "out").glob("store-*")
    with Memory(settings=settings.model_copy(update={"home": home})) as memory:
        sessions = {one.scope.session_id for one in memory.list(user_id="user-1").memories}
    assert sessions == {"session-001", "session-002"}


def test_a_folder_without_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="--data"):
        measure.load(tmp_path)
