"""The robustness ratio of Lambert et al. 2022, appendix C.1."""

import numpy as np
import pytest
from scipy.optimize import minimize

from hilbertlearn import datasets
from hilbertlearn.metrics import robustness_ratio

RNG = np.random.default_rng(0)


def huber(f, kappa, p):
    """``inf_g mean (f - g)^2 / 2 + kappa (mean |g|^p)^(1/p)`` of point values f, by brute force."""

    def objective(g):
        return np.mean((f - g) ** 2) / 2 + kappa * np.mean(np.abs(g) ** p) ** (1 / p)

    starts = [f * share for share in (0.0, 0.2, 0.5, 0.9, 1.0)]
    options = {"maxiter": 20000, "maxfev": 20000, "xatol": 1e-10, "fatol": 1e-14}
    return min(minimize(objective, start, method="Nelder-Mead", options=options).fun for start in starts)


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 4.0])
def test_by_brute_force(p):
    clean = RNG.normal(size=(3, 3))
    corrupted = clean.copy()
    corrupted[0, 1] += 4.0
    kappas = [0.3, 1.0]
    found = robustness_ratio(clean, corrupted, p, kappas=kappas, weights="equal")
    expected = [np.mean([huber(b, k, p) / huber(a, k, p) for a, b in zip(clean, corrupted)]) for k in kappas]
    assert found.ratios == pytest.approx(expected, rel=1e-4)
    assert found.value == min(found.ratios)
    assert found.kappa == kappas[int(np.argmin(expected))]


def test_limits_in_kappa():
    clean = RNG.normal(size=(10, 20))
    corrupted = clean + 3 * (RNG.random((10, 20)) < 0.1)
    for p in (1, 1.5, 2, np.inf):
        large = robustness_ratio(clean, corrupted, p, kappas=[1e9], weights="equal").value
        assert large == pytest.approx(np.mean((corrupted**2).sum(axis=1) / (clean**2).sum(axis=1)))
        small, zero = (robustness_ratio(clean, corrupted, p, kappas=[k]).value for k in (1e-7, 0.0))
        assert small == pytest.approx(zero, rel=1e-4)
    norms = [np.mean(np.abs(values), axis=1) for values in (corrupted, clean)]
    assert robustness_ratio(clean, corrupted, 1, kappas=0.0, weights="equal").value == pytest.approx(
        np.mean(norms[0] / norms[1])
    )


def test_nothing_changed_and_scale():
    clean = RNG.normal(size=(8, 15))
    corrupted = clean + RNG.normal(size=(8, 15))
    for p in (1, 1.2, 2):
        assert robustness_ratio(clean, clean, p).value == pytest.approx(1.0)
        once, scaled = (robustness_ratio(c * clean, c * corrupted, p) for c in (1.0, 50.0))
        assert once.value == pytest.approx(scaled.value)  # kappa follows the curves
        assert scaled.kappa == pytest.approx(50 * once.kappa)
        assert len(once.kappas) == 7


def test_figure_5():
    """Global outliers: p = 2 is best; local ones: p = 1 is better than 2. Ten draws."""
    ratios = {}
    for seed in range(10):
        Y = datasets.make_gaussian_process_curves(100, random_state=seed)[1]
        whole = datasets.corrupt_curves(Y, 0.1, intensity=2.0, random_state=seed)[0]
        points = datasets.corrupt_points(Y, 1.0, points_fraction=0.1, random_state=seed)[0]
        for kind, outliers in (("global", whole), ("local", points)):
            for p in (1, 2):
                found = robustness_ratio(Y, outliers, p, weights="equal").value
                ratios.setdefault((kind, p), []).append(found)
    means = {key: np.mean(values) for key, values in ratios.items()}
    assert means["global", 1] == pytest.approx(1.54, abs=0.01)
    assert means["global", 2] == pytest.approx(1.41, abs=0.01)
    assert means["local", 1] == pytest.approx(1.66, abs=0.01)
    assert means["local", 2] == pytest.approx(1.74, abs=0.01)


def test_bad_input():
    clean = RNG.normal(size=(4, 6))
    with pytest.raises(ValueError, match="p must be"):
        robustness_ratio(clean, clean, 0.5)
    with pytest.raises(ValueError, match="same shape"):
        robustness_ratio(clean, clean[:, :5])
    with pytest.raises(ValueError, match="function 1 is zero"):
        robustness_ratio(clean * [[1.0], [0.0], [1.0], [1.0]], clean)
    with pytest.raises(ValueError, match="corrupted contains NaN"):
        robustness_ratio(clean, np.where(clean > 1, np.nan, clean) + np.nan)
    with pytest.raises(ValueError, match="kappas"):
        robustness_ratio(clean, clean, kappas=[-1.0])
    for level in (0.0, 1.0, 2.0):
        with pytest.raises(ValueError, match="quantiles must be"):
            robustness_ratio(clean, clean, quantiles=[level])
