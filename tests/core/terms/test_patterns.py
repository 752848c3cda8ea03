"""Missing outputs under diagonal operators, a system for each pattern: against dense solves and refits."""

import itertools

import numpy as np
import pytest
from helpers.averages import limited_by_hand, mean_alpha_by_hand
from helpers.machines import prepare
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV, kernels, losses
from hilbertlearn.core import solvers
from hilbertlearn.core.problem import Problem
from hilbertlearn.core.terms import ONCE, PATH, DenseGram, PatternTerm, SeparableTerm
from hilbertlearn.core.terms import patterns as patterns_module
from hilbertlearn.leave_one_out import loo_residuals
from hilbertlearn.losses import Squared

N, D, GAMMA, ALPHA = 13, 6, 0.3, 0.02
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X.sum(axis=1), X[:, 0] ** 2, np.cos(X), X[:, 0]][:, :D]
Y = Y + 0.1 * rng.normal(size=(N, D)) + np.arange(D)
NEW = rng.normal(size=(5, 2))
WEIGHTS = rng.uniform(0.3, 3, N)
MASK = np.ones((N, D), dtype=bool)  # the first column is observed in all samples that count
MASK[[1, 4, 9], 1] = MASK[[1, 4, 9], 2] = False  # two columns with the same gaps
MASK[[0, 4], 3] = False
MASK[:, 4], MASK[6, 4] = False, True  # observed once
MASK[[2, 3, 4, 5, 11], 5] = False
MASK[8] = False  # a sample without any output
GAPS = np.where(MASK, Y, np.nan)
K = rbf_kernel(X, gamma=GAMMA)
DIAGONALS = {
    "identity": None,
    "diagonal": np.diag([2.0, 0.5, 3.0, 1.0, 0.7, 0.2]),
    "equal in a pattern": np.diag([2.0, 0.5, 0.5, 1.0, 0.7, 0.2]),
    "one dropped": np.diag([1.0, 0.0, 2.0, 0.5, 1.0, 1.0]),
}
OPERATORS = pytest.mark.parametrize("operator", DIAGONALS)
WEIGHTED = pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
CENTRED = pytest.mark.parametrize("center", [False, True], ids=["", "centred"])


def settings(**others):
    return {"gamma": GAMMA, "alpha": ALPHA, **others}


def one_column(K, y, s, weights, center):
    """Constant and coefficients (n,), zero where y is NaN, of ``s c_i = w_i (y_i - mean - m k(x_i)' c)``; M is in K."""
    seen = np.isfinite(y)
    w, coef = weights[seen], np.zeros(len(y))
    mean = w @ y[seen] / w.sum() if center and seen.any() else 0.0
    system = s * np.eye(seen.sum()) + w[:, None] * K[np.ix_(seen, seen)]
    coef[seen] = np.linalg.solve(system, w * (y[seen] - mean))
    return mean, coef


def multiples(M):
    return np.ones(D) if M is None else M.diagonal()


# ---------------------------------------------------------------- the fit


@WEIGHTED
@CENTRED
@OPERATORS
def test_fits_are_dense_solves_of_each_column(operator, center, weighted):
    M, weights = DIAGONALS[operator], WEIGHTS if weighted else np.ones(N)
    model = OperatorKernelRegressor(operator=M, center=center, **settings()).fit(X, GAPS, weights if weighted else None)
    assert model.solver_ == "spectral" and model.dual_gap_ < 1e-12
    s = ALPHA * weights[MASK.any(axis=1)].sum()  # samples without outputs do not count
    G, predicted = rbf_kernel(NEW, X, gamma=GAMMA), model.predict(NEW)
    for j, m in enumerate(multiples(M)):
        mean, coef = one_column(m * K, GAPS[:, j], s, weights, center)
        assert_allclose(predicted[:, j], mean + m * G @ coef, atol=1e-10)
        assert_allclose(model.dual_coef_[:, j], coef, atol=1e-10)


