"""Fits to Dask collections are those in memory, also when a worker is lost; what travels does not grow with rows."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, RegularizationPathCV, StructuredPredictor  # noqa: E402
from hilbertlearn.losses import EpsilonInsensitive, Hinge, Huber  # noqa: E402
from hilbertlearn.machine.distributed import parallel  # noqa: E402
from hilbertlearn.machine.distributed import source as blockwise  # noqa: E402
from hilbertlearn.output_losses import ZeroOne  # noqa: E402
from hilbertlearn.spaces import OutputKernel  # noqa: E402

N, P = 600, 3
LOSSES = {
    "squared": "squared",
    "huber": Huber(0.3),
    "huber by entry": Huber(0.2, p=1),
    "tube": EpsilonInsensitive(0.3),
}
ITERATED = {name: "auto" if name == "squared" else "splitting" for name in LOSSES}  # gaps alike are not solutions alike
GIVEN = {"kernel": "rbf", "gamma": 0.4, "alpha": 1e-3, "feature_map": 25, "tol": 1e-7}
flag = pytest.mark.parametrize


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "processes": True, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(host="127.0.0.1", **options) as cluster, distributed.Client(cluster) as client:
        yield client


def make(n=N, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P))
    y = np.column_stack([np.sin(X[:, 0] + k) + X[:, 1] for k in range(outputs)]) + 0.1 * rng.normal(size=(n, outputs))
    y[rng.random(n) < 0.05] += 5.0
    return X, y


def blocks_of(X, y, rows=130):
    return da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=(rows, -1)[: y.ndim])


def counting(monkeypatch):
    """A list that gets the outcome of each run on parts."""
    outcomes, whole = [], parallel.run_on_parts

    def counted(*arguments):
        outcomes.append(whole(*arguments))
        return outcomes[-1]

    monkeypatch.setattr(parallel, "run_on_parts", counted)
    return outcomes


def assert_same_model(one, other, X, rtol=1e-8):
    expected = other.predict(X)
    assert_allclose(one.predict(X), expected, rtol=0, atol=rtol * np.abs(expected).max())
    assert_allclose(one.center_, other.center_, rtol=0, atol=max(rtol, 1e-8) * np.abs(expected).max())
    assert_allclose(one.alpha_, other.alpha_, rtol=1e-10)


# ------------------------------------------------------------------ the same as in memory


def test_progress_on_workers_is_told_here(client, capsys):
    X, y = make(200)
    model = OperatorKernelRegressor(**GIVEN, loss="huber", verbose=1).fit(*blocks_of(X, y))
    last = capsys.readouterr().err.splitlines()[-1]
    told = f"solve, on all workers: gap {model.dual_gap_:.1e}, {model.n_iter_} iterations in "
    assert last.startswith(f"[OperatorKernelRegressor] {told}")
    OperatorKernelRegressor(**GIVEN, verbose=1).fit(*blocks_of(X, y))
    assert "[OperatorKernelRegressor] sums over blocks in " in capsys.readouterr().err


@flag("name", LOSSES)
def test_given_settings(client, name):
    X, y = make()
    settings = {**GIVEN, "loss": LOSSES[name]}
    whole = OperatorKernelRegressor(**settings, solver=ITERATED[name]).fit(X, y)
    model = OperatorKernelRegressor(**settings).fit(*blocks_of(X, y))
    assert_same_model(model, whole, X)
    assert model.dual_gap_ <= 1e-7
    assert f"{N} samples" in model.summary()


@flag("name", ["squared", "huber"])
def test_schedules_count_all_rows(client, name):
    X, y = make()
    model = OperatorKernelRegressor(**{**GIVEN, "loss": LOSSES[name], "alpha": "n^-1/2"}).fit(*blocks_of(X, y))
    assert_allclose(model.alpha_, N**-0.5)


@flag("name", ["squared", "huber", "tube"])
def test_weights_gaps_and_an_operator(client, name):
    X, y = make()
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, N).astype(float)
    y[rng.random(y.shape) < 0.1] = np.nan
    settings = {**GIVEN, "loss": LOSSES[name], "operator": np.array([[1.0, 0.6], [0.6, 1.0]])}
    whole = OperatorKernelRegressor(**settings, solver="splitting").fit(X, y, sample_weight=weights)
    lazy = da.from_array(weights, chunks=130)
    model = OperatorKernelRegressor(**settings).fit(*blocks_of(X, y), sample_weight=lazy)
    assert_same_model(model, whole, X)


@flag("loss", ["squared", "huber", "epsilon_insensitive"])
def test_what_is_left_to_the_data(client, loss):
    """Of as many rows as are brought to the client all settings are those in memory."""
    X, y = make(200)
    settings = {"loss": loss, "feature_map": 25, "tol": 1e-10, "max_iter": 3000}
    whole = OperatorKernelRegressor(**settings, solver="auto" if loss == "squared" else "splitting").fit(X, y)
    model = OperatorKernelRegressor(**settings).fit(*blocks_of(X, y, 60))
    assert model.gamma_ == whole.gamma_
    assert model.loss_.get_params() == whole.loss_.get_params()
    assert_same_model(model, whole, X)


def test_alpha_of_more_rows_than_are_brought(client, monkeypatch):
    """Rows of the sample, each left out of the model of all rows: refits say which alpha that is."""
    monkeypatch.setattr(blockwise, "POOL", 150)
    X, y = make(outputs=1)
    model = OperatorKernelRegressor("rbf", gamma=0.4, feature_map=20, center=False).fit(*blocks_of(X, y))
    chosen = model.search_results_["alpha"][model.search_results_["n_samples"] == 150][-20:]
    alphas = np.unique([*(a for a in chosen if 1e-9 < a < 1), model.alpha_])  # the selected one is a mean
    Z = model.feature_map_(X)
    rows = np.sort(np.random.default_rng(0).choice(N, 150, replace=False))
    errors = []
    for alpha in alphas:
        total = 0.0
        for i in rows[::10]:
            others = np.arange(N) != i
            W = np.linalg.solve(Z[others].T @ Z[others] + alpha * N * np.eye(20), Z[others].T @ y[others])
            total += float(np.sum((y[i] - Z[i] @ W) ** 2))
        errors.append(total)
    assert errors[int(np.flatnonzero(alphas == model.alpha_)[0])] <= 1.05 * min(errors)


def test_curves(client):
    rng = np.random.default_rng(0)
    X, grid = rng.normal(size=(200, 2)), np.linspace(0, 1, 15)
    y = np.sin(3 * grid + X[:, :1]) + 0.1 * rng.normal(size=(200, 15))
    for loss in ("squared", Huber(0.3)):
        settings = {"gamma": 0.3, "alpha": 1e-3, "feature_map": 20, "loss": loss, "tol": 1e-10, "grid": grid}
        whole = FunctionalRegressor(**settings).fit(X, y)
        lazy = blocks_of(X, y, 60)
        model = FunctionalRegressor(**settings).fit(*lazy)
        assert_allclose(model.predict(X), whole.predict(X), atol=1e-8)
        predicted = model.predict(lazy[0], grid=grid[::2])
        assert predicted.chunks == (lazy[0].chunks[0], (8,))
        assert_allclose(predicted.compute(), whole.predict(X, grid=grid[::2]), atol=1e-8)


def test_frames_and_blocks_without_rows(client):
    import pandas as pd

    X, y = make(outputs=1)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["target"] = y[:, 0]
    lazy = dd.from_pandas(frame, npartitions=4)
    lazy = lazy[lazy["a"] > -0.5]
    lazy = dd.concat([lazy, lazy[lazy["a"] > 1e9]], interleave_partitions=True)  # as many blocks without rows
    kept = frame[frame["a"] > -0.5]
    whole = OperatorKernelRegressor(**GIVEN).fit(kept[["a", "b", "c"]], kept["target"])
    model = OperatorKernelRegressor(**GIVEN).fit(lazy[["a", "b", "c"]], lazy["target"])
    predicted = model.predict(lazy[["a", "b", "c"]])
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert hasattr(predicted, "npartitions")
    values = predicted.compute()
    assert_allclose(values, whole.predict(kept[["a", "b", "c"]]), atol=1e-8)
    assert values.name == "target"
    arrays = lazy[["a", "b", "c"]].to_dask_array(), lazy["target"].to_dask_array()  # of unknown lengths
    model = OperatorKernelRegressor(**GIVEN).fit(*arrays)
    assert_allclose(model.predict(arrays[0]).compute(), values, atol=1e-8)
    with pytest.raises(ValueError, match=r"y is in memory and X has blocks of unknown length"):
        model.fit(arrays[0], kept["target"])
    assert list(values.index) == list(kept.index)


def test_predictions_are_lazy_and_keep_blocks(client):
    X, y = make()
    model = OperatorKernelRegressor(**GIVEN).fit(X, y)
    for columns in (y, y[:, 0]):
        own = OperatorKernelRegressor(**GIVEN).fit(X, columns)
        lazy = own.predict(da.from_array(X, chunks=(250, 2)))
        assert isinstance(lazy, da.Array)
        assert lazy.shape == columns.shape
        assert lazy.chunks[0] == (250, 250, 100)
        assert lazy.dtype == float
        assert_allclose(lazy.compute(), own.predict(X))
    assert model.machine_.coordinates(da.from_array(X, chunks=(250, -1))).compute().shape == (N, 2)


def test_folds_on_the_cluster(client):
    X, y = make(90)
    settings = {"kernel": "rbf", "gamma": 0.4, "loss": Huber(0.3)}
    alphas = np.logspace(-4, 0, 4)
    here = RegularizationPathCV(OperatorKernelRegressor(**settings), alphas, cv=3).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        there = RegularizationPathCV(OperatorKernelRegressor(**settings), alphas, cv=3, n_jobs=-1).fit(X, y)
    assert there.alpha_ == here.alpha_
    assert_allclose(there.errors_, here.errors_, rtol=1e-10)


def test_objects(client):
    """Labels that an output loss knows, and landmarks of an output kernel, are coordinates known before the data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    labels = np.array(["a", "b", "c"], dtype=object)[np.digitize(X[:, 0], [-0.5, 0.5])]
    lazy = da.from_array(X, chunks=(40, -1)), da.from_array(labels, chunks=40)
    spaces = (
        {"output_loss": ZeroOne(["a", "b", "c"])},
        {"output_kernel": OutputKernel("ngrams", landmarks=["a", "b", "c"])},
    )
    for of_outputs in spaces:
        settings = {**GIVEN, **of_outputs}
        whole, model = (StructuredPredictor(**settings).fit(*data) for data in ((X, list(labels)), lazy))
        candidates = {"candidates": ["a", "b", "c"]}
        assert list(model.predict(X, **candidates)) == list(whole.predict(X, **candidates))
        _, scores = model.predict_topk(X, 3, **candidates)
        assert_allclose(scores, whole.predict_topk(X, 3, **candidates)[1], atol=1e-8)
        predicted = model.predict(lazy[0], **candidates)
        assert predicted.chunks == lazy[1].chunks
        assert list(predicted.compute()) == list(whole.predict(X, **candidates))


