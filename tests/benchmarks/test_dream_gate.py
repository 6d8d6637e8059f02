"""The gate in small: what a dream may get wrong over 68 relations in many sentence forms."""

from pathlib import Path

import pytest
from support.dream_gate import Figures, generate, measure, store


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    home: Path = tmp_path_factory.mktemp("gate")
    with store(home) as memory:
        return measure(generate(seed=11, subjects=16), memory)


def test_what_it_supersedes_was_superseded(figures: Figures) -> None:
    assert figures.pairs > 150
    assert figures.precision >= 0.97, figures.wrong[:10]


def test_it_finds_what_was_superseded(figures: Figures) -> None:
    assert figures.recall >= 0.85, figures.missed[:20]


def test_no_value_of_a_property_with_several_is_superseded(figures: Figures) -> None:
    assert figures.many_superseded == 0, figures.wrong[:10]


def test_hardly_anything_that_still_holds_is_lost(figures: Figures) -> None:
    assert figures.false_archives < 0.01, figures.wrong[:10]


def test_what_was_said_is_still_found(figures: Figures) -> None:
    assert figures.retention >= 0.99


def test_it_archives_about_as_many_as_it_should(figures: Figures) -> None:
    assert abs(figures.amcr - figures.ideal) < 0.03
