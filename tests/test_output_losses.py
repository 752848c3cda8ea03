"""Losses between outputs against double loops over their definitions, and what bad outputs are told."""

import numpy as np
import pytest
from helpers.refusals import assert_refused
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, spearmanr, wasserstein_distance
from sklearn.base import clone
from sklearn.metrics import f1_score, hamming_loss, jaccard_score
from sklearn.metrics.pairwise import polynomial_kernel

from hilbertlearn import kernels, losses, output_losses
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

rng = np.random.default_rng(5)
NAN = np.nan


def by_pairs(function, Z, Y):
    return np.array([[function(z, y) for y in Y] for z in Z], dtype=float)


def assert_pairs(loss, function, Z, Y):
    """The loss of all pairs is the function of each pair, and canonical outputs stay what they are."""
    Z, Y = loss.check(Z), loss.check(Y)
    values = loss(Z, Y)
    assert values.shape == (len(Z), len(Y)) and values.dtype == float
    assert_allclose(values, by_pairs(function, Z, Y), rtol=1e-12, atol=1e-12)
    if isinstance(Y, np.ndarray):
        assert_array_equal(loss.check(Y), Y)


# ------------------------------------------------------------------ labels and objects


@pytest.mark.parametrize(
    "outputs",
    [
        np.array([0.0, 1, 2, 1, -0.0]),
        ["a", "b", "a", "cc"],
        np.array([[0.0, 1], [1, 0], [0, 1]]),
        [{1, 2}, {2, 1}, set(), {3}],
        [(1, "a"), (1, "b"), (1, "a")],
    ],
    ids=["labels", "strings", "rows", "sets", "tuples"],
)
def test_zero_one_is_whether_outputs_differ(outputs):
    assert_pairs(ZeroOne(), lambda z, y: not np.all(np.array(z == y)), outputs, outputs[::-1])


def test_cost_matrix_has_predictions_as_rows():
    C = rng.normal(size=(4, 4))
    Z, Y = np.array([0.0, 3, 3]), [1, 2, 0, 3]
    loss = CostMatrix(C)
    assert_pairs(loss, lambda z, y: C[z, y], Z, Y)
    assert loss.check(Z).dtype.kind == "i"


def squared_feature_distance(kernel):
    return lambda z, y: kernel(z, z) - 2 * kernel(z, y) + kernel(y, y)


def test_kernel_loss_of_named_kernels():
    Z, Y = rng.normal(size=(5, 3)), rng.normal(size=(150, 3))
    assert_pairs(
        KernelLoss("rbf", gamma=0.3), squared_feature_distance(lambda z, y: np.exp(-0.3 * ((z - y) ** 2).sum())), Z, Y
    )
    assert_pairs(KernelLoss("linear"), lambda z, y: ((z - y) ** 2).sum(), Z, Y)
    assert_pairs(
        KernelLoss("poly", gamma=0.5), squared_feature_distance(lambda z, y: (0.5 * z @ y + 1) ** 3), Z[:, :2], Y[:, :2]
    )


def test_kernel_loss_of_objects_and_callables():
    words = ["abc", "ab", "", "cab", "zz"]
    shared = lambda z, y: 3 * len(set(z) & set(y)) + 1.0  # noqa: E731
    matrix = lambda Z, Y: by_pairs(shared, Z, Y)  # noqa: E731
    for kernel in (kernels.PairwiseKernel(shared), matrix):
        assert_pairs(KernelLoss(kernel), squared_feature_distance(shared), words, words[::-1])
    Z = rng.integers(0, 2, size=(4, 6)).astype(float)
    tanimoto = lambda z, y: z @ y / (z @ z + y @ y - z @ y)  # noqa: E731
    Z[:, 0] = 1
    assert_pairs(KernelLoss(kernels.Tanimoto()), squared_feature_distance(tanimoto), Z, Z)
    assert_pairs(KernelLoss(polynomial_kernel), squared_feature_distance(lambda z, y: (z @ y / 6 + 1) ** 3), Z, Z)


def levenshtein(z, y):
    """By its recursion."""
    if not z or not y:
        return len(z) + len(y)
    replace = levenshtein(z[1:], y[1:]) + (z[0] != y[0])
    return min(replace, levenshtein(z[1:], y) + 1, levenshtein(z, y[1:]) + 1)


def test_edit_distance():
    words = ["".join(rng.choice(list("abc"), size=size)) for size in (0, 1, 2, 3, 4, 5, 5, 6)]
    assert_pairs(Edit(), levenshtein, words, words[::-1])
    assert_array_equal(Edit()(["kitten", "naïve", "日本"], ["sitting", "naive", "日本語"]).diagonal(), [3, 1, 1])
    assert_array_equal(Edit()(["abc"], ["", ""]), [[3, 3]])


# ------------------------------------------------------------------ sets of labels

SETS = rng.integers(0, 2, size=(9, 5))
SETS[0] = 0


def test_hamming_is_that_of_scikit_learn():
    assert_pairs(Hamming(), lambda z, y: hamming_loss(z, y), SETS[:4], SETS)


def test_f1_and_jaccard_by_sample():
    assert_pairs(F1(), lambda z, y: 1 - f1_score(y, z, zero_division=1.0), SETS[:4], SETS)
    assert_pairs(Jaccard(), lambda z, y: 1 - jaccard_score(y, z, zero_division=1.0), SETS[:4], SETS)


# ------------------------------------------------------------------ rankings


