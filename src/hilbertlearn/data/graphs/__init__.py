"""Graphs in every form (matrices, edge lists, data frames, networkx graphs, groups), and their hidden pairs."""

from .adjacency import groups_graph, is_networkx, laplacian, read_graph, read_weights, relative_weights
from .attributes import node_attributes
from .known import KnownGraph, read_known_graph
from .names import row_names
from .order import canonical_order, combined_ranks
from .pairs import Pairs
from .similarities import STRUCTURE, FactoredMatrix, structural_similarity

__all__ = ["Pairs"]
