"""Kernels of columns of different kinds and of categories, against sums and products of matrices by hand."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from hilbertlearn import (
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    kernels,
)
from hilbertlearn.kernels import (
    L2,
    CategoricalKernel,
    Columns,
    InputTable,
    Matern,
    NamedKernel,
    NGrams,
    PairwiseKernel,
    PrecomputedKernel,
)

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
rng = np.random.default_rng(0)
N = 30
NUMBERS = rng.normal(size=(N, 2))
REGION = rng.choice(["north", "south", "east"], N)
LEVEL = rng.integers(3, size=N)
T = np.linspace(0, 1, 9)
CURVES = np.sin(rng.uniform(1, 5, size=(N, 1)) * T)
CURVE_NAMES = [f"t{j}" for j in range(len(T))]
X = pd.DataFrame({"age": NUMBERS[:, 0], "size": NUMBERS[:, 1], "region": REGION, "level": LEVEL})
X = pd.concat([X, pd.DataFrame(CURVES, columns=CURVE_NAMES)], axis=1)
Y = pd.DataFrame(
    {"u": np.sin(2 * NUMBERS[:, 0]) + (REGION == "east"), "v": NUMBERS[:, 1] + CURVES[:, 4] * (LEVEL == 1)}
)
SCALARS = ["age", "size"]


def squares(A, B):
    return ((A[:, None] - B[None]) ** 2).sum(axis=2)


def rbf(A, B, gamma):
    return np.exp(-gamma * squares(A, B))


def alike(a, b, rho):
    return np.array([[1.0 if s == t else rho for t in b] for s in a])


def l2(A, B, gamma):
    weights = np.r_[0.5, np.ones(len(T) - 2), 0.5] / (len(T) - 1)
    return rbf(np.sqrt(weights) * A, np.sqrt(weights) * B, gamma)


def median_gamma(A):
    return 0.5 / np.median(squares(A, A)[np.triu_indices(len(A), 1)])


PARTS = [
    (NamedKernel("rbf", 0.7), SCALARS),
    (CategoricalKernel(0.5), "region"),
    (CategoricalKernel(0.25), ["region", "level"]),
    (L2(2.0), CURVE_NAMES),
]


def by_hand(rows, columns):
    return [
        rbf(NUMBERS[rows], NUMBERS[columns], 0.7),
        alike(REGION[rows], REGION[columns], np.exp(-0.5)),
        alike(REGION[rows], REGION[columns], np.exp(-0.25)) * alike(LEVEL[rows], LEVEL[columns], np.exp(-0.25)),
        l2(CURVES[rows], CURVES[columns], 2.0),
    ]


FORMS = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.DataFrame(frame.to_dict("list")),
    "table": InputTable.from_data,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("combine", ["sum", "product"])
def test_values_are_sums_and_products_of_the_parts(combine, form):
    new, old = np.arange(7), np.arange(7, N)
    kernel, combined = Columns(PARTS, combine), {"sum": np.sum, "product": np.prod}[combine]
    inputs, others = FORMS[form](X.iloc[old]), FORMS[form](X.iloc[new])
    for one in (kernel, kernel.resolve(inputs)):
        assert_allclose(one(others, inputs), combined(by_hand(new, old), axis=0))
        assert_allclose(one(inputs, inputs), combined(by_hand(old, old), axis=0))


def test_weights():
    weights = [2.0, 0.0, 0.5, 1.0]
    every = np.arange(N)
    expected = sum(w * G for w, G in zip(weights, by_hand(every, every)))
    assert_allclose(Columns(PARTS, weights=weights)(X, X), expected)


def test_columns_inside_columns():
    inner = Columns([PARTS[0], (CategoricalKernel(0.5), "region")], "product")
    kernel = Columns([(inner, ["region", "size", "age"]), PARTS[3]])
    a, b, _, d = by_hand(np.arange(N), np.arange(N))
    assert_allclose(kernel(X, X), a * b + d)
    resolved = Columns([(Columns([("rbf", SCALARS)]), slice("age", "region")), PARTS[3]]).resolve(X)
    assert_allclose(resolved(X, X), rbf(NUMBERS, NUMBERS, median_gamma(NUMBERS)) + d)


def test_columns_of_arrays_are_numbers():
    values = np.c_[NUMBERS, LEVEL]
    kernel = Columns(
        [(NamedKernel("rbf", 0.7), [0, 1]), (CategoricalKernel(0.5), -1), (NamedKernel("rbf", 0.1), slice(1, None))]
    )
    expected = rbf(NUMBERS, NUMBERS, 0.7) + alike(LEVEL, LEVEL, np.exp(-0.5)) + rbf(values[:, 1:], values[:, 1:], 0.1)
    for inputs in (values, values.astype(object), values.tolist()):
        assert_allclose(kernel(inputs, inputs), expected)
    linear = Columns([("linear", [0]), ("linear", [1, 2])])
    assert_allclose(linear(scipy.sparse.csr_array(values), scipy.sparse.csr_array(values)), values @ values.T)


def test_slices_of_names_have_both_ends():
    kernel = Columns([(L2(2.0), slice("t0", "t8")), (NamedKernel("rbf", 0.7), slice(None, "size"))])
    assert_allclose(kernel(X, X), l2(CURVES, CURVES, 2.0) + rbf(NUMBERS, NUMBERS, 0.7))
    assert_allclose(Columns([(NamedKernel("rbf", 0.7), slice(0, 2))])(X, X), rbf(NUMBERS, NUMBERS, 0.7))


def test_names_that_are_numbers():
    frame = pd.DataFrame(NUMBERS, columns=[1, 0])
    assert_allclose(Columns([(NamedKernel("rbf", 0.7), [1])])(frame, frame), rbf(NUMBERS[:, :1], NUMBERS[:, :1], 0.7))
    mixed = pd.concat([X[["age"]], pd.DataFrame(CURVES, columns=T)], axis=1)
    kernel = Columns([(NamedKernel("rbf", 0.7), "age"), (L2(2.0), slice(0.0, 1.0))])
    model = OperatorKernelRegressor(kernel, alpha=0.1).fit(mixed, Y)
    G = rbf(NUMBERS[:, :1], NUMBERS[:, :1], 0.7) + l2(CURVES, CURVES, 2.0)
    expected = OperatorKernelRegressor("precomputed", alpha=0.1).fit(G, Y)
    assert_allclose(model.predict(mixed), expected.predict(G), atol=1e-8)


def test_kernels_of_single_objects():
    """A column that is not in a list comes as (n,), as in scikit-learn's ColumnTransformer."""
    frame = pd.DataFrame({"text": REGION, "number": np.arange(N)})
    matrix = rng.normal(size=(N, N))
    matrix = matrix @ matrix.T
    kernel = Columns(
        [
            (NGrams(2), "text"),
            (NGrams(2), ["text"]),
            (PrecomputedKernel(matrix), "number"),
            (PairwiseKernel(same), "text"),
        ]
    )
    words = REGION.tolist()
    expected = 2 * NGrams(2)(words, words) + matrix + alike(REGION, REGION, 0.0)
    assert_allclose(kernel(frame, frame), expected)


