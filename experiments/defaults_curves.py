"""Outliers and the papers' data for ``defaults.py``, compared with grids in hindsight and the papers' own methods."""

from __future__ import annotations

import time
import warnings
from functools import partial

import bouche2021_dti
import bouche2021_speech
import laforgue2020_lip
import lambert2022_dti
import numpy as np
from defaults_tables import Case, relative_error, thirds
from lambert2022_common import N_TRAIN
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from hilbertlearn import FunctionalRegressor, OperatorKernelRegressor, datasets, losses, readers
from hilbertlearn.metrics import functional_mse, functional_nmse, integrated_squared_error

SPOILT = ("andro", "slump", "edm", "atp7d", "scpf")
NOISES = 0.0, 0.5  # of curves, as in figures 2 and 1 of Lambert et al. 2022
QUICK_SPLITS = 2
SHARES = np.geomspace(1e-3, 1, 7)  # kappa over the standard deviation of the clean outputs


# ---------------------------------------------------------------- outliers


def robust(folder, quick):
    for name, split, X, X_test, Y, Y_test in thirds(folder / "multi_target", SPOILT, "Y", quick):
        score = partial(relative_error, center=Y.mean(axis=0))
        model = OperatorKernelRegressor(loss="huber")
        case = Case(name, split, model, X, wrong_rows(Y, split), X_test, Y_test, score)
        yield in_hindsight(case, np.sqrt(Y.var(axis=0).sum()), quick)
    for split in range(QUICK_SPLITS if quick else 3):
        for noise in NOISES:
            yield from spoilt_curves(split, noise, quick)


def spoilt_curves(split, noise, quick):
    """Curves of Lambert et al. 2022 with wrong curves, and with wrong points; test curves have no noise."""
    X, Y, _, _ = datasets.make_gaussian_process_curves(2 * N_TRAIN, random_state=split)
    noisy = datasets.make_gaussian_process_curves(2 * N_TRAIN, noise_out=noise, random_state=split)[1][:N_TRAIN]
    curves = datasets.corrupt_curves(noisy, 0.1, intensity=3.0, random_state=split)[0]
    points = datasets.corrupt_points(noisy, 1.0, points_fraction=0.1, random_state=split)[0]
    for name, wrong, loss in (("curves", curves, "huber"), ("points of curves", points, losses.Huber(p=1))):
        title = f"{name}, noise {noise:g}"
        model = FunctionalRegressor(loss=loss)
        case = Case(title, split, model, X[:N_TRAIN], wrong, X[N_TRAIN:], Y[N_TRAIN:], functional_nmse)
        yield in_hindsight(case, np.sqrt(Y.var(axis=0).mean()), quick)


def wrong_rows(Y, seed):
    """A copy in which 10 standard deviations, of random sign for each output, are added to 10 % of the rows."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(Y), round(len(Y) / 10), replace=False)
    wrong = Y.copy()
    wrong[rows] += 10 * Y.std(axis=0) * rng.choice([-1, 1], size=(len(rows), Y.shape[1]))
    return wrong


def in_hindsight(case, scale, quick):
    case.peers = {"best in hindsight": partial(best_in_hindsight, case, scale, quick)}
    return case


def best_in_hindsight(case, scale, quick):
    """Gaussian kernel and Huber loss at the alpha, gamma and kappa of a grid that are best on the test data themselves.

    gamma is 4^-5 to 4^2 times that of the median rule, kappa a share of scale, the standard deviation of the clean
    outputs, and alpha one a decade from 1 to 1e-8.
    """
    distances = pdist(case.X, "sqeuclidean")
    rule = 1 / (2 * np.median(distances[distances > 0]))
    powers, shares, decades = ((-2, 0), SHARES[2::2], 5) if quick else (range(-5, 3), SHARES, 9)
    start, best = time.process_time(), {"score": np.inf}
    for power in powers:
        for share in shares:
            loss = losses.Huber(share * scale, getattr(case.model.loss, "p", 2))
            model = clone(case.model).set_params(kernel="rbf", gamma=rule * 4.0**power, loss=loss, tol=1e-4)
            for alpha, score in scores_along(model, case, np.geomspace(1, 1e-8, decades)):
                if score < best["score"]:
                    best = {"score": score, "settings": {"alpha": alpha, "power": power, "share": float(share)}}
    return {**best, "seconds": time.process_time() - start}


def scores_along(model, case, alphas):
    """Pairs of alpha and the score on test data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # in corners of the grid, far from the best
        for fitted in model.fit_path(case.X, case.Y, alphas):
            yield float(fitted.alpha_), float(case.score(case.Y_test, fitted.predict(case.X_test)))


# ---------------------------------------------------------------- the papers' data


def papers(folder, quick, cache):
    """The cache keeps the results of the scripts that the peers come from."""
    yield from dti(folder / "dti", quick, cache)
    yield from speech(folder / "speech_vt", quick, cache)
    yield from lip(folder / "lip_emg", quick, cache)


