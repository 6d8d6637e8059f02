"""What adds were shown is remembered by key, within bounds, whoever else remembers at the same time."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.builders import SCOPE, memory

from mindmem.core.ingest.shown import note, noted, recovered
from mindmem.core.ledger.port import Ledger
from mindmem.core.ledger.sql import open_ledger
from mindmem.core.records import Memory, Partition


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}")
    yield opened
    opened.close()


def test_what_was_noted_is_found_by_its_key_in_its_project_only(ledger: Ledger) -> None:
    note(ledger, "p", {"a": [[("mem_1", 1), ("mem_2", 3)], []], "b": [[]]})
    note(ledger, "p", {"c": [[("mem_3", 1)]]})
    assert noted(ledger, "p", ["a", "c", "unknown", ""]) == {
        "a": [[["mem_1", 1], ["mem_2", 3]], []], "c": [[["mem_3", 1]]],
    }  # fmt: skip
    assert noted(ledger, "other", ["a"]) == {}


def test_only_the_latest_are_kept_but_all_of_the_newest(ledger: Ledger) -> None:
    window = [(f"mem_{n}", 1) for n in range(10)]
    for add in range(30):
        note(ledger, "p", {str(add): [window] * 50})
    kept = noted(ledger, "p", map(str, range(30)))
    assert list(kept) == [str(add) for add in range(11, 30)]
    note(ledger, "p", {"large": [window] * 2_000})
    assert list(noted(ledger, "p", ["large", "29"])) == ["large"]


def test_the_very_revisions_come_back_and_what_was_erased_is_left_out() -> None:
    one = memory("Ann lives in Oslo.")
    newer = memory("Ann lives in Oslo.", revision=2)

    def histories(memory_ids: Sequence[str], partition: Partition) -> dict[str, list[Memory]]:
        assert partition == SCOPE.partition
        return {one.memory_id: [one, newer]} if one.memory_id in memory_ids else {}

    pins = [[(one.memory_id, 1), ("mem_erased", 1)], [(one.memory_id, 2)], []]
    assert recovered(pins, SCOPE.partition, histories) == [(one,), (newer,), ()]
    assert recovered([[]], SCOPE.partition, histories) == [()]
