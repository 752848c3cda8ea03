"""``python -m benchmarks [name ...]``: run all benchmarks, or the named ones."""

import importlib
import sys

NAMES = (
    "default_fit",
    "ridge",
    "float32",
    "matern",
    "landmarks",
    "feature_fit",
    "prediction",
    "leave_one_out",
    "jackknife",
    "adaptive_rank",
    "gaps",
    "splitting",
    "robust_fit",
    "quantile_fit",
    "multitask_lasso",
    "epsilon_svr",
    "functional_robust",
    "path_grid",
    "functional_dictionary",
    "memory",
    "streams",
    "distributed",
    "ranking_decoder",
    "set_decoder",
    "scalar_decoder",
    "top_candidates",
    "candidate_batches",
    "output_rank",
    "loss_trick",
    "structured_weights",
    "vector_fields",
    "semi_supervised",
    "margin",
    "link_scores",
    "links",
    "import_time",
)

unknown = set(sys.argv[1:]) - set(NAMES)
if unknown:
    sys.exit(f"unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(NAMES)}")
for name in sys.argv[1:] or NAMES:
    importlib.import_module(f"benchmarks.{name}").main()
