"""Every optimum agrees with an independent one: the primal problem of ``by_hand``, given to Clarabel."""

import itertools

import numpy as np
import pytest
from helpers.by_hand import (
    ALPHA,
    GAMMA,
    INF,
    LOSSES,
    OURS,
    N,
    check,
    fit,
    make,
    norms,
    operators,
    p_norms,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from hilbertlearn import OperatorKernelRegressor
from hilbertlearn.losses import Ball, EpsilonInsensitive, EpsilonSVR, Hinge, Huber, InfConv, Norm, PowerNorm, Squared

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


# ------------------------------------------------------------------ every loss, every kind of data

flag = pytest.mark.parametrize


def half_of_all():
    """For each loss half of the kinds of data, any three properties in all ways; the other half for the next loss."""
    for number, name in enumerate(LOSSES):
        for kind in itertools.product([False, True], repeat=4):
            if sum(kind) % 2 == number % 2:
                words = [word for word, on in zip(("many", "structured", "weighted", "missing"), kind) if on]
                yield pytest.param(name, *kind, id="-".join([name, *words]))


@flag(("name", "many", "structured", "weighted", "missing"), list(half_of_all()))
def test_optimum_and_gap(name, many, structured, weighted, missing):
    data, hand = make(many, structured, weighted, missing), LOSSES[name]
    check(data, hand, fit(data, hand.loss))


def dual_rows(data, model):
    """a_i of the labelled samples."""
    return model.dual_coef_[data.labelled] * data.s / data.w[:, None]


BOUNDS = {
    "huber-1": lambda A: np.abs(A) / 0.3,  # entry by entry
    "huber-2": lambda A: norms(A) / 0.5,
    "huber-inf": lambda A: np.abs(A).sum(axis=1) / 0.6,
    "huber-1.5": lambda A: p_norms(A, 3) / 0.4,
    "svr": norms,
    "norm": lambda A: norms(A) / 2,
    "square*svr": norms,
}


@flag("name", BOUNDS)
def test_some_rows_are_held_at_the_bound_and_reported(name):
    data = make(structured=True, weighted=True, missing=True)
    model = fit(data, LOSSES[name].loss)
    held = BOUNDS[name](dual_rows(data, model)) > 1 - 1e-7
    assert 0 < held.sum() < held.size
    assert_array_equal(model.saturated_[data.labelled], held)
    assert not model.saturated_[~data.labelled].any()


def test_margins_held_at_the_bound_are_reported():
    data = make(structured=True, weighted=True)
    model = fit(data, Hinge())
    b = dual_rows(data, model)[:, 0] / data.Y[:, 0]
    assert (b < 1e-9).any() and (b > 1 - 1e-7).any() and ((b > 1e-3) & (b < 1 - 1e-3)).any()
    assert_array_equal(model.saturated_, b > 1 - 1e-7)


@flag("name", ["epsilon-1", "epsilon-2", "epsilon-inf", "epsilon-3", "svr", "ball", "square*svr", "log"])
def test_some_rows_are_zero_and_reported(name):
    """As sparse losses leave them; p = inf leaves entries at zero, too."""
    data = make(structured=True, weighted=True, missing=True)
    model = fit(data, LOSSES[name].loss)
    used = np.flatnonzero(np.abs(model.dual_coef_).any(axis=1))
    assert 0 < len(used) < data.labelled.sum()
    assert_array_equal(model.support_, used)
    if name == "epsilon-inf":
        assert (dual_rows(data, model)[data.mask & np.isin(np.flatnonzero(data.labelled), used)[:, None]] == 0).any()


# ------------------------------------------------------------------ every solver


def solvers_that_fit(name):
    if name == "squared":
        return {"spectral", "splitting", "proximal_gradient", "conjugate_gradient"}
    return {"splitting", "proximal_gradient"} | ({"box_qp"} if name == "hinge" else set())


PAIRS = [(name, solver) for name in LOSSES for solver in sorted(solvers_that_fit(name))]


@flag(("name", "solver"), PAIRS)
def test_each_solver_reaches_the_optimum(name, solver):
    data, hand = make(structured=True, weighted=True, missing=solver != "spectral"), LOSSES[name]
    check(data, hand, fit(data, hand.loss, solver=solver))


@flag("name", ["squared", "huber-2", "hinge", "squared-hinge", "log"])
def test_a_solver_that_does_not_fit_is_refused(name):
    data, fits = make(), solvers_that_fit(name)
    for solver in {"spectral", "splitting", "proximal_gradient", "conjugate_gradient", "box_qp"} - fits:
        with pytest.raises(ValueError, match=f"solver='{solver}' cannot solve") as error:
            fit(data, LOSSES[name].loss, solver=solver)
        assert all(repr(good) in str(error.value) for good in fits)


def test_a_sum_of_terms_has_no_spectral_step():
    """Unless none of them has an operator: then it is one term."""
    check(make(many=True), LOSSES["squared"], fit(make(many=True), Squared(), solver="spectral"))
    data = make(many=True, structured=True)
    for solver in ("spectral", "splitting"):
        with pytest.raises(ValueError, match="cannot solve"):
            fit(data, Squared(), solver=solver)
    for solver in ("conjugate_gradient", "proximal_gradient"):
        check(data, LOSSES["squared"], fit(data, Squared(), solver=solver))


RADIAL = [name for name, hand in LOSSES.items() if not hand.on_margins and getattr(hand.loss, "p", 2) == 2]


@flag("alpha", [1.0, 1e-2, 1e-3, 1e-5])
@flag("name", RADIAL)
def test_one_sample_is_a_problem_on_the_line(name, alpha):
    """h(x) = a y / (alpha ||y||) where a minimises loss*(a) - a ||y|| + a^2 / (2 alpha): the start is far away."""
    hand, y = LOSSES[name], np.array([2.5, -2.0, 1.5])
    size = np.sqrt(y @ y)
    grid = np.linspace(0, alpha * size, 100_001)
    best = grid[np.argmin(hand.conjugate(grid[:, None]) - grid * size + grid**2 / (2 * alpha))] / alpha
    for solver in ("auto", "splitting", "proximal_gradient"):
        model = OperatorKernelRegressor(loss=hand.loss, alpha=alpha, center=False, solver=solver).fit([[0.0]], [y])
        assert model.dual_gap_ <= 1e-6
        assert_allclose(model.predict([[0.0]])[0], best * y / size, atol=5e-3)


# ------------------------------------------------------------------ losses that are another


@flag("center", [False, True])
@flag("missing", [False, True], ids=["whole", "missing"])
@flag("many", [False, True], ids=["one term", "two terms"])
@flag("loss", [Huber(INF), Huber(INF, p=1), Huber(INF, p=1.5), EpsilonInsensitive(0), EpsilonInsensitive(0, p=INF)])
def test_limits_are_ridge_regression(loss, many, missing, center):
    data = make(many, structured=True, weighted=True, missing=missing)
    options = {"center": center, "tol": 1e-13}
    ridge, limit = fit(data, Squared(), **options), fit(data, loss, **options)
    assert_allclose(limit.predict(data.inputs), ridge.predict(data.inputs), rtol=1e-6, atol=1e-6)
    assert_allclose(limit.center_, ridge.center_)
    assert_allclose(limit.dual_coef_, ridge.dual_coef_, rtol=1e-5, atol=1e-5)


@flag(
    ("loss", "composed"),
    [
        (Huber(0.5), InfConv(Squared(), Norm(0.5))),
        (EpsilonInsensitive(0.4), InfConv(Ball(0.4), Squared())),
        (EpsilonSVR(0.3), InfConv(Norm(), Ball(0.3))),
        (Norm(), EpsilonSVR(0)),
        (PowerNorm(2), Squared()),
    ],
    ids=repr,
)
def test_equal_losses_give_equal_functions(loss, composed):
    data = make(structured=True, weighted=True, missing=True)
    one, other = (fit(data, x, tol=1e-11, max_iter=20_000).predict(data.inputs) for x in (loss, composed))
    assert_allclose(one, other, atol=1e-4)


@flag("weighted", [False, True], ids=["even", "weighted"])
def test_ridge_is_that_of_scikit_learn(weighted):
    data = make(weighted=weighted)
    total = N if data.weights is None else data.weights.sum()
    theirs = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=ALPHA * total).fit(data.X, data.Y, data.weights)
    ours = OperatorKernelRegressor(**OURS).fit(data.X, data.Y, data.weights)
    new = np.random.default_rng(3).normal(size=(20, 4))
    assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9, atol=1e-12)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------ weights and repetition


