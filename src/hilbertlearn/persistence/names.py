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
    "_utils.linalg": "Kronecker Spectrum",
    "data.frames": "FrameForm",
    "data.functions.containers": "FunctionOutputs GridFunctions IrregularFunctions Layout",
    "data.objects": "ObjectList StructuredOutputs",
    "data.graphs.known": "KnownGraph",
    "data.graphs.pairs": "Pairs",
    "data.graphs.similarities": "FactoredMatrix FactoredSum",
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
    "losses.pinball": "NonCrossingPinball Pinball",
    "losses.pnorm": "EpsilonInsensitive Huber",
    "losses.radial": "Ball EpsilonSVR ExpNorm LogNorm Norm PowerNorm Squared",
    "losses.convolution": "InfConv",
    "output_losses.base": "LossMultiple LossSum",
    "output_losses.costs": "CostMatrix Hierarchy",
    "output_losses.directions": "Diffusion",
    "output_losses.histograms": "Chi2 Hellinger Wasserstein1d",
    "output_losses.objects": "CustomLoss Edit KernelLoss ZeroOne",
    "output_losses.rankings": "Kendall Rank Spearman",
    "output_losses.scalars": "Absolute EpsilonAbsolute Huber Pinball SquaredError",
    "output_losses.robust": "Cauchy Fair GemanMcClure L2L1",
    "output_losses.margins": "Hinge Logistic",
    "output_losses.sets": "F1 Hamming Jaccard",
    "spaces.atoms": "AtomUnion Atoms Bumps CallableAtoms Eigenfunctions LinearInterpolants RescaledBasis Splines "
    "TrigonometricFunctions Wavelets",
    "spaces.axis": "BasisAxis GridAxis",
    "spaces.base": "FixedSpace MeanSmoother",
    "spaces.dictionaries": "BSpline Fourier PrincipalComponents Wavelet _BasisUnion _CallableBasis _ScikitFdaBasis",
    "spaces.functional": "FunctionSpace",
    "spaces.quantile": "QuantileSpace",
    "spaces.sampling": "Sampling",
    "spaces.settings": "Dictionary Eigen Grid",
    "spaces.structured": "KernelSpace LossSpace OutputKernel ProbeSpace WeightSpace",
    "spaces.vector": "MetricVectorSpace VectorSpace",
    "core.terms.base": "LinearPredictor SumTerm",
    "core.terms.deformed": "DeformedFeatureKernel DeformedGram DeformedKernel FixedRatioGram",
    "core.terms.eigenspaces": "EigenspaceFactors EigenspaceTerm",
    "core.terms.factors": "CholeskyFactors InverseFactors PenaltyInterpolator SpectralFactors",
    "core.terms.features": "FeatureCholeskyFactors FeatureGram FeatureSpectralFactors",
    "core.terms.block": "BlockInverseFactors BlockPredictor BlockSpectralFactors BlockTerm",
    "core.terms.gram": "DenseGram",
    "core.terms.padded": "ConstantTerm PaddedFactors PaddedTerm _ConstantFactors",
    "core.terms.patterns": "MissingPattern PatternFactors PatternTerm",
    "core.terms.rank_one": "FamilyGram FamilyPredictor FamilyTerm RankOnePredictor RankOneTerm",
    "core.terms.refined": "RefinedFactors RefinedGram",
    "core.terms.sampled": "SampledTerm ScatteredFactors",
    "core.terms.separable": "SeparableTerm",
    "training.moments": "Moments Solved",
    "training.samples": "Encoded Recipe Samples",
    "leave_one_out.models": "LeaveOneOutModels",
    "leave_one_out.reservoir": "Reservoir",
    "selection.automatic": "Selection",
    "selection.feature_search": "Approximation FeatureSearchResult",
    "selection.search": "ErrorCurve SearchResult",
    "selection.stream_settings": "StreamSettings",
    "selection.trials": "Trial",
    "metrics.scorers": "FunctionalScorer",
    "autoencoder.estimator": "KernelAutoencoder",
    "machine.batch_state": "Accumulated FixedSettings StreamState",
    "links.combination": "Combination",
    "links.embedders": "MachineEmbedder MachineEmbedding RegressorEmbedder RegressorEmbedding",
    "functional": "FunctionalRegressor FunctionalState",
    "machine.inspected": "Inspected",
    "autoencoder.layers": "InnerKernel Network",
    "links.selection": "LinkSearch",
    "links.folds": "LinkFolds PairExamples",
    "links.inputs": "Nodes",
    "links.state": "GraphEmbedding LinkState ScoreSelection",
    "links.predictor": "LinkPredictor",
    "links.pair_scores": "AllPairScores KernelScores PairScores ScoreMatrix SingleScore UnknownPairScores",
    "structured.candidate_pools": "CandidatePool",
    "quantile.regressor": "QuantileRegressor",
    "quantile.independent_outputs": "SideBySide",
    "machine.state": "Expansion LeftOut ModelsWithoutOne RegressorState State",
    "structured.predictor": "StructuredPredictor",
    "structured.state": "LossTrickState OutputRules StructuredState",
    "vector": "OperatorKernelRegressor",
    "structured.weights": "OutputWeights RidgeWeights",
    "papers.baselines.bands": "SplitConformalBand",
    "papers.baselines.functional": "FourierFeatureRidge FunctionalKernelRidge FunctionalNadarayaWatson "
    "KernelAdditiveRegressor LocalMeans TripleBasisRegressor",
    "papers.baselines.link_kernels": "EMKernelCompletion KernelCCALinks KernelMatrixRegression",
    "papers.baselines.links": "KernelMetricLearning LocalLinkModel NaiveLinkPredictor",
    "papers.baselines.ranking": "PairwiseRanker",
    "papers.baselines.structured": "KernelDependencyEstimation RobustNadarayaWatson",
    "papers.baselines.structured_svm": "StructuredSVM",
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
    "app.tabular.inputs": "InputEncoding",
    "app.tabular.model": "TabularModel",
}

