"""Dtypes of polars in model files."""

import pytest
from helpers.model_files import roundtrip

from hilbertlearn import save
from hilbertlearn.persistence.packages import POLARS_DTYPES

polars = pytest.importorskip("polars")


def test_dtypes(tmp_path):
    dtypes = [getattr(polars, name)() for name in POLARS_DTYPES] + [polars.Enum(["b", "a"])]
    assert roundtrip(dtypes, tmp_path) == dtypes
    assert roundtrip(polars.Float64, tmp_path) is polars.Float64  # the class


def test_frames_are_refused_with_the_remedy(tmp_path):
    frame = polars.DataFrame({"number": [1.5, None]})
    for value in (frame, frame["number"], polars.List(polars.Int64)):
        with pytest.raises(TypeError, match=r"to_list\(\)"):
            save([value], tmp_path / "frame")
