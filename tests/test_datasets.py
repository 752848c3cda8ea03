"""Generators follow their laws, corruptions change what they say and nothing else, readers read and refuse."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import assert_refused
from scipy import stats

from hilbertlearn import datasets
from hilbertlearn.data.functions import IrregularFunctions

rng = np.random.default_rng(5)
Y = rng.normal(size=(100, 40))
GAPS = Y.copy()
GAPS[rng.random(Y.shape) < 0.3] = np.nan


def assert_uniform(values, low, high):
    assert low <= values.min() and values.max() <= high
    assert stats.kstest(values, "uniform", (low, high - low)).pvalue > 1e-3


def gaussian_covariance(grid, width):
    return np.array([[math.exp(-((s - t) ** 2) / (2 * width**2)) for t in grid] for s in grid])


# Mixtures of Gaussian processes


def test_gaussian_processes_have_their_covariance():
    r, n = 2000, 2000  # over many functions and samples, cov(x) is r var(u) times the covariance of the functions
    X, Y, grid_in, grid_out = datasets.make_gaussian_process_curves(
        n, n_points_in=5, n_points_out=4, widths_in=(0.3,) * r, widths_out=(0.8,) * r, random_state=0
    )
    np.testing.assert_array_equal(grid_in, [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(X.T @ X / n / (r / 12), gaussian_covariance(grid_in, 0.3), atol=0.13)
    np.testing.assert_allclose(Y.T @ Y / n / (r / 12), gaussian_covariance(grid_out, 0.8), atol=0.13)
    np.testing.assert_allclose(X.T @ Y / n / (r / 12), 0, atol=0.13)  # functions of inputs and outputs are independent


def test_inputs_and_outputs_share_coefficients():
    X, Y, *_ = datasets.make_gaussian_process_curves(50, random_state=1)
    assert X.shape == Y.shape == (50, 100)
    for A in (X, Y, np.c_[X, Y]):  # with coefficients of their own both together would have rank 8
        values = np.linalg.svd(A, compute_uv=False)
        assert values[3] > 1e-3 * values[0] and values[4] < 1e-10 * values[0]


def test_coefficients_are_uniform():
    X, *_ = datasets.make_gaussian_process_curves(3000, widths_in=(0.5,), widths_out=(0.5,), random_state=2)
    u = X[:, 0] / np.abs(X[:, 0]).max()
    assert_uniform(u, -1, 1)
    np.testing.assert_allclose(X, np.outer(u, X[0] / u[0]), atol=1e-12)  # all multiples of one function


def test_narrow_processes_wiggle_more():
    def crossings(width):
        X, *_ = datasets.make_gaussian_process_curves(1, widths_in=(width,), widths_out=(width,), random_state=3)
        return (np.diff(np.sign(X[0])) != 0).sum()

    assert crossings(0.02) > crossings(0.2) >= crossings(4.0)


def test_noise_comes_last():
    clean = datasets.make_gaussian_process_curves(300, random_state=4)
    noisy = datasets.make_gaussian_process_curves(300, noise_out=0.5, random_state=4)
    np.testing.assert_array_equal(clean[0], noisy[0])
    noise = (noisy[1] - clean[1]).ravel()
    assert stats.kstest(noise, "norm", (0, 0.5)).pvalue > 1e-3
    clean = datasets.make_frequency_curves(300, noise_in=0, noise_out=0, random_state=4)
    noisy = datasets.make_frequency_curves(300, random_state=4)
    assert stats.kstest((noisy[0] - clean[0]).ravel(), "norm", (0, 0.07)).pvalue > 1e-3
    assert stats.kstest((noisy[1] - clean[1]).ravel(), "norm", (0, 0.02)).pvalue > 1e-3


# Frequencies and splines


def cubic_spline(x, width):
    """By truncated powers, with five knots from -width/2 to width/2."""
    x = x / (width / 4)
    return sum((-1) ** k * math.comb(4, k) * np.maximum(x + 2 - k, 0) ** 3 for k in range(5)) / 6


@pytest.mark.parametrize("width", [2.0, 3.0])
def test_frequency_curves_are_sums_of_cosines_and_splines(width):
    n = 1000
    X, Y, grid_in, grid_out = datasets.make_frequency_curves(
        n, width=width, noise_in=0, noise_out=0, amplitude=1.5, n_points_in=150, random_state=0
    )
    assert X.shape == (n, 150) and Y.shape == (n, 200)
    np.testing.assert_allclose(grid_in, np.linspace(0, 2 * np.pi, 150))
    np.testing.assert_allclose(grid_out, np.linspace(1 - width / 2, 10 + width / 2, 200))

    atoms = np.array([cubic_spline(w - grid_out, width) for w in range(1, 11)])
    np.testing.assert_allclose(datasets.frequency_atoms(grid_out, width=width), atoms, atol=1e-10)
    coefficients = np.linalg.lstsq(atoms.T, Y.T, rcond=None)[0].T
    used = np.abs(coefficients) > 1e-9
    assert (used.sum(axis=1) == 4).all()
    assert stats.chisquare(used.sum(axis=0)).pvalue > 1e-3  # each frequency as often as the others
    assert_uniform(coefficients[used], -1.5, 1.5)
    cosines = np.array([np.cos(w * grid_in) for w in range(1, 11)])
    np.testing.assert_allclose(X, coefficients @ cosines, atol=1e-9)


# Corruptions


def test_type_1_is_a_cycle_of_negated_curves():
    corrupted, changed = datasets.corrupt_labels(Y, 0.29, random_state=0)
    assert changed.sum() == 29  # although 0.29 * 100 < 29 in floating point
    np.testing.assert_array_equal(corrupted[~changed], Y[~changed])
    source = {int(i): int(np.flatnonzero((corrupted[i] == -Y).all(axis=1))[0]) for i in np.flatnonzero(changed)}
    cycle = [next(iter(source))]
    while source[cycle[-1]] not in cycle:
        cycle.append(source[cycle[-1]])
    assert len(cycle) == 29 and source[cycle[-1]] == cycle[0]


def test_type_1_moves_gaps_and_leaves_its_argument():
    before = GAPS.copy()
    corrupted, changed = datasets.corrupt_labels(GAPS, 0.02, random_state=0)
    np.testing.assert_array_equal(GAPS, before)
    i, j = np.flatnonzero(changed)
    np.testing.assert_array_equal(corrupted[[i, j]], -GAPS[[j, i]])
    alone, changed = datasets.corrupt_labels(Y, 0.01, random_state=0)
    np.testing.assert_array_equal(alone[changed], -Y[changed])


def test_type_2_has_the_law_of_the_outliers():
    r, n, intensity = 2000, 2000, 3.0
    outliers, changed = datasets.corrupt_curves(
        np.zeros((n, 5)), 1.0, intensity=intensity, widths=(0.4,) * r, random_state=0
    )
    assert changed.all()
    scale = r * intensity**2 / 12
    covariance = gaussian_covariance(np.linspace(0, 1, 5), 0.4)
    np.testing.assert_allclose(outliers.T @ outliers / n / scale, covariance, atol=0.13)
    outliers, _ = datasets.corrupt_curves(np.zeros((3000, 5)), 1.0, intensity=intensity, widths=(0.4,), random_state=0)
    assert_uniform(outliers[:, 0] / np.abs(outliers[:, 0]).max(), -1, 1)


def test_type_2_adds_or_replaces():
    added, changed = datasets.corrupt_curves(GAPS, 0.25, random_state=1)
    replaced, same = datasets.corrupt_curves(GAPS, 0.25, mode="replace", random_state=1)
    assert changed.sum() == 25
    np.testing.assert_array_equal(changed, same)
    np.testing.assert_allclose(added[changed], GAPS[changed] + replaced[changed])  # NaN where GAPS has
    for corrupted in (added, replaced):
        np.testing.assert_array_equal(corrupted[~changed], GAPS[~changed])
        np.testing.assert_array_equal(np.isnan(corrupted), np.isnan(GAPS))
    outliers, _ = datasets.corrupt_curves(Y, 0.25, mode="replace", random_state=1)
    assert np.linalg.matrix_rank(outliers[changed]) == 4  # four functions that all outliers share


@pytest.mark.parametrize("values", [Y, GAPS, GAPS.reshape(100, 20, 2)], ids=["full", "gaps", "several"])
def test_type_3_replaces_points(values):
    corrupted, changed = datasets.corrupt_points(values, 0.5, points_fraction=0.3, random_state=0)
    assert changed.shape == values.shape and not np.isnan(values[changed]).any()
    np.testing.assert_array_equal(corrupted[~changed], values[~changed])
    assert (corrupted[changed] != values[changed]).all()
    per_curve = changed.reshape(100, -1).sum(axis=1)
    observed = (~np.isnan(values)).reshape(100, -1).sum(axis=1)
    hit = per_curve > 0
    assert hit.sum() == 50
    np.testing.assert_array_equal(per_curve[hit], np.floor(0.3 * observed[hit] + 1e-9))
    bound = np.nanmax(np.abs(values))
    assert_uniform(corrupted[changed], -bound, bound)


def test_dropped_points_are_a_share_of_each_curve():
    dropped_often = np.zeros(40)
    for seed in range(30):
        sparse, dropped = datasets.drop_points(Y, 0.9, random_state=seed)
        assert (dropped.sum(axis=1) == 36).all()
        np.testing.assert_array_equal(np.isnan(sparse), dropped)
        np.testing.assert_array_equal(sparse[~dropped], Y[~dropped])
        dropped_often += dropped.sum(axis=0)
    assert np.abs(dropped_often / 3000 - 0.9).max() < 4 * math.sqrt(0.09 / 3000)
    sparse, dropped = datasets.drop_points(GAPS, 0.5, random_state=0)
    np.testing.assert_array_equal(dropped.sum(axis=1), (~np.isnan(GAPS)).sum(axis=1) // 2)
    np.testing.assert_array_equal(np.isnan(sparse), np.isnan(GAPS) | dropped)


@pytest.mark.parametrize(
    "corrupt", [datasets.corrupt_labels, datasets.corrupt_curves, datasets.corrupt_points, datasets.drop_points]
)
def test_corruptions_share_an_interface(corrupt):
    same = [corrupt(Y, 0.4, random_state=7) for _ in range(2)]
    np.testing.assert_array_equal(*(values for values, _ in same))
    values, changed = corrupt(Y, 0, random_state=0)
    np.testing.assert_array_equal(values, Y)
    assert not changed.any()
    assert_refused(lambda: corrupt(Y, 1.5), ["fraction", "between 0 and 1", "1.5"])
    assert_refused(lambda: corrupt(Y, "half"), ["fraction", "'half'"])


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: datasets.make_gaussian_process_curves(5, widths_in=(1,)), ["widths_in", "widths_out", "1 and 4"]),
        (lambda: datasets.make_gaussian_process_curves(5, widths_in=(1, 2, 3, 0)), ["widths_in", "> 0", "0"]),
        (lambda: datasets.make_gaussian_process_curves(0), ["n_samples", "0"]),
        (lambda: datasets.make_gaussian_process_curves(5, n_points_out=2.5), ["n_points_out", "2.5"]),
        (lambda: datasets.make_frequency_curves(5, n_frequencies=11), ["n_frequencies", "11", "10"]),
        (lambda: datasets.make_frequency_curves(5, width=0), ["width", "> 0"]),
        (lambda: datasets.corrupt_curves(Y, 0.1, mode="swap"), ["mode", "'swap'", "'add'", "'replace'"]),
        (lambda: datasets.corrupt_curves(Y[:, :, None], 0.1), ["Y", "(n, m)", "(100, 40, 1)"]),
        (lambda: datasets.corrupt_points(Y, 0.1, points_fraction=2), ["points_fraction", "2"]),
    ],
)
def test_bad_settings(action, words):
    assert_refused(action, words)


# Readers


def dti_arrays(n=6):
    facts = {name: np.arange(n) for name in ("subject", "visit", "visit_time", "n_scans", "case")}
    masks = {"sex": np.array(["female", "male"] * (n // 2)), "first_ms_visit": np.arange(n) % 2 == 0}
    return {"cca": rng.random((n, 9)), "rcst": GAPS[:n, :5], **facts, **masks, "pasat": np.full(n, np.nan)}


def speech_arrays():
    lengths = [3, 7, 2]
    offsets = np.cumsum([0, *lengths])
    tract = {
        "values": np.c_[rng.normal(size=(12, 2)), np.full(12, 120.0)].T,
        "words": np.array(["one", "three", "two"]),
        "channels": np.array(["LP", "VEL", "F0"]),
        "channels_authors_loader": np.array(["LP", "LA", ""]),
        "step_s": np.array(0.005),
        "keep_413": np.array([True, True, False]),
        "offsets": offsets,
    }
    return {"values": rng.normal(size=(12, 13)).astype(np.float32), "offsets": offsets}, tract


def test_dti(tmp_path):
    arrays = dti_arrays()
    np.savez(tmp_path / "dti.npz", **arrays)
    for path in (tmp_path, str(tmp_path / "dti.npz")):
        data = datasets.load_dti(path)
        np.testing.assert_array_equal(data.X, arrays["cca"])
        np.testing.assert_array_equal(data.Y, arrays["rcst"])
        np.testing.assert_array_equal(data.first_ms_visit, [True, False] * 3)
        np.testing.assert_allclose(data.grid_in, np.arange(9) / 8)
        np.testing.assert_allclose(data.grid_out, np.arange(5) / 4)
        assert data.sex[1] == "male" and "Kennedy-Krieger" in data.DESCR


def test_lip_emg(tmp_path):
    time = np.linspace(0, 0.64, 4)
    np.savez(tmp_path / "lip_emg.npz", emg=Y[:3, :4], lip_acc=Y[3:6, :4], time=time)
    data = datasets.load_lip_emg(tmp_path)
    np.testing.assert_array_equal(data.X, Y[:3, :4])
    np.testing.assert_array_equal(data.Y, Y[3:6, :4])
    np.testing.assert_array_equal(data.grid_out, time)
    np.savez(tmp_path / "lip_emg.npz", emg=Y[:3, :4], lip_acc=Y[3:6, :4], time=time[:2])
    assert_refused(lambda: datasets.load_lip_emg(tmp_path), [str(tmp_path), "(3, 4)", "(2,)"])


@pytest.fixture
def speech(tmp_path):
    sound, tract = speech_arrays()
    np.savez(tmp_path / "mfcc13.npz", **sound)
    np.savez(tmp_path / "vocal_tract.npz", **tract)
    return tmp_path, sound, tract


def test_speech_words_have_their_own_length(speech):
    folder, sound, tract = speech
    data = datasets.load_speech(folder)
    assert isinstance(data.X, IrregularFunctions) and isinstance(data.Y, IrregularFunctions)
    np.testing.assert_allclose(data.X.points[1], 0.005 * np.arange(7))
    np.testing.assert_allclose(data.X.values[1], sound["values"][3:10])
    np.testing.assert_allclose(data.Y.values[2], tract["values"][:, 10:].T)
    assert len(data.Y[data.keep_413]) == 2 and data.step_s == 0.005 and list(data.words) == ["one", "three", "two"]


def test_speech_prepared_as_in_the_papers(speech):
    folder, sound, tract = speech
    data = datasets.load_speech(folder)
    made = datasets.prepare_speech(data, "VEL", train=[0, 2])
    curve = tract["values"][1]
    train = np.r_[curve[:3], curve[10:]]
    for i, (start, stop) in enumerate(((0, 3), (3, 10), (10, 12))):
        pad = 7 - (stop - start)
        extended = np.pad(curve[start:stop], (0, pad), mode="symmetric")
        scaled = -1 + 2 * (extended - train.min()) / (train.max() - train.min())
        np.testing.assert_allclose(made.Y[i], scaled)
        np.testing.assert_allclose(made.X[i], np.pad(sound["values"][start:stop], ((0, pad), (0, 0)), mode="symmetric"))
        np.testing.assert_array_equal(made.observed[i], np.arange(7) < stop - start)
    assert made.Y[[0, 2]].min() == pytest.approx(-1) and made.Y[[0, 2]].max() == pytest.approx(1)
    np.testing.assert_allclose(made.grid, np.linspace(0, 1, 7))

    everywhere = datasets.prepare_speech(data, 1)
    assert everywhere.Y.min() == pytest.approx(-1) and everywhere.Y.max() == pytest.approx(1)
    masked = datasets.prepare_speech(data, "VEL", train=np.array([True, False, True]))
    np.testing.assert_array_equal(masked.Y, made.Y)
    assert_refused(lambda: datasets.prepare_speech(data, "F0"), ["'F0'", "constant", "120"])
    assert_refused(lambda: datasets.prepare_speech(data, "GLO"), ["channel", "LP, VEL, F0", "'GLO'"])
    assert_refused(lambda: datasets.prepare_speech(data, 3), ["channel", "0 to 2", "3"])


@pytest.mark.parametrize(
    ("load", "file", "key"),
    [
        (datasets.load_dti, "dti.npz", "rcst"),
        (datasets.load_lip_emg, "lip_emg.npz", "lip_acc"),
        (datasets.load_speech, "mfcc13.npz", "offsets"),
    ],
)
def test_what_is_not_there(tmp_path, load, file, key):
    nowhere = tmp_path / "nowhere"
    assert_refused(lambda: load(nowhere), [str(nowhere), file, key], FileNotFoundError)
    np.savez(tmp_path / file, something=1)
    assert_refused(lambda: load(tmp_path), [str(tmp_path / file), key, "something"])
    (tmp_path / file).write_bytes(b"not an archive")
    assert_refused(lambda: load(tmp_path), [str(tmp_path / file), ".npz", key])


def test_arrays_that_do_not_fit(speech):
    folder, sound, tract = speech
    np.savez(folder / "dti.npz", **{**dti_arrays(), "rcst": Y[:4, :5]})
    assert_refused(lambda: datasets.load_dti(folder), ["dti.npz", "cca 6", "rcst 4"])
    np.savez(folder / "dti.npz", **{**dti_arrays(), "sex": np.array([None] * 6)})
    assert_refused(lambda: datasets.load_dti(folder), ["dti.npz", "allow_pickle=False"])  # runs nothing it reads
    np.savez(folder / "mfcc13.npz", values=sound["values"], offsets=[0, 4, 10, 12])
    assert_refused(lambda: datasets.load_speech(folder), ["mfcc13.npz", "vocal_tract.npz", "offsets"])
    np.savez(folder / "mfcc13.npz", values=sound["values"][:-1], offsets=sound["offsets"])
    assert_refused(lambda: datasets.load_speech(folder), ["mfcc13.npz", "offsets", "11"])
    np.savez(folder / "mfcc13.npz", **sound)
    np.savez(folder / "vocal_tract.npz", **{**tract, "words": tract["words"][:2]})
    assert_refused(lambda: datasets.load_speech(folder), ["vocal_tract.npz", "words 2", "3"])


def test_fill_gaps():
    grid = np.sort(rng.random(40))
    filled = datasets.fill_gaps(GAPS, grid)
    for row, curve in zip(filled, GAPS):
        seen = ~np.isnan(curve)
        np.testing.assert_allclose(row, np.interp(grid, grid[seen], curve[seen]))
    np.testing.assert_allclose(datasets.fill_gaps([[np.nan, 1, np.nan, np.nan, 4]]), [[1, 1, 2, 3, 4]])
    assert_refused(lambda: datasets.fill_gaps(np.full((2, 3), np.nan)), ["Y", "row 0", "leave"])
    assert_refused(lambda: datasets.fill_gaps(GAPS, grid[:-1]), ["grid", "40", "39"])


# The real files, when they are there

FOLDER = os.environ.get("HILBERTLEARN_DATA")
with_data = pytest.mark.skipif(not FOLDER, reason="HILBERTLEARN_DATA does not name the folder of the data sets")


@with_data
def test_real_dti():
    data = datasets.load_dti(Path(FOLDER) / "dti")
    assert data.X.shape == (382, 93) and data.Y.shape == (382, 55)
    first = data.first_ms_visit
    assert first.sum() == 100 and len(set(data.subject[first])) == 100
    assert np.isnan(data.X[first]).sum() == 2 and np.isnan(data.Y[first]).sum() == 192
    assert np.isfinite(datasets.fill_gaps(data.X)).all()


@with_data
def test_real_lip_emg():
    data = datasets.load_lip_emg(Path(FOLDER) / "lip_emg")
    assert data.X.shape == data.Y.shape == (32, 641)
    np.testing.assert_allclose(data.grid_in, 0.001 * np.arange(641), atol=1e-9)


@with_data
def test_real_speech():
    data = datasets.load_speech(Path(FOLDER) / "speech_vt")
    assert len(data.X) == len(data.Y) == 416 and data.keep_413.sum() == 413
    assert {*data.words[~data.keep_413]} == {"by", "sun", "two"}
    made = datasets.prepare_speech(data, "VEL", train=data.keep_413)
    assert made.X.shape == (416, 290, 13) and made.Y.shape == (416, 290)
    assert made.Y.min() == pytest.approx(-1) and made.Y.max() == pytest.approx(1)
    lengths = made.observed.sum(axis=1)
    assert lengths.min() == 60 and lengths.max() == 290 and lengths.sum() == 44504
    # the velum opens in nasals only
    spelt_nasal = np.array([("m" in word) or ("n" in word) for word in data.words])
    peaks = np.where(made.observed, made.Y, -1).max(axis=1)
    assert np.ptp(peaks[~spelt_nasal]) < 0.1 < np.mean(peaks[spelt_nasal]) - np.mean(peaks[~spelt_nasal])
