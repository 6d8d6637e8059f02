"""FactConsolidation's benchmark on a small made-up file of its form, with templates of other relations."""

import json
from pathlib import Path

import pytest
from support.benchmarks import Scripted

from mindmem.core.bench import factconsolidation as measure
from mindmem.core.bench.facts import chunks, load
from mindmem.core.bench.plan import Plan
from mindmem.core.bench.results import Results
from mindmem.core.errors import InvalidInput, NotFound
from mindmem.core.reason.port import Failed, Reasoner
from mindmem.core.settings import Settings

FACTS = (
    "Ada Blom is wed to Per Lund.",
    "Per Lund draws wages from Gneiss Audio.",
    "The steward of Gneiss Audio is Tove Ek.",
    "The steward of Quartz Video is Nils Arn.",
    "The mascot of Gneiss Audio is a marten.",
    "The mascot of Quartz Video is an otter.",
    "The anthem of Gneiss Audio is Slow Rain.",
    "The anthem of Quartz Video is Hard Snow.",
    "The steward of Gneiss Audio is Siri Dahl.",
    "The mascot of Quartz Video is a pine owl.",
)
STALE = (2, 5)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    place = tmp_path / "factconsolidation"
    place.mkdir()
    context = "Here are facts:\n" + "\n".join(f"{number}. {fact}" for number, fact in enumerate(FACTS))
    rows = [
        {
            "context": context,
            "questions": ["Who is the steward of Gneiss Audio?", "What is the mascot of Quartz Video?"],
            "answers": [["Siri Dahl"], ["pine owl"]],
            "metadata": {"source": "factconsolidation_sh_6k"},
        },
        {
            "context": context,
            "questions": ["Who is the steward of the firm that the spouse of Ada Blom draws wages from?"],
            "answers": [["Siri Dahl"]],
            "metadata": {"source": "factconsolidation_mh_6k"},
        },
    ]
    files = {
        "Conflict_Resolution.json": rows,
        "derived_mh_supporting_facts.json": [{"source": "factconsolidation_mh_6k", "q": 0, "paths": [[0, 1, 8]]}],
        "cloze_templates.json": {
            "R1": "[X] is wed to __",
            "R2": "[X] draws wages from __",
            "R3": "The steward of [X] is __",
            "R4": "The mascot of [X] is __",
            "R5": "The anthem of [X] is __",
        },
        "question_templates.json": {
            "R3": "Who is the steward of [X]?",
            "R4": "What is the mascot of [X]?",
        },
    }
    for name, value in files.items():
        (place / name).write_text(json.dumps(value), encoding="utf-8")
    return tmp_path


def run(
    data: Path,
    out: Path,
    *,
    resume: bool = False,
    resolve_at_add: bool = False,
    dream: bool = True,
    reasoner: Reasoner | None = None,
) -> Results:
    settings = Settings.load({}, home=out / "home", embedder="none")
    plan = Plan.of(settings, top_k=measure.TOP_K, resume=resume)
    strategies = measure.chosen(["fast", "balanced"])
    return measure.run(
        data,
        out,
        plan,
        settings=settings,
        sizes=["6k"],
        strategies=strategies,
        resolve_at_add=resolve_at_add,
        dream=dream,
        reasoner=reasoner,
    )


def test_the_dream_is_measured_by_the_numbers_of_the_facts(data: Path, tmp_path: Path) -> None:
    done = run(data, tmp_path / "out")
    figures = done.figures

    assert figures["stale_active_before"] == 1.0
    assert figures["stale_active_after"] == 0.0
    assert (figures["supersede_precision"], figures["supersede_recall"]) == (1.0, 1.0)
    assert figures["false_archives"] == 0.0
    assert figures["resolved_at_add"] == 0.0
    assert figures["amcr"] == figures["amcr_ideal"] == round(len(STALE) / len(FACTS), 4)
    assert figures["guards"] == {"cap": 1.0, "min_age_hours": 0.0}
    assert (figures["single_hop_sub_em"], figures["latest_hit_at_1"]) == (1.0, 1.0)
    assert figures["by_size"]["6k"]["amcr"] == figures["amcr"]  # type: ignore[index]  # JSON values
    assert not any(fact in json.dumps(list(done.rows)) for fact in FACTS)


