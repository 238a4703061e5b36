# Each target sets up what it needs in .venv; the command is then .venv/bin/geminids.
# PYTHON=… makes it of another Python: `make test PYTHON=python3.13`.

PYTHON ?= python3
FUZZ_SECONDS ?= 300
JOBS ?= 2
SOURCES = src tests benchmarks fuzz hatch_build.py
# What records fixtures, but for the stories of scenarios.
RECORDING = $(filter-out %/companions.py,$(wildcard tests/fixtures/record/[cgmr]*.py))

VENV := .venv
BIN := $(VENV)/bin
WEB := src/geminids/faces/web
PAGE := $(WEB)/built/index.html
PACKAGES := $(WEB)/frontend/node_modules/.package-lock.json
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start thousands of processes: what is compiled is kept, also where the machine is told otherwise.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run page test test-all test-scale bench-scale test-wheel test-real test-faults test-bombs check check-page golden screenshots bench bench-10k bench-usage-10k fuzz clean

help:
	@echo 'make run      the overview and the newest sessions (of a sample, where this machine has none)'
	@echo 'make page     the page of the web app, built into the package; needs Node'
	@echo 'make test     the tests that one runs all day; PYTHON=python3.13, say, makes .venv of that Python first'
	@echo 'make test-all all of them: also browsers, kills, scaling and every example'
	@echo 'make test-scale  a cluster of Apache Spark on this machine, and a worker that is killed; needs Java; some ten minutes'
	@echo 'make test-wheel   the web app out of a wheel, in an environment with nothing else and without Node'
	@echo 'make test-real   what real releases of the agents delete and hide, and how it comes back; long'
	@echo 'make test-faults   commands that are killed, disks that fail, files that are damaged; some twenty minutes'
	@echo 'make test-bombs   every command on files of gigabytes, holes and archives of zeros; its time and memory'
	@echo 'make check    style, types and the order of the floors; with Node, the scripts of the page too'
	@echo 'make golden   rewrites the golden files; read the difference as you would code'
	@echo 'make screenshots   pictures of every view of the web app in .pictures, of the sample; those of the documents; the browser as it moves'
	@echo 'make bench    speed, memory and size, also beside other tools, checked against known totals'
	@echo 'make bench-scale how fast the process pool and Spark read homes'
	@echo 'make bench-10k   the index, the web app and the browser with as many sessions as their goals are stated for; some ten minutes'
	@echo 'make bench-usage-10k   statistics of as many sessions of each agent; some minutes'
	@echo 'make fuzz     damaged session files for FUZZ_SECONDS (now $(FUZZ_SECONDS))'
	@echo 'make clean    removes what the other targets made'

run: $(VENV)/.command
	-@$(MAKE) --silent page
	$(BIN)/geminids
	$(BIN)/geminids list --limit 10
	@echo 'On one screen: $(BIN)/geminids browse'
	@test ! -e $(PAGE) || echo 'In a browser: $(BIN)/geminids web'
	@echo 'The command is $(BIN)/geminids; README.md says how to have it as `geminids` everywhere.'

# Without Node all but the page works.
page:
	@if command -v npm >/dev/null; then $(MAKE) --silent $(PAGE); \
	else echo 'No npm here: `geminids web` will have no page. Node 20.19 or newer builds it.' >&2; fi

test: $(VENV)/.test page
	$(BIN)/pytest -n $(JOBS)

# Every test there is but those that have a target of their own, with all examples.
test-all: $(VENV)/.test page
	GEMINIDS_TESTS=all $(BIN)/pytest -n $(JOBS) -m 'not real and not wheel and not scale'

# Spark is the same package as the client that other tests use: it has an environment of its own.
SPARK := .venv-spark
test-scale: $(SPARK)/.made
	$(SPARK)/bin/pytest -m scale tests/scale

bench-scale: $(SPARK)/.made
	$(SPARK)/bin/python benchmarks/engines.py --sessions 4000

$(SPARK)/.made: pyproject.toml constraints.txt
	@command -v java >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get update -qq && apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null; } \
		|| { echo 'Spark needs Java 17 or newer, and there is none: install default-jre-headless.' >&2; exit 1; }
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/pip install --quiet --upgrade --constraint constraints.txt pip
	$(SPARK)/bin/pip install --quiet --constraint constraints.txt --editable ".[scale,spark]" --group spark
	@touch $@

test-wheel: $(VENV)/.test page
	$(BIN)/pytest -m wheel tests/slow/test_wheel.py

test-bombs: $(VENV)/.test
	$(BIN)/python -m tests.support.bombs .bombs

# What the variables GEMINI_RIG_CLI, GEMINIDS_TEST_CLAUDE and GEMINIDS_TEST_CODEX do not name goes into .real.
test-real: $(VENV)/.test
	$(BIN)/pytest -m real -n $(JOBS) tests/real

