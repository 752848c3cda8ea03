"""Callbacks of scikit-learn see the tasks of a fit, and may stop them; older versions have none."""

import importlib.util
import pickle
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    KernelAutoencoder,
    LinkPredictor,
    OperatorKernelRegressor,
    QuantileRegressor,
    RegularizationPathCV,
    StructuredPredictor,
    losses,
)
from hilbertlearn._utils import callbacks

callback = pytest.importorskip("sklearn.callback")

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.normal(size=(40, 2))
Y[::8] += 3.0
GIVEN = {"kernel": "rbf", "gamma": 0.5, "alpha": 1e-2}
HUBER = OperatorKernelRegressor(**GIVEN, loss=losses.Huber(0.3))


class Recorder:
    """Remembers the tree of tasks, as nested lists [name, *inside]; stops at the end of some."""

    def __init__(self, stop=()):
        self.stop, self.calls, self.tree, self.open = stop, [], [], []
        self.facts = []  # of steps, (name, metadata)
        self.fitted = None

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        node = [context.task_name]
        (self.open[-1] if self.open else self.tree).append(node)
        self.open.append(node)

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        assert self.open.pop()[0] == context.task_name
        self.fitted = fitted_estimator
        if metadata is not None:
            self.facts.append((context.task_name, metadata))
        return context.task_name in self.stop


class Propagated(Recorder):
    max_propagation_depth = None


def without_leaves(tree):
    """Names of the tasks that have something inside, nested."""
    return [[name, *without_leaves(inside)] for name, *inside in tree if inside or name.startswith("fit")]


CHOICE = ["search of the kernel"]
SOLVE = ["solve"]
MODELS = {
    "given": (HUBER, [SOLVE]),
    "chosen": (OperatorKernelRegressor("rbf", alpha=1e-2), [CHOICE, SOLVE]),
    "curves": (FunctionalRegressor(**GIVEN), [SOLVE]),
    "path": (
        RegularizationPathCV(HUBER, [1e-2, 1e-1], cv=2),
        [["errors of folds", ["models without a fold"], ["models without a fold"]], SOLVE],
    ),
    "quantiles": (
        QuantileRegressor((0.2, 0.8), **GIVEN, coupling=1.0),
        [["outputs", ["output 0", SOLVE], ["output 1", SOLVE]]],
    ),
    "codes": (KernelAutoencoder(1, max_iter=50), [["descent"]]),
    "closed form": (ConformalPredictor(OperatorKernelRegressor(**GIVEN)), [["model of all samples"]]),
    "folds": (
        ConformalPredictor(HUBER, "cv+", 0.8, cv=2),
        [["model of all samples"], ["models without some samples"]],
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_tasks_of_a_fit(name):
    model, expected = MODELS[name]
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder)
    assert model.fit(X, Y) is model
    assert recorder.calls == ["setup", "teardown"] and not recorder.open
    assert without_leaves(recorder.tree) == [["fit", *expected]]
    if hasattr(model, "predict"):
        assert_array_equal(recorder.fitted.predict(X), model.predict(X))
    assert_same_as_without(model, clone(model).set_callbacks().fit(X, Y))


def assert_same_as_without(model, plain):
    method = "predict" if hasattr(model, "predict") else "transform"
    assert_array_equal(getattr(model, method)(X), getattr(plain, method)(X))
    assert not hasattr(model, "_callback_fit_ctx") and not hasattr(model, "_skl_callbacks_to_teardown")


def test_iterations_have_their_gap():
    recorder = Recorder()
    model = OperatorKernelRegressor(**GIVEN, loss=losses.Huber(0.3), solver="proximal_gradient", tol=1e-8)
    model.set_callbacks(recorder).fit(X, Y)
    facts = [facts for name, facts in recorder.facts if name == "iteration"]
    assert [one["iteration"] for one in facts] == list(range(1, model.n_iter_ + 1))
    assert facts[-1]["gap"] == model.dual_gap_ <= 1e-8 < facts[-2]["gap"]


def test_steps_of_a_choice_have_their_errors():
    recorder = Recorder()
    model = OperatorKernelRegressor("rbf").set_callbacks(recorder).fit(X, Y)
    errors = [facts["error"] for name, facts in recorder.facts if name == "kernel"]
    assert min(errors) == pytest.approx(np.min(model.search_results_["error"]), rel=1e-6)


def test_objects_and_links():
    recorder = Recorder()
    StructuredPredictor(alpha=1e-2, kernel="rbf", gamma=0.5).set_callbacks(recorder).fit(X, list("abcd" * 10))
    assert without_leaves(recorder.tree)[0][0] == "fit"
    points = np.linspace(0, 3, 20)[:, None]
    close = (abs(points - points.T) < 0.4).astype(int) - np.eye(20, dtype=int)
    recorder = Recorder()
    LinkPredictor(alpha=1e-2).set_callbacks(recorder).fit(points, close)
    assert [task[0] for task in recorder.tree[0][1:]] == ["links"] and not recorder.open


# ---------------------------------------------------------------- stop


M = np.array([[2.0, 1.0], [1.0, 1.0]])
GAPS = np.where(np.arange(80).reshape(40, 2) % 7 == 0, np.nan, Y)
OUTPUTS = {"box_qp": np.sign(Y[:, 0]), "columns": Y, "conjugate_gradient": GAPS}
STOPPED = {
    "splitting": {"loss": losses.Huber(0.3)},
    "proximal_gradient": {"loss": losses.Huber(0.3)},
    "proximal_newton": {"loss": losses.Pinball(0.5), "alpha": 1e-6},
    "active_rows": {"loss": losses.EpsilonInsensitive(0.1), "alpha": 1e-4},
    "conjugate_gradient": {"loss": "squared", "operator": M},
    "columns": {"loss": "squared", "operator": M},
    "box_qp": {"loss": "hinge", "alpha": 1e-4},
}


@pytest.mark.parametrize("solver", STOPPED)
def test_a_callback_stops_a_solver(solver):
    recorder = Recorder(stop=("iteration",))
    y = OUTPUTS.get(solver, Y[:, 0])
    settings = {**GIVEN, "tol": 1e-9, **STOPPED[solver]}
    model = OperatorKernelRegressor(**settings, solver=solver).set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning, match="a callback has stopped it"):
        model.fit(X, y)
    assert len([name for name, _ in recorder.facts if name == "iteration"]) == 1
    whole = clone(model).set_callbacks().fit(X, y)
    assert model.n_iter_ < whole.n_iter_ and model.dual_gap_ > whole.dual_gap_
    assert np.isfinite(model.predict(X)).all()


