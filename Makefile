# Everything runs inside .venv, which `make setup` builds from requirements.lock.

PYTHON ?= python3
PYTEST_ARGS ?=
STRESS_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
UV := VIRTUAL_ENV=$(VENV) $(BIN)/uv --quiet
READY := $(VENV)/.ready
CLASSES := $(VENV)/spark-classes.jsa
# Tests that `make check` leaves out: pyproject.toml describes the markers.
LEFT_OUT := jvm or slow or external or duckdb or mysql or postgresql

.DEFAULT_GOAL := help

.PHONY: help
help:  ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(READY)  ## Build the environment; does nothing when it is up to date.

$(READY): pyproject.toml requirements.lock | $(BIN)/uv
	$(UV) pip sync requirements.lock
	$(UV) pip install --no-deps --editable .
	@touch $@

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

.PHONY: demo
demo: setup  ## Take the tour: a lake, eight agents in forks of it, time travel.
	$(BIN)/python -m forklake.cli.demo

# Python starts many times in tests, and is to find itself compiled.
check fast-tests test: export PYTHONDONTWRITEBYTECODE :=

.PHONY: check
check: setup  ## Run the linters, and the tests that take less than two minutes together.
	@$(MAKE) --no-print-directory --jobs 2 lint fast-tests

.PHONY: fast-tests
# A test that starts Java fails: it belongs into `make test`.
fast-tests: export FORKLAKE_TEST_JAVA := refused
fast-tests: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not ($(LEFT_OUT))" $(PYTEST_ARGS)

.PHONY: test
test: lint $(CLASSES)  ## Run the linters and all tests; PYTEST_ARGS goes to pytest.
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

# Tests start Java many times: it loads Spark's classes from here in half the time.
$(CLASSES): $(READY)
	$(BIN)/python -m tests.fix_java $@

.PHONY: lint
lint: setup  ## Check style, formatting, types, layers and language.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_language.py

.PHONY: docs
docs: setup  ## Build the documentation site into build/site; a warning is an error.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

.PHONY: build
build: | $(BIN)/uv  ## Build the wheel and the source distribution into dist.
	$(UV) build

.PHONY: schema
schema: setup  ## Write the schema files of all databases from their description.
	$(BIN)/python tools/write_schema.py

.PHONY: stress
stress: setup  ## Stress a lake for some minutes, with faults; STRESS_ARGS="--minutes 60" for longer.
	$(BIN)/python -m stress $(STRESS_ARGS)

.PHONY: bench
bench: bench-metadata bench-spark  ## Run all benchmarks.

.PHONY: bench-metadata
bench-metadata: setup  ## Measure the metastore: forks, commits and reads.
	$(BIN)/python -m benchmarks.metadata

.PHONY: bench-spark
bench-spark: setup  ## Measure tables on Spark: scans, writes and changes.
	$(BIN)/python -m benchmarks.spark

.PHONY: lock
lock: | $(BIN)/uv  ## Resolve all dependencies anew into requirements.lock.
	$(UV) pip compile pyproject.toml --all-extras --group dev --group bench --group docs \
		--universal --upgrade --generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" --output-file requirements.lock

.PHONY: clean
clean:  ## Remove the environment, caches and build results.
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -type d -name __pycache__ -prune -exec rm -rf {} +
