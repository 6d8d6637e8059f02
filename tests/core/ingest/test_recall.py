from dataclasses import replace

import numpy as np
import pytest
from support.builders import SCOPE, candidate, memory, mention

from mindmem.core.embed.port import EmbedderIdentity, Embedding
from mindmem.core.index.documents import document
from mindmem.core.index.embedded.index import EmbeddedIndex
from mindmem.core.ingest.memories import new_memory
from mindmem.core.ingest.recall import recall
from mindmem.core.records import Scope

WORDS = ("home", "food", "work", "pets")


def vector(word):
    made = np.zeros(len(WORDS), dtype=np.float32)
    made[WORDS.index(word)] = 1.0
    return made


@pytest.fixture
def index(tmp_path):
    opened = EmbeddedIndex(tmp_path / "index.db", "g1", create=True, embedder=EmbedderIdentity("test", "1", len(WORDS)))
    yield opened
    opened.close()


def fill(index, *memories, topics=()):
    pairs = zip(memories, topics or ("work",) * len(memories), strict=True)
    documents = [document(one, one.recorded_at, Embedding(vector(topic))) for one, topic in pairs]
    index.apply(documents, watermark=len(documents) + index.watermark())


def recalled(index, *candidates, claims=None, vectors=None, scope=SCOPE, top=5):
    memories = [new_memory(one, scope, {}) for one in candidates]
    found = recall(candidates, memories, scope, index=index, claims=claims or {}, vectors=vectors, top=top)
    return [[one.content for one in asked.recalled] for asked in found.requests]


def test_nothing_is_known_in_an_empty_store(index):
    assert recalled(index, candidate("Ann lives in Oslo")) == [[]]


def test_the_same_property_of_the_same_entity_comes_first(index):
    stored = [memory(f"Ann said thing {n}", seq=n) for n in range(1, 20)]
    fill(index, memory("Ann lives in Rome", prop="home", value="Rome", seq=30), *stored)
    [found] = recalled(index, candidate("Her new flat is downtown", prop="home", value="downtown"))
    assert found[0] == "Ann lives in Rome"
    assert len(found) == 5


def test_shared_words_find_a_memory_about_another_entity(index):
    fill(
        index,
        memory("The garden has roses", about="Bob", seq=1),
        *(memory(f"Carl did {n}", about="Carl", seq=n) for n in range(2, 30)),
    )
    assert "The garden has roses" in recalled(index, candidate("Ann waters roses in the garden"))[0]


def test_a_mentioned_entity_finds_what_is_known_about_it(index):
    noise = [memory(f"Carl did {n}", about="Carl", seq=n) for n in range(10, 40)]
    fill(index, memory("likes long walks", about="Bob", seq=1), *noise)
    asked = candidate("Ann met him")
    assert "likes long walks" not in recalled(index, asked, top=1)[0]
    assert recalled(index, replace(asked, mentions=(mention("Bob", "person"),)), top=1)[0] == ["likes long walks"]


def test_vectors_find_what_shares_no_word(index):
    noise = [memory(f"Carl did {n}", about="Carl", seq=n) for n in range(10, 40)]
    fill(index, memory("prefers noodles", about="Bob", seq=1), *noise, topics=("food", *("work",) * 30))
    asked = candidate("Ann cooks ramen")
    assert recalled(index, asked, vectors=[vector("food")], top=1) == [["prefers noodles"]]
    assert recalled(index, asked, top=1) != [["prefers noodles"]]


def test_the_same_active_claim_short_circuits(index):
    stored = memory("Ann lives in Oslo", prop="home", seq=1)
    fill(index, stored, memory("Ann lives in a flat", prop="home", seq=2))
    asked = candidate("ann lives in oslo.", prop="home")
    assert recalled(index, asked, claims={stored.content_hash: stored.memory_id}) == [["Ann lives in Oslo"]]
    assert len(recalled(index, asked)[0]) == 2


def test_archived_memories_and_those_of_other_owners_are_not_recalled(index):
    others = [
        memory("Ann lives in Rome", prop="home", seq=1, status="archived"),
        memory("Ann lives in Bonn", prop="home", seq=2, scope=Scope(user_id="bob")),
        memory("Ann lives in Kyiv", prop="home", seq=3, scope=replace(SCOPE, agent_id="tutor")),
        memory("Ann lives in Lima", prop="home", seq=4, scope=replace(SCOPE, app_id="chat")),
        memory("Ann lives in Cork", prop="home", seq=5, scope=replace(SCOPE, project_id="other")),
    ]
    fill(index, *others, memory("Ann lives in Oslo", prop="home", seq=6))
    assert recalled(index, candidate("Ann lives in Paris", prop="home")) == [["Ann lives in Oslo"]]
    tutor = replace(SCOPE, agent_id="tutor")
    assert recalled(index, candidate("Ann lives in Paris", prop="home"), scope=tutor) == [["Ann lives in Kyiv"]]


def test_timelines_hold_archived_values_too(index):
    fill(
        index,
        memory("Ann lives in Rome", prop="home", seq=1, status="archived"),
        memory("Ann lives in Oslo", prop="home", seq=2),
    )
    asked = candidate("Ann lives in Paris", prop="home")
    made = new_memory(asked, SCOPE, {})
    found = recall([asked], [made], SCOPE, index=index, claims={})
    assert [one.content for one in found.timelines[(made.entity_id, "home")]] == [
        "Ann lives in Oslo",
        "Ann lives in Rome",
    ]


def test_earlier_candidates_of_the_add_are_seen_as_what_they_would_become(index):
    values = [candidate(f"Ann lives in {place}", prop="home", single_valued=True) for place in ("Oslo", "Rome", "Bonn")]
    assert recalled(index, *values) == [[], ["Ann lives in Oslo"], ["Ann lives in Rome"]]
    several = [candidate(f"Ann likes {thing}", prop="likes") for thing in ("tea", "rum", "art", "sun", "ice")]
    assert recalled(index, *several)[-1] == ["Ann likes rum", "Ann likes art", "Ann likes sun"]
    apart = [candidate("Ann likes tea", prop="likes"), candidate("Bob likes tea", about="Bob", prop="likes")]
    assert recalled(index, *apart) == [[], []]


def test_a_claim_that_the_add_repeats_later_sees_its_first_saying(index):
    said = [candidate(f"Ann likes {thing}", prop="likes") for thing in ("tea", "rum", "art", "sun", "ice")]
    again = candidate("Ann likes tea!", prop="likes", value="again")
    assert recalled(index, *said, again)[-1][0] == "Ann likes tea"
