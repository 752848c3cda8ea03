"""
Several curves per sample
=========================

A ball is thrown: its two coordinates are two related curves over time. Inputs are speed, angle, drag and wind;
outputs are arrays (samples, times, curves). One operator relates times, another the curves. For half of the balls the
height was not recorded.
"""

# %%
# Paths are integrated from Newton's law in small steps, with measurement noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from hilbertlearn import FunctionalRegressor, operators, plotting

rng = np.random.default_rng(0)
speed, angle, drag, wind = rng.uniform([15, 0.5, 0.0, -4], [25, 1.2, 0.03, 4], size=(240, 4)).T
X = np.column_stack([(speed - 20) / 3, (angle - 0.85) / 0.2, (drag - 0.015) / 0.009, wind / 2.3])
times = np.linspace(0, 2.5, 51)


def fly(n_steps=10):
    place, velocity = np.zeros((240, 2)), np.column_stack([speed * np.cos(angle), speed * np.sin(angle)])
    path, step = [place], times[1] / n_steps
    for _ in times[1:]:
        for _ in range(n_steps):
            air = velocity - np.column_stack([wind, np.zeros(240)])
            pull = -drag[:, None] * np.linalg.norm(air, axis=1, keepdims=True) * air - [0, 9.81]
            velocity = velocity + step * pull
            place = place + step * velocity
        path.append(place)
    return np.stack(path, axis=1)


paths = fly()
noisy = paths[:60] + 0.4 * rng.normal(size=(60, 51, 2))
seen = noisy.copy()
seen[::2, :, 1] = np.nan

# %%
# ``operators.Integral("rbf", 10)`` makes predictions smooth in time; ``Covariance`` is computed from the outputs.
# Nearest neighbours do not support gaps and are fitted to the complete paths.

smooth = operators.Integral("rbf", 10.0)
models = {
    "curves related": FunctionalRegressor(
        "rbf", grid=times, operator=operators.AxisProduct(smooth, operators.Covariance())
    ),
    "independent curves": FunctionalRegressor("rbf", grid=times, operator=operators.AxisProduct(smooth)),
}
predicted = {name: model.fit(X[:60], seen).predict(X[60:]) for name, model in models.items()}
neighbours = KNeighborsRegressor(4, weights="distance").fit(X[:60], noisy.reshape(60, -1))
predicted["4 neighbours"] = neighbours.predict(X[60:]).reshape(-1, 51, 2)
for name, curves in predicted.items():
    print(f"{name:24} mean distance {np.linalg.norm(curves - paths[60:], axis=2).mean():.2f} m")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
best = predicted["curves related"]
plotting.plot_curves(best, left, grid=times, samples=[0, 1, 3])
left.set(title="predicted: across (solid) and up (dashed)", xlabel="seconds", ylabel="metres")
for i, color in zip((0, 1, 3), ("#0072B2", "#E69F00", "#009E73")):
    right.plot(*best[i].T, color=color, linewidth=2, label="predicted" if i == 0 else None)
    right.plot(*paths[60 + i].T, "--", color="#222222", linewidth=1, label="true" if i == 0 else None)
    right.plot(*predicted["4 neighbours"][i].T, ":", color=color, linewidth=1.2, label="neighbours" if i == 0 else None)
right.set(title="the same three balls in the plane", xlabel="across (m)", ylabel="up (m)")
right.legend(frameon=False)
right.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The relation between the curves improves little here: the balls with recorded height are enough. Smoothness in time,
# which both models have, removes the measurement noise.