# One that was stopped goes on where it was; FAULTS='--anew --seed 2' begins another.
test-faults: $(VENV)/.test
	@failed=; for campaign in 'kills --rounds 1000' 'damage --rounds 1000' 'failing --rounds 300'; do \
		$(BIN)/python -m tests.faults $$campaign --jobs $(JOBS) $(FAULTS) || failed="$$failed, $$campaign"; \
	done; test -z "$$failed" || { echo "FAILED:$${failed#,}"; exit 1; }

check: $(VENV)/.test $(VENV)/.lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy $(SOURCES)
	MYPYPATH=tests/fixtures/record $(BIN)/mypy --explicit-package-bases --follow-imports=silent $(RECORDING)
	$(BIN)/lint-imports
	@if command -v npm >/dev/null; then $(MAKE) --silent check-page; \
	else echo 'No npm here: the page of the web app is not checked.' >&2; fi

check-page: $(PACKAGES)
	cd $(WEB)/frontend && npm run --silent check && npm test --silent

golden: $(VENV)/.test page
	GEMINIDS_GOLDEN=rewrite $(BIN)/pytest -n $(JOBS) -m 'not real and not wheel and not scale'

# All of them are for looking at; the documents show these.
PICTURES := home-desktop-light transcript-desktop-light usage-desktop-dark transcript-phone-light
screenshots: $(VENV)/.test page
	$(BIN)/python -m tests.browser.screenshots .pictures
	mkdir -p docs/pictures && $(BIN)/python -m tests.support.browse_movie docs/pictures/browse.svg
	cp $(PICTURES:%=.pictures/%.png) docs/pictures

bench: $(VENV)/.bench
	@failed=; for part in read index keep tables records export web mcp_server browser 'browser --agent gemini' peers 'peers --agent claude' \
			usage 'usage --agent claude' 'usage --agent codex'; do \
		echo "$$part:"; set -- $$part; script=$$1; shift; \
		$(BIN)/python benchmarks/$$script.py "$$@" || failed="$$failed, $$part"; \
	done; test -z "$$failed" || { echo "FAILED:$${failed#,}"; exit 1; }; echo 'all parts within bounds'

bench-10k: $(VENV)/.bench
	$(BIN)/python benchmarks/index.py --sessions 10000
	$(BIN)/python benchmarks/web.py --sessions 10000
	$(BIN)/python benchmarks/mcp_server.py --sessions 10000
	$(BIN)/python benchmarks/browser.py --sessions 10000
	$(BIN)/python benchmarks/tables.py --sessions 10000 --machines 10

bench-usage-10k: $(VENV)/.bench
	@failed=; for agent in gemini claude codex; do \
		$(BIN)/python benchmarks/usage.py --agent $$agent --sessions 10000 || failed="$$failed $$agent"; \
	done; test -z "$$failed" || { echo "FAILED:$$failed"; exit 1; }

fuzz: $(VENV)/.fuzz
	$(BIN)/python fuzz/fuzz_gemini.py --seconds $(FUZZ_SECONDS)

clean:
	rm -rf $(VENV) $(SPARK) $(WEB)/built $(WEB)/frontend/node_modules .bench .bombs .faults .fuzz .pictures .real .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# Without a wish the Python of an environment that is there will do; with one, another is made anew.
IDENTITY := -c 'import sys; print(sys.base_prefix, sys.version)'
ifneq ($(origin PYTHON),file)
ifneq ($(shell $(PYTHON) $(IDENTITY)),$(shell $(BIN)/python $(IDENTITY) 2>/dev/null))
.PHONY: $(VENV)/.command
ANEW := --clear
endif
endif

# A pip that knows dependency groups; older ones come with Python itself.
$(VENV)/.command: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		f"geminids needs Python 3.11 or newer, and this is {sys.version.split()[0]}. PYTHON=… names another.")'
	$(PYTHON) -m venv $(ANEW) $(VENV)
	$(BIN)/pip install --quiet --upgrade --constraint constraints.txt pip
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[all]"
	@touch $@

$(VENV)/.%: $(VENV)/.command
	$(BIN)/pip install --quiet --constraint constraints.txt --group $*
	@touch $@

$(PACKAGES): $(WEB)/frontend/package.json $(WEB)/frontend/package-lock.json
	cd $(WEB)/frontend && npm install --no-save --silent
	@touch $@

$(PAGE): $(PACKAGES) $(wildcard $(WEB)/frontend/*.*) $(shell find $(WEB)/frontend/src $(WEB)/frontend/public -type f)
	cd $(WEB)/frontend && npm run --silent build -- --logLevel error
