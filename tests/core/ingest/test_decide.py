from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import NOON, SCOPE, at, candidate, mention, message, request

from mindmem.core import ids
from mindmem.core.ingest.decide import decide
from mindmem.core.ingest.gate import gate
from mindmem.core.ingest.memories import new_memory
from mindmem.core.reason.rules.resolve import RulesResolver
from mindmem.core.records import Skip, Source
from mindmem.core.settings import IngestSettings


class Store:
    """What the ledger would hold: heads and edges, filled by plans alone."""

    def __init__(self):
        self.memories = {}
        self.edges = {}
        self.entities = {}
        self.seq = 0

    async def add(self, *candidates, messages=(), metadata=None, now=None):
        """Resolve and decide candidates of one add as the pipeline does, and apply the plan."""
        stored = [one for one in self.memories.values() if one.status == "active"]
        owners = {one.message_id: one for one in messages}
        requests = []
        for place, asked in enumerate(candidates):
            batch = [new_memory(one, SCOPE, owners) for one in candidates[:place]]
            own = new_memory(asked, SCOPE, owners).memory_id
            requests.append(request(asked, *(one for one in (*stored, *batch) if one.memory_id != own)))
        verdicts = await RulesResolver().resolve(requests)
        outcomes = [gate(asked, verdict, IngestSettings()) for asked, verdict in zip(requests, verdicts, strict=True)]
        timelines = {}
        for one in self.memories.values():
            timelines.setdefault((one.entity_id, one.property_name), []).append(one)
        plan = decide(
            [one for one in outcomes if not isinstance(one, Skip)],
            scope=SCOPE,
            messages=messages,
            base_version=self.seq,
            timelines=timelines,
            recorded=self.memories,
            entities=self.entities,
            metadata=metadata,
            skips=[one for one in outcomes if isinstance(one, Skip)],
            now=now,
        )
        self.apply(plan)
        return plan

    def apply(self, plan):
        self.seq += 1
        claims = Counter()
        for action in plan.actions:
            one = action.memory
            held = self.memories.get(one.memory_id)
            assert one.revision == (held.revision + 1 if held else 1)
            assert (one.recorded_at, one.change_id, one.seq) == (None, "", 0)
            self.memories[one.memory_id] = replace(one, recorded_at=at(1_000 + self.seq), seq=self.seq)
        for one in self.memories.values():
            claims[one.content_hash] += one.status == "active"
        assert max(claims.values(), default=0) <= 1, "an active claim is unique in its scope"
        for entity in plan.entities:
            assert entity.entity_id not in self.entities
            self.entities[entity.entity_id] = entity
        for edge in plan.edges:
            self.edges[(edge.src, edge.relation, edge.dst, edge.kind, edge.start, edge.end)] = edge

    def active(self):
        return [one.content for one in self.memories.values() if one.status == "active"]

    def history(self):
        """Content, status and validity in event order."""
        rows = [
            (one.content, one.status, one.valid_from or one.observed_at, one.valid_to) for one in self.memories.values()
        ]
        return sorted(rows, key=lambda row: (row[2] is None, row[2] or NOON, row[0]))

    def linked(self, relation, kind=None):
        """Active edges between memories, as pairs of contents."""
        return {
            (self.memories[edge.src].content, self.memories[edge.dst].content)
            for edge in self.edges.values()
            if edge.relation == relation and edge.active and kind in (None, edge.kind)
        }


def home(place, day, **fields):
    said = message(f"I live in {place}", timestamp=None if day is None else at(day))
    return candidate(f"Ann lives in {place}", said, prop="home", value=place, single_valued=True, **fields)


def taste(content, day, **fields):
    said = message(content, timestamp=at(day))
    return candidate(content, said, prop="likes", value="Chinese food", mem_type="profile", **fields)


