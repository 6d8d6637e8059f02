"""Adds whose extraction waits for a model: how they overlap, what they are shown, and what becomes of failures."""

import asyncio
import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.builders import candidate, extraction
from support.scripted import Script, WaitingExtractor, waiting
from support.stores import open_store

from mindmem.core.cancel import Cancelled, cancellable
from mindmem.core.errors import BudgetReached, InvalidInput
from mindmem.core.ingest.failure import ExtractionFailed
from mindmem.core.ingest.inbox.batches import Source, read_batches
from mindmem.core.ingest.inbox.deliver import Undelivered, UndeliveredForNow, deliver
from mindmem.core.ingest.inbox.files import InboxFile, find_files
from mindmem.core.ingest.inbox.lines import read_lines
from mindmem.core.ingest.request import AddRequest
from mindmem.core.llm.port import account
from mindmem.core.memory import Memory
from mindmem.core.reason.port import Envelope, Failed, Hint, Judged, Resolution, ResolutionRequest, Unsure, Verdict
from mindmem.core.records import Receipt, Scope
from mindmem.core.records import Source as Span

CITIES = ("Oslo", "Rome", "Bergen", "Ghent", "Turin", "Lyon", "Porto", "Malmö", "Graz", "Brno", "Split", "Cork")


@pytest.fixture
def memory(tmp_path: Path):
    opened = narrowed(open_store(tmp_path / "home"), overlap=4)
    yield opened
    opened.close()


def narrowed(memory: Memory, **ingest: int) -> Memory:
    """Change settings of ingest."""
    settings = memory.services.settings
    memory.services.settings = settings.model_copy(update={"ingest": settings.ingest.model_copy(update=ingest)})
    return memory


def ask(memory: Memory, script: Script | None = None, seconds: float = 0.0, most: int = 16) -> WaitingExtractor:
    extractor = WaitingExtractor(seconds, most, script)
    memory.services.reasoner = waiting(extractor)
    return extractor


def sessions(number: int, users: int = 1, prefix: str = "s") -> list[AddRequest]:
    """Return adds of one message each; what is said of a home changes from one to the next."""
    return [
        AddRequest(
            messages=[{
                "role": "user", "name": "Ann", "timestamp": f"2026-02-{place % 28 + 1:02d}T10:00:00Z",
                "content": f"I live in {CITIES[place % len(CITIES)]}. My locker is number {place}.",
            }],
            scope=Scope.of(f"user{place % users}", session_id=f"s{place}"),
            key=f"{prefix}{place}",
        )
        for place in range(number)
    ]  # fmt: skip


def said(envelope: Envelope) -> str:
    return "\n".join(message.content for message in envelope.window.evidence)


def unless(word: str, otherwise: Verdict | Exception) -> Script:
    """Say something else of windows that hold a word."""
    return lambda envelope: otherwise if word in said(envelope) else None


def active(memory: Memory, user: str = "user0") -> list[str]:
    return sorted(one.content for one in memory.list(user_id=user, page_size=200).memories)


def state(memory: Memory, users: int) -> list[object]:
    """Return everything that is remembered, without the stamps of the run."""
    return [
        sorted(
            (one.memory_id, one.revision, one.content, one.status, one.valid_to, one.reinforcement_count)
            for one in memory.services.reader.memories(Scope.of(f"user{user}").partition)
        )
        for user in range(users)
    ]


# -- one add


def test_all_windows_of_an_add_are_extracted_in_one_call_on_one_state_of_the_store(memory: Memory) -> None:
    memory.add("Ann's boat is called Fram.", user_id="ann")
    extractor = ask(memory)
    narrowed(memory, soft_tokens=16, hard_tokens=24)
    lines = [{"role": "user", "content": f"The boat Fram has {n} sails and a mast of oak wood."} for n in range(6)]
    receipt = memory.add(lines, user_id="ann")
    [envelopes] = extractor.calls
    assert len(envelopes) == receipt.counts["windows"] > 3
    shown = [[one.content for one in envelope.recalled] for envelope in envelopes]
    assert shown == [["Ann's boat is called Fram."]] * len(envelopes)


