"""Automatic selection of the kernel, alpha, the operator, features and the constants of the loss.

``select(samples, loss, alpha, options)`` runs a draft through the list ``STAGES`` (``automatic.py``; the stages are in
``stages.py``). A new stage is a function ``Draft -> Draft``, listed there.

Errors
    Kernels are compared by leave-one-out errors of the squared loss, which have a closed form. They are computed on the
    samples themselves, or on *surrogate* samples close to them: curves at irregular points, and missing values of
    curves on a grid, are interpolated; operators that mix other missing values or differ between terms are dropped; of
    more than 2000 samples 1500 are drawn. For several outputs the error is the mean of their relative errors; for the
    loss trick the output loss itself, averaged over outputs nearly as good as the predicted one, since the loss of the
    best one alone jumps with alpha. Where no closed form exists, alpha is selected by folds.
Robust losses
    A loss with a bound is compared by its own value, of models with the weights of iteratively reweighted least
    squares. Squared errors of contaminated samples favour too smooth a model, and refits of the robust model would cost
    hundreds of times as much. Outliers are screened, see ``outlier_screening.py``.
Search
    A kernel costs one factorisation; alphas are evaluated a decade apart, then around the best. Of more than 600
    samples 400 find the region of the rate, and 1000 compare neighbours. Small matrices are searched on one thread:
    idle threads of a second BLAS make small fits three times slower. Ties go to the smoother model. A best rate at the
    end of the grid causes a warning.
Averages
    The setting with the smallest error of a few dozen samples is an accident. Up to 200 samples all kernels and alphas
    of a fixed grid are evaluated and averaged, with weights by their errors; of more samples those near the best. The
    average of kernels is one kernel, so that the model stays one certified optimum with leave-one-out in closed form.
    On 111 small tables it predicts as well as the average of models (mean R2 0.717 and 0.718; smallest error 0.59,
    ridge regression 0.64). Several outputs, and curves, count by their number of independent directions. See
    ``averaging.py``.
Inputs
    Columns of rows of numbers are divided by their standard deviations, or not: both are evaluated. Of linear
    functions, scaled inputs are enough. Ranks of the values, and inverse hyperbolic sines, gained nothing on these
    tables (0.720 and 0.719, standardised 0.722).
Features
    The number of landmarks begins at 1000 and doubles while the error of up to 4000 samples, left out of the model of
    *all* samples, falls by 0.5 %. Landmarks are nested, so that this costs what the largest number costs. From 250 on,
    with 1 %, models of 50 000 samples stopped at 500 landmarks and were worse than exact ones of 6000. Landmarks beyond
    1000 are random samples: errors are those of medoids to three digits, and at 4000 medoids took a third of the time.
Folds
    They select alpha where leave-one-out has no closed form. All folds are fitted at one alpha at a time and the mean
    over folds with an error decides, so that a fold that fails cannot end the search. Nearly complete curves keep the
    closed form with missing values filled in: otherwise one missing value would change the criterion. Folds of a
    semi-supervised model hide outputs and keep samples.
Metrics
    From 400 samples on, the metric of a stationary kernel of rows of numbers is learnt in rounds, and kept if its error
    is 2 % below that of the selected kernel, on samples outside the fits. Of 1600 samples and more it starts with 800:
    where nothing is gained there, the search ends, after 0.1 to 0.5 s. It goes on with 2000 and 4000, each with the
    metric before. The gradients are those of a smooth profile: with Matern 1/2 the first round fails where others gain
    half of the error. The gain must also exceed the standard error of limited squared residuals. A metric has as many
    numbers as pairs of inputs, and has seen all outputs: leave-one-out errors with it are too small (0.73 where new
    samples have 1.24, 450 samples of 20 inputs). So alpha, and the error in the search results, are those of samples
    outside the fits, and confidence sets learn it without each fold: 0.84 to 0.90 of new outputs were inside sets of
    level 0.9 that did not. Constants of robust losses still use leave-one-out errors. Quantiles learn no metric. See
    ``metric_search.py``.
Learnt kernels
    A round of learning the metric must lower the error of folds that had no part in it. Leave-one-out errors of the
    last fit alone accepted metrics that were up to 5 % worse on new samples.
More samples than were searched
    A model keeps the penalty ``alpha n``, which is the ratio of noise to signal and does not depend on n.
Draws
    Random numbers are assigned to samples in an order by their values, so that a permutation of the rows changes no
    result. Repeated samples are merged before one is left out.
Models that do not converge
    Fits with selected settings that miss ``tol`` are repeated with smoother settings, see ``step_back.py``.
Streams
    Some rows select the kernel, features and operator of a model of many rows; alpha is selected by a uniform sample of
    all rows, each left out exactly of the model of all, see ``stream_settings.py``.
"""

from .alpha_search import select_alpha_by_output
from .automatic import STAGES, select, select_kernels
from .draws import FOLDS, draw_subsample
from .feature_search import Approximation
from .folds import fold_error, fold_errors
from .levels import select_levels, with_levels
from .loss_constants import resolve_loss
from .outlier_screening import SCREENED, SCREENED_WEIGHT
from .result import Selection, fit_selected
from .step_back import automatic_bounds, step_back, with_larger_constants
from .stream_settings import StreamSettings, n_patterns, select_alpha, select_stream_settings, solve_moments
from .trials import Trial, best_index, trials_table
