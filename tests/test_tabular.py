"""Tables: files in all dialects, columns by name, inputs as numbers, predictions as those of estimators fed by hand."""

import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold

from hilbertlearn import (
    ConformalPredictor,
    FunctionalRegressor,
    IrregularFunctions,
    OperatorKernelRegressor,
    StructuredPredictor,
    load,
    outlier_report,
    save,
)
from hilbertlearn.app.tabular import TableError, peers
from hilbertlearn.app.tabular.columns import choose
from hilbertlearn.app.tabular.guess import guess_task, points_of_names
from hilbertlearn.app.tabular.inputs import InputEncoding, kind_of, usable
from hilbertlearn.report import section
from hilbertlearn.tabular import TabularModel, compare, read_table, write_table

N = 40
POINTS = np.array([0.5, 2.0, 2.5, 4.0, 5.0, 6.0, 7.0, 8.5])


def curves_table():
    """Curves with columns out of order, integer identifiers, missing cells and a name that is not ASCII."""
    rng = np.random.default_rng(0)
    x, group = rng.normal(size=(N, 2)), rng.choice(["süd", "nord"], N)
    Y = np.sin(POINTS / 2 + x[:, :1]) + (group == "süd")[:, None] + 0.05 * rng.normal(size=(N, len(POINTS)))
    table = pd.DataFrame({"größe": x[:, 0], "id": 100 + np.arange(N), "weight": x[:, 1], "region": group, "unit": "kg"})
    for j in rng.permutation(len(POINTS)):
        table.insert(int(rng.integers(table.shape[1])), f"y_{POINTS[j]:g}", Y[:, j])
    table.loc[3, "weight"] = np.nan
    table.loc[5, "region"] = None
    table.loc[7, "y_4"] = np.nan
    return table


@pytest.fixture(scope="module")
def table():
    return curves_table()


@pytest.fixture(scope="module")
def fitted(table):
    return TabularModel("y_*").fit(table)


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("options", "encoding"),
    [
        ({}, "utf-8"),
        ({"sep": ";", "decimal": ","}, "utf-8-sig"),
        ({"sep": "\t"}, "utf-8"),
        ({"sep": ";", "decimal": ","}, "cp1252"),
        ({"sep": "|", "quoting": 2}, "utf-8"),
    ],
    ids=["plain", "decimal comma and mark", "tabs", "Windows", "all text quoted"],
)
def test_a_csv_file_reads_as_it_was_written(tmp_path, table, options, encoding):
    path = tmp_path / "table.csv"
    path.write_bytes(table.to_csv(index=False, **options).encode(encoding))
    pd.testing.assert_frame_equal(read_table(path), table, check_dtype=False)