def test_rules_are_shown_nothing_and_wait_for_nothing(memory: Memory) -> None:
    extractor = ask(memory)
    memory.services.reasoner = replace(memory.services.reasoner, recalls=False)
    memory.add("Ann's boat is called Fram.", user_id="ann")
    memory.add("The boat Fram leaks.", user_id="ann")
    assert [envelope.recalled for [envelope] in extractor.calls] == [(), ()]
    assert len(list(memory.add_each(sessions(3)))) == 3
    assert [len(call) for call in extractor.calls] == [1] * 5


def test_what_is_shown_is_the_owners_own_and_bounded(memory: Memory) -> None:
    for number in range(15):
        memory.add(f"The cellar of the harbour house holds crate {number}.", user_id="ann")
    memory.add("The cellar of the harbour house is flooded.", user_id="ben")
    extractor = ask(memory)
    memory.add("Something happened in the cellar of the harbour house.", user_id="ann")
    [[envelope]] = extractor.calls
    assert len(envelope.recalled) == 10
    assert {one.scope.user_id for one in envelope.recalled} == {"ann"}


def test_a_part_of_a_reply_that_cannot_be_read_is_set_aside_and_the_rest_goes_on(memory: Memory) -> None:
    def script(envelope: Envelope) -> Verdict:
        [message] = envelope.window.evidence
        good = candidate("Ann lives in Oslo.", message, prop="lives_in", value="Oslo")
        return Judged(replace(extraction(good), rejected=(("no type", '{"content": "\ud83d\x00"}'),)))

    ask(memory, script)
    receipt = memory.add("I live in Oslo.", user_id="ann", idempotency_key="k")
    assert [action.memory.content for action in receipt.actions] == ["Ann lives in Oslo."]
    [item] = memory.services.ledger.quarantined("default")
    assert receipt.quarantined == (item.quarantine_id,)
    assert (item.reason, item.scope.user_id, item.raw) == ("no type", "ann", '{"content": "?\ufffd"}')
    again = memory.add("I live in Oslo.", user_id="ann", idempotency_key="k")
    assert (again.repeated, again.quarantined) == (True, receipt.quarantined)
    assert len(memory.services.ledger.quarantined("default")) == 1


@pytest.mark.parametrize(
    ("verdict", "transient", "raw"),
    [
        (Failed("no answer within 5 s", transient=True), True, ""),
        (Failed("not JSON", transient=False, raw="Sure!"), False, "Sure!"),
        (Unsure("two readings"), False, ""),
    ],
)
def test_a_failed_extraction_writes_nothing_and_the_same_add_can_come_again(
    memory: Memory, verdict: Verdict, transient: bool, raw: str
) -> None:
    extractor = ask(memory, lambda _: verdict)
    with pytest.raises(ExtractionFailed) as caught:
        memory.add("I live in Oslo.", user_id="ann", idempotency_key="k")
    assert (caught.value.transient, caught.value.raw) == (transient, raw)
    assert (memory.status().last_seq, memory.status().quarantined) == (0, 0)
    extractor.script = None
    assert memory.add("I live in Oslo.", user_id="ann", idempotency_key="k").counts["add"] == 1


def test_one_failed_window_fails_its_add_with_what_the_model_wrote(memory: Memory) -> None:
    narrowed(memory, soft_tokens=16, hard_tokens=24)
    ask(memory, unless("third", Failed("not JSON", transient=False, raw="???")))
    lines = [f"The {name} shelf holds a large map of the old town of Ghent." for name in ("first", "second", "third")]
    with pytest.raises(ExtractionFailed) as caught:
        memory.add(lines, user_id="ann")
    assert caught.value.raw == "???"
    assert memory.status().last_seq == 0


