"""Benchmarks: one module per comparison. Each prints one line of JSON with ratios measured in one process."""
