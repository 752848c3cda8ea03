"""Vectors: reading them, their scales, and messages about outputs without an observed value."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from hilbertlearn import IrregularFunctions, operators
from hilbertlearn.spaces import MetricVectorSpace, VectorSpace, output_scales, read_vectors

GAPS = np.array([[1.0, np.nan, 4.0], [3.0, 2.0, 4.0], [8.0, 6.0, 4.0]])
WEIGHTS = np.array([1.0, 2.0, 3.0])


def test_scales_are_weighted_standard_deviations_of_observed_values():
    first, second = [1, 3, 3, 8, 8, 8], [2, 2, 6, 6, 6]
    assert_allclose(output_scales(GAPS, WEIGHTS), [np.std(first), np.std(second), 1.0])


def test_robust_scales_are_mean_distances_from_the_median():
    values = np.array([1.0, 3.0, 3.0, 8.0, 8.0])[:, None]
    expected = np.sqrt(np.pi / 2) * np.mean(np.abs(values - 3.0))
    assert_allclose(output_scales(values, np.ones(5), robust=True), [expected])


@pytest.mark.parametrize("robust", [False, True])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e-200, -1e12])
def test_outputs_constant_up_to_rounding_have_the_scale_one(value, robust):
    y, weights = np.full((61, 1), value), np.r_[np.full(60, 0.3), 0.0]
    y[60] = 1e30  # without weight
    y[::7] = np.nan
    assert_array_equal(output_scales(y, weights, robust), 1.0)


def test_scales_of_coordinates_are_those_of_several_outputs():
    assert_allclose(VectorSpace().coordinate_scales(GAPS, WEIGHTS), output_scales(GAPS, WEIGHTS))
    assert VectorSpace().coordinate_scales(GAPS[:, :1], WEIGHTS) is None
    metric = MetricVectorSpace.from_outputs(GAPS[1:], np.eye(3), np.ones(2))
    assert metric.coordinate_scales(GAPS, WEIGHTS) is None


def test_outputs_without_an_observed_value_are_named():
    y = np.where(np.arange(3) == 1, np.nan, GAPS)
    space = VectorSpace()
    mask = space.unobserved_mask(y)
    assert_array_equal(mask, [False, True, False])
    assert "output 1 has no observed value, and is predicted as NaN" in space.unobserved_message(mask, None, True)
    assert "output 'b' has" in space.unobserved_message(mask, ["a", "b", "c"], False)
    assert "around 0 (center=False)" in space.unobserved_message(mask, None, False)
    assert space.unobserved_message(np.zeros(3, dtype=bool), None, True) == ""


def test_what_vectors_are_read_from():
    assert read_vectors(GAPS) is GAPS
    assert_array_equal(read_vectors([[1, None], [2, 3]]), [[1, np.nan], [2, 3]])
    assert_array_equal(read_vectors([1, 2]), [1.0, 2.0])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (IrregularFunctions([[0.0, 1.0]], [[1.0, 2.0]]), "use FunctionalRegressor"),
        (np.array(["2001-01-01"], dtype="M8[D]"), "dates or durations"),
        (["a", "b"], r"numbers of shape \(n,\) or \(n, d\)"),
        ([[1.0, np.inf]], "infinity"),
    ],
)
def test_what_vectors_are_not(y, words):
    with pytest.raises(ValueError, match=words):
        read_vectors(y)


def test_a_metric_needs_rows_that_are_known_as_a_whole():
    with pytest.raises(ValueError, match="each row of y must be observed completely"):
        MetricVectorSpace.from_outputs(GAPS, np.eye(3), WEIGHTS)
    rows = np.vstack([GAPS[1:], np.full((1, 3), np.nan)])
    space = MetricVectorSpace.from_outputs(rows, operators.Covariance(), np.ones(3))
    assert np.isnan(space.encode(rows)[2]).all()


def test_a_metric_of_low_rank_is_inverted_on_its_range():
    A = np.ones((3, 3))
    space = MetricVectorSpace.from_outputs(GAPS[1:], A, np.ones(2))
    assert_allclose(space.root @ space.root, A, atol=1e-12)
    assert_allclose(space.decode(space.encode(GAPS[1:])), GAPS[1:] @ A / 3, atol=1e-12)
