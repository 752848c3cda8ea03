"""The one fit: from an estimator and its data to what was learnt.

``KernelMachine.fit`` (``base.py``) checks the settings (``Spec``), opens a data source (``sources.py``) and stores its
``FitResult``. A source has one method, ``fit(spec)``: ``MemorySource`` reads all samples, ``BatchSource`` reads batches
of rows in one or several passes, ``DaskSource`` leaves rows on the workers of a cluster. ``FitSteps`` are the steps of
a fit in memory; an estimator that differs in one gives other steps to its ``spec``. Nothing overrides ``fit``.

Decisions
---------
- *Wrappers* use one object, ``machine_`` (``FittedMachine``), and the functions of ``wrapping.py``. Estimators have no
  other methods for them than ``spec``, ``keep`` and ``fit_selection``.
- *Transactions.* ``fit`` runs on a copy without learnt attributes, whose state the estimator takes over at the end. A
  fit that fails or is interrupted changes nothing, and nothing of an earlier fit remains.
- *Memory.* Predictions use scikit-learn's ``working_memory`` beside their result: queries are processed in blocks
  (``blocks_of``) whose size accounts for the copies of kernel values. Blocks that fit in the cache are as fast.
- *Coefficients* are scaled as in ``KernelRidge``: predictions are ``k(x, X) @ dual_coef_ @ operator_ + center_``. An
  alpha for each output is the diagonal operator ``min(alpha) / alpha_j``, so that all solvers apply.
- *Scale.* ``scale="auto"`` divides outputs by their spread only where an operator, a metric or constants of the loss
  are computed from several of them. Elsewhere numbers given by users are in the units of the outputs.
- *Diagnostics.* At the optimum, any loss is a ridge regression with the weights v of iteratively reweighted least
  squares and targets ``fitted + dual / v``. One closed form therefore gives leverages for all of them.
- *Batches.* For the squared loss, sums over rows (``training.Moments``) are the model, so ``partial_fit`` equals one
  ``fit`` of all rows. Other losses keep outputs and dual variables in memory and read features in several passes. The
  first rows select the settings: kernel, landmarks, operator, scale and constants of the loss.
- *Dask.* Every sum over samples passes through one function, ``total`` (``_utils/sums.py``). The solvers in memory are
  therefore those of a cluster: each worker runs ``splitting.solve`` on its rows, and three sums of r x d numbers travel
  per iteration. Parts are added in a fixed order, so results are reproducible while blocks stay where they are. When a
  worker is lost, Dask computes its blocks again and the solvers start again. The squared loss needs no iterations:
  a tree of tasks adds moments.
"""
