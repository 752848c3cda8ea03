"""Helpers without knowledge of the package: validation, linear algebra, statistics, threads, files, progress.

``fitting.py`` makes fits transactional, ``summary.py`` prints what was learnt, ``sums.py`` has the interface of sums
over samples in several parts.
"""
