"""
Sets of rankings
================

A predicted ranking may be uncertain. A conformal set contains all plausible rankings; it contains the true one with a
given probability. The set is small if the input determines the ranking.
"""

# %%
# Customers of different age and income rank four products; near some lines they are undecided.

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import ConformalPredictor, StructuredPredictor

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(600, 2))
values = X @ [[3, 0, -3, 1], [0, 3, 1, -2]] + [0.0, 0.3, 0.0, -0.3]
ranks = (-(values + 0.7 * rng.gumbel(size=values.shape))).argsort(axis=1).argsort(axis=1)

model = ConformalPredictor(StructuredPredictor("rbf", output_loss="kendall"), level=0.8, random_state=0)
sets = model.fit(X[:300], ranks[:300]).predict_set(X[300:])
print(f"{sets.contains(ranks[300:]).mean():.0%} of the true rankings are in their sets; {model.method_}")
print(f"the first guess alone is right for {np.mean((model.predict(X[300:]) == ranks[300:]).all(axis=1)):.0%}")

# %%
# The number of rankings in the set, of 24 possible ones. Sets are large where lines of indifference meet.

grid = np.stack(np.meshgrid(np.linspace(-1, 1, 45), np.linspace(-1, 1, 45)), axis=-1).reshape(-1, 2)
sizes = model.predict_set(grid).sizes.reshape(45, 45)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
image = left.imshow(sizes, origin="lower", extent=(-1, 1, -1, 1), cmap="cividis_r", vmin=1)
left.scatter(*X[300:340].T, s=14, color="white", edgecolors="#222222")
left.set(xlabel="age", ylabel="income", title="rankings in the set, of 24")
figure.colorbar(image, ax=left, label="rankings")
right.hist(sets.sizes, bins=np.arange(0.5, sets.sizes.max() + 1.5), color="#0072B2", rwidth=0.85)
right.set(xlabel="rankings in the set", ylabel="customers", title="300 new customers")
right.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The set of one customer, best ranking first, as orders of the products A to D.

names = np.array(list("ABCD"))
print(X[300].round(2), ["".join(names[np.argsort(row)]) for row in sets[0]])

# %%
# The coverage is above the level: the size of a set is an integer, and tied rankings are included together.
