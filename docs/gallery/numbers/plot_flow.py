"""
A flow around a cylinder
========================

Velocities of an incompressible fluid are measured at sixty places, with noise. A divergence-free kernel puts this
knowledge into the model: predictions have no divergence anywhere, for any data.
"""

# %%
# The flow is that of an ideal fluid, from left to right around a cylinder of radius 1; it has a closed form.

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import OperatorKernelRegressor, kernels, plotting


def flow(points):
    x, y = points.T
    r4 = (x**2 + y**2) ** 2
    return np.column_stack([1 - (x**2 - y**2) / r4, -2 * x * y / r4])


rng = np.random.default_rng(0)
places = rng.uniform([-3, -2], [3, 2], size=(400, 2))
places = places[np.hypot(*places.T) > 1.1][:60]
measured = flow(places) + 0.15 * rng.normal(size=places.shape)

# %%
# The first model treats the two components as independent outputs, the second is divergence-free.

models = {
    "independent components": OperatorKernelRegressor("rbf"),
    "divergence-free kernel": OperatorKernelRegressor(kernels.DivergenceFreeKernel(gamma="auto")),
}
axes = np.linspace(-3, 3, 37), np.linspace(-2, 2, 25)
grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
outside = grid[np.hypot(*grid.T) > 1.1]


def error_of(model):
    return np.sqrt(np.mean((model.predict(outside) - flow(outside)) ** 2))


figure, panels = plt.subplots(2, 1, figsize=(7, 8.4), layout="constrained", sharex=True)
for ax, (name, model) in zip(panels, models.items()):
    plotting.plot_field(
        grid, model.fit(places, measured).predict(grid), ax, kind="streams", shade="divergence", color="#222222"
    )
    plotting.plot_field(places, measured, ax, color="#D55E00", label="measured")
    ax.collections[0].set_clim(-0.5, 0.5)  # the same colours in both
    ax.add_patch(plt.Circle((0, 0), 1, color="#DDDDDD", zorder=4))
    ax.set_title(f"{name}: error {error_of(model):.3f}")
plt.show()

# %%
# The colours are divergences: the first model has spurious sources and sinks, the second has none. The flow has no
# curl either: ``kernels.CurlFreeKernel`` is for such fields, and ``kernels.HelmholtzKernel`` for sums of both kinds.

for name, kernel in (
    ("curl-free", kernels.CurlFreeKernel(gamma="auto")),
    ("Helmholtz", kernels.HelmholtzKernel(gamma="auto")),
):
    print(f"{name:10} error {error_of(OperatorKernelRegressor(kernel).fit(places, measured)):.3f}")
