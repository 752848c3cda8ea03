"""Names of losses, and settings out of range."""

import numpy as np
import pytest

from hilbertlearn.losses import (
    Ball,
    EpsilonInsensitive,
    EpsilonSVR,
    ExpNorm,
    Hinge,
    Huber,
    InfConv,
    LogNorm,
    Norm,
    PowerNorm,
    Squared,
    as_loss,
)

# ------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("loss", "setting"),
    [
        (Huber(0), "kappa"),
        (Huber(-1.0), "kappa"),
        (Huber("large"), "kappa"),
        (Huber(np.nan), "kappa"),
        (Huber(None), "kappa"),
        (Huber(1.0, p=0.5), "p"),
        (Huber(1.0, p="2"), "p"),
        (Huber(1.0, p=np.nan), "p"),
        (EpsilonInsensitive(-0.1), "epsilon"),
        (EpsilonInsensitive(np.nan), "epsilon"),
        (EpsilonInsensitive(0.1, p=0), "p"),
        (EpsilonSVR(-0.1), "epsilon"),
        (EpsilonSVR("tiny"), "epsilon"),
        (Norm(0), "scale"),
        (Norm([1.0]), "scale"),
        (PowerNorm(1), "eta"),
        (PowerNorm(1.5, scale=0), "scale"),
        (LogNorm(-2), "scale"),
        (ExpNorm(0), "scale"),
        (Ball(0), "scale"),
        (Hinge(margin=3), "margin"),
        (InfConv(Squared(), "norm"), "second"),
        (InfConv(Huber(1.0, p=1), Norm()), "first"),
        (InfConv(Norm(), Hinge()), "second"),
        (InfConv(Norm(-1), Squared()), "scale"),
    ],
    ids=repr,
)
def test_a_setting_out_of_range_is_named(loss, setting):
    with pytest.raises(ValueError, match=rf"\b{setting} must") as error:
        as_loss(loss)
    assert "got" in str(error.value)


def test_names_and_other_objects():
    assert isinstance(as_loss("huber"), Huber) and isinstance(as_loss("log"), LogNorm)
    with pytest.raises(ValueError, match="'hubert', did you mean 'huber'\\?; known: 'squared', 'huber'"):
        as_loss("hubert")
    with pytest.raises(TypeError, match=r"loss must be a name or an object of .*, got float"):
        as_loss(2.0)
