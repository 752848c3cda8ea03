"""The steps of a fit, one at a time."""

from hilbertlearn.machine.in_memory import MemorySource


def read(model, X, y, sample_weight=None):
    """The samples as a fit reads them."""
    return MemorySource(X, y, sample_weight).read(model.spec(y))


def prepare(model, X, y, sample_weight=None):
    """The samples with their kernels."""
    return MemorySource(X, y, sample_weight).prepare(model.spec(y))


def loo_coordinates_at(model, X):
    """Coordinates (m, n, d) at X predicted without each training sample, in closed form."""
    machine = model.machine_
    return machine.leave_one_out_models().coordinates_at(machine.check_inputs(X))