def test_what_adds_resolve_is_left_to_no_dream(data: Path, tmp_path: Path) -> None:
    figures = run(data, tmp_path / "out", resolve_at_add=True).figures

    assert figures["resolved_at_add"] == 1.0
    assert figures["amcr"] == figures["amcr_ideal"] == 0.0


def test_supporting_facts_are_counted_by_strategy(data: Path, tmp_path: Path) -> None:
    figures = run(data, tmp_path / "out", dream=False).figures

    parts = figures["by_strategy"]
    assert isinstance(parts, dict)
    assert parts["balanced"]["supporting_recall_at_10"] == 1.0
    assert parts["balanced"]["latest_hit_at_1"] == 1.0
    assert parts["fast"]["latest_hit_at_5"] == 1.0
    assert "amcr" not in figures


def test_a_finished_run_that_is_gone_on_with_neither_asks_nor_dreams_again(data: Path, tmp_path: Path) -> None:
    first = run(data, tmp_path / "out")
    again = run(data, tmp_path / "out", resume=True)

    assert again.figures == first.figures
    assert list(again.rows) == list(first.rows)


def test_a_run_without_a_dream_can_be_gone_on_with_to_dream(data: Path, tmp_path: Path) -> None:
    before = run(data, tmp_path / "out", dream=False)
    after = run(data, tmp_path / "out", resume=True)

    assert after.figures["single_hop_sub_em_before"] == before.figures["single_hop_sub_em"]
    assert after.figures["stale_active_after"] == 0.0


def test_a_model_reads_beside_the_rules(data: Path, tmp_path: Path) -> None:
    said = Scripted({"What is the mascot of Quartz Video?": "It was an otter, but now it is a pine owl."})
    figures = run(data, tmp_path / "out", dream=False, reasoner=said.reasoner()).figures

    assert (figures["single_hop_sub_em"], figures["model_single_hop_sub_em"]) == (1.0, 0.5)
    assert figures["model_multi_hop_sub_em"] == 0.0


def test_a_question_that_failed_before_the_dream_keeps_it_from_being_dreamt(data: Path, tmp_path: Path) -> None:
    said = Scripted({"What is the mascot of Quartz Video?": Failed("no answer came", transient=True)})
    figures = run(data, tmp_path / "out", reasoner=said.reasoner()).figures

    assert "have no answer from before the dream" in str(figures["stopped"])
    assert "amcr" not in figures
    assert run(data, tmp_path / "out", resume=True, reasoner=Scripted().reasoner()).figures["stopped"] == ""


def test_other_values_that_were_told_of_what_is_asked_are_its_rivals(data: Path) -> None:
    [(_, questions)] = load(data, ["6k"])
    assert [question.rivals for question in questions] == [("Tove Ek",), ("an otter",), ("Tove Ek",)]


def test_messages_hold_whole_lines_and_nothing_is_lost() -> None:
    text = "\n".join(FACTS)
    pieces = list(chunks(text, tokens=25))
    assert "\n".join(pieces) == text
    assert len(pieces) > 2


def test_what_is_stale_follows_from_the_numbers(data: Path) -> None:
    [(context, questions)] = load(data, ["6k"])
    assert tuple(number for number, fact in context.facts.items() if fact.stale) == STALE
    assert context.facts[2].latest == 8
    assert [question.paths for question in questions] == [((8,),), ((9,),), ((0, 1, 8),)]


def test_an_unknown_size_or_folder_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="7k"):
        load(data, ["7k"])
    with pytest.raises(NotFound, match="--data"):
        load(tmp_path / "elsewhere")
    (data / "factconsolidation" / "cloze_templates.json").write_text('{"R1": "[X] flies to __"}')
    with pytest.raises(InvalidInput, match="no template fits"):
        load(data, ["6k"])
