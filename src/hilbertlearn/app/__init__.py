"""The application: tables, reports and the command line.

It stands on the public interface. It imports nothing from ``core``, ``training``, ``leave_one_out``, ``selection`` and
``machine``, and no private names; ``tests/test_architecture.py`` checks this.
"""
