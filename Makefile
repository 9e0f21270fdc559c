# Set-up needs Python 3.11 or later, pip and GNU make; everything else is installed into .venv:
# `make demo` runs the demonstration and installs only what hlteval needs, `make test` adds the tools
# of development and runs all checks, `make test-thorough` tries all that is tried, `make test-oldest`
# runs the tests with the lower bounds.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/runtime
INSTALLED := $(VENV)/installed
OLDEST := .venv-oldest
PEERS := .venv-peers
PIP := -m pip --disable-pip-version-check --quiet
INSTALL := install --no-build-isolation

# Arguments for pytest, e.g. make test PYTEST_ARGS="--shared=../cases -k seedev"
PYTEST_ARGS ?=
# Arguments for the benchmarks, e.g. make bench BENCH_ARGS="hub4 --quick"
BENCH_ARGS ?=
# Arguments for fuzzing, e.g. make fuzz FUZZ_ARGS="hub4 --mutations 1000"
FUZZ_ARGS ?=
# Arguments for mutants, e.g. make mutants MUTANTS_ARGS="scoring/edl --number 50 --seed 2"
MUTANTS_ARGS ?=

# Tests start many programs, whose modules are compiled once. Tests of a file share what they build;
# the files that take longest come first (conftest.py).
# There is a worker per core: more threads of Polars would only wait for each other.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := pytest -n auto --dist loadfile --no-loadscope-reorder

# Arguments for the size of the code, e.g. make size SIZE_ARGS="--list participles"
SIZE_ARGS ?=

# Arguments for a release, e.g. make dist DIST_ARGS="--tag v0.1.0 --repository ADDRESS"
DIST_ARGS ?=
# The Pythons that a release is tried with.
PYTHONS ?= $(foreach version,3.11 3.12 3.13,$(shell command -v python$(version)))

# What is new, e.g. make new-task NAME=spans TITLE="Labelled spans" SPECIFICATION="the guidelines":
# docs/adding.md. FAMILY, FORMAT, CODE and SUBJECT are optional, but for a rule.
NEW = $(BIN)/python -m house.new $(1) $(NAME) --family "$(FAMILY)" --title "$(TITLE)"

.PHONY: golden new-task new-format new-rule
.PHONY: demo dist docs man test test-thorough test-oldest test-peers lint types pytest size bench bench-peers coverage fuzz mutants clean

demo: $(RUNTIME)
	$(BIN)/hlteval demo build/demo

# Reports all problems in one run: tests run even if the style is wrong. The other checks run beside
# the tests, and are shown when these are complete.
test: $(INSTALLED)
	@mkdir -p build; $(MAKE) --no-print-directory --keep-going size lint types >build/checks.log 2>&1 & \
	checks=$$!; failed=; $(MAKE) --no-print-directory pytest || failed=pytest; \
	wait $$checks || failed="$$failed checks"; cat build/checks.log; test -z "$$failed"

# All cells of all matrices and all random examples, of which `make test` tries a share.
test-thorough:
	$(MAKE) --no-print-directory test PYTEST_ARGS="--thorough $(PYTEST_ARGS)"

# How much code there is, and how finely it is divided.
size: $(INSTALLED)
	$(BIN)/python -m house.size $(SIZE_ARGS)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The package as it is installed: four of its rooms are elsewhere in the repository.
types: $(INSTALLED)
	rm -rf build/package
	$(BIN)/python -c "from setuptools import setup; setup()" --quiet build_py --build-lib build/package
	cd build/package && "$(abspath $(BIN))/mypy" --config-file ../../pyproject.toml --cache-dir ../../.mypy_cache

pytest: $(INSTALLED)
	PYTHONDONTWRITEBYTECODE= POLARS_MAX_THREADS=1 POLARS_ENGINE_AFFINITY=in-memory \
		$(BIN)/$(PYTEST) $(PYTEST_ARGS)

# The versions of constraints-oldest.txt, in an environment of their own. Neither style nor types
# depend on them, nor does what is built.
test-oldest: $(OLDEST)/installed
	POLARS_MAX_THREADS=1 $(OLDEST)/bin/$(PYTEST) -m "not packaging and not pinned" $(PYTEST_ARGS)

# Public tools beside ours, on random inputs: in an environment of their own. HLTEVAL_COREF_SCORER is
# the path of the official scorer of coreference, scorer.pl, and HLTEVAL_BIONLP_ST the class path of
# bionlp-st-core with its libraries; without them, these are skipped.
test-peers: $(PEERS)/installed
	POLARS_MAX_THREADS=1 $(PEERS)/bin/$(PYTEST) tests/peers $(PYTEST_ARGS)