@WEIGHTED
@OPERATORS
@pytest.mark.parametrize("solver", ["conjugate_gradient", "splitting", "proximal_gradient"])
def test_fits_are_those_of_iterative_solvers(solver, operator, weighted):
    options = settings(operator=DIAGONALS[operator])
    weights = WEIGHTS if weighted else None
    expected = OperatorKernelRegressor(**options).fit(X, GAPS, weights)
    other = OperatorKernelRegressor(solver=solver, tol=1e-13, max_iter=100_000, **options).fit(X, GAPS, weights)
    assert other.solver_ == solver
    assert_allclose(other.predict(NEW), expected.predict(NEW), atol=1e-5)


def test_a_path_of_fits_is_that_of_single_ones():
    alphas = [1.0, 0.1, 1e-3]
    for alpha, model in zip(alphas, OperatorKernelRegressor(gamma=GAMMA).fit_path(X, GAPS, alphas), strict=True):
        alone = OperatorKernelRegressor(gamma=GAMMA, alpha=alpha).fit(X, GAPS)
        assert model.solver_ == "spectral"
        assert_allclose(model.predict(NEW), alone.predict(NEW), atol=1e-9)


def test_curves_with_gaps_on_a_grid():
    grid = np.linspace(0, 1, D)
    model = FunctionalRegressor(alpha=ALPHA, gamma=GAMMA, operator=None, grid=grid, center=False).fit(X, GAPS)
    assert model.solver_ == "spectral"
    for j in range(D):
        _, coef = one_column(K, GAPS[:, j], ALPHA * (N - 1), np.ones(N), False)
        assert_allclose(model.predict(X)[:, j], K @ coef, atol=1e-9)


@pytest.mark.parametrize(
    "loss", [losses.Huber(0.3, p=1), losses.Huber(0.4), losses.EpsilonSVR(0.2), losses.Ball(1.5)], ids=str
)
def test_other_losses_with_gaps(loss):
    """Their gaps are those of the prox: the same optimum as by proximal gradients, which factor nothing."""
    options = settings(loss=loss, tol=1e-10, max_iter=200_000)
    model = OperatorKernelRegressor(**options).fit(X, GAPS)
    other = OperatorKernelRegressor(solver="proximal_gradient", **options).fit(X, GAPS)
    assert model.solver_ in ("splitting", "active_rows")
    assert_allclose(model.predict(NEW), other.predict(NEW), atol=1e-4)


@pytest.mark.parametrize("loss", [losses.Huber(0.3, p=1), losses.EpsilonSVR(0.2)], ids=str)
def test_a_path_of_other_losses_with_gaps(loss):
    """Factors of the path are of all samples, whatever was observed."""
    alphas = [0.5, 0.02]
    path = OperatorKernelRegressor(gamma=GAMMA, loss=loss).fit_path(X, GAPS, alphas)
    for alpha, model in zip(alphas, path, strict=True):
        alone = OperatorKernelRegressor(gamma=GAMMA, loss=loss, alpha=alpha, tol=1e-9).fit(X, GAPS)
        assert_allclose(model.predict(NEW), alone.predict(NEW), atol=2e-3)


def test_margins_with_gaps():
    signs, options = np.sign(GAPS - Y.mean(axis=0)), settings(loss="hinge", max_iter=100_000)
    model = OperatorKernelRegressor(**options).fit(X, signs)
    other = OperatorKernelRegressor(solver="proximal_gradient", **options).fit(X, signs)
    assert_allclose(model.predict(NEW), other.predict(NEW), atol=1e-2)


# ---------------------------------------------------------------- leaving out


def by_refits(K, M, Y, s, center, weights):
    """Residuals (n, d), each from dense solves of the columns without its sample; NaN where not observed."""
    residuals = np.full_like(Y, np.nan)
    for i, (j, m) in itertools.product(range(len(Y)), enumerate(multiples(M))):
        rest = np.arange(len(Y)) != i
        if np.isfinite(Y[i, j]):
            mean, coef = one_column(m * K[np.ix_(rest, rest)], Y[rest, j], s, weights[rest], center)
            residuals[i, j] = Y[i, j] - mean - m * K[i, rest] @ coef
    return residuals


