"""FactConsolidation's benchmark on a small made-up file of its form."""

import json
from pathlib import Path

import pytest

from mindmem.core.bench import factconsolidation as measure
from mindmem.core.bench.plan import Plan
from mindmem.core.errors import InvalidInput, NotFound
from mindmem.core.settings import Settings

FACTS = (
    "Ada Blom is married to Per Lund.",
    "Per Lund works for Gneiss Audio.",
    "Gneiss Audio was founded by Tove Ek.",
    "Tove Ek was born in Kiruna.",
    "Quartz Video was founded by Nils Arn.",
    "Nils Arn was born in Visby.",
    "Ada Blom plays the lute.",
    "curling was invented in Scotland.",
    "Gneiss Audio was founded by Siri Dahl.",
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    place = tmp_path / "factconsolidation"
    place.mkdir()
    text = "Here are facts:\n" + "\n".join(f"{number}. {fact}" for number, fact in enumerate(FACTS))
    row = {
        "context": text,
        "questions": ["Who founded Gneiss Audio?"],
        "answers": [["Siri Dahl"]],
        "metadata": {"source": "factconsolidation_sh_6k"},
    }
    chain = {
        "source": "factconsolidation_mh_6k",
        "q": 4,
        "question": "Who founded the firm that the husband of Ada Blom works for?",
        "answers": ["Siri Dahl"],
        "paths": [[0, 1, 8]],
    }
    (place / "Conflict_Resolution.json").write_text(json.dumps([row]), encoding="utf-8")
    (place / "derived_mh_supporting_facts.json").write_text(json.dumps([chain]), encoding="utf-8")
    return tmp_path


def test_latest_and_supporting_facts_are_counted_by_strategy_and_size(data: Path, tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path / "home", embedder="none")
    plan = Plan.of(settings, top_k=measure.TOP_K)

    found = measure.run(data, tmp_path / "out", plan, settings=settings, sizes=["6k"], strategies=["fast", "balanced"])

    parts = found.figures["by_size"]
    assert isinstance(parts, dict)
    assert parts["6k balanced"]["supporting_recall_at_10"] == 1.0
    assert parts["6k balanced"]["latest_hit_at_1"] == 1.0
    assert parts["6k fast"]["latest_hit_at_5"] == 1.0
    assert not any(fact in json.dumps(list(found.rows)) for fact in FACTS)


def test_messages_hold_whole_lines_and_nothing_is_lost() -> None:
    text = "\n".join(FACTS)
    pieces = list(measure.chunks(text, tokens=25))
    assert "\n".join(pieces) == text
    assert len(pieces) > 2


def test_an_unknown_size_or_folder_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="7k"):
        measure.load(data, ["7k"])
    with pytest.raises(NotFound, match="--data"):
        measure.load(tmp_path / "elsewhere")
