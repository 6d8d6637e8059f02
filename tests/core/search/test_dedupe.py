"""Hits that say the same again are folded."""

from mindmem.core.records import Hit, Memory, MemType, Scope, Source
from mindmem.core.search.dedupe import distinct_messages, fold_hits


def hit(name: str, mem_type: MemType, *sources: str, digest: str = "") -> Hit:
    return Hit(
        Memory(
            memory_id=name, revision=1, scope=Scope(), mem_type=mem_type, content=name, content_hash=digest or name,
            sources=tuple(Source(source, 0, 1) for source in sources),
        ),
        0.5,
    )  # fmt: skip


def names(hits: list[Hit]) -> list[str]:
    return [hit.memory.memory_id for hit in hits]


def test_a_message_below_the_memory_made_of_it_is_folded() -> None:
    assert names(fold_hits([hit("fact", "fact", "m1"), hit("said", "episodic", "m1")])) == ["fact"]


def test_a_message_above_the_memory_made_of_it_stays() -> None:
    assert names(fold_hits([hit("said", "episodic", "m1"), hit("fact", "fact", "m1")])) == ["said", "fact"]


def test_a_message_that_says_more_than_the_memories_cover_stays() -> None:
    found = fold_hits([hit("fact", "fact", "m1"), hit("said", "episodic", "m1", "m2")])
    assert names(found) == ["fact", "said"]


def test_two_typed_memories_of_one_message_stay() -> None:
    assert names(fold_hits([hit("a", "fact", "m1"), hit("b", "profile", "m1")])) == ["a", "b"]


def test_the_same_words_said_twice_are_shown_once() -> None:
    found = fold_hits([hit("a", "episodic", "m1", digest="x"), hit("b", "episodic", "m2", digest="x")])
    assert names(found) == ["a"]


def test_a_memory_without_sources_is_never_folded() -> None:
    assert names(fold_hits([hit("a", "fact", "m1"), hit("b", "episodic")])) == ["a", "b"]


def test_distinct_messages_are_counted_in_rank_order() -> None:
    hits = [hit("a", "fact", "m2", "m1"), hit("b", "fact", "m1"), hit("c", "fact", "m3")]
    assert distinct_messages(hits, 2) == ["m2", "m1"]
    assert distinct_messages(hits, 9) == ["m2", "m1", "m3"]