@flag("name", LOSSES)
def test_integer_weights_are_repetitions(name):
    """Also for the median bandwidth and for the centre, mean or median."""
    data, counts = make(missing=True, structured=True), np.array([1, 3, 2, 1, 2, 0, 1, 4, 1, 2, 0, 1, 1])
    settings = {**OURS, "gamma": "median", "center": True, "operator": operators()[0], "tol": 1e-10}
    model = OperatorKernelRegressor(loss=LOSSES[name].loss, **settings)
    weighted = model.fit(data.X, data.Y, counts)
    new = np.random.default_rng(3).normal(size=(20, 4))
    predicted, gamma, center, gap = weighted.predict(new), weighted.gamma_, weighted.center_, weighted.dual_gap_
    repeated = model.fit(np.repeat(data.X, counts, axis=0), np.repeat(data.Y, counts, axis=0))
    assert max(gap, repeated.dual_gap_) <= 1e-10
    assert gamma == pytest.approx(repeated.gamma_, rel=1e-12)
    assert_allclose(center, repeated.center_, atol=1e-8)
    assert_allclose(predicted, repeated.predict(new), atol=2e-4)


@flag("loss", [Huber(), Huber(p=1), Huber(p=3), EpsilonInsensitive(), EpsilonInsensitive(p=INF), EpsilonSVR()])
def test_automatic_settings_see_weights_as_repetitions(loss):
    data, counts = make(), np.array([1, 3, 2, 1, 2, 0, 1, 4, 1, 2, 0, 1, 1])
    model = OperatorKernelRegressor(loss=loss, max_iter=5000)
    weighted = model.fit(data.X, data.Y, counts)
    alpha, resolved = weighted.alpha_, weighted.loss_.get_params()
    repeated = model.fit(np.repeat(data.X, counts, axis=0), np.repeat(data.Y, counts, axis=0))
    assert alpha == pytest.approx(repeated.alpha_)
    assert resolved == pytest.approx(repeated.loss_.get_params())


