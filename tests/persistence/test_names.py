"""The closed table of our classes whose objects model files may hold."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from helpers.model_files import roundtrip
from helpers.stored_models import inputs_for
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import KFold, ShuffleSplit

import hilbertlearn
from hilbertlearn import IrregularFunctions, kernels, load, losses, operators, output_losses, spaces
from hilbertlearn.persistence.attributes import is_settable
from hilbertlearn.persistence.names import CLASSES, FORMER, FORMER_ATTRIBUTES, MODULES, find_class, name_class


def test_every_name_is_that_of_one_class():
    assert len(MODULES) == sum(len(names.split()) for names in CLASSES.values()), "one name for two classes"
    assert set(FORMER.values()) <= set(MODULES)
    for name, attributes in FORMER_ATTRIBUTES.items():
        cls = find_class(name)
        assert all(now is None or is_settable(cls, now) for now in attributes.values()), name


def test_objects_of_the_table_are_made_of_attributes():
    for name in MODULES:
        cls = find_class(name)
        assert name_class(cls) == name
        if issubclass(cls, (list, tuple)):
            continue
        assert cls.__new__ is object.__new__, f"{name} has a __new__: blank objects run nothing"
        for base in cls.__mro__:
            assert base is object or not vars(base).get("__slots__"), f"{name} has slots"
            own_state = "__setstate__" in vars(base) and not base.__module__.startswith("sklearn")
            assert not own_state, f"{name} has a __setstate__"


@pytest.mark.parametrize(
    "setting",
    [
        losses.InfConv(losses.Huber(0.4, 1), losses.Squared()),
        2.0 * output_losses.Absolute() + output_losses.Huber(0.2),
        kernels.Columns([("rbf", ["a"]), (kernels.CategoricalKernel(), "b")]),
        operators.AxisProduct(curves=operators.Covariance(0.3)),
        spaces.Dictionary(["fourier", spaces.BSpline(4)]),
        RBF(1.5) + WhiteKernel(0.1),
        KFold(3, shuffle=True, random_state=0),
        ShuffleSplit(2),
        hilbertlearn.model_selection.EdgeSplit(),
    ],
    ids=lambda setting: type(setting).__name__,
)
def test_settings(setting, tmp_path):
    again = roundtrip(setting, tmp_path)
    assert type(again) is type(setting) and repr(again) == repr(setting)


def test_irregular_functions(tmp_path):
    curves = IrregularFunctions([[0.0, 1.0], [0.5]], [[1.0, np.nan], [2.0]], (0, 2))
    again = roundtrip(curves, tmp_path)
    assert again.domain == curves.domain
    for one, other in zip(again.points + again.values, curves.points + curves.values, strict=True):
        assert_array_equal(one, other)


# model files that were written before classes and attributes had their current names, and what the models predicted
EARLIER = Path(__file__).parent / "earlier_models.zip"


@pytest.mark.parametrize("name", [name for name in zipfile.ZipFile(EARLIER).namelist() if name.endswith(".npy")])
def test_files_of_earlier_versions(name, tmp_path):
    case, method, _ = name.split(".")
    with zipfile.ZipFile(EARLIER) as files:
        (tmp_path / "model.hl").write_bytes(files.read(f"{case}.hl"))
        expected = np.load(io.BytesIO(files.read(name)), allow_pickle=False)
    model = load(tmp_path / "model.hl")
    found = np.asarray(getattr(model, method)(inputs_for(case)))
    if expected.dtype.kind == "f":
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    else:
        assert found.tolist() == expected.tolist()
    assert not hasattr(model, "summary") or (model.summary() and model._repr_html_())


def test_messages_say_that_a_file_is_of_an_earlier_version(tmp_path):
    with zipfile.ZipFile(EARLIER) as files:
        (tmp_path / "model.hl").write_bytes(files.read("regions.hl"))
    model = load(tmp_path / "model.hl")
    assert model.method_reason_ == model.selection_ == "unknown"
    assert "because the file is of an earlier version" in model.summary()
    with pytest.raises(ValueError, match="again if the model is from a file of an earlier version"):
        model.estimator_.novelty(inputs_for("regions"))
