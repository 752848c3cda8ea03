"""The closed table of classes whose objects model files may hold."""

from sklearn.utils import all_estimators

from hilbertlearn.persistence import packages
from hilbertlearn.persistence.names import CLASSES, FORMER, HOMES, own_class, own_name


def test_every_name_is_that_of_one_class():
    assert len(HOMES) == sum(len(names.split()) for names in CLASSES.values()), "one name for two classes"
    assert set(FORMER.values()) <= set(HOMES)


def test_objects_of_the_table_are_made_of_attributes():
    for name in HOMES:
        cls = own_class(name)
        assert own_name(cls) == name
        if issubclass(cls, (list, tuple)):
            continue
        assert cls.__new__ is object.__new__, f"{name} has a __new__: blank objects run nothing"
        for base in cls.__mro__:
            assert base is object or not vars(base).get("__slots__"), f"{name} has slots"
            own_state = "__setstate__" in vars(base) and not base.__module__.startswith("sklearn")
            assert not own_state, f"{name} has a __setstate__"


def test_classes_of_scikit_learn_are_found_by_public_names():
    names = {name: packages.class_name(cls) for name, cls in all_estimators()}
    assert names["Ridge"] == "sklearn.linear_model.Ridge" and names["Pipeline"] == "sklearn.pipeline.Pipeline"
    for refused in ("SVC", "GradientBoostingRegressor", "HistGradientBoostingRegressor", "IsolationForest", "DBSCAN"):
        assert names[refused] is None
    for name, cls in all_estimators():
        if names[name] is not None:
            assert packages.class_of(names[name]) is cls
