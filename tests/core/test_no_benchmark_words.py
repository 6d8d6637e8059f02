"""No rule of the product comes from the templates of a benchmark's data."""

import json
import os
import re
from pathlib import Path

import pytest

from mindmem.core.text import STOP_WORDS

CORE = Path(__file__).parents[2] / "core"
TEMPLATES = ("cloze_templates.json", "question_templates.json", "rel-prompts.json")


def _phrases(value: object) -> set[str]:
    """Return the fixed parts of all templates in a file that say something of their own: at least two content words."""
    if isinstance(value, dict):
        return set().union(*map(_phrases, value.values()))
    if isinstance(value, list):
        return set().union(*map(_phrases, value))
    if not isinstance(value, str):
        return set()
    parts = (" ".join(re.findall(r"[\w']+", part.lower())) for part in re.split(r"\[\w+\]|\{\w*\}|<\w+>|\?", value))
    return {part for part in parts if len(set(part.split()) - STOP_WORDS["english"]) >= 2}


def test_no_template_phrase_of_the_relations_stands_in_core() -> None:
    data = os.environ.get("MINDMEM_BENCH_DATA")
    folder = Path(data) / "factconsolidation" if data else None
    if folder is None or not folder.is_dir():
        pytest.skip("MINDMEM_BENCH_DATA names no folder with factconsolidation")
    phrases = set().union(*(_phrases(json.loads((folder / name).read_text("utf-8"))) for name in TEMPLATES))
    assert len(phrases) >= 20
    code = {path: " ".join(re.findall(r"[\w']+", path.read_text("utf-8").lower())) for path in CORE.rglob("*.py")}
    found = {(path.name, phrase) for path, text in code.items() for phrase in phrases if f" {phrase} " in f" {text} "}
    assert not found
