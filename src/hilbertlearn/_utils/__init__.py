"""Helpers without any knowledge of kernels or estimators: validation, linear algebra, statistics, threads, progress."""