def test_weights_act_through_their_ratios_and_zero_leaves_out():
    data = make(structured=True, weighted=True)
    for name in ("squared", "huber-2", "svr", "hinge"):
        loss = LOSSES[name].loss
        plain = fit(data, loss).predict(data.inputs)
        scaled = OperatorKernelRegressor(loss=loss, **{**OURS, **data.settings})
        assert_allclose(scaled.fit(data.inputs, data.Y, 7 * data.weights).predict(data.inputs), plain, atol=1e-3)
        weights = np.where(np.arange(N) < 4, 0, data.weights)
        kept = np.arange(4, N)
        without = OperatorKernelRegressor(loss=loss, **{**OURS, **data.settings})
        part = without.fit(data.inputs[np.ix_(kept, kept)], data.Y[kept], weights[kept]).predict(data.inputs[:, kept])
        zero = scaled.fit(data.inputs, data.Y, weights)
        assert_allclose(zero.predict(data.inputs), part, atol=1e-9)
        assert_allclose(zero.dual_coef_[:4], 0)


# ------------------------------------------------------------------ new points


@flag("name", ["squared", "huber-1.5", "epsilon-inf", "svr", "hinge"])
def test_sums_of_terms_predict_the_sum(name):
    data = make(many=True, structured=True, weighted=True, missing=True)
    model = fit(data, LOSSES[name].loss)
    new = np.random.default_rng(3).normal(size=(7, 4))
    grams = [rbf_kernel(new, data.X, gamma=GAMMA), laplacian_kernel(new, data.X, gamma=GAMMA)]
    assert_allclose(model.predict(new), data.predict(model.dual_coef_, grams), rtol=1e-10, atol=1e-12)


def test_two_terms_with_one_operator_are_one_term_with_the_sum_of_kernels():
    data, (M, _) = make(weighted=True, missing=True), operators()
    new = np.random.default_rng(3).normal(size=(7, 4))

    def both(A, B):
        return rbf_kernel(A, B, gamma=GAMMA) + laplacian_kernel(A, B, gamma=GAMMA)

    for name in ("squared", "huber-2", "epsilon-inf", "exp"):
        options = {**OURS, "loss": LOSSES[name].loss, "tol": 1e-11}
        two = OperatorKernelRegressor([("rbf", M), ("laplacian", M)], **options).fit(data.X, data.Y, data.weights)
        one = OperatorKernelRegressor(both, operator=M, **options).fit(data.X, data.Y, data.weights)
        assert_allclose(two.predict(new), one.predict(new), atol=1e-4)
