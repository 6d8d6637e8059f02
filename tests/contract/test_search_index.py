"""What every search index must do: visibility, scopes, filters, floor, overlap of the top ten; never exact scores."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from support.documents import ANN, BEGAN, IDENTITY, ask, embed, make

from mindmem.core.index.filters import Test as Condition
from mindmem.core.index.filters import matches, not_ended, parse_filter, scope_filter, valid_at
from mindmem.core.index.port import Document, SearchIndex
from mindmem.core.records import Partition, Scope

BOB = Scope(user_id="bob")
HOBBIES = [
    "Ann paints watercolours of the harbour every Sunday",
    "Ann repaired the old bicycle with her brother",
    "Ann keeps three beehives behind the garden shed",
    "Ann is learning Portuguese before the trip to Porto",
    "Ann bakes rye bread with caraway seeds",
    "Ann sold her piano and bought a cello",
    "Ann volunteers at the animal shelter in winter",
    "Ann lost her keys near the railway station",
    "Ann plans to run the marathon in Valencia",
    "Ann dislikes coriander but loves mint",
    "Ann reads detective novels on the train",
    "Ann adopted a grey cat called Pepper",
]


def fill(index: SearchIndex, contents: Iterable[str], **fields: Any) -> None:
    documents = [make(content, minute=place, **fields) for place, content in enumerate(contents)]
    index.apply(documents, watermark=index.watermark() + 1)


def contents_of(index: SearchIndex, found: Iterable[Any]) -> list[str]:
    ids = [scored.memory_id for scored in found]
    memories = index.get(ids)
    return [memories[memory_id].content for memory_id in ids]


def names(index: SearchIndex, partition: Partition, given: object) -> set[str]:
    page = index.scan(partition, parse_filter(given), limit=1000)
    return {memory.memory_id for memory in page.memories}


# -- writing


def test_a_document_is_found_as_soon_as_apply_returns(index: SearchIndex) -> None:
    assert index.hybrid(ask("cello")) == []
    fill(index, HOBBIES)
    assert contents_of(index, index.hybrid(ask("cello")))[0] == "Ann sold her piano and bought a cello"
    fill(index, ["Ann gave the cello back"])
    assert "Ann gave the cello back" in contents_of(index, index.hybrid(ask("cello")))


def test_the_newest_revision_wins_whatever_the_order(index: SearchIndex) -> None:
    first = make("Ann lives in Berlin", name="home")
    second = make("Ann lives in Paris", name="home", revision=2, minute=5)
    index.apply([second, first], watermark=1)
    index.apply([first], watermark=2)
    assert index.get(["mem_home"])["mem_home"].content == "Ann lives in Paris"
    assert contents_of(index, index.lexical(ask("Paris"))) == ["Ann lives in Paris"]
    assert index.lexical(ask("Berlin")) == []


def test_a_later_revision_keeps_when_the_memory_was_created(index: SearchIndex) -> None:
    index.apply([make("Ann lives in Berlin", name="home")], watermark=1)
    index.apply([make("Ann lives in Paris", name="home", revision=2, minute=60)], watermark=2)
    after = (BEGAN + timedelta(minutes=30)).isoformat()
    assert names(index, ANN.partition, {"created_at": {"gt": after}}) == set()
    assert names(index, ANN.partition, {"updated_at": {"gt": after}}) == {"mem_home"}


def test_an_older_watermark_is_ignored_whole(index: SearchIndex) -> None:
    index.apply([make(HOBBIES[0])], watermark=7)
    index.apply([make(HOBBIES[1])], watermark=6)
    assert index.watermark() == 7
    assert index.count(ANN.partition, None) == 1
    index.apply([make(HOBBIES[1])], watermark=7)
    assert index.count(ANN.partition, None) == 2


def test_a_revision_without_vectors_keeps_those_of_the_same_text(index: SearchIndex) -> None:
    text = "Ann keeps three beehives"
    index.apply([make(text, name="bees")], watermark=1)
    index.apply([make(text, name="bees", revision=2, reinforcement_count=2, embedded=False)], watermark=2)
    assert [scored.memory_id for scored in index.dense(ask(text))] == ["mem_bees"]
    index.apply([make("Ann moved to Rome", name="bees", revision=3, embedded=False)], watermark=3)
    assert index.dense(ask(text)) == [], "the vector of a text that is gone finds nothing"


def test_the_index_says_whose_vectors_it_holds(index: SearchIndex, lexical_index: SearchIndex) -> None:
    assert index.embedder == IDENTITY
    assert lexical_index.embedder is None


# -- ranking


def test_lexical_returns_only_what_shares_a_term_best_first(index: SearchIndex) -> None:
    fill(index, [*HOBBIES, "The bicycle, the old bicycle"])
    found = index.lexical(ask("old bicycle"))
    assert set(contents_of(index, found)) == {
        "The bicycle, the old bicycle",
        "Ann repaired the old bicycle with her brother",
    }
    assert [scored.score for scored in found] == sorted((scored.score for scored in found), reverse=True)


def test_dense_is_the_exact_order_by_cosine(index: SearchIndex) -> None:
    fill(index, HOBBIES)
    query = ask("Ann loves her garden and the harbour")
    assert query.vector is not None
    cosines = {content: float(embed(content).vector @ query.vector) for content in HOBBIES}
    wanted = sorted((c for c in HOBBIES if cosines[c] > 0.0), key=lambda content: -cosines[content])[:10]
    assert contents_of(index, index.dense(query)) == wanted


def test_the_top_ten_overlap_with_an_exhaustive_ranking(index: SearchIndex) -> None:
    rng = np.random.default_rng(7)
    vocabulary = [f"word{number}" for number in range(120)]
    corpus = [" ".join(rng.choice(vocabulary, 9, replace=False)) for _ in range(300)]
    fill(index, corpus)
    good = asked = 0
    for text in corpus[::30]:
        wanted = set(text.split()[:6])
        shared = {content: len(wanted & set(content.split())) for content in corpus}
        tenth = sorted(shared.values(), reverse=True)[9]
        found = contents_of(index, index.hybrid(ask(" ".join(wanted))))
        good += sum(shared[content] >= tenth for content in found)
        asked += 10
    assert good / asked >= 0.8


def test_a_shared_word_is_beaten_by_the_whole_claim(index: SearchIndex) -> None:
    fill(index, [*HOBBIES, "Ann's neighbour has beehives", "The shed burned down"])
    found = contents_of(index, index.hybrid(ask("three beehives behind the garden shed")))
    assert found[0] == "Ann keeps three beehives behind the garden shed"


def test_scores_and_their_parts_lie_between_0_and_1_and_fall(index: SearchIndex) -> None:
    fill(index, HOBBIES, speaker="Ann", embedded=True)
    found = index.hybrid(ask("Ann paints the harbour", subject="ann"))
    assert found
    scores = [scored.score for scored in found]
    assert scores == sorted(scores, reverse=True)
    for scored in found:
        assert {"lexical", "dense", "late", "subject"} <= set(scored.parts)
        assert all(0.0 <= part <= 1.0 for part in (scored.score, *scored.parts.values()))


def test_a_score_does_not_depend_on_how_many_are_asked_for(index: SearchIndex) -> None:
    fill(index, HOBBIES)
    few, many = (index.hybrid(ask("bread and mint", k=k)) for k in (2, 12))
    assert few == many[:2]
    assert len(many) >= len(few) == 2


def test_another_known_persons_memory_ranks_below_the_subjects(index: SearchIndex) -> None:
    said = "I bought a red kayak last summer"
    index.apply(
        [make(said, name="hers", speaker="Ann Lee"), make(said, name="his", speaker="Bob"), make(said, name="whose")],
        watermark=1,
    )
    plain = ask("who bought a red kayak")
    order = [scored.memory_id for scored in index.hybrid(replace(plain, subject="ann"))]
    assert set(order) == {"mem_hers", "mem_his", "mem_whose"}
    assert order[-1] == "mem_his"
    assert [scored.memory_id for scored in index.hybrid(replace(plain, subject="bob"))][-1] == "mem_hers"


def test_what_was_said_beside_a_memory_shows_in_no_score_where_the_filter_hides_it(index: SearchIndex) -> None:
    said = make("I mended it after supper", name="said", episode="epi_1")
    apart = make("The kayak leaks at the bow", name="leak", episode="epi_2", status="archived")
    beside = make("The kayak leaks at the bow", name="leak", episode="epi_1", status="archived", revision=2)
    active = replace(ask("who mended the leaking kayak after supper"), filter=scope_filter(ANN))
    index.apply([said, apart], watermark=1)
    [before] = index.hybrid(active)
    index.apply([beside], watermark=2)
    assert index.hybrid(active) == [before]


def test_an_index_without_vectors_searches_by_words(lexical_index: SearchIndex) -> None:
    fill(lexical_index, HOBBIES, embedded=False)
    query = ask("cello")
    assert contents_of(lexical_index, lexical_index.hybrid(query)) == ["Ann sold her piano and bought a cello"]
    assert lexical_index.dense(query) == []


def test_a_query_without_words_runs_on_its_vector(index: SearchIndex) -> None:
    fill(index, HOBBIES)
    query = replace(ask(HOBBIES[4]), text="")
    assert contents_of(index, index.hybrid(query))[0] == HOBBIES[4]


# -- floor


@pytest.mark.parametrize("nonsense", ["asdf qwer zxcv", "blorp fnord zibble", "8841 jjj kkk"])
def test_a_nonsense_query_finds_nothing(index: SearchIndex, lexical_index: SearchIndex, nonsense: str) -> None:
    for one in (index, lexical_index):
        fill(one, HOBBIES, embedded=one is index)
        assert one.hybrid(ask(nonsense)) == []
        assert one.hybrid(ask("cello")), "the control is found"


def test_a_topic_that_was_never_stored_finds_nothing(index: SearchIndex) -> None:
    fill(index, HOBBIES)
    assert index.hybrid(ask("which telescope lens magnifies Saturn best")) == []
    assert index.hybrid(ask("what is the quarterly revenue forecast")) == []


@pytest.mark.parametrize("odd", ["", "   ", "```", "|", "/", "the of and", "\\", "'\"%_*", "\x00", "AND OR NOT", "🤷"])
def test_odd_queries_are_answered_with_nothing(index: SearchIndex, odd: str) -> None:
    fill(index, ["Cello, mint, rye"])
    assert index.hybrid(ask(odd, embedded=False)) == []
    assert index.lexical(ask(odd, embedded=False)) == []


# -- text


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("The answer is 42", "42"),
        ("Она живёт в городе Москва", "Москва"),
        ("昨日カフェで会いました", "カフェ"),
        ("저는 서울에서 살아요", "서울"),
        ("The proxy listens on port 9077", "port 9077"),
        ("He writes C++ at work", "C++"),
        ("We chose node.js for the gateway", "node.js"),
        ("Mail ann@example.org about it", "ann@example.org"),
        ("We met at the café", "cafe"),
        ("We met at the cafe", "café"),
        ("Sie wohnt in München", "munchen"),
        ("她喜欢茉莉花茶", "茶"),
        ("我每年春天都热爱在优胜美地攀岩", "攀岩"),
        ("أحب القهوة في الصباح", "القهوة"),
        ("मुझे हिन्दी पसंद है", "हिन्दी"),
        ("ฉันชอบภาษาไทย", "ภาษาไทย"),
        ("Friday is 🍕 night", "🍕"),
    ],
)
def test_words_of_any_script_are_found(lexical_index: SearchIndex, content: str, query: str) -> None:
    fill(lexical_index, [*HOBBIES, content], embedded=False)
    assert contents_of(lexical_index, lexical_index.hybrid(ask(query, embedded=False)))[:1] == [content]


# -- scopes


def test_a_search_never_crosses_users_or_projects(index: SearchIndex) -> None:
    other = Scope(project_id="other", user_id="ann")
    text = "Ann's locker code is 4411"
    index.apply([make(text, name=scope.key, scope=scope) for scope in (ANN, BOB, other)], watermark=1)
    for scope in (ANN, BOB, other):
        for found in (index.hybrid(ask(text, scope=scope)), index.lexical(ask(text, scope=scope))):
            assert [scored.memory_id for scored in found] == [f"mem_{scope.key}"]
        assert index.count(scope.partition, None) == 1
    everyone = Scope(user_id="")
    assert {s.memory_id for s in index.hybrid(ask(text, scope=everyone))} == {f"mem_{ANN.key}", f"mem_{BOB.key}"}


def test_ids_with_any_characters_stay_apart(index: SearchIndex) -> None:
    scopes = [Scope(user_id=user) for user in ("a:b", "a/b", "a", "b", "🦊", "a'b", "%")]
    index.apply([make("the same words", name=scope.key, scope=scope) for scope in scopes], watermark=1)
    for scope in scopes:
        assert [s.memory_id for s in index.hybrid(ask("same words", scope=scope))] == [f"mem_{scope.key}"]


def test_an_unknown_user_has_nothing(index: SearchIndex) -> None:
    fill(index, HOBBIES)
    nobody = Scope(user_id="nobody")
    assert index.hybrid(ask("cello", scope=nobody)) == []
    assert index.scan(nobody.partition, None).memories == ()
    assert index.count(nobody.partition, None) == 0


def test_archived_memories_are_kept_and_left_out_by_the_scope_filter(index: SearchIndex) -> None:
    index.apply([make("Ann lives in Berlin", name="old"), make("Ann lives in Paris", name="new")], watermark=1)
    index.apply([make("Ann lives in Berlin", name="old", revision=2, status="archived", embedded=False)], watermark=2)
    active = scope_filter(ANN)
    assert [s.memory_id for s in index.hybrid(ask("Ann lives", filter=active))] == ["mem_new"]
    assert {s.memory_id for s in index.hybrid(ask("Ann lives"))} == {"mem_old", "mem_new"}
    assert index.count(ANN.partition, active) == 1


# -- filters


def test_filters_apply_before_the_top_k(index: SearchIndex) -> None:
    fill(index, [f"Ann waters plant number {number}" for number in range(300)], metadata={"wing": "east"})
    index.apply([make("Somebody waters a plant", name="rare", metadata={"wing": "west"})], watermark=2)
    west = parse_filter({"metadata.wing": "west"})
    for leg in (index.hybrid, index.lexical, index.dense):
        assert [s.memory_id for s in leg(ask("Ann waters plant number", filter=west, k=1))] == ["mem_rare"]


def _varied() -> list[Document]:
    later = BEGAN + timedelta(days=30)
    return [
        make("Plain", name="plain", mentions=("ent_2",)),
        make("Told in the App", name="app", scope=Scope("default", "ann", "app", "bot", "s1"), minute=1),
        make("A profile", name="profile", mem_type="profile", property_name="city", entity_id="ent_1",
             entity_type="person", minute=2, mentions=("ent_2", "ent_3"), valid_from=BEGAN, valid_to=later),
        make("Tagged", name="tagged", minute=3, status="archived", valid_to=BEGAN,
             metadata={"tag": "x", "n": 3, "ok": True, "list": ["a", "b"], "none": None, "text": "3", "empty": ""}),
        make("Flagged", name="flagged", minute=4, metadata={"tag": "y", "n": 1.0, "ok": False, "text": "TRUE"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given",
    [
        {"memory_id": "mem_app"}, {"memory_id": {"in": ["mem_app", "mem_none"]}}, {"memory_id": {"ne": "mem_app"}},
        {"user_id": "ann"}, {"user_id": "bob"}, {"user_id": "*"}, {"user_id": {"nin": ["ann"]}},
        {"app_id": "app"}, {"app_id": "*"}, {"app_id": {"ne": "app"}}, {"app_id": ""}, {"agent_id": "bot"},
        {"session_id": {"in": ["s1", "s2"]}}, {"session_id": {"nin": ["s1"]}},
        {"mem_type": "profile"}, {"mem_type": {"nin": ["fact"]}}, {"status": "archived"}, {"status": {"ne": "active"}},
        {"property_name": "city"}, {"property_name": "*"}, {"entity_id": "ent_1"}, {"entity_type": {"eq": "person"}},
        {"mentions": "ent_2"}, {"mentions": {"in": ["ent_2", "ent_3"]}}, {"mentions": {"ne": "ent_2"}},
        {"mentions": {"nin": ["ent_3"]}}, {"mentions": "*"}, {"mentions": "ent_1"},
        {"mentions": "ent_2", "mem_type": "profile"}, {"entity_id": "ent_1", "mentions": "ent_2"},
        {"metadata.tag": "x"}, {"metadata.tag": "*"}, {"metadata.tag": {"ne": "x"}},
        {"metadata.tag": {"in": ["x", "y"]}},
        {"metadata.n": 3}, {"metadata.n": 1}, {"metadata.n": "3"}, {"metadata.ok": True}, {"metadata.ok": False},
        {"metadata.n": True}, {"metadata.text": "TRUE"}, {"metadata.text": 3}, {"metadata.list": "b"},
        {"metadata.list": {"nin": ["b"]}}, {"metadata.none": "*"}, {"metadata.empty": "*"}, {"metadata.missing": "*"},
        {"validate_from": "*"}, {"validate_to": {"gt": "2024-05-02T00:00:00Z"}},
        {"validate_to": {"lte": "2024-05-01T09:00:00+00:00"}},
        {"validate_from": {"gte": "2024-05-01T11:00:00+02:00"}}, {"validate_from": "2024-05-01T09:00:00Z"},
        {"created_at": {"gte": "2024-05-01T09:02:00Z", "lt": "2024-05-01T09:04:00Z"}},
        {"updated_at": {"gt": "2024-05-01T09:03:00Z"}},
        {"content": {"contains": "App"}}, {"content": {"contains": "app"}}, {"content": {"icontains": "APP"}},
        {"content": "Plain"}, {"content": "*"}, {"OR": [{"status": "archived"}, {"app_id": "app"}]},
        {"NOT": [{"status": "archived"}, {"app_id": "app"}]},
        {"AND": [{"status": "active"}, {"NOT": [{"metadata.tag": "*"}]}]},
        {"status": "active", "mem_type": {"in": ["fact", "profile"]}},
    ],
    ids=str,
)  # fmt: skip
def test_every_filter_means_what_the_reference_says(index: SearchIndex, given: dict[str, object]) -> None:
    documents = _varied()
    index.apply(documents, watermark=1)
    parsed = parse_filter(given)
    wanted = {d.memory.memory_id for d in documents if matches(parsed, d.memory, d.created_at)}
    assert names(index, ANN.partition, given) == wanted
    assert index.count(ANN.partition, parsed) == len(wanted)
    found = index.dense(ask("Plain Told in the App A profile Tagged Flagged", filter=parsed))
    assert {scored.memory_id for scored in found} <= wanted


def test_validity_filters_keep_what_is_true_at_a_time(index: SearchIndex) -> None:
    index.apply(_varied(), watermark=1)
    at = BEGAN + timedelta(days=1)
    running = {m.memory_id for m in index.scan(ANN.partition, not_ended(at)).memories}
    assert running == {"mem_plain", "mem_app", "mem_profile", "mem_flagged"}
    early = {m.memory_id for m in index.scan(ANN.partition, valid_at(BEGAN - timedelta(days=1))).memories}
    assert early == {"mem_plain", "mem_app", "mem_tagged", "mem_flagged"}
    exactly = {m.memory_id for m in index.scan(ANN.partition, valid_at(BEGAN)).memories}
    assert "mem_tagged" not in exactly, "an interval is half-open"


def test_an_operator_that_a_field_has_not_is_refused(index: SearchIndex) -> None:
    index.apply(_varied(), watermark=1)
    with pytest.raises(ValueError, match="app_id") as error:
        index.count(ANN.partition, Condition("app_id", "gt", "a"))
    assert index.count(ANN.partition, None) == 5, f"the index answers while {error.value} is still held"


# -- reading


def test_records_come_back_whole(index: SearchIndex) -> None:
    documents = _varied()
    index.apply(documents, watermark=1)
    ids = [document.memory.memory_id for document in documents]
    assert index.get([*ids, "mem_none"]) == {d.memory.memory_id: d.memory for d in documents}
    assert index.get([]) == {}


@pytest.mark.parametrize("order", ["newest", "id"])
def test_pages_join_without_gap_or_repeat_while_rows_are_added(index: SearchIndex, order: Any) -> None:
    fill(index, [f"Note {number}" for number in range(23)])
    before = {memory.memory_id for memory in index.scan(ANN.partition, None, limit=100).memories}
    seen: list[Any] = []
    cursor = None
    while True:
        page = index.scan(ANN.partition, None, order=order, cursor=cursor, limit=5)
        seen.extend(page.memories)
        cursor = page.cursor
        index.apply([make(f"Added after page {len(seen)}", minute=1000 + len(seen))], watermark=index.watermark() + 1)
        if cursor is None:
            break
    ids = [memory.memory_id for memory in seen]
    assert len(ids) == len(set(ids))
    assert before <= set(ids)
    keys = [(m.recorded_at, m.memory_id) if order == "newest" else m.memory_id for m in seen]
    assert keys == sorted(keys, reverse=order == "newest")


def test_a_foreign_cursor_is_refused(index: SearchIndex) -> None:
    fill(index, HOBBIES)
    cursor = index.scan(ANN.partition, None, limit=2).cursor
    assert cursor is not None
    for wrong in ("nonsense", "", cursor[:-4]):
        with pytest.raises(ValueError, match="cursor"):
            index.scan(ANN.partition, None, cursor=wrong)
    with pytest.raises(ValueError, match="cursor"):
        index.scan(ANN.partition, None, order="id", cursor=cursor)


def test_a_page_of_all_users_is_one_list(index: SearchIndex) -> None:
    index.apply([make("One", minute=1), make("Two", scope=BOB, minute=2), make("Three", minute=3)], watermark=1)
    found = index.scan(Partition("default", ""), None, limit=2)
    assert [memory.content for memory in found.memories] == ["Three", "Two"]
    rest = index.scan(Partition("default", ""), None, limit=2, cursor=found.cursor)
    assert [memory.content for memory in rest.memories] == ["One"]
    assert rest.cursor is None


# -- matching part by part


def test_memories_match_a_query_part_by_part_each_by_itself(index: SearchIndex, lexical_index: SearchIndex) -> None:
    for one in (index, lexical_index):
        documents = [make(content, embedded=one is index) for content in HOBBIES]
        one.apply(documents, watermark=1)
        wanted = [document.memory.memory_id for document in (documents[5], documents[0], documents[11])]
        found = one.align(ask("piano and watercolours"), wanted)
        assert found.memory_ids == tuple(wanted)
        assert found.scores.shape == (3, len(found.weights))
        assert found.scores.min() >= 0.0
        assert found.scores.max() <= 1.0 + 1e-6
        assert float(found.weights.sum()) == pytest.approx(1.0, abs=1e-5)
        piano, paint, cat = (found.scores @ found.weights).tolist()
        assert min(piano, paint) > cat
        assert float(found.scores.max(axis=0) @ found.weights) > max(piano, paint)
        alone = one.align(ask("piano and watercolours"), wanted[:1])
        np.testing.assert_allclose(alone.scores, found.scores[:1], atol=1e-6)


def test_what_the_filter_leaves_out_or_nobody_knows_matches_nothing(index: SearchIndex) -> None:
    index.apply([make("Ann sold her piano", name="kept"), make("Ann tuned her piano", name="gone", status="archived")],
                watermark=1)  # fmt: skip
    index.apply([make("Bob sold his piano", name="bobs", scope=BOB)], watermark=2)
    everything = ["mem_gone", "mem_none", "mem_bobs", "mem_kept"]
    active = replace(ask("piano"), filter=parse_filter({"status": "active"}))
    assert index.align(active, everything).memory_ids == ("mem_kept",)
    assert index.align(ask("piano"), everything).memory_ids == ("mem_gone", "mem_kept")
    assert index.align(ask("piano"), []).memory_ids == ()
    whole = replace(ask("piano"), partition=Partition("default", ""))
    assert index.align(whole, everything).memory_ids == ()


# -- people


def test_speakers_and_others_that_are_spoken_of_are_known_archived_ones_too(index: SearchIndex) -> None:
    assert index.people(ANN.partition).speakers == frozenset()
    index.apply(
        [
            make("I moved", name="a", speaker="José", entity_name="José", entity_type="person"),
            make("Mia called", name="b", speaker="José", entity_name="Mia", entity_type="person", status="archived"),
            make("Acme closed", name="c", speaker="José", entity_name="Acme", entity_type="organization"),
        ],
        watermark=1,
    )
    known = index.people(ANN.partition)
    assert (known.speakers, known.others) == ({"jose"}, {"mia"})
    assert index.people(BOB.partition).speakers == index.people(Partition("default", "")).speakers == frozenset()