def test_cells_with_separators_and_line_breaks_are_whole(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('a, b ,c\n"1;5","x, y",2\n"2;5","two\nlines",?\n', encoding="utf-8")
    frame = read_table(path)
    assert list(frame.columns) == ["a", "b", "c"]
    assert frame["b"].tolist() == ["x, y", "two\nlines"]
    assert frame["c"].isna().tolist() == [False, True]


def test_parquet_and_an_index_with_a_name(tmp_path, table):
    table.set_index("id").to_parquet(tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "table.parquet")[list(table.columns)], table, check_dtype=False)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "empty"),
        ("a.csv", b"\n \n", "empty"),
        ("a.csv", b"a,b\n", "no rows"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        ("a.csv", b"a,b\n" + 99 * b"1,2\n" + b"1,2,3\n", "cannot be read as CSV"),
        ("a.csv", b"a,b,a\n1,2,3\n", "several columns are called 'a'"),
        ("a.csv.gz", b"a,b\n1,2\n", "cannot be read"),
        ("a.csv", b"\x00\x01\x02,\x00", "not a text file"),
        ("a.parquet", b"PAR?", "cannot be read as Parquet"),
        ("a.xlsx", b"PK", "save a spreadsheet as CSV"),
        ("a.csv", None, "no such file"),
    ],
)
def test_a_file_that_is_no_table_says_so(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_are_written_whole(tmp_path, table, suffix, monkeypatch):
    path = tmp_path / f"out{suffix}"
    write_table(table, path)
    pd.testing.assert_frame_equal(read_table(path), table, check_dtype=False)
    before = path.read_bytes()

    def broken(self, target, **options):
        with open(target, "wb") as file:
            file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(pd.DataFrame, "to_csv" if suffix == ".csv" else "to_parquet", broken)
    with pytest.raises(KeyboardInterrupt):
        write_table(table, path)
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes() == before


# ---------------------------------------------------------------- columns


def test_columns_are_chosen_by_name_glob_and_range():
    names = ["y_1", "a,b", "y_2", "x", "y:3", "[z]"]
    assert choose(names, "y_*", "targets") == ["y_1", "y_2"]
    assert choose(names, "x, y_1", "targets") == ["y_1", "x"]
    assert choose(names, "a,b", "targets") == ["a,b"]
    assert choose(names, "a,b:x", "targets") == ["a,b", "y_2", "x"]
    assert choose(names, "y:3", "targets") == ["y:3"]
    assert choose(names, ["[z]", "x"], "targets") == ["x", "[z]"]
    with pytest.raises(TableError, match=r"targets 'y_3': no such column; did you mean 'y_"):
        choose(names, "y_3", "targets")
    with pytest.raises(TableError, match="stands before"):
        choose(names, "x:y_1", "targets")


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (["y_0.5", "y_1", "y_-2"], [0.5, 1, -2]),
        (["t10", "t9"], [10, 9]),
        (["2001", "2002"], [2001, 2002]),
        (["lead 2 at 1e-3 s", "lead 2 at 2e-3 s"], [1e-3, 2e-3]),
        (["y-1", "y-2"], [1, 2]),
        (["y_1,5", "y_2,5"], [1.5, 2.5]),
        (["a1", "b2"], None),
        (["y_1", "y_01"], None),
        (["y", "y_1"], None),
        (["y_1"], None),
    ],
)
def test_numbers_in_names(names, points):
    found, _ = points_of_names(names)
    assert (found is None) if points is None else found.tolist() == points


def test_tasks_are_told_from_targets():
    rng = np.random.default_rng(0)
    waves = pd.DataFrame(np.cumsum(rng.normal(size=(30, 12)), axis=1)).add_prefix("t")
    noise = pd.DataFrame(rng.normal(size=(30, 12))).add_prefix("t")
    ranks = pd.DataFrame(rng.permuted(np.tile(np.arange(1, 5), (30, 1)), axis=1)).add_prefix("r")
    labels = pd.DataFrame(rng.integers(0, 2, size=(30, 4))).add_prefix("l").astype(float)
    labels.iloc[0, 0] = np.nan
    few = pd.DataFrame(
        {"c": rng.integers(0, 3, 60), "many": rng.integers(0, 30, 60), "text": rng.choice(["a", "b"], 60)}
    )
    for frame, task in [(waves, "functional"), (noise, "vector"), (ranks, "ranking"), (labels, "multilabel")]:
        assert guess_task(frame, list(frame.columns))[0] == task
    assert [guess_task(few, [name])[0] for name in few.columns] == ["structured", "vector", "structured"]
    with pytest.raises(TableError, match="'text' hold no numbers"):
        guess_task(few, ["c", "text"])


# ---------------------------------------------------------------- inputs


def test_inputs_are_standardised_numbers_and_categories(table):
    encoding = InputEncoding.of(table, ["größe", "weight", "region"])
    X, said = encoding.encode(table)
    assert encoding.columns == ["größe", "weight", "region=nord", "region=süd", "region=(missing)"]
    size = table["größe"].to_numpy()
    assert_allclose(X[:, 0], (size - size.mean()) / size.std())
    assert_allclose(X[3, 1], (table["weight"].median() - table["weight"].mean()) / table["weight"].std(ddof=0))
    assert X[5, 2:].tolist() == [0, 0, 1]
    assert_allclose(X[:, 2:].sum(axis=1), 1)
    assert [one.split(":")[0] for one in said] == ["weight", "region"]
    new = table.head(2).assign(region=["west", "nord"])
    row, said = encoding.encode(new)
    assert row[0, 2:].tolist() == [0, 0, 0]
    assert "not seen in training: 'west'" in said[-1]


