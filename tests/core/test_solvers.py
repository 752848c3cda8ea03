"""The solver that is selected, before anything is solved; all suitable solvers find the same optimum."""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.machines import prepare
from numpy.testing import assert_allclose

from hilbertlearn import (
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    StructuredPredictor,
    kernels,
    losses,
    operators,
    spaces,
)
from hilbertlearn.core import solvers
from hilbertlearn.core.solvers import NAMES, SOLVERS, select_solver, suitable_solvers
from hilbertlearn.losses import as_loss

N, D, M = 16, 3, 8
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, D))
Y = np.c_[np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 2]] + 0.2 * RNG.normal(size=(N, D))
Y[:2] += 3.0
GAPS = np.where(RNG.random(Y.shape) < 0.25, np.nan, Y)
ROOT = RNG.normal(size=(D, D))
OPERATOR = ROOT @ ROOT.T / D + 0.2 * np.eye(D)
T = np.linspace(0, 1, M)
CURVES = np.sin(2 * X[:, :1] + 4 * T) + 0.1 * RNG.normal(size=(N, M))


def irregular(n, m, seed=0):
    """Inputs, and curves at m points of their own each."""
    rng = np.random.default_rng(seed)
    inputs, points = rng.normal(size=(n, 2)), np.sort(rng.random((n, m)), axis=1)
    values = np.sin(3 * points + inputs[:, :1]) + 0.1 * rng.normal(size=(n, m))
    return inputs, IrregularFunctions(list(points), list(values), (0.0, 1.0))


@dataclass
class Case:
    model: object
    y: object
    X: object = None
    solver: str | None = None  # what "auto" is known to take
    weights: object = None

    def training(self):
        return prepare(self.model, X if self.X is None else self.X, self.y, self.weights)

    def problem(self):
        """The problem that the fit solves, for a loss of the margin in its own variables."""
        training, loss = self.training(), as_loss(self.model.loss)
        problem = training.problem(loss, self.model.alpha, training.constant(loss))
        return problem.margin_problem() if loss.on_margins else problem

    def fit(self, **settings):
        new = type(self.model)(**{**self.model.get_params(deep=False), **settings})
        return new.fit(X if self.X is None else self.X, self.y, self.weights)


def vector(y, solver=None, weights=None, **settings):
    return Case(OperatorKernelRegressor(**{"alpha": 0.05, "gamma": 0.3, **settings}), y, None, solver, weights)


def functional(y, solver=None, inputs=None, **settings):
    return Case(FunctionalRegressor(**{"alpha": 1e-3, "gamma": 0.3, **settings}), y, inputs, solver)


HUBER, FEW = losses.Huber(0.4), irregular(N, 5)
TERMS = [("rbf", OPERATOR), ("laplacian", None)]
CASES = {
    "squared": vector(Y, "spectral"),
    "pinball": vector(Y, "proximal_newton", loss=losses.Pinball(0.3)),
    "squared, weights": vector(Y, "spectral", RNG.uniform(0.5, 2.0, N)),
    "squared, operator": vector(Y, "spectral", operator=OPERATOR),
    "squared, gaps": vector(GAPS, "spectral"),
    "squared, gaps and diagonal": vector(GAPS, "spectral", operator=np.diag([1.0, 2.0, 0.5])),
    "squared, gaps and operator": vector(GAPS, "splitting", operator=OPERATOR),
    "squared, terms": vector(Y, "conjugate_gradient", kernel=TERMS),
    "squared, terms and gaps": vector(GAPS, "conjugate_gradient", kernel=TERMS),
    "squared, built from outputs": vector(Y, "conjugate_gradient", kernel=kernels.OutputTensorKernel("iii")),
    "squared, built and separable": vector(Y, "spectral", kernel=kernels.OutputTensorKernel("ii")),
    "squared, field": vector(Y, "spectral", kernel=kernels.CurlFreeKernel(0.3)),
    "squared, graph": vector(np.where(np.arange(N)[:, None] % 4 == 1, np.nan, Y), "spectral", manifold=0.1),
    "infinite kappa": vector(Y, "spectral", loss=losses.Huber(np.inf)),
    "huber": vector(Y, "splitting", loss=losses.Huber(0.4)),
    "huber, operator": vector(Y, "splitting", loss=losses.Huber(0.4), operator=OPERATOR),
    "huber, entries and gaps": vector(GAPS, "splitting", loss=losses.Huber(0.3, p=1)),
    "huber, terms": vector(Y, "proximal_gradient", loss=losses.Huber(0.4), kernel=TERMS),
    "huber, built from outputs": vector(Y, "proximal_gradient", loss=HUBER, kernel=kernels.OutputTensorKernel("i")),
    "huber, field": vector(Y, "splitting", loss=losses.Huber(0.4), kernel=kernels.CurlFreeKernel(0.3)),
    "convolution": vector(Y, "splitting", loss=losses.InfConv(losses.Squared(), losses.Norm(0.5))),
    "epsilon": vector(Y, "active_rows", loss=losses.EpsilonInsensitive(0.4)),
    "epsilon, entries": vector(Y, "active_rows", loss=losses.EpsilonInsensitive(0.3, p=np.inf)),
    "epsilon, operator": vector(Y, "splitting", loss=losses.EpsilonInsensitive(0.4), operator=OPERATOR),
    "svr": vector(Y, "active_rows", loss=losses.EpsilonSVR(0.3)),
    "svr, gaps": vector(GAPS, "active_rows", loss=losses.EpsilonSVR(0.3)),
    "ball": vector(Y, "splitting", loss=losses.Ball(0.6)),
    "hinge": vector(np.sign(Y), "box_qp", loss=losses.Hinge()),
    "hinge, operator": vector(np.sign(Y), "box_qp", loss=losses.Hinge(), operator=OPERATOR),
    "functions": functional(CURVES, "spectral"),
    "functions, gaps in a dictionary": functional(
        np.where(RNG.random(CURVES.shape) < 0.2, np.nan, CURVES), "spectral", space=spaces.Fourier(4)
    ),
    "robust functions": functional(CURVES, "splitting", loss=losses.Huber(0.1)),
    "robust functions in a dictionary": functional(CURVES, "splitting", loss=HUBER, space=spaces.Fourier(3)),
    "few irregular values": functional(FEW[1], "spectral", FEW[0], operator=operators.Integral()),
    "few irregular values, robust": functional(FEW[1], "splitting", FEW[0], loss=losses.Huber(0.1)),
}  # fmt: skip
MANY = functional(irregular(150, 40)[1], "conjugate_gradient", irregular(150, 40)[0], space=spaces.Fourier(4))


