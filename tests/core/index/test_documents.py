"""What of a memory is searched and embedded."""

from support.documents import memory

from mindmem.core.index.documents import embed_text, fields_of, vector_key


def test_fields_hold_the_words_once_and_leave_out_what_is_empty() -> None:
    plain = memory("Ann lives in Berlin", value="Berlin", speaker="Ann", entity_name="Ann", property_name="home_town")
    assert fields_of(plain) == {"content": "Ann lives in Berlin", "subject": "Ann home town"}


def test_a_value_in_other_words_is_a_key() -> None:
    dated = memory("We moved on the first of May", value="2024-05-01", context="Ann: where to?")
    assert fields_of(dated)["keys"] == "2024-05-01"
    assert fields_of(dated)["context"] == "Ann: where to?"


def test_the_speaker_leads_the_embedded_text_unless_it_is_named() -> None:
    assert embed_text(memory("I moved", speaker="Ann")) == "Ann: I moved"
    assert embed_text(memory("ann moved", speaker="Ann")) == "ann moved"
    assert embed_text(memory("I planned it", speaker="Ann")) == "Ann: I planned it"
    assert embed_text(memory("C++? (yes)", speaker="C++")) == "C++? (yes)"
    assert embed_text(memory("I moved")) == "I moved"


def test_equal_text_in_equal_context_has_one_vector_key() -> None:
    here, there = memory("I moved", context="where to?"), memory("I moved", context="where to?", name="other")
    assert vector_key(here) == vector_key(there)
    assert vector_key(here) != vector_key(memory("I moved", context="when?"))
    assert vector_key(here) != vector_key(memory("I moved", context="where to?", speaker="Ann"))