def test_dates_are_days_in_the_format_of_training():
    days = pd.date_range("2024-01-28", periods=20)
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d"):
        frame = pd.DataFrame({"when": days.strftime(form)})
        encoding = InputEncoding.of(frame, ["when"])
        assert_allclose(np.diff(encoding.encode(frame)[0][:, 0]) * np.arange(20).std(), 1)
    with pytest.raises(TableError, match=r"'when' must hold dates in the format of ISO 8601, .*row 1 has 'soon'"):
        encoding.encode(pd.DataFrame({"when": ["soon"]}))
    encoding = InputEncoding.of(pd.DataFrame({"when": days.strftime("%d/%m/%Y")}), ["when"])
    with pytest.raises(TableError, match=r"dates in the format %d/%m/%Y of the training table, .*'2024-01-28'"):
        encoding.encode(pd.DataFrame({"when": ["2024-01-28"]}))


def test_dates_that_may_be_read_in_two_ways_are_said(tmp_path):
    days = [f"{1 + i % 12:02d}/{1 + i // 12:02d}/2024" for i in range(40)]
    frame = pd.DataFrame({"when": days, "y": np.arange(40.0)})
    model = TabularModel("y").fit(frame)
    assert sum("read as day/month/year" in note for note in model.notes_) == 1
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").inputs_.dates == model.inputs_.dates
    plain = TabularModel("y").fit(frame.assign(when=["13/01/2024", *days[1:]]))
    assert not any("read as" in note for note in plain.notes_)


def test_points_of_curves_are_read_in_the_format_of_training(tmp_path):
    days = pd.date_range("2024-01-01", periods=28, freq="5D")
    rows = [
        (curve, day, np.cos(curve) * np.sin(i / 5), np.cos(curve)) for curve in range(12) for i, day in enumerate(days)
    ]
    table = pd.DataFrame(rows, columns=["curve", "day", "value", "x"])
    text = table.assign(day=table["day"].dt.strftime("%m/%d/%Y"))  # days after the 12th: month first
    model = TabularModel(long=("curve", "day", "value"), loss="squared").fit(text)
    save(model, tmp_path / "model")
    new = text[table["day"].dt.day < 6]  # which alone could be day first
    assert new["day"].nunique() > 3
    assert load(tmp_path / "model").predict(new)["day"].tolist() == table["day"][new.index].tolist()
    swapped = TabularModel(long=("curve", "day", "value"), loss="squared").fit(new)
    assert sum("read as day/month/year" in note for note in swapped.notes_) == 1


def test_tables_are_data_frames_of_pandas():
    polars = pytest.importorskip("polars")
    table = pd.DataFrame({"x": np.cos(np.arange(20.0)), "y": np.arange(20.0)})
    other = polars.DataFrame(table.to_dict("list"))
    model = TabularModel("y").fit(table)
    for use in (TabularModel("y").fit, model.predict, model.outputs, lambda frame: compare(TabularModel("y"), frame)):
        with pytest.raises(TableError, match=r"a data frame of pandas, got DataFrame; give its to_pandas\(\)"):
            use(other)
    with pytest.raises(TableError, match=r"got ndarray; give pandas\.DataFrame"):
        model.predict(table.to_numpy())


@pytest.mark.parametrize("text", [False, True])
def test_many_dates_are_no_target(text):
    dates = pd.date_range("2024-01-01", periods=20)
    frame = pd.DataFrame({"x": np.arange(20.0), "when": dates.strftime("%Y-%m-%d") if text else dates})
    with pytest.raises(TableError, match=r"target 'when' holds dates.*days since a date"):
        TabularModel("when").fit(frame)


