"""Structured outputs: any objects with a kernel or a loss."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from .. import decoders, kernels
from .._utils.fitting import snapshot, store
from .._utils.validation import check_choice, check_number
from ..data.objects import StructuredOutputs, concatenate_outputs, distinct, read_outputs, restore_form, take
from ..losses import as_loss
from ..machine.base import learnt
from ..machine.distributed import by_blocks, is_dask
from ..machine.partial_fit import BatchMachine
from ..machine.state import blocks_of
from ..output_losses import as_output_loss
from ..spaces import OutputKernel, ProbeSpace, WeightSpace
from .candidate_pools import best_of_all, best_of_each, read_lists
from .candidate_streams import CandidateStream, best_of_stream, refuse_iterator, streams
from .decoding import decoding, is_discrete
from .distributed_candidates import best_of_blocks
from .known_outputs import known_outputs
from .output_defaults import default_rule, without_label
from .output_scores import OutputScores
from .state import OutputRules, StructuredState, gaussian_rate
from .steps import StructuredSteps

_FEW = 2000  # distinct outputs whose losses of each other are kept in memory to decode by
_MANY = 0.25  # distinct outputs a sample beyond which weights are solved for at predict, not at fit


def of_outputs(name):
    """A public attribute that is read from what is known of the training outputs."""
    return property(lambda self: getattr(self.space_.rules, name))


class StructuredPredictor(OutputScores, BatchMachine):
    """Prediction of objects: embed the outputs, regress there, decode.

    - ``output_kernel`` alone (input output kernel regression): a function h with values in the kernel's space is fitted
      with any loss, and the prediction minimises ``k(z, z) - 2 <phi(z), h(x)>`` over candidates z; for the hinge it
      maximises ``<phi(z), h(x)>``.
    - ``output_loss`` alone (the loss trick of Ciliberto et al. 2016): the prediction minimises
      ``sum_i w_i(x) Delta(z, y_i)`` with the weights of kernel ridge regression.
    - both: any loss in the kernel's space, then weights over the training outputs, decoded by the output loss.
    - neither: numbers are decoded by the squared loss, integer labels by the zero-one loss, 0/1 matrices and sets of
      labels by the Hamming loss. Strings that recur, twice on average, are labels too; others, and those under
      another loss than the squared one or a regressor, are texts with a kernel of their substrings.

    Outputs y are rows of an array, labels, strings, sets, or a list of any objects; None, NaN or a row of NaN is an
    output that is not known; with ``manifold > 0`` so is -1 beside two other integer labels or more, none of them
    negative. Data frames and series come back as such, as in ``OperatorKernelRegressor``. Types say
    what outputs are, lengths never do: lists of numbers, of arrays of numbers, or of lists of numbers are rows of
    numbers, if they have one shape. Anything else stays a list of objects: molecules, graphs, tuples, classes of
    one's own reach the kernel or the loss as they are, and predictions are the very objects (of equal ones that can
    be hashed, the first). The same holds for inputs X with a kernel of objects. Rankings are rows in which entry j
    is the rank of label j; ``metrics.ranks_from_order`` makes ranks of orders.

    To scikit-learn this is no classifier: ``cross_val_score(model, X, labels, cv=5)`` takes blocks of rows in the order
    of the table, and in one sorted by class each block is a class that the others have not. Give
    ``cv=StratifiedKFold(5)``, or ``KFold(5, shuffle=True)`` for other objects.

    Parameters
    ----------
    kernel, gamma, kernel_params, operator, loss, alpha, graph, manifold, feature_map
    solver, tol, max_iter, precision, verbose
        As in ``OperatorKernelRegressor``. For an output loss alone "auto" settings are chosen by its leave-one-out
        error over the training outputs.
    output_kernel : name, Gram matrix with integer outputs, object, callable, or ``spaces.OutputKernel``
    rank : None, a number, or "auto"
        Landmarks among the training outputs in whose span the output kernel's coordinates are, for many outputs; None
        for all, "auto" for all up to 5000 distinct outputs; see ``spaces.OutputKernel``.
    output_loss : name, object of ``hilbertlearn.output_losses``, a sum such as ``Hamming() + 0.5 * F1()``, or callable
        ``(Z, Y) -> losses``
    decoder : "auto", "candidates", the loss's own, "gaussian" for a Gaussian output kernel of vectors, or a function
        ``(weights, outputs, loss) -> m outputs``, or an object with such a ``decode``: weights (m, c) of the distinct
        training outputs, these in the form in which they came, and the loss object
    candidates : outputs to select from, None for the distinct training outputs, or what the decoder finds by itself
    center : bool
        Fit around the mean of the outputs in their space; the papers do not.
    regressor : regressor of scikit-learn, fitted to the coordinates of an output kernel instead of the kernel machine

    Attributes
    ----------
    decoder_ : the decoder in use: "classes" where the loss knows all outputs there are
    classes_ : array of the classes, where outputs are such
    output_loss_, output_kernel_ : as used, None where there is none
    outputs_ : the distinct training outputs
    saturated_, screened_, outlier_scores_, center_ : as in ``OperatorKernelRegressor``
    dual_coef_, dual_gap_, solver_, n_iter_, precision_, alpha_, gamma_, kernel_, loss_, operator_ : as in
        ``OperatorKernelRegressor``, in coordinates of the space
    search_results_, support_, X_fit_, feature_map_, manifold_error_, space_, metric_, objectives_ : as there
    regressor_ : the fitted regressor on coordinates, where one was given
    machine_ : what wrappers use of a fitted estimator: coordinates, residuals, leave-one-out models
    n_features_in_, feature_names_in_ : as in scikit-learn

    References
    ----------
    - Ciliberto, C., Rosasco, L. and Rudi, A. (2016). A consistent regularization approach for structured prediction.
      NIPS.
    - Brouard, C., Szafranski, M. and d'Alche-Buc, F. (2016). Input output kernel regression: supervised and
      semi-supervised structured output prediction with operator-valued kernels. JMLR 17(176).
    - Laforgue, P., Lambert, A., Brogat-Motte, L. and d'Alche-Buc, F. (2020). Duality in RKHSs with infinite dimensional
      outputs: application to robust losses. ICML.

    Examples
    --------
    >>> from hilbertlearn import StructuredPredictor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> words = ["aa", "ab", "bb", "bb"]
    >>> StructuredPredictor(alpha=1e-3).fit(X, words).predict([[0.1], [2.9]])
    ['aa', 'bb']

    Class labels, in folds that have all of them:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import StratifiedKFold, cross_val_score
    >>> X, species = load_iris(return_X_y=True)
    >>> model = StructuredPredictor("rbf", gamma=0.3, alpha=1e-3)
    >>> bool(cross_val_score(model, X, species, cv=StratifiedKFold(3), scoring="accuracy").mean() > 0.9)
    True
    """

    conformal_strategy = "objects"  # of ``ConformalPredictor``
    _by_name = {
        **BatchMachine._by_name,
        "output_loss": as_output_loss,
        "output_kernel": kernels.as_output_kernel,
    }

    def __init__(
        self,
        kernel="auto",
        *,
        gamma="auto",
        kernel_params=None,
        operator=None,
        output_kernel=None,
        rank=None,
        output_loss=None,
        decoder="auto",
        candidates=None,
        loss="squared",
        alpha="auto",
        center=False,
        graph=None,
        manifold=0.0,
        feature_map="auto",
        regressor=None,
        solver="auto",
        tol=1e-6,
        max_iter=1000,
        precision="auto",
        verbose=0,
    ):
        store(self, locals())

    regressor_ = learnt("regressor")
    output_loss_, output_kernel_ = of_outputs("loss"), of_outputs("kernel")
    decoder_, outputs_ = of_outputs("decoder"), of_outputs("outputs")

    # ---------------------------------------------------------------- fit

    def read_outputs(self, y):
        if isinstance(y, StructuredOutputs) or not self.manifold:
            return StructuredOutputs.from_y(y)
        return without_label(StructuredOutputs.from_y(y), self.output_kernel, self.output_loss)

    def output_space(self, y, sample_weight):
        return self._space(y, sample_weight, probed=False)

    def _batch_space(self, y, sample_weight):
        """The space of outputs of which these are the first."""
        every = known_outputs(y, self.output_kernel, self.output_loss)
        space = self._space(every, np.ones(len(every)), probed=False)
        return replace(space, rules=replace(space.rules, groups=np.empty(0, dtype=int)))

    def _space(self, y, sample_weight, probed):
        """The space of the outputs; probed : where weights can be solved for at predict, probes of them will do."""
        rows = np.flatnonzero(y.known & (sample_weight > 0))
        if not len(rows):
            raise ValueError("y has no known output with a positive weight; give at least one sample with an output")
        known = take(y.items, rows)
        kernel, loss = self._rule(y)
        canonical = known if loss is None else loss.check(known)
        # a kernel may tell apart what is the same to the loss
        first, group = distinct(canonical if kernel is None else known)
        space: Any
        if kernel is None:
            if self._needs_kernel():
                raise ValueError(self._needs_kernel())
            if self.rank not in (None, "auto"):
                raise ValueError(f"rank={self.rank!r} is of an output kernel; set rank=None, or give output_kernel too")
            references = take(canonical, first)
            many = probed and len(first) > _MANY * len(rows)
            space = ProbeSpace(references, loss) if many else WeightSpace(references, loss)
        else:
            if any(kernels.is_operator_valued(kernels.scalar_kernel(k)) for k, _ in self.spec().terms()):
                raise ValueError("kernel: values that are matrices need outputs that are vectors; use a scalar kernel")
            space = self._output_kernel(kernel).space(known, sample_weight[rows])
        groups = np.full(len(y), -1)
        groups[rows] = group
        used = None if kernel is None else space.kernel
        rules = OutputRules(
            form=y.form,
            outputs=take(known, first),
            references=take(canonical, first),
            groups=groups,
            kernel=used,
            loss=loss,
            decoder=self._choose_decoder(loss, used, known),
            candidates=copy.copy(self.candidates),
            no_label=y.no_label,
        )
        return replace(space, rules=rules)

    def _rule(self, y):
        """The output kernel and loss in use, by the settings or by what all the outputs are."""
        kernel, loss = self.output_kernel, self.output_loss
        if kernel is None and loss is None:
            kernel, loss = default_rule(y.all_known, y.form, bool(self._needs_kernel()), gaps=not y.known.all())
        return snapshot(kernel), None if loss is None else snapshot(as_output_loss(loss)).resolve(y.all_known)

    def _output_kernel(self, kernel):
        """The setting of the output kernel with its rank."""
        if not isinstance(kernel, OutputKernel):
            return OutputKernel(kernel, self.rank)
        if self.rank is not None:
            raise ValueError(
                "rank: output_kernel is spaces.OutputKernel, which has a rank of its own; give one of them"
            )
        return kernel

    def _needs_kernel(self):
        """Why the settings need an output kernel, "" where an output loss alone will do."""
        if self.regressor is not None:
            return "regressor needs coordinates: give output_kernel too; output_loss alone has weights only"
        if not as_loss(self.loss).quadratic:
            return f"loss={self.loss!r}: output_loss alone takes the squared loss; give output_kernel too for another"
        terms = self.spec().terms()
        if len(terms) > 1 or terms[0][1] is not None or kernels.provides_operator(terms[0][0]):
            return "output_loss alone takes one kernel and operator=None; give output_kernel too for more"
        return ""

    def _choose_decoder(self, loss, kernel, outputs):
        refuse_iterator(self.candidates)
        if not isinstance(self.decoder, str):
            return decoders.custom.checked(snapshot(self.decoder), self.candidates)
        own = "candidates" if loss is None else loss.decoder
        fitting = list(dict.fromkeys(["auto", "candidates", own]))
        if gaussian_rate(loss, kernel) is not None:
            fitting.append("gaussian")
        check_choice(self.decoder, "decoder", ("auto", "candidates", "gaussian", *decoders.DECODERS))
        if self.decoder not in fitting:
            made = "; objects are chosen, not made: give candidates" if isinstance(outputs, list) else ""
            raise ValueError(f"decoder={self.decoder!r} does not fit these outputs; use one of {fitting}{made}")
        if self.candidates is not None and self.decoder not in ("auto", "candidates"):
            raise ValueError(f"decoder={self.decoder!r} takes no candidates; set candidates=None or decoder='auto'")
        if self.decoder != "auto":
            return self.decoder
        return "candidates" if self.candidates is not None or self.regressor is not None else own

    def spec(self, y=None):
        deferred = self.output_kernel is None and self.solver == "auto" and not self.center and not self.manifold
        steps = StructuredSteps(partial(self._space, probed=True) if deferred else None)
        return self._make_spec(takes_batches=True, batch_space=self._batch_space, steps=steps)

    # ---------------------------------------------------------------- weights

    def weights(self, X):
        """Weights (m, n) of the training samples for each of X; the prediction balances their losses.

        For the squared loss ``(K + n alpha I)^-1 k_x``; else the smallest weights of distinct outputs that give the
        predicted coordinates. Samples without an output have weight 0.
        """
        X = self.machine_.check_inputs(X)
        state = self.state_
        if not isinstance(state, StructuredState):
            raise ValueError(
                "weights: a model with regressor=, or fitted batch by batch, has none of samples; set regressor=None, "
                "and fit in memory"
            )
        out = np.zeros((_num_samples(X), len(state.saturated)))
        ridge = state.ridge_weights()
        if ridge is None:
            of_outputs, counts = self._weighing(), np.bincount(state.groups)
        for rows, part in blocks_of(X, 2 * len(state.saturated)):
            if ridge is not None:
                out[rows, state.rows] = ridge(state.values(0, part))
            else:  # samples with the same output share its weight
                out[rows, state.rows] = (of_outputs(part) / counts)[:, state.groups]
        return out

    # ---------------------------------------------------------------- predict

    def predict(self, X, candidates=None, candidates_per_query=None):
        """The best output for each of X.

        Parameters
        ----------
        X : inputs
        candidates : outputs to select from, the same for all; None for those of the estimator, the decoder's own way,
            or the distinct training outputs. Any number of them will do: large collections, memory-mapped arrays and
            iterators, of candidates or of lists or arrays of candidates, are looked at block by block; those of a Dask
            bag or array by the workers that have them.
        candidates_per_query : a list with one collection of outputs for each of X, in place of `candidates`
        """
        check_is_fitted(self)
        if is_dask(X):
            if candidates_per_query is not None:
                raise ValueError("candidates_per_query goes with queries in memory; give candidates for all queries")
            return by_blocks(partial(self.predict, candidates=candidates), X)
        given, X = X, self.machine_.check_inputs(X)
        rules = self.space_.rules
        candidates = rules.candidates if candidates is None and candidates_per_query is None else candidates
        chosen = rules.decoder == "candidates" and (rules.loss is None or len(rules.outputs) > _FEW)
        if candidates is not None or candidates_per_query is not None or chosen:
            best, *_ = self._best(X, candidates, candidates_per_query, 1)
            return self.machine_.form.wrap(restore_form([outputs[0] for outputs in best], rules.form), given)
        weights, decode = self._weighing(), decoding(rules)
        found = concatenate_outputs([decode(weights(part)) for _, part in self._queries(X)])
        return self.machine_.form.wrap(restore_form(found, rules.form, discrete=is_discrete(rules)), given)

    def predict_topk(self, X, k, candidates=None, candidates_per_query=None, return_indices=False):
        """The k best candidates for each of X, best first: m collections of outputs, and m arrays of their scores.

        Scores are ``2 <phi(z), h(x)> - k(z, z)`` for an output kernel, ``<phi(z), h(x)>`` for the hinge, and minus the
        weighted loss otherwise. Every candidate has its own place, repeated ones too, and equal scores are in the order
        in which the candidates were given; a query with fewer than k gets all of them. Candidates as in ``predict``;
        None stands for those of the estimator, ``classes_`` where outputs are classes, else ``outputs_``.

        return_indices : whether to give m arrays of positions too, which identify what was found: among `candidates`,
            among the query's own of `candidates_per_query`, or without any among ``classes_`` or ``outputs_``

        >>> from hilbertlearn import StructuredPredictor
        >>> model = StructuredPredictor(alpha=1e-3).fit([[0.0], [1.0], [2.0]], ["aa", "ab", "bb"])
        >>> pool, identifiers = ["bb", "aa", "aa"], ["mol-7", "mol-8", "mol-9"]
        >>> found, scores, indices = model.predict_topk([[0.1]], 2, candidates=pool, return_indices=True)
        >>> found[0], [identifiers[i] for i in indices[0]]
        (['aa', 'aa'], ['mol-8', 'mol-9'])
        """
        check_number(k, "k", integer=True)
        X = self.machine_.check_inputs(X)
        rules = self.space_.rules
        candidates = rules.candidates if candidates is None and candidates_per_query is None else candidates
        best, scores, indices = self._best(X, candidates, candidates_per_query, k)
        found = [restore_form(outputs, rules.form) for outputs in best]
        return (found, scores, indices) if return_indices else (found, scores)

    def best_candidates(self, X, candidates, k):
        """As ``predict_topk`` of checked inputs, for those who know where candidates are in a larger collection."""
        return self._best(X, candidates, None, k)

    def _best(self, X, candidates, candidates_per_query, k):
        """For each query its best candidates, best first: lists of outputs, of their scores and of their positions."""
        ask, features = self.scoring()
        rules, parts = self.space_.rules, self._queries(X)
        best: list = []
        if candidates_per_query is not None:
            if candidates is not None:
                raise ValueError("candidates and candidates_per_query exclude each other; give one of them")
            pool, sizes = read_lists(candidates_per_query, rules.outputs, _num_samples(X))
            ends = np.cumsum(sizes)
            for rows, part in parts:
                start = ends[rows.start] - sizes[rows.start] if len(sizes) else 0
                own = pool.part(start, ends[rows.stop - 1]) if len(parts) > 1 else pool
                best.append(best_of_each(ask(part), own, sizes[rows], features, k, rows.start))
            indices, scores = map(_chained, zip(*best, strict=True))
            places = [own + start for own, start in zip(indices, ends - sizes, strict=True)]
            return [pool.take(own) for own in places], scores, indices
        if is_dask(candidates):
            return best_of_blocks(self, X, candidates, k)
        if candidates is not None and streams(candidates):
            stream = CandidateStream(candidates, rules.outputs, self._width)
            return best_of_stream(ask, parts, stream, features, k)
        pool = self._pool(candidates)
        for _, part in parts:
            best.append(best_of_all(ask(part), pool, features, k))
        indices, scores = map(_chained, zip(*best, strict=True))
        return [pool.take(own) for own in indices], scores, indices

    # ---------------------------------------------------------------- score

    def score(self, X, y, sample_weight=None):
        """Minus the mean output loss; without one, minus the mean squared distance in the output kernel's space."""
        predicted = self.predict(X)
        self.machine_.form.check_order(y)
        rules = self.space_.rules
        predicted, _ = read_outputs(predicted, like=rules.outputs)
        true, known = read_outputs(y, like=rules.outputs)
        if len(known) != len(predicted):
            raise ValueError(f"X and y must have as many samples, got {len(predicted)} and {len(known)}")
        rows = np.flatnonzero(known if rules.no_label is None else known & (true != rules.no_label))
        if not len(rows):
            raise ValueError("y has no known output to score; give at least one")
        weights = _check_sample_weight(sample_weight, known, dtype=np.float64)[rows]
        losses = rules.pairwise_losses(take(predicted, rows), take(true, rows))
        return -float(np.average(losses, weights=weights))


def _chained(parts):
    """Lists, one after the other."""
    return [item for part in parts for item in part]