def test_candidates_in_blocks(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    words = np.array(["aab", "abb", "bab", "bbb", "ccb"])
    model = StructuredPredictor(alpha=1e-3, gamma=0.5).fit(X, list(words[rng.integers(0, 5, 40)]))
    pool = ["".join(letters) for letters in rng.choice(list("abc"), (60, 3))]  # some are there several times
    bag = db.from_sequence(pool, npartitions=4)
    found, scores, indices = model.predict_topk(X[:6], 4, candidates=pool, return_indices=True)
    own, own_scores, own_indices = model.predict_topk(X[:6], 4, candidates=bag, return_indices=True)
    assert list(map(list, own)) == list(map(list, found))
    assert_allclose(own_scores, scores, rtol=1e-10)
    assert [list(one) for one in own_indices] == [list(one) for one in indices]
    assert list(model.predict(X[:6], candidates=bag)) == list(model.predict(X[:6], candidates=pool))
    with pytest.raises(ValueError, match="candidates is empty"):
        model.predict(X[:6], candidates=bag.filter(lambda word: len(word) > 9))


# ------------------------------------------------------------------ what goes wrong


def test_a_worker_is_lost_in_the_middle(client, monkeypatch):
    X, y = make(4000)
    settings = {**GIVEN, "loss": Huber(0.1), "alpha": 1e-5, "tol": 1e-13}  # takes some forty iterations
    whole = OperatorKernelRegressor(**settings).fit(X, y)
    lazy = blocks_of(X, y, 500)
    first = client.submit(os.getpid, workers=[sorted(client.nthreads())[0]], pure=False).result()
    killer = threading.Thread(target=_kill_when_busy, args=(client, first))
    killer.start()
    outcomes = counting(monkeypatch)
    model = OperatorKernelRegressor(**settings).fit(*lazy)
    killer.join()
    assert outcomes[0].n_tries > 1
    assert_same_model(model, whole, X)


def _kill_when_busy(client, pid):
    """Kill a worker's process while solvers go on."""
    for _ in range(3000):
        if any("_part" in str(key) for keys in client.processing().values() for key in keys):
            break
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)