def test_columns_that_tell_nothing_are_left_out():
    frame = pd.DataFrame(
        {
            "Unnamed: 0": range(20),
            "patient_id": [f"p{i}" for i in range(20)],
            "note": [f"text {i}" for i in range(20)],
            "empty": np.nan,
            "one": 3.0,
            "code": ["1", "2", "a", "b"] * 5,
            "id": np.arange(20) / 7,
        }
    )
    kept, said = usable(frame, list(frame.columns))
    assert kept == ["code", "id"]  # identifiers are no fractions
    assert len(said) == 5
    assert kind_of(frame["code"], "code")[0] == "category"


def test_columns_that_count_the_rows_are_left_out():
    """A count of patients would be far outside of what was seen in any new table; years may matter."""
    frame = pd.DataFrame(
        {"patient": range(20), "plot": range(1, 21), "year": range(1990, 2010), "order": [*range(19), 3]}
    )
    kept, said = usable(frame, list(frame.columns))
    assert kept == ["year", "order"]
    assert all("numbers the rows" in one for one in said)
    assert usable(frame[:5], ["patient", "year"])[0] == ["patient", "year"]


def test_a_few_words_among_numbers_are_mistakes():
    frame = pd.DataFrame({"x": [*map(str, range(19)), "n.a.?"]})
    with pytest.raises(TableError, match=r"'x' must hold numbers, but row 20 has 'n\.a\.\?'"):
        kind_of(frame["x"], "x")


# ---------------------------------------------------------------- models


def by_hand(table):
    """Inputs of the table without the encoding of the package."""
    frame = table[["größe", "weight"]].fillna(table[["größe", "weight"]].median())
    numbers = (frame - table[["größe", "weight"]].mean()) / table[["größe", "weight"]].std(ddof=0)
    region = table["region"].fillna("~")
    return np.column_stack([numbers, *(region == one for one in ("nord", "süd", "~"))])


def test_curves_are_those_of_the_estimator_fed_by_hand(table, fitted):
    targets = [f"y_{point:g}" for point in POINTS]
    assert (fitted.task_, fitted.targets_, fitted.id_) == ("functional", targets, "id")
    assert fitted.features_ == [name for name in table.columns if name in ("größe", "weight", "region")]
    assert_allclose(fitted.grid_, POINTS)
    hand = ["größe", "weight", "region=nord", "region=süd", "region=(missing)"]
    X = by_hand(table)[:, [hand.index(name) for name in fitted.input_names_]]
    assert_allclose(fitted.encode_inputs(table), X)
    model = FunctionalRegressor(grid=POINTS).fit(X, table[targets].to_numpy())
    found = fitted.predict(table)
    assert list(found.columns) == ["id", *targets]
    assert_allclose(found[targets], model.predict(X))
    assert found["id"].tolist() == table["id"].tolist()


def test_columns_are_found_by_name_and_missing_ones_are_named(table, fitted):
    shuffled = table[sorted(table.columns)].assign(extra=1).drop(columns=["y_4", "id"])
    assert_allclose(fitted.predict(shuffled)["y_2"], fitted.predict(table)["y_2"])
    with pytest.raises(TableError, match=r"input columns missing in the table: 'größe'"):
        fitted.predict(table.drop(columns="größe"))
    with pytest.raises(TableError, match=r"targets are missing in the table: 'y_4'"):
        fitted.outputs(table.drop(columns="y_4"))
    with pytest.raises(TableError, match=r"'weight' must hold numbers, but row 1 has 'heavy'"):
        fitted.predict(table.head(1).assign(weight="heavy"))


def test_notes_say_what_was_done(fitted):
    notes = " / ".join(fitted.notes_)
    for words in ("task functional", "'id' is taken to name the rows", "unit: left out", "weight: 1 missing cell"):
        assert words in notes


