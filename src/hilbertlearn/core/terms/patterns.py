"""Gaps under an operator without coupling: every pattern of gaps is a problem of its own samples.

With M the identity, or diagonal, the columns of ``K A M`` do not mix: a column observed in the rows o sees nothing of K
but ``K[o, o]``, and columns with the same gaps share it. So the squared loss with gaps keeps its closed form, and so
does leaving out a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .base import ITERATIONS, ONCE, PATH, Factors, Term
from .separable import SeparableTerm

_HELD = 2**25  # entries of factors of all patterns, 256 MB, up to which they are kept
_GATHERED = 60  # multiply-adds in whose time one kernel value of a pattern is copied


@dataclass(frozen=True)
class MissingPattern:
    """Columns that were observed in the same rows."""

    rows: np.ndarray  # (n_p,)
    columns: np.ndarray  # (d_p,)

    @property
    def index(self):
        """Where its entries are in arrays (n, d)."""
        return np.ix_(self.rows, self.columns)


class PatternTerm(Term):
    """The map ``A -> K A M`` on the observed entries, M diagonal or None for the identity; it is zero on the others.

    whole : the same map on all entries
    mask : (n, d) booleans, True where observed
    """

    inversion, loo_formula = "direct", "models"

    def __init__(self, whole: SeparableTerm, mask):
        self.whole, self.mask = whole, mask

    @property
    def M(self):
        return self.whole.M

    @property
    def shape(self):
        return self.mask.shape

    @property
    def norm(self) -> float:
        """That of all entries, which bounds it."""
        return self.whole.norm

    @property
    def scale(self) -> float:
        return self.whole.scale

    def expand(self, C):
        return self.whole.expand(C)

    def expansion_matrix(self, n):
        return self.whole.expansion_matrix(n)

    def takes_mask(self):
        return True

    @property
    def observed_entries(self):
        return self.mask

    def apply(self, A):
        return np.where(self.mask, self.whole.apply(np.where(self.mask, A, 0.0)), 0.0)

    def predictor(self, C):
        return self.whole.predictor(C)

    def scaled(self, root_weights):
        return PatternTerm(self.whole.scaled(root_weights), self.mask)

    def take(self, rows):
        return PatternTerm(self.whole.take(rows), self.mask[rows])

    def with_mask(self, mask):
        return PatternTerm(self.whole, self.mask & mask)

    def without_mask(self):
        return self.whole

    def with_operator(self, M):
        return self.whole.with_operator(M).with_mask(self.mask)

    def with_gram(self, gram):
        return PatternTerm(self.whole.with_gram(gram), self.mask)

    def margin_gram(self, Y):
        return self.whole.margin_gram(np.where(self.mask, Y, 0.0))

    @cached_property
    def patterns(self) -> list[MissingPattern]:
        """In the order of their first column; columns that were never observed have none."""
        columns: dict[bytes, list[int]] = {}
        for j, seen in enumerate(self.mask.T):
            columns.setdefault(seen.tobytes(), []).append(j)
        groups = [MissingPattern(np.flatnonzero(self.mask[:, js[0]]), np.array(js)) for js in columns.values()]
        return [pattern for pattern in groups if len(pattern.rows)]

    def part(self, pattern: MissingPattern) -> SeparableTerm:
        """The map of one pattern, with as many columns as it has."""
        gram = self.whole.gram if len(pattern.rows) == len(self.mask) else self.whole.gram.take(pattern.rows)
        multiple = self.multiple(pattern)
        if multiple is None:
            return SeparableTerm(gram, np.diag(np.diagonal(self.M)[pattern.columns]))
        return SeparableTerm(gram if multiple == 1 else gram.scaled(np.full(len(pattern.rows), np.sqrt(multiple))))

    def values_of(self, pattern: MissingPattern, G):
        """What ``part`` has in place of kernel values, or features, G (m, N) that predictions are made from."""
        multiple = self.multiple(pattern)
        multiple = 1.0 if multiple is None else multiple
        return G * np.sqrt(multiple) if self.whole.gram.expands else G[:, pattern.rows] * multiple

    def multiple(self, pattern: MissingPattern) -> float | None:
        """The number that M is on a pattern's columns, None for several: K times a number needs no eigenvectors."""
        values = np.ones(1) if self.M is None else np.diagonal(self.M)[pattern.columns]
        return max(float(values[0]), 0.0) if (values == values[0]).all() else None

    def factor(self, use=ONCE):
        return PatternFactors(self, use)

    def factor_cost(self, n, use=ONCE):
        """The factors of every pattern, and copies of what K has for it."""
        cost, copied = 0.0, self.whole.step_cost(n, 1) / (2 * n**2)
        for pattern in self.patterns:
            size = len(pattern.rows)
            one = self.whole if self.multiple(pattern) is None else self.whole.with_operator(None)
            cost += one.factor_cost(size, use) + copied * _GATHERED * size**2
        return cost

    def step_cost(self, n, d):
        return self.whole.step_cost(n, d)

    def preconditioner(self):
        """One for all columns: factors of every pattern would be the solution."""
        return self.whole.preconditioner()


