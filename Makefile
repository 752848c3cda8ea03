# Everything runs in .venv, which is made on first use. `make help` lists the targets.

PYTHON  ?= python3
WORKERS ?= 2
THREADS ?= 2

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet

# BLAS and OpenMP threads of one process
threads = OPENBLAS_NUM_THREADS=$(1) OMP_NUM_THREADS=$(1) MKL_NUM_THREADS=$(1) NUMBA_NUM_THREADS=$(1)

# Workers of the test run share the cores, so each has one thread. SCIPY_ARRAY_API lets scikit-learn run all its checks.
PYTEST := $(call threads,1) MPLBACKEND=Agg SCIPY_ARRAY_API=1 $(BIN)/pytest -n $(WORKERS)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo examples test test-all lint bench docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.stamp-demo  ## four tasks beside plain alternatives: a table and a page
	$(BIN)/hilbertlearn demo

examples: $(VENV)/.stamp-examples  ## run all examples, also those on other packages' data
	for script in examples/*.py; do MPLBACKEND=Agg $(BIN)/python $$script || exit 1; done

test: $(VENV)/.stamp-dev  ## run the tests that are not slow
	$(PYTEST)

test-all: $(VENV)/.stamp-dev  ## run all tests, the slow ones too
	$(PYTEST) -m ''

lint: $(VENV)/.stamp-dev  ## check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.stamp-bench  ## run the benchmarks (THREADS=2)
	$(call threads,$(THREADS)) $(BIN)/python -m benchmarks

docs: $(VENV)/.stamp-docs  ## build the documentation to docs/_build/html; warnings are errors
	$(call threads,1) MPLBACKEND=Agg $(BIN)/sphinx-build -W --keep-going --quiet -j $(WORKERS) -d docs/_build/doctrees docs docs/_build/html
	@echo 'docs/_build/html/index.html'

clean:  ## remove .venv, caches and build products
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	rm -rf docs/_build docs/api/generated docs/gallery/auto docs/sg_execution_times.rst
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# One stamp per set of extras, renewed when pyproject.toml changes. A larger set also stamps the smaller ones.

$(BIN)/python:
	$(PYTHON) -m venv --clear $(VENV)

$(VENV)/.stamp-demo: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[cli,plot,graphs]'
	@touch $@

$(VENV)/.stamp-examples: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[examples]'
	@touch $@ $(VENV)/.stamp-demo

$(VENV)/.stamp-dev: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[dev]'
	@touch $@ $(VENV)/.stamp-demo

$(VENV)/.stamp-bench: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[dev,bench]'
	@touch $@ $(VENV)/.stamp-dev $(VENV)/.stamp-demo

$(VENV)/.stamp-docs: pyproject.toml | $(BIN)/python
	$(PIP) install -e '.[docs]'
	@touch $@
