"""Paths over entities and memories, and what they bring to a search."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.chains import world

from mindmem.core.errors import InvalidInput
from mindmem.core.memory import Memory
from mindmem.core.reason.port import SearchPlanRequest
from mindmem.core.reason.rules.plan_search import RulesPlanner
from mindmem.core.records import Hit, Partition, Scope, SearchResult
from mindmem.core.records import Memory as Record
from mindmem.core.search.agentic import Done, Judged, Planned, Retrieved, agentic
from mindmem.core.search.timewords import Asked
from mindmem.core.settings import Settings

FAMILY = (
    "Ada Blom is married to Per Lund.",
    "Per Lund works for Gneiss Audio.",
    "Gneiss Audio was founded by Tove Ek.",
    "Tove Ek was born in Kiruna.",
    "Ada Blom plays the lute.",
    "Per Lund was born in Malmo.",
    "Quartz Video was founded by Nils Arn.",
    "Nils Arn was born in Visby.",
    "curling was invented in Scotland.",
)
QUESTION = "Who founded the firm that the husband of Ada Blom works for?"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    settings = Settings.load({}, home=tmp_path, embedder="none")
    with Memory(settings=settings) as store:
        store.add("\n".join(FAMILY), user_id="ann")
        yield store


def contents(memory: Memory, question: str, **given: object) -> list[str]:
    return [hit.memory.content for hit in memory.search(question, user_id="ann", **given).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["balanced", "deep", "agentic"])
def test_a_chain_of_memories_is_found_from_the_entity_that_the_question_names(memory: Memory, strategy: str) -> None:
    assert set(FAMILY[:3]) <= set(contents(memory, QUESTION, strategy=strategy, top_k=5))


def test_a_hit_says_which_entities_led_to_it(memory: Memory) -> None:
    hits = memory.search(QUESTION, user_id="ann", strategy="balanced").hits
    via = next(hit.via for hit in hits if hit.memory.content == FAMILY[2])
    assert via[0] == "Ada Blom"
    assert via[-1] == "Gneiss Audio"
    assert all(0.0 <= hit.score <= 1.0 for hit in hits)


@pytest.mark.parametrize("strategy", ["fast", "balanced", "deep", "agentic"])
def test_nothing_is_found_for_nonsense_by_any_strategy(memory: Memory, strategy: str) -> None:
    assert contents(memory, "Who repaired the zeppelin of the glorbnax of Wibblestein?", strategy=strategy) == []


@pytest.mark.parametrize("strategy", ["balanced", "deep", "agentic"])
def test_paths_lead_over_no_memory_that_the_filter_leaves_out(memory: Memory, strategy: str) -> None:
    found = contents(memory, QUESTION, strategy=strategy, filters={"property_name": {"nin": ["works_at", "works_for"]}})
    assert FAMILY[1] not in found


def test_what_was_added_since_is_walked_too(memory: Memory) -> None:
    contents(memory, QUESTION, strategy="balanced")
    memory.add("Tove Ek's mentor is Siri Dahl.", user_id="ann")
    assert "Tove Ek's mentor is Siri Dahl." in contents(
        memory, "Who is the mentor of the founder of Gneiss Audio?", strategy="balanced"
    )


def test_a_question_about_a_speaker_is_answered_by_their_words_before_any_path(tmp_path: Path) -> None:
    talk = (
        ("Ann", "I met Priya at the harbour in Bergen."),
        ("Bob", "Priya plays the cello in the city orchestra."),
        ("Ann", "My brother moved to Bergen last spring."),
        ("Bob", "The orchestra of Bergen rehearses on Mondays."),
        ("Ann", "I baked rye bread for the market."),
    )
    with Memory(tmp_path) as memory:
        memory.add([{"role": "user", "name": name, "content": said} for name, said in talk], user_id="ann")
        hits = memory.search("What did Ann say about Bergen?", user_id="ann", strategy="balanced").hits
    assert {hit.memory.content for hit in hits[:2]} == {talk[0][1], talk[2][1]}
    assert not any("path" in hit.explanation for hit in hits)


def test_the_steps_of_an_agentic_search_are_told_in_order(memory: Memory) -> None:
    steps = list(memory.search_steps(QUESTION, user_id="ann"))
    assert isinstance(steps[0], Planned)
    assert QUESTION in steps[0].queries
    assert isinstance(steps[1], Retrieved)
    assert isinstance(steps[2], Judged)
    assert isinstance(steps[-1], Done)
    assert steps[-1].result == memory.search(QUESTION, user_id="ann", strategy="agentic")


def test_what_is_like_the_best_hits_moves_up_in_talk_and_claims_stay_as_they_are(
    memory: Memory, tmp_path: Path
) -> None:
    talk = (
        "Last weekend I went bouldering, the new hall has chalk and crash pads!",
        "Tuesday's crash pads were too thin, and my chalk bag leaked.",
        "Dinner took so long, we talked about the weekend for hours.",
        "The train was late again.",
    )
    with Memory(tmp_path / "talk") as store:
        store.add([{"role": "user", "name": "Ann", "content": said} for said in talk], user_id="ann")
        found = {
            strategy: {
                hit.memory.content: hit for hit in store.search("bouldering", user_id="ann", strategy=strategy).hits
            }
            for strategy in ("fast", "agentic")
        }
    assert talk[0] in found["fast"]
    for content, hit in found["fast"].items():
        again = found["agentic"][content]
        assert 0.0 <= hit.score < again.score <= 1.0
        assert again.explanation["feedback"] > 0.0
    hits = memory.search(QUESTION, user_id="ann", strategy="agentic").hits
    assert not any("feedback" in hit.explanation for hit in hits)


def test_words_of_their_own_that_answer_a_part_stay_below_what_answers_the_whole() -> None:
    whole = "Ann said that she bought the sailing boat after she had moved to Bergen."
    part = "After she moved there was rain, rain and rain."
    memories = {
        said: Record(memory_id=said, revision=1, scope=Scope(), mem_type="episodic", content=said, content_hash=said)
        for said in (whole, part)
    }
    question = "What did Ann buy after she moved?"

    def find(queries: Sequence[str], asked: tuple[Asked, ...]) -> list[SearchResult]:
        return [
            SearchResult((Hit(memories[whole], 0.5, {}),) if query == question else (Hit(memories[part], 0.9, {}),))
            for query in queries
        ]

    async def last() -> SearchResult:
        request = SearchPlanRequest(question, datetime(2026, 1, 1, tzinfo=UTC), "UTC")
        steps = [step async for step in agentic(find, lambda *_: [SearchResult(())], RulesPlanner(), request, top_k=5)]
        assert isinstance(steps[-1], Done)
        return steps[-1].result

    assert [hit.memory.content for hit in asyncio.run(last()).hits] == [whole, part]


def test_a_search_that_is_left_after_a_step_ends_there(memory: Memory) -> None:
    steps = memory.search_steps(QUESTION, user_id="ann")
    assert isinstance(next(steps), Planned)
    steps.close()  # type: ignore[attr-defined]  # a generator
    with pytest.raises(StopIteration):
        next(steps)


def test_an_unknown_strategy_is_refused_by_name(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="'slow'"):
        memory.search("lute", user_id="ann", strategy="slow")  # type: ignore[arg-type]


def test_chains_through_an_unknown_world_are_found_where_one_search_misses_them(tmp_path: Path) -> None:
    """Without vectors, so that words alone must do."""
    made = world(3, each=10, questions=30)
    settings = Settings.load({}, home=tmp_path, embedder="none", ingest={"resolve_updates": False})
    with Memory(settings=settings) as memory:
        memory.add("\n".join(made.statements), user_id="ann")
        recall = {}
        for strategy in ("fast", "balanced", "agentic"):
            shares = []
            for question in made.questions:
                found = contents(memory, question.text, strategy=strategy)
                wanted = {made.statements[number] for number in question.facts}
                shares.append(len(wanted.intersection(found)) / len(wanted))
            recall[strategy] = sum(shares) / len(shares)
    assert recall["balanced"] >= 0.75
    assert recall["agentic"] >= 0.75
    assert recall["balanced"] > recall["fast"] + 0.2


def test_a_graph_links_the_longest_known_name(memory: Memory) -> None:
    services = memory.services
    graph = services.graphs.of(services.projector.index, Partition("default", "ann"))
    assert [link.name for link in graph.linked("Does Per Lund like Gneiss Audio or curling?")] == [
        "per lund",
        "gneiss audio",
        "curling",
    ]


def test_a_claim_is_not_outdated_by_an_earlier_one_that_was_archived_after_it_was_told(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path, embedder="none", ingest={"resolve_updates": False})
    with Memory(settings=settings) as store:
        [old] = store.add("Gneiss Audio was founded by Tove Ek.", user_id="ann").memory_ids
        [new] = store.add("Gneiss Audio was founded by Siri Dahl.", user_id="ann").memory_ids
        store.delete(old)

        services = store.services
        graph = services.graphs.of(services.projector.index, Partition("default", "ann"))
        assert not graph.outdated(new)
