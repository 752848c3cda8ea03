"""The curves that come with the package: as the source has them, and cut where one asks."""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.refusals import assert_refused

from hilbertlearn import FunctionalRegressor, datasets

FOLDER = Path(datasets.__file__).parent / "data"


def test_every_number_of_the_file_is_there():
    data = datasets.load_fertility()
    lines = (FOLDER / "fertility.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) - 1 == len(data.curves) == len(data.countries) == len(set(data.codes)) == 206
    fields = [value for line in lines[1:] for value in line.rsplit(",", 52)[1:]]
    expected = np.array([float(value) if value else np.nan for value in fields]).reshape(206, 52)
    np.testing.assert_array_equal(data.curves, expected)
    assert (~np.isnan(expected)).any(axis=1).all() and (~np.isnan(expected).any(axis=1)).sum() == 188
    np.testing.assert_array_equal(data.years, range(1960, 2012))


def test_values_that_are_published():
    data = datasets.load_fertility()
    where = {code: i for i, code in enumerate(data.codes)}
    assert data.countries[where["BHS"]] == "Bahamas, The"  # a comma inside a field
    for code, year, births in [("USA", 1960, 3.65), ("JPN", 2005, 1.26), ("NER", 2011, 7.6), ("CHN", 1965, 6.1)]:
        assert data.curves[where[code], year - 1960] == pytest.approx(births, abs=0.15), (code, year)
    with np.errstate(invalid="ignore"):
        assert not (data.curves < 0.8).any() and not (data.curves > 9.5).any()


@pytest.mark.parametrize("split", [1961, 1990, 2011])
def test_split(split):
    data = datasets.load_fertility(split)
    assert data.years_in[-1] == split - 1 and data.years_out[0] == split
    np.testing.assert_array_equal(np.hstack([data.X, data.Y]), data.curves)


@pytest.mark.parametrize("split", [1960, 2012, 1990.5, "1990", None])
def test_bad_split(split):
    assert_refused(lambda: datasets.load_fertility(split), ["split", "1961", "2011", repr(split)])


def test_frames():
    data, arrays = datasets.load_fertility(as_frame=True), datasets.load_fertility()
    assert arrays.frame is None
    np.testing.assert_array_equal(data.frame.to_numpy(), arrays.curves)
    assert data.frame.loc["Chile", "1960"] == arrays.curves[list(arrays.codes).index("CHL"), 0]
    assert list(data.Y.columns) == [str(year) for year in arrays.years_out] and data.X.index.name == "country"


def test_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_frame"):
        datasets.load_fertility(as_frame=True)
    assert datasets.load_fertility().X.shape == (206, 30)


def test_source_and_licence_are_beside_the_file():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(words in text for words in ("World Bank", "SP.DYN.TFRT.IN", "CC BY 4.0", "Changes"))
    assert "World Bank" in datasets.load_fertility().DESCR


def test_later_years_follow_from_earlier_ones():
    data = datasets.load_fertility()
    known = ~np.isnan(data.X).any(axis=1)
    X, Y = data.X[known], data.Y[known]
    train, test = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1
    model = FunctionalRegressor("linear", alpha=1e-3, grid=data.years_out).fit(X[train], Y[train])
    errors = model.predict(X[test]) - Y[test]
    carried_on = X[test, -1:] - Y[test]
    assert np.nanmean(errors**2) < 0.5 * np.nanmean(carried_on**2)