async def test_a_new_claim_is_added_with_everything_that_it_rests_on():
    store = Store()
    said = message("I live in Oslo with Bob")
    asked = candidate(
        "Ann lives in Oslo with Bob",
        said,
        prop="home",
        value="Oslo",
        mentions=(mention("Oslo", "place"), mention("Bob", "person")),
    )
    plan = await store.add(asked, messages=(said,), metadata={"topic": "move"})
    [action] = plan.actions
    made = action.memory
    assert (action.op, made.revision, made.status, made.metadata) == ("add", 1, "active", {"topic": "move"})
    assert made.scope.session_id == "s1"
    assert made.memory_id == ids.memory_id(SCOPE.key, made.entity_id, "home", made.content, said.message_id)
    assert {entity.name: entity.entity_type for entity in plan.entities} == {
        "Ann": "person",
        "Oslo": "place",
        "Bob": "person",
    }
    kinds = Counter(edge.relation for edge in plan.edges)
    assert kinds == {"HAS_PROPERTY": 1, "EXTRACTED_FROM": 1, "MENTIONS": 2}
    [source] = [edge for edge in plan.edges if edge.relation == "EXTRACTED_FROM"]
    assert (source.src, source.dst, source.start, source.end) == (made.memory_id, said.message_id, 0, len(said.content))
    assert plan.messages == (said,)
    again = await store.add(candidate("Ann knows Bob", message("I know Bob"), mentions=(mention("Bob", "person"),)))
    assert again.entities == ()


async def test_one_name_is_one_entity_however_it_is_written():
    store = Store()
    for place, name in enumerate(("DGIA", "dgia", " DGIA ", "ＤＧＩＡ")):
        await store.add(candidate(f"Report {place}", message(f"Report {place}"), about=name, prop="report"))
    assert [entity.name for entity in store.entities.values()] == ["DGIA"]
    await store.add(candidate("Report 9", message("Report 9"), about="DGIB", prop="report"))
    assert len(store.entities) == 2


async def test_the_same_claim_said_again_reinforces_and_other_fields_stay():
    store = Store()
    await store.add(home("Oslo", 0))
    plan = await store.add(home("Oslo", 3))
    [action] = plan.actions
    assert (action.op, action.memory.revision, action.memory.reinforcement_count) == ("reinforce", 2, 2)
    assert len(action.memory.sources) == 2
    assert 0.9 < action.memory.confidence < 1
    assert (action.memory.observed_at, action.memory.status) == (at(0), "active")
    assert [edge.relation for edge in plan.edges] == ["EXTRACTED_FROM"]
    await store.add(home("Rome", 4))
    assert len(store.memories) == 2


async def test_a_row_keeps_eight_sources_and_the_edges_keep_all():
    store = Store()
    for day in range(12):
        await store.add(home("Oslo", day))
    [kept] = store.memories.values()
    assert (len(kept.sources), kept.reinforcement_count) == (8, 12)
    assert sum(edge.relation == "EXTRACTED_FROM" for edge in store.edges.values()) == 12


async def test_a_message_that_was_remembered_already_reinforces_nothing():
    store = Store()
    await store.add(home("Oslo", 0))
    plan = await store.add(home("Oslo", 0))
    assert plan.actions == ()
    assert len(plan.skips) == 1
    await store.add(home("Rome", 1))
    plan = await store.add(home("Oslo", 0))
    assert (plan.actions, store.active()) == ((), ["Ann lives in Rome"])


async def test_love_then_hate_leaves_the_new_one_active_and_both_in_history():
    store = Store()
    await store.add(taste("I love Chinese food", 0))
    plan = await store.add(taste("I hate Chinese food", 1, polarity=-1))
    assert store.active() == ["I hate Chinese food"]
    assert store.history() == [
        ("I love Chinese food", "archived", at(0), at(1)),
        ("I hate Chinese food", "active", at(1), None),
    ]
    assert [action.op for action in plan.actions] == ["archive", "update"]
    assert store.linked("RELATED_TO", "supersedes") == {("I hate Chinese food", "I love Chinese food")}
    assert store.linked("NEXT") == {("I love Chinese food", "I hate Chinese food")}


async def test_a_different_taste_leaves_both_active():
    store = Store()
    await store.add(taste("I love Chinese food", 0))
    await store.add(
        candidate("I hate Thai food", message("I hate Thai food"), prop="likes", value="Thai food", polarity=-1)
    )
    assert len(store.active()) == 2
    assert store.linked("RELATED_TO", "supersedes") == set()


async def test_two_contradictory_claims_of_one_add_leave_the_later_one():
    store = Store()
    plan = await store.add(home("Oslo", 0), home("Rome", 0))
    assert store.active() == ["Ann lives in Rome"]
    assert all(action.memory.revision == 1 for action in plan.actions)
    assert len(store.memories) == 2
    other = Store()
    await other.add(home("Rome", 0), home("Oslo", 0))
    assert other.active() == ["Ann lives in Oslo"]


