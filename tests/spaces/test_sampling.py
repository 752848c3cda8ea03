"""The map from coordinates to observed values, sample by sample, against dense matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn.spaces.sampling import block_sampling

D, SIZES = 3, (2, 4, 0, 1)
rng = np.random.default_rng(0)
BLOCKS = [rng.normal(size=(m, D)) for m in SIZES]
C, B = rng.normal(size=(len(SIZES), D)), rng.normal(size=(len(SIZES), max(SIZES)))
SAMPLING = block_sampling(BLOCKS, D)


def test_values_are_products_with_each_block():
    values = SAMPLING.push(C)
    for row, block, c in zip(values, BLOCKS, C, strict=True):
        assert_allclose(row[: len(block)], block @ c)
        assert_array_equal(row[len(block) :], 0.0)
    assert_allclose(SAMPLING.push(C[0])[1], BLOCKS[1] @ C[0])  # one row for all samples


def test_pull_is_the_adjoint_of_push():
    assert np.sum(SAMPLING.push(C) * B) == pytest.approx(np.sum(C * SAMPLING.pull(B)))


def test_some_of_the_samples():
    rows = [3, 1]
    assert_allclose(SAMPLING.take(rows).push(C[rows]), SAMPLING.push(C)[rows])
    assert SAMPLING.take(range(len(SIZES))) is SAMPLING


def test_what_is_observed():
    mask = np.arange(max(SIZES)) < np.array(SIZES)[:, None]
    assert_array_equal(SAMPLING.observed, mask.ravel())
    assert_allclose(SAMPLING.dense, np.vstack(BLOCKS))


def test_mean_gram_and_norm():
    assert_allclose(SAMPLING.mean_gram(), sum(block.T @ block for block in BLOCKS) / len(BLOCKS))
    largest = max(np.linalg.norm(block, 2) ** 2 for block in BLOCKS if len(block))
    assert largest <= SAMPLING.norm <= 1.06 * largest


def test_no_samples_and_no_values():
    assert block_sampling([], D).push(np.empty((0, D))).shape == (0, 0)
    assert block_sampling([np.empty((0, D))], D).push(C[:1]).shape == (1, 0)
