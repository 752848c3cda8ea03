"""Objects of any kind reach the functions of users as they are, and come back as predictions."""

import pathlib
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict

from hilbertlearn import OperatorKernelRegressor, RegularizationPathCV, StructuredPredictor, kernels
from hilbertlearn import output_losses as ol
from hilbertlearn.data.objects import distinct, unlabelled_mask

N = 8
PLACES = np.linspace(0, 1, N)[:, None]


@dataclass
class Record:
    number: int


class Sequence:
    """Has a length and entries, which are not what it is."""

    def __init__(self, number):
        self.number = number

    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return self.number + i


class Row(list):
    """A list with a name."""


class Pair(tuple):
    """A tuple with a name."""


def molecules():
    chem = pytest.importorskip("rdkit.Chem")
    return [chem.MolFromSmiles("C" * (i + 1)) for i in range(N)]


def bit_vectors():
    data = pytest.importorskip("rdkit.DataStructs")
    vectors = [data.ExplicitBitVect(16) for _ in range(N)]
    for i, vector in enumerate(vectors):
        vector.SetBitsFromList([0, *range(i, i + 5)])
    return vectors


def graphs():
    networkx = pytest.importorskip("networkx")
    return [networkx.gnp_random_graph(5, 0.5, seed=i) for i in range(N)]  # as many integer nodes


def frames(make):
    return lambda: [make(pytest.importorskip("pandas"), i) for i in range(N)]


KINDS = {
    "molecules": molecules,
    "bit vectors": bit_vectors,
    "graphs": graphs,
    "sets": lambda: [{i, i + 1} for i in range(N)],
    "frozensets": lambda: [frozenset({i, i + 1}) for i in range(N)],
    "dicts": lambda: [{"number": i} for i in range(N)],
    "dataclasses": lambda: [Record(i) for i in range(N)],
    "tuples of integers": lambda: [(i, i + 1) for i in range(N)],
    "tuples of floats": lambda: [(i + 0.5, 1.0) for i in range(N)],
    "nested tuples": lambda: [((i, (1, 2)), ("a", (i, i))) for i in range(N)],
    "lists of tuples": lambda: [[(0, i), (i, 1)] for i in range(N)],
    "lists of strings": lambda: [["a", str(i)] for i in range(N)],
    "lists of several lengths": lambda: [list(range(i)) for i in range(N)],
    "arrays of several lengths": lambda: [np.arange(i + 1.0) for i in range(N)],
    "numpy scalars": lambda: [np.datetime64("2026-01-01") + i for i in range(N)],
    "strings": lambda: ["ab" * (i + 1) for i in range(N)],
    "bytes": lambda: [b"ab" * (i + 1) for i in range(N)],
    "paths": lambda: [pathlib.Path(f"a/{i}") for i in range(N)],
    "series": frames(lambda pd, i: pd.Series([i, 1.0])),
    "tables": frames(lambda pd, i: pd.DataFrame({"a": [i, 1.0]})),
    "times": frames(lambda pd, i: pd.Timestamp(2026, 1, 1 + i)),
    "sequences": lambda: [Sequence(i) for i in range(N)],
    "lists by another name": lambda: [Row([i, 1]) for i in range(N)],
    "tuples by another name": lambda: [Pair((i, 1)) for i in range(N)],
    "classes": lambda: [type(f"C{i}", (), {}) for i in range(N)],
}


@pytest.fixture(params=KINDS)
def objects(request):
    return KINDS[request.param]()


class Seen:
    """Functions of two lists or two objects that refuse anything but the objects given."""

    def __init__(self, objects):
        self.number = {id(item): i for i, item in enumerate(objects)}
        self.calls = 0

    def distance(self, a, b):
        self.calls += 1
        return float(abs(self.number[id(a)] - self.number[id(b)]))  # a KeyError if it is another object

    def losses(self, Z, Y):
        assert isinstance(Z, list) and isinstance(Y, list)
        return np.array([[self.distance(z, y) for y in Y] for z in Z]).reshape(len(Z), len(Y))

    def similarity(self, a, b):
        return float(np.exp(-self.distance(a, b)))

    def gram(self, Z, Y):
        return np.exp(-self.losses(Z, Y))


def is_one_of(item, objects):
    return any(item is other for other in objects)


