"""Readers of curves; each takes the path of files that the user has."""

from __future__ import annotations

from inspect import getdoc

import numpy as np
from sklearn.utils import Bunch

from ...data.functions import IrregularFunctions
from .files import check_sizes, read_arrays, split_rows


def load_dti(path):
    """Fractional anisotropy along two tracts of the brain by diffusion tensor imaging, one row a scan.

    The data come with the R package refund, which asks for the acknowledgement: the MRI/DTI data were collected at
    Johns Hopkins University and the Kennedy-Krieger Institute. ``datasets.fill_gaps(X)`` fills gaps as in the papers.

    Parameters
    ----------
    path : str or path
        Folder with ``dti.npz``, or that file; it has the arrays ``cca``, ``rcst`` and those from ``subject`` below.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 382 scans

        - X (n, 93), Y (n, 55): profiles along the corpus callosum and the right corticospinal tract; NaN not observed
        - grid_in (93,), grid_out (55,): positions along the tracts, evenly spaced on [0, 1]
        - subject, visit, visit_time (days), n_scans, case (1 for multiple sclerosis), sex, pasat (NaN not known): (n,)
        - first_ms_visit: mask (n,) of the first scans of the 100 patients with multiple sclerosis, which papers use

    References
    ----------
    - Goldsmith, Bobb, Crainiceanu, Caffo and Reich (2011). Penalized functional regression. Journal of Computational
      and Graphical Statistics 20.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, section 5.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> names = ("subject", "visit", "visit_time", "n_scans", "case", "sex", "pasat", "first_ms_visit")
    >>> facts = {name: np.zeros(4) for name in names}
    >>> np.savez(folder / "dti.npz", cca=np.ones((4, 93)), rcst=np.ones((4, 55)), **facts)  # made up, in its form
    >>> data = readers.load_dti(folder)
    >>> data.X.shape, data.Y.shape, data.grid_out[-1].item()
    ((4, 93), (4, 55), 1.0)
    """
    names = ("cca", "rcst", "subject", "visit", "visit_time", "n_scans", "case", "sex", "pasat", "first_ms_visit")
    arrays, _ = read_arrays(path, "dti.npz", dict.fromkeys(names, "n"))
    X, Y = arrays.pop("cca"), arrays.pop("rcst")
    grids = {"grid_in": np.linspace(0, 1, X.shape[1]), "grid_out": np.linspace(0, 1, Y.shape[1])}
    return Bunch(X=X, Y=Y, **grids, **arrays, DESCR=getdoc(load_dti))


def load_lip_emg(path):
    """Acceleration of the lower lip and activity of a muscle that moves it.

    One speaker repeats a sentence.

    Parameters
    ----------
    path : str or path
        Folder with ``lip_emg.npz``, or that file; it has the arrays ``emg``, ``lip_acc`` and ``time``.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and

        - X (32, 641), Y (32, 641): electromyogram and acceleration, one row a repetition
        - grid_in, grid_out (641,): the common times, 0 to 0.64 seconds

    References
    ----------
    - Ramsay and Silverman (2005). Functional Data Analysis, second edition. Springer.
    - Laforgue, Lambert, Brogat-Motte and d'Alché-Buc (2020). Duality in RKHSs with infinite dimensional outputs:
      application to robust losses. ICML, figure 8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> time = np.linspace(0, 0.64, 641)
    >>> curves = np.sin(10 * time) * np.ones((3, 1))  # made up, in the form of the file
    >>> np.savez(folder / "lip_emg.npz", emg=curves, lip_acc=-curves, time=time)
    >>> data = readers.load_lip_emg(folder)
    >>> data.X.shape, data.Y.shape, data.grid_in[-1].item()
    ((3, 641), (3, 641), 0.64)
    """
    arrays, file = read_arrays(path, "lip_emg.npz", {"emg": "n", "lip_acc": "n", "time": ""})
    X, Y, time = arrays["emg"], arrays["lip_acc"], arrays["time"]
    if not X.shape[1:] == Y.shape[1:] == time.shape:
        raise ValueError(
            f"{file}: emg and lip_acc must have one column for each time, got shapes {X.shape}, {Y.shape}, {time.shape}"
        )
    return Bunch(X=X, Y=Y, grid_in=time, grid_out=time.copy(), DESCR=getdoc(load_lip_emg))


