"""The projection: the vendored matrix, and the fit that made it."""

import numpy as np

from mindmem.core.embed.projection import fit_projection, load_projection


def test_the_vendored_matrix_has_the_shape_that_the_identity_names() -> None:
    matrix = load_projection()
    assert matrix.shape == (384, 96)
    assert np.isfinite(matrix).all()
    assert not matrix.flags.writeable


def test_the_fit_keeps_the_directions_that_vary_most() -> None:
    rng = np.random.default_rng(0)
    states = rng.normal(size=(500, 6)).astype(np.float32) * np.array([9, 5, 3, 0.1, 0.1, 0.1], dtype=np.float32)
    matrix = fit_projection(states, 3)
    assert np.abs(matrix[:3]).max() > 10 * np.abs(matrix[3:]).max()


def test_the_fit_is_the_same_for_the_same_text_in_another_order() -> None:
    states = np.random.default_rng(1).normal(size=(200, 8)).astype(np.float32)
    assert np.allclose(fit_projection(states, 4), fit_projection(states[::-1].copy(), 4), atol=1e-4)
