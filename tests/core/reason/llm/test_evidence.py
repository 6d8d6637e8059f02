"""Evidence: quotes found where they stand, halves that lose nothing."""

from hypothesis import given
from hypothesis import strategies as st
from support.extraction import said

from mindmem.core.reason.llm.evidence import Shown, halves, locate

WORDS = st.lists(
    st.sampled_from(["Ann", "sold", "2", "bikes", "“old”", "它们", "straße", "ﬁne", "\n", "İ"]), min_size=3, max_size=30
)


def shown(content: str) -> Shown:
    return Shown(said(content), 0, ((0, len(content)),))


@given(WORDS, st.data())
def test_a_stretch_of_a_message_is_found_however_it_is_spaced_and_cased(words: list[str], data: st.DataObject) -> None:
    content = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    part = words[first:last]
    source, found = locate("\n | ".join(part).upper() if data.draw(st.booleans()) else "  ".join(part), shown(content))
    if any(word.strip() for word in part):
        assert found
        assert content[source.start : source.end].casefold().split() == " ".join(part).casefold().split()


@given(st.lists(st.text(alphabet="ab. \n。", min_size=1, max_size=700), min_size=1, max_size=6))
def test_halves_hold_all_of_the_evidence_in_order(contents: list[str]) -> None:
    evidence = [shown(content) for content in contents]
    parts = halves(evidence)
    if parts is None:
        assert len(contents) == 1
        assert len(contents[0]) < 400
        return
    first, second = parts
    assert first
    assert second
    assert "".join(one.text for one in (*first, *second)) == "".join(contents)