def test_intervals_are_those_of_the_conformal_predictor():
    rng = np.random.default_rng(1)
    x = rng.normal(size=N)
    table = pd.DataFrame({"x": x, "a": x + 0.1 * rng.normal(size=N), "b": x**2})
    model = TabularModel("a,b", level=0.8).fit(table)
    X = ((x - x.mean()) / x.std())[:, None]
    reference = ConformalPredictor(OperatorKernelRegressor(), level=0.8).fit(X, table[["a", "b"]].to_numpy())
    found, ends = model.predict(table), reference.predict_interval(X)
    assert list(found.columns) == ["a", "a_lower", "a_upper", "b", "b_lower", "b_upper"]
    assert_allclose(found[["a_lower", "b_lower"]], ends[..., 0])
    assert_allclose(found[["a_upper", "b_upper"]], ends[..., 1])
    assert_allclose(found[["a", "b"]], reference.predict(X))


def objects_table():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(N, 2))
    scores = np.column_stack([x[:, 0], -x[:, 0], x[:, 1]])
    table = pd.DataFrame({"x": x[:, 0], "z": x[:, 1]})
    table[["r1", "r2", "r3"]] = 1 + (-scores).argsort(axis=1).argsort(axis=1)
    table[["A", "B"]] = (x > 0).astype(int)
    table["kind"] = np.where(x[:, 0] > 0, "hoch", "tief")
    return table


@pytest.mark.parametrize(
    ("targets", "task", "setting"),
    [("r*", "ranking", {"output_loss": "kendall"}), ("A,B", "multilabel", {}), ("kind", "structured", {})],
)
def test_objects_are_those_of_the_predictor_fed_by_hand(targets, task, setting):
    table = objects_table()
    table.loc[0, choose(table.columns, targets, "targets")[0]] = np.nan
    model = TabularModel(targets, features="x,z", level=0.8).fit(table)
    assert (model.task_, model.n_samples_) == (task, N - 1)
    rest = table.iloc[1:]
    X = ((table[["x", "z"]] - rest[["x", "z"]].mean()) / rest[["x", "z"]].std(ddof=0)).to_numpy()
    names = model.targets_
    outputs = rest[names[0]].tolist() if task == "structured" else rest[names].to_numpy().astype(int)
    reference = ConformalPredictor(StructuredPredictor(**setting), level=0.8, random_state=0).fit(X[1:], outputs)
    found = model.predict(table)
    assert found[names].to_numpy().squeeze().tolist() == np.asarray(reference.predict(X)).squeeze().tolist()
    sets = reference.predict_set(X)
    assert found["set_size"].tolist() == sets.sizes.tolist()
    first = found["set"][1].split(" | ")[0]
    truth = rest.iloc[0]
    if task == "ranking":
        assert first == " > ".join(truth[names].astype(float).sort_values().index)
    elif task == "multilabel":
        assert first == "{" + ", ".join(name for name in "AB" if truth[name]) + "}"
    else:
        assert first == truth["kind"]


def test_quantiles_are_in_order_and_named_by_level():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"x": rng.normal(size=N)})
    table["y"] = table["x"] + rng.normal(size=N)
    found = TabularModel("y", levels=(0.25, 0.75)).fit(table).predict(table)
    assert list(found.columns) == ["y_q0.25", "y_q0.75"]
    assert (found["y_q0.25"] <= found["y_q0.75"]).all()
    assert 0.3 < ((found["y_q0.25"] <= table["y"]) & (table["y"] <= found["y_q0.75"])).mean() < 0.7


def with_one_outlier(ids):
    """A table in which the row in position 20 is wrong, and that in position 3 has no target."""
    x = np.linspace(0, 1, 40)
    y = np.sin(6 * x)
    y[20], y[3] = 9.0, np.nan
    return pd.DataFrame({"name": ids, "x": x, "y": y})


@pytest.mark.parametrize("level", [None, 0.9])
def test_reports_name_training_samples_by_their_identifiers(level, tmp_path):
    table = with_one_outlier(1950 + np.arange(40))
    save(TabularModel("y", features="x", id="name", loss="huber", level=level).fit(table), tmp_path / "model.hl")
    model = load(tmp_path / "model.hl")
    inputs, outputs, ids = model.outputs(table)
    found = section(model.estimator_, model.encode_inputs(inputs), outputs, ids=ids)
    assert found.facts["outliers"][0] == "1970"