@pytest.mark.parametrize("name", [*CASES, "many irregular values"])
def test_the_choice_is_known_without_solving(name, monkeypatch):
    case = CASES.get(name, MANY)
    problem = case.problem()

    def refuse(*args, **kwargs):
        raise AssertionError("nothing is to be solved")

    for solver in SOLVERS.values():
        monkeypatch.setattr(solver, "solve", refuse)
    monkeypatch.setattr(solvers, "solve", refuse)
    monkeypatch.setattr(type(problem.term), "factor", refuse)
    assert select_solver(problem) == case.solver
    for method in suitable_solvers(problem):
        assert select_solver(problem, method) == method


@pytest.mark.parametrize("name", [*CASES, "many irregular values"])
def test_the_fit_takes_the_solver_that_was_named(name):
    case = CASES.get(name, MANY)
    assert case.fit().solver_ == select_solver(case.problem())


def test_the_columns_are_tried_where_samples_are_many():
    rng = np.random.default_rng(0)
    large = rng.normal(size=(1500, 4))
    case = vector(np.sin(large[:, :3]), alpha=1.0, operator=OPERATOR)
    case.X = large
    assert select_solver(case.problem()) == "columns" == case.fit().solver_


def test_the_solver_of_objects_is_that_of_their_coordinates():
    labels = (Y[:, 0] > 0).astype(int)
    for settings in ({"output_kernel": "rbf"}, {"output_loss": "zero_one"}):
        model = StructuredPredictor(alpha=0.1, **settings).fit(X, labels)
        training = prepare(model, X, labels)
        assert model.solver_ == select_solver(training.problem(model.loss_, 0.1, training.constant(model.loss_)))


# ---------------------------------------------------------------- all that suit


PROBLEMS = {name: case.problem() for name, case in CASES.items()}
PAIRS = [(name, method) for name, problem in PROBLEMS.items() for method in suitable_solvers(problem)]


def test_the_table_has_every_solver():
    assert {method for _, method in PAIRS} == set(SOLVERS)
    suiting = {name: [method for other, method in PAIRS if other == name] for name in CASES}
    assert all("proximal_gradient" in names for names in suiting.values())
    assert suiting["squared"] == ["spectral", "splitting", "conjugate_gradient", "proximal_gradient"]
    assert suiting["squared, operator"][1] == "columns"
    assert suiting["huber, terms"] == ["proximal_gradient"]
    assert suiting["svr"] == ["splitting", "active_rows", "proximal_gradient"]
    assert suiting["hinge"] == ["splitting", "proximal_gradient", "box_qp"]


ACCURATE = {"tol": 1e-9, "max_iter": 100_000}


@functools.cache
def by_default(name):
    """The model by the solver that is taken, for all that are compared with it."""
    return CASES[name].fit(**ACCURATE)


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_every_solver_that_suits_finds_the_optimum(name, method):
    """Two gaps of 1e-9 bound the difference of two objectives, and that of the predictions."""
    case = CASES[name]
    model, auto = case.fit(solver=method, **ACCURATE), by_default(name)
    handed_over = method == "columns" and model.solver_ == "spectral"  # it gives up where eigh is faster
    assert (model.solver_ == method or handed_over) and model.dual_gap_ <= 1e-9
    inputs = X if case.X is None else case.X
    expected = auto.machine_.coordinates(inputs)
    assert_allclose(model.machine_.coordinates(inputs), expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("name", CASES)
def test_solvers_that_do_not_suit_are_refused_with_those_that_do(name):
    case = CASES[name]
    good = [method for other, method in PAIRS if other == name]
    for method in set(SOLVERS) - set(good):
        with pytest.raises(ValueError) as refusal:
            select_solver(PROBLEMS[name], method)
        with pytest.raises(ValueError) as of_the_fit:
            case.fit(solver=method)
        for error in (refusal, of_the_fit):
            text = str(error.value)
            assert repr(method) in text.split(";")[0] and text.endswith(", ".join(map(repr, good)))


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="solver"):
        vector(Y).fit(solver="unheard of")
    with pytest.raises(ValueError, match="unheard of"):
        select_solver(vector(Y).problem(), "unheard of")
    assert set(NAMES) == {"auto", *SOLVERS}


@pytest.mark.parametrize("name", ["huber, operator", "svr", "squared, terms"])
def test_factors_that_are_there_are_used(name):
    """Along a path every fit names its solver, and solves the same problem as without the path."""
    case = CASES[name]
    alphas = [0.5, 0.05]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = list(case.model.fit_path(X, case.y, alphas))
    for alpha, model in zip(alphas, models, strict=True):
        alone = case.fit(alpha=alpha)
        assert model.solver_ in SOLVERS
        assert_allclose(model.predict(X), alone.predict(X), atol=5e-3)
