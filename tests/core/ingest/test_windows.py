import time
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import at, message

from mindmem.core.ingest.turns import group_turns
from mindmem.core.ingest.windows import MAX_PIECES, TOOL_PIECES, pack_windows
from mindmem.core.language.words import estimate_tokens


def said(texts, **fields):
    return [message(text, position=place, **fields) for place, text in enumerate(texts)]


def test_a_turn_ends_with_the_role_the_speaker_and_a_long_pause():
    minute = 1 / 1440
    spoken = [
        message("a", timestamp=at(0)),
        message("b", timestamp=at(29 * minute), position=1),
        message("c", timestamp=at(60 * minute), position=2),
        message("d", timestamp=at(61 * minute), position=3, name="Bob"),
        message("e", timestamp=at(61 * minute), position=4, name="Bob", role="assistant"),
        message("f", timestamp=None, position=5, name="Bob", role="assistant"),
    ]
    turns = group_turns(spoken, 1_800)
    assert [[one.content for one in turn.messages] for turn in turns] == [["a", "b"], ["c"], ["d"], ["e", "f"]]


def test_a_pause_of_exactly_the_gap_does_not_end_a_turn():
    spoken = [message("a", timestamp=at(0)), message("b", timestamp=at(1_800 / 86_400), position=1)]
    assert len(group_turns(spoken, 1_800)) == 1
    assert len(group_turns(spoken, 1_799)) == 2


def test_sessions_that_were_handed_in_interleaved_are_told_apart():
    spoken = [message(text, session=session) for text, session in (("a", "x"), ("b", "y"), ("c", "x"), ("d", "y"))]
    windows = pack_windows(group_turns(spoken))
    assert [[one.content for one in window.evidence] for window in windows] == [["a", "c"], ["b", "d"]]
    assert all(not window.before and not window.after for window in windows)


def test_two_short_messages_make_one_window():
    [window] = pack_windows(group_turns(said(["Hi", "I moved to Oslo."])))
    assert [one.content for one in window.evidence] == ["Hi", "I moved to Oslo."]
    assert window.offsets == ()


def test_a_window_closes_at_the_soft_size_and_shows_its_neighbours_as_context():
    spoken = [message("x" * 80, position=place, name=f"N{place}") for place in range(4)]  # 25 tokens each
    windows = pack_windows(group_turns(spoken), soft_tokens=40, hard_tokens=60)
    assert [len(window.evidence) for window in windows] == [2, 2]
    assert windows[0].after == (spoken[2], spoken[3])
    assert windows[1].before == (spoken[0], spoken[1])


def test_a_turn_that_fits_below_the_hard_size_is_not_cut():
    spoken = [message("x" * 40, name="A"), *said(["y" * 80, "z" * 80], name="B")]
    windows = pack_windows(group_turns(spoken), soft_tokens=20, hard_tokens=60)
    assert [[one.content[0] for one in window.evidence] for window in windows] == [["x"], ["y", "z"]]


def test_an_over_long_message_is_cut_at_ends_of_sentences_and_found_again_by_its_offset():
    text = "".join(f"Sentence number {place} is here. " for place in range(40))
    stored = message(text)
    windows = pack_windows(group_turns([stored]), soft_tokens=100, hard_tokens=120)
    assert 1 < len(windows) <= MAX_PIECES
    pieces = [(window.evidence[0], (window.offsets or (0,))[0]) for window in windows]
    assert "".join(piece.content for piece, _ in pieces) == text
    assert all(text[offset : offset + len(piece.content)] == piece.content for piece, offset in pieces)
    assert all(piece.content.endswith(". ") for piece, _ in pieces)
    assert {piece.message_id for piece, _ in pieces} == {stored.message_id}


def test_a_far_too_long_message_is_compacted_to_head_and_tail_with_a_marked_cut():
    text = "HEAD " + "word " * 20_000 + "TAIL"
    for role, most in (("user", MAX_PIECES), ("tool", TOOL_PIECES)):
        windows = pack_windows(group_turns([message(text, role=role)]), soft_tokens=100, hard_tokens=120)
        contents = [window.evidence[0].content for window in windows]
        assert len(contents) == most
        assert contents[0].startswith("HEAD ")
        assert contents[-1].endswith("TAIL")
        assert sum("characters left out" in content for content in contents) == 1
        assert all(window.tokens <= 120 for window in windows)
        last = windows[-1]
        assert text[last.offsets[0] :] == last.evidence[0].content


def test_ten_million_characters_are_packed_in_time_linear_in_their_number():
    began = time.process_time()
    windows = pack_windows(group_turns([message("word " * 2_000_000, name="A")]))
    assert time.process_time() - began < 2
    assert len(windows) == MAX_PIECES


def test_a_picture_without_words_is_evidence():
    [window] = pack_windows(group_turns([replace(message(""), caption="a dog on a beach")]))
    assert window.evidence[0].caption == "a dog on a beach"


TEXT = st.text(st.sampled_from("ab 。.\n好"), max_size=300)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TEXT, st.sampled_from("AB"), st.sampled_from("xy")), max_size=12), st.integers(30, 90))
def test_nothing_is_lost_and_the_order_is_kept_in_windows_of_bounded_size(spoken, hard):
    stored = [
        message(text, name=name, session=session, position=place) for place, (text, name, session) in enumerate(spoken)
    ]
    turns = group_turns(stored)
    windows = pack_windows(turns, soft_tokens=hard // 2, hard_tokens=hard)
    ordered = [one for turn in turns for one in turn.messages]
    shown = {}
    for window in windows:
        assert window.tokens <= hard
        assert len({one.message_id for one in window.evidence}) == len(window.evidence)
        assert len({one.scope.session_id for one in window.evidence}) == 1
        for piece, offset in zip(window.evidence, window.offsets or (0,) * len(window.evidence), strict=True):
            assert offset == len(shown.get(piece.message_id, ""))
            shown[piece.message_id] = shown.get(piece.message_id, "") + piece.content
    assert list(shown) == [one.message_id for one in ordered]
    assert shown == {one.message_id: one.content for one in ordered}
    cut = {one.message_id for one in ordered if estimate_tokens(one.content) + 4 > hard}
    for turn in turns:
        size = sum(estimate_tokens(one.content) + 4 for one in turn.messages)
        if size <= hard:
            homes = {
                w.index
                for w in windows
                for one in w.evidence
                if one.message_id in {m.message_id for m in turn.messages}
            }
            assert len(homes) == 1
        else:
            assert cut or len(turn.messages) > 1
