"""
A band around a whole curve
===========================

An interval at each time says little about a curve: even if each holds nine of ten values, far fewer curves stay
inside everywhere. A simultaneous band holds the whole curve with the probability that was asked for, whatever the
model and the noise.
"""

# %%
# Births per woman of the World Bank, which come with the package: from the years before 1985 the years after it, for
# countries without gaps.

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import ConformalPredictor, FunctionalRegressor, datasets, plotting

data = datasets.load_fertility(split=1985)
whole = np.isfinite(data.curves).all(axis=1)
X, Y, countries = data.X[whole], data.Y[whole], data.countries[whole]
years = data.years_out.astype(float)

# %%
# Five splits into 130 countries and the rest. ``method_`` is "jackknife+": models without each country, in closed
# form.

inside, widths = {"band": [], "intervals": []}, []
for seed in range(5):
    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:130], order[130:]
    model = ConformalPredictor(FunctionalRegressor("rbf", grid=years), level=0.9).fit(X[train], Y[train])
    band = model.predict_band(X[test])
    low, high = np.moveaxis(model.predict_interval(X[test]), -1, 0)
    inside["band"].append(band.contains(Y[test]).mean())
    inside["intervals"].append(((low <= Y[test]) & (Y[test] <= high)).all(axis=1).mean())
    widths.append(band.mean_width().mean())
for name, values in inside.items():
    print(f"{name:10} {np.mean(values):.0%} of new curves are inside everywhere")
print(f"method {model.method_}, mean width of the band {np.mean(widths):.2f} births per woman")

# %%
# Three countries of the last split: the band, the prediction and what came.

shown = np.argsort(X[test, -1])[[2, len(test) // 2, -5]]
figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
plotting.plot_curves(
    model.predict(X[test]), ax, grid=years, y=Y[test], band=band, samples=shown, y_label="true", label="predicted"
)
for i in shown:
    ax.annotate(countries[test[i]], (years[-1], Y[test[i], -1]), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize="small", annotation_clip=False)  # fmt: skip
ax.set(xlabel="", ylabel="births per woman", title="bands that hold the whole curve in nine of ten cases")
ax.legend(frameon=False)
plt.show()

# %%
# A band knows nothing of what is possible: that of Canada goes below zero. Countries are no random draws from one
# law, neighbours are alike, and the promise is one of probability: it holds on average over splits, not for each of
# them.
