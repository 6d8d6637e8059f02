"""The speed benchmark measures what it says, on generated data that is the same for the same seed."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mindmem.core.bench import speed
from mindmem.core.bench.generate import Generator
from mindmem.core.bench.results import Results, report, write
from mindmem.core.embed.port import EmbedderIdentity
from mindmem.core.errors import InvalidInput, StoreUnavailable
from mindmem.core.records import Scope
from mindmem.core.serve.cli import cli

TINY = speed.SpeedPlan(messages=20, adds=3, queries=5, user_sizes=(60,), total_sizes=(2_000,), schema_sizes=(60,))


HEARD: Counter[str] = Counter()


@pytest.fixture(scope="module")
def measured() -> Results:
    return speed.run(TINY, seed=7, watch=lambda what, done, total: HEARD.update({what: done == total}))


class TestRun:
    def test_has_plain_names_for_what_was_asked(self, measured: Results) -> None:
        figures = measured.document()
        assert figures["ingest_messages"] == 20
        assert 0 < figures["ingest_messages_per_s"] < 100_000
        for name in ("search", "search_index", "embed_query", "open", "open_with_imports"):
            assert figures[f"{name}_p50_ms_by_size"].keys() == {"60"}
        assert figures["search_index_p50_ms_by_total"].keys() == {"2000"}
        assert figures["rss_bytes"] > 10_000_000
        assert figures["versions"]["numpy"]

    def test_shows_adds_from_the_first_on_with_the_embedders_time_apart(self, measured: Results) -> None:
        figures = measured.document()
        whole, embedding, rest = (
            figures[f"{name}_p50_ms_by_size"] for name in ("add", "add_embedding", "add_without_embedding")
        )
        assert whole.keys() == embedding.keys() == rest.keys() == {"0", "60"}
        assert all(0 <= embedding[size] <= whole[size] for size in whole)
        assert figures["add_without_embedding_growth"] == pytest.approx(rest["60"] / rest["0"], abs=1e-3)
        [many] = [row for row in measured.rows if row["part"] == "add" and row["users"] > 1]
        assert (many["users"], many["memories"]) == (6, 60)
        assert figures["add_many_users_p50_ms_by_size"] == {"60": many["p50_ms"]}

    def test_opening_with_imports_takes_longer_than_without(self, measured: Results) -> None:
        figures = measured.document()
        assert figures["open_with_imports_p50_ms_by_size"]["60"] > figures["open_p50_ms_by_size"]["60"] > 0

    def test_shows_cold_users_apart(self, measured: Results) -> None:
        [row] = [row for row in measured.rows if row["part"] == "search_all"]
        assert row["users"] == 2
        assert row["cold_ms"] > 0

    def test_shows_what_schema_mode_takes_by_strategy_and_that_something_was_found(self, measured: Results) -> None:
        figures = measured.document()
        for part in ("schema_fast", "schema_balanced", "schema_agentic", "schema_add"):
            assert 0 < figures[f"{part}_p50_ms_by_total"]["60"] <= figures[f"{part}_p95_ms_by_total"]["60"]
        searched = [row for row in measured.rows if row["part"] in ("schema_fast", "schema_balanced", "schema_agentic")]
        assert len(searched) == 3
        assert all(row["found"] > 0 and row["cold_ms"] > 0 for row in searched)

    def test_tells_how_far_it_is_until_all_is_done(self, measured: Results) -> None:
        assert measured.rows
        assert HEARD == {
            "ingest": 1,
            "one user with 60 memories": 1,
            "60 memories of 6 users by commits": 1,
            "2,000 memories of 2 users": 1,
            "60 memories in schema mode": 1,
        }

    @pytest.mark.parametrize("sizes", ["many", "10,", "0", "-5"])
    def test_refuses_sizes_that_are_no_numbers(self, sizes: str) -> None:
        with pytest.raises(InvalidInput, match="--sizes expects numbers"):
            speed.plan(sizes, full=False)

    def test_measures_the_sizes_and_messages_asked_for(self) -> None:
        chosen = speed.plan("10,20", full=False, messages=5)
        assert (chosen.user_sizes, chosen.messages, chosen.total_sizes) == ((10, 20), 5, ())

    def test_measures_schema_mode_alone_or_beside_the_sizes_asked_for(self) -> None:
        alone = speed.plan(None, full=False, schema_sizes="500")
        assert (alone.user_sizes, alone.total_sizes, alone.schema_sizes) == ((), (), (500,))
        both = speed.plan("10", full=False, schema_sizes="500")
        assert (both.user_sizes, both.schema_sizes) == ((10,), (500,))
        assert speed.plan("10", full=False).schema_sizes == ()
        with pytest.raises(InvalidInput, match="--schema-sizes expects numbers"):
            speed.plan(None, full=False, schema_sizes="0")

    def test_full_measures_more_than_quick(self) -> None:
        assert set(speed.plan(None, full=True).user_sizes) > set(speed.plan(None, full=False).user_sizes)


class TestGenerator:
    def test_makes_the_same_from_the_same_seed_and_other_things_from_another(self) -> None:
        first, again, other = (
            [Generator(seed).memory(Scope(user_id="u")).content for _ in range(3)] for seed in (7, 7, 8)
        )
        assert first == again
        assert first != other

    def test_word_frequencies_fall_like_those_of_language(self) -> None:
        generator = Generator(7)
        words = Counter(word for _ in range(3_000) for word in generator.sentence().lower().rstrip(".").split())
        counts = [number for _, number in words.most_common()]
        assert 0.02 < counts[0] / sum(counts) < 0.10
        assert sum(number == 1 for number in counts) / len(counts) > 0.25
        assert 8 < sum(counts) / 3_000 < 16

    def test_vectors_are_of_unit_length_and_fit_the_embedder(self) -> None:
        [first, second] = Generator(7).embeddings(2, EmbedderIdentity("x", "1", 32, 8))
        assert np.linalg.norm(first.vector) == pytest.approx(1, abs=1e-5)
        assert first.tokens is not None
        assert first.tokens.vectors.shape == (len(first.tokens.ids), 8)
        assert not np.array_equal(first.vector, second.vector)


class TestResults:
    def test_are_written_as_one_object_and_one_line_a_row(self, tmp_path: Path) -> None:
        results = Results(
            benchmark="x", command="mindmem bench x", seed=7, figures={"recall_at_10": 0.5}, rows=[{"n": 1}, {"n": 2}]
        )
        folder = write(results, tmp_path / "deep" / "folder")
        kept = json.loads((folder / "results.json").read_text())
        assert (kept["recall_at_10"], kept["seed"], kept["command"]) == (0.5, 7, "mindmem bench x")
        assert [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()] == [{"n": 1}, {"n": 2}]

    def test_that_cannot_be_written_name_the_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreUnavailable, match="file"):
            write(Results(benchmark="x", command="x", seed=1, figures={}), tmp_path / "file")

    def test_report_shows_nested_figures_and_chosen_columns(self) -> None:
        rows = [{"size": 1000, "p50_ms": 1.25, "hidden": 1}]
        figures = {"by_category": {"1": 0.5}}
        text = report(Results(benchmark="x", command="x", seed=1, figures=figures, rows=rows, table=("size", "p50_ms")))
        assert text.splitlines() == ["by_category.1  0.5", "", " size  p50_ms", "1,000    1.25"]


def test_the_command_writes_its_results_and_prints_json(tmp_path: Path) -> None:
    words = ["bench", "speed", "--sizes", "20", "--messages", "5", "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "results.json").read_text())
