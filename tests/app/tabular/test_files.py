"""Tables in files: separators, encodings, decimal marks; files that are no tables."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from helpers.tables import curves_table

from hilbertlearn.app.tabular import TableError
from hilbertlearn.tabular import read_table, write_table


@pytest.fixture(scope="module")
def table():
    return curves_table()


def read(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path)


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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('a,b\n"1,234.5",x\n999,y\n"-1,000,000",z\n', [1234.5, 999, -1e6]),
        ("a;b\n1.234,5;x\n999;y\n-1.000.000,0;z\n", [1234.5, 999, -1e6]),
        ("a;b\n1.234;1,5\n-;2,5\n5.678;3,5\n", [1234, np.nan, 5678]),
        ('a,b\n"1,5",x\n-,y\n"-23,0",z\n', [1.5, np.nan, -23.0]),
        ("a,b\n1.5,x\n-,y\n -- ,z\n", [1.5, np.nan, np.nan]),
        ("a\tb\n1.5\tx\n.\ty\n?\tz\n", [1.5, np.nan, np.nan]),
    ],
    ids=["commas", "points", "points, whole numbers", "quotes", "dashes", "a point"],
)
def test_numbers_are_read_as_they_are_written(tmp_path, text, values):
    np.testing.assert_array_equal(read(tmp_path, text)["a"].to_numpy(dtype=float), values)


@pytest.mark.parametrize(
    "cells", [["12.05.2024", "13.05.2024"], ["+", "-"], ["1,23", "1,234"], ["1,234", "many"]], ids=str
)
def test_other_text_stays_text(tmp_path, cells):
    text = "a|b\n" + "".join(f'"{cell}"|0.5\n' for cell in cells)
    if "1,23" in cells:
        text = text.replace("|", ",")  # where a comma can be no decimal mark
    assert read(tmp_path, text)["a"].tolist() == cells


@pytest.mark.parametrize("ends", ["", ",", ",,"])
def test_separators_at_the_end_of_lines_are_nothing(tmp_path, ends):
    frame = read(tmp_path, f"a,b\n1,2{ends}\n3,4{ends}\n")
    assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_names_of_rows_without_a_name_of_their_own_do_not_shift_columns(tmp_path):
    with pytest.raises(TableError, match="row 1 has more cells than the 2 names"):
        read(tmp_path, "a,b\nAnna,1,2\nBo,3,4\n")


def test_packed_and_wide_text(tmp_path):
    text = "größe;b\n1,5;2\n2,5;3\n"
    plain = read(tmp_path, text)
    assert plain["größe"].tolist() == [1.5, 2.5]
    pd.testing.assert_frame_equal(read(tmp_path, gzip.compress(text.encode()), "table.csv.gz"), plain)
    pd.testing.assert_frame_equal(read(tmp_path, text.encode("utf-16")), plain)
