"""Structured outputs: robust regression and halves of digits (Ciliberto et al. 2016, section 6), ratings, rankings."""

from __future__ import annotations

from inspect import getdoc

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_digits
from sklearn.utils import Bunch, check_random_state

from .._utils.validation import check_number
from .synthetic import check_share

MIN_RATINGS = 20  # smallest number of ratings of a user, as in MovieLens 100k
RATING_SHARES = (0.06, 0.11, 0.27, 0.35, 0.21)  # shares of the ratings 1 to 5, about as in MovieLens 100k
OCCUPATIONS = [
    "administrator",
    "artist",
    "doctor",
    "educator",
    "engineer",
    "entertainment",
    "executive",
    "healthcare",
    "homemaker",
    "lawyer",
    "librarian",
    "marketing",
    "none",
    "other",
    "programmer",
    "retired",
    "salesman",
    "scientist",
    "student",
    "technician",
    "writer",
]
GENRES = [
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
]


def make_robust_regression(
    n_samples=200, *, noise_variance=0.1, outlier_probability=0.1, outlier_size=3.0, random_state=None
):
    """A sine function with Gaussian noise and outliers.

    x is uniform on [-1, 1] and ``y = sin(6 pi x) + noise``. With probability ``outlier_probability`` a sample is an
    outlier, with an additional error that is uniform on [-outlier_size, outlier_size]. Noise and outliers are drawn
    last: the same random_state without them gives the same function values.

    Parameters
    ----------
    n_samples : int, default=200
        Number of samples; the paper trains on 50 to 1000 and tests on 1000.
    noise_variance : float, default=0.1
        Variance of the Gaussian noise.
    outlier_probability : float, default=0.1
        Probability of an outlier, between 0 and 1.
    outlier_size : float, default=3.0
        Largest additional error of an outlier.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : array of shape (n_samples, 1)
        Inputs.
    y : array of shape (n_samples,)
        Outputs.
    clean : array of shape (n_samples,)
        ``sin(6 pi x)``, with which the paper compares predictions.
    outlier : boolean array of shape (n_samples,)
        Mask of the outliers.

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      figure 1.

    Examples
    --------
    >>> from hilbertlearn import datasets
    >>> X, y, clean, outlier = datasets.make_robust_regression(100, random_state=0)
    >>> X.shape, int(outlier.sum()), bool(abs(y - clean)[outlier].mean() > abs(y - clean)[~outlier].mean())
    ((100, 1), 12, True)
    """
    check_number(n_samples, "n_samples", integer=True)
    check_number(noise_variance, "noise_variance", strict=False)
    check_number(outlier_size, "outlier_size", strict=False)
    check_share(outlier_probability, "outlier_probability")
    rng = check_random_state(random_state)
    x = rng.uniform(-1, 1, size=n_samples)
    clean = np.sin(6 * np.pi * x)
    noise = np.sqrt(noise_variance) * rng.normal(size=n_samples)
    outlier = rng.uniform(size=n_samples) < outlier_probability
    errors = rng.uniform(-outlier_size, outlier_size, size=n_samples)
    return x[:, None], clean + noise + outlier * errors, clean, outlier


def digits_halves():
    """Upper half to lower half of the handwritten digits that come with scikit-learn; needs no files.

    The task of Ciliberto et al. 2016, section 6, has 16 x 16 images (``load_usps``). As there, the lower half is a
    histogram: its grey levels are divided by their sum.

    Returns
    -------
    data : Bunch
        With DESCR, this text, and for n = 1797 images

        - X (n, 32): upper halves, row by row, grey levels in [0, 1]
        - Y (n, 32): lower halves, row by row, non-negative with sum 1
        - images (n, 8, 8): grey levels in [0, 1]
        - target (n,): the digits

    References
    ----------
    - Ciliberto, Rosasco and Rudi (2016). A consistent regularization approach for structured prediction. NIPS 29,
      section 6.

    Examples
    --------
    >>> from hilbertlearn import datasets
    >>> data = datasets.digits_halves()
    >>> data.X.shape, data.Y.shape, round(float(data.Y[0].sum()), 6)
    ((1797, 32), (1797, 32), 1.0)
    """
    data = load_digits()
    return image_halves(data.images / 16, target=data.target, DESCR=getdoc(digits_halves))


