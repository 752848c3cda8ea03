import gc

import pytest

pytest.register_assert_rewrite("helpers")  # its assertions say what they saw


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays to the end: the garbage collector need not go through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# Files of long tests that share nothing: each test goes to whichever worker is free.
SPREAD = {"test_benchmarks.py", "test_documentation.py", "test_experiments.py", "test_step_back.py"}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``-n``, one worker runs all tests of a file: what they share (models, a cluster, the wheel) is made once."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return nodeid if file.rsplit("/", 1)[-1] in SPREAD else file

    return ByFile(config, log) if config.getvalue("dist") == "load" else None
