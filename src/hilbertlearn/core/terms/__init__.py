"""Terms: the linear maps of the problem, their Gram matrices, and the factors that invert them.

| term | map | used for |
|---|---|---|
| `SeparableTerm` | ``K A M`` | a scalar kernel and an output operator |
| `PatternTerm` | the same on observed entries, M diagonal | missing outputs |
| `EigenspaceTerm` | one kernel for each eigenvalue of M | a graph penalty with an operator |
| `BlockTerm` | ``sum_j K_ij a_j`` with blocks (d, d) | matrix-valued kernels |
| `RankOneTerm`, `FamilyTerm` | sums of rank-one operators | kernels built from outputs |
| `SampledTerm` | ``S (K (S' B) M)`` | functions observed at irregular points |
| `PaddedTerm` | a term, and a column without functions | the part of outputs outside their space |
| `SumTerm` | the sum of several | several kernels |

Decisions
---------
- Three methods of a term are abstract: ``apply``, ``scaled``, ``predictor``. Three class attributes say what it can do:
  ``M``, ``inversion``, ``loo_formula``. Everything else is a method with a default.
- A `Gram` knows how it is factored and what that costs, so that terms, solvers and leave-one-out work for dense
  matrices, features and graph kernels alike. Sample weights stay beside the matrix until it is factored.
- A term holds no factors. The caller creates them by ``factor(use)`` and passes them on.
- Semi-supervision is a Gram matrix that depends on alpha (`DeformedGram`). It is computed as ``(I + r K S)^-1 K``,
  without a subtraction: by one LU decomposition for one alpha, by one eigendecomposition for many.
- Leverages of all pairs of an alpha and an eigenvalue of M are interpolated at Chebyshev points in the logarithm of
  their ratio, exact to rounding: a path over 100 alphas costs about two eigendecompositions instead of five.
- With missing outputs and M diagonal, columns with the same observed rows share factors of ``K[o, o]``, so that the
  squared loss and leave-one-out keep their closed form.
- Features: ``K = Z Z'`` is never formed. Systems are solved by Woodbury's formula from ``Z'Z``. The solution W of the
  normal equations is returned beside the dual variables (``solve_expanded``), because ``Z'A / s`` loses digits: at
  alpha n = 1e-11 it was wrong in the fourth.
- "refined" precision concerns factors alone (`refined`): float32 factors of a float64 matrix, solutions refined to
  1e-10, and float64 factors where refinement does not halve the residual.
"""

from .base import ITERATIONS, ONCE, PATH, Factors, LinearPredictor, SumTerm, Term
from .block import BlockTerm
from .deformed import DeformedFeatureKernel, DeformedGram, DeformedKernel, kernels_in_memory
from .eigenspaces import EigenspaceTerm
from .factors import loo_residuals_from_spectrum
from .factory import TrainingOutputs, make_gram, make_term
from .feature_blocks import FeatureBlockGram
from .features import FeatureGram, FeatureSpectralFactors
from .gram import DenseGram, Gram
from .padded import ConstantTerm, PaddedFactors, PaddedTerm
from .patterns import PatternTerm
from .rank_one import RankOneTerm
from .sampled import SampledTerm
from .separable import SeparableTerm, merge_terms, sum_grams
