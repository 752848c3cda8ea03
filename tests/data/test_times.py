"""Dates as days, and points in names of columns, against dates counted by hand."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    QuantileRegressor,
    StructuredPredictor,
    kernels,
    load,
    metrics,
    save,
)
from hilbertlearn.data.times import as_times, days, first_date, points_in
from hilbertlearn.report import section
from hilbertlearn.tabular import TabularModel

N = 30
DATES = pd.date_range("2020-02-20", periods=N, freq="36h")
DAYS = 1.5 * np.arange(N)
y = np.sin(DAYS / 9)

MARCH = pd.to_datetime(["2001-03-01", "2001-03-02", "2001-03-05", "2001-03-11", "2001-03-31"])
POINTS = np.array([0.0, 1.0, 4.0, 10.0, 30.0])
X = np.random.default_rng(0).uniform(size=(N, 1))
CURVES = np.sin(POINTS / 9 + X)


def machine():
    return OperatorKernelRegressor("rbf", gamma=0.01, alpha=1e-3)


def curves(**settings):
    return FunctionalRegressor("rbf", gamma=3.0, alpha=1e-3, **settings)


# ---------------------------------------------------------------- days


def forms():
    moments = DATES.to_pydatetime().tolist()
    zoned = DATES.tz_localize("UTC").tz_convert("America/New_York")
    return {
        "nanoseconds": pd.DataFrame({"day": DATES.astype("M8[ns]")}),
        "seconds": pd.DataFrame({"day": DATES.astype("M8[s]")}),
        "zone": pd.DataFrame({"day": zoned}),
        "periods": pd.DataFrame({"day": DATES.to_period("h")}),
        "objects": pd.DataFrame({"day": pd.Series(moments, dtype=object)}),
        "polars": pl.DataFrame({"day": moments}),
        "polars zone": pl.DataFrame({"day": moments}).with_columns(pl.col("day").dt.replace_time_zone("UTC")),
        "array": DATES.to_numpy()[:, None],
        "array of objects": np.array(moments, dtype=object)[:, None],
        "rows": [[moment] for moment in moments],
        "durations": pd.DataFrame({"day": DATES - DATES[0]}),
        "array of durations": (DATES - DATES[0]).to_numpy()[:, None],
        "polars durations": pl.DataFrame({"day": (DATES - DATES[0]).to_pytimedelta().tolist()}),
    }


@pytest.mark.parametrize("form", forms())
def test_dates_are_days_since_the_first_of_training(form, tmp_path):
    dates = forms()[form]
    save(machine().fit(dates, y), tmp_path / "model")
    model = load(tmp_path / "model")
    later = dates.iloc[7:12] if hasattr(dates, "iloc") else dates[7:12]
    assert_allclose(model.X_fit_[:, 0], DAYS)
    assert_allclose(model.predict(later), machine().fit(DAYS[:, None], y).predict(DAYS[7:12, None]))
    said = "in days" if "durations" in form else "in days since 2020-02-20"
    assert model.summary().splitlines()[-1].endswith(said)


def test_dates_of_days_in_polars():
    dates = pl.DataFrame({"day": [datetime.date(2020, 2, 27), datetime.date(2020, 3, 1), None]})
    assert days(as_times(dates["day"]), first_date(as_times(dates["day"])))[:2].tolist() == [0.0, 3.0]  # a leap year


def test_units_finer_than_a_microsecond_count():
    times = np.array([0, 1, 5], dtype="M8[ns]")
    assert_allclose(days(times, first_date(times)) * 86400e9, [0, 1, 5])


def test_dates_beside_numbers_and_text():
    frame = pd.DataFrame({"a": DAYS[::-1], "day": DATES, "kind": ["u", "v"] * (N // 2)})
    plain = frame.assign(day=DAYS)
    assert_allclose(
        machine().fit(frame[["a", "day"]], y).predict(frame[["a", "day"]]),
        machine().fit(plain[["a", "day"]], y).predict(plain[["a", "day"]]),
    )
    kernel = kernels.Columns([("rbf", ["a", "day"]), (kernels.CategoricalKernel(), "kind")])
    models = [OperatorKernelRegressor(kernel, alpha=1e-3).fit(one, y) for one in (frame, plain)]
    assert_allclose(models[0].predict(frame[["kind", "day", "a"]]), models[1].predict(plain))
    assert "day in days since 2020-02-20" in models[0].summary()
    found = OperatorKernelRegressor(kernels.CategoricalKernel(gamma=1.0), alpha=1e-3).fit(
        frame.to_numpy(), y
    )  # of objects
    assert_allclose(found.X_fit_.columns[1].astype(float), DAYS)


@pytest.mark.parametrize(
    "model",
    [
        OperatorKernelRegressor("rbf", gamma=0.01, alpha=1e-3, feature_map=8),
        ConformalPredictor(OperatorKernelRegressor("rbf", gamma=0.01, alpha=1e-3), random_state=0),
        QuantileRegressor((0.5,), kernel="rbf", gamma=0.01, alpha=1e-2),
        StructuredPredictor(kernel="rbf", gamma=0.01, alpha=1e-3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_takes_dates(model):
    outputs = (y > 0).astype(int) if isinstance(model, StructuredPredictor) else y
    dates = pd.DataFrame({"day": DATES})
    expected = model.fit(DAYS[:, None], outputs).predict(DAYS[3:6, None])
    assert_allclose(model.fit(dates, outputs).predict(dates[3:6]), expected)


def test_batches_count_from_the_first_of_the_first():
    dates = pd.DataFrame({"day": DATES})
    model = OperatorKernelRegressor("rbf", gamma=0.01, alpha=1e-3, feature_map=8)
    model.partial_fit(dates[10:], y[10:]).partial_fit(dates[:10], y[:10])
    assert model.X_origins_ == {"day": np.datetime64("2020-03-06T00:00:00", "us")}


def test_missing_dates_are_missing_values():
    dates = pd.DataFrame({"day": DATES})
    dates.iloc[3, 0] = pd.NaT
    with pytest.raises(ValueError, match=r"X contains NaN in the columns 'day'.*SimpleImputer"):
        machine().fit(dates, y)
    model = machine().fit(pd.DataFrame({"day": DATES}), y)
    with pytest.raises(ValueError, match="X contains NaN in the columns 'day'"):
        model.predict(dates)


def test_dates_in_place_of_numbers_are_refused():
    model = machine().fit(pd.DataFrame({"day": DAYS}), y)
    with pytest.raises(ValueError, match="'day' has dates, and the training inputs had numbers"):
        model.predict(pd.DataFrame({"day": DATES}))
    with pytest.raises(ValueError, match="y holds dates"):
        machine().fit(DAYS[:, None], DATES.to_numpy())


def test_dates_as_text_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match=r"Convert the dates in 'day', which are text, with pandas\.to_datetime"):
        machine().fit(pd.DataFrame({"day": DATES.astype(str), "kind": "a"}), y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_numbers_in_place_of_dates_are_refused(frame):
    model = machine().fit(frame({"day": DATES.to_pydatetime()}), y)
    with pytest.raises(ValueError, match="'day' has numbers, and the training inputs had dates there; give dates"):
        model.predict(frame({"day": DATES.astype("int64").to_numpy()}))
    model = machine().fit(frame({"day": (DATES - DATES[0]).to_pytimedelta()}), y)
    with pytest.raises(ValueError, match="'day' has numbers, and the training inputs had durations there"):
        model.predict(frame({"day": DAYS}))


def test_kernels_of_objects_see_dates_as_they_are():
    def kernel(left, right):
        assert isinstance(left[0], datetime.datetime)
        return np.exp(-np.abs(np.subtract.outer([one.toordinal() for one in left], [one.toordinal() for one in right])))

    assert OperatorKernelRegressor(kernel, alpha=1e-3).fit(list(DATES), y).score(list(DATES), y) > 0.9


class Tree:
    """An object with a size that is no sequence."""

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


@pytest.mark.parametrize("kind", [Tree, lambda size: set(DATES[:size])])
def test_objects_with_a_length_are_no_rows(kind):
    def kernel(left, right):
        assert type(left[0]) is type(kind(1))
        return np.exp(-0.1 * np.abs(np.subtract.outer([len(one) for one in left], [len(one) for one in right])))

    items = [kind(1 + i) for i in range(10)]
    model = OperatorKernelRegressor(kernel, alpha=1e-3).fit(items, np.arange(10.0))
    assert model.score(items, np.arange(10.0)) > 0.9


# ---------------------------------------------------------------- names of columns


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (["00:00", "00:30", "06:00"], [0, 1 / 48, 1 / 4]),
        (["load 6h15", "load 12h00"], [6.25 / 24, 0.5]),
        (["12:00 AM", "1:30 AM", "12:00 PM", "1:00 PM"], [0, 1.5 / 24, 0.5, 13 / 24]),
        (["12:00pm", "1:00pm"], [0.5, 13 / 24]),
        (["t-3", "t-2", "t-1"], [-3, -2, -1]),
        (["a-1", "a-2", "a-4"], [1, 2, 4]),
        (["2001-3", "2001-2"], [3, 2]),
        (["2001-01", "2001-02", "2001-04"], [0, 31, 90]),
        (["2001-01-31", "2001-03-01"], [0, 29]),
        (["t 2001-01-01 06:00", "t 2001-01-02 18:00:00"], [0, 1.5]),
        (["2001Q1", "2001Q2"], [0, 90]),
        (["0-4", "5-9", "10-19", "20+"], [2, 7, 14.5, 24.5]),
        (["0", "1-4", "5-9"], [0, 2.5, 7]),
        (["m1", "m10", "m2"], [1, 10, 2]),
        (["load_00.5h", "load_01.0h"], [0.5, 1]),
        ([2001, 2003], [2001, 2003]),
        (["0.5", "2"], [0.5, 2]),
        (pd.to_datetime(["2001-01-01", "2001-03-01"]), [0, 59]),
        (pd.date_range("2001-01-01", periods=2, tz="Asia/Tokyo"), [0, 1]),
        (pd.period_range("2001-01", periods=3, freq="M"), [0, 31, 59]),
        (pd.to_timedelta([0, 36], unit="h"), [0, 1.5]),
        (list(map(str, pd.to_timedelta([0, 36], unit="h"))), [0, 1.5]),
        ([datetime.date(2001, 1, 1), datetime.date(2001, 1, 8)], [0, 7]),
        (["2001-13", "2001-14"], [13, 14]),  # no months
        (["a", "b"], None),
        (["a1", "b2"], None),
        ([("a", 1), ("a", 2)], None),
    ],
    ids=str,
)
def test_points_in_names(names, points):
    found = points_in(names)
    assert (found is None) if points is None else found[0] == pytest.approx(points)


TEXT = [f"temperature on {date.date()}" for date in MARCH]


@pytest.mark.parametrize(
    "names", [MARCH, MARCH.to_period("D"), MARCH - MARCH[0], TEXT, [f"m{t:g}" for t in POINTS]], ids=lambda n: str(n[1])
)
def test_names_of_columns_are_the_grid(names, tmp_path):
    """Predictions are those at unequal steps, not at even ones, and keep the names."""
    frame, numbers = pd.DataFrame(CURVES, columns=names), pd.DataFrame(CURVES, columns=POINTS)
    save(curves().fit(X, frame), tmp_path / "model")
    model, expected = load(tmp_path / "model"), curves().fit(X, numbers)
    assert model.grid_.tolist() == POINTS.tolist()
    assert list(model.predict(X).columns) == list(frame.columns)
    assert_allclose(model.predict(X), expected.predict(X))
    assert model.score(X, frame.iloc[:, 1:4]) == pytest.approx(expected.score(X, numbers.iloc[:, 1:4]))
    at = model.predict(X, grid=list(names[1:3]))
    assert_allclose(at, expected.predict(X, grid=POINTS[1:3]))
    assert list(at.columns) == list(names[1:3])


def test_the_command_line_reads_the_same_names():
    t = np.arange(8) ** 1.5
    names = [f"{int(h):02d}:{round(60 * (h % 1)):02d}" for h in t]
    table = pd.DataFrame(np.sin(t / 9 + X), columns=names).assign(x=X[:, 0])
    model = TabularModel(names, features="x").fit(table[["x", *names[::-1]]])
    assert model.task_ == "functional" and model.targets_ == names
    assert_allclose(model.grid_, points_in(names)[0])
    assert_allclose(FunctionalRegressor("rbf", gamma=3.0, alpha=1e-3).fit(X, table[names]).grid_, model.grid_)


def test_columns_out_of_order_are_refused_with_their_order():
    frame = pd.DataFrame(CURVES[:, :4], columns=["m1", "m10", "m11", "m2"])
    with pytest.raises(ValueError, match=r"y\[names\] with names = \['m1', 'm2', 'm10', 'm11'\], or set grid="):
        curves().fit(X, frame)
    assert curves().fit(X, frame[["m1", "m2", "m10", "m11"]]).grid_.tolist() == [1, 2, 10, 11]
    dates = pd.to_datetime(["2001-02-01", "2001-01-01"])
    with pytest.raises(ValueError, match=r"names = \[Timestamp\('2001-01-01 00:00:00'\), Timestamp"):
        curves().fit(X, pd.DataFrame(CURVES[:, :2], columns=dates))


def test_names_without_points_are_even_steps():
    assert_allclose(curves().fit(X, pd.DataFrame(CURVES, columns=list("abcde"))).grid_, np.linspace(0, 1, 5))


# ---------------------------------------------------------------- grids, and curves at points of their own


@pytest.mark.parametrize(
    "grid", [MARCH, MARCH.to_numpy(), MARCH.to_pydatetime().tolist(), [str(date) for date in MARCH]], ids=type
)
def test_grids_of_dates(grid):
    model, numbers = curves(grid=grid).fit(X, CURVES), curves(grid=POINTS).fit(X, CURVES)
    assert model.grid_.tolist() == POINTS.tolist() and model.grid_origin_ == np.datetime64("2001-03-01")
    assert_allclose(model.predict(X), numbers.predict(X))
    assert_allclose(model.predict(X, grid=grid[1:3]), numbers.predict(X, grid=POINTS[1:3]))
    assert model.score(X, CURVES) == numbers.score(X, CURVES)
    assert "grid       in days since 2001-03-01" in model.summary()
    with pytest.raises(ValueError, match="grid has dates, and the training outputs have numbers"):
        numbers.predict(X, grid=grid)


def test_quantiles_of_curves_have_a_grid():
    model = QuantileRegressor((0.5,), kernel="rbf", gamma=3.0, alpha=1e-2, grid=MARCH).fit(X, CURVES)
    assert model.grid_.tolist() == POINTS.tolist() and model.grid_origin_ == np.datetime64("2001-03-01")
    assert not hasattr(QuantileRegressor((0.5,), kernel="rbf", gamma=3.0, alpha=1e-2).fit(X, y), "grid_")


def irregular(points, first=0):
    starts = [first + i % 2 for i in range(N)]
    return IrregularFunctions([points[s:] for s in starts], [CURVES[i, s:] for i, s in enumerate(starts)])


def test_irregular_curves_of_dates(tmp_path):
    dated, numbers = irregular(MARCH), irregular(POINTS)
    assert dated.domain == (0.0, 30.0) and dated.origin == np.datetime64("2001-03-01")
    assert "days since 2001-03-01" in repr(dated[1:2])
    save(curves().fit(X, dated), tmp_path / "model")
    model, expected = load(tmp_path / "model"), curves().fit(X, numbers)
    assert model.score(X, dated) == pytest.approx(expected.score(X, numbers))
    later, same = irregular(MARCH, 2), irregular(POINTS, 2)  # with an origin of their own
    assert later.origin == np.datetime64("2001-03-05")
    assert model.score(X, later) == pytest.approx(expected.score(X, same))
    own = [MARCH[2 + i % 2 :] for i in range(N)]
    found, wanted = model.predict(X, grid=own), expected.predict(X, grid=same.points)
    assert_allclose(np.concatenate(found.values), np.concatenate(wanted.values))
    assert metrics.integrated_squared_error(later, found) == pytest.approx(
        metrics.integrated_squared_error(same, wanted)
    )
    with pytest.raises(ValueError, match="predict at the dates of Y_true"):
        metrics.integrated_squared_error(later, model.predict(X, grid=later.points))
    assert section(model, X, later).facts["score"] == pytest.approx(section(expected, X, same).facts["score"])


def test_irregular_curves_have_one_domain_of_dates():
    one = IrregularFunctions([MARCH[1:3]], [[1, 2]], domain=("2001-03-01", "2001-03-31"), origin="2001-01-01")
    assert one.domain == (59.0, 89.0) and one.points[0].tolist() == [60.0, 63.0]
    assert IrregularFunctions([pd.to_timedelta([0, 12], unit="h")], [[1, 2]]).points[0].tolist() == [0.0, 0.5]
    with pytest.raises(ValueError, match="some are dates"):
        IrregularFunctions([[1.0, 2.0], MARCH[:1]], [[1, 2], [3]])
    with pytest.raises(ValueError, match="some are dates"):
        IrregularFunctions([[pd.NaT, MARCH[0]]], [[1, 2]])
    with pytest.raises(ValueError, match="some are dates"):
        IrregularFunctions([MARCH[:2], MARCH[:2] - MARCH[0]], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match="some are durations"):
        IrregularFunctions([MARCH[:2] - MARCH[0], [0.0, 1.0]], [[1, 2], [1, 2]])
    with pytest.raises(ValueError, match=r"curve 0: points .*pandas\.to_datetime"):
        IrregularFunctions([["2001-03-01", "2001-03-02"]], [[1, 2]])
    with pytest.raises(ValueError, match="origin must be a date"):
        IrregularFunctions([MARCH[:1]], [[3]], origin="soon")


def test_input_curves_of_dates_are_counted_from_those_of_training():
    t = MARCH[[0, 2, 4]]
    train = IrregularFunctions([t] * N, CURVES[:, [0, 2, 4]])
    test = IrregularFunctions([MARCH[2:4]] * 3, CURVES[:3, 2:4], domain=(t[0], t[2]))
    numbers = IrregularFunctions([POINTS[[0, 2, 4]]] * N, CURVES[:, [0, 2, 4]])
    same = IrregularFunctions([POINTS[2:4]] * 3, CURVES[:3, 2:4], domain=(0, 30))
    model = OperatorKernelRegressor(kernels.L2(), alpha=1e-3)
    expected = model.fit(numbers, X[:, 0]).predict(same)
    assert_allclose(model.fit(train, X[:, 0]).predict(test), expected)


def test_bands_at_dates():
    frame, numbers = pd.DataFrame(CURVES, columns=MARCH), pd.DataFrame(CURVES, columns=POINTS)
    band, expected = (
        ConformalPredictor(curves(), random_state=0).fit(X, one).predict_band(X[:2], grid=one.columns[1:3])
        for one in (frame, numbers)
    )
    assert_allclose(band.upper, expected.upper)


def test_long_tables_of_dates():
    rows = [(i, x, date, value) for i, (x, own) in enumerate(zip(X[:, 0], CURVES)) for date, value in zip(MARCH, own)]
    table = pd.DataFrame(rows, columns=["curve", "x", "when", "value"])
    model = TabularModel(long=("curve", "when", "value")).fit(table)
    text = model.predict(table.assign(when=table["when"].astype(str)))
    assert (pd.to_datetime(text["when"]) == table["when"]).all()
    numbers = table.assign(when=np.tile(POINTS, N))
    expected = TabularModel(long=("curve", "when", "value")).fit(numbers).predict(numbers)
    assert_allclose(text["value"], expected["value"], rtol=1e-6)
    assert model.predict(table[["curve", "x"]].drop_duplicates())["when"].iloc[-1] == MARCH[-1]