# Both distributions of what is committed, into dist: built twice, checked, and installed in an empty
# environment of each Python. CONTRIBUTING.md has the steps of a release.
dist: $(INSTALLED)
	$(BIN)/python $(PIP) $(INSTALL) -c constraints.txt -e '.[release]'
	$(BIN)/python -m house.release build --python $(PYTHONS) $(DIST_ARGS)

# The site is complete: neither the build nor a browser loads anything from elsewhere.
docs: $(INSTALLED)
	$(BIN)/python -m docs.make.pictures
	$(BIN)/python -m docs.make.serve_picture
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "build/docs/index.html"

# Manual pages, from the commands: man -M build/man hlteval-score
man: $(INSTALLED)
	$(BIN)/python -m docs.make.man_pages build/man
	@echo "build/man/man1"

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Public programs in the folder DIR run beside ours, and the tools of Python: docs/benchmarks.md.
DIR := build/programs
bench-peers: $(INSTALLED) $(PEERS)/installed
	@mkdir -p $(DIR)
	@for tool in jiwer nervaluate pyannote scikit-learn seqeval; do \
		printf '#!/bin/sh\nexec %s -m benchmarks.tools %s "$$@"\n' $(CURDIR)/$(PEERS)/bin/python $$tool \
		>$(DIR)/$$tool; chmod +x $(DIR)/$$tool; done
	$(BIN)/python -m benchmarks --peers $(DIR) $(BENCH_ARGS)

# How often confidence intervals cover the truth, and tests find what is not there: docs/intervals.md.
coverage: $(INSTALLED)
	nice $(BIN)/python -m benchmarks coverage --page docs/intervals.md
	nice $(BIN)/python -m benchmarks equal-systems --page docs/intervals.md
	nice $(BIN)/python -m benchmarks biased-measures --page docs/intervals.md

# Takes hours and resumes where it was interrupted; results are in build/fuzz.
fuzz: $(INSTALLED)
	nice $(BIN)/python -m fuzz.commands
	nice $(BIN)/python -m fuzz $(FUZZ_ARGS)

# Small changes of scoring/, each of which a unit or property test must notice; resumes, too.
mutants: $(INSTALLED)
	POLARS_MAX_THREADS=1 nice $(BIN)/python -m mutants $(MUTANTS_ARGS)

# While a stamp is newer than its sources, nothing is installed again. If Python has no ensurepip,
# the pip of the system installs pip into the new environment.
define environment
test -x $(1)/bin/python || $(PYTHON) -m venv $(1) || { \
	$(PYTHON) -m venv --clear --without-pip $(1) && \
	$(PYTHON) -m pip --python $(1)/bin/python install pip; }
endef

$(RUNTIME): pyproject.toml constraints.txt
	$(call environment,$(VENV))
	$(BIN)/python $(PIP) install -c constraints.txt setuptools
	$(BIN)/python $(PIP) $(INSTALL) -c constraints.txt -e .
	touch $@

# Few modules of the tools are ever imported: these are compiled then.
$(INSTALLED): $(RUNTIME)
	$(BIN)/python $(PIP) $(INSTALL) --no-compile -c constraints.txt -e '.[dev]'
	touch $@

$(OLDEST)/installed: pyproject.toml constraints-oldest.txt
	$(call environment,$(OLDEST))
	$(OLDEST)/bin/python $(PIP) install -c constraints-oldest.txt setuptools
	$(OLDEST)/bin/python $(PIP) $(INSTALL) -c constraints-oldest.txt -e '.[dev]'
	touch $@

$(PEERS)/installed: pyproject.toml constraints.txt
	$(call environment,$(PEERS))
	$(PEERS)/bin/python $(PIP) install -e '.[dev,peers]'
	touch $@

# Pages and lists that are made from code; git diff shows what changed.
golden: $(INSTALLED)
	$(BIN)/$(PYTEST) -q --update-golden $$(grep -rl --include='test_*.py' golden tests)

new-task: $(INSTALLED)
	$(call NEW,task) --format "$(FORMAT)" --specification "$(SPECIFICATION)" --code "$(CODE)"

new-format: $(INSTALLED)
	$(call NEW,format) --code "$(CODE)"

new-rule: $(INSTALLED)
	$(call NEW,rule) --number $(CODE) --subject $(or $(SUBJECT),records)

clean:
	rm -rf $(VENV) $(OLDEST) $(PEERS) build dist hlteval.egg-info hlteval-demo .coverage
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