@WEIGHTED
@CENTRED
@OPERATORS
@pytest.mark.parametrize("penalties", [[0.1], [1e-3, 0.1, 3.0]], ids=["one", "path"])
def test_formula_equals_dense_refits(penalties, operator, center, weighted):
    M, weights = DIAGONALS[operator], WEIGHTS if weighted else np.ones(N)
    term = SeparableTerm(K, M).with_mask(MASK).scaled(np.sqrt(weights))
    found = list(loo_residuals(term, GAPS, penalties, center=center, weights=weights if weighted else None))
    assert [s for s, _ in found] == penalties
    for s, residuals in found:
        expected = by_refits(K, M, GAPS, s, center, weights)
        if center:
            expected[6, 4] = 0.0  # the only one of its column has no mean of others, it is its own
        assert_allclose(residuals, expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore:y. output 4 has no observed value")  # without the only one of its column
@WEIGHTED
@CENTRED
@pytest.mark.parametrize("operator", ["identity", "diagonal"])
def test_residuals_of_a_model_equal_refits_of_the_model(operator, center, weighted):
    weights = WEIGHTS if weighted else np.ones(N)
    options = {"gamma": GAMMA, "operator": DIAGONALS[operator], "center": center}
    model = OperatorKernelRegressor(alpha=ALPHA, **options).fit(X, GAPS, weights if weighted else None)
    labelled, expected = np.flatnonzero(MASK.any(axis=1)), np.full_like(Y, np.nan)
    total = weights[labelled].sum()
    for i in labelled:
        rest = labelled[labelled != i]
        same_penalty = ALPHA * total / weights[rest].sum()
        without = OperatorKernelRegressor(alpha=same_penalty, **options).fit(X[rest], GAPS[rest], weights[rest])
        expected[i] = GAPS[i] - without.predict(X[i : i + 1])[0]
    residuals = model.loo_residuals()
    assert_array_equal(np.isnan(residuals), ~MASK)
    residuals[6, 4] = expected[6, 4]  # the only one of its column, see above
    assert_allclose(residuals, expected, atol=1e-8)


def test_a_row_with_one_entry_and_one_without():
    """Rows differ in what they have; a row with a single entry is left out of that column alone."""
    gaps = GAPS.copy()
    gaps[3, 1:] = np.nan
    residuals = OperatorKernelRegressor(center=False, **settings()).fit(X, gaps).loo_residuals()
    expected = by_refits(K, None, gaps, ALPHA * (N - 1), False, np.ones(N))
    assert_allclose(residuals, expected, atol=1e-8)
    assert np.isnan(residuals[8]).all() and np.isfinite(residuals[3]).sum() == 1


def test_columns_without_gaps_are_those_of_complete_data():
    """A pattern of all samples is the problem without gaps, residuals included."""
    gaps = Y.copy()
    gaps[2, 3] = np.nan
    whole = np.arange(D) != 3
    complete, partial = (OperatorKernelRegressor(**settings()).fit(X, T) for T in (Y, gaps))
    assert_allclose(partial.predict(NEW)[:, whole], complete.predict(NEW)[:, whole], atol=1e-12)
    assert_allclose(partial.loo_residuals()[:, whole], complete.loo_residuals()[:, whole], atol=1e-12)


def test_automatic_alpha_is_the_weighted_mean_of_refits():
    model = OperatorKernelRegressor(gamma=GAMMA, center=False).fit(X, GAPS)
    path = RegularizationPathCV(OperatorKernelRegressor(gamma=GAMMA, center=False)).fit(X, GAPS)
    labelled = MASK.any(axis=1)
    refits = [by_refits(K, None, GAPS, alpha * (N - 1), False, np.ones(N)) for alpha in path.alphas_]
    errors = np.array([np.nansum(residuals**2) for residuals in refits])
    assert_allclose(path.errors_, errors / labelled.sum(), rtol=1e-6)
    assert path.alpha_ == path.alphas_[errors <= errors.min() * (1 + 1e-4)].max()
    spread = np.nanstd(GAPS, axis=0)
    spread[spread == 0] = 1.0  # observed once
    relative = [np.mean(np.sqrt(np.nanmean(r**2, axis=0)) / spread) for r in refits[::2]]
    assert_allclose(np.sort(model.search_results_["alpha"]), path.alphas_[::2])
    assert_allclose(model.search_results_["error"], relative, rtol=1e-6)
    limited = [limited_by_hand(np.square(r / spread), N - 1) for r in refits[::2]]
    limited = [np.mean(np.sqrt(np.nanmean(squares, axis=0))) for squares in limited]
    filled = np.nan_to_num(GAPS - np.nanmean(GAPS, axis=0))[labelled]
    filled = filled[:, filled.any(axis=0)]
    products = filled.T @ filled
    number = 1 / np.mean(products**2 / np.outer(np.diag(products), np.diag(products)))
    expected = mean_alpha_by_hand(path.alphas_[::2], 2 * number * np.log(limited), N - 1)
    assert model.alpha_ == pytest.approx(expected, rel=1e-6)
    assert path.n_splits_ == labelled.sum()


def test_repetition_is_weight():
    counts = np.arange(N) % 3 + 1
    weighted = OperatorKernelRegressor(gamma=GAMMA).fit(X, GAPS, counts.astype(float))
    repeated = OperatorKernelRegressor(gamma=GAMMA).fit(np.repeat(X, counts, axis=0), np.repeat(GAPS, counts, axis=0))
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)
    assert_allclose(weighted.predict(NEW), repeated.predict(NEW), atol=1e-8)


