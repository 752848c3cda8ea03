"""What is said of a fit, in text and in notebooks, is what its attributes have."""

import html
import re

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

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
from hilbertlearn._utils.summary import short
from hilbertlearn.baselines import FunctionalNadarayaWatson

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1]]) + 0.1 * rng.normal(size=(40, 2))
Y[::8] += 3.0
POINTS = np.linspace(0, 3, 40)[:, None]
CLOSE = (abs(POINTS - POINTS.T) < 0.3).astype(int) - np.eye(40, dtype=int)
LABELS = list("abcd" * 10)
GIVEN = {"kernel": "rbf", "gamma": 0.5, "alpha": 1e-2}
HUBER = OperatorKernelRegressor(**GIVEN, loss=losses.Huber(0.3))

MODELS = {
    "vectors": lambda: HUBER.fit(X, Y),
    "landmarks": lambda: OperatorKernelRegressor(**GIVEN, feature_map=10).fit(X, Y),
    "regressor": lambda: FunctionalRegressor(regressor=Ridge()).fit(X, Y),
    "batches": lambda: OperatorKernelRegressor(**GIVEN, feature_map=10).partial_fit(X, Y),
    "curves": lambda: FunctionalRegressor(**GIVEN).fit(X, Y),
    "objects": lambda: StructuredPredictor(**GIVEN).fit(X, LABELS),
    "links": lambda: LinkPredictor(alpha=1e-2).fit(POINTS, CLOSE),
    "links by a regressor": lambda: LinkPredictor(regressor=Ridge()).fit(POINTS, CLOSE),
    "links without features": lambda: LinkPredictor().fit(None, CLOSE),
    "codes": lambda: KernelAutoencoder(1, max_iter=20).fit(X),
    "quantile": lambda: QuantileRegressor((0.2, 0.8), **GIVEN, coupling=1.0).fit(X, Y[:, 0]),
    "quantiles": lambda: QuantileRegressor((0.2, 0.8), **GIVEN, coupling=1.0).fit(X, Y),
    "path": lambda: RegularizationPathCV(HUBER, [1e-3, 1e-1], cv=2).fit(X, Y),
    "grid": lambda: RegularizationPathCV(HUBER, [1e-3, 1e-1], cv=2, loss_params={"kappa": [0.1, 1.0]}).fit(X, Y),
    "conformal": lambda: ConformalPredictor(OperatorKernelRegressor(**GIVEN)).fit(X, Y),
    "conformal quantiles": lambda: ConformalPredictor(
        QuantileRegressor((0.1, 0.9), **GIVEN, coupling=1.0), "split", 0.8
    ).fit(X, Y[:, 0]),
    "conformal ridge": lambda: ConformalPredictor(Ridge(), "cv+", 0.8, cv=3).fit(X, Y),
    "conformal objects": lambda: ConformalPredictor(StructuredPredictor(**GIVEN), level=0.8).fit(X, LABELS),
    "conformal links": lambda: ConformalPredictor(LinkPredictor(alpha=1e-2), "split").fit(POINTS, CLOSE),
    "local means": lambda: FunctionalNadarayaWatson().fit(X, Y),
}


@pytest.fixture(scope="module")
def fitted():
    kept: dict = {}

    def model(name):
        if name not in kept:
            kept[name] = MODELS[name]()
        return kept[name]

    return model


