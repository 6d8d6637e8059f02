import pytest
from support.builders import candidate, memory, request

from mindmem.core.ingest.gate import Gated, gate
from mindmem.core.reason.port import Failed, Judged, Resolution, Unsure
from mindmem.core.records import Skip
from mindmem.core.settings import IngestSettings

SETTINGS = IngestSettings()
OLD = memory("Ann lives in Oslo", prop="home", value="Oslo")
NEW = candidate("Ann lives in Rome", prop="home", value="Rome")


def judged(op, **fields):
    return Judged(Resolution(op, "because", fields.pop("targets", (OLD.memory_id,)), **fields))


def passed(verdict, asked=NEW, settings=SETTINGS):
    found = gate(request(asked, OLD), verdict, settings)
    assert isinstance(found, Gated)
    return found


@pytest.mark.parametrize(
    ("op", "enough", "fields"),
    [("update", 0.7, {}), ("merge", 0.8, {"merged_content": "Ann lives in Rome, not Oslo"})],
)
def test_an_operation_needs_its_confidence_and_becomes_an_add_with_a_link_below_it(op, enough, fields):
    assert passed(judged(op, confidence=enough, **fields)).resolution.op == op
    below = passed(judged(op, confidence=enough - 0.01, **fields))
    assert (below.resolution.op, below.resolution.targets, below.resolution.related) == ("add", (), (OLD.memory_id,))
    assert "below" in below.resolution.reason
    assert below.recalled == (OLD,)


def test_a_candidate_needs_confidence_of_its_own():
    assert isinstance(
        gate(request(candidate("Ann lives in Rome", confidence=0.75)), judged("add", targets=()), SETTINGS), Gated
    )
    skipped = gate(request(candidate("Ann lives in Rome", confidence=0.74)), judged("add", targets=()), SETTINGS)
    assert isinstance(skipped, Skip)
    assert "0.74" in skipped.reason


@pytest.mark.parametrize("op", ["update", "merge", "reinforce"])
@pytest.mark.parametrize("targets", [(), ("mem_12",)])
def test_an_unknown_or_missing_target_makes_an_add(op, targets, caplog):
    found = passed(judged(op, targets=targets, merged_content="x"))
    assert (found.resolution.op, found.resolution.targets, found.resolution.related) == ("add", (), ())
    assert "no known target" in caplog.text
    assert "Rome" not in caplog.text


def test_unknown_targets_beside_known_ones_are_dropped():
    found = passed(judged("update", targets=("mem_12", OLD.memory_id)))
    assert (found.resolution.op, found.resolution.targets) == ("update", (OLD.memory_id,))


@pytest.mark.parametrize("verdict", [Unsure("two people of that name"), Failed("no reply", transient=False)])
def test_without_a_judgement_the_candidate_is_kept_and_linked(verdict):
    found = passed(verdict)
    assert (found.resolution.op, found.resolution.related) == ("add", (OLD.memory_id,))
    assert verdict.reason in found.resolution.reason


@pytest.mark.parametrize("content", ["...", "-", "", "¡!"])
def test_content_without_a_letter_or_number_is_skipped(content):
    assert gate(request(candidate(content)), judged("add", targets=()), SETTINGS) == Skip(
        candidate(content).sources[0].message_id, "no letter or number"
    )


def test_a_candidate_without_a_source_is_skipped():
    assert isinstance(
        gate(request(candidate("Ann lives in Rome", sources=())), judged("add", targets=()), SETTINGS), Skip
    )


def test_a_skip_keeps_the_reasoners_reason():
    found = gate(request(NEW, OLD), judged("skip"), SETTINGS)
    assert isinstance(found, Skip)
    assert found.reason == "because"


def test_updates_and_merges_can_be_switched_off():
    off = IngestSettings(resolve_updates=False, resolve_merges=False)
    for op in ("update", "merge"):
        assert passed(judged(op, merged_content="words"), settings=off).resolution.op == "add"
        assert passed(judged(op, merged_content="words")).resolution.op == op


def test_a_merge_without_words_is_refused():
    assert passed(judged("merge", merged_content=" ")).resolution.op == "add"