def test_calls_are_charged_to_the_scope_and_the_run(memory: Memory) -> None:
    payers = []

    def script(envelope: Envelope) -> None:
        payers.append(account())

    ask(memory, script)
    memory.add("I live in Oslo.", user_id="ann", session_id="s", run_id="run_1")
    [payer] = payers
    assert (payer.scope.user_id, payer.scope.session_id, payer.run_id) == ("ann", "s", "run_1")
    assert account() is None


class Resolver:
    """Says the same of every candidate, and notes what it was asked."""

    def __init__(self, verdict: Verdict[Resolution]) -> None:
        self.verdict = verdict
        self.asked: list[ResolutionRequest] = []

    async def resolve(self, requests) -> list[Verdict[Resolution]]:
        self.asked.extend(requests)
        return [self.verdict for _ in requests]


def test_a_resolution_that_failed_for_now_leaves_the_add_to_a_later_try(memory: Memory) -> None:
    resolver = Resolver(Failed("overloaded", transient=True))
    memory.services.reasoner = replace(memory.services.reasoner, resolve=resolver)
    with pytest.raises(ExtractionFailed, match="overloaded") as caught:
        memory.add("I live in Oslo.", user_id="ann")
    assert caught.value.transient
    assert memory.status().last_seq == 0


@pytest.mark.parametrize("verdict", [Failed("not JSON", transient=False, raw="?"), Unsure("no idea")])
def test_what_no_resolver_can_say_is_kept_beside_what_is_known_linked_and_flagged(
    memory: Memory, verdict: Verdict[Resolution]
) -> None:
    [known] = memory.add("I live in Oslo.", user_id="ann").memory_ids
    memory.services.reasoner = replace(memory.services.reasoner, resolve=Resolver(verdict))
    [action] = memory.add("I live in Rome.", user_id="ann").actions
    assert (action.op, action.memory.flags, action.related) == ("add", ("unresolved",), (known,))
    assert memory.get(known).status == "active"


@pytest.mark.parametrize("known", [True, False], ids=["a memory that was shown", "an id of nowhere"])
def test_a_hint_reaches_the_resolver_with_its_target_if_that_was_shown(memory: Memory, known: bool) -> None:
    [target] = memory.add("Ann's boat is called Fram.", user_id="ann").memory_ids
    for number in range(12):
        memory.add(f"Shelf {number} holds a boat and a map.", user_id="ann")

    def script(envelope: Envelope) -> Verdict:
        [message] = envelope.window.evidence
        assert target in {one.memory_id for one in envelope.recalled}
        hint = Hint("update", target if known else "mem_12")
        return Judged(extraction(candidate("It was renamed Gjøa.", message, about="", prop="", hint=hint)))

    ask(memory, script)
    resolver = Resolver(Unsure("let the gate decide"))
    memory.services.reasoner = replace(memory.services.reasoner, resolve=resolver)
    memory.add("Fram was renamed Gjøa.", user_id="ann")
    [asked] = resolver.asked
    assert asked.candidate.hint == (Hint("update", target) if known else None)
    assert not known or target in {one.memory_id for one in asked.recalled}


# -- several adds


def test_adds_overlap_and_what_comes_of_them_does_not_depend_on_how_many_calls_are_in_flight(tmp_path: Path) -> None:
    states = []
    for most in (1, 8):
        memory = narrowed(open_store(tmp_path / f"{most}"), overlap=8)
        extractor = ask(memory, seconds=0.05, most=most)
        outcomes = list(memory.add_each(sessions(20, users=3)))
        assert [type(outcome) for outcome in outcomes] == [Receipt] * 20
        assert extractor.peak == most
        states.append(state(memory, 3))
        memory.close()
    assert states[0] == states[1]
    [home] = [one for one in states[0][0] if "live" in one[2] and one[3] == "active"]
    assert CITIES[18 % len(CITIES)] in home[2], "the latest word is the current one"


