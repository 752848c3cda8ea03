"""
A band around a whole curve
===========================

An interval at each time says little about a curve: even if each interval contains nine of ten values, far fewer
curves are inside at all times. A simultaneous band contains the whole curve with a given probability, for any model
and any noise.
"""

# %%
# The data are births per woman of the World Bank, included in the package. The years from 1985 on are predicted from
# the years before, for countries without gaps.

import matplotlib.pyplot as plt
import numpy as np

from hilbertlearn import ConformalPredictor, FunctionalRegressor, datasets, plotting

data = datasets.load_fertility(split=1985)
whole = np.isfinite(data.curves).all(axis=1)
X, Y, countries = data.X[whole], data.Y[whole], data.countries[whole]
years = data.years_out.astype(float)

# %%
# There are five splits with 130 training countries each. ``method_`` is "jackknife+": leave-one-out models in closed
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
# Three countries of the last split: the band, the prediction and the observed values.

shown = np.argsort(X[test, -1])[[2, len(test) // 2, -5]]
figure, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
plotting.plot_curves(
    model.predict(X[test]), ax, grid=years, y=Y[test], band=band, samples=shown, y_label="true", label="predicted"
)
for i in shown:
    ax.annotate(countries[test[i]], (years[-1], Y[test[i], -1]), xytext=(4, 0), textcoords="offset points", va="center",
                fontsize="small", annotation_clip=False)  # fmt: skip
ax.set(xlabel="", ylabel="births per woman", title="simultaneous bands of level 0.9")
ax.legend(frameon=False)
plt.show()

# %%
# A band does not know that births are positive: the band of Canada goes below zero. Countries are not independent
# draws from one law, since neighbours are similar. The guarantee is a probability: it holds on average over splits,
# not for each split.
