"""Readers of real data. They take the path of files that the user has."""

from __future__ import annotations

from inspect import getdoc

import numpy as np
from sklearn.utils import Bunch, check_array

from .. import functions
from ..functions import IrregularFunctions
from ._files import check_sizes, read_arrays, split_rows


def load_dti(path):
    """Fractional anisotropy along two tracts of the brain by diffusion tensor imaging, one row a scan.

    The data come with the R package refund, which asks for the acknowledgement: the MRI/DTI data were collected at
    Johns Hopkins University and the Kennedy-Krieger Institute.

    Parameters
    ----------
    path : folder with ``dti.npz``, or that file; it has the arrays ``cca``, ``rcst`` and those from ``subject`` below

    Returns
    -------
    Bunch with DESCR, this text, and for n = 382 scans,
        X (n, 93), Y (n, 55) : profiles along the corpus callosum and the right corticospinal tract; NaN not observed
        grid_in (93,), grid_out (55,) : positions along the tracts, evenly spaced on [0, 1]
        subject, visit, visit_time (days), n_scans, case (1 for multiple sclerosis), sex, pasat (NaN not known) : (n,)
        first_ms_visit : mask (n,) of the first scans of the 100 patients with multiple sclerosis, which papers use

    ``fill_gaps(X)`` gives inputs without NaN the way the papers do.
    """
    names = ("cca", "rcst", "subject", "visit", "visit_time", "n_scans", "case", "sex", "pasat", "first_ms_visit")
    arrays, _ = read_arrays(path, "dti.npz", dict.fromkeys(names, "n"))
    X, Y = arrays.pop("cca"), arrays.pop("rcst")
    grids = {"grid_in": np.linspace(0, 1, X.shape[1]), "grid_out": np.linspace(0, 1, Y.shape[1])}
    return Bunch(X=X, Y=Y, **grids, **arrays, DESCR=getdoc(load_dti))


def load_lip_emg(path):
    """Acceleration of the lower lip and activity of a muscle that moves it.

    One speaker repeats a sentence (Ramsay and Silverman, Functional Data Analysis).

    Parameters
    ----------
    path : folder with ``lip_emg.npz``, or that file; it has the arrays ``emg``, ``lip_acc`` and ``time``

    Returns
    -------
    Bunch with DESCR, this text, and
        X (32, 641), Y (32, 641) : electromyogram and acceleration, one row a repetition
        grid_in, grid_out (641,) : the common times, 0 to 0.64 seconds
    """
    arrays, file = read_arrays(path, "lip_emg.npz", {"emg": "n", "lip_acc": "n", "time": ""})
    X, Y, time = arrays["emg"], arrays["lip_acc"], arrays["time"]
    if not X.shape[1:] == Y.shape[1:] == time.shape:
        raise ValueError(
            f"{file}: emg and lip_acc must have one column for each time, got shapes {X.shape}, {Y.shape}, {time.shape}"
        )
    return Bunch(X=X, Y=Y, grid_in=time, grid_out=time.copy(), DESCR=getdoc(load_lip_emg))


def load_speech(path):
    """Sound and vocal tract of words of different lengths, synthesised with an articulatory model (Mitra et al. 2009).

    Parameters
    ----------
    path : folder with ``mfcc13.npz`` (``values`` (N, 13) of all words one after the other, ``offsets`` (n + 1,)) and
        ``vocal_tract.npz`` (``values`` (c, N), ``offsets``, ``words``, ``channels``, ``channels_authors_loader``,
        ``step_s``, ``keep_413``)

    Returns
    -------
    Bunch with DESCR, this text, and for n = 416 words of 60 to 290 samples,
        X : IrregularFunctions, values (m_i, 13), the mel-frequency cepstral coefficients
        Y : IrregularFunctions, values (m_i, 14), the trajectories; the points of both are seconds from the word's start
        words (n,) : their spelling
        channels (14,) : names of the trajectories by what their values show
        channels_authors_loader (14,) : names that the authors' program gives them; they differ from the fifth on
        keep_413 : mask (n,) without the three words that sound exactly like another, which papers leave out
        step_s : seconds between samples

    ``prepare_speech`` makes arrays of them.
    """
    sound, sound_file = read_arrays(path, "mfcc13.npz", {"values": "", "offsets": ""})
    names = ("values", "offsets", "words", "channels", "channels_authors_loader", "step_s", "keep_413")
    tract, tract_file = read_arrays(path, "vocal_tract.npz", dict.fromkeys(names, "") | {"words": "n", "keep_413": "n"})
    offsets, step = tract.pop("offsets"), float(tract.pop("step_s"))
    if not np.array_equal(sound["offsets"], offsets):
        raise ValueError(
            f"{sound_file} and {tract_file}: offsets must be equal, for sound and trajectories go together"
        )
    check_sizes(tract_file, {"words": len(tract["words"]), "offsets[1:]": len(offsets) - 1})

    def functions_of(values, file):
        words = split_rows(values, offsets, file, "samples")
        return IrregularFunctions([step * np.arange(len(word)) for word in words], words)

    X, Y = functions_of(sound["values"], sound_file), functions_of(tract.pop("values").T, tract_file)
    return Bunch(X=X, Y=Y, **tract, step_s=step, DESCR=getdoc(load_speech))


