"""Rows of long benchmarks outlive whoever writes them, and never mix with those of another configuration."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mindmem.core.bench.journal import Journal
from mindmem.core.errors import CorruptStore, InvalidInput

CONFIGURATION = {"top_k": 50, "models": {"answer": "a"}, "categories": (1, 2)}

KILLED = """
import os, signal, sys
from pathlib import Path
from mindmem.core.bench.journal import Journal

journal = Journal(Path(sys.argv[1]), {"top_k": 50}, resume=False)
for number in range(3):
    journal.add({"id": str(number)})
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_rows_that_were_added_before_a_kill_are_there_afterwards(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    with Journal(tmp_path, {"top_k": 50}, resume=True) as journal:
        assert list(journal.rows) == ["0", "1", "2"]


def test_a_line_that_was_cut_is_dropped_and_the_next_row_stands_on_its_own(tmp_path: Path) -> None:
    with Journal(tmp_path, CONFIGURATION, resume=False) as journal:
        journal.add({"id": "1", "answer": "é"})
        journal.add({"id": "2", "answer": "é"})
    rows = tmp_path / "rows.jsonl"
    os.truncate(rows, rows.stat().st_size - 4)
    with Journal(tmp_path, CONFIGURATION, resume=True) as journal:
        assert list(journal.rows) == ["1"]
        journal.add({"id": "3"})
    with Journal(tmp_path, CONFIGURATION, resume=True) as journal:
        assert list(journal.rows) == ["1", "3"]


def test_the_newest_row_of_a_question_counts(tmp_path: Path) -> None:
    with Journal(tmp_path, CONFIGURATION, resume=False) as journal:
        journal.add({"id": "1", "failed": "no reply"})
        journal.add({"id": "1", "answer": "x"})
    with Journal(tmp_path, CONFIGURATION, resume=True) as journal:
        assert dict(journal.rows) == {"1": {"id": "1", "answer": "x"}}


def test_rows_of_an_earlier_run_are_not_gone_on_with_unasked(tmp_path: Path) -> None:
    with Journal(tmp_path, CONFIGURATION, resume=False) as journal:
        journal.add({"id": "1"})
    with pytest.raises(InvalidInput, match=r"--resume"):
        Journal(tmp_path, CONFIGURATION, resume=False)


def test_another_configuration_is_refused_and_what_differs_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path, CONFIGURATION, resume=False) as journal:
        journal.add({"id": "1"})
    with pytest.raises(InvalidInput, match="top_k was 50, is 10") as refused:
        Journal(tmp_path, {**CONFIGURATION, "top_k": 10}, resume=True)
    assert "models" not in str(refused.value)


def test_rows_of_an_unknown_origin_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "1"}\n')
    with pytest.raises(InvalidInput, match="not what they were made with"):
        Journal(tmp_path, CONFIGURATION, resume=True)


def test_a_run_that_kept_nothing_yet_may_be_begun_anew_with_other_options(tmp_path: Path) -> None:
    Journal(tmp_path, CONFIGURATION, resume=False).close()
    with Journal(tmp_path, {**CONFIGURATION, "top_k": 10}, resume=False) as journal:
        assert journal.rows == {}


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    with Journal(tmp_path, CONFIGURATION, resume=False) as journal:
        journal.add({"id": "1"})
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"id": \n{"id": "2"}\n')
    with pytest.raises(CorruptStore, match="Line 2"):
        Journal(tmp_path, CONFIGURATION, resume=True)
