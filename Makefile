# Set-up needs nothing but Python 3.11 or later, pip and GNU make; everything else goes into .venv.
# `make demo` shows what hlteval does, `make test` checks everything.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# More for pytest, such as: make test PYTEST_ARGS="--shared=../cases -k seedev"
PYTEST_ARGS ?=
# More for the benchmark, such as: make bench BENCH_ARGS="hub4 --quick"
BENCH_ARGS ?=
# More for the search for faults, such as: make fuzz FUZZ_ARGS="hub4 --mutations 1000"
FUZZ_ARGS ?=

.PHONY: demo docs test lint types pytest bench fuzz clean

demo: $(INSTALLED)
	$(BIN)/hlteval demo build/demo

# All that is wrong in one run: a fault of style hides no failing test.
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

# Everything that the pages need is there: nothing is fetched, neither now nor by who reads them.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "build/docs/index.html"

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Takes hours, and goes on where it was broken off; build/fuzz holds what was found.
fuzz: $(INSTALLED)
	nice $(BIN)/python -m fuzz $(FUZZ_ARGS)

# The stamp is newer than what it was made from: a second run installs nothing. Where Python comes
# without ensurepip, the pip that is there puts another into the new environment.
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
