# Everything a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# uv installs several times as fast as pip; it does not read pip's settings, so pip does what uv cannot, and soon.
INSTALL = UV_HTTP_TIMEOUT=15 UV_HTTP_RETRIES=1 $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) 2>/dev/null || $(PIP) $(1)

.PHONY: setup demo test soak browser lint bench docs screens clean fuzz

setup: $(VENV)/.dev

# The package alone: all that the demo needs.
$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) uv || true
	$(call INSTALL,--editable .)
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	$(call INSTALL,--editable ".[dev]")
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(call INSTALL,--editable ".[bench]")
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(call INSTALL,--editable ".[docs]")
	@touch $@

demo: $(VENV)/.base
	$(BIN)/shiftscope demo

test: lint browser
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --cov --cov-report=term

# A thousand comparisons in one process: memory must stay flat.
soak: $(VENV)/.dev
	$(BIN)/python -m validation.soak --comparisons 1000

# Fresh hostile inputs for as long as you like; goes on where the last run stopped. Faults go to tests/fuzz/found.
MINUTES ?= 30
WORKERS ?= 2
FOUND ?= tests/fuzz/found
fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz.run --minutes $(MINUTES) --workers $(WORKERS) --found $(FOUND)

# The tests look at the report in a real browser: found, or installed where that is possible.
browser: $(VENV)/.dev
	$(BIN)/python tests/browser/chromium.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.performance

docs: $(VENV)/.docs
	$(BIN)/python -m mkdocs build --strict --site-dir site

# The pictures in docs/images, drawn again.
screens: browser
	$(BIN)/python docs/screens.py

clean:
	rm -rf $(VENV) build dist site .coverage .pytest_cache .mypy_cache .ruff_cache
	find src -name __pycache__ -exec rm -rf {} +  # compiled kernels too
