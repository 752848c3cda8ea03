"""Names of output losses, and the error messages about bad outputs."""

import numpy as np
import pytest
from helpers.loss_matrices import assert_pairs
from helpers.refusals import assert_refused
from numpy.testing import assert_array_equal
from sklearn.base import clone

from hilbertlearn import losses, output_losses
from hilbertlearn.output_losses import (
    F1,
    Chi2,
    CostMatrix,
    Edit,
    EpsilonAbsolute,
    Hamming,
    Hellinger,
    Jaccard,
    Kendall,
    KernelLoss,
    OutputLoss,
    Rank,
    Spearman,
    SquaredError,
    Wasserstein1d,
    ZeroOne,
    as_output_loss,
)

NAN = np.nan


# ------------------------------------------------------------------ names, objects, callables

NAMED = {
    "zero_one": ZeroOne,
    "hamming": Hamming,
    "f1": F1,
    "jaccard": Jaccard,
    "rank": Rank,
    "kendall": Kendall,
    "spearman": Spearman,
    "hellinger": Hellinger,
    "chi2": Chi2,
    "wasserstein1d": Wasserstein1d,
    "edit": Edit,
}
OTHERS = [
    "squared_error",
    "absolute",
    "huber",
    "cauchy",
    "geman_mcclure",
    "fair",
    "l2_l1",
    "hinge",
    "logistic",
    "pinball",
    "epsilon_absolute",
    "diffusion",
]


def test_names_give_objects():
    for name, kind in NAMED.items():
        assert type(as_output_loss(name)) is kind
    for name in OTHERS:
        assert type(as_output_loss(name)).__name__.lower() == name.replace("_", "")


def test_names_that_users_know_stay():
    assert type(as_output_loss("squared")) is SquaredError
    assert type(as_output_loss("epsilon_insensitive")) is EpsilonAbsolute


def test_a_name_shared_with_losses_of_residuals_is_the_same_function():
    ours, theirs = ({n for n, item in vars(room).items() if isinstance(item, type)} for room in (losses, output_losses))
    assert ours & theirs == {"Hinge", "Huber", "Pinball"}
    r = np.linspace(-2, 2, 41)  # y - prediction
    for tau in (0.1, 0.5, 0.8):
        expected = output_losses.Pinball(tau).residual_value(-r)
        np.testing.assert_allclose(losses.Pinball((tau,)).row_value(r[:, None]), expected, atol=1e-15)


def test_losses_know_whether_their_decoder_chooses_or_averages():
    choosing = {"candidates", "classes", "threshold", "sets", "jaccard_sets", "assignment", "ranking"}
    for name in (*NAMED, *OTHERS):
        loss = as_output_loss(name)
        assert loss.discrete == (loss.decoder in choosing)
    assert CostMatrix(np.eye(2)).discrete and CostMatrix(np.eye(2)).decoder == "classes"
    for loss in (KernelLoss(), as_output_loss(lambda Z, Y: np.zeros((len(Z), len(Y))))):
        assert loss.discrete and loss.decoder == "candidates"


def test_unknown_names_are_told_the_known_ones():
    assert_refused(lambda: as_output_loss("haming"), ["output_loss", "'haming'", *NAMED, *OTHERS, "CostMatrix"])


def test_objects_pass_and_callables_are_wrapped():
    loss = Rank(normalize=True)
    assert as_output_loss(loss) is loss
    wrapped = as_output_loss(lambda Z, Y: [[len(z) - len(y) for y in Y] for z in Z])
    assert isinstance(wrapped, OutputLoss) and wrapped.decoder == "candidates"
    assert_pairs(wrapped, lambda z, y: len(z) - len(y), ["a", "bb"], ["", "c", "ddd"])


@pytest.mark.parametrize("what", [3, None, Hamming], ids=["number", "None", "class"])
def test_other_things_are_refused(what):
    assert_refused(lambda: as_output_loss(what), ["output_loss", "name"], TypeError)


def test_settings_are_searchable_and_clone():
    assert clone(KernelLoss("rbf", gamma=2.0)).get_params() == {"kernel": "rbf", "gamma": 2.0}
    assert_array_equal(clone(CostMatrix(np.eye(2))).C, np.eye(2))


# ------------------------------------------------------------------ bad outputs

BAD = [
    (Hamming(), [[0, 2], [1, 0]], ["0/1", "2", "MultiLabelBinarizer"]),
    (F1(), [{1}, {2, 3}], ["0/1", "set", "MultiLabelBinarizer"]),
    (Jaccard(), [0, 1, 1], ["0/1", "(3,)"]),
    (Hamming(), [[0, NAN]], ["0/1", "nan"]),
    (Rank(), [1.0, 2.0], ["ratings", "(2,)", "NaN where"]),
    (Rank(), [[1.0, np.inf]], ["infinity"]),
    (Kendall(), [[1, 2, 3], [1, 2, 2]], ["ties", "row 1", "Rank"]),
    (Spearman(), [[2, 2, 1]], ["ties", "row 0", "Rank"]),
    (Kendall(), [[1, NAN, 2]], ["NaN", "Rank"]),
    (Hellinger(), [[0.5, 0.5], [1, 1]], ["sum to one", "row 1", "sums to 2"]),
    (Chi2(), [[1.5, -0.5]], ["non-negative", "row 0", "-0.5"]),
    (Wasserstein1d(), [[NAN, 1.0]], ["NaN"]),
    (Wasserstein1d(), ["a", "b"], ["histograms", "str"]),
    (CostMatrix(np.eye(3)), [0, 3], ["label 3", "(3, 3)", "0 to 2"]),
    (CostMatrix(np.eye(3)), [0, -1], ["label -1", "0 to 2"]),
    (CostMatrix(np.eye(3)), [0, 1.5], ["integers"]),
    (CostMatrix(np.eye(3)), ["a"], ["integers"]),
    (CostMatrix(np.ones((2, 3))), [0, 1], ["C", "square", "(2, 3)"]),
    (CostMatrix([[0, NAN], [1, 0]]), [0, 1], ["C", "NaN"]),
    (Edit(), ["a", 3], ["strings", "int"]),
    (KernelLoss("precomputed"), np.eye(2), ["precomputed", "CostMatrix"]),
    (KernelLoss("rbff"), np.eye(2), ["kernel", "rbff", "known"]),
    (KernelLoss("rbf", gamma=-1), np.eye(2), ["gamma", "-1"]),
    (KernelLoss("rbf"), ["a", "b"], ["matrix", "rbf", "str"]),
]


@pytest.mark.parametrize(("loss", "outputs", "words"), BAD)
def test_bad_outputs_are_named_with_a_remedy(loss, outputs, words):
    assert_refused(lambda: loss.check(outputs), words)