class PatternFactors(Factors):
    """Factors for every pattern, made when they are first asked for; those of a path are kept if they are not too many.

    Only the squared loss needs them: for other losses the prox masks entries, and the factors of ``without_mask`` serve
    all columns. So they are computed on first use.
    """

    def __init__(self, term: PatternTerm, use):
        self.term, self.use = term, use
        entries = sum(term.whole.gram.factor_entries(len(pattern.rows)) for pattern in term.patterns)
        self.held = entries <= _HELD
        self._whole: Factors | None = None
        self._parts: list[Factors | None] = [None] * len(term.patterns)

    @property
    def every_penalty(self):
        return self.held and self.use == PATH

    def without_mask(self):
        if self._whole is None:
            self._whole = self.term.whole.factor(self.use)
        return self._whole

    def with_operator(self, M):
        """With a diagonal operator in place of the identity eigenvectors of all patterns stay what they are."""
        term = self.term.with_operator(M)
        if term.observed_entries is None or self.term.M is not None or not self.every_penalty:
            return None
        new = PatternFactors(term, self.use)
        new._whole = None if self._whole is None else self._whole.with_operator(M)
        for number, (pattern, part) in enumerate(zip(term.patterns, self._parts, strict=True)):
            new._parts[number] = None if part is None else part.with_operator(np.diag(np.diagonal(M)[pattern.columns]))
        return new

    def _part(self, number, use) -> Factors:
        """Factors of one pattern; use : what for, where they are not kept."""
        pattern, part = self.term.patterns[number], self._parts[number]
        if part is not None:
            return part
        if len(pattern.rows) == len(self.term.mask) and self.term.M is None:
            part = self.without_mask()
        else:
            part = self.term.part(pattern).factor(self.use if self.held else use)
        if self.held:
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
            X[pattern.index], own = self._part(number, ONCE).solve_expanded(R[pattern.index], shift, penalty)
            multiple = self.term.multiple(pattern)
            if own is None or multiple == 0:
                return self.solve(R, shift, penalty), None
            W = np.zeros((len(own), R.shape[1])) if W is None else W
            W[:, pattern.columns] = own if multiple is None else own / np.sqrt(multiple)
        return X, W

    def loo_residuals(self, T, shift, root, penalties, rows=None):
        """Each pattern leaves out its own samples; residuals of entries that were not observed are zero.

        One pattern after the other for all penalties, so that those that are not kept are made once.
        """
        wanted = np.arange(len(T)) if rows is None else np.asarray(rows)
        residuals = np.zeros((len(penalties), len(wanted), T.shape[1]))
        use = ONCE if len(penalties) == 1 else PATH
        for number, pattern in enumerate(self.term.patterns):
            at, moved = pattern.index, None if shift is None else shift[pattern.index]
            own, where, here = np.intersect1d(pattern.rows, wanted, assume_unique=True, return_indices=True)
            some = None if len(own) == len(pattern.rows) else where
            paths = self._part(number, use).loo_residuals(T[at], moved, root[pattern.rows], penalties, some)
            for out, found in zip(residuals, paths, strict=True):
                out[np.ix_(here, pattern.columns)] = found
        yield from residuals

    def loo_changes(self, G, residuals, shift, root, penalty, rows=None):
        """A column changes when a sample is left out that it was observed in."""
        wanted = np.arange(len(root)) if rows is None else np.asarray(rows)
        out = np.zeros((len(G), len(wanted), residuals.shape[1]))
        for number, pattern in enumerate(self.term.patterns):
            at, moved = pattern.index, None if shift is None else shift[pattern.index]
            own, where, here = np.intersect1d(pattern.rows, wanted, assume_unique=True, return_indices=True)
            some = None if len(own) == len(pattern.rows) else where
            values = self.term.values_of(pattern, G)
            part = self._part(number, ITERATIONS)
            change = part.loo_changes(values, residuals[at], moved, root[pattern.rows], penalty, some)
            out[:, here[:, None], pattern.columns] = change
        return out

    def pairwise_loo_residuals(self, T, shifts, root, penalty, rows):
        """Of a column that a sample was not observed in, leaving it out changes nothing."""
        rows = np.asarray(rows)
        out = np.full((len(rows), *T.shape), np.nan)
        for number, pattern in enumerate(self.term.patterns):
            at, own, columns = pattern.index, root[pattern.rows], pattern.columns
            part = self._part(number, ITERATIONS)
            inside = np.isin(rows, pattern.rows)
            # with any sample that was not observed here the shift is that of j alone
            for there in (True, False):
                first = np.flatnonzero(inside == there)
                if not len(first):
                    continue
                cube = np.ix_(first, pattern.rows, columns)
                moved = None if shifts is None else shifts[cube]
                if there:
                    places = np.searchsorted(pattern.rows, rows[first])
                    out[cube] = part.pairwise_loo_residuals(T[at], moved, own, penalty, places)
                else:
                    alone = None if moved is None else moved[0]
                    (found,) = part.loo_residuals(T[at], alone, own, np.array([penalty]))
                    out[cube] = found
        return out
