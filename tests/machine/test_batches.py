"""Fits from rows in pieces against fits of the same rows in memory, with the same features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV
from hilbertlearn.data import streams
from hilbertlearn.data.streams import store
from hilbertlearn.features import Landmarks, RandomFeatures
from hilbertlearn.losses import EpsilonInsensitive, Huber
from hilbertlearn.operators import LearnedOperator

N, P, D = 300, 3, 3
rng = np.random.default_rng(0)
X = rng.normal(size=(N, P))
Y = np.c_[np.sin(X[:, 0]), X[:, 1] ** 2, X.sum(axis=1)] + 0.1 * rng.normal(size=(N, D)) + [0, 5, -2]
Y[::11] += 4 * rng.normal(size=(28, D))
WEIGHTS = rng.uniform(0.2, 2, N)
WEIGHTS[::17] = 0.0
ROOT = rng.normal(size=(D, D))
GAPS = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
GAPS[:3] = np.nan


MAP = RandomFeatures(30)


def model(alpha=1e-3, feature_map=MAP, **settings):
    return OperatorKernelRegressor("rbf", gamma=0.2, alpha=alpha, feature_map=feature_map, **settings)


def batches(X=X, Y=Y, number=7):
    for rows in np.array_split(np.arange(len(X)), number):
        yield X[rows], Y[rows]


def saved(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [folder / f"{name}.npy" for name in arrays]


def parquet(folder):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": X[:, j] for j in range(P)} | {f"y{j}": Y[:, j] for j in range(D)}
    pq.write_table(pa.table(columns), folder / "rows.parquet")
    return str(folder / "rows.parquet"), [f"y{j}" for j in range(D)]


FORMS = {
    "source": lambda folder: (streams.from_arrays(X, Y, batch_size=40),),
    "callable": lambda folder: (batches,),
    "iterator": lambda folder: (batches(),),
    "memory-mapped": lambda folder: [np.load(path, mmap_mode="r") for path in saved(folder, X=X, Y=Y)],
    "memory-mapped X": lambda folder: (np.load(saved(folder, X=X)[0], mmap_mode="r"), Y),
    "paths": lambda folder: saved(folder, X=X, Y=Y),
    "parquet": parquet,
}


@pytest.mark.parametrize("loss", ["squared", Huber(0.5)], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_fit_in_memory(form, loss, tmp_path, monkeypatch):
    monkeypatch.setattr("hilbertlearn.machine.batches._MAPPED_ENTRIES", 100)
    wanted = model(loss=loss, tol=1e-10).fit(X, Y)
    found = model(loss=loss, tol=1e-10).fit(*FORMS[form](tmp_path))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-10 if loss == "squared" else 1e-4)
    assert found.dual_gap_ <= 1e-10
    assert found.n_features_in_ == P


@pytest.mark.parametrize("feature_map", [Landmarks(20), Landmarks(points=X[:20]), 20, "auto", None], ids=str)
def test_landmarks_of_a_sample_that_is_all_rows(feature_map):
    wanted = model(feature_map=feature_map).fit(X, Y)
    found = model(feature_map=feature_map).fit(streams.from_arrays(X, Y, batch_size=50))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-9)


@pytest.mark.parametrize("kind", ["memory", "file", "rebuilt"])
@pytest.mark.parametrize("loss", [Huber(0.5), EpsilonInsensitive(0.2), Huber(0.5, p=1)], ids=str)
def test_robust_losses_wherever_the_features_are(loss, kind, monkeypatch):
    kinds = []

    class Watched(streams.BlockStore):
        def close(self):
            kinds.append(self.kind)
            super().close()

    monkeypatch.setattr(streams, "BlockStore", Watched)
    if kind != "memory":
        monkeypatch.setattr(store, "_FIRST_BYTES", 0)
        monkeypatch.setattr(store, "_MEMORY_SHARE", 1e-9)
        monkeypatch.setattr(store, "_READ_SPEED", 0.0 if kind == "rebuilt" else np.inf)
    wanted = model(loss=loss, tol=1e-9).fit(X, Y, WEIGHTS)
    found = model(loss=loss, tol=1e-9).fit(streams.from_arrays(X, Y, WEIGHTS, batch_size=64))
    assert kinds == [kind]
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-3)
    assert found.dual_gap_ <= 1e-9
    assert_allclose(found.center_, wanted.center_, atol=1e-8)
    assert (found.saturated_ == wanted.saturated_).mean() > 0.98
    assert_allclose(found.outlier_scores_, wanted.outlier_scores_, atol=1e-2)
    assert found.dual_coef_.shape == (N, D)


def test_a_block_without_rows_that_count_in_a_file(monkeypatch):
    monkeypatch.setattr(store, "_FIRST_BYTES", 0)
    monkeypatch.setattr(store, "_MEMORY_SHARE", 1e-9)
    monkeypatch.setattr(store, "_READ_SPEED", np.inf)
    weights = np.where(np.arange(N) // 50 % 2 == 1, 0.0, 1.0)  # the second batch is written, the first one held
    for given in (weights, 1 - weights):
        wanted = model(loss=Huber(0.5), tol=1e-9).fit(X, Y, given)
        found = model(loss=Huber(0.5), tol=1e-9).fit(streams.from_arrays(X, Y, given, batch_size=50))
        assert_allclose(found.predict(X), wanted.predict(X), atol=1e-3)


def test_gaps_that_an_operator_mixes_take_several_passes():
    settings = {"operator": ROOT @ ROOT.T + np.eye(D), "tol": 1e-10}
    wanted = model(**settings).fit(X, GAPS)
    found = model(**settings).fit(streams.from_arrays(X, GAPS, batch_size=50))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-3)
    with pytest.raises(ValueError, match="operator= mixes"):
        model(**settings).fit(batches(Y=GAPS))


@pytest.mark.parametrize(
    ("operator", "y"), [(ROOT @ ROOT.T + np.eye(D), GAPS), (LearnedOperator(), Y)], ids=["gaps", "learnt"]
)
def test_alpha_of_the_squared_loss_where_it_takes_passes(operator, y):
    """The sample that chooses alpha is all rows, so that the choice is that of the fit in memory."""
    settings = {"operator": operator, "alpha": "auto", "scale": False}
    wanted, found = (
        model(**settings).fit(*arguments) for arguments in ((X, y), (streams.from_arrays(X, y, batch_size=50),))
    )
    assert_allclose(found.alpha_, wanted.alpha_, rtol=1e-6)
    assert_allclose(found.predict(X), wanted.predict(X), atol=2e-2)
    assert len(found.search_results_["alpha"]) > 3


def test_an_operator_that_is_learnt():
    settings = {"operator": LearnedOperator(), "scale": False}
    wanted, found = (
        model(**settings).fit(*arguments) for arguments in ((X, Y), (streams.from_arrays(X, Y, batch_size=50),))
    )
    assert_allclose(found.operator_, wanted.operator_, atol=1e-2)
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-2)


def test_gaps_and_weights():
    wanted = model().fit(X, GAPS, WEIGHTS)
    found = model().fit(streams.from_arrays(X, GAPS, WEIGHTS, batch_size=37))
    assert_allclose(found.predict(X), wanted.predict(X), atol=1e-9)


def test_everything_is_left_to_the_data():
    source = streams.from_arrays(X, Y, batch_size=50)
    for loss in ("squared", "huber"):
        settings = {"kernel": "rbf", "feature_map": 40, "loss": loss}
        wanted, found = (OperatorKernelRegressor(**settings).fit(*given) for given in ((X, Y), (source,)))
        assert_allclose(found.gamma_, wanted.gamma_)
        assert_allclose(found.kernel_(X[:9], X), wanted.kernel_(X[:9], X), rtol=1e-9)
        assert np.mean((found.predict(X) - wanted.predict(X)) ** 2) < 0.02 * Y.var()


def test_curves_from_batches():
    curves = np.sin(3 * np.linspace(0, 1, 12) + X[:, :1])
    settings = {"kernel": "rbf", "gamma": 0.2, "alpha": 1e-3, "feature_map": RandomFeatures(30)}
    for loss in ("squared", Huber(0.1)):
        one = FunctionalRegressor(**settings, loss=loss)
        wanted = one.fit(X, curves).predict(X)
        found = one.fit(streams.from_arrays(X, curves, batch_size=50)).predict(X)
        assert_allclose(found, wanted, atol=2e-3)


def test_batches_go_on_after_a_source():
    one = model().fit(streams.from_arrays(X[:100], Y[:100]))
    assert_allclose(one.partial_fit(X[100:], Y[100:]).predict(X), model().fit(X, Y).predict(X), atol=1e-9)
    robust = model(loss=Huber(1e6)).fit(streams.from_arrays(X, Y))  # keeps no sums
    with pytest.warns(UserWarning, match="begins anew"):
        robust.set_params(loss="squared").partial_fit(X[:50], Y[:50])
    assert_allclose(robust.predict(X), model().fit(X[:50], Y[:50]).predict(X), atol=1e-9)


def frames(kind):
    """Batches of X and y as data frames, each y with its own columns where these are named."""
    library = pytest.importorskip(kind)
    for rows in np.array_split(np.arange(N), 3):
        inputs, outputs = ({n: A[rows, j] for j, n in enumerate(names)} for A, names in ((X, "abc"), (Y, "uvw")))
        yield library.DataFrame(inputs), library.DataFrame(outputs)


@pytest.mark.parametrize("loss", ["squared", Huber(0.5)], ids=str)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_names(kind, loss):
    parts = list(frames(kind))
    one = model(loss=loss).fit(streams.from_batches(parts))
    assert list(one.feature_names_in_) == list("abc")
    found = one.predict(parts[0][0])
    assert type(found) is type(parts[0][1]) and list(found.columns) == list("uvw")
    assert_allclose(found, model(loss=loss).fit(X, Y).predict(X[:100]), atol=1e-9 if loss == "squared" else 1e-2)
    with pytest.raises(ValueError, match="feature names"):
        one.predict(parts[0][0][["b", "a", "c"]])


@pytest.mark.parametrize(("place", "name"), [(0, "X"), (1, "y")])
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_with_other_columns_are_refused(kind, place, name):
    parts = [list(batch) for batch in frames(kind)]
    parts[1][place] = parts[1][place][list(parts[1][place].columns)[::-1]]
    names = r"\['c', 'b', 'a'\]" if name == "X" else r"\['w', 'v', 'u'\]"
    with pytest.raises(ValueError, match=f"{name}: batches have the columns {names}"):
        model().fit(streams.from_batches([tuple(batch) for batch in parts]))


def test_a_frame_in_memory_is_a_source():
    pd = pytest.importorskip("pandas")
    inputs, outputs = pd.DataFrame(X, columns=list("abc"), index=range(5, N + 5)), pd.Series(Y[:, 0], name="u")
    source = streams.from_arrays(inputs, outputs, pd.Series(WEIGHTS), batch_size=70)
    one = model().fit(source)
    assert_allclose(one.predict(inputs), model().fit(X, Y[:, 0], WEIGHTS).predict(X), atol=1e-9)
    assert one.predict(inputs).name == "u" and list(source.sample(9).X.columns) == list("abc")


def test_paths_over_alpha_take_no_source(tmp_path):
    with pytest.raises(ValueError, match="source of rows goes to fit of OperatorKernelRegressor"):
        next(model().fit_path(batches, None, [0.1, 1]))
    for source in (streams.from_arrays(X, Y), batches()):
        with pytest.raises(ValueError, match="paths over alpha take arrays"):
            RegularizationPathCV(model()).fit(source, None)
    mapped = np.load(saved(tmp_path, X=X)[0], mmap_mode="r")
    assert len(list(model().fit_path(mapped, Y, [0.1, 1]))) == 2


def test_small_maps_are_read_as_a_whole_and_large_ones_are_not(tmp_path, monkeypatch):
    mapped = np.load(saved(tmp_path, X=X)[0], mmap_mode="r")
    whole = model().fit(mapped, Y)
    assert whole.dual_coef_.shape == (N, D)
    values = np.load(saved(tmp_path, K=X @ X.T)[0], mmap_mode="r")
    monkeypatch.setattr("hilbertlearn.machine.batches._MAPPED_ENTRIES", 100)
    assert not hasattr(model().fit(mapped, Y), "dual_coef_")
    precomputed = model(feature_map=Landmarks(10)).set_params(kernel="precomputed")
    assert precomputed.fit(values, Y).predict(values).shape == Y.shape


def test_an_iterator_has_its_first_rows_decide(monkeypatch):
    monkeypatch.setattr("hilbertlearn.machine.batches._SAMPLE", 60)
    one = model(feature_map=Landmarks(6)).fit(batches())
    first = model(feature_map=Landmarks(6)).fit(X[:86], Y[:86])  # two batches
    assert_allclose(one.X_fit_, first.X_fit_)


def bad(**changes):
    """Batches, the fourth of which is changed."""
    for number, (inputs, outputs) in enumerate(batches()):
        yield (
            changes.get("X", lambda a: a)(inputs) if number == 3 else inputs,
            (changes.get("y", lambda a: a)(outputs) if number == 3 else outputs),
        )


BAD = {
    "columns": (lambda folder: (bad(X=lambda a: a[:, 1:]),), "2 features"),
    "columns of a sample": (lambda folder: (lambda: bad(X=lambda a: a[:, 1:]),), "same columns"),
    "NaN": (lambda folder: (bad(X=lambda a: a * np.nan),), "NaN"),
    "outputs": (lambda folder: (bad(y=lambda a: a[:, 1:]),), "2 outputs a sample, and the first had 3"),
    "rows": (lambda folder: (bad(y=lambda a: a[1:]),), "inconsistent numbers"),
    "no outputs": (lambda folder: (bad(y=lambda a: None),), "requires y"),
    "empty": (lambda folder: (iter([]),), "empty"),
    "lengths": (lambda folder: (np.load(saved(folder, X=X)[0], mmap_mode="r"), Y[1:]), "as many rows"),
    "missing column": (lambda folder: (parquet(folder)[0], ["z"]), "no column 'z'"),
    "y beside batches": (lambda folder: (batches, Y), "y must be None"),
}


@pytest.mark.parametrize("loss", ["squared", Huber(0.5)], ids=str)
@pytest.mark.parametrize("name", BAD)
def test_bad_rows_leave_the_model_as_it_was(name, loss, tmp_path, monkeypatch):
    monkeypatch.setattr("hilbertlearn.machine.batches._SAMPLE", 60)  # what an iterator begins with
    make, message = BAD[name]
    one = model(loss=loss, feature_map=RandomFeatures(6)).fit(X, Y)
    before = one.predict(X)
    with pytest.raises(ValueError, match=message):
        one.fit(*make(tmp_path))
    assert_allclose(one.predict(X), before, rtol=0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"manifold": 0.1}, "manifold"),
        ({"alpha_per_output": True}, "alpha_per_output"),
        ({"loss": "hinge"}, "all samples at once"),
        ({"kernel": [("rbf", None), ("linear", None)]}, "single kernel"),
    ],
)
def test_settings_that_need_all_rows_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        model().set_params(**settings).fit(streams.from_arrays(X, Y))


def test_kernel_values_are_refused():
    with pytest.raises(ValueError, match="precomputed"):
        model(feature_map=Landmarks(10)).set_params(kernel="precomputed").fit(streams.from_arrays(X @ X.T, Y))