def same(a, b):
    return float(a == b)


def test_functions_of_scikit_fda_in_a_column():
    skfda = pytest.importorskip("skfda")
    grid = np.r_[0, 0.05, np.linspace(0.3, 1, 7)]
    functions = skfda.FDataGrid(CURVES, grid)
    frame = pd.DataFrame({"curve": functions, "age": NUMBERS[:, 0]})
    kernel = Columns([(L2(), "curve"), ("rbf", "age")])
    expected = L2().resolve(functions)(functions, functions)
    expected = expected + rbf(NUMBERS[:, :1], NUMBERS[:, :1], median_gamma(NUMBERS[:, :1]))
    assert_allclose(kernel.resolve(frame)(frame, frame), expected)
    model = OperatorKernelRegressor(kernel).fit(frame, Y)
    assert list(model.predict(frame[::-1]).index) == list(range(N))[::-1]
    assert np.isfinite(cross_val_score(OperatorKernelRegressor(kernel, alpha=0.1), frame, Y, cv=3)).all()
    with pytest.raises(ValueError, match="part of their own"):
        Columns([(L2(1.0), ["curve", "age"])])(frame, frame)


def test_each_part_has_the_median_of_its_own_columns():
    kernel = Columns(
        [
            ("rbf", SCALARS),
            (NamedKernel("rbf", "median"), ["age"]),
            (NamedKernel("rbf", 3.0), "size"),
            ("linear", "age"),
        ]
    )
    found = kernel.resolve(X).gamma
    assert_allclose(found[:3], [median_gamma(NUMBERS), median_gamma(NUMBERS[:, :1]), 3.0])
    assert found[3] is None


