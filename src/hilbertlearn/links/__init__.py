"""Prediction of the links of a graph.

``LinkPredictor`` contains an ``OperatorKernelRegressor`` that predicts an embedding of the nodes of the known graph.
Modules, in the order of a fit: ``predictor`` (settings), ``inputs`` (nodes and graphs), ``embedders`` (the function h),
``trials`` and ``selection`` (search of alpha, gamma and manifold), ``leave_node_out``, ``leave_pair_out`` and
``inverses`` (closed forms), ``rate_search`` (search on subsamples), ``folds`` and ``combination`` (weights of scores),
``state`` (what was learnt), ``pair_scores`` and ``top_pairs`` (scores in blocks), ``prediction`` (public methods).

Decisions
---------
- Settings are selected by pairs of nodes of which *both* are left out. With the rule of the paper, one node at a time
  (``criterion="nodes"``), the output of the other node reveals the link.
- Nodes are kept in a canonical order, by their links, weights and features (``data/graphs/order.py``), from which all
  random draws are made: results do not depend on the order of the rows. ``prediction`` converts to the user's order.
- Pairs with two, one or no known node have different scores, so that each kind has its own weights and threshold.
- The single score with the best cross-validated AUC is no substitute for the combination: on Facebook it has AUC 0.950
  and AP 0.55, the combination 0.960 and 0.68 (three draws). The similarity of features is one of the scores; where
  the inputs hold the answer it alone is better than every learnt method.
- Weights of links are relative to their mean (``graphs.relative_weights``), in the embedding and in the similarities.
  Common neighbours add the weights of their two links (Lu and Zhou 2010); their product, which longer paths use, is
  worse by a third in average precision on the networks of NIPS and Les Miserables.
- Beyond 1000 nodes, Katz's and the Laplacian similarity have paths of one and two links exactly and longer ones by 100
  eigenvectors, and the embedding has leading eigenvectors only: random projections lose 1.5 to 3 points of AUC. The
  eigenvectors of connected components carry no information on links inside and do not count towards the rank.
- A matrix given as output kernel may contain all links, so that its embedding does not score pairs of known nodes
  unless there is no other score.
- A hidden pair counts neither as linked nor as unlinked. A node without a known pair is treated as new.
- Rows of X are matched with nodes by name, row i of an array being node i. A networkx graph with other names needs
  names in X, because its order is arbitrary.
- ``fit`` takes no sample weights: to repeat a node is to change the graph.
- Evaluations of settings, columns of embeddings and similarities by the graph run in threads with one BLAS thread each.
  Kernels and regressors, which may be the user's and may warn, are called in the caller's thread.
"""

from .predictor import LinkPredictor