async def test_a_value_that_returns_is_a_new_memory_on_the_timeline():
    for together in (True, False):
        store = Store()
        values = [home("Berlin", 0), home("Paris", 1), home("Berlin", 2)]
        if together:
            await store.add(*values)
        else:
            for one in values:
                await store.add(one)
        assert store.history() == [
            ("Ann lives in Berlin", "archived", at(0), at(1)),
            ("Ann lives in Paris", "archived", at(1), at(2)),
            ("Ann lives in Berlin", "active", at(2), None),
        ]


async def test_a_stored_value_that_returns_within_one_add_is_new_again():
    store = Store()
    await store.add(home("Berlin", 0))
    await store.add(home("Paris", 1), home("Berlin", 2))
    assert [(row[0], row[1]) for row in store.history()] == [
        ("Ann lives in Berlin", "archived"), ("Ann lives in Paris", "archived"), ("Ann lives in Berlin", "active"),
    ]  # fmt: skip


async def test_an_old_value_that_arrives_late_takes_its_place_in_the_past():
    store = Store()
    await store.add(home("Rome", 10))
    plan = await store.add(home("Oslo", 0))
    assert store.active() == ["Ann lives in Rome"]
    assert store.history()[0] == ("Ann lives in Oslo", "archived", at(0), at(10))
    assert [action.op for action in plan.actions] == ["add"]
    assert store.linked("RELATED_TO", "supersedes") == {("Ann lives in Rome", "Ann lives in Oslo")}


async def test_a_late_repetition_of_a_past_value_confirms_that_one():
    store = Store()
    for one in (home("Oslo", 0), home("Rome", 10), home("Oslo", 5)):
        await store.add(one)
    assert [(row[0], row[1]) for row in store.history()] == [
        ("Ann lives in Oslo", "archived"),
        ("Ann lives in Rome", "active"),
    ]
    assert {one.content: one.reinforcement_count for one in store.memories.values()} == {
        "Ann lives in Oslo": 2, "Ann lives in Rome": 1,
    }  # fmt: skip


async def test_a_value_that_begins_in_the_future_leaves_the_present_one_active_until_then():
    store = Store()
    await store.add(home("Oslo", 0))
    await store.add(home("Rome", 1, valid_from=at(30)))
    assert store.history() == [
        ("Ann lives in Oslo", "active", at(0), at(30)),
        ("Ann lives in Rome", "active", at(30), None),
    ]
    past = Store()
    await past.add(home("Oslo", 0))
    await past.add(home("Rome", 40, valid_from=at(30)))
    assert past.history()[0] == ("Ann lives in Oslo", "archived", at(0), at(30))


async def test_without_any_time_the_later_arrival_is_the_newer_and_the_end_is_now():
    store = Store()
    await store.add(home("Oslo", None), now=at(1))
    await store.add(home("Rome", None), now=at(2))
    assert store.active() == ["Ann lives in Rome"]
    assert {one.content: one.valid_to for one in store.memories.values()} == {
        "Ann lives in Oslo": at(2), "Ann lives in Rome": None,
    }  # fmt: skip


async def test_an_add_confirms_a_claim_once_however_often_it_repeats_it():
    store = Store()
    spoken = [
        candidate(text, message(text, position=n), prop="mood")
        for n, text in enumerate(("Ann is tired", "Ann is very tired"))
    ]
    await store.add(*spoken)
    [kept] = store.memories.values()
    assert (kept.reinforcement_count, len(kept.sources), kept.revision) == (1, 2, 1)
    await store.add(candidate("Ann is so tired", message("Ann is so tired"), prop="mood"))
    assert next(iter(store.memories.values())).reinforcement_count == 2


async def test_what_was_recorded_before_and_archived_since_is_no_target_of_its_own_add():
    store = Store()
    for one in (home("Oslo", 0), home("Rome", 1)):
        await store.add(one)
    plan = await store.add(home("Oslo", 0), home("Bonn", 2))
    assert store.active() == ["Ann lives in Bonn"]
    assert [skip.reason for skip in plan.skips] == ["recorded already"]


