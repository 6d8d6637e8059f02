"""What holds on the first gate of dreaming holds in other styles: other relations, a group chat, Chinese."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.dream_chats import Style, chat, chinese, figures, prose
from support.dream_gate import store


@pytest.mark.parametrize(("style", "seed"), [(prose, 1), (prose, 2), (chat, 1), (chinese, 1)])
def test_the_bars_hold_in_another_style(style: Callable[[int], Style], seed: int, tmp_path: Path) -> None:
    with store(tmp_path) as memory:
        seen = figures(style(seed), memory)
    assert seen.pairs >= 30
    assert seen.precision >= 0.97, seen.wrong[:10]
    assert seen.recall >= 0.85, seen.missed[:10]
    assert seen.many_superseded == 0, seen.wrong[:10]
    assert seen.false_archives < 0.01, seen.wrong[:10]
    assert seen.retention >= 0.99
