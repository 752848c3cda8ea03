"""The closed table of classes whose objects model files hold: their names in files do not change, none is forgotten."""

import importlib
import inspect
import pkgutil

from sklearn.utils import all_estimators

import hilbertlearn
from hilbertlearn.persistence import packages
from hilbertlearn.persistence.names import CLASSES, FORMER, HOMES, own_class, own_name

# names in files: a name that is not here any more makes files unreadable, unless FORMER has it

# rooms of which no object is stored, and classes of the others: bases, and what is gone when fit or predict ends
NO_STATE = ["_progress", "bounds", "cli", "datasets", "persistence", "plotting", "problem", "report", "solvers"]
NOT_STORED = {
    "_utils.callbacks": "Watched _Task",
    "_utils.facts": "WithFacts",
    "_utils.fitting": "where",
    "_utils.sums": "kept",
    "papers.baselines.functional": "_NamedSetting",
    "papers.baselines.link_kernels": "OutputKernelBaseline",
    "papers.baselines.links": "LinkBaseline",
    "papers.baselines.ranking": "_Pairs",
    "papers.baselines.structured_svm": "LinearScores _SetDual",
    "conformal.given_scores": "PositionSets",
    "conformal.links": "PartnerSets",
    "conformal.regions": "Region Box Band Ellipsoid",
    "conformal.set_predictor": "SetPredictor",
    "conformal.sets": "CandidateSets Balls",
    "decoders.candidates": "Best",
    "decoders.simplex": "_Piecewise",
    "machine.distributed.blocks": "Blocks named_block",
    "machine.distributed.fit": "Found",
    "machine.distributed.meeting": "Interrupted Meeting",
    "machine.distributed.parts": "Reader Job",
    "machine.distributed.run": "Outcome _News _Turns",
    "machine.base": "KernelMachine",
    "machine.batches": "InBatches _Block",
    "structured.candidate_streams": "Stream",
    "machine.fitted": "FittedMachine OnGrid",
    "links.fitted": "FittedLinks _Asked",
    "autoencoder.layers": "Unsound Evaluation",
    "links.left_out": "LeftOut Candidate",
    "links.selection": "_Error",
    "links.inputs": "LinkEstimator",
    "machine.named_settings": "NamedSettings",
    "machine.on_workers": "_Checks InBlocks",
    "structured.output_scores": "OutputScores",
    "links.top_pairs": "TopPairs _Excluded",
    "features.moving": "_Left",
    "features.selection": "Candidates Pool",
    "data.graphs.known": "_Read",
    "selection.criterion": "Criterion Norms",
    "selection.folds": "Folds",
    "selection.levels": "SpaceOfLevels _Couplings",
    "selection.pairs": "_Sums _Pairs",
    "selection.rates": "_Seen",
    "selection.reservoir": "_Judged",
    "selection.rounds": "_Folds",
    "selection.search": "_Look",
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
    "data.streams.arrays": "ArraySource",
    "data.streams.base": "Batch",
    "data.streams.iterables": "IterableSource",
    "data.streams.parquet": "ParquetSource",
    "data.streams.store": "BlockStore",
    "app.tabular.files": "TableError",
    "app.tabular.long": "LongTable",
    "app.tabular.peers": "Numbers Curves IrregularCurves Rankings LabelSets Classes QuantileLevels _EachLevel",
    "app.tabular.tasks": "Vector Functional Quantiles Objects Ranking Multilabel Structured",
    "core.terms.build": "TrainingOutputs",
    "core.terms.feature_blocks": "BlockGram",
    "core.terms.sampled": "Krylov",
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


def test_every_name_is_that_of_one_class():
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