def image_halves(images, **facts):
    """Bunch of images (n, h, w), their upper halves X (n, h w / 2) and their lower halves Y as histograms of sum 1."""
    n, height, _ = images.shape
    upper = images[:, : height // 2].reshape(n, -1).copy()
    lower = images[:, height // 2 :].reshape(n, -1)
    sums = lower.sum(axis=1, keepdims=True)
    if (sums <= 0).any():
        row = np.flatnonzero(sums <= 0)[0]
        raise ValueError(f"image {row} has an empty lower half, which is no histogram; leave it out")
    return Bunch(X=upper, Y=lower / sums, images=images, **facts)


def make_movie_ratings(n_users=943, n_movies=1682, n_ratings=100_000, *, random_state=None):
    """Ratings of movies that depend on the users, in the form of ``readers.load_movielens``; needs no files.

    The appeal of a movie to a user is the sum of the quality of the movie, the generosity of the user, the taste of the
    user for the genres of the movie (a linear function of the features X, and a random part), an inner product of five
    hidden features of both, and noise. Users rate popular movies, and movies that appeal to them, more often. Each user
    rates at least 20 movies and at most half of all. The ratings 1 to 5 are the appeal, divided at quantiles such that
    the shares of the ratings are about those of MovieLens 100k.

    Parameters
    ----------
    n_users : int, default=943
        Number of users.
    n_movies : int, default=1682
        Number of movies.
    n_ratings : int, default=100000
        Approximate number of ratings, at least 20 a user and at most a quarter of all pairs.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    data : Bunch
        As of ``readers.load_movielens``, with DESCR, this text, and for n = n_users users and d = n_movies movies

        - X (n, 23): features of the users: age, standardised over all users; 1 for women; 1 for their occupation, of 21
        - feature_names (23,)
        - Y (n, d): ratings 1 to 5, larger for better movies, NaN where not rated
        - age, gender ("M", "F"), occupation (n,)
        - genres (d, 19): 0/1; genre_names (19,); titles (d,)

    References
    ----------
    - Harper and Konstan (2015). The MovieLens datasets: history and context. ACM Transactions on Interactive
      Intelligent Systems 5 (the form).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> data = datasets.make_movie_ratings(50, 120, 1200, random_state=0)
    >>> data.X.shape, data.Y.shape, np.unique(data.Y[np.isfinite(data.Y)]).tolist()
    ((50, 23), (50, 120), [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    for name, value in (("n_users", n_users), ("n_movies", n_movies), ("n_ratings", n_ratings)):
        check_number(value, name, integer=True)
    if not MIN_RATINGS * n_users <= n_ratings <= n_users * n_movies / 4:
        raise ValueError(
            f"n_ratings must be between {MIN_RATINGS} a user and a quarter of all pairs, here between "
            f"{MIN_RATINGS * n_users} and {n_users * n_movies // 4}, got {n_ratings}"
        )
    rng = check_random_state(random_state)
    age = np.clip(np.round(rng.normal(34, 12, size=n_users)), 7, 73).astype(int)
    gender = np.where(rng.uniform(size=n_users) < 0.29, "F", "M")
    occupation = np.array(OCCUPATIONS)[_zipf(len(OCCUPATIONS), rng, n_users)]
    X = user_features(age, gender, occupation, OCCUPATIONS)
    genres = _genres(n_movies, rng)

    quality = rng.normal(size=n_movies)
    taste = _unit_variance(X @ rng.normal(size=(X.shape[1], len(GENRES)))) + rng.normal(size=(n_users, len(GENRES)))
    hidden = rng.normal(size=(n_users, 5)) @ rng.normal(size=(5, n_movies)) / np.sqrt(5)
    preference = 0.5 * (taste @ (genres / np.sqrt(genres.sum(axis=1, keepdims=True))).T) + 0.4 * hidden
    appeal = 0.6 * quality + 0.5 * rng.normal(size=(n_users, 1)) + preference + rng.normal(size=(n_users, n_movies))

    popularity = 1.2 * rng.normal(size=n_movies) + 0.5 * quality
    is_rated = _rated_mask(popularity + 0.3 * preference, n_ratings, rng)
    cuts = np.quantile(appeal[is_rated], np.cumsum(RATING_SHARES)[:-1])
    Y = np.where(is_rated, 1.0 + np.searchsorted(cuts, appeal), np.nan)
    titles = np.array([f"movie {m + 1}" for m in range(n_movies)])
    return movie_ratings(Y, age, gender, occupation, OCCUPATIONS, genres, titles, getdoc(make_movie_ratings))


def movie_ratings(Y, age, gender, occupation, occupations, genres, titles, description):
    """Bunch of ratings Y, data of users and movies, and features of the users."""
    return Bunch(
        X=user_features(age, gender, occupation, occupations),
        Y=Y,
        feature_names=np.array(["age", "female", *occupations]),
        age=age,
        gender=gender,
        occupation=occupation,
        genres=genres,
        genre_names=np.array(GENRES),
        titles=titles,
        DESCR=description,
    )


def user_features(age, gender, occupation, occupations):
    """Features (n, 2 + o) of users: standardised age, 1 for women, and indicators of the o occupations."""
    columns = [_unit_variance(age), gender == "F", *(occupation == name for name in occupations)]
    return np.stack(columns, axis=1).astype(float)


def make_label_rankings(n_samples=500, *, n_features=5, n_labels=6, noise=0.3, random_state=None):
    """Rankings of labels by utilities that are smooth functions of the features.

    Features are standard Gaussian. The utilities of the labels are mixtures of ten hidden units ``tanh(a·x + b)``,
    scaled to unit variance over the samples, plus Gaussian noise; labels are ranked by them.

    Each call draws new functions: make training and test samples in one call and split them.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rankings.
    n_features : int, default=5
        Number of features.
    n_labels : int, default=6
        Number of labels that are ranked.
    noise : float, default=0.3
        Standard deviation of the noise. It is drawn last: the same random_state without noise gives the same utilities.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : array of shape (n_samples, n_features)
        Features.
    Y : array of shape (n_samples, n_labels)
        Rank of each label, from 1 for the best to n_labels. In losses of rankings larger numbers are better, but they
        do not change if both true and predicted ranks are negated.

    References
    ----------
    - Vembu and Gärtner (2010). Label ranking algorithms: a survey. In Preference Learning, Springer (the task).

    Examples
    --------
    >>> import numpy as np
    >>> from hilbertlearn import datasets
    >>> X, Y = datasets.make_label_rankings(100, random_state=0)
    >>> X.shape, np.sort(Y, axis=1)[0].tolist()
    ((100, 5), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    """
    for name, value in (("n_samples", n_samples), ("n_features", n_features), ("n_labels", n_labels)):
        check_number(value, name, integer=True)
    check_number(noise, "noise", strict=False)
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    hidden = np.tanh(X @ rng.normal(size=(n_features, 10)) / np.sqrt(n_features) + rng.normal(size=10))
    utilities = _unit_variance(hidden @ rng.normal(size=(10, n_labels)))
    return X, rankdata(-utilities - noise * rng.normal(size=utilities.shape), axis=1)


def _unit_variance(columns):
    """Columns centred and divided by their standard deviation; constant ones become 0."""
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _zipf(size, rng, n):
    """n draws of 0, ..., size - 1 with probabilities proportional to 1/2, 1/3, 1/4, ..., in random order."""
    p = rng.permutation(1 / np.arange(2.0, size + 2))
    return rng.choice(size, size=n, p=p / p.sum())


def _genres(n_movies, rng):
    """0/1 (n_movies, 19): one to three draws of a genre for each movie, some genres more common than others."""
    genres = np.zeros((n_movies, len(GENRES)), dtype=int)
    draws = 1 + _zipf(len(GENRES) - 1, rng, 3 * n_movies).reshape(n_movies, 3)  # no movie is of genre "unknown"
    for j, column in enumerate(draws.T):
        drawn = rng.uniform(size=n_movies) < (1.0, 0.5, 0.2)[j]
        genres[drawn, column[drawn]] = 1
    return genres


def _rated_mask(propensity, n_ratings, rng):
    """Mask of the rated pairs: users rate different numbers of movies, drawn without replacement by exp(propensity)."""
    n_users, n_movies = propensity.shape
    activity = rng.lognormal(sigma=1.0, size=n_users)
    counts = MIN_RATINGS + rng.multinomial(n_ratings - MIN_RATINGS * n_users, activity / activity.sum())
    counts = np.minimum(counts, n_movies // 2)
    # the largest of log-weights plus Gumbel noise are a weighted draw without replacement
    order = np.argsort(-propensity - rng.gumbel(size=propensity.shape), axis=1)
    is_rated = np.zeros(propensity.shape, dtype=bool)
    np.put_along_axis(is_rated, order, np.arange(n_movies) < counts[:, None], axis=1)
    return is_rated
