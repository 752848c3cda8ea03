"""The closed table of other packages' classes whose objects model files may hold."""

import numpy as np
import pytest
from helpers.model_files import roundtrip
from sklearn.metrics import r2_score
from sklearn.utils import all_estimators

import hilbertlearn
from hilbertlearn.persistence import packages

REFUSED = (
    "SVC",
    "GradientBoostingRegressor",
    "HistGradientBoostingRegressor",
    "IsolationForest",
    "DBSCAN",
    "KNeighborsRegressor",
    "KMeans",
    "CountVectorizer",
    "DictVectorizer",
    "SGDRegressor",
    "MultiLabelBinarizer",
)


def test_classes_of_scikit_learn_are_found_by_public_names():
    names = {name: packages.name_class(cls) for name, cls in all_estimators()}
    assert names["Ridge"] == "sklearn.linear_model.Ridge" and names["Pipeline"] == "sklearn.pipeline.Pipeline"
    for refused in REFUSED:
        assert names[refused] is None
    for name, cls in all_estimators():
        if names[name] is not None:
            assert packages.find_class(names[name]) is cls


def test_functions_of_scikit_fda(tmp_path):
    skfda = pytest.importorskip("skfda")
    bases = skfda.representation.basis
    grid = skfda.FDataGrid(np.random.default_rng(0).random((3, 6)), np.linspace(0, 1, 6), argument_names=["t"])
    basis = grid.to_basis(bases.FourierBasis((0, 1), n_basis=3))
    irregular = skfda.FDataIrregular(start_indices=[0, 2], points=np.c_[[0.0, 1, 0, 1]], values=np.ones((4, 1)))
    for functions in (grid, basis, irregular):
        again = roundtrip(functions, tmp_path)
        assert type(again) is type(functions) and bool(again.equals(functions))
    for one in (bases.BSplineBasis((0, 2), n_basis=5), bases.MonomialBasis(domain_range=(0, 1), n_basis=2)):
        assert roundtrip(one, tmp_path) == one


def test_refused_estimators_have_a_remedy(tmp_path):
    from sklearn.neighbors import KNeighborsRegressor

    model = hilbertlearn.FunctionalRegressor(regressor=KNeighborsRegressor())
    with pytest.raises(TypeError, match=r"^regressor is a sklearn KNeighborsRegressor.*RandomForestRegressor.*skops"):
        hilbertlearn.save(model, tmp_path / "model.hl")


def test_tables_are_closed():
    assert packages.find_function("numpy.exp") is np.exp and packages.find_function("numpy.load") is None
    assert packages.find_function("sklearn.metrics.r2_score") is r2_score
    assert packages.find_function("os.system") is None and packages.find_type("os.environ") is None
    assert packages.find_type("numpy.float32") is np.float32 and packages.find_type("numpy.memmap") is None
    assert packages.name_type(dict) == "builtins.dict" and packages.name_type(type) is None
