"""scikit-learn's checks of an estimator, all in one test: there are sixty of them, most of a millisecond."""

from sklearn.utils.estimator_checks import check_estimator


def in_one_line(estimator):
    """The estimator as it is written, for the name of a test."""
    return " ".join(repr(estimator).split())


def assert_checks_pass(estimator, expected_to_fail=None):
    """All checks pass but those named in ``expected_to_fail`` (with a reason each), which all fail."""
    results = check_estimator(estimator, expected_failed_checks=expected_to_fail, on_skip=None, on_fail=None)
    assert results
    failed = [one for one in results if one["status"] == "failed"]
    passed = [one["check_name"] for one in results if one["expected_to_fail"] and one["status"] == "passed"]
    assert not passed, f"checks of {estimator!r} that were expected to fail pass: {passed}"
    if failed:
        lines = [f"{one['check_name']}: {one['exception']!r}" for one in failed]
        raise AssertionError("\n".join([f"{estimator!r} fails", *lines])) from failed[0]["exception"]
