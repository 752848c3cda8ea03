"""Autoencoders of kernelised data: ``estimator`` has the public class, ``layers`` the objective and its gradient.

Decisions
---------
- The last layer is the dual problem of ``core``, solved at each evaluation. By the envelope theorem its value has the
  derivative ``-A A' / (2 alpha n^2)`` in the Gram matrix of the codes, so that L-BFGS works on the inner layers only.
- L-BFGS starts at kernel principal components, so that nothing is random.
"""

from .estimator import KernelAutoencoder
