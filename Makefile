# Two commands: `make serve` runs the server, `make test` proves the tree. Both set up what they need.
PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 8000
MODEL ?= smollm2-135m-instruct
ARGS ?=
PROCESSES ?= 2
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A file is one process's: what it sets up is set up once. In their order the longest come first.
PYTEST := $(BIN)/pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
AI_SDK := examples/agents/node_modules/.package-lock.json
IF_NPM := $(if $(shell command -v npm),$(AI_SDK))

# Hundreds of tests start a command: its modules are compiled once.
test search: export PYTHONDONTWRITEBYTECODE =

.PHONY: serve test search sdks agents bench format clean

serve: .venv/.engine
	$(BIN)/headstart serve --host $(HOST) --port $(PORT) --model $(MODEL) $(ARGS)

test: .venv/.dev
	-$(if $(IF_NPM),$(MAKE) $(IF_NPM))
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(PYTEST)

search: .venv/.dev
	$(PYTEST) -m hypothesis --hypothesis-profile search --timeout 3000 $(ARGS)

sdks: .venv/.dev
	$(BIN)/python tests/conformance/versions.py $(ARGS)

agents: .venv/.dev $(IF_NPM)
	$(BIN)/python examples/agents/run.py $(ARGS)

bench: .venv/.engine
	$(BIN)/headstart bench $(ARGS)

format: .venv/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf .venv examples/agents/node_modules

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

$(AI_SDK): examples/agents/package-lock.json
	cd examples/agents && npm ci --no-audit --no-fund
	touch $@