# names in files of earlier versions: names now
FORMER: dict[str, str] = {
    "data.Curves": "data.GridFunctions",
    "data.Functions": "data.FunctionOutputs",
    "data.Objects": "data.ObjectList",
    "data.Outputs": "data.StructuredOutputs",
    "data.Product": "data.FactoredMatrix",
    "data.Sum": "data.FactoredSum",
    "spaces.Checked": "spaces.CallableAtoms",
    "spaces.Given": "spaces.FixedSpace",
    "spaces.Interpolated": "spaces.LinearInterpolants",
    "spaces.Levels": "spaces.QuantileSpace",
    "spaces.Metric": "spaces.MetricVectorSpace",
    "spaces.OnUnit": "spaces.RescaledBasis",
    "spaces.Smoothed": "spaces.MeanSmoother",
    "spaces.Stacked": "spaces.AtomUnion",
    "spaces.Trigonometric": "spaces.TrigonometricFunctions",
    "spaces.Vector": "spaces.VectorSpace",
    "spaces._Function": "spaces._CallableBasis",
    "spaces._ScikitFda": "spaces._ScikitFdaBasis",
    "spaces._Union": "spaces._BasisUnion",
    "core.AtRatio": "core.FixedRatioGram",
    "core.ByInverse": "core.BlockInverseFactors",
    "core.ByPattern": "core.PatternTerm",
    "core.BySpectrum": "core.BlockSpectralFactors",
    "core.Cholesky": "core.CholeskyFactors",
    "core.Constant": "core.ConstantTerm",
    "core.Deformed": "core.DeformedKernel",
    "core.DeformedFeatures": "core.DeformedFeatureKernel",
    "core.Directions": "core.EigenspaceFactors",
    "core.FamilyTerms": "core.FamilyTerm",
    "core.FeatureCholesky": "core.FeatureCholeskyFactors",
    "core.FeatureSpectral": "core.FeatureSpectralFactors",
    "core.General": "core.BlockTerm",
    "core.Inverse": "core.InverseFactors",
    "core.Padded": "core.PaddedTerm",
    "core.Pattern": "core.MissingPattern",
    "core.PerDirection": "core.EigenspaceTerm",
    "core.RankOneTerms": "core.RankOneTerm",
    "core.Refined": "core.RefinedFactors",
    "core.Sampled": "core.SampledTerm",
    "core.Scattered": "core.ScatteredFactors",
    "core.Separable": "core.SeparableTerm",
    "core.SmoothInPenalty": "core.PenaltyInterpolator",
    "core.Spectral": "core.SpectralFactors",
    "core.Sum": "core.SumTerm",
    "losses.Ordered": "losses.NonCrossingPinball",
    "output_losses.Custom": "output_losses.CustomLoss",
    "output_losses.Scaled": "output_losses.LossMultiple",
    "output_losses.Sum": "output_losses.LossSum",
    "links.Alone": "links.SingleScore",
    "links.FittedMachine": "links.MachineEmbedding",
    "links.FittedRegression": "links.RegressorEmbedding",
    "links.HeldOut": "links.PairExamples",
    "links.KernelValues": "links.KernelScores",
    "links.LinkChoice": "links.LinkSearch",
    "links.Machine": "links.MachineEmbedder",
    "links.Matrix": "links.ScoreMatrix",
    "links.OutputKernel": "links.GraphEmbedding",
    "links.Quadrants": "links.AllPairScores",
    "links.Regression": "links.RegressorEmbedder",
    "links.Unsettled": "links.UnknownPairScores",
    "links.Wanted": "links.ScoreSelection",
    "structured.LaterState": "structured.LossTrickState",
    "structured.Pool": "structured.CandidatePool",
    "selection.Choice": "selection.Selection",
    "selection.Curve": "selection.ErrorCurve",
    "selection.Decided": "selection.StreamSettings",
    "selection.Found": "selection.SearchResult",
    "selection.OnFeatures": "selection.FeatureSearchResult",
    "selection.Reservoir": "leave_one_out.Reservoir",
    "selection.WithoutOne": "leave_one_out.LeaveOneOutModels",
}

