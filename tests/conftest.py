import gc

import pytest

pytest.register_assert_rewrite("by_hand", "refusals")  # its assertions say what they saw


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays to the end: the garbage collector need not go through it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With ``-n``, one worker runs all tests of a file: what they share (models, a cluster, the wheel) is made once."""
    from xdist.scheduler import LoadFileScheduling

    return LoadFileScheduling(config, log) if config.getvalue("dist") == "load" else None
