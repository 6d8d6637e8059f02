"""One search over a real index: subject, time, floor, folding, notes."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mindmem.core.embed.bundled import load_bundled
from mindmem.core.embed.contextual import embed_in_context
from mindmem.core.embed.port import Embedder
from mindmem.core.errors import InvalidInput
from mindmem.core.index.documents import context_lines, document, embed_text
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.index.filters import Test as Condition
from mindmem.core.records import Memory, MemType, Partition, Scope, SearchResult, Source
from mindmem.core.search.explain import describe
from mindmem.core.search.run import LEXICAL_ONLY, SearchRequest, run_search
from mindmem.core.settings import SearchSettings

NOW = datetime(2024, 6, 20, tzinfo=UTC)


def memory(
    content: str,
    speaker: str,
    message: str,
    *,
    at: datetime = NOW,
    mem_type: MemType = "episodic",
    context: str = "",
    user: str = "u",
) -> Memory:
    return Memory(
        memory_id=f"mem_{user}_{content}", revision=1, scope=Scope("p", user), mem_type=mem_type, content=content,
        content_hash=content, observed_at=at, speaker=speaker, entity_name=speaker, entity_type="person",
        sources=(Source(message, 0, len(content)),), context=context,
    )  # fmt: skip


STORY = (
    memory("I adopted a grey parrot last week", "Ann", "m1"),
    memory("I adopted a black kitten from the shelter", "Bob", "m2"),
    memory("I started to learn the cello", "Ann", "m3", at=datetime(2023, 5, 4, tzinfo=UTC)),
    memory("I started to learn the trumpet", "Ann", "m4", at=datetime(2021, 2, 4, tzinfo=UTC)),
    memory("Yes, last summer, it was lovely!", "Bob", "m5", context="Ann: Did you ever go to Norway?"),
    memory("Ann's employer is a hospital in Oslo", "Ann", "m6", mem_type="fact"),
    memory("I work at the hospital in Oslo", "Ann", "m6"),
    memory("我住在上海浦东", "Bob", "m7"),
    memory("I adopted a turtle", "Ann", "m8", user="somebody else"),
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_bundled()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[EmbeddedIndex]:
    path: Path = tmp_path_factory.mktemp("index") / "index.sqlite"
    made = EmbeddedIndex(path, "g", create=True, embedder=embedder.identity)
    embeddings = embed_in_context(embedder, [(embed_text(one), context_lines(one)) for one in STORY])
    made.apply([document(one, NOW, found) for one, found in zip(STORY, embeddings, strict=True)], watermark=1)
    yield made
    made.close()


def ask(index: EmbeddedIndex, embedder: Embedder | None, query: str, **more: object) -> SearchResult:
    request = SearchRequest(query=query, partition=Partition("p", "u"), now=NOW, **more)  # type: ignore[arg-type]  # named in each test
    return run_search(index, embedder, request)


def first(result: SearchResult) -> str:
    return result.hits[0].memory.content


def test_the_person_who_is_asked_about_decides(index: EmbeddedIndex, embedder: Embedder) -> None:
    assert first(ask(index, embedder, "Which animal did Ann adopt?")) == "I adopted a grey parrot last week"
    assert first(ask(index, embedder, "Which animal did Bob adopt?")) == "I adopted a black kitten from the shelter"


def test_time_words_decide_between_two_that_fit(index: EmbeddedIndex, embedder: Embedder) -> None:
    assert "cello" in first(ask(index, embedder, "What did Ann start to learn in May 2023?"))
    found = ask(index, embedder, "What did Ann start to learn in February 2021?")
    assert "trumpet" in first(found)
    assert found.notes == ("Time asked about: 2021-02-01 to before 2021-03-01 (UTC).",)


def test_an_answer_is_found_by_the_question_before_it(index: EmbeddedIndex, embedder: Embedder) -> None:
    assert first(ask(index, embedder, "Did Bob travel to Norway?")) == "Yes, last summer, it was lovely!"


def test_chinese_is_found_by_its_characters(index: EmbeddedIndex, embedder: Embedder) -> None:
    assert first(ask(index, embedder, "谁住在上海？")) == "我住在上海浦东"


def test_nonsense_finds_nothing(index: EmbeddedIndex, embedder: Embedder) -> None:
    assert ask(index, embedder, "qwxz vbnmk plorf").hits == ()


def test_without_an_embedder_the_search_is_lexical_and_says_so(index: EmbeddedIndex) -> None:
    found = ask(index, None, "Who adopted a kitten?")
    assert first(found) == "I adopted a black kitten from the shelter"
    assert LEXICAL_ONLY in found.notes


def test_a_message_is_folded_into_the_memory_made_of_it_when_that_is_better(
    index: EmbeddedIndex, embedder: Embedder
) -> None:
    contents = [hit.memory.content for hit in ask(index, embedder, "Who is Ann's employer?").hits]
    assert contents[0] == "Ann's employer is a hospital in Oslo"
    assert "I work at the hospital in Oslo" not in contents


def test_another_user_s_memories_are_never_found(index: EmbeddedIndex, embedder: Embedder) -> None:
    found = ask(index, embedder, "Who adopted a turtle?")
    assert all(hit.memory.scope.user_id == "u" for hit in found.hits)


def test_the_filter_goes_before_the_top_k(index: EmbeddedIndex, embedder: Embedder) -> None:
    found = ask(index, embedder, "hospital in Oslo", filter=Condition("mem_type", "eq", "episodic"), top_k=1)
    assert [hit.memory.content for hit in found.hits] == ["I work at the hospital in Oslo"]


def test_thresholds_cut_and_scores_fall_with_rank(index: EmbeddedIndex, embedder: Embedder) -> None:
    everything = ask(index, embedder, "Which animal did Ann adopt?")
    scores = [hit.score for hit in everything.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    cut = ask(index, embedder, "Which animal did Ann adopt?", score_threshold=scores[0])
    assert [hit.score for hit in cut.hits] == scores[:1]
    assert ask(index, embedder, "Which animal did Ann adopt?", settings=SearchSettings(floor=1.0)).hits == ()


def test_every_part_of_a_score_is_named(index: EmbeddedIndex, embedder: Embedder) -> None:
    (hit, *_) = ask(index, embedder, "What did Ann start to learn in May 2023?").hits
    assert set(hit.explanation) == {"lexical", "dense", "late", "subject", "time"}
    assert describe(hit).startswith(f"{hit.score:.2f} = lexical ")
    assert describe(hit).endswith("time ×1.00")


@pytest.mark.parametrize("query", ["`", "|", "/", "... !!"])
def test_a_question_of_symbols_finds_nothing_and_says_why(index: EmbeddedIndex, embedder: Embedder, query: str) -> None:
    found = ask(index, embedder, query)
    assert found.hits == ()
    assert "no word" in found.notes[0]


def test_only_stop_words_do_not_crash(index: EmbeddedIndex, embedder: Embedder) -> None:
    ask(index, embedder, "the of and")


def test_a_blank_question_is_refused(index: EmbeddedIndex, embedder: Embedder) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        ask(index, embedder, "  ")


def test_a_question_to_the_whole_project_asks_all_users(index: EmbeddedIndex, embedder: Embedder) -> None:
    request = SearchRequest(query="Who adopted a turtle?", partition=Partition("p", ""), now=NOW)
    assert "turtle" in first(run_search(index, embedder, request))