def test_weights_of_samples_reach_the_parts():
    weights = rng.integers(1, 3, size=N)
    repeated = X.loc[np.repeat(np.arange(N), weights)]
    parts = [("rbf", SCALARS), (CategoricalKernel(), ["region", "level"])]
    assert_allclose(Columns(parts).resolve(X, weights).gamma, Columns(parts).resolve(repeated).gamma)


def test_linear_parts_are_centred_at_the_training_inputs():
    moved = X.assign(age=X["age"] + 100)
    kernel = Columns([("linear", "age"), ("rbf", "size")])
    expected = np.multiply.outer(*[NUMBERS[:, 0] - NUMBERS[:, 0].mean()] * 2)
    expected = expected + rbf(NUMBERS[:, 1:], NUMBERS[:, 1:], median_gamma(NUMBERS[:, 1:]))
    assert_allclose(kernel.resolve(moved)(moved, moved), expected)


def test_rates_that_are_left_to_the_data_are_searched_together():
    parts = [("rbf", SCALARS), (CategoricalKernel(), "region"), (NamedKernel("rbf", 3.0), "size"), (L2(), CURVE_NAMES)]
    kernel = Columns(parts, n_rounds=0)
    assert kernel.rate_is_searched and not Columns(PARTS).rate_is_searched
    start = kernel.resolve(X)
    model = OperatorKernelRegressor(kernel).fit(X, Y)
    table = model.search_results_
    single = np.array([not str(one).startswith("average of ") for one in table["kernel"]])
    rates = {tuple(gamma) for gamma in table["gamma"][single]}
    assert len(rates) > 5
    for rate in rates:
        ratio = np.array(rate) / np.array(start.gamma)
        assert ratio[2] == 1.0
        assert_allclose(ratio[[0, 1, 3]], ratio[0])
    # of few samples the model has the average of these, among them the best
    assert tuple(table["gamma"][single][np.argmin(table["error"][single])]) in {tuple(one) for one in model.gamma_}
    factors = [gamma[0] / start.gamma[0] for gamma in model.gamma_]
    expected = sum(
        weight * start.with_rate(factor)(X, X) for weight, factor in zip(model.kernel_.weights, factors, strict=True)
    )
    assert_allclose(model.kernel_(X, X), expected, atol=1e-10)


def test_rates_are_searched_one_by_one_in_rounds():
    """A product in which one input takes a high rate and the others do not."""
    draw = np.random.default_rng(0)

    def data(n):
        inputs = pd.DataFrame(
            {"a": draw.uniform(-1, 1, n), "b": draw.uniform(-1, 1, n), "c": draw.choice(list("xyz"), n)}
        )
        return inputs, np.sin(12 * inputs["a"]) * (1 + inputs["b"]) + 0.1 * draw.normal(size=n)

    (train, y), (test, true) = data(120), data(500)
    parts = [("rbf", "a"), ("rbf", "b"), (CategoricalKernel(), "c")]
    together, alone = (OperatorKernelRegressor(Columns(parts, "product", n_rounds=n)).fit(train, y) for n in (0, 3))
    assert alone.score(test, true) > max(together.score(test, true) + 0.2, 0.8)
    start = np.array(Columns(parts, "product").resolve(train).gamma)
    ratios = np.array(alone.gamma_) / start
    assert ratios[0] > 4 * ratios[1:].max()
    assert alone.search_results_["error"].min() < together.search_results_["error"].min()
    fixed = Columns([(NamedKernel("rbf", 3.0), "a"), ("rbf", "b"), (CategoricalKernel(), "c")], "product")
    assert OperatorKernelRegressor(fixed).fit(train, y).gamma_[0] == 3.0