def test_settings_of_a_loss_from_residuals_with_gaps():
    model = OperatorKernelRegressor(loss=losses.Huber(p=1), gamma=GAMMA).fit(X, GAPS)
    assert np.isfinite(model.loss_.kappa) and np.isfinite(model.predict(NEW)).all()


# ---------------------------------------------------------------- one value that is missing


def spectra(n=60, channels=200):
    """Bands of five substances on a baseline that varies more than they do, and the amounts of three of them."""
    r = np.random.default_rng(0)
    at, amounts = np.linspace(0, 1, channels), r.uniform(size=(2 * n, 5))
    bands = np.exp(-(((at - np.linspace(0.1, 0.9, 5)[:, None]) / 0.1) ** 2))
    baseline = r.uniform(1, 3, size=(2 * n, 1)) + r.uniform(-1, 1, size=(2 * n, 1)) * at
    return baseline + 0.01 * amounts @ bands + 1e-4 * r.normal(size=(2 * n, channels)), amounts[:, :3]


def test_one_value_that_is_missing_changes_little():
    """The signal is in small eigenvalues of the kernel: folds, with their rougher choice, could lose it."""
    Z, T = spectra()
    train, test = slice(0, 60), slice(60, None)
    complete = OperatorKernelRegressor("linear").fit(Z[train], T[train])
    score = complete.score(Z[test], T[test])
    assert score > 0.85
    for i in range(0, 60, 7):
        gaps = T[train].copy()
        gaps[i, i % 3] = np.nan
        model = OperatorKernelRegressor("linear").fit(Z[train], gaps)
        assert 0.5 < model.alpha_ / complete.alpha_ < 2  # at most a step of the grid, 10^(1/4)
        assert model.score(Z[test], T[test]) == pytest.approx(score, abs=5e-3)


# ---------------------------------------------------------------- the term


def test_the_map_is_that_of_the_observed_entries():
    A, root = rng.normal(size=(N, D)), np.sqrt(WEIGHTS)
    for M in DIAGONALS.values():
        term = SeparableTerm(K, M).with_mask(MASK)
        assert isinstance(term, PatternTerm) and term.loo_formula == "models" and term.shape == (N, D)
        assert_array_equal(term.observed_entries, MASK)
        dense = np.kron(K, np.diag(multiples(M))) * np.multiply.outer(MASK.ravel(), MASK.ravel())
        assert_allclose(term.apply(A), (dense @ A.ravel()).reshape(N, D), atol=1e-12)
        weighted = root[:, None] * term.apply(root[:, None] * A)
        assert_allclose(term.scaled(root).apply(A), weighted, atol=1e-12)
        rows = np.array([0, 3, 4, 9])
        inside = np.zeros_like(A)
        inside[rows] = A[rows]
        assert_allclose(term.take(rows).apply(A[rows]), term.apply(inside)[rows], atol=1e-12)
        assert term.norm >= np.linalg.eigvalsh(dense)[-1] * (1 - 1e-9)
        assert term.scale == term.without_mask().scale
        assert_allclose(term.with_gram(DenseGram(2 * K)).apply(A), 2 * term.apply(A), atol=1e-12)
        fewer = rng.random(MASK.shape) < 0.5
        assert_array_equal(term.with_mask(fewer).mask, MASK & fewer)
        seen = np.where(MASK, A, 0.0)
        assert_allclose(term.margin_gram(A), K * (seen * multiples(M) @ seen.T), atol=1e-12)