def output_settings(seen):
    return {
        "loss": {"output_loss": seen.losses},
        "kernel": {"output_kernel": seen.gram},
        "pairwise kernel": {"output_kernel": kernels.PairwiseKernel(seen.similarity)},
        "loss of a kernel": {"output_loss": ol.KernelLoss(kernels.PairwiseKernel(seen.similarity))},
        "both": {"output_kernel": seen.gram, "output_loss": seen.losses},
    }


@pytest.mark.parametrize("alpha", ["auto", 1e-6])
@pytest.mark.parametrize("by", ["loss", "kernel", "pairwise kernel", "loss of a kernel", "both"])
def test_outputs(objects, by, alpha):
    seen = Seen(objects)
    model = StructuredPredictor("rbf", gamma=20.0, alpha=alpha, **output_settings(seen)[by])
    for _ in range(2):  # a second fit is the same
        model.fit(PLACES, objects)
        predicted = model.predict(PLACES)
        assert seen.calls
        assert isinstance(predicted, list) and all(is_one_of(item, objects) for item in predicted)
    if alpha != "auto":
        assert all(map(lambda a, b: a is b, predicted, objects))
    assert all(map(lambda a, b: a is b, model.outputs_, objects))
    some = [objects[3], objects[5]]
    assert all(is_one_of(item, some) for item in model.predict(PLACES, candidates=some))
    assert all(is_one_of(item, some) for item in model.predict(PLACES, candidates_per_query=[some] * N))
    found, _ = model.predict_topk(PLACES, 2, some)
    assert all(is_one_of(item, some) for own in found for item in own)
    assert np.isfinite(model.score(PLACES, objects))


@pytest.mark.parametrize("container", [list, tuple])
def test_inputs(objects, container):
    seen = Seen(objects)
    for kernel in (kernels.PairwiseKernel(seen.similarity), seen.gram):
        model = OperatorKernelRegressor(kernel, alpha=1e-8)
        for _ in range(2):
            found = model.fit(container(objects), np.arange(N)).predict(container(objects))
            assert np.allclose(found, np.arange(N), atol=1e-4)
        model.predict(objects[:1])
        clone(OperatorKernelRegressor(kernel)).fit(objects, np.arange(N))
    labels = StructuredPredictor(kernels.PairwiseKernel(seen.similarity), alpha=1e-8).fit(objects, np.arange(N))
    assert labels.predict(objects).tolist() == list(range(N))


def test_folds_of_scikit_learn(objects):
    seen = Seen(objects)
    model = StructuredPredictor(seen.gram, alpha=1e-3, output_loss=seen.losses)
    predicted = cross_val_predict(model, objects, objects, cv=4)
    if isinstance(objects[0], str):  # scikit-learn makes an array of strings of them
        assert set(predicted) <= set(objects)
    else:
        assert len(predicted) == N and all(is_one_of(item, objects) for item in predicted)
    search = GridSearchCV(model, {"alpha": [1e-3, 1e-1]}, cv=2).fit(objects, objects)
    assert all(is_one_of(item, objects) for item in search.predict(objects))
    path = RegularizationPathCV(model, [1e-3, 1e-1], cv=2).fit(objects, objects)
    assert all(is_one_of(item, objects) for item in path.predict(objects))


def test_weights_and_unknown_outputs(objects):
    seen = Seen(objects)
    y = [None, *objects[1:]]
    weights = np.arange(N) % 3.0
    for settings in output_settings(seen).values():
        model = StructuredPredictor("rbf", gamma=20.0, alpha=1e-6, **settings).fit(PLACES, y, weights)
        known = [objects[i] for i in range(1, N) if weights[i] > 0]
        assert all(map(lambda a, b: a is b, model.outputs_, known))
        assert all(is_one_of(item, known) for item in model.predict(PLACES))


def test_arrays_of_objects_come_back_as_such(objects):
    seen = Seen(objects)
    y = np.empty(N, dtype=object)
    y[:] = [None] * N
    for i, item in enumerate(objects):
        y[i] = item
    found = StructuredPredictor("rbf", gamma=20.0, alpha=1e-6, output_loss=seen.losses).fit(PLACES, y).predict(PLACES)
    assert found.shape == (N,) and found.dtype == object and all(map(lambda a, b: a is b, found, objects))


def test_series_of_objects_as_inputs():
    pd = pytest.importorskip("pandas")
    objects = [Record(i) for i in range(N)]
    series = pd.Series(objects, index=np.arange(N) + 100)
    model = OperatorKernelRegressor(kernels.PairwiseKernel(Seen(objects).similarity), alpha=1e-8).fit(
        series, np.arange(N)
    )
    assert np.allclose(model.predict(series.iloc[3:5]), [3, 4], atol=1e-4)