def by_method(rows, error="mse"):
    """Errors {method: {split: error}} from rows of another script."""
    found = {}
    for row in rows:
        if row["method"] != "default":  # ours, which is made anew
            found.setdefault(row["method"], {})[row["split"]] = row[error]
    return found


def best_of(found):
    """The method with the least error on average."""
    return min(found, key=lambda method: np.mean(list(found[method].values())))


def published(found, split, paper):
    """Peers of a split: the method ``paper``, and the best of all."""
    methods = {"paper": paper, "best": best_of(found)}
    return {
        name: partial(dict, score=found[method][split], settings={"method": method}) for name, method in methods.items()
    }


def dti(folder, quick, cache):
    data, splits = readers.load_dti(folder), QUICK_SPLITS if quick else 10
    bouche = cache("bouche2021_dti", lambda: list(bouche2021_dti.run(data, splits, quick)))
    lambert = cache("lambert2022_dti", lambda: list(lambert2022_dti.run(data, splits, 2 if quick else 50)))
    lambert = by_method({**row, "method": f"{row['loss']}, alpha {row['alpha']:g}"} for row in lambert)
    rows = data.first_ms_visit
    X, Y = datasets.fill_gaps(data.X[rows]), data.Y[rows]
    filled = datasets.fill_gaps(Y)
    for split in range(splits):
        order = np.random.RandomState(split).permutation(len(Y))
        train, test = order[: bouche2021_dti.N_TRAIN], order[bouche2021_dti.N_TRAIN :]
        for name, outputs, loss, found, paper in (
            ("DTI, Bouche et al.", Y, "squared", by_method(bouche), "KPL, projected"),
            ("DTI, Lambert et al.", filled, "squared", lambert, "squared, alpha 0.001"),
            ("DTI, Lambert et al., Huber", filled, "huber", lambert, "H2, alpha 0.001"),
        ):
            arrays, peers = (X[train], outputs[train], X[test], Y[test]), published(found, split, paper)
            yield Case(name, split, FunctionalRegressor(loss=loss), *arrays, functional_mse, peers)


def speech(folder, quick, cache):
    data, splits = bouche2021_speech.words(folder), QUICK_SPLITS if quick else 3
    channels = ("LA",) if quick else tuple(bouche2021_speech.PAPER)
    found = cache("bouche2021_speech", lambda: list(bouche2021_speech.run(data, splits, channels, quick)))
    for channel in channels:
        same = by_method(row for row in found if row["channel"] == channel)
        for split in range(splits):
            order = np.random.RandomState(split).permutation(len(data.X))
            train, test = order[: bouche2021_speech.N_TRAIN], order[bouche2021_speech.N_TRAIN :]
            words = readers.prepare_speech(data, channel, train)
            seen = np.where(words.observed, words.Y, np.nan)
            arrays, peers = (words.X[train], words.Y[train], words.X[test], seen[test]), published(same, split, "KPL")
            yield Case(f"speech, {channel}", split, FunctionalRegressor(), *arrays, functional_mse, peers)


def lip(folder, quick, cache):
    X, Y, grid = laforgue2020_lip.read(folder)
    draws, kappas = range(1 if quick else 3), np.geomspace(0.02, 5, 3 if quick else 17)
    rows = cache("laforgue2020_lip", lambda: list(laforgue2020_lip.runs(X, Y, draws, (16,), kappas, grid)))
    rows = [{**row, "split": row["draw"] or 0, "method": f"{row['loss']} {row['kappa']}".strip()} for row in rows]
    clean = by_method((row for row in rows if row["draw"] == ""), "error")
    wrong = by_method((row for row in rows if row["draw"] != ""), "error")
    huber = best_of({method: errors for method, errors in wrong.items() if method.startswith("Huber ")})
    score = partial(integrated_squared_error, grid=grid)
    peers = published(clean, 0, "squared, no outliers")
    yield LeftOut("lip, no outliers", 0, FunctionalRegressor(), X, Y, None, None, score, peers)
    for draw in draws:
        spoilt = laforgue2020_lip.corrupted(X, Y, np.random.default_rng(draw))
        for name, loss, paper in (("lip", "squared", "squared inf"), ("lip, Huber", "huber", huber)):
            peers = published(wrong, draw, paper)
            yield LeftOut(name, draw, FunctionalRegressor(loss=loss), *spoilt, None, None, score, peers)


class LeftOut(Case):
    """Each of the clean samples, which come first, is predicted from all others; its test data are not used."""

    def measure(self, model):
        found = []
        for i in range(laforgue2020_lip.CLEAN):
            rest = np.arange(len(self.X)) != i
            arrays = self.X[rest], self.Y[rest], self.X[[i]], self.Y[[i]]
            found.append(Case(self.data, self.split, model, *arrays, self.score).measure(clone(model)))
        means = {name: float(np.mean([one[name] for one in found])) for name in ("score", "seconds")}
        return {**means, "settings": found[0]["settings"]}
