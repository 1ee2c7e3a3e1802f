# Each target makes the environment it needs; a second run does no install work.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: help install serve test coverage test-newest check format openapi bench bench-guard trials image clean

help:
	@echo "make serve     run the server with the tools in tools/ on 127.0.0.1:8000; ARGS=\"--port 8001\" chooses another port"
	@echo "make install   only make the environment, $(VENV)"
	@echo "make test      run every test"
	@echo "make coverage  run every test, and report which branches none of them takes"
	@echo "make test-newest  run the fast part of them on the newest supported Python of this machine"
	@echo "make check     lint, types, layers, OpenAPI drift"
	@echo "make check-features  start a server without each feature that may be off; ARGS=--suites runs some tests without it, too, --record records it"
	@echo "make check-kernel  run the kernel's own tests where there is nothing but the kernel; ARGS=PATHS chooses some"
	@echo "make format    format the code"
	@echo "make openapi   write openapi/openapi.json"
	@echo "make docs      write docs/settings.md"
	@echo "make bench     measure server, floors and peers, and record it in docs/performance.md; or ARGS="--only doors --quick""
	@echo "make bench-guard  fail when the hot path has lost a tenth against the Starlette floor"
	@echo "make trials    do the server's worst to it for three quarters of an hour, and record what came of it in bench/results/trials.md"
	@echo "make image     build the container image and check it (as root, on Debian or Ubuntu)"

# What it takes to serve; what it takes to work on the project comes on top.
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev

$(RUNTIME): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Sidecall needs Python 3.11 or newer; say which: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing Sidecall into $(VENV)"
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(PIP) --editable .
	@touch $@

# What the tests import is compiled by the way; the rest, which is most, need not be.
$(DEV): $(RUNTIME)
	@echo "installing what tests and checks need"
	@PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(PIP) --no-compile --editable '.[dev]'
	@touch $@

install: $(RUNTIME)

serve: $(RUNTIME)
	@exec $(BIN)/sidecall serve $(ARGS)

test: $(DEV)
	@scripts/test

coverage: $(DEV)
	@COVERAGE=1 scripts/test

test-newest: $(DEV)
	@scripts/test-newest

check: $(DEV)
	@scripts/check

format: $(DEV)
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix-only --quiet .

openapi: $(RUNTIME)
	@$(BIN)/sidecall openapi --output openapi/openapi.json

.PHONY: docs
docs: $(RUNTIME)
	@$(BIN)/python scripts/settings_page.py

bench: $(DEV)
	@$(BIN)/python -m bench $(or $(ARGS),--only uses --record)

bench-guard: $(RUNTIME)
	@$(BIN)/python -m bench.guard $(ARGS)

.PHONY: check-features
check-features: $(DEV)
	@$(BIN)/python -m trials.features_off $(ARGS)

.PHONY: check-kernel
check-kernel: $(DEV)
	@scripts/check-kernel $(ARGS)

trials: $(DEV)
	@$(BIN)/python -m trials $(or $(ARGS),--record)

image:
	@scripts/check-image

clean:
	rm -rf $(VENV) $(VENV)-* .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*
