# Two commands do everything on a machine with python3, make and access to a package registry:
#   make demo    publish and check a built-in table
#   make test    lint, types and tests, also where nothing is installed but incrowd
#   make dist    build the wheel and the sdist, and try both where nothing else is installed (WHOLE=1: all tests)
# Windows has another name for Python, and another folder for programs (GNU make there runs these lines by Git's sh).
ifeq ($(OS),Windows_NT)
PYTHON ?= python
PROGRAMS := Scripts
else
PYTHON ?= python3
PROGRAMS := bin
endif
VENV   ?= .venv
BIN    := $(VENV)/$(PROGRAMS)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
CORE   := $(VENV)-core

# Compiled Python is kept: otherwise every command that a test runs compiles all of incrowd again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types tests bare format bench campaign dist docs notebooks constraints clean

demo: $(VENV)/.installed
	$(BIN)/incrowd demo

test: lint types tests bare

lint: $(VENV)/.test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.test-installed
	$(BIN)/mypy

# As many processes as cores: each more collects all tests once more, for the same time by the clock. `tests/conftest.py` keeps tests together that share something.
tests: $(VENV)/.test-installed
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

# What a user has who installs nothing else: the packages of the tests would hide that one is missing.
bare: $(CORE)/.made
	$(CORE)/$(PROGRAMS)/python -m pip --disable-pip-version-check --quiet install --constraint constraints.txt .
	$(CORE)/$(PROGRAMS)/python -m tests.bare_install

format: $(VENV)/.test-installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test-installed
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

# Attack the promises: make campaign MINUTES=60, make campaign NAME=recipes FIRST=7 TRIALS=1
campaign: $(VENV)/.test-installed
	$(BIN)/python -m tests.campaigns $(NAME) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(FIRST),--first $(FIRST)) $(if $(TRIALS),--trials $(TRIALS))

dist:
	$(PYTHON) scripts/dist.py $(if $(WHOLE),--whole) $(if $(ONLY),--only $(ONLY))

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) install --constraint constraints.txt --editable .
	touch $@

# pyCANON, the oracle of the models' tests, pins old versions of what everybody uses: it comes without them.
$(VENV)/.test-installed: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) install --constraint constraints.txt --editable '.[test]'
	$(PIP) install --constraint constraints.txt --no-deps pycanon
	touch $@ $(VENV)/.installed

$(CORE)/.made: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(CORE)
	touch $@

# The documentation as pages that need no network: build/site/index.html. A warning or a broken link is an error.
docs: $(VENV)/.docs-installed
	$(BIN)/python -m docs.making

# Run the notebooks again, and write into them what they show: after a change of what they show, or of a notebook.
notebooks: $(VENV)/.test-installed
	$(BIN)/python -m docs.making.notebooks $(NAME)

$(VENV)/.docs-installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[docs]'
	touch $@

# Write down the versions that are installed now.
constraints: $(VENV)/.test-installed
	$(BIN)/python -m pip freeze --exclude-editable | sort --ignore-case > constraints.txt

clean:
	rm -rf $(VENV) $(CORE) .mypy_cache .pytest_cache .ruff_cache .hypothesis demo build dist