def cells(text):
    """Pairs (name, value) of the table below the diagram, unescaped."""
    table = text[text.index('<table class="hilbertlearn-summary"') :]
    return [tuple(map(html.unescape, row)) for row in re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", table)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_text_and_table_have_the_facts(fitted, name):
    model = fitted(name)
    facts = model.summary_items()
    assert facts and all(isinstance(name, str) for name, _ in facts)
    assert model.summary().startswith(type(model).__name__)
    shown = model._repr_html_()
    assert shown.startswith(BaseEstimator._repr_html_inner(model)[:20]) and "sk-container-id" in shown
    assert cells(shown) == [(name, short(value)) for name, value in facts]
    assert cells(model._repr_mimebundle_()["text/html"]) == cells(shown)


def test_facts_of_a_machine_are_its_attributes(fitted):
    model = fitted("vectors")
    facts = dict(model.summary_items())
    assert facts["samples"] == 40 and facts["coordinates"] == 2 and facts["loss"] is model.loss_
    for name, attribute in {"alpha": "alpha_", "gamma": "gamma_", "gap": "dual_gap_", "iterations": "n_iter_"}.items():
        assert facts[name] == getattr(model, attribute)
    assert facts["support"] == f"{len(model.support_)} of 40 samples"
    assert facts["held at the loss's bound"] == model.saturated_.sum() >= 5
    assert f"{model.dual_gap_:.1e}" in model.summary()


def test_facts_of_a_path(fitted):
    model = fitted("grid")
    facts = dict(model.summary_items())
    assert (
        facts["cross-validated error"] == model.errors_.min()
        and facts["selected parameters of the loss"] == model.loss_params_
    )
    assert facts["its standard error"] == model.standard_errors_.ravel()[model.errors_.argmin()]
    assert facts["gap"] == model.best_estimator_.dual_gap_ and facts["splits"] == 2


def test_facts_of_a_conformal_predictor(fitted):
    model = fitted("conformal")
    facts = dict(model.summary_items())
    assert facts["level"] == 0.9 and facts["method"] == "jackknife+, in closed form"
    assert facts["calibration size"] == 40
    assert facts["calibration coverage"] == 37 / 40  # ceil(0.9 (40 + 1)) scores are at most the bound
    assert facts["alpha"] == model.estimator_.alpha_
    assert dict(fitted("conformal ridge").summary_items())["estimator"].coef_.shape == (2, 2)


def test_facts_of_links_and_quantiles(fitted):
    links = dict(fitted("links").summary_items())
    assert links["known nodes"] == 40 and links["links"] == CLOSE.sum() // 2
    weights = fitted("links").weights_["known"]
    assert links["scores of known pairs"] == {name: one for name, one in weights.items() if one > 0}
    assert (
        dict(fitted("quantile").summary_items())["coupling"] == 1.0 and "coupling   1" in fitted("quantile").summary()
    )


@pytest.mark.parametrize("model", [HUBER.__class__(), RegularizationPathCV(), ConformalPredictor(), LinkPredictor()])
def test_nothing_is_added_before_a_fit(model):
    def plain(text):
        return re.sub(r"sk-(container|estimator)-id-\d+", "", text)

    assert plain(model._repr_html_()) == plain(estimator_html_repr(model))
    assert "hilbertlearn-summary" not in model._repr_mimebundle_()["text/html"]


def test_text_is_escaped(fitted):
    def kernel(A, B):
        return A @ B.T

    model = OperatorKernelRegressor(kernel, alpha=1e-2).fit(X, Y)
    shown = model._repr_html_()
    table = shown[shown.index("hilbertlearn-summary") :]
    assert "&lt;function" in table and "<function" not in table


def test_no_diagram_where_none_is_wanted(fitted):
    with config_context(display="text"):
        assert "text/html" not in fitted("vectors")._repr_mimebundle_()
        assert not hasattr(fitted("vectors"), "_repr_html_")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.123"),
        (1.23456e-7, "1.23e-07"),
        (True, "yes"),
        (np.array([0.5, 0.25]), "0.5, 0.25"),
        ({"kappa": 0.1234567}, "kappa 0.123"),
        (losses.Huber(0.123456), "Huber(kappa=0.123)"),
        ("x" * 300, "x" * 198 + " …"),
        (
            make_pipeline(Ridge(alpha=0.25, copy_X=False, max_iter=10, solver="saga"), memory="folder"),
            "Pipeline(memory='folder', steps=[('ridge', Ridge(alpha=0.25, copy_X=False, max_iter=10, solver='saga'))])",
        ),
    ],
)
def test_facts_are_short(value, text):
    assert short(value) == text


def test_a_display_computes_nothing(fitted, monkeypatch):
    def refuse(self):
        raise RuntimeError("computed for a display")

    model = fitted("links")
    for name in ("thresholds_", "cv_score_", "fitted_", "embedding_"):
        monkeypatch.setattr(LinkPredictor, name, property(refuse))
    assert cells(model._repr_html_()) == cells(model._repr_mimebundle_()["text/html"])
    make_pipeline(model)._repr_html_()
