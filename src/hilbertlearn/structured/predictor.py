"""The estimator of structured outputs: settings, spaces of outputs, and predictions."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from .. import decoders, kernels
from .._utils.blocks import blocks_of
from .._utils.fitting import snapshot, store
from .._utils.validation import check_choice, check_number
from ..data.objects import (
    StructuredOutputs,
    as_numbers,
    concatenate_outputs,
    distinct,
    read_outputs,
    restore_form,
    take,
)
from ..losses import as_loss
from ..machine.base import learnt
from ..machine.distributed import is_dask, map_blocks_lazily
from ..machine.partial_fit import BatchMachine
from ..machine.spec import Spec
from ..output_losses import as_output_loss
from ..spaces import OutputKernel, ProbeSpace, WeightSpace
from .candidate_search import best_candidates, best_candidates_per_query
from .candidate_streams import refuse_iterator
from .decoding import is_discrete, make_decoder
from .known_outputs import read_known_outputs
from .output_defaults import default_kernel_or_loss, drop_missing_labels
from .output_scorer import OutputScorer
from .state import OutputRules, StructuredState, gaussian_rate
from .steps import StructuredSteps

_LARGEST_MATRIX = 2000  # distinct outputs up to which the matrix of their losses is computed at once: 32 MB
_MANY_DISTINCT = 0.25  # distinct outputs per sample beyond which weights are solved for at predict and not at fit


def _learnt_rule(name):
    """A learnt attribute that is read from the ``OutputRules``."""
    return property(lambda self: getattr(self.space_.rules, name))


class StructuredPredictor(BatchMachine):
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

    Outputs y are rows of an array, labels, strings, sets, or a list of any objects. None, NaN or a row of NaN is a
    missing output; with ``manifold > 0`` so is -1 beside two other integer labels or more, none of them negative. Data
    frames and series are returned as such, as in ``OperatorKernelRegressor``. The type of outputs decides, never their
    length: lists of numbers, of arrays of numbers, or of lists of numbers are rows of numbers if they have one shape.
    Anything else stays a list of objects: molecules, graphs, tuples and user classes reach the kernel or the loss
    unchanged, and predictions are the very objects (the first of equal ones that can be hashed). The same holds for
    inputs X with a kernel of objects. Rankings are rows in which entry j is the rank of label j;
    ``metrics.ranks_from_order`` converts orders to ranks.

    scikit-learn does not take this estimator for a classifier: ``cross_val_score(model, X, labels, cv=5)`` uses blocks
    of consecutive rows, which in a table sorted by class have a single class each. Give ``cv=StratifiedKFold(5)``, or
    ``KFold(5, shuffle=True)`` for other objects.

    Parameters
    ----------
    kernel : str, callable, object of ``hilbertlearn.kernels``, Gaussian-process kernel or list, default="auto"
        As in ``OperatorKernelRegressor``. For an output loss alone, "auto" settings are selected by its leave-one-out
        error over the training outputs.
    gamma : float, "auto", "median" or "scale", default="auto"
        Coefficient of named kernels, as in ``OperatorKernelRegressor``.
    kernel_params : dict or None, default=None
        Further parameters of a named kernel, such as ``degree``.
    operator : (d, d) array, object or name of ``hilbertlearn.operators``, or None, default=None
        Operator on coordinates of an output kernel; None is the identity.
    output_kernel : name, Gram matrix, kernel object, callable, ``spaces.OutputKernel`` or None, default=None
        Kernel of the outputs. For a Gram matrix the outputs are row numbers.
    rank : int, "auto" or None, default=None
        Dimension of the coordinates of the output kernel: a number of landmarks among the training outputs, None for
        all of them. "auto": all up to 5000 distinct outputs; see ``spaces.OutputKernel``. The default is
        exact: landmarks are an approximation.
    output_loss : name, object of ``hilbertlearn.output_losses``, callable or None, default=None
        Loss between two outputs, also a sum such as ``Hamming() + 0.5 * F1()``, or a callable ``(Z, Y) -> losses``.
    decoder : str, function or object, default="auto"
        "candidates" searches candidates; other names belong to losses; "gaussian" is the preimage of a Gaussian output
        kernel of vectors. A function ``(weights, outputs, loss) -> m outputs``, or an object with such a method
        ``decode``, gets weights (m, c) of the distinct training outputs, these in the user's form, and the loss object.
        "auto": the decoder of the loss, or "candidates".
    candidates : collection of outputs or None, default=None
        Outputs to select from; None for the distinct training outputs, or for all outputs that the decoder knows.
    loss : str or object of ``hilbertlearn.losses``, default="squared"
        Loss of the regression; an output loss alone takes "squared".
    alpha : float, "auto", "n^-1/2" or "n^-1/4", default="auto"
        Regularisation, as in ``OperatorKernelRegressor``.
    center : bool, default=False
        Whether the model has a constant, the mean of the outputs in their space. False, as in the papers.
    scale_inputs : bool or "auto", default="auto"
        Whether columns of X are divided by their standard deviations. Dense X is then clipped to one range beyond the
        training range on either side, and constant columns take no part. This is for kernels given by name; True is an
        error for kernel objects and callables. "auto" is False where the rate of the kernel is not selected, for sparse
        X, and with a graph. Elsewhere it is True if the standard deviations differ by a factor of at most 1.5;
        otherwise leave-one-out errors compare scaled X, which is preferred if they are equal, with X as given, and the
        model of few samples is an average over both.
    graph : (n, n) weights, networkx graph, ``kernels.Affinity`` or None, default=None
        Graph of the penalty over all samples, as in ``OperatorKernelRegressor``.
    manifold : float, default=0.0
        Weight of the penalty of the graph (semi-supervised learning); 0 ignores samples without outputs.
    feature_map : "auto", None, int, object of ``hilbertlearn.features`` or transformer, default="auto"
        Features that replace the kernel matrix, as in ``OperatorKernelRegressor``.
    regressor : regressor of scikit-learn or None, default=None
        Fitted to the coordinates of an output kernel in place of the kernel machine.
    solver : str, default="auto"
        As in ``OperatorKernelRegressor``.
    tol : float, default=1e-6
        Relative duality gap at which the solver stops.
    max_iter : int, default=1000
        Iterations of the solver.
    precision : "auto", "float32", "float64" or "refined", default="auto"
        Precision of the Gram matrix and its factors, as in ``OperatorKernelRegressor``.
    verbose : int, default=0
        1 shows progress on standard error.

    Attributes
    ----------
    decoder_ : str or object
        The decoder in use; "classes" if the loss knows all outputs.
    classes_ : ndarray
        The classes, in the order of the loss (sorted for the zero-one loss), if outputs are classes.
    output_loss_, output_kernel_ : objects or None
        The output loss and kernel in use.
    outputs_ : array or list
        The distinct training outputs.
    saturated_, screened_, screening_weights_, outlier_scores_, center_ : as in ``OperatorKernelRegressor``
    dual_coef_, dual_gap_, solver_, n_iter_, precision_, alpha_, gamma_, kernel_, loss_, operator_ : as in
        ``OperatorKernelRegressor``, in coordinates of the space
    search_results_, support_, X_fit_, feature_map_, manifold_error_, space_, metric_, objectives_, machine_ : as there
    regressor_ : the fitted regressor on coordinates, if one was given
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
        scale_inputs="auto",
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
    output_loss_, output_kernel_ = _learnt_rule("loss"), _learnt_rule("kernel")
    decoder_, outputs_ = _learnt_rule("decoder"), _learnt_rule("outputs")

    # ---------------------------------------------------------------- fit

    def read_outputs(self, y):
        if isinstance(y, StructuredOutputs) or not self.manifold:
            return StructuredOutputs.from_y(y)
        return drop_missing_labels(StructuredOutputs.from_y(y), self.output_kernel, self.output_loss)

    def output_space(self, y, sample_weight):
        return self._space(y, sample_weight, probed=False)

    def _batch_space(self, y, sample_weight):
        """The space of outputs in batches, of which y is the first."""
        known = read_known_outputs(y, self.output_kernel, self.output_loss)
        space = self._space(known, np.ones(len(known)), probed=False)
        return replace(space, rules=replace(space.rules, groups=np.empty(0, dtype=int)))

    def _space(self, y, sample_weight, probed):
        """The space of the outputs.

        probed : whether a space of random combinations will do, because weights can be solved for at predict
        """
        rows = np.flatnonzero(y.known & (sample_weight > 0))
        if not len(rows):
            raise ValueError("y has no known output with a positive weight; give at least one sample with an output")
        known = take(y.items, rows)
        kernel, loss = self._kernel_and_loss(y)
        canonical = known if loss is None else loss.check(known)
        # a kernel may distinguish outputs that are equal to the loss
        first, group = distinct(canonical if kernel is None else known)
        space: Any
        if kernel is None:
            reason = self._reason_for_kernel()
            if reason:
                raise ValueError(reason)
            if self.rank not in (None, "auto"):
                raise ValueError(f"rank={self.rank!r} is of an output kernel; set rank=None, or give output_kernel too")
            references = take(canonical, first)
            use_probes = probed and len(first) > _MANY_DISTINCT * len(rows)
            space = ProbeSpace(references, loss) if use_probes else WeightSpace(references, loss)
        else:
            if any(kernels.is_operator_valued(kernels.scalar_kernel(k)) for k, _ in self.spec().terms()):
                raise ValueError("kernel: values that are matrices need outputs that are vectors; use a scalar kernel")
            space = self._output_kernel(kernel).space(known, sample_weight[rows])
        groups = np.full(len(y), -1)
        groups[rows] = group
        kernel = None if kernel is None else space.kernel
        rules = OutputRules(
            form=y.form,
            outputs=take(known, first),
            references=take(canonical, first),
            groups=groups,
            kernel=kernel,
            loss=loss,
            decoder=self._resolve_decoder(loss, kernel, known),
            candidates=copy.copy(self.candidates),
            no_label=y.no_label,
        )
        return replace(space, rules=rules)

    def _kernel_and_loss(self, y):
        """The output kernel and loss in use, by the settings or by the type of the outputs."""
        kernel, loss = self.output_kernel, self.output_loss
        if kernel is None and loss is None:
            texts = bool(self._reason_for_kernel())
            kernel, loss = default_kernel_or_loss(y.all_known, y.form, texts, gaps=not y.known.all())
        return snapshot(kernel), None if loss is None else snapshot(as_output_loss(loss)).resolve(y.all_known)

    def _output_kernel(self, kernel):
        """The setting of the output kernel with its rank."""
        if not isinstance(kernel, OutputKernel):
            return OutputKernel(kernel, self.rank)
        if self.rank not in (None, "auto"):
            raise ValueError(
                "rank: output_kernel is spaces.OutputKernel, which has a rank of its own; give one of them"
            )
        return kernel

    def _reason_for_kernel(self):
        """Why the settings need an output kernel, "" if an output loss alone will do."""
        if self.regressor is not None:
            return "regressor needs coordinates: give output_kernel too; output_loss alone has weights only"
        if not as_loss(self.loss).quadratic:
            return f"loss={self.loss!r}: output_loss alone takes the squared loss; give output_kernel too for another"
        terms = self.spec().terms()
        if len(terms) > 1 or terms[0][1] is not None or kernels.provides_operator(terms[0][0]):
            return "output_loss alone takes one kernel and operator=None; give output_kernel too for more"
        return ""

    def _resolve_decoder(self, loss, kernel, outputs):
        """The decoder in use, after checking that the setting fits the outputs."""
        refuse_iterator(self.candidates)
        if not isinstance(self.decoder, str):
            return decoders.custom.check_decoder(snapshot(self.decoder), self.candidates)
        default = "candidates" if loss is None else loss.decoder
        fitting = list(dict.fromkeys(["auto", "candidates", default]))
        if gaussian_rate(loss, kernel) is not None:
            fitting.append("gaussian")
        check_choice(self.decoder, "decoder", ("auto", "candidates", "gaussian", *decoders.DECODERS))
        if self.decoder not in fitting:
            remedy = "; objects are chosen, not made: give candidates" if isinstance(outputs, list) else ""
            raise ValueError(f"decoder={self.decoder!r} does not fit these outputs; use one of {fitting}{remedy}")
        if self.candidates is not None and self.decoder not in ("auto", "candidates"):
            raise ValueError(f"decoder={self.decoder!r} takes no candidates; set candidates=None or decoder='auto'")
        if self.decoder != "auto":
            return self.decoder
        return "candidates" if self.candidates is not None or self.regressor is not None else default

    def spec(self, y=None):
        deferred = self.output_kernel is None and self.solver == "auto" and not self.center and not self.manifold
        steps = StructuredSteps(partial(self._space, probed=True) if deferred else None)
        return Spec.from_estimator(self, takes_batches=True, batch_space=self._batch_space, steps=steps)

    # ---------------------------------------------------------------- weights and scores

    @property
    def classes_(self):
        rules = self.space_.rules
        if rules.classes is None:
            raise AttributeError("classes_: outputs are no classes, but objects with a kernel or another loss")
        return _classes_as_array(rules.classes, rules.form)

    def weights(self, X):
        """Weights of the training samples.

        For the squared loss they are ``(K + n alpha I)^-1 k_x``; else the smallest weights of distinct outputs that
        give the predicted coordinates. Samples without an output have weight 0.

        Parameters
        ----------
        X : m inputs

        Returns
        -------
        ndarray (m, n)
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
            output_weights, counts = OutputScorer(state).weight_function(), np.bincount(state.groups)
        for rows, part in blocks_of(X, 2 * len(state.saturated)):
            if ridge is not None:
                out[rows, state.rows] = ridge(state.values(0, part))
            else:  # samples with the same output share its weight
                out[rows, state.rows] = (output_weights(part) / counts)[:, state.groups]
        return out

    def predict_scores(self, X, candidates=None):
        """Scores of outputs, the larger the better; they are those of ``predict_topk``.

        With an output loss the score ``-sum_i w_i(x) Delta(z, y_i)`` is minus an estimate of the expected loss of
        predicting z. Where candidates are searched, ``predict`` returns the one with the largest score.

        Parameters
        ----------
        X : m inputs
        candidates : collection of c outputs or None, default=None
            The outputs z, in the order of the columns; None for the candidates of the estimator, else for ``classes_``
            if outputs are classes, else for ``outputs_``.

        Returns
        -------
        ndarray (m, c)
        """
        X = self.machine_.check_inputs(X)
        scorer = OutputScorer(self.state_)
        return scorer.scores(X, scorer.pool(scorer.rules.candidates if candidates is None else candidates))

    def predict_weights(self, X):
        """Weights of the classes, or of the distinct training outputs: sums of the weights of their samples.

        A weight estimates the probability of an output. It may be below 0 or above 1, and the sum need not be one.
        Classes without a training sample have weight 0.

        Parameters
        ----------
        X : m inputs

        Returns
        -------
        ndarray (m, c)
            In the order of ``classes_``, or of ``outputs_`` if outputs are not classes.
        """
        X, scorer = self.machine_.check_inputs(X), OutputScorer(self.state_)
        weights, rules = scorer.weight_function(), scorer.rules
        columns = np.arange(len(rules.outputs))
        if rules.classes is not None:
            columns = distinct([*rules.classes, *rules.outputs])[1][len(rules.classes) :]
        out = np.zeros((_num_samples(X), len(rules.outputs if rules.classes is None else rules.classes)))
        for rows, part in scorer.query_blocks(X):
            out[rows, columns] = weights(part)
        return out

    # ---------------------------------------------------------------- predict

    def predict(self, X, candidates=None, candidates_per_query=None):
        """The best output for each input.

        Parameters
        ----------
        X : m inputs
        candidates : collection of outputs or None, default=None
            Outputs to select from, for all inputs; None for the candidates of the estimator, for all outputs that the
            decoder knows, or for the distinct training outputs. Their number is not limited: large collections,
            memory-mapped arrays and iterators, of candidates or of lists or arrays of candidates, are read in blocks,
            and a Dask bag or array is searched by its workers.
        candidates_per_query : list of m collections of outputs or None, default=None
            Outputs to select from, for each input.

        Returns
        -------
        array or list of m outputs, in the form of the training outputs
        """
        check_is_fitted(self)
        if is_dask(X):
            if candidates_per_query is not None:
                raise ValueError("candidates_per_query needs queries in memory; give candidates for all queries")
            return map_blocks_lazily(partial(self.predict, candidates=candidates), X)
        checked = self.machine_.check_inputs(X)
        scorer = OutputScorer(self.state_)
        rules = scorer.rules
        candidates = rules.candidates if candidates is None and candidates_per_query is None else candidates
        is_searched = rules.decoder == "candidates" and (rules.loss is None or len(rules.outputs) > _LARGEST_MATRIX)
        if candidates is not None or candidates_per_query is not None or is_searched:
            best, *_ = _search(scorer, checked, candidates, candidates_per_query, 1)
            return self.machine_.form.wrap(restore_form([outputs[0] for outputs in best], rules.form), X)
        weights, decode = scorer.weight_function(), make_decoder(rules)
        outputs = concatenate_outputs([decode(weights(part)) for _, part in scorer.query_blocks(checked)])
        return self.machine_.form.wrap(restore_form(outputs, rules.form, discrete=is_discrete(rules)), X)

    def predict_topk(self, X, k, candidates=None, candidates_per_query=None, return_indices=False):
        """The k best candidates for each input, best first.

        Scores are ``2 <phi(z), h(x)> - k(z, z)`` for an output kernel, ``<phi(z), h(x)>`` for the hinge, and minus the
        weighted loss otherwise. Repeated candidates keep their positions, and equal scores are in the order of the
        candidates.

        Parameters
        ----------
        X : m inputs
        k : int
            An input with fewer candidates gets all of them.
        candidates : collection of outputs or None, default=None
            As in ``predict``; None for the candidates of the estimator, else for ``classes_`` if outputs are classes,
            else for ``outputs_``.
        candidates_per_query : list of m collections of outputs or None, default=None
            As in ``predict``.
        return_indices : bool, default=False
            Whether to return positions too.

        Returns
        -------
        outputs : list of m collections of outputs
        scores : list of m arrays
        indices : list of m arrays, if `return_indices`
            Positions in `candidates`, in the collection of the query, or in ``classes_`` or ``outputs_``.

        Examples
        --------
        >>> from hilbertlearn import StructuredPredictor
        >>> model = StructuredPredictor(alpha=1e-3).fit([[0.0], [1.0], [2.0]], ["aa", "ab", "bb"])
        >>> pool, identifiers = ["bb", "aa", "aa"], ["mol-7", "mol-8", "mol-9"]
        >>> found, scores, indices = model.predict_topk([[0.1]], 2, candidates=pool, return_indices=True)
        >>> found[0], [identifiers[i] for i in indices[0]]
        (['aa', 'aa'], ['mol-8', 'mol-9'])
        """
        check_number(k, "k", integer=True)
        X = self.machine_.check_inputs(X)
        scorer = OutputScorer(self.state_)
        rules = scorer.rules
        candidates = rules.candidates if candidates is None and candidates_per_query is None else candidates
        best, scores, indices = _search(scorer, X, candidates, candidates_per_query, k)
        outputs = [restore_form(part, rules.form) for part in best]
        return (outputs, scores, indices) if return_indices else (outputs, scores)

    # ---------------------------------------------------------------- score

    def score(self, X, y, sample_weight=None):
        """Minus the mean output loss, or minus the mean squared distance in the output kernel's space.

        Parameters
        ----------
        X : m inputs
        y : m outputs
            Missing outputs do not count.
        sample_weight : array (m,) or None, default=None

        Returns
        -------
        float
        """
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


def _search(scorer, X, candidates, candidates_per_query, k):
    """The k best candidates of each query, of one collection or of one for each query."""
    if candidates_per_query is None:
        return best_candidates(scorer, X, candidates, k)
    if candidates is not None:
        raise ValueError("candidates and candidates_per_query exclude each other; give one of them")
    return best_candidates_per_query(scorer, X, candidates_per_query, k)


def _classes_as_array(classes, form):
    """Classes as an array of numbers or strings, with the type of the outputs, or else of objects."""
    if all(isinstance(item, str) for item in classes):
        return np.array(classes)
    numbers = as_numbers(classes)
    return restore_form(classes, ("objects", None)) if numbers is None else restore_form(numbers, ("array", form[1]))
