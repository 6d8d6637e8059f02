"""Each model call is counted once, numbered without a gap, and never holds what was said."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from sqlalchemy import inspect, text
from support.builders import llm_call
from support.forks import together
from support.ledgers import ANN, BOB, adding, beside

from mindmem.core.ledger import schema
from mindmem.core.ledger.sql import SqlLedger, open_ledger
from mindmem.core.records import Scope
from mindmem.core.records.llm_call import Spent

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_call_comes_back_as_it_was_recorded(ledger: SqlLedger) -> None:
    call = llm_call(
        "c1", scope=Scope.of("ann", app_id="a", session_id="s"), run_id="r1", cost=None, outcome="unreadable",
        error="no_json", estimated=True, retries=2, latency_ms=12.25, called_at=NOON + timedelta(microseconds=1),
    )  # fmt: skip
    ledger.record_call(call)
    assert ledger.calls("default") == [call]
    assert ledger.calls("other") == []


def test_a_ledger_made_before_a_column_was_known_takes_it(ledger_url: str) -> None:
    with open_ledger(ledger_url) as ledger:
        ledger.record_call(llm_call("c1", error="no_json"))
    with beside(ledger_url) as connection:
        for column in schema.ADDED:
            connection.execute(text(f"ALTER TABLE {column.table.name} DROP COLUMN {column.name}"))
    with open_ledger(ledger_url) as ledger:
        assert ledger.calls("default") == [llm_call("c1", error="no_json")]
        ledger.record_call(llm_call("c2", estimated=True))
        assert [call.estimated for _, call in ledger.calls_after(0, 10)] == [False, True]


def test_a_repeated_call_is_kept_once_and_takes_no_number(ledger: SqlLedger) -> None:
    ledger.record_call(llm_call("c1"))
    ledger.record_call(llm_call("c1", input_tokens=999))
    ledger.record_call(llm_call("c2"))
    assert [(number, call.call_id, call.input_tokens) for number, call in ledger.calls_after(0, 10)] == [
        (1, "c1", 100), (2, "c2", 100),
    ]  # fmt: skip
    assert ledger.last_call() == 2


def test_nothing_spent_is_zero(ledger: SqlLedger) -> None:
    assert ledger.spent("default") == Spent()
    assert (ledger.last_call(), ledger.calls_after(0, 10), ledger.spending("default")) == (0, [], [])


def test_what_was_spent_is_told_by_run_by_user_and_since_a_moment(ledger: SqlLedger) -> None:
    ledger.record_call(llm_call("c1", run_id="r1", cost=0.5, called_at=NOON))
    ledger.record_call(llm_call("c2", run_id="r2", cost=0.25, called_at=NOON + timedelta(hours=1)))
    ledger.record_call(llm_call("c3", run_id="r2", cost=None, called_at=NOON + timedelta(hours=2), scope=BOB))
    ledger.record_call(
        llm_call("c4", run_id="r2", cost=0.0, cached=True, estimated=True, called_at=NOON + timedelta(hours=2))
    )
    ledger.record_call(llm_call("c5", scope=Scope.of("ann", project_id="other"), run_id="r2"))
    assert ledger.spent("default") == Spent(4, 400, 80, 0.75, 1, 1, 1)
    assert ledger.spent("default", run_id="r1") == Spent(1, 100, 20, 0.5, 0, 0)
    assert ledger.spent("default", since=NOON + timedelta(hours=1)).calls == 3
    assert ledger.spent("default", user_id="bob").unpriced == 1
    assert ledger.spent("default", run_id="r2", user_id="ann").cost == 0.25


def test_spending_is_told_by_quarter_of_an_hour_purpose_and_model(ledger: SqlLedger) -> None:
    for number, (minutes, purpose) in enumerate([(0, "extract"), (14, "extract"), (15, "extract"), (0, "judge")]):
        call = llm_call(f"c{number}", purpose=purpose, called_at=NOON + timedelta(minutes=minutes))
        ledger.record_call(call)
    found = [(slot.at - NOON, slot.purpose, slot.spent.calls) for slot in ledger.spending("default")]
    assert found == [
        (timedelta(0), "extract", 2), (timedelta(0), "judge", 1), (timedelta(minutes=15), "extract", 1),
    ]  # fmt: skip


def test_calls_are_listed_newest_first(ledger: SqlLedger) -> None:
    for number in range(4):
        ledger.record_call(llm_call(f"c{number}", called_at=NOON + timedelta(seconds=number)))
    assert [call.call_id for call in ledger.calls("default", limit=2)] == ["c3", "c2"]


def test_many_threads_number_their_calls_without_gap_or_double(ledger: SqlLedger) -> None:
    def record(thread: int) -> None:
        for number in range(10):
            ledger.record_call(llm_call(f"t{thread}-{number}"))

    threads = [threading.Thread(target=record, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = ledger.calls_after(0, 100)
    assert [number for number, _ in found] == list(range(1, 41))
    assert len({call.call_id for _, call in found}) == 40
    assert ledger.calls_after(38, 1) == [found[38]]


def test_a_ledger_made_before_there_were_calls_gets_its_tables_when_it_is_opened(ledger_url: str) -> None:
    with open_ledger(ledger_url) as ledger:
        ledger.commit(adding("one"))
    with beside(ledger_url) as connection:
        for table in (schema.llm_calls, schema.call_counter):
            table.drop(connection)
    both: list[Callable[[], None]] = [partial(open_and_record, ledger_url, f"c{number}") for number in range(2)]
    together(both)
    with open_ledger(ledger_url) as ledger:
        assert ledger.last_seq() == 1
        assert ledger.last_call() == 2
    with beside(ledger_url) as connection:
        assert inspect(connection).has_table(schema.llm_calls.name)


def open_and_record(url: str, call_id: str) -> None:
    with open_ledger(url) as ledger:
        ledger.record_call(llm_call(call_id))


def test_a_record_can_not_hold_contents() -> None:
    assert not {"content", "text", "messages", "reply", "raw"} & set(schema.llm_calls.c.keys())


@pytest.mark.parametrize("words", ["\x00", "\ud800", "naïve 漢字 🦊"])
def test_an_errors_words_survive_any_database(ledger: SqlLedger, words: str) -> None:
    ledger.record_call(replace(llm_call("c1"), error=words, scope=ANN))
    assert ledger.calls("default")[0].error == words