async def test_a_value_of_the_middle_closes_all_active_ones_before_it():
    store = Store()
    for place, day in (("Oslo", 0), ("Bonn", 1)):
        await store.add(replace(home(place, day), single_valued=None))
    await store.add(replace(home("Kyiv", 9), single_valued=None))
    await store.add(home("Rome", 5))
    assert store.active() == ["Ann lives in Kyiv"]
    assert {row[0]: row[3] for row in store.history()} == {
        "Ann lives in Oslo": at(5), "Ann lives in Bonn": at(5), "Ann lives in Rome": at(9), "Ann lives in Kyiv": None,
    }  # fmt: skip


async def test_a_completion_rewords_the_memory_and_keeps_its_id():
    store = Store()
    await store.add(candidate("Ann keeps bees", message("a"), prop="hobby", value="bees"))
    plan = await store.add(candidate("Ann keeps bees in the garden", message("b"), prop="hobby", value="bees"))
    [kept] = store.memories.values()
    assert [action.op for action in plan.actions] == ["merge"]
    assert (kept.content, kept.revision, len(kept.sources)) == ("Ann keeps bees in the garden", 2, 2)
    assert kept.content_hash == ids.content_hash(kept.content)


async def test_values_beside_each_other_are_joined_in_event_order_not_in_arrival_order():
    store = Store()
    for day in (3, 1, 2):
        await store.add(candidate(f"Ann read book {day}", message(f"book {day}", timestamp=at(day)), prop="reading"))
    assert len(store.active()) == 3
    assert store.linked("NEXT") == {("Ann read book 1", "Ann read book 2"), ("Ann read book 2", "Ann read book 3")}


async def test_related_memories_are_linked():
    store = Store()
    await store.add(candidate("Ann grows tomatoes on the balcony", message("a")))
    plan = await store.add(candidate("Ann waters tomatoes on the balcony daily", message("b")))
    assert store.linked("RELATED_TO", "related") == {
        ("Ann waters tomatoes on the balcony daily", "Ann grows tomatoes on the balcony")
    }
    assert len(plan.actions[0].related) == 1


async def test_memories_that_were_taken_out_by_hand_do_not_push_a_value_into_the_past():
    store = Store()
    await store.add(home("Oslo", 0))
    await store.add(home("Rome", 10))
    rome = next(one for one in store.memories.values() if one.content == "Ann lives in Rome")
    store.memories[rome.memory_id] = replace(rome, status="archived", revision=2)
    await store.add(home("Bonn", 5))
    await store.add(home("Lima", 7))
    assert store.active() == ["Ann lives in Lima"]


PLACES = ("Oslo", "Rome", "Bonn", "Kyiv", "Lima")


@settings(max_examples=40, deadline=None)
@given(st.permutations(list(range(5))), st.lists(st.booleans(), min_size=5, max_size=5), st.integers(2, 5))
async def test_the_timeline_does_not_depend_on_arrival_or_on_how_values_are_grouped_into_adds(order, together, count):
    values = [home(place, day) for day, place in enumerate(PLACES[:count])]
    expected = Store()
    for one in values:
        await expected.add(one)
    shuffled = Store()
    group = []
    for place in (place for place in order if place < count):
        group.append(values[place])
        if not together[place]:
            await shuffled.add(*group)
            group = []
    if group:
        await shuffled.add(*group)
    assert shuffled.history() == expected.history()
    assert shuffled.active() == [f"Ann lives in {PLACES[count - 1]}"]
    assert shuffled.linked("NEXT") == expected.linked("NEXT")
    assert shuffled.linked("RELATED_TO", "supersedes") == expected.linked("RELATED_TO", "supersedes")


async def test_deciding_twice_on_the_same_state_gives_the_same_plan():
    first, second = Store(), Store()
    for store in (first, second):
        await store.add(home("Oslo", 0))
    assert await first.add(home("Rome", 1), taste("I love Chinese food", 1)) == await second.add(
        home("Rome", 1), taste("I love Chinese food", 1)
    )


@pytest.mark.parametrize("spans", [[(0, 4)], [(0, 4), (5, 9)]])
async def test_each_span_of_a_message_is_an_edge(spans):
    said = message("I live here now")
    sources = tuple(Source(said.message_id, start, end) for start, end in spans)
    plan = await Store().add(candidate("Ann lives here", said, sources=sources), messages=(said,))
    assert [(edge.start, edge.end) for edge in plan.edges if edge.relation == "EXTRACTED_FROM"] == spans