def test_a_wave_is_bounded_so_that_memory_is(memory: Memory) -> None:
    extractor = ask(memory, seconds=0.001, most=100)
    pulled = 0

    def requests():
        nonlocal pulled
        for request in sessions(10):
            pulled += 1
            yield request

    each = memory.add_each(requests())
    next(each)
    assert pulled == 4
    assert extractor.peak == 4
    assert len(list(each)) == 9


def test_the_same_add_twice_in_a_wave_is_one(memory: Memory) -> None:
    ask(memory)
    [first] = sessions(1)
    outcomes = list(memory.add_each([first, replace(first, key="other")]))
    assert [outcome.counts.get("add", 0) for outcome in outcomes] == [2, 2]
    assert (outcomes[0].repeated, outcomes[1].repeated) == (False, True)
    assert memory.status().last_seq == 1


def test_an_add_that_cannot_be_judged_does_not_stop_the_others(memory: Memory) -> None:
    extractor = ask(memory, unless("number 3.", Failed("not JSON", transient=False, raw="???")))
    outcomes = list(memory.add_each(sessions(6)))
    assert [place for place, outcome in enumerate(outcomes) if not isinstance(outcome, Receipt)] == [3]
    extractor.script = None
    [again] = memory.add_each(sessions(6)[3:4])
    assert again.counts["add"] >= 1


def test_nothing_more_is_asked_once_no_model_answers(memory: Memory) -> None:
    extractor = ask(memory, lambda _: Failed("no such host", transient=False))
    outcomes = list(memory.add_each(sessions(10)))
    assert len(outcomes) == len(extractor.calls) == 4
    assert memory.status().last_seq == 0


def test_a_spent_budget_stops_the_adds_and_leaves_what_was_not_judged(memory: Memory) -> None:
    ask(memory, unless("number 5.", BudgetReached("spent")))
    outcomes = list(memory.add_each(sessions(10)))
    assert [type(outcome) for outcome in outcomes] == [Receipt] * 5 + [BudgetReached] * 3
    with pytest.raises(BudgetReached):
        memory.add("My locker is number 5.", user_id="user0")
    assert memory.status().last_seq == 5


def test_a_refused_add_is_told_of_before_what_follows_it_is_taken(memory: Memory) -> None:
    ask(memory)
    three = sessions(3)
    wrong = replace(three[1], messages=[{"role": "boss", "content": "a"}])
    each = memory.add_each([three[0], wrong, three[2]])
    assert isinstance(next(each), Receipt)
    assert isinstance(next(each), InvalidInput)
    assert memory.status().last_seq == 1
    assert isinstance(next(each), Receipt)


def test_adds_of_a_wave_that_was_cut_off_are_shown_the_same_again(memory: Memory) -> None:
    list(memory.add_each(sessions(6, prefix="before")))
    shown: dict[str, tuple] = {}

    def script(envelope: Envelope) -> Exception | None:
        shown[said(envelope)] = envelope.recalled
        return RuntimeError("killed") if "number 7." in said(envelope) else None

    extractor = ask(memory, script)
    later = sessions(10)[6:]
    outcomes = list(memory.add_each(later))
    assert isinstance(outcomes[1], RuntimeError)
    first = shown[said_of(later[1])]
    for one in first:  # what it was shown has changed meanwhile
        if one.status == "active":
            memory.update(one.memory_id, content=f"{one.content} Really.")
    extractor.script = script
    list(memory.add_each(later))
    assert shown[said_of(later[1])] == first


def said_of(request: AddRequest) -> str:
    return request.messages[0]["content"]


def test_a_cancelled_run_stops_its_calls(memory: Memory) -> None:
    ask(memory, seconds=30.0)
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with cancellable(stop):
        outcomes = list(memory.add_each(sessions(6)))
    assert time.monotonic() - began < 5
    assert [type(outcome) for outcome in outcomes] == [Cancelled] * 4
    assert memory.status().last_seq == 0


