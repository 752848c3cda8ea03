import pytest

pytest.register_assert_rewrite("by_hand", "refusals")  # its assertions say what they saw
