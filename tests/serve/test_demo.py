"""The demo keeps its promises: every step of the story shows what it says, in text and in JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mindmem.core.serve.cli import cli
from mindmem.core.tables import POLARS_QUERY


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Result:
    home = tmp_path_factory.mktemp("demo") / "home"
    return CliRunner().invoke(cli, ["demo", "--home", str(home)])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    home = tmp_path_factory.mktemp("demo") / "home"
    done = CliRunner().invoke(cli, ["demo", "--json", "--home", str(home)])
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def best(told: dict, number: int) -> dict:
    return told["answers"][number]["result"]["hits"][0]


def test_the_text_fits_80_columns_and_has_no_colour_codes(shown: Result) -> None:
    assert shown.exit_code == 0, shown.stderr
    story, _ = shown.stdout.split("6. Look further")
    assert "\x1b" not in shown.stdout
    assert [line for line in story.splitlines() if len(line) > 80] == []


def test_the_newest_home_answers_where_mara_lives(told: dict) -> None:
    assert "Porto" in best(told, 0)["memory"]["content"]
    assert "Porto" in best(told, 0)["evidence"][0]["content"]


def test_the_two_locker_numbers_are_not_confused(told: dict) -> None:
    assert "271" in best(told, 1)["memory"]["content"]
    assert "217" not in best(told, 1)["memory"]["content"]


def test_a_chinese_question_finds_the_trip_with_its_day(told: dict) -> None:
    trip = best(told, 2)["memory"]
    assert "北京" in trip["content"]
    assert trip["valid_from"].startswith("2024-03-12")


def test_the_correction_closes_the_old_value_and_keeps_it(told: dict) -> None:
    assert [(claim["value"], claim["status"]) for claim in told["timeline"]] == [
        ("Lisbon", "archived"),
        ("Porto", "active"),
    ]
    assert told["timeline"][0]["valid_to"] == told["timeline"][1]["valid_from"]


def test_the_secret_is_nowhere_on_disk(told: dict) -> None:
    secret = b"tR4m-28-Alfama-x9"
    holders = [file for file in Path(told["home"]).rglob("*") if file.is_file() and secret in file.read_bytes()]
    assert holders == []


def test_the_mistake_is_found_before_the_undo_and_gone_after(told: dict) -> None:
    assert "peanuts" in told["before_undo"]["hits"][0]["memory"]["content"]
    assert all("peanuts" not in hit["memory"]["content"] for hit in told["after_undo"]["hits"])


def test_the_polars_query_that_the_demo_prints_reads_the_current_memories(told: dict) -> None:
    names: dict = {}
    exec("import polars as pl\n" + POLARS_QUERY.format(tables=told["tables"]), names)
    listed = CliRunner().invoke(cli, ["list", "--limit", "100", "--json", "--home", told["home"]])
    assert set(names["memories"]["memory_id"]) == {
        memory["memory_id"] for memory in json.loads(listed.stdout)["memories"]
    }
