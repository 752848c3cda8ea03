"""
A time series forecast as a curve
=================================

The task is to predict two years of the Pacific's temperature from the three years before. A forecast is a curve, and
the model predicts it as a whole, not step by step. A simultaneous band has a target coverage of 0.9.
"""

# %%
# Quarterly sea-surface temperatures of the region Niño 3 are included in PyWavelets. Models are fitted to quarters
# whose forecasts end before 1985, calibrated on the next ten years, and tested on the following ones.

import matplotlib.pyplot as plt
import numpy as np
import pywt
from sklearn.linear_model import RidgeCV

from hilbertlearn import ConformalPredictor, FunctionalRegressor, plotting

time, series = pywt.data.nino()
time, series = np.asarray(time), np.asarray(series)
past, ahead = 12, 8
windows = np.lib.stride_tricks.sliding_window_view(series, past + ahead)
X, Y, start = windows[:, :past], windows[:, past:], time[past - 1 : len(series) - ahead]
train = np.flatnonzero(start + ahead / 4 < 1985)
recent = np.flatnonzero((start >= 1985) & (start + ahead / 4 < 1995))
test = np.flatnonzero(start >= 1995)

# %%
# Windows overlap, so that neighbours are dependent: the calibration quarters are one block (``cv`` with one split),
# not a random subset.

fitted = np.concatenate([train, recent])
split = [(np.arange(len(train)), np.arange(len(train), len(fitted)))]
quarters = np.arange(1, ahead + 1) / 4
machine = FunctionalRegressor("rbf", grid=quarters)
model = ConformalPredictor(machine, level=0.9, method="split", cv=split).fit(X[fitted], Y[fitted])
band = model.predict_band(X[test])
forecasts = {
    "curve": model.predict(X[test]),
    "ridge regression": RidgeCV(np.geomspace(1e-2, 1e3, 11)).fit(X[train], Y[train]).predict(X[test]),
    "last year again": np.tile(X[test][:, -4:], ahead // 4),
    "mean of the past": np.tile(Y[train].mean(axis=0), (len(test), 1)),
}
for name, curves in forecasts.items():
    by_year = [np.sqrt(np.mean((curves - Y[test])[:, part] ** 2)) for part in (slice(0, 4), slice(4, 8))]
    print(f"{name:18} error of the first year {by_year[0]:.3f}, of the second {by_year[1]:.3f}")
print(f"{band.contains(Y[test]).mean():.0%} of the curves are inside the band")

# %%
nino = np.argmin(np.abs(start[test] - 1997.0))
figure, panels = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained", sharey=True)
for ax, i in zip(panels, (nino, nino + 40)):
    when = start[test[i]]
    back = time[test[i] : test[i] + past]
    ax.plot(back, X[test[i]], color="#222222", linewidth=1.5, label="past")
    plotting.plot_band((band.lower[i], band.upper[i]), ax, grid=when + quarters, color="#0072B2", label="90 % band")
    ax.plot(when + quarters, forecasts["curve"][i], color="#0072B2", linewidth=2, label="forecast")
    ax.plot(when + quarters, Y[test[i]], "o--", color="#D55E00", markersize=3, linewidth=1, label="what came")
    ax.set(xlabel="", ylabel="", xlim=(back[0], when + 2), title=f"forecast at the beginning of {when:.0f}")
panels[0].set_ylabel("degrees from the mean")
panels[0].legend(frameon=False, fontsize="small", loc="upper left")
plt.show()

# %%
# For the first year the curve is more accurate than ridge regression, for the second both are the same; both are
# better than a repetition of the last year and than the mean of the past. The coverage is below the level:
# overlapping windows are not exchangeable, later years differ from the calibration years, and the strong Niño of 1997
# is outside the band.
