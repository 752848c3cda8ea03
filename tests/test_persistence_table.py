"""The closed table of classes whose objects model files hold: their names in files do not change, none is forgotten."""

import importlib
import inspect
import pkgutil

from sklearn.utils import all_estimators

import hilbertlearn
from hilbertlearn.persistence import packages
from hilbertlearn.persistence.names import CLASSES, FORMER, HOMES, own_class, own_name

# names in files: a name that is not here any more makes files unreadable, unless FORMER has it
STORED = {
    "_linalg": "Kronecker Spectrum",
    "baselines": "EMKernelCompletion FourierFeatureRidge FunctionalKernelRidge FunctionalNadarayaWatson "
    "KernelAdditiveRegressor KernelCCALinks KernelDependencyEstimation KernelMatrixRegression "
    "KernelMetricLearning LocalLinkModel LocalMeans NaiveLinkPredictor PairwiseRanker "
    "RobustNadarayaWatson SplitConformalBand StructuredSVM TripleBasisRegressor",
    "conformal": "AtOwnPoints Calibration CandidateCalibration ConformalPredictor Cumulative Curve Data Gap "
    "HeldOutLinks Judge KernelMachineBehind Likelihood LinkCalibration Loss Mahalanobis Masses "
    "MaxScaled ObjectData Objective ObjectsWithoutEach OutputForm QuantileCalibration "
    "QuantileForm Quantiles Rank Refits RefittedObjects Rows WeightedLoss WithoutEach",
    "estimators": "Accumulated Alone Combination Expansion FittedMachine FittedRegression FixedSettings "
    "FunctionalRegressor FunctionalState HeldOut InnerKernel Inspected KernelAutoencoder "
    "KernelValues LaterState LeftOut LinkChoice LinkFolds LinkPredictor LinkState Machine "
    "Matrix ModelsWithoutOne Network Nodes OperatorKernelRegressor OutputKernel OutputRules "
    "OutputWeights PairScores Pool Quadrants QuantileRegressor Regression RegressorState "
    "RidgeWeights SideBySide State StreamState StructuredPredictor StructuredState Unsettled "
    "Wanted",
    "features": "FeatureKernel FittedTransformer LandmarkMap Landmarks OfTransformer RandomFeatures "
    "RandomMap Transformed TransformedMap",
    "frames": "FrameForm",
    "functions": "Curves Functions IrregularFunctions Layout",
    "graphs": "KnownGraph Pairs Product Sum",
    "held_out": "Approximation Choice Curve Decided Found OnFeatures Reservoir Trial WithoutOne",
    "kernels": "Additive Affinity Best Categorical ChannelSum ColumnKernels Columns Components CurlFree "
    "DivergenceFree Families Family Helmholtz InputKernel IntegratedKernel L2 Matern Metric "
    "NGrams Named OperatorValued OutputBuilt Pairwise Part Precomputed Table Tanimoto TanimotoGaussian",
    "losses": "Ball EpsilonInsensitive EpsilonSVR ExpNorm Hinge Huber InfConv LogNorm Norm Ordered "
    "Pinball PowerNorm Squared",
    "metrics": "FunctionalScorer",
    "model_selection": "EdgeSplit RegularizationPathCV",
    "operators": "BetweenLevels Covariance Decay Identity Integral Learned PerAxis TaskGraph",
    "output_losses": "Absolute Cauchy Chi2 CostMatrix Custom Diffusion Edit EpsilonAbsolute F1 Fair GemanMcClure "
    "Hamming Hellinger Hierarchy Hinge Huber Jaccard Kendall KernelLoss L2L1 Logistic Pinball "
    "Rank Scaled Spearman SquaredError Sum Wasserstein1d ZeroOne",
    "outputs": "Objects Outputs",
    "spaces": "Atoms BSpline BasisAxis Bumps Checked Dictionary Eigen Eigenfunctions Fourier "
    "FunctionSpace Given Grid GridAxis Interpolated KernelSpace Levels LossSpace Metric OnUnit "
    "OutputKernel PrincipalComponents ProbeSpace Sampling Smoothed Splines Stacked "
    "Trigonometric Vector Wavelet Wavelets WeightSpace _Function _ScikitFda _Union",
    "tabular": "InputEncoding TabularModel",
    "terms": "AtRatio BlockPredictor ByInverse ByPattern BySpectrum Cholesky Constant Deformed "
    "DeformedFeatures DeformedGram DenseGram Directions FamilyGram FamilyPredictor FamilyTerms "
    "FeatureCholesky FeatureGram FeatureSpectral General Inverse LinearPredictor Padded "
    "PaddedFactors Pattern PatternFactors PerDirection RankOnePredictor RankOneTerms Refined "
    "RefinedGram Sampled Scattered Separable SmoothInPenalty Spectral Sum _ConstantFactors",
    "training": "Encoded Moments Recipe Samples Solved",
}