def test_no_worker_is_left(monkeypatch):
    monkeypatch.setattr(parallel, "_PATIENCE", 0.5)
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, threads_per_worker=1, dashboard_address="127.0.0.1:0", protocol="tcp"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        blocks = [client.submit(np.ones, 3)]
        distributed.wait(blocks)
        cluster.scale(0)
        while client.nthreads():
            time.sleep(0.05)
        with pytest.raises(RuntimeError, match="no Dask worker is left"):
            parallel.group_by_worker(client, blocks)


def test_an_error_of_one_part_is_told(client):
    blocks = [client.submit(np.full, 3, float(i), pure=False) for i in range(4)]
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        parallel.run_on_parts(client, blocks, _fails_in_part, None)


def test_two_fits_at_the_same_time(client):
    """On workers of one thread each: a fit that waits for its parts leaves that thread to the other."""
    X, y = make(300)
    settings = {**GIVEN, "loss": Huber(0.3)}
    whole = OperatorKernelRegressor(**settings).fit(X, y)
    with ThreadPoolExecutor(2) as pool:
        models = list(pool.map(lambda rows: OperatorKernelRegressor(**settings).fit(*blocks_of(X, y, rows)), (50, 60)))
    for model in models:
        assert_same_model(model, whole, X)


def _fails_in_part(arrays, total, _):
    total(np.ones(1))
    if any((one == 3.0).all() for one in arrays):
        raise ZeroDivisionError("on purpose")
    return total(np.ones(1))


