# Each target sets up what it needs in .venv; the command is then .venv/bin/geminids.

PYTHON ?= python3
FUZZ_SECONDS ?= 300
JOBS ?= 2
SOURCES = src tests benchmarks fuzz

VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help run test test-real check golden bench bench-10k bench-usage-10k fuzz clean

help:
	@echo 'make run      the overview and the newest sessions (of a sample, where this machine has none)'
	@echo 'make test     the tests'
	@echo 'make test-real   what real releases of the agents delete and hide, and how it comes back; long'
	@echo 'make check    style, types and the order of the rooms'
	@echo 'make golden   rewrites the golden files; read the difference as you would code'
	@echo 'make bench    speed, memory and size, also beside other tools, checked against known totals'
	@echo 'make bench-10k   the index with as many sessions as its goals are stated for; some ten minutes'
	@echo 'make bench-usage-10k   statistics of as many sessions of each agent; some minutes'
	@echo 'make fuzz     damaged session files for FUZZ_SECONDS (now $(FUZZ_SECONDS))'
	@echo 'make clean    removes what the other targets made'

run: $(VENV)/.command
	$(BIN)/geminids
	$(BIN)/geminids list --limit 10

test: $(VENV)/.test
	$(BIN)/pytest -n $(JOBS)

# What the variables GEMINI_RIG_CLI, GEMINIDS_TEST_CLAUDE and GEMINIDS_TEST_CODEX do not name goes into .real.
test-real: $(VENV)/.test
	$(BIN)/pytest -m real -n $(JOBS) tests/real

check: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(SOURCES)
	$(BIN)/lint-imports

golden: $(VENV)/.test
	GEMINIDS_GOLDEN=rewrite $(BIN)/pytest -n $(JOBS)

bench: $(VENV)/.bench
	@failed=; for part in read index keep records export peers 'peers --agent claude' \
			usage 'usage --agent claude' 'usage --agent codex'; do \
		echo "$$part:"; set -- $$part; script=$$1; shift; \
		$(BIN)/python benchmarks/$$script.py "$$@" || failed="$$failed, $$part"; \
	done; test -z "$$failed" || { echo "FAILED:$${failed#,}"; exit 1; }; echo 'all parts within bounds'

bench-10k: $(VENV)/.bench
	$(BIN)/python benchmarks/index.py --sessions 10000

bench-usage-10k: $(VENV)/.bench
	@failed=; for agent in gemini claude codex; do \
		$(BIN)/python benchmarks/usage.py --agent $$agent --sessions 10000 || failed="$$failed $$agent"; \
	done; test -z "$$failed" || { echo "FAILED:$$failed"; exit 1; }

fuzz: $(VENV)/.fuzz
	$(BIN)/python fuzz/fuzz_gemini.py --seconds $(FUZZ_SECONDS)

clean:
	rm -rf $(VENV) .bench .fuzz .real .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# A pip that knows dependency groups; older ones come with Python itself.
$(VENV)/.command: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[cost]"
	@touch $@

$(VENV)/.%: $(VENV)/.command
	$(BIN)/pip install --quiet --constraint constraints.txt --group $*
	@touch $@
