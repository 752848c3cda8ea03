"""Requirements: the first that is not met, in order."""

from hilbertlearn.core.solvers.requirements import Requirement, first_unmet

EVEN = Requirement("an even number", lambda number: number % 2 == 0)
SMALL = Requirement("a number below ten", lambda number: number < 10)


def test_the_first_requirement_that_is_not_met():
    assert first_unmet((), 3) is None
    assert first_unmet((EVEN, SMALL), 4) is None
    assert first_unmet((EVEN, SMALL), 13) is EVEN
    assert first_unmet((EVEN, SMALL), 14) is SMALL


def test_later_requirements_may_rely_on_earlier_ones():
    fragile = Requirement("a positive number", lambda number: 1 / number > 0)
    nonzero = Requirement("a number other than zero", lambda number: number != 0)
    assert first_unmet((nonzero, fragile), 0) is nonzero
