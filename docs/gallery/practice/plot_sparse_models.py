"""
Sparse models
=============

With a loss that ignores small residuals, samples with small residuals have zero coefficients: the model depends on
the others only, and is smaller and faster at prediction. ``plot_coefficients`` shows which samples are in use.
"""

# %%
# The data are noisy curves; the tube of the epsilon-insensitive loss grows from zero.

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import FunctionalRegressor, losses, plotting

rng = np.random.default_rng(0)
X = rng.uniform(size=(200, 2))
grid = np.linspace(0, 1, 60)
curves = np.sin(5 * grid + 3 * X[:, :1]) + X[:, 1:] * grid**2
seen = curves + rng.uniform(0.05, 0.2, size=(200, 1)) * rng.normal(size=curves.shape)  # some are noisier than others
train, test = slice(0, 80), slice(80, None)

epsilons = [0.0, 0.06, 0.1, 0.13, 0.16, 0.18, 0.22]
models, errors, used = [], [], []
for epsilon in epsilons:
    loss = losses.EpsilonInsensitive(epsilon) if epsilon else losses.Squared()
    model = FunctionalRegressor("rbf", gamma=1.0, alpha=1e-4, loss=loss, grid=grid).fit(X[train], seen[train])
    models.append(model)
    errors.append(np.sqrt(np.mean((model.predict(X[test]) - curves[test]) ** 2)))
    used.append(len(model.support_))
    print(f"epsilon {epsilon:4.2f}: {used[-1]:3d} of 80 samples in use, error {errors[-1]:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
plotting.plot_coefficients(models[4], left)
left.set_title(f"epsilon = {epsilons[4]}: rows in grey are not in use")
right.plot(used, errors, "o-", color="#0072B2")
for number, error, epsilon in zip(used, errors, epsilons):
    right.annotate(
        f"{epsilon:g}", (number, error), xytext=(0, 6), textcoords="offset points", ha="center", fontsize="small"
    )
right.set(xlabel="samples in use", ylabel="error of new curves", title="the numbers are epsilon", ylim=(0, None))
right.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Sparsity reduces the accuracy: with 57 of 80 samples in use the error is twice that of the squared loss. The tube is
# for models that must be small, or for finding redundant samples, not for the smallest error.
