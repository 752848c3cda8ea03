"""Small data, and an assertion on what a refusal says."""

import numpy as np
import pytest

rng = np.random.default_rng(3)
N, D = 12, 2
X = rng.normal(size=(N, 3))
Y = np.c_[X[:, 0] + 1, np.sin(X[:, 1])]
K = X @ X.T
GAPS = Y.copy()
GAPS[0, 0] = GAPS[3, 1] = np.nan


def changed(A, value, index=(1, 1)):
    A = np.array(A, dtype=float)
    A[index] = value
    return A


def assert_refused(action, words, kind=ValueError):
    """The action raises, and the message has all the words."""
    with pytest.raises(kind) as error:
        action()
    message = str(error.value)
    assert not [word for word in words if word not in message], message
