"""Settings of models of many rows."""

import numpy as np
import pytest
from helpers.averages import log_loss_of_residuals, mean_alpha_by_hand
from helpers.machines import read
from helpers.moments_by_hand import moments_of, refitted

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.features import Landmarks
from hilbertlearn.leave_one_out import Reservoir
from hilbertlearn.losses import Huber, Squared
from hilbertlearn.selection import n_patterns, select_alpha, select_stream_settings
from hilbertlearn.spaces import VectorSpace
from hilbertlearn.training import MomentProblem, Options, alpha_grid

N, R, D = 40, 6, 3
rng = np.random.default_rng(0)
Z = rng.normal(size=(N, R))
Y = np.c_[np.sin(Z[:, 0]), Z[:, 1] ** 2, Z.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 50, -2]


def test_alpha_is_the_weighted_mean_of_the_grid_by_refits():
    problem = MomentProblem(moments_of(Z, Y))
    kept = Reservoir.empty(R, D).with_rows(Z, Y, None)
    alpha, trials = select_alpha(problem, kept, VectorSpace())
    scale = (Z**2).sum() / N
    grid = alpha_grid(scale)[::2]
    log_losses = [log_loss_of_residuals(refitted(Z, Y, None, one * N, True, np.ones(N)), Y) for one in grid]
    assert alpha == pytest.approx(mean_alpha_by_hand(grid, log_losses, N, scale), rel=1e-6)
    assert [trial.alpha for trial in trials] == pytest.approx(grid) and trials[0].n_samples == N


# ---------------------------------------------------------------- settings selected by some rows


def settings(alpha="auto", loss=None, y=Y, passes=True, **more):
    model = OperatorKernelRegressor(**{"kernel": "rbf", "gamma": 0.1, "feature_map": 8, "scale": False, **more})
    samples = read(model, Z, y)
    return select_stream_settings(samples, Squared() if loss is None else loss, alpha, Options(), passes)


def test_alpha_of_the_squared_loss_is_left_to_all_rows():
    squared = settings()
    assert squared.penalty is None and squared.trials == () and not squared.is_selected
    assert squared.kernel.n_components == 8 and squared.M is None
    assert squared.smoother(10.0).penalty is None


def test_other_losses_keep_the_penalty_of_these_rows():
    huber = settings(loss=Huber())
    assert huber.penalty > 0 and huber.loss.kappa > 0 and huber.selected_bounds == ("kappa",) and huber.is_selected
    smoother = huber.smoother(10.0)
    assert smoother.penalty == 10 * huber.penalty and smoother.loss.kappa == 10 * huber.loss.kappa
    assert settings(loss=Huber(0.5), alpha=1e-3).penalty is None


def test_an_open_kernel_is_selected_by_these_rows():
    searched = settings(gamma="auto")
    assert searched.trials and searched.penalty > 0
    assert len({str(trial.gamma) for trial in searched.trials}) > 3


def test_coupled_outputs_with_gaps_may_need_passes():
    operator = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.5], [0.2, 0.5, 1.0]])
    assert settings(operator=operator).penalty > 0
    assert settings(operator=operator, passes=False).penalty is None


def test_fewer_rows_than_landmarks_are_said():
    with pytest.warns(UserWarning, match="of which 50 landmarks were to be chosen"):
        settings(feature_map=Landmarks(50))


def test_patterns_of_missing_values_are_counted():
    gaps = Y.copy()
    gaps[::4, 0] = gaps[::4, 1] = np.nan
    gaps[1, 2] = np.nan
    read_gaps = read(OperatorKernelRegressor(scale=False), Z, gaps)
    assert n_patterns(read_gaps) == 2 and n_patterns(read(OperatorKernelRegressor(), Z, Y)) == 1