def prepare_speech(data, channel, train=None):
    """Arrays of sound and of one trajectory of the vocal tract, all words as long as the longest.

    Words are extended at their end by reflection, again and again: a b c c b a a b c. The trajectory is mapped to
    [-1, 1] by its least and greatest value in the training words, as in the authors' published code (Bouche et al.
    2021, appendix C.3.2 and Lambert et al. 2022, section 5.3, do not say over what). Here the coefficients of the sound
    are extended, there the sound itself.

    Parameters
    ----------
    data : what ``load_speech`` returns
    channel : a name in ``data.channels``, or a number of the trajectory from 0 on; for a name of the authors' program
        give ``list(data.channels_authors_loader).index(name)``
    train : indices or mask of the training words; by default all

    Returns
    -------
    Bunch with, for n words of at most m samples,
        X (n, m, 13) : coefficients of the sound, not scaled
        Y (n, m) : the trajectory; between -1 and 1 in the training words
        observed : mask (n, m) of the original points, where papers compare predictions with Y
        grid (m,) : evenly spaced on [0, 1]
    """
    names = [str(name) for name in data.channels]
    if channel not in names and channel not in range(len(names)):
        raise ValueError(f"channel must be one of {', '.join(names)} or 0 to {len(names) - 1}, got {channel!r}")
    number = names.index(channel) if isinstance(channel, str) else channel
    curves = [values[:, number] for values in data.Y.values]
    rows = np.arange(len(curves)) if train is None else np.arange(len(curves))[np.asarray(train)]
    seen = np.concatenate([curves[i] for i in rows])
    low, high = seen.min(), seen.max()
    if low == high:
        raise ValueError(f"channel {channel!r} is constant ({low:g}) in the training words: it has no range to scale")
    length = max(map(len, curves))
    X = np.stack([_reflected(values, length) for values in data.X.values])
    Y = np.stack([_reflected(curve, length) for curve in curves])
    observed = np.arange(length) < np.array([[len(curve)] for curve in curves])
    return Bunch(X=X, Y=(2 * Y - low - high) / (high - low), observed=observed, grid=np.linspace(0, 1, length))


def fill_gaps(Y, grid=None):
    """Curves (n, m) with NaN replaced by linear interpolation between observed points; constant beyond the ends.

    Each row of Y (n, m) has at least one observed value; grid (m,) are increasing points, evenly spaced by default.
    """
    Y = check_array(Y, dtype=np.float64, ensure_all_finite="allow-nan", input_name="Y")
    grid = np.arange(Y.shape[1]) if grid is None else np.asarray(grid, dtype=float)
    functions.check_grids((grid,), Y.shape[1:], "Y")
    empty = np.flatnonzero(np.isnan(Y).all(axis=1))
    if len(empty):
        raise ValueError(f"Y: row {empty[0]} has no observed value to interpolate; leave such rows out ({len(empty)})")
    return functions.fill_gaps(Y[:, :, None], (grid,))[:, :, 0]


def _reflected(values, length):
    """Values (m, ...) extended to (length, ...) by reflection at the end, the last value repeated."""
    return np.pad(values, [(0, length - len(values)), *[(0, 0)] * (values.ndim - 1)], mode="symmetric")