@OPERATORS
@pytest.mark.parametrize("use", [ONCE, PATH])
@pytest.mark.parametrize("kept", [True, False], ids=["kept", "not kept"])
def test_factors_solve_the_system(use, kept, operator, monkeypatch):
    """Kept or made anew each time, where they would not fit in memory together."""
    if not kept:
        monkeypatch.setattr(patterns_module, "_MAX_ENTRIES", 0)
    term, R = SeparableTerm(K, DIAGONALS[operator]).with_mask(MASK), rng.normal(size=(N, D))
    factors = term.factor(use)
    assert factors.serves_all_penalties == (kept and use == PATH)
    for shift, penalty in ((1.0, 0.1), (0.5, 3.0)):
        found = factors.solve(R, shift, penalty)
        assert_allclose(shift * found + term.apply(found) / penalty, R, atol=1e-9)
    penalties = [0.05, 1.0]
    for s, residuals in loo_residuals(term, GAPS, penalties, factors=factors):
        expected = by_refits(K, DIAGONALS[operator], GAPS, s, False, np.ones(N))
        assert_allclose(residuals, expected, atol=1e-8)


def test_factors_of_the_identity_serve_diagonal_operators():
    """As an alpha for each column asks for; eigenvectors are those that are there."""
    term, R, M = SeparableTerm(K).with_mask(MASK), rng.normal(size=(N, D)), DIAGONALS["diagonal"]
    factors = term.factor(PATH)
    before = factors.solve(R, 1.0, 0.3)
    assert factors.with_operator(np.eye(D) + 0.1) is None and term.factor(ONCE).with_operator(M) is None
    for made in (factors, term.factor(PATH)):
        found = made.with_operator(M).solve(R, 1.0, 0.3)
        assert_allclose(found + term.with_operator(M).apply(found) / 0.3, R, atol=1e-9)
    assert_allclose(factors.solve(R, 1.0, 0.3), before, atol=0)


def test_columns_with_the_same_gaps_share_a_pattern():
    term = SeparableTerm(K).with_mask(MASK)
    assert [list(pattern.columns) for pattern in term.patterns] == [[0], [1, 2], [3], [4], [5]]
    never = MASK.copy()
    never[:, 4] = False
    term = SeparableTerm(K).with_mask(never)
    assert len(term.patterns) == 4
    R = rng.normal(size=(N, D))
    assert_allclose(term.factor().solve(R, 2.0, 0.1)[:, 4], R[:, 4] / 2)
    ((_, residuals),) = loo_residuals(term, np.where(never, Y, np.nan), [0.1], center=True)
    assert np.isnan(residuals[:, 4]).all() and np.isfinite(residuals[never]).all()


def test_who_takes_gaps():
    """Operators that mix columns, and kernels in which samples without outputs have a part, do not."""
    full = np.eye(D) + 0.1
    assert SeparableTerm(K).takes_mask() and SeparableTerm(K, DIAGONALS["diagonal"]).takes_mask()
    assert not SeparableTerm(K, full).takes_mask()
    mixed = SeparableTerm(K, full)
    assert mixed.with_mask(MASK) is mixed is mixed.without_mask()
    assert isinstance(SeparableTerm(K).with_mask(MASK).with_operator(full), SeparableTerm)
    graph = prepare(OperatorKernelRegressor(manifold=0.1, **settings()), X, GAPS)
    assert not graph.closed_form and not graph.weighted_term(0.1).takes_mask()
    assert not prepare(OperatorKernelRegressor(operator="learned", **settings()), X, GAPS).closed_form


