# Set-up needs Python 3.11 or later, pip and GNU make; everything else is installed into .venv.
# `make demo` runs the demonstration, `make test` all checks.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Arguments for pytest, e.g. make test PYTEST_ARGS="--shared=../cases -k seedev"
PYTEST_ARGS ?=
# Arguments for the benchmarks, e.g. make bench BENCH_ARGS="hub4 --quick"
BENCH_ARGS ?=
# Arguments for fuzzing, e.g. make fuzz FUZZ_ARGS="hub4 --mutations 1000"
FUZZ_ARGS ?=

.PHONY: demo docs test lint types pytest bench coverage fuzz clean

demo: $(INSTALLED)
	$(BIN)/hlteval demo build/demo

# Reports all problems in one run: tests run even if the style is wrong.
test: $(INSTALLED)
	@failed=; for part in lint types pytest; do \
		$(MAKE) --no-print-directory $$part || failed="$$failed $$part"; \
	done; test -z "$$failed"

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

pytest: $(INSTALLED)
	$(BIN)/pytest --cov -n auto $(PYTEST_ARGS)

# The site is complete: neither the build nor a browser loads anything from elsewhere.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/docs/index.html"

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# How often confidence intervals cover the truth, and tests find what is not there: docs/intervals.md.
coverage: $(INSTALLED)
	nice $(BIN)/python -m benchmarks coverage --page docs/intervals.md
	nice $(BIN)/python -m benchmarks equal-systems --page docs/intervals.md

# Takes hours and resumes where it was interrupted; results are in build/fuzz.
fuzz: $(INSTALLED)
	nice $(BIN)/python -m fuzz $(FUZZ_ARGS)

# While the stamp is newer than its sources, nothing is installed again. If Python has no ensurepip,
# the pip of the system installs pip into the new environment.
$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
		$(PYTHON) -m venv --clear --without-pip $(VENV) && \
		$(PYTHON) -m pip --python $(BIN)/python install pip; }
	$(PIP) install -c constraints.txt setuptools
	$(PIP) install -c constraints.txt --no-build-isolation -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist hlteval.egg-info hlteval-demo .coverage
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
