"""Readers of curves read what was written and refuse what does not fit."""

import os
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import assert_refused

from hilbertlearn import datasets, readers
from hilbertlearn.data.functions import IrregularFunctions

rng = np.random.default_rng(5)
Y = rng.normal(size=(100, 40))
GAPS = Y.copy()
GAPS[rng.random(Y.shape) < 0.3] = np.nan


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
        data = readers.load_dti(path)
        np.testing.assert_array_equal(data.X, arrays["cca"])
        np.testing.assert_array_equal(data.Y, arrays["rcst"])
        np.testing.assert_array_equal(data.first_ms_visit, [True, False] * 3)
        np.testing.assert_allclose(data.grid_in, np.arange(9) / 8)
        np.testing.assert_allclose(data.grid_out, np.arange(5) / 4)
        assert data.sex[1] == "male" and "Kennedy-Krieger" in data.DESCR


def test_lip_emg(tmp_path):
    time = np.linspace(0, 0.64, 4)
    np.savez(tmp_path / "lip_emg.npz", emg=Y[:3, :4], lip_acc=Y[3:6, :4], time=time)
    data = readers.load_lip_emg(tmp_path)
    np.testing.assert_array_equal(data.X, Y[:3, :4])
    np.testing.assert_array_equal(data.Y, Y[3:6, :4])
    np.testing.assert_array_equal(data.grid_out, time)
    np.savez(tmp_path / "lip_emg.npz", emg=Y[:3, :4], lip_acc=Y[3:6, :4], time=time[:2])
    assert_refused(lambda: readers.load_lip_emg(tmp_path), [str(tmp_path), "(3, 4)", "(2,)"])


@pytest.fixture
def speech(tmp_path):
    sound, tract = speech_arrays()
    np.savez(tmp_path / "mfcc13.npz", **sound)
    np.savez(tmp_path / "vocal_tract.npz", **tract)
    return tmp_path, sound, tract


def test_speech_words_have_their_own_length(speech):
    folder, sound, tract = speech
    data = readers.load_speech(folder)
    assert isinstance(data.X, IrregularFunctions) and isinstance(data.Y, IrregularFunctions)
    np.testing.assert_allclose(data.X.points[1], 0.005 * np.arange(7))
    np.testing.assert_allclose(data.X.values[1], sound["values"][3:10])
    np.testing.assert_allclose(data.Y.values[2], tract["values"][:, 10:].T)
    assert len(data.Y[data.keep_413]) == 2 and data.step_s == 0.005 and list(data.words) == ["one", "three", "two"]


def test_speech_prepared_as_in_the_papers(speech):
    folder, sound, tract = speech
    data = readers.load_speech(folder)
    made = readers.prepare_speech(data, "VEL", train=[0, 2])
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

    everywhere = readers.prepare_speech(data, 1)
    assert everywhere.Y.min() == pytest.approx(-1) and everywhere.Y.max() == pytest.approx(1)
    masked = readers.prepare_speech(data, "VEL", train=np.array([True, False, True]))
    np.testing.assert_array_equal(masked.Y, made.Y)
    assert_refused(lambda: readers.prepare_speech(data, "F0"), ["'F0'", "constant", "120"])
    assert_refused(lambda: readers.prepare_speech(data, "GLO"), ["channel", "LP, VEL, F0", "'GLO'"])
    assert_refused(lambda: readers.prepare_speech(data, 3), ["channel", "0 to 2", "3"])


@pytest.mark.parametrize(
    ("load", "file", "key"),
    [
        (readers.load_dti, "dti.npz", "rcst"),
        (readers.load_lip_emg, "lip_emg.npz", "lip_acc"),
        (readers.load_speech, "mfcc13.npz", "offsets"),
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
    assert_refused(lambda: readers.load_dti(folder), ["dti.npz", "cca 6", "rcst 4"])
    np.savez(folder / "dti.npz", **{**dti_arrays(), "sex": np.array([None] * 6)})
    assert_refused(lambda: readers.load_dti(folder), ["dti.npz", "allow_pickle=False"])  # runs nothing it reads
    np.savez(folder / "mfcc13.npz", values=sound["values"], offsets=[0, 4, 10, 12])
    assert_refused(lambda: readers.load_speech(folder), ["mfcc13.npz", "vocal_tract.npz", "offsets"])
    np.savez(folder / "mfcc13.npz", values=sound["values"][:-1], offsets=sound["offsets"])
    assert_refused(lambda: readers.load_speech(folder), ["mfcc13.npz", "offsets", "11"])
    np.savez(folder / "mfcc13.npz", **sound)
    np.savez(folder / "vocal_tract.npz", **{**tract, "words": tract["words"][:2]})
    assert_refused(lambda: readers.load_speech(folder), ["vocal_tract.npz", "words 2", "3"])


FOLDER = os.environ.get("HILBERTLEARN_DATA")
with_data = pytest.mark.skipif(not FOLDER, reason="HILBERTLEARN_DATA does not name the folder of the data sets")


@with_data
def test_real_dti():
    data = readers.load_dti(Path(FOLDER) / "dti")
    assert data.X.shape == (382, 93) and data.Y.shape == (382, 55)
    first = data.first_ms_visit
    assert first.sum() == 100 and len(set(data.subject[first])) == 100
    assert np.isnan(data.X[first]).sum() == 2 and np.isnan(data.Y[first]).sum() == 192
    assert np.isfinite(datasets.fill_gaps(data.X)).all()


@with_data
def test_real_lip_emg():
    data = readers.load_lip_emg(Path(FOLDER) / "lip_emg")
    assert data.X.shape == data.Y.shape == (32, 641)
    np.testing.assert_allclose(data.grid_in, 0.001 * np.arange(641), atol=1e-9)


@with_data
def test_real_speech():
    data = readers.load_speech(Path(FOLDER) / "speech_vt")
    assert len(data.X) == len(data.Y) == 416 and data.keep_413.sum() == 413
    assert {*data.words[~data.keep_413]} == {"by", "sun", "two"}
    made = readers.prepare_speech(data, "VEL", train=data.keep_413)
    assert made.X.shape == (416, 290, 13) and made.Y.shape == (416, 290)
    assert made.Y.min() == pytest.approx(-1) and made.Y.max() == pytest.approx(1)
    lengths = made.observed.sum(axis=1)
    assert lengths.min() == 60 and lengths.max() == 290 and lengths.sum() == 44504
    # the velum opens in nasals only
    spelt_nasal = np.array([("m" in word) or ("n" in word) for word in data.words])
    peaks = np.where(made.observed, made.Y, -1).max(axis=1)
    assert np.ptp(peaks[~spelt_nasal]) < 0.1 < np.mean(peaks[spelt_nasal]) - np.mean(peaks[~spelt_nasal])