def test_repeated_samples_are_weights():
    kernel = Columns([("rbf", SCALARS), (CategoricalKernel(), ["region", "level"])])
    weights = rng.integers(1, 3, size=N)
    rows = np.repeat(np.arange(N), weights)
    model = OperatorKernelRegressor(kernel).fit(X, Y, sample_weight=weights)
    repeated = OperatorKernelRegressor(kernel).fit(X.iloc[rows], Y.iloc[rows])
    assert model.alpha_ == pytest.approx(repeated.alpha_)
    assert_allclose(model.gamma_, repeated.gamma_)


def test_settings_of_parts():
    kernel = Columns(
        [(NamedKernel("rbf", 1.0), "age"), ("linear", "size"), (Columns([(Matern(), ["level"])]), ["level"])]
    )
    params = kernel.get_params()
    assert params["0__gamma"] == 1.0 and params["1"] == "linear" and params["2__0__nu"] == 1.5
    copy = clone(kernel).set_params(**{"0__gamma": 2.0, "1": "rbf", "2__0__nu": 0.5, "combine": "product"})
    assert copy.get_params()["0__gamma"] == 2.0 and copy.get_params()["2__0__nu"] == 0.5
    assert copy.parts[1] == ("rbf", "size") and copy.combine == "product"
    assert kernel.get_params()["0__gamma"] == 1.0 and kernel.parts[1][0] == "linear"  # a clone is on its own
    both = clone(kernel).set_params(**{"0": Matern(), "0__nu": 2.5})
    assert both.parts[0][0].nu == 2.5
    with pytest.raises(ValueError, match="Invalid parameter"):
        clone(kernel).set_params(**{"7": "rbf"})
    assert "NamedKernel" in repr(kernel)


def test_settings_of_parts_by_name():
    model = OperatorKernelRegressor(Columns([("rbf", SCALARS), ("l2", CURVE_NAMES), ("poly", "age")]), alpha=0.1)
    own = clone(model).set_params(kernel__0__gamma=2.0, kernel__1__gamma=0.5)
    assert repr(own.kernel.parts[0][0]) == "NamedKernel(gamma=2.0)" and own.kernel.parts[1][0].gamma == 0.5
    assert [part[0] for part in model.kernel.parts] == ["rbf", "l2", "poly"]
    parts = [(NamedKernel("rbf", 2.0), SCALARS), (L2(0.5), CURVE_NAMES), ("poly", "age")]
    expected = clone(model).set_params(kernel=Columns(parts)).fit(X, Y)
    pd.testing.assert_frame_equal(own.fit(X, Y).predict(X), expected.predict(X))
    assert clone(model).set_params(kernel__2="matern32", kernel__2__gamma=3.0).kernel.parts[2][0].gamma == 3.0
    with pytest.raises(ValueError, match=r"2__degree: part 2 of Columns, 'poly'.*kernels.Matern"):
        model.set_params(kernel__2__degree=2)


def test_grid_search():
    model = OperatorKernelRegressor(Columns([(NamedKernel("rbf", 1.0), SCALARS), ("linear", "age")]), alpha=0.1)
    settings = {"kernel__0__gamma": [1e-3, 1.0], "kernel__weights": [None, [1.0, 0.1]]}
    search = GridSearchCV(model, settings, cv=3).fit(X, Y)
    for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        own = Columns([(NamedKernel("rbf", params["kernel__0__gamma"]), SCALARS), ("linear", "age")])
        own.weights = params["kernel__weights"]
        assert cross_val_score(clone(model).set_params(kernel=own), X, Y, cv=3).mean() == pytest.approx(score)
    assert len(set(search.cv_results_["mean_test_score"])) == 4


