"""Data frames and series in and out: names, index, dtypes and missing values, against the same data as arrays."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_linnerud
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    LinkPredictor,
    OperatorKernelRegressor,
    RegularizationPathCV,
    kernels,
    metrics,
)
from hilbertlearn import StructuredPredictor as Predictor
from hilbertlearn.data.frames import FrameForm, values_of
from hilbertlearn.metrics import r2_score

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

rng = np.random.default_rng(0)
N = 24
A = rng.normal(size=(N, 2))
INDEX = [f"row {i}" for i in range(N)]
X = pd.DataFrame(A, columns=["a", "b"], index=INDEX)
NEW = pd.DataFrame(rng.normal(size=(4, 2)), columns=["a", "b"], index=[7, 3, 3, 1])
VALUES = np.c_[np.sin(A[:, 0]), A[:, 1] ** 2, A.sum(axis=1)]
Y = pd.DataFrame(VALUES, columns=["u", "v", "w"], index=INDEX)
T = np.array([0.0, 0.1, 0.5, 2.0])
CURVES = np.sin(A[:, :1] + T)


def vectors(**settings):
    return OperatorKernelRegressor(**{"kernel": "rbf", "gamma": 0.5, "alpha": 1e-3, **settings})


def curves(**settings):
    return FunctionalRegressor(**{"kernel": "rbf", "gamma": 0.5, "alpha": 1e-3, **settings})


def objects(**settings):
    return Predictor(**{"kernel": "rbf", "gamma": 0.5, "alpha": 1e-2, **settings})


def polars_of(frame):
    return pl.DataFrame({str(name): frame[name].to_numpy() for name in frame.columns})


# ---------------------------------------------------------------- values


def test_missing_values_of_any_kind_are_nan():
    frame = pd.DataFrame(
        {
            "float": [1.0, np.nan],
            "Float64": pd.array([1.5, None], dtype="Float64"),
            "Int64": pd.array([2, None], dtype="Int64"),
            "boolean": pd.array([True, None], dtype="boolean"),
            "object": pd.Series([3, pd.NA], dtype=object),
            "category": pd.Categorical([4, None]),
        }
    )
    assert_array_equal(values_of(frame), [[1.0, 1.5, 2.0, 1.0, 3.0, 4.0], [np.nan] * 6])
    polars = pl.DataFrame({"f": [1.0, None], "i": [2, None], "b": [True, None]})
    assert_array_equal(values_of(polars), [[1, 2, 1], [np.nan] * 3])


@pytest.mark.parametrize("dtype", ["string", "str", "category", object])
def test_missing_text_is_none(dtype):
    assert values_of(pd.Series(["a", None, "b"], dtype=dtype)).tolist() == ["a", None, "b"]
    assert values_of(pl.Series(["a", None, "b"])).tolist() == ["a", None, "b"]


def test_numbers_keep_their_kind():
    assert values_of(pd.DataFrame({"a": [1, 2], "b": [3, 4]})).dtype.kind == "i"
    assert values_of(pd.Series([True, False], dtype="boolean")).dtype == bool
    assert values_of(A) is A and FrameForm.from_outputs(A) is None and FrameForm.from_outputs(A.tolist()) is None


# ---------------------------------------------------------------- vectors


def test_vectors_come_back_in_a_frame():
    expected = vectors().fit(A, VALUES)
    model = vectors().fit(X, Y)
    found = model.predict(NEW)
    assert isinstance(found, pd.DataFrame)
    assert list(found.columns) == ["u", "v", "w"] and list(found.index) == [7, 3, 3, 1]
    assert_allclose(found, expected.predict(NEW.to_numpy()))
    assert model.score(X, Y) == pytest.approx(expected.score(A, VALUES))
    again = pickle.loads(pickle.dumps(model)).predict(NEW)
    pd.testing.assert_frame_equal(found, again)


def test_the_index_is_that_of_the_inputs():
    plain = vectors().fit(A, Y).predict(NEW.to_numpy())
    assert list(plain.index) == [0, 1, 2, 3] and list(plain.columns) == ["u", "v", "w"]
    assert isinstance(vectors().fit(X, VALUES).predict(NEW), np.ndarray)


def test_a_series_comes_back_as_a_series_of_its_name():
    found = vectors().fit(X, Y["v"]).predict(NEW)
    assert isinstance(found, pd.Series) and found.name == "v" and list(found.index) == [7, 3, 3, 1]
    assert_allclose(found, vectors().fit(A, VALUES[:, 1]).predict(NEW.to_numpy()))
    one = vectors().fit(X, Y[["v"]]).predict(NEW)
    assert isinstance(one, pd.DataFrame) and one.shape == (4, 1)


def test_columns_of_several_levels_and_equal_names():
    levels = pd.MultiIndex.from_tuples([("p", 1), ("p", 2), ("q", 1)], names=["group", "number"])
    found = vectors().fit(X, Y.set_axis(levels, axis=1)).predict(NEW)
    assert found.columns.equals(levels) and found.columns.names == ["group", "number"]
    assert list(vectors().fit(X, Y.set_axis(["u", "u", "w"], axis=1)).predict(NEW).columns) == ["u", "u", "w"]


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_gaps_are_those_of_arrays(loss):
    gaps = VALUES.copy()
    gaps[::3, 0], gaps[5] = np.nan, np.nan
    nullable = pd.DataFrame(gaps, columns=list("uvw"), index=INDEX).convert_dtypes()
    assert nullable.isna().to_numpy().sum() == np.isnan(gaps).sum() and str(nullable.dtypes.iloc[0]) == "Float64"
    expected, model = (vectors(loss=loss).fit(X, y) for y in (gaps, nullable))
    assert_allclose(model.predict(NEW), expected.predict(NEW))
    assert model.score(X, nullable) == pytest.approx(expected.score(X, gaps))
    assert r2_score(nullable, model.predict(X)) == pytest.approx(model.score(X, nullable))
    assert_allclose(model.machine_.encode(nullable), expected.machine_.encode(gaps))
    assert_allclose(model.machine_.residuals(X, nullable), expected.machine_.residuals(X, gaps))


def test_left_out_residuals_are_in_the_frame_of_the_outputs():
    found = vectors().fit(X, Y).loo_residuals()
    assert found.index.equals(Y.index) and found.columns.equals(Y.columns)
    assert_allclose(found, vectors().fit(A, VALUES).loo_residuals())


def test_tools_of_scikit_learn():
    nullable = Y.convert_dtypes()
    nullable.iloc[2, 1] = pd.NA
    gaps = values_of(nullable)
    assert_allclose(cross_val_score(vectors(), X, nullable, cv=3), cross_val_score(vectors(), A, gaps, cv=3))
    assert_allclose(cross_val_predict(vectors(), X, Y, cv=3), cross_val_predict(vectors(), A, VALUES, cv=3))
    search = GridSearchCV(vectors(), {"alpha": [1e-3, 1.0]}, cv=3).fit(X, Y)
    assert list(search.predict(NEW).columns) == ["u", "v", "w"]
    piped = make_pipeline(StandardScaler(), vectors()).fit(X, Y).predict(NEW)  # which hands on an array
    assert list(piped.columns) == ["u", "v", "w"] and list(piped.index) == [0, 1, 2, 3]


@pytest.mark.parametrize("settings", [{}, {"scoring": "r2"}, {"cv": 3}, {"cv": 3, "scoring": "r2"}])
def test_paths(settings):
    path = RegularizationPathCV(vectors(), alphas=[1e-3, 1e-2], **settings)
    model, expected = clone(path).fit(X, Y), clone(path).fit(A, VALUES)
    assert_allclose(model.errors_, expected.errors_)
    found = model.predict(NEW)
    assert list(found.columns) == ["u", "v", "w"] and list(found.index) == [7, 3, 3, 1]
    assert model.score(X, Y) == pytest.approx(expected.score(A, VALUES))


def test_columns_in_another_order_are_not_scored():
    with pytest.raises(ValueError, match=r"another order.*'u', 'v', 'w'"):
        vectors().fit(X, Y).score(X, Y[["w", "u", "v"]])


def test_text_is_no_number():
    with pytest.raises(ValueError, match=r"y must be numbers.*'u' holds no numbers"):
        vectors().fit(X, Y.assign(u="text"))


def test_outputs_with_dates_are_refused():
    with pytest.raises(ValueError, match="y must be numbers"):
        vectors().fit(X, Y.assign(u=pd.Timestamp("2020-01-01")))


def test_a_refit_with_arrays_forgets_the_frame():
    assert isinstance(vectors().fit(X, Y).fit(X, VALUES).predict(NEW), np.ndarray)


def test_polars_vectors():
    inputs, new = polars_of(X), polars_of(NEW)
    outputs = pl.DataFrame({"u": [None, *VALUES[1:, 0]], "v": VALUES[:, 1]})
    gaps = VALUES[:, :2].copy()
    gaps[0, 0] = np.nan
    model = vectors().fit(inputs, outputs)
    found = model.predict(new)
    assert isinstance(found, pl.DataFrame) and found.columns == ["u", "v"]
    assert_allclose(found, vectors().fit(A, gaps).predict(NEW.to_numpy()))
    assert model.score(inputs, outputs) == pytest.approx(vectors().fit(A, gaps).score(A, gaps))
    series = vectors().fit(inputs, outputs["v"]).predict(new)
    assert isinstance(series, pl.Series) and series.name == "v"
    assert np.isfinite(cross_val_score(vectors(), inputs, outputs, cv=3)).all()
    assert vectors().fit(inputs, outputs).loo_residuals().columns == ["u", "v"]


# ---------------------------------------------------------------- functions


def test_names_that_are_numbers_are_the_grid():
    frame = pd.DataFrame(CURVES, columns=T, index=INDEX)
    model, expected = curves().fit(X, frame), curves(grid=T).fit(A, CURVES)
    found = model.predict(NEW)
    assert_array_equal(found.columns, T)
    assert list(found.index) == [7, 3, 3, 1]
    assert_allclose(found, expected.predict(NEW.to_numpy()))
    between = np.array([0.2, 1.0, 1.7])
    new = model.predict(NEW, grid=between)
    assert_array_equal(new.columns, between)
    assert_allclose(new, expected.predict(NEW.to_numpy(), grid=between))
    assert model.predict(NEW, grid=[[0.2], [0.1, 1.0], [1.0], [2.0]]).shape == (4,)


def test_scores_of_curves():
    frame = pd.DataFrame(CURVES, columns=T, index=INDEX)
    model, expected = curves().fit(X, frame), curves(grid=T).fit(A, CURVES)
    score = expected.score(A, CURVES)
    assert model.score(X, frame) == pytest.approx(score) == pytest.approx(model.score(X, CURVES))
    for y in (frame, CURVES):
        assert_allclose(model.machine_.encode(y), expected.machine_.encode(CURVES))
    # a part of the points, as a frame says
    assert model.score(X, frame.iloc[:, :3]) == pytest.approx(1, abs=0.01)
    with pytest.raises(ValueError, match="grid of the training outputs"):
        model.machine_.encode(frame.set_axis([0.0, 0.2, 0.5, 2.0], axis=1))
    assert_allclose(cross_val_score(curves(), X, frame, cv=3), cross_val_score(curves(grid=T), A, CURVES, cv=3))
    path = RegularizationPathCV(curves(), alphas=[1e-3, 1e-2]).fit(X, frame)
    assert_array_equal(path.predict(NEW).columns, T)


def test_a_grid_that_is_given_wins():
    grid = np.array([0.0, 1.0, 2.0, 4.0])
    frame = pd.DataFrame(CURVES, columns=T)
    model, expected = curves(grid=grid).fit(A, frame), curves(grid=grid).fit(A, CURVES)
    assert_allclose(model.predict(A), expected.predict(A))
    assert_array_equal(model.predict(A).columns, T)
    assert model.score(A, frame) == pytest.approx(expected.score(A, CURVES))
    assert_array_equal(model.predict(A, grid=[1.0, 3.0]).columns, [1.0, 3.0])


def test_names_that_are_no_numbers_are_even_steps():
    names = ["first", "second", "third", "last"]
    found = curves().fit(A, pd.DataFrame(CURVES, columns=names)).predict(A)
    assert list(found.columns) == names
    assert_allclose(found, curves().fit(A, CURVES).predict(A))


def test_names_from_a_file_are_text():
    frame = pd.DataFrame(CURVES, columns=[str(t) for t in T])
    model = curves().fit(A, frame)
    assert_allclose(model.space_.grids[0], T)
    assert list(model.predict(A).columns) == list(frame.columns)
    assert list(model.predict(A, grid=[0.5, 1.0]).columns) == ["0.5", "1.0"]
    polars = polars_of(frame)
    found = curves().fit(A, polars)
    assert found.predict(A).columns == list(frame.columns)
    assert_allclose(found.predict(A, grid=[0.5, 1.0]), model.predict(A, grid=[0.5, 1.0]))


@pytest.mark.parametrize("names", [[0.0, 0.5, 0.1, 2.0], [0.0, 0.1, 0.1, 2.0]])
def test_grids_that_do_not_increase(names):
    with pytest.raises(ValueError, match=r"names of its columns.*increase.*(names = |equal points)"):
        curves().fit(A, pd.DataFrame(CURVES, columns=names))


def test_gaps_in_curves():
    gaps = CURVES.copy()
    gaps[::4, 1] = np.nan
    frame = pd.DataFrame(gaps, columns=T).convert_dtypes()
    assert_allclose(curves().fit(A, frame).predict(A), curves(grid=T).fit(A, gaps).predict(A))


# ---------------------------------------------------------------- objects


SETS = pd.DataFrame({"red": A[:, 0] > 0, "blue": A[:, 1] > 0, "both": A.sum(axis=1) > 0}, index=INDEX)


@pytest.mark.parametrize("dtype", ["bool", "boolean", "int8", "Int64", "float"])
def test_label_sets(dtype):
    y = SETS.astype(dtype)
    model, expected = objects().fit(X, y), objects().fit(A, SETS.to_numpy().astype(int))
    assert type(model.output_loss_).__name__ == "Hamming"
    found = model.predict(NEW)
    assert list(found.columns) == ["red", "blue", "both"] and list(found.index) == [7, 3, 3, 1]
    assert (found.dtypes == dtype).all()
    assert_array_equal(found.astype(int), expected.predict(NEW.to_numpy()))
    assert model.score(X, y) == expected.score(A, SETS.to_numpy().astype(int))


def test_label_sets_that_are_not_known():
    y = SETS.astype("boolean")
    y.iloc[[0, 4]] = pd.NA
    known = np.setdiff1d(np.arange(N), [0, 4])
    model, expected = objects().fit(X, y), objects(alpha=1e-2).fit(X.iloc[known], y.iloc[known])
    pd.testing.assert_frame_equal(model.predict(NEW), expected.predict(NEW))
    assert model.score(X, y) == expected.score(X.iloc[known], y.iloc[known])


def test_rankings():
    ranks = pd.DataFrame(VALUES, columns=["x", "y", "z"], index=INDEX).rank(axis=1).astype(int)
    model = objects(output_loss="kendall").fit(X, ranks)
    found = model.predict(NEW)
    assert list(found.columns) == ["x", "y", "z"] and (np.sort(found, axis=1) == [1, 2, 3]).all()
    assert_array_equal(found, objects(output_loss="kendall").fit(A, ranks.to_numpy()).predict(NEW.to_numpy()))
    assert np.isfinite(cross_val_score(model, X, ranks, cv=3)).all()
    with pytest.raises(ValueError, match="another order"):
        model.score(X, ranks[["y", "x", "z"]])


@pytest.mark.parametrize("dtype", ["string", "str", "category", object])
def test_series_of_text(dtype):
    words = np.where(A[:, 0] > 0, "yes", "no").astype(object)
    words[3] = None
    y = pd.Series(words, index=INDEX, name="answer", dtype=dtype)
    model, expected = objects().fit(X, y), objects().fit(A, words.tolist())
    found = model.predict(NEW)
    assert found.name == "answer" and list(found.index) == [7, 3, 3, 1] and found.dtype == y.dtype
    assert found.tolist() == expected.predict(NEW.to_numpy())
    assert model.score(X, y) == pytest.approx(expected.score(A, words.tolist()))
    assert cross_val_predict(objects(), X, y, cv=3).shape == (N,)


def test_labels_with_missing_ones_stay_labels():
    y = pd.Series(np.digitize(A[:, 0], [-0.5, 0.5]), index=INDEX, dtype="Int64", name="class")
    y.iloc[1] = pd.NA
    model = objects().fit(X, y)
    assert type(model.output_loss_).__name__ == "ZeroOne"
    found = model.predict(NEW)
    assert str(found.dtype) == "Int64" and set(found) <= {0, 1, 2}
    assert model.score(X, y) <= 0


def test_candidates_beyond_the_categories_are_kept():
    y = pd.Series(np.where(A[:, 0] > 0, "yes", "no"), dtype="category")
    found = objects().fit(A, y).predict(A, candidates=["maybe"])
    assert found.tolist() == ["maybe"] * N


def test_polars_objects():
    words = [None, *np.where(A[1:, 0] > 0, "yes", "no")]
    found = objects().fit(A, pl.Series("answer", words)).predict(NEW.to_numpy())
    assert isinstance(found, pl.Series) and found.name == "answer"
    assert found.to_list() == objects().fit(A, words).predict(NEW.to_numpy())
    sets = objects().fit(A, polars_of(SETS)).predict(NEW.to_numpy())
    assert sets.columns == ["red", "blue", "both"] and set(sets.dtypes) == {pl.Boolean}


def test_frames_of_text():
    y = pd.DataFrame({"first": np.where(A[:, 0] > 0, "a", "b"), "second": np.where(A[:, 1] > 0, "c", "d")})

    def loss(Z, Y):
        return np.array([[sum(a != b for a, b in zip(z, w)) for w in Y] for z in Z], dtype=float)

    found = objects(output_loss=loss).fit(A, y).predict(A)
    assert list(found.columns) == ["first", "second"] and (found == y).to_numpy().mean() > 0.8


# ---------------------------------------------------------------- links


def test_nodes_in_a_frame():
    groups = (A[:, 0] > 0).astype(int)
    settings = {"alpha": 0.1, "gamma": 0.5, "similarities": None}  # folds to weigh them are cut in the order of names
    model, expected = LinkPredictor("rbf", **settings), LinkPredictor("rbf", **settings)
    model.fit(X, pd.Series(groups, index=INDEX)), expected.fit(A, groups)
    assert_allclose(model.pair_scores(NEW), expected.pair_scores(NEW.to_numpy()))
    assert_allclose(model.fit(polars_of(X), groups).pair_scores(polars_of(NEW)), expected.pair_scores(NEW.to_numpy()))


# ---------------------------------------------------------------- as users write


def test_linnerud():
    X, y = load_linnerud(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), OperatorKernelRegressor("linear"))
    found = model.fit(X, y).predict(X)
    assert list(found.columns) == ["Weight", "Waist", "Pulse"] and found.index.equals(X.index)
    plain = clone(model).fit(X, y.to_numpy())
    assert_allclose(found, plain.predict(X))
    assert model.score(X, y) == pytest.approx(plain.score(X, y.to_numpy()))


def test_diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = OperatorKernelRegressor("rbf", gamma="median").fit(train, y_train)
    found = model.predict(test)
    assert found.name == "target" and found.index.equals(test.index)
    assert model.score(test, y_test) == pytest.approx(
        1 - ((found - y_test) ** 2).sum() / y_test.var() / (len(y_test) - 1)
    )
    assert model.score(test, y_test) > 0.3


def test_no_warning_for_frames():
    curves_frame = pd.DataFrame(CURVES, columns=T)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        scores = [vectors().fit(X, Y).score(X, Y), objects().fit(X, SETS).score(X, SETS)]
        predicted = curves().fit(X, curves_frame).predict(X)
    assert not told, [str(one.message) for one in told]
    assert np.isfinite(scores).all() and predicted.shape == curves_frame.shape


def test_columns_of_categories_are_found_by_name():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 60), "b": rng.choice(["x", "y"], 60)})
    y = (frame["a"] == "x") + 0.1 * (frame["b"] == "x")
    model = OperatorKernelRegressor(kernels.CategoricalKernel(), alpha=1e-3).fit(frame, y)
    assert_allclose(model.predict(frame[["b", "a"]]), model.predict(frame))
    with pytest.raises(ValueError, match=r"'b'.*training inputs"):
        model.predict(frame.rename(columns={"b": "c"}))
    single = OperatorKernelRegressor(kernels.CategoricalKernel(), alpha=1e-3).fit(frame[["a"]], y)
    assert_allclose(single.predict(frame["a"]), single.predict(frame[["a"]]))


def test_texts_in_a_series_of_polars():

    words = ["cat", "cart", "dog", "dot", "cats", "dots"]
    y = np.arange(6.0)
    wanted = OperatorKernelRegressor("ngrams", alpha=1e-3).fit(words, y).predict(words)
    assert_allclose(OperatorKernelRegressor("ngrams", alpha=1e-3).fit(pl.Series(words), y).predict(words), wanted)
    with pytest.raises(ValueError, match="NGrams"):
        OperatorKernelRegressor().fit(pl.Series(words), y)


def test_columns_of_outputs_in_another_order_are_refused_everywhere():
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(20, 2)), ["early", "noon", "late"]
    Y = pd.DataFrame(X @ rng.normal(size=(2, 3)), columns=names)
    other = Y[names[::-1]]
    model = FunctionalRegressor(alpha=1e-3).fit(X, Y)
    for question in (
        lambda: model.score(X, other),
        lambda: model.machine_.residuals(X, other),
        lambda: model.machine_.encode(other),
        lambda: metrics.kendall_tau(Y, other),
        lambda: metrics.r2_score(Y, other),
    ):
        with pytest.raises(ValueError, match="another order"):
            question()


def test_dates_and_text_without_a_name_are_told_for_what_they_are():
    frame = pd.DataFrame({"a": np.arange(12.0), "when": pd.date_range("2020-01-01", periods=12)})
    found = OperatorKernelRegressor("rbf", gamma=0.1, alpha=1e-3).fit(frame, np.arange(12.0))
    assert found.X_fit_[:3].tolist() == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    with pytest.raises(ValueError, match=r"'y' holds no numbers"):
        OperatorKernelRegressor().fit(frame[["a"]], pd.Series(["u", "v"] * 6))


def test_many_columns_that_are_no_numbers_are_one_short_message():
    """Dates are numbers of days; 48 numbers beside text are not listed."""
    frame = pd.DataFrame(np.ones((12, 48))).add_prefix("c")
    frame = frame.assign(when=pd.date_range("2020-01-01", periods=12), text="a", other=["u", "v"] * 6)
    with pytest.raises(ValueError, match=r"The columns 'text', 'other' are not numbers") as caught:
        OperatorKernelRegressor().fit(frame, np.arange(12.0))
    assert len(str(caught.value)) < 350 and "float64" not in str(caught.value)


def test_a_query_is_no_table():
    lazy = pl.DataFrame({"a": np.arange(12.0)}).lazy()
    rows = lazy.collect()
    with pytest.raises(TypeError, match=r"X is a LazyFrame.*X\.collect\(\)"):
        OperatorKernelRegressor().fit(lazy, np.arange(12.0))
    with pytest.raises(TypeError, match=r"y is a LazyFrame.*y\.collect\(\)"):
        OperatorKernelRegressor().fit(rows, lazy)
    model = OperatorKernelRegressor("rbf", gamma=0.1, alpha=1e-3).fit(rows, np.arange(12.0))
    with pytest.raises(TypeError, match=r"X is a LazyFrame"):
        model.predict(lazy)
    for conformal in (ConformalPredictor(OperatorKernelRegressor()), ConformalPredictor(Predictor())):
        with pytest.raises(TypeError, match=r"X is a LazyFrame"):
            conformal.fit(lazy, np.arange(12.0))
