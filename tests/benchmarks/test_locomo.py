"""Quality on real dialogues: needs the public data folder (MINDMEM_BENCH_DATA)."""

from pathlib import Path

import pytest

from mindmem.core.bench import locomo
from mindmem.core.settings import bench_data

pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.fixture(scope="module")
def folder() -> Path:
    found = bench_data()
    if found is None:
        pytest.skip("MINDMEM_BENCH_DATA names no folder of public data")
    return found


def test_every_scorable_question_of_the_published_categories_is_read(folder: Path) -> None:
    dialogues = locomo.load(folder)
    assert sum(len(turns) for dialogue in dialogues for turns in dialogue.sessions.values()) == 5882
    assert sum(len(dialogue.questions) for dialogue in dialogues) == 1536


def test_evidence_is_found_far_above_plain_word_search(folder: Path) -> None:
    """Plain BM25 over turns reaches 0.54 over all dialogues."""
    figures = locomo.run(folder, dialogues=[2]).figures
    assert float(str(figures["recall_at_10"])) >= 0.74


def test_lexical_search_alone_still_beats_it(folder: Path) -> None:
    figures = locomo.run(folder, dialogues=[2], embedder=False).figures
    assert float(str(figures["recall_at_10"])) >= 0.62
