# Everything a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: setup demo test lint bench docs clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

demo: setup
	$(BIN)/shiftscope demo

test: lint
	$(BIN)/python -m pytest --cov --cov-report=term

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python -m benchmarks

docs: setup
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) build dist site .coverage .pytest_cache .mypy_cache .ruff_cache
