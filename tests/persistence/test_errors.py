"""The error of files that cannot be loaded."""

import pickle

from hilbertlearn.persistence import ModelFileError


def test_model_file_error_is_a_value_error():
    error = pickle.loads(pickle.dumps(ModelFileError("one line")))
    assert isinstance(error, ValueError) and str(error) == "one line"