def test_reports_name_training_samples_by_the_index_without_identifiers():
    table = with_one_outlier("one").set_index(pd.period_range("2001-01", periods=40, freq="M"))
    model = TabularModel("y", features="x", loss="huber").fit(table)
    assert outlier_report(model.estimator_).index[0] == pd.Period("2002-09", "M")
    plain = TabularModel("y", features="x", loss="huber").fit(table.reset_index(drop=True))
    assert outlier_report(plain.estimator_).index[0] == 20  # not 19, although row 3 has no target


def test_reports_name_curves_in_long_form():
    t = np.linspace(0, 1, 6)
    rows = [(f"c{i}", i / 20, p, np.sin(3 * p + i / 20) + 9.0 * (i == 7)) for i in range(20) for p in t]
    table = pd.DataFrame(rows, columns=["curve", "x", "t", "value"])
    model = TabularModel(long=("curve", "t", "value"), loss="huber").fit(table)
    assert outlier_report(model.estimator_).index[0] == "c7"


def test_long_form_is_irregular_functions():
    rng = np.random.default_rng(4)
    x = rng.normal(size=N)
    inputs = pd.DataFrame({"child": [f"c{i}" for i in range(N)], "x": x})
    points = [rng.uniform(0, 5, size=5) for _ in range(N)]
    rows = [(f"c{i}", t, np.sin(t + x[i])) for i, own in enumerate(points) for t in own]
    table = pd.DataFrame(rows, columns=["child", "age", "height"]).sample(frac=1, random_state=0, ignore_index=True)
    model = TabularModel(long=("child", "age", "height")).fit(table, inputs)
    parts = [part for _, part in table.groupby("child", sort=False)]  # in the order in which curves appear
    curves = IrregularFunctions([part["age"] for part in parts], [part["height"] for part in parts])
    x = inputs.set_index("child").loc[[part["child"].iloc[0] for part in parts], "x"].to_numpy()
    X = ((x - x.mean()) / x.std())[:, None]
    reference = FunctionalRegressor().fit(X, curves).predict(X, grid=curves.points)
    found = model.predict(table[["age", "child"]], inputs)
    for part, values in zip(parts, reference.values, strict=True):
        assert_allclose(found["height"][part.index], values)
    assert found["age"].tolist() == table["age"].tolist()
    joined = table.merge(inputs)  # inputs in the table itself, and a new curve without points
    assert_allclose(model.predict(joined)["height"], found["height"])
    grid = model.predict(inputs.head(1))
    assert list(grid.columns) == ["child", "age", "height"] and len(grid) == 101
    with pytest.raises(TableError, match="no row for curve"):
        model.predict(table, inputs.head(3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give either targets, or long"),
        ({"targets": "y_*", "long": ("a", "b", "c")}, "give either targets, or long"),
        ({"targets": "y_*", "level": 1.5}, "between 0 and 1"),
        ({"targets": "y_*", "task": "vector", "levels": (0.5,)}, "levels are of quantiles"),
        ({"targets": "y_*", "task": "classes"}, "task"),
        ({"targets": "y_*", "loss": "hubert"}, "loss"),
        ({"targets": "region,unit"}, "hold no numbers"),
        ({"targets": "y_*", "task": "multilabel"}, "must be 0 or 1"),
        ({"targets": "y_*", "features": "y_4"}, "is a target and a feature"),
        ({"targets": "region", "task": "ranking"}, "must hold numbers"),
        ({"targets": "id", "task": "ranking"}, "a column for each label"),
        ({"targets": "y_*", "id": "name"}, "the column of identifiers is missing"),
        ({"targets": "y_2,weight", "id": "weight"}, "'weight' is a target, and so it cannot name the rows"),
    ],
)
def test_settings_that_do_not_go_together(table, settings, message):
    with pytest.raises(ValueError, match=message):
        TabularModel(**settings).fit(table)


