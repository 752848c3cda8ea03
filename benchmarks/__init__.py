"""Benchmarks: one module a question, each printing one line of JSON with ratios measured in one process."""
