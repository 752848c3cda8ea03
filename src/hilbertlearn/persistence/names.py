"""The closed table of the package's classes whose objects a file may hold.

A file names them by room and class, "losses.Huber", wherever in the room the class is. To make objects of another
class storable, add its name under its module here, and no more (``TabularModel`` is the line ``"tabular.model":
"TabularModel"``): attributes, or fields, are found by themselves. A class that is renamed, or moves to another room,
keeps its name in files by an entry in ``FORMER``.
"""

from __future__ import annotations

import importlib

PACKAGE = __package__.split(".")[0]

CLASSES = {
    "_linalg": "Kronecker Spectrum",
    "frames": "FrameForm",
    "functions.containers": "Curves Functions IrregularFunctions Layout",
    "outputs": "Objects Outputs",
    "graphs.known": "KnownGraph",
    "graphs.pairs": "Pairs",
    "graphs.similarities": "Product Sum",
    "kernels.columns": "Categorical ColumnKernels Columns Part",
    "kernels.embedding": "Components",
    "kernels.family": "Best Family",
    "kernels.functional": "Additive ChannelSum IntegratedKernel L2",
    "kernels.gram": "InputKernel",
    "kernels.graph": "Affinity",
    "kernels.metric": "Metric",
    "kernels.objects": "Matern NGrams Named Pairwise Precomputed Tanimoto TanimotoGaussian",
    "kernels.output_built": "Families OutputBuilt",
    "kernels.tables": "Table",
    "kernels.vector_fields": "CurlFree DivergenceFree Helmholtz OperatorValued",
    "features.kernel": "FeatureKernel FittedTransformer OfTransformer",
    "features.landmarks": "LandmarkMap Landmarks",
    "features.random": "RandomFeatures RandomMap",
    "features.transformed": "Transformed TransformedMap",
    "operators.products": "BetweenLevels PerAxis",
    "operators.settings": "Covariance Decay Identity Integral Learned TaskGraph",
    "losses.margin": "Hinge",
    "losses.pinball": "Ordered Pinball",
    "losses.pnorm": "EpsilonInsensitive Huber",
    "losses.radial": "Ball EpsilonSVR ExpNorm LogNorm Norm PowerNorm Squared",
    "losses.convolution": "InfConv",
    "output_losses.base": "Scaled Sum",
    "output_losses.costs": "CostMatrix Hierarchy",
    "output_losses.directions": "Diffusion",
    "output_losses.histograms": "Chi2 Hellinger Wasserstein1d",
    "output_losses.objects": "Custom Edit KernelLoss ZeroOne",
    "output_losses.rankings": "Kendall Rank Spearman",
    "output_losses.scalars": "Absolute EpsilonAbsolute Huber Pinball SquaredError",
    "output_losses.robust": "Cauchy Fair GemanMcClure L2L1",
    "output_losses.margins": "Hinge Logistic",
    "output_losses.sets": "F1 Hamming Jaccard",
    "spaces.atoms": "Atoms Bumps Checked Eigenfunctions Interpolated OnUnit Splines Stacked Trigonometric Wavelets",
    "spaces.axis": "BasisAxis GridAxis",
    "spaces.base": "Given Smoothed",
    "spaces.dictionaries": "BSpline Fourier PrincipalComponents Wavelet _Function _ScikitFda _Union",
    "spaces.functional": "FunctionSpace",
    "spaces.levels": "Levels",
    "spaces.sampling": "Sampling",
    "spaces.settings": "Dictionary Eigen Grid",
    "spaces.structured": "KernelSpace LossSpace OutputKernel ProbeSpace WeightSpace",
    "spaces.vector": "Metric Vector",
    "terms.base": "LinearPredictor Sum",
    "terms.deformed": "AtRatio Deformed DeformedFeatures DeformedGram",
    "terms.directions": "Directions PerDirection",
    "terms.factors": "Cholesky Inverse SmoothInPenalty Spectral",
    "terms.features": "FeatureCholesky FeatureGram FeatureSpectral",
    "terms.general": "BlockPredictor ByInverse BySpectrum General",
    "terms.gram": "DenseGram",
    "terms.padded": "Constant Padded PaddedFactors _ConstantFactors",
    "terms.patterns": "ByPattern Pattern PatternFactors",
    "terms.rank_one": "FamilyGram FamilyPredictor FamilyTerms RankOnePredictor RankOneTerms",
    "terms.refined": "Refined RefinedGram",
    "terms.sampled": "Sampled Scattered",
    "terms.separable": "Separable",
    "training.moments": "Moments Solved",
    "training.samples": "Encoded Recipe Samples",
    "held_out.choice": "Choice",
    "held_out.first_rows": "Decided",
    "held_out.loo": "WithoutOne",
    "held_out.on_features": "Approximation OnFeatures",
    "held_out.reservoir": "Reservoir",
    "held_out.search": "Curve Found",
    "held_out.trials": "Trial",
    "metrics.scorers": "FunctionalScorer",
    "estimators.autoencoder": "KernelAutoencoder",
    "estimators.batch_state": "Accumulated FixedSettings StreamState",
    "estimators.combination": "Combination",
    "estimators.embedders": "FittedMachine FittedRegression Machine Regression",
    "estimators.functional": "FunctionalRegressor FunctionalState",
    "estimators.inspected": "Inspected",
    "estimators.layers": "InnerKernel Network",
    "estimators.link_choice": "LinkChoice",
    "estimators.link_folds": "HeldOut LinkFolds",
    "estimators.link_inputs": "Nodes",
    "estimators.link_state": "LinkState OutputKernel Wanted",
    "estimators.links": "LinkPredictor",
    "estimators.pair_scores": "Alone KernelValues Matrix PairScores Quadrants Unsettled",
    "estimators.pools": "Pool",
    "estimators.quantile": "QuantileRegressor",
    "estimators.side_by_side": "SideBySide",
    "estimators.state": "Expansion LeftOut ModelsWithoutOne RegressorState State",
    "estimators.structured": "StructuredPredictor",
    "estimators.structured_state": "LaterState OutputRules StructuredState",
    "estimators.vector": "OperatorKernelRegressor",
    "estimators.weights": "OutputWeights RidgeWeights",
    "baselines.bands": "SplitConformalBand",
    "baselines.functional": "FourierFeatureRidge FunctionalKernelRidge FunctionalNadarayaWatson "
    "KernelAdditiveRegressor LocalMeans TripleBasisRegressor",
    "baselines.link_kernels": "EMKernelCompletion KernelCCALinks KernelMatrixRegression",
    "baselines.links": "KernelMetricLearning LocalLinkModel NaiveLinkPredictor",
    "baselines.ranking": "PairwiseRanker",
    "baselines.structured": "KernelDependencyEstimation RobustNadarayaWatson",
    "baselines.structured_svm": "StructuredSVM",
    "model_selection.edges": "EdgeSplit",
    "model_selection.path": "RegularizationPathCV",
    "conformal.calibration": "Calibration",
    "conformal.candidate_scores": "Cumulative Gap Likelihood Loss Objective Rank",
    "conformal.candidates": "CandidateCalibration",
    "conformal.leaving_out": "Data Refits WithoutEach",
    "conformal.links": "Curve HeldOutLinks LinkCalibration",
    "conformal.masses": "Masses",
    "conformal.near_best": "WeightedLoss",
    "conformal.objects": "Judge ObjectData ObjectsWithoutEach RefittedObjects",
    "conformal.observed": "AtOwnPoints Rows",
    "conformal.outputs": "OutputForm",
    "conformal.predictor": "ConformalPredictor",
    "conformal.quantiles": "QuantileCalibration QuantileForm Quantiles",
    "conformal.scores": "Mahalanobis MaxScaled",
    "conformal.wrapped": "KernelMachineBehind",
    "tabular.inputs": "InputEncoding",
    "tabular.model": "TabularModel",
}

FORMER: dict[str, str] = {}  # names in files of earlier versions: names now

HOMES = {f"{module.split('.')[0]}.{name}": module for module, names in CLASSES.items() for name in names.split()}


def own_name(cls: type) -> str | None:
    """The name of a class of the package in files, None if it is not in the table."""
    package, _, module = cls.__module__.partition(".")
    name = f"{module.split('.')[0]}.{cls.__qualname__}"
    return name if package == PACKAGE and HOMES.get(name) == module else None


def own_class(name: str) -> type | None:
    """The class behind a name, None if it is not in the table."""
    name = FORMER.get(name, name)
    if name not in HOMES:
        return None
    return getattr(importlib.import_module(f"{PACKAGE}.{HOMES[name]}"), name.split(".")[1])