# ---------------------------------------------------------------- what is a row of numbers


@pytest.mark.parametrize(
    "rows",
    [
        [[0, 1], [1, 0], [2, 2]],
        [np.array([0, 1]), np.array([1, 0]), np.array([2, 2])],
        [[np.float64(0), True], [1, 0.0], [np.int8(2), 2]],
        np.array([[0, 1], [1, 0], [2, 2]], dtype=object),
    ],
    ids=["lists", "arrays", "mixed numbers", "array of objects"],
)
def test_rows_of_numbers(rows):
    model = StructuredPredictor("rbf", gamma=50.0, alpha=1e-6).fit(PLACES[:3], rows)
    found = model.predict(PLACES[:3])
    assert isinstance(found, np.ndarray) and np.allclose(found, [[0, 1], [1, 0], [2, 2]], atol=0.1)
    inputs = []
    kernel = kernels.PairwiseKernel(lambda a, b: inputs.append(a) or float(np.exp(-np.sum((a - b) ** 2))))
    OperatorKernelRegressor(kernel).fit(list(rows), [0.0, 1.0, 2.0])
    assert all(isinstance(row, np.ndarray) and row.shape == (2,) for row in inputs)


def test_lengths_decide_nothing():
    """Tuples of as many numbers are the same kind of outputs as tuples of more and less."""
    for words in ([(1, 2), (3,)] * 4, [(1, 2), (3, 4)] * 4):
        found = StructuredPredictor(output_loss="zero_one", alpha=1e-6).fit(PLACES, words).predict(PLACES)
        assert all(type(item) is tuple for item in found)


def test_tuples_of_ranks_come_back_as_tuples():
    ranks = [(1, 2, 3), (3, 2, 1)] * 4
    model = StructuredPredictor("rbf", gamma=50.0, alpha=1e-6, output_loss="kendall").fit(PLACES, ranks)
    assert model.predict(PLACES) == ranks
    assert all(type(rank) is int for rank in model.predict(PLACES)[0])


def test_candidates_of_rows_may_be_tuples():
    model = StructuredPredictor(output_kernel="rbf", alpha=1e-6).fit(PLACES, np.c_[PLACES, PLACES])
    assert model.predict(PLACES[:1], candidates=[(0.0, 0.1), (0.9, 0.9)]).tolist() == [[0.0, 0.1]]


@pytest.mark.parametrize("shape", [(40, 3), (40, 2, 2), (1, 1), (500, 1)])
def test_distinct_rows(shape):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, size=shape) * rng.choice([-1.0, 1.0], size=shape)  # -0.0 too
    rows[0] = np.nan
    first, group = distinct(rows)
    keys = [repr(np.where(row == 0, 0, row).tolist()) for row in rows]
    expected = list(dict.fromkeys(keys))
    assert [keys[i] for i in first] == expected and (np.diff(first) > 0).all()
    assert [expected[i] for i in group] == keys


def test_outputs_of_nested_lists_are_told_apart():
    first, group = distinct([[["a"], ["b", str(i % 3)]] for i in range(6)])
    assert first.tolist() == [0, 1, 2] and group.tolist() == [0, 1, 2, 0, 1, 2]
    objects = [{"a": i} for i in range(3)]
    assert distinct([*objects, objects[0]])[1].tolist() == [0, 1, 2, 0]


def test_zero_has_no_sign():
    assert distinct(np.array([[0.0, 1.0], [-0.0, 1.0]]))[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1, -1], [0, 0, 1]),
        ([0, 0, -1], [0, 0, 0]),
        ([0, 1, -2, -1], [0, 0, 0, 0]),
        (np.array([0, None, 3, -1], dtype=object), [0, 0, 0, 1]),
        ([0.0, np.nan, 3.0, -1.0], [0, 0, 0, 1]),
        ([0.0, 3.0, -1.0], [0, 0, 0]),
        ([0.5, np.nan, 3.0, -1.0], [0, 0, 0, 0]),
        (np.array(["0", "1", "-1"]), [0, 0, 0]),
        (np.array(["a", 1, -1], dtype=object), [0, 0, 0]),
        (np.array([True, False]), [0, 0]),
        ([-1, -1], [0, 0]),
        ([], []),
    ],
)
def test_unlabelled(labels, expected):
    assert unlabelled_mask(labels).tolist() == [bool(one) for one in expected]