# -- the queue


def enqueue(memory: Memory, number: int) -> list[str]:
    return [memory.enqueue(f"My locker is number {place}.", user_id="ann") for place in range(number)]


def waiting_adds(memory: Memory) -> dict[str, int]:
    """Return how often each queued add was tried before."""
    claimed = memory.services.ledger.claim("default", 100, "test", 60.0)
    memory.services.ledger.unclaim([one.add_id for one in claimed])
    return {one.add_id: one.attempts - 1 for one in claimed}


def test_queued_adds_overlap(memory: Memory) -> None:
    add_ids = enqueue(memory, 8)
    extractor = ask(memory, seconds=0.01)
    assert [receipt.add_id for receipt in memory.process_pending(6)] == add_ids[:6]
    assert extractor.peak == 4
    assert list(waiting_adds(memory)) == add_ids[6:]


def test_a_queued_add_that_failed_for_now_waits_and_the_others_go_on(memory: Memory) -> None:
    add_ids = enqueue(memory, 4)
    ask(memory, unless("number 1.", Failed("overloaded", transient=True)))
    assert [receipt.add_id for receipt in memory.process_pending()] == [add_ids[0], *add_ids[2:]]
    assert (memory.status().pending, memory.status().quarantined, waiting_adds(memory)) == (1, 0, {})


def test_a_queued_add_that_gets_no_readable_reply_is_set_aside_with_it(memory: Memory) -> None:
    add_ids = enqueue(memory, 3)
    ask(memory, unless("number 1.", Failed("not JSON", transient=False, raw="Sure! {")))
    receipts = memory.process_pending()
    assert [bool(receipt.quarantined) for receipt in receipts] == [False, True, False]
    kept = {item.quarantine_id: item for item in memory.services.ledger.quarantined("default")}
    request, reply = (kept[one] for one in receipts[1].quarantined)
    assert (request.origin, json.loads(request.raw)["messages"][0]["content"]) == (
        f"queue:{add_ids[1]}", "My locker is number 1.",
    )  # fmt: skip
    assert (reply.origin, reply.raw) == (f"reply:{add_ids[1]}", "Sure! {")
    assert memory.status().pending == 0


def test_queued_adds_that_no_model_answers_for_stay_pending(memory: Memory) -> None:
    enqueue(memory, 6)
    extractor = ask(memory, lambda _: Failed("wrong key", transient=False))
    assert memory.process_pending() == ()
    assert (memory.status().pending, memory.status().quarantined, len(extractor.calls)) == (6, 0, 4)


def test_a_spent_budget_puts_queued_adds_back_as_if_they_had_not_been_tried(memory: Memory) -> None:
    add_ids = enqueue(memory, 6)
    extractor = ask(memory, unless("number 2.", BudgetReached("spent")))
    assert [receipt.add_id for receipt in memory.process_pending()] == add_ids[:2]
    assert waiting_adds(memory) == dict.fromkeys(add_ids[2:], 0)
    extractor.script = lambda _: BudgetReached("spent")
    with pytest.raises(BudgetReached):
        memory.process_pending()
    assert waiting_adds(memory) == dict.fromkeys(add_ids[2:], 0)
    extractor.script = None
    assert len(memory.process_pending()) == 4


# -- the inbox


def batches(folder: Path, number: int):
    lines = [
        {"user_id": "ann", "session_id": f"s{n}", "role": "user", "content": f"My locker is number {n}."}
        for n in range(number)
    ]
    (folder / "chat.jsonl").write_text("\n".join(map(json.dumps, lines)))
    [file] = find_files(folder / "chat.jsonl")
    assert isinstance(file, InboxFile)
    return list(read_batches(file, read_lines(file.path), Source()))