def test_settings_that_change_after_fit_do_not_reach_the_model():
    kernel = Columns([(NamedKernel("rbf", 1.0), SCALARS)])
    model = OperatorKernelRegressor(kernel, alpha=0.1).fit(X, Y)
    before = model.predict(X)
    kernel.set_params(**{"0__gamma": 50.0})
    pd.testing.assert_frame_equal(model.predict(X), before)


KERNEL = Columns([("rbf", SCALARS), (CategoricalKernel(), ["region"]), (L2(), CURVE_NAMES)], "sum")


def test_columns_may_come_in_any_order():
    model = OperatorKernelRegressor(KERNEL, alpha=0.1).fit(X, Y)
    assert list(model.feature_names_in_) == list(X.columns)
    expected = model.predict(X)
    shuffled = X[rng.permutation(X.columns)].assign(other="more")
    pd.testing.assert_frame_equal(model.predict(shuffled), expected)
    pd.testing.assert_frame_equal(model.predict(X.drop(columns="level")), expected)  # which has no part
    by_number = OperatorKernelRegressor(Columns([("rbf", [0, 1])]), alpha=0.1).fit(X, Y)
    assert_allclose(by_number.predict(X[X.columns[::-1]]), by_number.predict(X))
    assert_allclose(pickle.loads(pickle.dumps(model)).predict(X), expected)
    with pytest.warns(UserWarning, match="feature names"):
        assert_allclose(model.predict(X.to_numpy()), expected)
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(ValueError, match="features"):
        model.predict(X.to_numpy()[:, :5])


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_all_estimators(form):
    inputs = FORMS[form](X)
    G = KERNEL.resolve(X)(X, X)
    known = {"alpha": 0.1}
    kernel = KERNEL.resolve(X)
    pairs = [
        (OperatorKernelRegressor, Y.to_numpy(), {}),
        (OperatorKernelRegressor, Y.to_numpy(), {"loss": "huber"}),
        (FunctionalRegressor, CURVES, {}),
        (StructuredPredictor, REGION.tolist(), {}),
    ]
    for estimator, y, settings in pairs:
        model = estimator(kernel, **known, **settings).fit(inputs, y)
        expected = estimator("precomputed", **known, **settings).fit(G, y)
        found, wanted = model.predict(inputs), expected.predict(G)
        assert found == wanted if isinstance(found, list) else np.allclose(found, wanted, atol=1e-4)
    groups = (REGION == "east").astype(int)
    plain = {"alpha": 0.1, "similarities": None}
    links, given = LinkPredictor(kernel, **plain).fit(inputs, groups), LinkPredictor("precomputed", **plain)
    assert_allclose(links.pair_scores(inputs), given.fit(G, groups).pair_scores(G), atol=1e-6)


def test_paths_and_semi_supervision():
    path = RegularizationPathCV(OperatorKernelRegressor(KERNEL), alphas=[1e-3, 1e-1]).fit(X, Y)
    assert list(path.predict(X).columns) == ["u", "v"]
    folds = RegularizationPathCV(OperatorKernelRegressor(KERNEL.resolve(X)), alphas=[1e-3, 1e-1], cv=3).fit(X, Y)
    assert np.isfinite(folds.errors_).all()
    terms = [(Columns([("rbf", SCALARS)]), None), (CategoricalKernel(0.5), np.ones((2, 2)))]
    summed = OperatorKernelRegressor(terms, alpha=0.1).fit(X[[*SCALARS, "region"]], Y)
    assert np.isfinite(summed.predict(X[[*SCALARS, "region"]])).all(axis=None)