# attributes of classes in files of earlier versions: names now; they hold for subclasses too
FORMER_ATTRIBUTES: dict[str, dict[str, str]] = {
    "core.EigenspaceTerm": {"error": "_error"},
    "data.StructuredOutputs": {"whole": "all_known"},
    "machine.Inspected": {"beyond": "outside_values", "places": "observation_points"},
    "spaces.BasisAxis": {"on_grid": "grid_values"},
    "spaces.KernelSpace": {"whole": "is_complete"},
    "machine.State": {"choice": "search_results", "untrusted": "screened"},
    "machine.StreamState": {"choice": "search_results"},
    "training.Samples": {"untrusted": "screened"},
}

HOMES = {f"{module.split('.')[0]}.{name}": module for module, names in CLASSES.items() for name in names.split()}


def own_name(cls: type) -> str | None:
    """The name of a class of the package in files, None if it is not in the table."""
    package, _, module = cls.__module__.partition(".")
    name = f"{module.split('.')[0]}.{cls.__qualname__}"
    return name if package == PACKAGE and HOMES.get(name) == module else None


def current_attributes(cls: type, attributes: dict) -> dict:
    """Attributes from a file under the names that the class has for them now."""
    names: dict[str, str] = {}
    for base in cls.__mro__:
        names |= FORMER_ATTRIBUTES.get(own_name(base) or "", {})
    return {names.get(name, name): value for name, value in attributes.items()}


def own_class(name: str) -> type | None:
    """The class behind a name, None if it is not in the table."""
    name = FORMER.get(name, name)
    if name not in HOMES:
        return None
    return getattr(importlib.import_module(f"{PACKAGE}.{HOMES[name]}"), name.split(".")[1])