def test_batches_of_an_inbox_overlap(memory: Memory, tmp_path: Path) -> None:
    extractor = ask(memory, seconds=0.01)
    done = deliver(batches(tmp_path, 6), memory, memory.services.ledger, run_id="r")
    assert (done.batches, done.stopped, extractor.peak) == (6, "", 4)
    assert len(done.change_ids) == 6
    assert deliver(batches(tmp_path, 6), memory, memory.services.ledger, run_id="q").repeated == 6


def test_a_batch_without_a_readable_reply_stays_pending_its_reply_is_kept_until_it_is_taken(
    memory: Memory, tmp_path: Path
) -> None:
    extractor = ask(memory, unless("number 3.", Failed("not JSON", transient=False, raw="Sure! {")))
    ledger = memory.services.ledger
    for _ in range(2):
        with pytest.raises(Undelivered) as caught:
            deliver(batches(tmp_path, 6), memory, ledger)
        assert (caught.value.delivered.batches, [gap.place for gap in caught.value.failures]) == (5, ["line 4"])
        assert [(item.raw, item.origin) for item in ledger.quarantined("default")] == [("Sure! {", "chat.jsonl")]
    extractor.script = None
    assert deliver(batches(tmp_path, 6), memory, ledger).batches == 6
    assert ledger.quarantined("default") == []


def test_a_batch_that_failed_for_now_is_left_to_the_retry_which_asks_for_it_alone(
    memory: Memory, tmp_path: Path
) -> None:
    extractor = ask(memory, unless("number 3.", Failed("overloaded", transient=True)))
    with pytest.raises(UndeliveredForNow) as caught:
        deliver(batches(tmp_path, 6), memory, memory.services.ledger)
    assert caught.value.delivered.batches == 5
    extractor.script, extractor.calls = None, []
    assert deliver(batches(tmp_path, 6), memory, memory.services.ledger).batches == 6
    assert len(extractor.calls) == 1


def test_a_spent_budget_is_no_failure_of_a_delivery(memory: Memory, tmp_path: Path) -> None:
    extractor = ask(memory, unless("number 5.", BudgetReached("1,000 of 1,000 tokens.")))
    done = deliver(batches(tmp_path, 10), memory, memory.services.ledger, run_id="one")
    assert (done.batches, done.stopped) == (5, "1,000 of 1,000 tokens.")
    extractor.script = None
    done = deliver(batches(tmp_path, 10), memory, memory.services.ledger, run_id="two")
    assert (done.batches, done.repeated, done.stopped) == (10, 5, "")


def test_parts_of_replies_that_cannot_be_read_are_told_of_by_line(memory: Memory, tmp_path: Path) -> None:
    def script(envelope: Envelope) -> Verdict:
        [message] = envelope.window.evidence
        made = candidate(message.content, message, sources=(Span(message.message_id, 0, 9),))
        bad = (("no type", "{}"),) if "number 1." in message.content else ()
        return Judged(replace(extraction(made), rejected=bad))

    ask(memory, script)
    done = deliver(batches(tmp_path, 3), memory, memory.services.ledger)
    [aside] = done.set_aside
    assert (aside.file, aside.line) == ("chat.jsonl", 2)
    [item] = memory.services.ledger.quarantined("default")
    assert aside.quarantine_id == item.quarantine_id


async def test_adds_overlap_in_the_async_twin_too(tmp_path: Path) -> None:
    from mindmem.core.async_memory import AsyncMemory

    memory = AsyncMemory(services=narrowed(open_store(tmp_path / "home"), overlap=4).services)
    extractor = WaitingExtractor(0.01)
    memory.memory.services.reasoner = waiting(extractor)
    outcomes = [outcome async for outcome in memory.add_each(sessions(5))]
    assert (len(outcomes), extractor.peak) == (5, 4)
    await memory.close()
    assert asyncio.get_running_loop().is_running()