def test_categories():
    x, z = np.array(["a", "b", "a"]), np.array(["c", "a", "c"])
    rho = np.exp(-0.7)
    assert_allclose(CategoricalKernel(0.7)(x, z), [[rho, 1, rho], [rho, rho, rho], [rho, 1, rho]])
    assert_allclose(
        CategoricalKernel(0.7)(z, z), [[1, rho, 1], [rho, 1, rho], [1, rho, 1]]
    )  # new ones are like themselves


def test_missing_is_a_category():
    rho = np.exp(-1.0)
    expected = [[1, rho, 1, rho], [rho, 1, rho, rho], [1, rho, 1, rho], [rho, rho, rho, 1]]
    columns = [pd.Series([None, "a", None, "b"], dtype=dtype) for dtype in (object, "string", "str", "category")]
    columns += [pd.Series([pd.NA, 1, pd.NA, 2], dtype=dtype) for dtype in ("Int64", "Float64", object)]
    columns += [np.array([np.nan, 1.0, np.nan, 2.0]), [None, "a", np.nan, "b"], pl.Series([None, "a", None, "b"])]
    for x in columns:
        assert_allclose(CategoricalKernel(1.0)(x, x), expected)
        if hasattr(x, "to_frame"):
            assert_allclose(CategoricalKernel(1.0)(x.to_frame(), x.to_frame()), expected)


def test_numbers_are_equal_whatever_their_type():
    ints, floats = np.array([1, 2]), np.array([2.0, np.nan])
    assert_allclose(CategoricalKernel(1.0)(ints, floats), [[np.exp(-1)] * 2, [1, np.exp(-1)]])


@pytest.mark.parametrize("combine", ["product", "mean"])
def test_several_columns_of_categories(combine):
    frame = X[["region", "level"]]
    rho = np.exp(-0.4)
    both = [alike(REGION, REGION, rho), alike(LEVEL, LEVEL, rho)]
    expected = both[0] * both[1] if combine == "product" else (both[0] + both[1]) / 2
    for x in (frame, frame.to_numpy(), frame.to_numpy().tolist(), InputTable.from_data(frame)):
        G = CategoricalKernel(0.4, combine)(x, x)
        assert_allclose(G, expected)
    assert np.linalg.eigvalsh(G).min() > -1e-12


def test_the_rate_of_categories():
    assert CategoricalKernel().resolve(REGION).gamma == 1.0
    assert CategoricalKernel(combine="mean").resolve(X[["region", "level"]]).gamma == 1.0
    many = rng.integers(2, size=(N, 9))
    differ = (many[:, None] != many[None]).sum(axis=2)[np.triu_indices(N, 1)]
    assert CategoricalKernel("median").resolve(many).gamma == pytest.approx(1 / np.median(differ[differ > 0]))
    assert CategoricalKernel(2.0).with_rate(3.0).gamma == 6.0


@pytest.mark.parametrize("combine", ["product", "mean"])
def test_categories_alone(combine):
    model = OperatorKernelRegressor(CategoricalKernel(combine=combine)).fit(X[["region"]], Y)
    means = Y.groupby(X["region"]).mean()
    east = model.predict(pd.DataFrame({"region": ["east", "nowhere", None]}))
    assert abs(east["u"].iloc[0] - means["u"]["east"]) < 0.3  # means of the groups, shrunk
    assert_allclose(east.iloc[1], east.iloc[2])  # neither was seen
    for x in (REGION, REGION.tolist(), REGION[:, None], X["region"], pl.Series("region", REGION)):
        found = OperatorKernelRegressor(CategoricalKernel(combine=combine), alpha=model.alpha_).fit(x, Y).predict(x)
        assert found.shape == Y.shape