# rooms of which no object is stored, and classes of the others: bases, and what is gone when fit or predict ends
NO_STATE = ["_progress", "bounds", "cli", "datasets", "persistence", "plotting", "problem", "report", "solvers"]
NOT_STORED = {
    "_callbacks": "Watched _Task",
    "_facts": "WithFacts",
    "_fitting": "where",
    "_sums": "kept",
    "baselines.functional": "_NamedSetting",
    "baselines.link_kernels": "OutputKernelBaseline",
    "baselines.links": "LinkBaseline",
    "baselines.ranking": "_Pairs",
    "baselines.structured_svm": "LinearScores _SetDual",
    "conformal.given_scores": "PositionSets",
    "conformal.links": "PartnerSets",
    "conformal.regions": "Region Box Band Ellipsoid",
    "conformal.set_predictor": "SetPredictor",
    "conformal.sets": "CandidateSets Balls",
    "decoders.candidates": "Best",
    "decoders.simplex": "_Piecewise",
    "distributed.blocks": "Blocks named_block",
    "distributed.fit": "Found",
    "distributed.meeting": "Interrupted Meeting",
    "distributed.parts": "Reader Job",
    "distributed.run": "Outcome _News _Turns",
    "estimators.base": "KernelMachine",
    "estimators.batches": "InBatches _Block",
    "estimators.candidate_streams": "Stream",
    "estimators.fitted": "FittedMachine OnGrid",
    "estimators.fitted_links": "FittedLinks _Asked",
    "estimators.layers": "Unsound Evaluation",
    "estimators.left_out": "LeftOut Candidate",
    "estimators.link_choice": "_Error",
    "estimators.link_inputs": "LinkEstimator",
    "estimators.named": "NamedSettings",
    "estimators.on_workers": "_Checks InBlocks",
    "estimators.output_scores": "OutputScores",
    "estimators.top_pairs": "TopPairs _Excluded",
    "features.moving": "_Left",
    "features.selection": "Candidates Pool",
    "graphs.known": "_Read",
    "held_out.criterion": "Criterion Norms",
    "held_out.folds": "Folds",
    "held_out.levels": "SpaceOfLevels _Couplings",
    "held_out.pairs": "_Sums _Pairs",
    "held_out.rates": "_Seen",
    "held_out.reservoir": "_Judged",
    "held_out.rounds": "_Folds",
    "held_out.search": "_Look",
    "inspection": "Table",
    "kernels.family": "SharedDistances",
    "kernels.functional": "CurveKernel",
    "kernels.stationary": "Bandwidth",
    "losses.base": "Loss",
    "losses.margin": "_Box",
    "losses.pnorm": "_PNormLoss",
    "losses.radial": "_Scaled",
    "metrics.links": "_Ordered",
    "metrics.robustness": "RobustnessRatio",
    "metrics.scorers": "_Predicted",
    "metrics.vector": "Observed",
    "model_selection.path": "_HeldOut",
    "output_losses.base": "OutputLoss _Combined",
    "output_losses.histograms": "_Histograms",
    "output_losses.rankings": "_Rankings _Permutations",
    "output_losses.margins": "_MarginLoss",
    "output_losses.robust": "_ScaledLoss",
    "output_losses.scalars": "ScalarLoss ResidualLoss",
    "output_losses.sets": "_LabelSets",
    "spaces.base": "Space",
    "streams.arrays": "ArraySource",
    "streams.base": "Batch",
    "streams.iterables": "IterableSource",
    "streams.parquet": "ParquetSource",
    "streams.store": "BlockStore",
    "tabular.files": "TableError",
    "tabular.long": "LongTable",
    "tabular.peers": "Numbers Curves IrregularCurves Rankings LabelSets Classes QuantileLevels _EachLevel",
    "tabular.tasks": "Vector Functional Quantiles Objects Ranking Multilabel Structured",
    "terms.build": "TrainingOutputs",
    "terms.feature_blocks": "BlockGram",
    "terms.sampled": "Krylov",
    "training.constant": "_Certificate",
    "training.data": "Training",
    "training.fit": "Fit Options",
    "training.moments": "MomentProblem PatternProblem",
}


def own_classes():
    for module in pkgutil.walk_packages(hilbertlearn.__path__, "hilbertlearn."):
        if module.name.split(".")[1] not in NO_STATE:
            for cls in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(cls) and cls.__module__ == module.name and not inspect.isabstract(cls):
                    yield module.name.partition(".")[2], cls


def test_names_in_files_do_not_change():
    frozen = {f"{room}.{name}" for room, names in STORED.items() for name in names.split()}
    assert frozen <= set(HOMES) | set(FORMER)
    assert set(HOMES) == frozen, "add the new names to STORED"
    assert len(HOMES) == sum(len(names.split()) for names in CLASSES.values()), "one name for two classes"
    assert set(FORMER.values()) <= set(HOMES)


def test_every_class_is_in_the_table_or_known_not_to_be():
    for module, cls in own_classes():
        stored, known = own_name(cls) is not None, cls.__name__ in NOT_STORED.get(module, "").split()
        assert stored or known, f"{module} {cls.__name__} is neither in persistence.names nor in NOT_STORED"
        assert not (stored and known), f"take {module} {cls.__name__} out of NOT_STORED"


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
