"""Structured prediction: any objects with an output kernel or an output loss.

``predictor`` has the settings and public methods, ``output_defaults`` and ``known_outputs`` read outputs, ``steps`` are
the steps of the fit that differ from vectors, ``state`` and ``weights`` what was learnt, ``output_scorer`` scores
outputs, ``decoding`` decodes weights, and ``candidate_search`` finds the best candidates, in memory
(``candidate_pools``), in streams (``candidate_streams``) or on workers (``distributed_candidates``).

Decisions
---------
- The model is not centred by default, as in the papers.
- With many distinct outputs and a given alpha, the loss trick computes one Cholesky factor at fit, certified on random
  combinations of outputs, and solves for weights at predict.
- With an output kernel and an output loss, weights are those of ridge regression if the loss is squared. They give the
  same coordinates, and a kernel of low rank would not determine them. Other losses take the smallest weights of
  distinct outputs.
- ``candidates`` are for all queries, ``candidates_per_query`` has a collection for each: nested outputs do not show
  which is meant.
- Candidates keep their positions: equal ones are scored once, ties are in the order given, and scores that differ by
  rounding count as equal. An item of an iterator is a block if it is a list or an array of outputs.
- Outputs in batches need coordinates that are known before the data: labels of a loss, or landmarks of an output
  kernel.
- Sample weights are weights of the loss; they do not change a graph penalty.
"""

from .predictor import StructuredPredictor