def test_unlike_categories_share_nothing_at_large_rates():
    alpha = 0.01
    model = OperatorKernelRegressor(CategoricalKernel(700.0), alpha=alpha, center=False).fit(X["region"].to_numpy(), Y)
    found = model.predict(np.array(["north", "elsewhere"], dtype=object))
    rows = Y[REGION == "north"]
    assert_allclose(found.iloc[0], rows.sum() / (len(rows) + alpha * N))
    assert_allclose(found.iloc[1], 0, atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (Columns([("rbf", ["age", "hight"])]), "'hight', which X does not have; its columns are"),
        (Columns([("rbf", [])]), "part 0 has no columns"),
        (Columns([("rbf", None)]), "part 0 has no columns"),
        (Columns([("rbf", ["age", "age"])]), "'age' more than once"),
        (Columns([("rbf", [99])]), "takes column 99, but X has 13 columns"),
        (Columns([]), "at least one"),
        (Columns("rbf"), "list of"),
        (Columns([("rbf", "age", 1)]), "list of"),
        (Columns([("nonsense", "age")]), "unknown name 'nonsense'"),
        (Columns([("precomputed", "age")]), "cannot be 'precomputed'"),
        (Columns([(kernels.CurlFreeKernel(), SCALARS)]), "values are numbers"),
        (
            Columns([("rbf", ["age", "region"])]),
            "takes numbers, which 'region' does not hold; give kernels.CategoricalKernel",
        ),
        (Columns([("rbf", "age")], combine="mean"), "combine: unknown name 'mean'"),
        (Columns([("rbf", "age")], weights=[1, 2]), "weights must be 1 number"),
        (Columns([("rbf", "age")], weights=[-1]), "weights must be 1 number"),
        (Columns([("rbf", "age")], weights=[0]), "not all of them 0"),
        (Columns([("rbf", "age")], n_rounds=-1), "n_rounds must be an integer >= 0"),
        (Columns([("rbf", "age")], "product", weights=[1]), "weights are of a sum"),
        (CategoricalKernel(-1.0), "CategoricalKernel: gamma must be a finite number > 0"),
        (CategoricalKernel(combine="sum"), "combine: unknown name 'sum'"),
    ],
)
def test_bad_settings(kernel, match):
    with pytest.raises(ValueError, match=match):
        OperatorKernelRegressor(kernel).fit(X, Y)


def test_bad_kernels():
    with pytest.raises(TypeError, match=r"part 0 is a class; pass CategoricalKernel\(\)"):
        OperatorKernelRegressor(Columns([(CategoricalKernel, "age")])).fit(X, Y)
    with pytest.raises(TypeError, match="kernel must be"):
        OperatorKernelRegressor(Columns([(3, "age")])).fit(X, Y)
    with pytest.raises(ValueError, match="not a number yet; call resolve"):
        Columns([("rbf", "age")])(X, X)
    with pytest.raises(ValueError, match="not a number yet; call resolve"):
        CategoricalKernel()(REGION, REGION)


def test_bad_inputs():
    twice = X.set_axis(["age", "age", *X.columns[2:]], axis=1)
    with pytest.raises(ValueError, match="X has 2 columns named 'age'"):
        OperatorKernelRegressor(Columns([("rbf", "age")])).fit(twice, Y)
    with pytest.raises(ValueError, match="X has 2 columns named 'age'"):
        Columns([("rbf", "age")]).resolve(twice)
    with pytest.raises(ValueError, match="no names; give a data frame"):
        OperatorKernelRegressor(Columns([("rbf", "age")])).fit(NUMBERS, Y)
    with pytest.raises(ValueError, match="must have columns"):
        OperatorKernelRegressor(Columns([("rbf", "age")])).fit(REGION, Y)
    with pytest.raises(ValueError, match=r"NaN or infinity in its columns \['age'\]; fill"):
        OperatorKernelRegressor(Columns([("rbf", "age")])).fit(X.assign(age=[np.nan, *NUMBERS[1:, 0]]), Y)
    with pytest.raises(ValueError, match="can be hashed, got list"):
        OperatorKernelRegressor(CategoricalKernel()).fit(pd.DataFrame({"a": [[1]] * N}), Y)
    with pytest.raises(ValueError, match="regressor takes rows of numbers"):
        FunctionalRegressor(KERNEL, regressor=DummyRegressor()).fit(X, CURVES)
    with pytest.raises(ValueError, match="put each into"):
        OperatorKernelRegressor([("rbf", None), (Columns([("rbf", "age")]), None)]).fit(X, Y)


