"""Missing outputs under a diagonal operator: each pattern of missing entries is a problem of its own samples.

If M is the identity or diagonal, the columns of ``K A M`` do not mix. A column observed in the rows o depends on
``K[o, o]`` only, and columns with the same observed rows share its factors. So the squared loss and leave-one-out keep
their closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .base import ITERATIONS, ONCE, PATH, Factors, Term
from .separable import SeparableTerm

_MAX_ENTRIES = 2**25  # entries of the factors of all patterns, 256 MB, up to which they are kept for later penalties
_COPY_COST = 60  # time to copy one kernel value of a pattern, in multiply-adds


@dataclass(frozen=True)
class MissingPattern:
    """Columns with the same observed rows."""

    rows: np.ndarray  # (n_p,)
    columns: np.ndarray  # (d_p,)

    @property
    def index(self):
        """Index of its entries in arrays (n, d)."""
        return np.ix_(self.rows, self.columns)


class PatternTerm(Term):
    """The map ``A -> K A M`` on the observed entries, M diagonal or None for the identity; it is zero on the others.

    unmasked : the same map on all entries
    mask : (n, d) booleans, True where observed
    """

    inversion, loo_formula = "direct", "models"

    def __init__(self, unmasked: SeparableTerm, mask):
        self.unmasked, self.mask = unmasked, mask

    @property
    def M(self):
        return self.unmasked.M

    @property
    def shape(self):
        return self.mask.shape

    @property
    def norm(self) -> float:
        """The norm of the unmasked map, an upper bound."""
        return self.unmasked.norm

    @property
    def scale(self) -> float:
        return self.unmasked.scale

    def expand(self, C):
        return self.unmasked.expand(C)

    def expansion_matrix(self, n):
        return self.unmasked.expansion_matrix(n)

    def takes_mask(self):
        return True

    @property
    def observed_entries(self):
        return self.mask

    def apply(self, A):
        return np.where(self.mask, self.unmasked.apply(np.where(self.mask, A, 0.0)), 0.0)

    def predictor(self, C):
        return self.unmasked.predictor(C)

    def scaled(self, root_weights):
        return PatternTerm(self.unmasked.scaled(root_weights), self.mask)

    def take(self, rows):
        return PatternTerm(self.unmasked.take(rows), self.mask[rows])

    def with_mask(self, mask):
        return PatternTerm(self.unmasked, self.mask & mask)

    def without_mask(self):
        return self.unmasked

    def with_operator(self, M):
        return self.unmasked.with_operator(M).with_mask(self.mask)

    def with_gram(self, gram):
        return PatternTerm(self.unmasked.with_gram(gram), self.mask)

    def margin_gram(self, Y):
        return self.unmasked.margin_gram(np.where(self.mask, Y, 0.0))

    @cached_property
    def patterns(self) -> list[MissingPattern]:
        """The patterns in the order of their first columns; columns without observations have none."""
        columns: dict[bytes, list[int]] = {}
        for j, observed in enumerate(self.mask.T):
            columns.setdefault(observed.tobytes(), []).append(j)
        groups = [MissingPattern(np.flatnonzero(self.mask[:, js[0]]), np.array(js)) for js in columns.values()]
        return [pattern for pattern in groups if len(pattern.rows)]

    def part(self, pattern: MissingPattern) -> SeparableTerm:
        """The map of one pattern on its columns."""
        gram = self.unmasked.gram if len(pattern.rows) == len(self.mask) else self.unmasked.gram.take(pattern.rows)
        multiple = self.multiple(pattern)
        if multiple is None:
            return SeparableTerm(gram, np.diag(np.diagonal(self.M)[pattern.columns]))
        return SeparableTerm(gram if multiple == 1 else gram.scaled(np.full(len(pattern.rows), np.sqrt(multiple))))

    def prediction_values(self, pattern: MissingPattern, G):
        """The kernel values or features of ``part``, from those of the whole term, G (m, N)."""
        multiple = self.multiple(pattern)
        multiple = 1.0 if multiple is None else multiple
        return G * np.sqrt(multiple) if self.unmasked.gram.expands else G[:, pattern.rows] * multiple

    def multiple(self, pattern: MissingPattern) -> float | None:
        """The diagonal entry of M on the columns of a pattern, None if there are several different ones."""
        values = np.ones(1) if self.M is None else np.diagonal(self.M)[pattern.columns]
        return max(float(values[0]), 0.0) if (values == values[0]).all() else None

    def factor(self, use=ONCE):
        return PatternFactors(self, use)

    def factor_cost(self, n, use=ONCE):
        """The factors of every pattern, and copies of its kernel values."""
        cost, copied = 0.0, self.unmasked.step_cost(n, 1) / (2 * n**2)
        for pattern in self.patterns:
            size = len(pattern.rows)
            one = self.unmasked if self.multiple(pattern) is None else self.unmasked.with_operator(None)
            cost += one.factor_cost(size, use) + copied * _COPY_COST * size**2
        return cost

    def step_cost(self, n, d):
        return self.unmasked.step_cost(n, d)

    def preconditioner(self):
        """One for all columns; the factors of every pattern would be the solution."""
        return self.unmasked.preconditioner()


class PatternFactors(Factors):
    """Factors for every pattern, computed on first use; those of a path are kept if they fit in memory.

    Only the squared loss needs them: for other losses the prox masks entries, and the factors of ``without_mask`` serve
    all columns. So they are computed on first use.
    """

    def __init__(self, term: PatternTerm, use):
        self.term, self.use = term, use
        entries = sum(term.unmasked.gram.factor_entries(len(pattern.rows)) for pattern in term.patterns)
        self.keeps_parts = entries <= _MAX_ENTRIES
        self._unmasked: Factors | None = None
        self._parts: list[Factors | None] = [None] * len(term.patterns)

    @property
    def serves_all_penalties(self):
        return self.keeps_parts and self.use == PATH

    def without_mask(self):
        if self._unmasked is None:
            self._unmasked = self.term.unmasked.factor(self.use)
        return self._unmasked

    def with_operator(self, M):
        """A diagonal operator in place of the identity leaves the eigenvectors of all patterns unchanged."""
        term = self.term.with_operator(M)
        if term.observed_entries is None or self.term.M is not None or not self.serves_all_penalties:
            return None
        new = PatternFactors(term, self.use)
        new._unmasked = None if self._unmasked is None else self._unmasked.with_operator(M)
        for number, (pattern, part) in enumerate(zip(term.patterns, self._parts, strict=True)):
            new._parts[number] = None if part is None else part.with_operator(np.diag(np.diagonal(M)[pattern.columns]))
        return new

    def _part(self, number, use) -> Factors:
        """Factors of one pattern; use : their use, if they are not kept."""
        pattern, part = self.term.patterns[number], self._parts[number]
        if part is not None:
            return part
        if len(pattern.rows) == len(self.term.mask) and self.term.M is None:
            part = self.without_mask()
        else:
            part = self.term.part(pattern).factor(self.use if self.keeps_parts else use)
        if self.keeps_parts:
            self._parts[number] = part
        return part

    def solve(self, R, shift, penalty):
        X = R / shift
        for number, pattern in enumerate(self.term.patterns):
            X[pattern.index] = self._part(number, ONCE).solve(R[pattern.index], shift, penalty)
        return X

    def solve_expanded(self, R, shift, penalty):
        X, W = R / shift, None
        for number, pattern in enumerate(self.term.patterns):
            X[pattern.index], expanded = self._part(number, ONCE).solve_expanded(R[pattern.index], shift, penalty)
            multiple = self.term.multiple(pattern)
            if expanded is None or multiple == 0:
                return self.solve(R, shift, penalty), None
            W = np.zeros((len(expanded), R.shape[1])) if W is None else W
            W[:, pattern.columns] = expanded if multiple is None else expanded / np.sqrt(multiple)
        return X, W

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """Residuals of missing entries are zero.

        The outer loop runs over patterns, so that factors that are not kept are computed once for all penalties.
        """
        left_out = np.arange(len(T)) if rows is None else np.asarray(rows)
        residuals = np.zeros((len(penalties), len(left_out), T.shape[1]))
        use = ONCE if len(penalties) == 1 else PATH
        for number, pattern in enumerate(self.term.patterns):
            entries, shifts = pattern.index, None if shift is None else shift[pattern.index]
            subset, positions = _positions(pattern, left_out)
            paths = self._part(number, use).loo_residuals(T[entries], shifts, root[pattern.rows], penalties, subset)
            for out, path in zip(residuals, paths, strict=True):
                out[np.ix_(positions, pattern.columns)] = path
        yield from residuals

    def loo_changes(self, G, residuals, shift, root, penalty, rows=None):
        """A column changes only when one of its observed samples is left out."""
        left_out = np.arange(len(root)) if rows is None else np.asarray(rows)
        out = np.zeros((len(G), len(left_out), residuals.shape[1]))
        for number, pattern in enumerate(self.term.patterns):
            entries, shifts = pattern.index, None if shift is None else shift[pattern.index]
            subset, positions = _positions(pattern, left_out)
            values = self.term.prediction_values(pattern, G)
            part = self._part(number, ITERATIONS)
            change = part.loo_changes(values, residuals[entries], shifts, root[pattern.rows], penalty, subset)
            out[:, positions[:, None], pattern.columns] = change
        return out

    def pairwise_loo_residuals(self, T, shifts, root, penalty, rows):
        """Leaving out a sample does not change the columns in which it is missing."""
        rows = np.asarray(rows)
        out = np.full((len(rows), *T.shape), np.nan)
        for number, pattern in enumerate(self.term.patterns):
            entries, roots, columns = pattern.index, root[pattern.rows], pattern.columns
            part = self._part(number, ITERATIONS)
            inside = np.isin(rows, pattern.rows)
            # together with a sample that is missing here, the shift is that of j alone
            for is_observed in (True, False):
                first = np.flatnonzero(inside == is_observed)
                if not len(first):
                    continue
                cube = np.ix_(first, pattern.rows, columns)
                cube_shifts = None if shifts is None else shifts[cube]
                if is_observed:
                    places = np.searchsorted(pattern.rows, rows[first])
                    out[cube] = part.pairwise_loo_residuals(T[entries], cube_shifts, roots, penalty, places)
                else:
                    alone = None if cube_shifts is None else cube_shifts[0]
                    (residuals,) = part.loo_residuals(T[entries], alone, roots, np.array([penalty]))
                    out[cube] = residuals
        return out


def _positions(pattern: MissingPattern, rows):
    """Positions of the common samples among those of the pattern (None for all), and among `rows`."""
    common, in_pattern, in_rows = np.intersect1d(pattern.rows, rows, assume_unique=True, return_indices=True)
    return None if len(common) == len(pattern.rows) else in_pattern, in_rows