def test_bad_input(client):
    X, y = make()
    lazy, outputs = blocks_of(X, y)
    model = OperatorKernelRegressor(**GIVEN)
    with pytest.raises(ValueError, match=r"chunks \(130, .* of X and \(200, 200, 200\) of y"):
        model.fit(lazy, da.from_array(y, chunks=(200, -1)))
    with pytest.raises(ValueError, match="X must be a Dask array"):
        model.fit(X, outputs)
    with pytest.raises(ValueError, match="inconsistent numbers 600 and 599"):
        model.fit(lazy, y[:-1])
    bad = X.copy()
    bad[140, 1] = np.nan
    with pytest.raises(ValueError, match=r"block 1 of the rows.*NaN"):
        model.fit(da.from_array(bad, chunks=(130, -1)), outputs)
    with pytest.raises(ValueError, match="feature_map=None"):
        OperatorKernelRegressor(feature_map=None).fit(lazy, outputs)
    with pytest.raises(ValueError, match="Hinge"):
        OperatorKernelRegressor(loss=Hinge()).fit(lazy, outputs)
    with pytest.raises(ValueError, match="manifold"):
        OperatorKernelRegressor(manifold=1.0, feature_map=20).fit(lazy, outputs)
    with pytest.raises(ValueError, match=r"Dask collections go to fit of OperatorKernelRegressor"):
        RegularizationPathCV().fit(lazy, outputs)
    with pytest.raises(ValueError, match="solver='active_rows' needs all samples"):
        OperatorKernelRegressor(solver="active_rows").fit(lazy, outputs)
    with pytest.raises(ValueError, match="alpha_per_output"):
        OperatorKernelRegressor(alpha_per_output=True).fit(lazy, outputs)
    fitted = model.fit(lazy, outputs)
    with pytest.raises(AttributeError, match="dual_coef_: coefficients of samples are not kept"):
        _ = fitted.dual_coef_


def test_without_a_client(monkeypatch):
    """The squared loss is sums, which Dask's own scheduler computes; other losses say what they need."""
    X, y = make()
    lazy = blocks_of(X, y)
    monkeypatch.setattr("hilbertlearn.machine.distributed.blocks.current_client", lambda: None)
    with dask.config.set(scheduler="threads"):
        model = OperatorKernelRegressor(**GIVEN).fit(*lazy)
        assert_same_model(model, OperatorKernelRegressor(**GIVEN).fit(X, y), X)
        with pytest.raises(ValueError, match=r"from dask\.distributed import Client"):
            OperatorKernelRegressor(**{**GIVEN, "loss": Huber(0.3)}).fit(*lazy)


# ------------------------------------------------------------------ what travels


def test_bytes_do_not_grow_with_the_rows(client, monkeypatch):
    outcomes = counting(monkeypatch)
    settings = {**GIVEN, "loss": Huber(0.3), "tol": 1e-12, "max_iter": 12, "center": False}
    for copies in (1, 4):
        X, y = make()
        lazy = [part.persist() for part in blocks_of(np.tile(X, (copies, 1)), np.tile(y, (copies, 1)), 100 * copies)]
        with pytest.warns(UserWarning, match="gap"):
            OperatorKernelRegressor(**settings).fit(*lazy)
    one, four = outcomes
    assert one.n_sums == four.n_sums
    assert one.n_bytes / one.n_parts == four.n_bytes / four.n_parts
    r, d = 25, 2
    assert one.n_bytes / one.n_parts <= 8 * (r * r + 15 * (r * d) + 15 * 40)
