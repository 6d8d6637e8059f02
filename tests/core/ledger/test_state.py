"""Watermarks never go back; named values can be set by comparison and under a fence."""

import pytest
from support.ledgers import ANN, claim, revising

from mindmem.core.errors import LeaseLost
from mindmem.core.ledger.port import Fence, Head
from mindmem.core.ledger.sql import SqlLedger


def test_a_watermark_never_goes_back(ledger: SqlLedger) -> None:
    assert ledger.watermark("index") == 0
    for seq in (5, 3, 7, 6):
        ledger.set_watermark("index", seq)
    assert ledger.watermark("index") == 7
    assert ledger.watermark("other") == 0
    ledger.set_watermark("index:b", 3)
    ledger.set_watermark("in_ex", 4)
    assert ledger.watermarks("in") == {"in_ex": 4, "index": 7, "index:b": 3}
    assert ledger.watermarks("in_") == {"in_ex": 4}


def test_a_named_value_is_set_and_replaced(ledger: SqlLedger) -> None:
    assert ledger.get_meta("generation") is None
    assert ledger.set_meta("generation", "g1")
    assert ledger.set_meta("generation", "g2")
    assert ledger.get_meta("generation") == "g2"


def test_a_comparison_that_fails_leaves_the_value(ledger: SqlLedger) -> None:
    assert not ledger.set_meta("generation", "g2", expected="g1")
    assert ledger.get_meta("generation") is None
    ledger.set_meta("generation", "g1")
    assert not ledger.set_meta("generation", "g3", expected="g2")
    assert ledger.set_meta("generation", "g2", expected="g1")
    assert ledger.get_meta("generation") == "g2"


def test_only_the_first_sets_a_value_that_was_never_set(ledger: SqlLedger) -> None:
    assert ledger.set_meta("generation", "g1", expected="")
    assert not ledger.set_meta("generation", "g2", expected="")
    assert ledger.get_meta("generation") == "g1"


def test_a_value_under_a_lost_fence_is_not_set(ledger: SqlLedger) -> None:
    with pytest.raises(LeaseLost):
        ledger.set_meta("generation", "g1", fence=Fence("rebuild", 1))
    assert ledger.get_meta("generation") is None
    assert ledger.set_meta("generation", "g1", fence=ledger.acquire("rebuild", "me", 60).fence)


def test_heads_tell_where_the_log_stands_on_many_objects(ledger: SqlLedger) -> None:
    memories = [claim(f"claim {number}") for number in range(1500)]
    change = ledger.commit(revising(memories))
    found = ledger.heads("memory", [memory.memory_id for memory in memories])
    assert len(found) == 1500
    first = memories[0]
    assert found[first.memory_id] == Head(
        "memory", first.memory_id, ANN.partition, ANN.key, 1, "active", first.content_hash, change.change_id
    )
    assert len(ledger.active_claims(ANN.key, [memory.content_hash for memory in memories])) == 1500
    assert ledger.heads("memory", []) == {}
    assert ledger.active_claims(ANN.key, []) == {}
