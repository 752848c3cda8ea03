import pytest

pytest.register_assert_rewrite("by_hand")  # its assertions say what they saw