def test_a_callback_ends_a_choice_with_the_best_so_far():
    recorder = Recorder(stop=("kernel",))
    model = OperatorKernelRegressor().set_callbacks(recorder).fit(X, Y)
    assert (
        len({(k, g) for k, g in zip(model.search_results_["kernel"], model.search_results_["gamma"], strict=True)}) == 1
    )
    assert len([name for name, _ in recorder.facts if name == "kernel"]) == 1
    recorder = Recorder(stop=("alpha",))
    terms = [("rbf", None), ("linear", np.diag([1.0, 2.0]))]
    OperatorKernelRegressor(terms).set_callbacks(recorder).fit(X, Y)
    assert len([name for name, _ in recorder.facts if name == "alpha"]) == 1


def test_a_callback_stops_a_descent():
    model = KernelAutoencoder(1).set_callbacks(Recorder(stop=("iteration",))).fit(X)
    assert model.n_iter_ == 1 and len(model.objective_path_) == 2


# ---------------------------------------------------------------- failure, copies


def test_a_fit_that_fails_tears_down_and_changes_nothing():
    model = clone(HUBER).fit(X, Y)
    before = model.predict(X)
    recorder = Recorder()
    model.set_callbacks(recorder)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.full_like(Y, np.nan))
    assert recorder.calls == ["setup", "teardown"]
    assert_array_equal(model.predict(X), before)
    assert not hasattr(model, "_callback_fit_ctx")
    model.fit(X, Y)
    assert recorder.calls == ["setup", "teardown"] * 2


def test_a_callback_that_fails_changes_nothing():
    class Faulty(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise OSError("no space left")

    recorder = Faulty()
    model = clone(HUBER).set_callbacks(recorder)
    with pytest.raises(OSError, match="no space"):
        model.fit(X, Y)
    assert not hasattr(model, "state_") and recorder.calls == ["setup", "teardown"]
    assert_allclose(model.set_callbacks().fit(X, Y).predict(X), clone(HUBER).fit(X, Y).predict(X))


def test_clones_share_callbacks_and_settings_do_not_have_them():
    recorder = Recorder()
    model = clone(HUBER).set_callbacks(recorder)
    assert "_skl_callbacks" not in model.get_params()
    clone(model).fit(X, Y)
    assert recorder.calls == ["setup", "teardown"]
    copy = pickle.loads(pickle.dumps(model.fit(X, Y)))
    assert_array_equal(copy.predict(X), model.predict(X))
    with pytest.raises(TypeError, match="FitCallback"):
        model.set_callbacks(print)


# ---------------------------------------------------------------- estimators in others


def test_pipelines_and_searches_hand_callbacks_on():
    recorder = Propagated()
    make_pipeline(StandardScaler(), HUBER).set_callbacks(recorder).fit(X, Y)
    assert recorder.calls == ["setup", "teardown"] and not recorder.open
    assert "solve" in str(recorder.tree)
    recorder = Propagated()
    search = GridSearchCV(OperatorKernelRegressor(**GIVEN), {"alpha": [1e-2, 1e-1]}, cv=2).set_callbacks(recorder)
    search.fit(X, Y)
    assert str(recorder.tree).count("solve") == 5 and not recorder.open
    assert not hasattr(search.best_estimator_, "_skl_callbacks")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_conformal_predictors_hand_callbacks_on(n_jobs):
    recorder = Propagated()
    model = ConformalPredictor(HUBER, "cv+", 0.8, cv=2, n_jobs=n_jobs).set_callbacks(recorder).fit(X, Y)
    one, folds = recorder.tree[0][1:]
    assert one[0] == "model of all samples" and one[1][0] == "fit" and one[1][1][0] == "solve"
    assert [step[0] for step in folds[1:]] == (["fit"] * 2 if n_jobs is None else ["model"] * 2)
    assert not recorder.open and not hasattr(model.estimator_, "_skl_callbacks")


def test_scikit_learns_own_callbacks():
    pytest.importorskip("rich")
    monitor = callback.ScoringMonitor(scoring="r2")
    model = clone(HUBER).set_callbacks(callback.ProgressBar(), monitor).fit(X, Y)
    (row,) = monitor.get_logs().data
    assert row["r2"] == pytest.approx(model.score(X, Y))


# ---------------------------------------------------------------- without callbacks


def test_versions_without_callbacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    spec = importlib.util.spec_from_file_location("hilbertlearn._utils._old_callbacks", callbacks.__file__)
    old = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(old)

    class Model(old.FitCallbacksMixin):
        @old.with_fit_callbacks
        def fit(self, X, y=None, sample_weight=None):
            return X, y, sample_weight

    assert not hasattr(Model, "set_callbacks")
    assert Model().fit(1, 2, sample_weight=3) == (1, 2, 3)