def rank_loss(z, y):
    """Eq. 22, over pairs of which y rates the first higher; a pair that z leaves open has sign 0."""
    total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                sign = 0 if np.isnan(z[i] - z[j]) else np.sign(z[i] - z[j])
                total += (y[i] - y[j]) * (1 - sign) / 2
    return total


def total_preference(y):
    return sum(max(a - b, 0) for a in y for b in y if not np.isnan(a - b))


RATINGS = rng.integers(1, 6, size=(12, 6)).astype(float)
RATINGS[rng.random(RATINGS.shape) < 0.3] = NAN
RATINGS[0], RATINGS[1], RATINGS[2] = 3, [NAN, NAN, 4, NAN, NAN, NAN], [1, 2, 3, 4, 5, 6]
PERMUTATIONS = np.array([rng.permutation(6) + 1.0 for _ in range(7)])


@pytest.mark.parametrize("Z", [PERMUTATIONS, RATINGS], ids=["full rankings", "ties and gaps"])
def test_rank_loss_from_ratings_with_ties_and_gaps(Z):
    assert_pairs(Rank(), rank_loss, Z, RATINGS)
    assert_pairs(Rank(normalize=True), lambda z, y: rank_loss(z, y) / max(total_preference(y), 1), Z, RATINGS)


def test_rank_loss_of_the_order_itself_and_of_its_reverse():
    Y = RATINGS[2:]
    assert_allclose(Rank()(Y, Y).diagonal(), 0, atol=1e-12)
    reverse = Rank(normalize=True)(-PERMUTATIONS, PERMUTATIONS).diagonal()
    assert_allclose(reverse, 1)


def test_eq_22_over_pairs_of_either_sign_is_twice_the_loss_less_a_constant_of_y():
    def signed(z, y):
        gamma = np.nan_to_num(y[:, None] - y)
        return (gamma * (1 - np.sign(z[:, None] - z)) / 2).sum()

    expected = by_pairs(lambda z, y: signed(z, y) + total_preference(y), PERMUTATIONS, RATINGS)
    assert_allclose(2 * Rank()(PERMUTATIONS, RATINGS), expected)


def test_kendall_and_spearman_are_those_of_scipy():
    scores = rng.normal(size=(8, 5))
    assert_pairs(Kendall(), lambda z, y: (1 - kendalltau(z, y).statistic) / 2, scores[:3], scores)
    assert_pairs(Spearman(), lambda z, y: (1 - spearmanr(z, y).statistic) / 2, scores[:3], scores)
    assert_array_equal(Kendall().check([[0.1, 7.0, -2.0]]), [[2, 3, 1]])


@pytest.mark.parametrize("loss", [Rank(), Kendall(), Spearman()])
def test_one_item_has_one_ranking(loss):
    one = loss.check([[3.0], [4.0]])
    assert_array_equal(loss(one, one), np.zeros((2, 2)))


@pytest.mark.parametrize("loss", [Rank(), Rank(normalize=True), Kendall()])
def test_preferences_give_weighted_losses_up_to_a_constant(loss):
    Y = loss.check(PERMUTATIONS) if isinstance(loss, Kendall) else RATINGS
    W = rng.normal(size=(3, len(Y)))
    G = loss.preferences(W, Y)
    assert_allclose(G, -G.transpose(0, 2, 1), atol=1e-12)
    above = PERMUTATIONS[:, :, None] > PERMUTATIONS[:, None, :]
    rest = W @ loss(PERMUTATIONS, Y).T + np.einsum("qij,zij->qz", G, above) / 2
    assert_allclose(rest, np.repeat(rest[:, :1], len(PERMUTATIONS), axis=1))


# ------------------------------------------------------------------ histograms

HISTOGRAMS = rng.dirichlet(np.full(5, 0.5), size=8)
HISTOGRAMS[:2] = [[1, 0, 0, 0, 0], [0, 0, 0.5, 0, 0.5]]
HISTOGRAMS[4, 2], HISTOGRAMS[5, 2] = 0, 0
HISTOGRAMS /= HISTOGRAMS.sum(axis=1, keepdims=True)


def test_hellinger_has_the_papers_factor():
    assert_pairs(
        Hellinger(), lambda z, y: ((np.sqrt(z) - np.sqrt(y)) ** 2).sum() / np.sqrt(2), HISTOGRAMS[:5], HISTOGRAMS
    )


def test_chi2_leaves_out_bins_empty_in_both():
    def chi2(z, y):
        return sum((a - b) ** 2 / (a + b) for a, b in zip(z, y) if a + b > 0)

    assert_pairs(Chi2(), chi2, HISTOGRAMS[:5], HISTOGRAMS)


def test_wasserstein_is_that_of_scipy_on_unit_bins():
    bins = np.arange(5)
    assert_pairs(Wasserstein1d(), lambda z, y: wasserstein_distance(bins, bins, z, y), HISTOGRAMS[:5], HISTOGRAMS)


def test_rounding_of_the_sum_is_scaled_away():
    assert Hellinger().check([[0.5, 0.5 + 1e-9]]).sum() == pytest.approx(1, abs=1e-15)


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
        expected = output_losses.Pinball(tau).at(-r)
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


def test_callables_must_return_finite_matrices():
    assert_refused(lambda: as_output_loss(lambda Z, Y: [1.0, 2.0])(["a"], ["b"]), ["output_loss", "(1, 1)", "(2,)"])
    assert_refused(lambda: as_output_loss(lambda Z, Y: [[NAN]])(["a"], ["b"]), ["output_loss", "NaN"])


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