def test_too_few_rows(table):
    with pytest.raises(TableError, match="rows with known targets: 3; give at least 10"):
        TabularModel("y_*").fit(table.head(3))


def test_a_failed_fit_changes_nothing(table, fitted):
    model, other = clone(fitted), table.rename(columns={"größe": "size"})
    model.fit(table)
    with pytest.raises(TableError):
        model.set_params(features="größe").fit(other)
    assert_allclose(model.predict(table)["y_2"], fitted.predict(table)["y_2"])


# ---------------------------------------------------------------- comparison


@pytest.fixture
def coarse(monkeypatch):
    """Searches of alternatives over few settings."""
    monkeypatch.setattr(peers, "_ALPHAS", [1e-2])
    monkeypatch.setattr(peers, "_RATES", np.array([0.5]))
    monkeypatch.setattr(peers, "_TREES", 10)


@pytest.mark.parametrize(
    ("targets", "score"), [("r*", "Kendall's tau"), ("A,B", "labels right"), ("kind", "share right")]
)
def test_comparison_of_objects(coarse, targets, score):
    table, name, _ = compare(TabularModel(targets, features="x,z"), objects_table(), folds=2)
    assert name == score
    scores = table.set_index("method")["score"]
    assert scores["hilbertlearn"] > scores.iloc[1] + 0.2  # the constant prediction
    assert (table["seconds"] > 0).all() and len(table) == 6


def test_comparison_of_curves_has_the_scores_of_scikit_learn(coarse):
    table = curves_table().drop(columns="region")
    found, name, notes = compare(TabularModel("y_*"), table.dropna(), folds=2)
    assert name == "R2" and any("unit" in note for note in notes)
    rows, names = table.dropna(), [f"y_{point:g}" for point in POINTS]
    X, Y = rows[["größe", "weight"]].to_numpy(), rows[names].to_numpy()
    values = []
    for train, test in KFold(2, shuffle=True, random_state=0).split(X):
        scale = X[train].std(axis=0)
        ridge = RidgeCV(np.logspace(-3, 4, 15)).fit(X[train] / scale, Y[train])
        values.append(1 - np.mean((ridge.predict(X[test] / scale) - Y[test]) ** 2) / Y.var(axis=0).mean())
    ours = found.set_index("method").loc["RidgeCV"]
    assert_allclose(ours["score"], np.mean(values))
    assert_allclose(ours["standard_error"], np.std(values, ddof=1) / np.sqrt(2))


@pytest.mark.filterwarnings("error")
def test_comparison_leaves_out_a_column_that_no_curve_has(coarse):
    table = curves_table().drop(columns="region").dropna()
    names = [f"y_{point:g}" for point in POINTS]
    empty = table.assign(**{names[3]: np.nan})
    model = TabularModel("y_*", task="functional")
    found, _, _ = compare(model, empty, folds=2)
    other, _, _ = compare(model, table.drop(columns=names[3]), folds=2)
    assert_allclose(found["score"][1:4], other["score"][1:4])  # trees draw random splits
    assert found["score"][0] > found["score"][1]


def test_comparison_scores_no_target_without_training_values(coarse):
    table = objects_table()[["x", "z"]].assign(u=lambda rows: rows["x"], v=np.nan)
    test = next(KFold(2, shuffle=True, random_state=0).split(table))[1]
    table.loc[table.index[test], "v"] = 1e3 * np.arange(len(test))
    first = compare(TabularModel("u,v", features="x,z"), table, folds=2)[0]
    table.loc[table.index[test], "v"] *= -7
    assert_allclose(first["score"], compare(TabularModel("u,v", features="x,z"), table, folds=2)[0]["score"], rtol=1e-6)
    assert np.isfinite(first["score"]).all()


def test_folds_are_not_more_than_samples(table):
    with pytest.raises(TableError, match="more than the 40 samples"):
        compare(TabularModel("y_*"), table, folds=50)
    with pytest.raises(ValueError, match="folds"):
        compare(TabularModel("y_*"), table, folds=1)
