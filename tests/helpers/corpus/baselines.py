"""What the papers compare with."""

from hilbertlearn import FunctionalRegressor, baselines, kernels, output_losses, spaces

from .case import Case
from .data import CURVES, INPUT_CURVES, LABEL_SETS, LINKS, NEW, NEW_CURVES, NUMBERS, RATINGS, WORDS, X

_SMALL = FunctionalRegressor("rbf", gamma=0.1, alpha=1e-3)


def links(model):
    return Case(model, X, LINKS, NEW, asks=("pair_scores",))


def curves(model):
    return Case(model, INPUT_CURVES, CURVES, NEW_CURVES)


CASES = {
    "SplitConformalBand": Case(
        baselines.SplitConformalBand(_SMALL, level=0.8, random_state=0), X, CURVES, NEW, asks=("predict_band",)
    ),
    "FunctionalKernelRidge": Case(baselines.FunctionalKernelRidge(), X, CURVES, NEW),
    "FunctionalNadarayaWatson": Case(baselines.FunctionalNadarayaWatson(), X, CURVES, NEW),
    "KernelAdditiveRegressor": curves(baselines.KernelAdditiveRegressor(alpha=1e-3)),
    "TripleBasisRegressor": curves(
        baselines.TripleBasisRegressor(input_basis=spaces.Fourier(3), n_features=30, random_state=0)
    ),
    "KernelDependencyEstimation": Case(
        baselines.KernelDependencyEstimation(output_kernel=kernels.NGrams(2)), X, WORDS, NEW
    ),
    "RobustNadarayaWatson": Case(
        baselines.RobustNadarayaWatson(output_loss=output_losses.Cauchy(0.4)), X, NUMBERS, NEW
    ),
    "StructuredSVM": Case(baselines.StructuredSVM(random_state=0, alpha=0.1), X, LABEL_SETS.astype(float), NEW),
    "PairwiseRanker": Case(baselines.PairwiseRanker(), X, RATINGS, NEW),
    "EMKernelCompletion": links(baselines.EMKernelCompletion(model="spectral")),
    "KernelCCALinks": links(baselines.KernelCCALinks(n_components=5)),
    "KernelMatrixRegression": links(baselines.KernelMatrixRegression()),
    "KernelMetricLearning": links(baselines.KernelMetricLearning(n_components=3)),
    "LocalLinkModel": links(baselines.LocalLinkModel()),
    "NaiveLinkPredictor": links(baselines.NaiveLinkPredictor()),
}
