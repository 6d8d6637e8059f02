from support.builders import at, candidate, extraction, mention, message, window

from mindmem.core.ingest.dedupe import dedupe
from mindmem.core.records import Skip, Source


def test_one_claim_said_in_two_windows_is_one_candidate_with_both_sources():
    first, second = message("I live in Oslo."), message("I live in Oslo", position=5, timestamp=at(1))
    one = candidate("Ann lives in Oslo.", first, confidence=0.8)
    other = candidate("Ann lives in  oslo", second, confidence=0.95, mentions=(mention("Oslo", "place"),))
    found = dedupe([(window(first), extraction(one)), (window(second, index=1), extraction(other))])
    [kept] = found.candidates
    assert [source.message_id for source in kept.sources] == [first.message_id, second.message_id]
    assert (kept.content, kept.confidence, kept.observed_at) == ("Ann lives in Oslo.", 0.95, at(0))
    assert kept.mentions == other.mentions
    assert found.skips == ()


def test_a_tool_loop_that_repeats_a_turn_eight_times_is_one_candidate_and_other_turns_stay():
    looped = [message("Reading file config.toml", role="tool", name="shell", position=place) for place in range(8)]
    other = message("Reading file settings.toml", role="tool", name="shell", position=8)
    claims = [candidate(one.content, one, mem_type="tool_trace") for one in (*looped, other)]
    found = dedupe([(window(*looped, other), extraction(*claims))])
    assert [one.content for one in found.candidates] == ["Reading file config.toml", "Reading file settings.toml"]
    assert len(found.candidates[0].sources) == 8


def test_the_type_that_says_more_wins_whichever_came_first():
    said = message("I live in Oslo.")
    pair = (
        candidate("I live in Oslo.", said, mem_type="episodic"),
        candidate("I live in Oslo.", said, mem_type="profile"),
    )
    for order in (pair, pair[::-1]):
        [kept] = dedupe([(window(said), extraction(*order))]).candidates
        assert kept.mem_type == "profile"


def test_a_claim_that_returns_after_another_value_stays_so_that_the_last_word_is_last():
    said = [message(text, position=place) for place, text in enumerate(("Berlin", "Paris", "Berlin"))]
    claims = [candidate(f"Ann lives in {one.content}", one, prop="home", value=one.content) for one in said]
    assert len(dedupe([(window(*said), extraction(*claims))]).candidates) == 3
    assert len(dedupe([(window(*said), extraction(claims[0], claims[2]))]).candidates) == 1


def test_sources_outside_the_evidence_do_not_count():
    said, other = message("I live in Oslo."), message("Not shown", position=1)
    real, foreign = Source(said.message_id, 0, 6), Source(other.message_id, 0, 3)
    claims = (
        candidate("Ann lives in Oslo", said, sources=(foreign, real)),
        candidate("Ann is a pilot", said, sources=(foreign,)),
        candidate("Ann is a baker", said, sources=()),
    )
    found = dedupe([(window(said), extraction(*claims))])
    assert [(one.content, one.sources) for one in found.candidates] == [("Ann lives in Oslo", (real,))]
    assert found.skips == (Skip(other.message_id, "no source in the evidence"), Skip("", "no source in the evidence"))


def test_a_span_beyond_its_message_becomes_the_whole_message():
    said = message("I live in Oslo.")
    spans = (Source(said.message_id, 3, 99), Source(said.message_id, -1, 2), Source(said.message_id, 5, 5))
    [kept] = dedupe([(window(said), extraction(candidate("Ann lives in Oslo", said, sources=spans)))]).candidates
    assert kept.sources == (Source(said.message_id, 0, 15),)


def test_spans_in_a_piece_of_a_message_lead_back_into_the_whole():
    piece = message("tail words")
    shown = window(piece, offsets=(1_000,))
    claim = candidate("Tail words", piece, sources=(Source(piece.message_id, 5, 10),))
    assert dedupe([(shown, extraction(claim))]).candidates[0].sources == (Source(piece.message_id, 1_005, 1_010),)


def test_what_holds_no_letter_or_number_is_not_a_claim():
    said = message("...")
    contents = ("...", "-", " ", "¿?", "42", "好")
    found = dedupe([(window(said), extraction(*(candidate(text, said) for text in contents)))])
    assert [one.content for one in found.candidates] == ["42", "好"]
    assert {skip.reason for skip in found.skips} == {"no letter or number"}


def test_every_message_of_the_evidence_is_a_source_or_named_as_skipped():
    said = [message(text, position=place) for place, text in enumerate(("I live in Oslo.", "lol", "hm"))]
    found = dedupe(
        [
            (
                window(*said),
                extraction(candidate("Ann lives in Oslo", said[0]), skipped=[(said[1].message_id, "small talk")]),
            )
        ]
    )
    assert found.skips == (Skip(said[1].message_id, "small talk"), Skip(said[2].message_id, "carries nothing"))