def test_columns_that_lack_at_predict():
    model = OperatorKernelRegressor(KERNEL, alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="'region', which X does not have"):
        model.predict(X.drop(columns="region"))
    with pytest.raises(ValueError, match="takes numbers, which 'age' does not hold"):
        model.predict(X.assign(age="old"))


@pytest.mark.parametrize("form", ["pandas", "polars"])
@pytest.mark.parametrize("estimator", [OperatorKernelRegressor, FunctionalRegressor, StructuredPredictor])
def test_text_without_a_kernel_for_it_is_an_error_with_an_example(estimator, form):
    inputs = FORMS[form](X[["age", "size", "region"]])
    with pytest.raises(ValueError, match="The columns 'region' are not numbers") as error:
        estimator().fit(inputs, Y.to_numpy())
    example = str(error.value).split("kernel=")[1]
    assert example == "kernels.Columns([('rbf', ['age', 'size']), (kernels.CategoricalKernel(), ['region'])])"
    kernel = eval(example, {"kernels": kernels})
    assert estimator(kernel, alpha=0.1).fit(inputs, Y.to_numpy()).predict(inputs).shape == Y.shape


def test_the_example_for_many_columns_and_functions():
    skfda = pytest.importorskip("skfda")
    frame = X.drop(columns="level")
    frame["curve"] = skfda.FDataGrid(CURVES)
    with pytest.raises(ValueError, match="not numbers") as error:
        OperatorKernelRegressor("rbf").fit(frame, Y)
    kernel = eval(str(error.value).split("kernel=")[1], {"kernels": kernels, "X": frame})
    assert kernel.parts[0] == ("rbf", ["age", "size", *CURVE_NAMES]) and kernel.parts[1][1] == "curve"
    assert OperatorKernelRegressor(kernel, alpha=0.1).fit(frame, Y).score(frame, Y) > 0


def test_diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X["sex"] = X["sex"].map({1.0: "f", 2.0: "m"}).astype("category")
    numbers = [name for name in X.columns if name != "sex"]
    X[numbers] = (X[numbers] - X[numbers].mean()) / X[numbers].std()
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    kernel = Columns([("rbf", numbers), ("linear", numbers), (CategoricalKernel(), "sex")])
    model = OperatorKernelRegressor(kernel, alpha=0.1).fit(train, y_train)
    assert model.predict(test).index.equals(test.index)
    # the same by hand: gamma from the median, the linear part around the mean, rho = 1 / e
    A, B = train[numbers].to_numpy(), test[numbers].to_numpy()
    rates = model.gamma_
    centre = A.mean(axis=0)

    def gram(a, b, s, t):
        return rbf(a, b, rates[0]) + (a - centre) @ (b - centre).T + alike(s, t, np.exp(-rates[2]))

    K = gram(A, A, train["sex"], train["sex"])
    coefficients = np.linalg.solve(K + 0.1 * len(K) * np.eye(len(K)), y_train - y_train.mean())
    expected = y_train.mean() + gram(B, A, test["sex"], train["sex"]) @ coefficients
    assert_allclose(model.predict(test), expected, rtol=1e-6)
    assert model.score(test, y_test) > 0.3


def test_kernels_of_text_and_curves_by_name():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(12, 4)), columns=list("abcd")).assign(word=["cat", "cart", "dog", "dot"] * 3)
    y = rng.normal(size=12)
    named = Columns([("ngrams", "word"), ("l2", ["a", "b", "c", "d"])])
    objects = Columns([(NGrams(), "word"), (L2(), ["a", "b", "c", "d"])])
    found, wanted = (
        OperatorKernelRegressor(kernel, alpha=1e-2).fit(frame, y).predict(frame) for kernel in (named, objects)
    )
    assert_allclose(found, wanted)