def test_no_closed_form_where_columns_mix():
    model = OperatorKernelRegressor(operator=np.eye(D) + 0.1, **settings()).fit(X, GAPS)
    assert_refused(model.loo_residuals, ["loo_residuals()", "closed form for the squared loss", "cv=5"])


# ---------------------------------------------------------------- the choice of a solver


def problem(n, d, share, patterns=None, M=None):
    """The squared loss with gaps; what K has does not matter to the choice."""
    mask = np.random.default_rng(0).random((n, patterns or d)) > share
    mask = mask[:, np.arange(d) % mask.shape[1]]
    term = SeparableTerm(np.broadcast_to(1.0, (n, n)), M).with_mask(mask)
    return Problem((term,), np.zeros((n, d)), Squared(), 1.0, mask)


def test_few_patterns_are_factored_and_many_are_not():
    assert solvers.select_solver(problem(1000, 3, 0.1)) == "spectral"
    assert solvers.select_solver(problem(1000, 50, 0.1, patterns=2)) == "spectral"
    assert solvers.select_solver(problem(1000, 2, 0.1, M=np.diag([1.0, 2.0]))) == "spectral"
    many = problem(2500, 50, 0.1)
    assert solvers.select_solver(many) == "splitting"
    assert solvers.select_solver(many, "spectral") == "spectral"
    path = many.term.factor(PATH)  # nothing is factored yet, and would not fit in memory
    assert not path.serves_all_penalties and solvers.select_solver(many, factors=path) == "splitting"
    few = problem(1000, 20, 0.1)
    assert solvers.select_solver(few, factors=few.term.factor(PATH)) == "spectral"


def test_vector_fields_with_gaps_are_as_before():
    fields = Y[:, :2].copy()
    fields[3, 1] = np.nan
    model = OperatorKernelRegressor(kernels.CurlFreeKernel(GAMMA), alpha=ALPHA).fit(X, fields)
    assert model.solver_ == "spectral" and np.isfinite(model.loo_residuals()).sum() == 2 * N - 1


@pytest.mark.parametrize(
    "settings", [{}, {"loss": "huber"}, {"operator": "covariance"}, {"kernel": "rbf", "loss": "huber"}], ids=str
)
def test_repeated_samples_with_gaps_choose_what_weights_choose(settings):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(36, 2))
    Y = np.sin(X @ rng.normal(size=(2, 6))) + 0.1 * rng.normal(size=(36, 6))
    Y[rng.random(Y.shape) < 0.1] = np.nan
    twice = np.arange(36) < 15
    weighted = OperatorKernelRegressor(**settings).fit(X, Y, 1.0 + twice)
    repeated = OperatorKernelRegressor(**settings).fit(np.r_[X, X[twice]], np.r_[Y, Y[twice]])
    assert repeated.alpha_ == pytest.approx(weighted.alpha_, rel=1e-6)
    assert_allclose(repeated.predict(X), weighted.predict(X), atol=1e-4)


# ---------------------------------------------------------------- patterns of four rows

FOUR_ROWS = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 0], [1, 1, 1, 0]], dtype=bool)


def test_columns_with_the_same_rows_share_a_pattern():
    patterns = PatternTerm(SeparableTerm(np.eye(4)), FOUR_ROWS).patterns
    assert [pattern.columns.tolist() for pattern in patterns] == [[0, 1], [2]]  # the last was never observed
    assert [pattern.rows.tolist() for pattern in patterns] == [[0, 1, 3], [1, 2, 3]]
    assert_array_equal(FOUR_ROWS[patterns[0].index], True)


def test_a_pattern_has_a_multiple_where_the_operator_is_one_number():
    term = PatternTerm(SeparableTerm(np.eye(4), np.diag([2.0, 2.0, 3.0, 1.0])), FOUR_ROWS)
    assert [term.multiple(pattern) for pattern in term.patterns] == [2.0, 3.0]
    term = PatternTerm(SeparableTerm(np.eye(4), np.diag([2.0, 5.0, 3.0, 1.0])), FOUR_ROWS)
    assert [term.multiple(pattern) for pattern in term.patterns] == [None, 3.0]
