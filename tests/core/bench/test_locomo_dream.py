"""Dreaming over small dialogues of LOCOMO's form with plants in them."""

from collections import Counter
from pathlib import Path

from support.benchmarks import LOCOMO_SAMPLE, locomo_folder

from mindmem.core.bench import locomo_dream as measure
from mindmem.core.bench.plants import plants


def test_plants_follow_from_the_seed_and_are_half_of_each_kind() -> None:
    made = plants(["Ann", "Bob"], 40, seed=3)
    assert made == plants(["Ann", "Bob"], 40, seed=3) != plants(["Ann", "Bob"], 40, seed=4)
    assert Counter((one.kind, one.speaker) for one in made) == {
        (kind, speaker): 10 for kind in ("paraphrase", "superseded") for speaker in ("Ann", "Bob")
    }
    assert all(one.first != one.second for one in made)


def test_what_the_dream_consolidates_and_what_is_still_found_is_measured(tmp_path: Path) -> None:
    turns = [
        {"dia_id": f"D1:{number}", "speaker": "Priya", "text": f"On day {number} I walked to the pier of Oslo."}
        for number in range(2, 42)
    ]
    talk = {**LOCOMO_SAMPLE["conversation"], "session_1": turns, "session_1_date_time": "9:05 am on 2 March, 2023"}
    folder = locomo_folder(tmp_path, {**LOCOMO_SAMPLE, "conversation": talk})

    done = measure.run(folder, embedder=False)

    figures = done.figures
    assert figures["planted"] == 4
    assert 0 < int(str(figures["planted_open_before_dream"])) <= 4
    assert figures["questions"] == 2
    assert (figures["recall_at_10_before"], figures["recall_at_10_lost"]) == (1.0, 0.0)
    missed = int(str(figures["missed_paraphrases"])) + int(str(figures["missed_superseded"]))
    opened = int(str(figures["planted_open_before_dream"]))
    assert figures["planted_consolidated"] == round((opened - missed) / opened, 4)
    assert figures["archived_of_the_dialogues"] == 0
