"""Radial losses, their curvature, value and conjugate as functions of a norm, written again by hand."""

import numpy as np
from scipy.special import lambertw

from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
)

INF = np.inf


# ------------------------------------------------------------------ scalar functions, by hand


def inside(x, radius):
    """Indicator of [0, radius], which admits its end."""
    return np.where(x <= radius + 1e-12, 0.0, INF)


def r_log_r(r):
    r = np.maximum(r, 1 / np.e)
    return r * np.log(r)


# loss: (c, loss at a norm r, g* at a norm a); the conjugate of the loss is c/2 a^2 + g*(a)
BY_HAND = [
    (Squared(), 1, lambda r: r**2 / 2, lambda a: 0 * a),
    (Huber(0.7), 1, lambda r: np.where(r <= 0.7, r**2 / 2, 0.7 * r - 0.245), lambda a: inside(a, 0.7)),
    (Huber(0.7, p=1), 1, lambda r: np.where(r <= 0.7, r**2 / 2, 0.7 * r - 0.245), lambda a: inside(a, 0.7)),
    (Huber(INF), 1, lambda r: r**2 / 2, lambda a: 0 * a),
    (EpsilonInsensitive(0.4), 1, lambda r: np.maximum(r - 0.4, 0) ** 2 / 2, lambda a: 0.4 * a),
    (EpsilonInsensitive(0), 1, lambda r: r**2 / 2, lambda a: 0 * a),
    (EpsilonSVR(0.4), 0, lambda r: np.maximum(r - 0.4, 0), lambda a: 0.4 * a + inside(a, 1)),
    (EpsilonSVR(0), 0, lambda r: r, lambda a: inside(a, 1)),
    (Norm(), 0, lambda r: r, lambda a: inside(a, 1)),
    (Norm(0.6), 0, lambda r: 0.6 * r, lambda a: inside(a, 0.6)),
    (PowerNorm(1.5), 0, lambda r: r**1.5 / 1.5, lambda a: a**3 / 3),
    (PowerNorm(3), 0, lambda r: r**3 / 3, lambda a: a**1.5 / 1.5),
    (PowerNorm(2, scale=0.5), 0, lambda r: r**2 / 4, lambda a: a**2),
    (PowerNorm(4, scale=2), 0, lambda r: r**4 / 2, lambda a: 0.75 * 2 ** (-1 / 3) * a ** (4 / 3)),
    (LogNorm(), 0, r_log_r, lambda a: np.exp(a - 1)),
    (LogNorm(0.5), 0, lambda r: 0.5 * r_log_r(r), lambda a: 0.5 * np.exp(2 * a - 1)),
    (ExpNorm(), 0, lambda r: np.exp(r) - 1, lambda a: np.where(a > 1, a * np.log(np.maximum(a, 1)) - a + 1, 0)),
    (
        ExpNorm(0.3),
        0,
        lambda r: 0.3 * (np.exp(r) - 1),
        lambda a: np.where(a > 0.3, a * np.log(np.maximum(a, 0.3) / 0.3) - a + 0.3, 0),
    ),
    (Ball(), 0, lambda r: inside(r, 1), lambda a: a),
    (Ball(0.8), 0, lambda r: inside(r, 0.8), lambda a: 0.8 * a),
    # infimal convolutions that have a closed form, with another name or without
    (
        InfConv(Squared(), Norm(0.7)),
        1,
        lambda r: np.where(r <= 0.7, r**2 / 2, 0.7 * r - 0.245),
        lambda a: inside(a, 0.7),
    ),
    (InfConv(Squared(), Ball(0.4)), 1, lambda r: np.maximum(r - 0.4, 0) ** 2 / 2, lambda a: 0.4 * a),
    (InfConv(Norm(), Ball(0.4)), 0, lambda r: np.maximum(r - 0.4, 0), lambda a: 0.4 * a + inside(a, 1)),
    (InfConv(Squared(), Squared()), 2, lambda r: r**2 / 4, lambda a: 0 * a),
    (InfConv(Norm(0.6), Norm(1.3)), 0, lambda r: 0.6 * r, lambda a: inside(a, 0.6)),
    (InfConv(Ball(0.5), Ball(0.25)), 0, lambda r: inside(r, 0.75), lambda a: 0.75 * a),
    (InfConv(PowerNorm(3), Ball(0.5)), 0, lambda r: np.maximum(r - 0.5, 0) ** 3 / 3, lambda a: a**1.5 / 1.5 + a / 2),
    (
        InfConv(Squared(), EpsilonSVR(0.4)),  # the tube of the epsilon-SVR, then Huber with kappa = 1
        1,
        lambda r: np.where(r <= 1.4, np.maximum(r - 0.4, 0) ** 2 / 2, r - 0.9),
        lambda a: 0.4 * a + inside(a, 1),
    ),
    (
        InfConv(InfConv(Squared(), Norm(0.7)), Ball(0.4)),
        1,
        lambda r: np.where(r <= 1.1, np.maximum(r - 0.4, 0) ** 2 / 2, 0.7 * r - 0.525),
        lambda a: 0.4 * a + inside(a, 0.7),
    ),
    (
        InfConv(ExpNorm(), Norm(2)),  # linear from the point where the slope e^r is 2
        0,
        lambda r: np.where(r < np.log(2), np.exp(np.minimum(r, 1)) - 1, 1 + 2 * (r - np.log(2))),
        lambda a: np.where(a > 1, a * np.log(np.maximum(a, 1)) - a + 1, 0) + inside(a, 2),
    ),
    (
        InfConv(Squared(), LogNorm()),  # a + e^(a - 1) = r at the maximiser a: by Lambert's function
        1,
        lambda r: square_log(r),
        lambda a: np.exp(a - 1),
    ),
    (InfConv(Squared(), PowerNorm(1.5)), 1, lambda r: square_power(r), lambda a: a**3 / 3),
]


def square_log(r):
    a = np.maximum(r - lambertw(np.exp(r - 1)).real, 0)
    return a * r - a**2 / 2 - np.exp(a - 1)


def square_power(r):
    a = (np.sqrt(1 + 4 * r) - 1) / 2  # a + a^2 = r
    return a * r - a**2 / 2 - a**3 / 3
