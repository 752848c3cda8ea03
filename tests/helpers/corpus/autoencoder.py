"""KernelAutoencoder: codes, layers, losses, kernels."""

from hilbertlearn import KernelAutoencoder, losses

from .case import Case
from .data import NEW, X

_DESCENT = {"rtol": 1e-4, "reason": "L-BFGS on a function that is not convex"}


def case(n_components=2, asks=("transform",), **settings):
    return Case(KernelAutoencoder(n_components, **settings), X, None, NEW, asks=asks, **_DESCENT)


def rebuilt(model, new):
    return model.inverse_transform(model.transform(new))


CASES = {
    "defaults": case(asks=("transform", "coordinates", rebuilt)),
    "three layers": case((3, 1, 3), max_iter=5),
    "huber": case(loss=losses.Huber(0.3), max_iter=5),
    "landmarks": case(feature_map=8, max_iter=5),
}
