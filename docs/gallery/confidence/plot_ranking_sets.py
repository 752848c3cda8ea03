"""
Sets of rankings
================

A predicted ranking may be uncertain: a conformal set has all rankings that conform, and the true one is among them
with the probability that was asked for. Where the input decides, the set is small.
"""

# %%
# Four products, ranked by customers of different age and income; near some lines customers are undecided.

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
# Of 24 rankings, how many conform? Sets are large where lines of indifference meet.

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
# One customer, with the rankings that conform, best first, as orders of the products A to D.

names = np.array(list("ABCD"))
print(X[300].round(2), ["".join(names[np.argsort(row)]) for row in sets[0]])

# %%
# More true rankings are in their sets than was asked for: sets have whole numbers of rankings, and ties count as a
# whole.
