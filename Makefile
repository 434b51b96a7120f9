# Two commands: `make serve` runs the server, `make test` proves the tree. Both set up what they need.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
MODEL ?= smollm2-135m-instruct
ARGS ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: serve test sdks bench format clean

serve: .venv/.engine
	$(BIN)/headstart serve --host $(HOST) --port $(PORT) --model $(MODEL) $(ARGS)

test: .venv/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

sdks: .venv/.dev
	$(BIN)/python tests/conformance/versions.py $(ARGS)

bench: .venv/.engine
	$(BIN)/headstart bench $(ARGS)

format: .venv/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf .venv

.venv/.pip:
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet -c constraints.txt pip
	touch $@

.venv/.engine: .venv/.pip pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[engine]'
	touch $@

.venv/.dev: .venv/.engine
	$(PIP) install -c constraints.txt --group dev
	touch $@
