"""Births per woman in the countries of the world, year by year: real curves that come with the package."""

from __future__ import annotations

import csv
import numbers
from importlib import resources
from inspect import getdoc

import numpy as np
from sklearn.utils import Bunch


def load_fertility(split=1990, as_frame=False):
    """Births per woman in 206 countries from 1960 to 2011: from the first years predict the later ones.

    The file is part of the package. 188 countries have a value in every year, the others in some years only.

    Parameters
    ----------
    split : int, default=1990
        The first year of the outputs, from 1961 to 2011. The years before are the inputs.
    as_frame : bool, default=False
        Whether to return pandas data frames, with countries as index and years as columns, in place of arrays.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and

        - X (206, split - 1960), Y (206, 2012 - split): births per woman before the year ``split`` and from it on; NaN
          where not known,
        - curves (206, 52): both together,
        - years_in, years_out, years: the years of their columns,
        - countries, codes (206,): names, and the three letters of ISO 3166,
        - frame: curves as a data frame, None without ``as_frame``.

    References
    ----------
    - The World Bank, World Development Indicators: Fertility rate, total (births per woman), SP.DYN.TFRT.IN,
      https://data.worldbank.org/indicator/SP.DYN.TFRT.IN, licence CC BY 4.0, as of about 2013.

    Examples
    --------
    >>> from hilbertlearn import datasets
    >>> data = datasets.load_fertility()
    >>> data.X.shape, data.Y.shape
    ((206, 30), (206, 22))
    >>> chile = list(data.countries).index("Chile")
    >>> data.curves[chile, [0, 51]]
    array([5.582, 1.844])
    """
    codes, countries, years, curves = _read()
    if not isinstance(split, numbers.Integral) or not years[0] < split <= years[-1]:
        raise ValueError(f"split must be a year from {years[0] + 1} to {years[-1]}, got {split!r}")
    frame = _frame(curves, countries, years) if as_frame else None
    n_in = int(split - years[0])
    X, Y = (curves[:, :n_in], curves[:, n_in:]) if frame is None else (frame.iloc[:, :n_in], frame.iloc[:, n_in:])
    return Bunch(
        X=X,
        Y=Y,
        curves=curves if frame is None else frame,
        years_in=years[:n_in],
        years_out=years[n_in:],
        years=years,
        countries=countries,
        codes=codes,
        frame=frame,
        DESCR=getdoc(load_fertility),
    )


def _read():
    """Codes (n,), names (n,), years (m,) and values (n, m) of the file, NaN where a field is empty."""
    text = resources.files(__package__).joinpath("data", "fertility.csv").read_text(encoding="utf-8")
    (_, _, *years), *rows = csv.reader(text.splitlines())
    codes, countries = (np.array(names) for names in zip(*(row[:2] for row in rows)))
    curves = np.array([[float(value or "nan") for value in row[2:]] for row in rows])
    return codes, countries, np.array(years, dtype=int), curves


def _frame(curves, countries, years):
    try:
        import pandas
    except ImportError as error:
        raise ImportError("as_frame=True needs pandas: pip install pandas, or set as_frame=False") from error
    return pandas.DataFrame(curves, index=pandas.Index(countries, name="country"), columns=years.astype(str))
