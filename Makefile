# Everything a newcomer needs: `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Each of the many processes that tests start would otherwise compile all of it anew.
export PYTHONDONTWRITEBYTECODE :=
# One database server per worker, and as many workers as cores.
TESTS := -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help up install test check format docs client examples bench clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

up: $(INSTALLED) ## Start a sandbox on 127.0.0.1:4960 (HOME_DIR=folder PORT=number to change)
	@$(BIN)/farthing up $(if $(HOME_DIR),--home $(HOME_DIR)) $(if $(PORT),--port $(PORT))

install: $(INSTALLED) ## Make .venv and install everything into it

test: $(INSTALLED) ## Run every check and every test, with coverage
	$(MAKE) --no-print-directory lint
	$(BIN)/pytest $(TESTS) --cov --cov-report=term

check: $(INSTALLED) ## Format, lint, types, layers and the fast tests; for every day
	$(MAKE) --no-print-directory lint
	$(BIN)/pytest $(TESTS) -q -m "not slow"

.PHONY: lint
lint: $(INSTALLED)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(INSTALLED) ## Format the code and sort its imports
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

docs: $(INSTALLED) ## Write the reference pages anew from the code
	$(BIN)/python docs/generate.py

client: $(INSTALLED) ## Write the Python client and the table of commands anew from the operations
	$(BIN)/python -m tools.client
	$(BIN)/python -m tools.commands

examples: $(INSTALLED) ## Record the examples of the documentation anew from real answers
	RECORD_EXAMPLES=1 $(BIN)/pytest -q tests/http/test_examples.py
	$(BIN)/python docs/generate.py

bench: $(INSTALLED) ## Measure the service beside pgbench on the same machine
	$(BIN)/python -m bench
	$(BIN)/python -m bench --connections

clean: ## Remove what was installed
	rm -rf $(VENV)

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Farthing needs Python 3.11 or later; name one with PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt pip
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--editable . --group dev
	@touch $@
