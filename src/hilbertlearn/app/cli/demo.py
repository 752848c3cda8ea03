"""Four tasks with plain alternatives, on data that come with scikit-learn and networkx or are generated."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ... import datasets
from ..._utils.progress import Progress
from ...conformal import ConformalPredictor
from ...data.graphs import Pairs
from ...functional import FunctionalRegressor
from ...links import LinkPredictor
from ...metrics import kendall_tau, link_average_precision, link_roc_auc
from ...model_selection import EdgeSplit
from ...structured import StructuredPredictor
from ...vector import OperatorKernelRegressor
from .. import report
from ..tabular.alternatives import tuned_kernel_ridge

REPORT = Path("hilbertlearn-report.html")
_TRAIN = 150  # training samples of the curves; rankings have twice as many
_RIDGE = "KernelRidge, GridSearchCV"


@dataclass
class DemoResult:
    """The scores of both methods for a task of the demo, and the model and data for its section of the report."""

    task: str
    scores: list[tuple[str, float, float]]  # name, ours, alternative
    plain_name: str
    seconds: tuple[float, float]  # ours, alternative
    evaluated: tuple  # model, X, y

    @property
    def rows(self):
        for number, (name, ours, plain) in enumerate(self.scores):
            seconds = [f" ({value:.1f} s)" for value in self.seconds] if number == 0 else ["", ""]
            yield (
                self.task * (number == 0),
                name,
                f"{ours:.3f}{seconds[0]}",
                f"{plain:.3f}{seconds[1]}",
                self.plain_name * (number == 0),
            )

    @property
    def facts(self):
        scores = [{"name": name, "ours": ours, "plain": plain} for name, ours, plain in self.scores]
        return {"task": self.task, "scores": scores, "plain_name": self.plain_name, "seconds": list(self.seconds)}

    def section(self):
        score_name, ours, plain = self.scores[0]
        reference = {"name": self.plain_name, "score_name": score_name, "ours": ours, "score": plain}
        return report.section(*self.evaluated, name=self.task, seconds=self.seconds[0], reference=reference)


def run_demo(output):
    """Run all tasks, print their table and write their report."""
    results = []
    with Progress("demo", output.verbose).task("four tasks", "task", len(TASKS)) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task in TASKS:
            results.append(task())
            progress.step(results[-1].task)
    sections = [result.section() for result in results]
    report.write(REPORT, sections, title="hilbertlearn demo", command="hilbertlearn demo")
    header = ("", "score", "hilbertlearn", "alternative", "which is")
    rows = [row for result in results for row in result.rows]
    output.table("Scores on test data, the higher the better, and seconds to fit", header, rows, text=(0, 1, 4))
    facts = {"tasks": [result.facts for result in results], "report": str(REPORT), "seconds": output.seconds}
    output.result(facts, f"{REPORT}: the same in pictures; {output.seconds:.0f} s")


def corrupted_curves():
    """Curves from curves, a tenth of them corrupted, with a band of 80 %."""
    X, Y, _, grid = datasets.make_gaussian_process_curves(250, noise_out=0.05, random_state=0)
    noisy, _ = datasets.corrupt_curves(Y[:_TRAIN], 0.1, intensity=4.0, random_state=0)
    model = ConformalPredictor(FunctionalRegressor(loss="huber", grid=grid), level=0.8, random_state=0)
    plain = make_pipeline(StandardScaler(), tuned_kernel_ridge(X.shape[1]))
    return _compare(
        "curves, a tenth wrong", _variance, model, plain, _RIDGE, (X[:_TRAIN], noisy), (X[_TRAIN:], Y[_TRAIN:])
    )


def lower_halves():
    """Lower halves of digits from upper halves, a tenth of them inverted, pixels missing."""
    rng = np.random.default_rng(0)
    images = datasets.digits_halves().images[rng.permutation(1797)[:400]]
    X, Y = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
    n = 200
    corrupted = Y[:n].copy()
    corrupted[: n // 10] = 3 * (1 - corrupted[: n // 10])
    corrupted[rng.random(corrupted.shape) < 0.15] = np.nan
    filled = np.where(np.isnan(corrupted), np.nanmean(corrupted, axis=0), corrupted)
    plain = make_pipeline(StandardScaler(), tuned_kernel_ridge(32))
    model = OperatorKernelRegressor(loss="huber")
    return _compare(
        "half digits, a tenth wrong", _variance, model, plain, _RIDGE,
        (X[:n], corrupted), (X[n:], Y[n:]), plain_outputs=filled,
    )  # fmt: skip


def label_rankings():
    """Rankings of six labels."""
    X, ranks = datasets.make_label_rankings(2 * _TRAIN + 200, random_state=0)
    n = 2 * _TRAIN
    model = StructuredPredictor(output_loss="kendall")
    return _compare(
        "rankings of six labels", kendall_tau, model, tuned_kernel_ridge(X.shape[1]), f"{_RIDGE}, sorted",
        (X[:n], ranks[:n]), (X[n:], ranks[n:]), score_name="Kendall's tau",
    )  # fmt: skip


def hidden_links():
    """Links of a network, a fifth of its pairs hidden."""
    name, graph = _network()
    pairs = Pairs(graph)
    known, hidden = next(iter(EdgeSplit(5).split(pairs)))
    start = time.perf_counter()
    model = LinkPredictor().fit(pairs[known])
    fitted = time.perf_counter()
    hidden_pairs = pairs[hidden]
    plain = adamic_adar(pairs[known])[hidden_pairs.first, hidden_pairs.second]
    end = time.perf_counter()
    ours = model.decision_function(hidden_pairs)
    scores = [
        (measure, float(score(hidden_pairs.linked, ours)), float(score(hidden_pairs.linked, plain)))
        for measure, score in (("ROC AUC", link_roc_auc), ("average precision", link_average_precision))
    ]
    seconds = (fitted - start, end - fitted)
    return DemoResult(f"links of {name}", scores, "Adamic-Adar", seconds, (model, hidden_pairs, hidden_pairs.linked))


TASKS = (corrupted_curves, lower_halves, label_rankings, hidden_links)


def _compare(
    task, score: Callable, model, plain, plain_name, train, test, *, score_name="R2", plain_outputs=None
) -> DemoResult:
    """Fit both to the training samples and score both on the test samples."""
    start = time.perf_counter()
    model.fit(*train)
    middle = time.perf_counter()
    plain.fit(train[0], train[1] if plain_outputs is None else plain_outputs)
    seconds = (middle - start, time.perf_counter() - middle)
    ours, theirs = (float(score(test[1], estimator.predict(test[0]))) for estimator in (model, plain))
    return DemoResult(task, [(score_name, ours, theirs)], plain_name, seconds, (model, *test))


def _variance(truth, predictions):
    """R2 weighted by the variance of each output."""
    return r2_score(truth, predictions, multioutput="variance_weighted")


def _network():
    """The network of Les Misérables if networkx is installed, else a random network of classes."""
    try:
        import networkx
    except ImportError:
        return "a random network", datasets.make_mixture_network(150, p_intra=0.1, random_state=0).adjacency
    return "Les Misérables", networkx.les_miserables_graph()


def adamic_adar(pairs):
    """For each pair of nodes the sum of 1 / log(degree) over common neighbours."""
    links = np.nan_to_num(np.asarray(pairs.graph().toarray())) > 0
    degrees = links.sum(axis=0)
    weights = np.where(degrees > 1, 1 / np.log(np.maximum(degrees, 2)), 0.0)
    return (links * weights) @ links.T
