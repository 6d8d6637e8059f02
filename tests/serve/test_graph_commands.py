"""The commands on the graph: what they print as text and as JSON."""

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from mindmem.core.serve.cli import cli

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a function that runs the command line on a store of a few people; tests only read it."""
    store = tmp_path_factory.mktemp("graph")

    def on_it(*words: str) -> Result:
        return CliRunner().invoke(cli, ["--home", str(store), *words])

    said = ("My sister Nora lives in Oslo.", "My sister Nora lives in Bergen now.", "Nora works at Acme.")
    for month, words in enumerate(said, 1):
        done = on_it("add", words, "--user", "ann", "--time", f"2025-0{month}-01T10:00:00+00:00")
        assert done.exit_code == 0, done.stderr
    return on_it


def test_entity_prints_properties_and_relations(told: Run) -> None:
    done = told("entity", "nora", "--user", "ann")
    assert done.exit_code == 0
    for part in ("Nora", "person", "lives_in", "1 past", "Bergen now", "works_at → Acme"):
        assert part in done.output
    assert "Oslo" not in done.output
    found = json.loads(told("entity", "Nora", "--user", "ann", "--json").output)
    assert found["entity"]["name"] == "Nora"
    assert {one["name"]: one["total"] for one in found["properties"]} == {"lives_in": 2, "works_at": 1}


def test_an_unknown_entity_is_told_with_those_near_it(told: Run) -> None:
    done = told("entity", "Norah", "--user", "ann")
    assert done.exit_code == 3
    assert "Near it are: Nora" in done.stderr


def test_entities_are_listed_in_pages(told: Run) -> None:
    assert "Bergen" in told("entities", "--user", "ann").output
    first = json.loads(told("entities", "--user", "ann", "--limit", "2", "--json").output)
    assert len(first["entities"]) == 2
    assert f"--cursor {first['next_cursor']}" in told("entities", "--user", "ann", "--limit", "2").output
    assert "No entities." in told("entities", "--user", "nobody").output


def test_timeline_prints_the_past_and_the_present(told: Run) -> None:
    done = told("timeline", "Nora", "lives_in", "--user", "ann")
    assert done.output.index("Oslo") < done.output.index("Bergen")
    then = json.loads(told("timeline", "Nora", "lives in", "--user", "ann", "--as-of", "2025-01-15", "--json").output)
    assert [one["value"] for one in then["timeline"]] == ["Oslo"]
    assert told("timeline", "Nora", "shoe_size", "--user", "ann").exit_code == 3


def test_graph_prints_a_tree(told: Run) -> None:
    done = told("graph", "Acme", "--user", "ann", "--hops", "2")
    lines = done.output.splitlines()
    assert lines[0].strip() == "Acme"
    assert "← works_at Nora" in lines[1]
    assert "lives_in → Bergen" in lines[2]
    assert "more than 1 nodes" in told("graph", "Acme", "--user", "ann", "--limit", "1").output
    found = json.loads(told("graph", "Acme", "--user", "ann", "--json", "--memories").output)
    assert {node["kind"] for node in found["nodes"]} == {"entity", "memory"}


@pytest.mark.parametrize("name", ["entity", "entities", "timeline", "graph"])
def test_help_documents_the_json(name: str) -> None:
    text = CliRunner().invoke(cli, [name, "--help"]).output
    assert "JSON:" in text
    assert "--home" in text
