"""Wrong calls of inherited methods name the method, not the class that defines it."""

import pytest

from hilbertlearn._utils.naming import unnamed_in_errors


class Documented:
    def predict(self, X):
        """Predictions."""


@unnamed_in_errors
class Mixin(Documented):
    def predict(self, X):
        return X


class Model(Mixin):
    pass


def test_errors_of_python():
    with pytest.raises(TypeError, match=r"^predict\(\) got an unexpected keyword argument 'k'"):
        Model().predict([1], k=2)


def test_docstrings_are_inherited():
    assert Model.predict.__doc__ == "Predictions."