def load_speech(path):
    """Sound and vocal tract of words of different lengths, synthesised with an articulatory model.

    ``prepare_speech`` makes arrays of them.

    Parameters
    ----------
    path : str or path
        Folder with ``mfcc13.npz`` (``values`` (N, 13) of all words one after the other, ``offsets`` (n + 1,)) and
        ``vocal_tract.npz`` (``values`` (c, N), ``offsets``, ``words``, ``channels``, ``channels_authors_loader``,
        ``step_s``, ``keep_413``).

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 416 words of 60 to 290 samples

        - X: IrregularFunctions, values (m_i, 13), the mel-frequency cepstral coefficients
        - Y: IrregularFunctions, values (m_i, 14), the trajectories; the points of both are seconds from the
          word's start
        - words (n,): their spelling
        - channels (14,): names of the trajectories by what their values show
        - channels_authors_loader (14,): names that the authors' program gives them; they differ from the fifth on
        - keep_413: mask (n,) without the three words that sound exactly like another, which papers leave out
        - step_s: seconds between samples

    References
    ----------
    - Mitra, Özbek, Nam, Zhou and Espy-Wilson (2009). From acoustics to vocal tract time functions. ICASSP.
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.3.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from hilbertlearn import readers
    >>> folder = Path(tempfile.mkdtemp())
    >>> offsets = np.array([0, 4, 10])  # two words of 4 and 6 samples, made up
    >>> np.savez(folder / "mfcc13.npz", values=np.ones((10, 13)), offsets=offsets)
    >>> tract = {"values": np.arange(20.0).reshape(2, 10), "offsets": offsets, "channels": np.array(["LA", "LP"])}
    >>> facts = {"words": np.array(["an", "on"]), "channels_authors_loader": np.array(["LA", "LP"]), "step_s": 0.01}
    >>> np.savez(folder / "vocal_tract.npz", keep_413=np.ones(2, dtype=bool), **tract, **facts)
    >>> data = readers.load_speech(folder)
    >>> [values.shape for values in data.X.values], [values.shape for values in data.Y.values]
    ([(4, 13), (6, 13)], [(4, 2), (6, 2)])
    """
    sound, sound_file = read_arrays(path, "mfcc13.npz", {"values": "", "offsets": ""})
    names = ("values", "offsets", "words", "channels", "channels_authors_loader", "step_s", "keep_413")
    tract, tract_file = read_arrays(path, "vocal_tract.npz", dict.fromkeys(names, "") | {"words": "n", "keep_413": "n"})
    offsets, step = tract.pop("offsets"), float(tract.pop("step_s"))
    if not np.array_equal(sound["offsets"], offsets):
        raise ValueError(
            f"{sound_file} and {tract_file}: offsets must be equal, because each word has a sound and a trajectory"
        )
    check_sizes(tract_file, {"words": len(tract["words"]), "offsets[1:]": len(offsets) - 1})

    def split_words(values, file):
        words = split_rows(values, offsets, file, "samples")
        return IrregularFunctions([step * np.arange(len(word)) for word in words], words)

    X, Y = split_words(sound["values"], sound_file), split_words(tract.pop("values").T, tract_file)
    return Bunch(X=X, Y=Y, **tract, step_s=step, DESCR=getdoc(load_speech))


def prepare_speech(data, channel, train=None):
    """Arrays of sound and of one trajectory of the vocal tract, all words as long as the longest.

    Words are extended at their end by repeated reflection: a b c c b a a b c. The trajectory is mapped to [-1, 1] by
    its smallest and largest value in the training words, as in the authors' published code; the papers do not name the
    words. Here the coefficients of the sound are extended, in that code the sound itself.

    Parameters
    ----------
    data : Bunch
        Result of ``load_speech``.
    channel : str or int
        A name in ``data.channels``, or a number of the trajectory from 0 on; for a name of the authors' program
        give ``list(data.channels_authors_loader).index(name)``.
    train : integer or boolean array, default=None
        Indices or mask of the training words; by default all.

    Returns
    -------
    data : Bunch
        With, for n words of at most m samples

        - X (n, m, 13): coefficients of the sound, not scaled
        - Y (n, m): the trajectory; between -1 and 1 in the training words
        - observed: mask (n, m) of the original points, where papers compare predictions with Y
        - grid (m,): evenly spaced on [0, 1]

    References
    ----------
    - Bouche, Clausel, Roueff and d'Alché-Buc (2021). Nonlinear functional output regression: a dictionary approach.
      AISTATS, appendix C.3.2.
    - Lambert, Bouche, Szabó and d'Alché-Buc (2022). Functional output regression with infimal convolution: exploring
      the Huber and epsilon-insensitive losses. ICML, section 5.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.utils import Bunch
    >>> from hilbertlearn import readers
    >>> from hilbertlearn.data.functions import IrregularFunctions
    >>> points = [np.arange(2.0), np.arange(4.0)]  # two words, made up
    >>> X = IrregularFunctions(points, [np.ones((2, 13)), np.ones((4, 13))])
    >>> Y = IrregularFunctions(points, [np.array([[1.0], [2.0]]), np.array([[0.0], [1.0], [2.0], [4.0]])])
    >>> prepared = readers.prepare_speech(Bunch(X=X, Y=Y, channels=["LA"]), "LA")
    >>> prepared.Y, prepared.observed.sum(axis=1).tolist()
    (array([[-0.5,  0. ,  0. , -0.5],
           [-1. , -0.5,  0. ,  1. ]]), [2, 4])
    """
    names = [str(name) for name in data.channels]
    if channel not in names and channel not in range(len(names)):
        raise ValueError(f"channel must be one of {', '.join(names)} or 0 to {len(names) - 1}, got {channel!r}")
    number = names.index(channel) if isinstance(channel, str) else channel
    curves = [values[:, number] for values in data.Y.values]
    rows = np.arange(len(curves)) if train is None else np.arange(len(curves))[np.asarray(train)]
    training_values = np.concatenate([curves[i] for i in rows])
    low, high = training_values.min(), training_values.max()
    if low == high:
        raise ValueError(f"channel {channel!r} is constant ({low:g}) in the training words: it has no range to scale")
    length = max(map(len, curves))
    X = np.stack([_extend(values, length) for values in data.X.values])
    Y = np.stack([_extend(curve, length) for curve in curves])
    observed = np.arange(length) < np.array([[len(curve)] for curve in curves])
    return Bunch(X=X, Y=(2 * Y - low - high) / (high - low), observed=observed, grid=np.linspace(0, 1, length))


def _extend(values, length):
    """Values (m, ...) extended to (length, ...) by reflection at the end, the last value repeated."""
    return np.pad(values, [(0, length - len(values)), *[(0, 0)] * (values.ndim - 1)], mode="symmetric")
