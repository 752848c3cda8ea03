"""Prediction sets with guaranteed coverage around any estimator: split conformal, cv+ and jackknife+.

Decisions
---------
*Strategies.* ``OutputSets`` (``output_sets.py``) is what ``ConformalPredictor.fit`` learns. Its subclasses serve one
kind of output each: ``RowSets`` numbers, vectors and curves (``rows.py``), ``QuantileSets`` estimators that predict
quantiles (``quantiles.py``), ``ObjectSets`` structured objects (``objects.py``), ``LinkSets`` links of graphs
(``links.py``). An estimator names its strategy by the class attribute ``conformal_strategy``: "rows" (the default, for
estimators without it), "quantiles" (it then has ``levels``), "objects" or "links". In a pipeline or a search the
estimator inside decides. ``predictor.STRATEGIES`` maps names to classes. A prediction method exists only where
``OutputSets.methods`` lists it; the AttributeError of a missing one lists them. ``score`` is a constructor
parameter, so there is no method of that name: scikit-learn's tools need ``scoring=``.

*A strategy* has three parts. *Models*: K models without some samples each, and which of them leaves out calibration
sample i (``row_models``, ``object_models``, ``link_calibration.LinkModels``). Split is one model, cv+ one per fold,
jackknife+ one per sample, in closed form where ``wrapped.ClosedFormMachine`` finds one. *Score*: a setting that turns
outputs into numbers (``scores``, ``candidate_scores``). *Calibration*: the scores of the calibration samples, and the
sets that conform to them (``calibration``, ``candidate_calibration``, ``link_calibration``). ``ConformalSettings`` are
the checked constructor parameters; ``wrapped.py`` is the only module that calls methods which estimators have for
wrappers.

*Leave-one-out in closed form.* Residuals come from the factors of the fit. The first prediction computes factors again
from the samples, so that neither pickles nor model files hold a matrix of the size of the kernel matrix, and
predictions after loading are the same to the last bit. Transformers before the machine count as fixed only if they give
the same rows for parts of the samples (``wrapped.learn_from_inputs``).

*Settings of few samples.* The settings that are best for n samples fit each of them too well: with 20 to 50 samples,
and six kinds of noise, leave-one-out models with the settings of all samples covered 0.46 to 0.51 at level 0.5, 0.76 to
0.79 at 0.8 and 0.86 to 0.89 at 0.9. Up to 300 samples the settings of the model without i are selected without its
fold, one of five, and the model is still one of n - 1 samples in closed form (``fold_settings``,
``FoldedLeaveOneOut``). It costs five selections. Coverage is then that of the best settings, and widths are at most
1.12 times theirs (1.19 with 20 samples); "cv+" with ten folds, each with its own selection, has intervals that are 5 to
7 % wider, because its models have a tenth of the samples less. Ten folds in place of five change coverages and widths
by less than 0.01. Folds are formed by value, as groups of scales are, so that sets depend neither on the order of the
samples nor on a seed. With 300 samples one selection costs 0.002 to 0.013 of the coverage, with 500 at most 0.006. A
learnt metric has many more numbers, and is learnt without each fold whatever n is: once for 450 samples of 20 inputs,
sets of level 0.9 covered 0.84 to 0.90, for 1000 0.86. Only folds of one sample each make these the models of jackknife+
by refits; with five folds its bound is not proven, and its coverage is measured. Where outputs have gaps, all folds
keep the operator of all samples: others have no closed form.

*One decision.* ``wrapped.closed_form_obstacle`` says whether leave-one-out models have a closed form, and why not;
the state of the kernel machine answers for itself. ``OutputSets.selection`` says how settings were selected.

*Refits* select all settings from their own part. The exception is ``method="auto"`` with more than 300 samples and a
loss without closed form: its folds share kernel values and the settings selected from all samples, as the closed form
does. With 30 samples and Huber's loss such folds cover 0.48, 0.78 and 0.89 at the levels 0.5, 0.8 and 0.9. So up to
300 samples each of the ten folds searches kernels and alpha, nearly all of its time: 150 curves with Huber's loss took
nine to twelve times the fit. Five folds take half of that, but models of four fifths of the samples have sets that are
too large. Measured in 40 draws of 50 samples with three outputs and Huber's loss, at the levels 0.8 and 0.9: ten folds
cover 0.812 and 0.910 (standard errors 0.006 and 0.004), five cover 0.826 and 0.916, with intervals that are 4 % wider.
``cv=5`` chooses them.

*Scales* of residuals come from the training samples of a model, never from its calibration samples; the guarantee
rests on that. They use leave-one-out residuals where these have a closed form, and residuals of the fit otherwise. For
the model without i these are residuals of pairs left out, up to 200 samples; beyond, leave-one-out residuals of other
tenths of the samples, which are drawn by value and not by position. Scores learn in units of the outputs, so that
regions have the units of each output. The default scale of functions is smoothed over 2 % of their domain: bands are up
to 3 % narrower where the noise is even, and no wider elsewhere. Residuals are never smaller than rounding, because a
closed form and a prediction round differently and a constant output would fall outside a set of one point. Outputs that
too few samples observe are not restricted (``Calibration.bounded``).

*Objects.* Calibration samples are scored among the candidates of the query, so that candidates may differ between
calls. Shared candidates are completed by the sample's own output: scores are then exchangeable whether it is a
candidate or not, and the guarantee bounds "a candidate, and not in the set". Candidates of each sample are an argument
of ``fit``, unlike shared ones, because they are data of the samples and are split with them. Equal candidates count
once, ties count together, and differences of the size of rounding are ties. So neither order nor repetition matters.
The best candidate is in every set unless ``allow_empty``. The default score is the gap to the minimum: on spectra with
candidate lists its median set is a third of that of the rank or of softmax-like scores, although their mean is smaller
where few queries are hard. All rankings under Kendall's loss, and all sets of labels under the Hamming loss, are
candidates even where they are too many to score: a weighted loss is a sum of costs, and ``additive_costs`` lists the
outputs within a bound. With several models a member is within the bound of at least one of them. These sets can be far
smaller than balls (medical, 45 labels: 9 to 48 members against 1036 in the median). Other outputs that cannot be listed
have balls of the loss; with several models the triangle inequality gives a ball that contains the set. Models of folds
receive outputs that know the labels of all samples, so that a label that a fold lacks is still one.

*Links.* Pairs of nodes are the samples. Sets of partners compare a pair with hidden links, not with all pairs: the
guarantee concerns links, whatever their share. Probabilities are means over the models of the folds, each through one
curve learnt from all calibration pairs. For new nodes the curve and the bound come from the cross-validated scores of
``LinkPredictor``, whose folds of nodes do not have all partners; the guarantee is approximate there.
"""

from . import candidate_scores, scores
from .candidate_sets import Balls, CandidateSets
from .partner_sets import PartnerSets
from .position_sets import PositionSets, sets_of_scores
from .predictor import ConformalPredictor
from .regions import Band, Box, Ellipsoid

__all__ = [
    "Balls",
    "Band",
    "Box",
    "CandidateSets",
    "ConformalPredictor",
    "Ellipsoid",
    "PartnerSets",
    "PositionSets",
    "candidate_scores",
    "scores",
    "sets_of_scores",
]
