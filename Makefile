# Needs Python 3.11 or newer, make and a package index that pip is set up for. Everything lives in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# Processes that run tests; half of the time a test waits for another process, so two cores keep five of them busy.
WORKERS ?= 5
# Tests start hundreds of interpreters; each compiles everything again where this is set, as containers often do.
unexport PYTHONDONTWRITEBYTECODE
SOAK   := perf/bench_soak.py
SOAK_PARTS := $(addprefix soak-,load kills verbs workers journals streams unicode mouse sandbox fuzz random mutations)
SOAKED := $(BIN)/pytest --timeout 0
FUZZERS := tests/cli/test_any_row.py tests/cli/test_any_file.py tests/core/test_json_text.py \
  tests/engine/test_suite_records.py tests/llm/test_damaged_replies.py tests/suites/test_parsing_growth.py \
  tests/tui/test_crafted_journals.py

.PHONY: run test test-all check lint types types-linux types-darwin types-tests unit slow bench soak $(SOAK_PARTS) constraints wheel clean

run: $(STAMP)  ## open the app
	@$(BIN)/eval-console

test: lint unit  ## in five minutes on two cores

test-all: test types slow  ## everything that CI runs

check: lint types  ## without running tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: types-linux types-darwin types-tests

types-linux types-darwin: types-%: $(STAMP)
	$(BIN)/basedpyright --pythonpath $(BIN)/python --pythonplatform $(if $(filter darwin,$*),Darwin,Linux)

types-tests: $(STAMP)
	$(BIN)/basedpyright --pythonpath $(BIN)/python --pythonplatform Linux --project tests/pyrightconfig.json

unit: $(STAMP)
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

slow: $(STAMP)  ## the tests that `make test` leaves out
	$(BIN)/pytest -n 2 --dist worksteal -m slow

bench: $(STAMP)  ## measure, here and now
	@for script in $(filter-out $(SOAK),$(wildcard perf/bench_*.py)); do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

soak: $(SOAK_PARTS)  ## long and large: load, signals, kills, fuzzers, mutations; MINUTES altogether

$(SOAK_PARTS): $(STAMP)

soak-load:  ## 10,000 cases, a million rollouts, 1,000 runs, 64 streams for 10 minutes
	$(BIN)/python $(SOAK)
soak-kills:  ## all signals at all points of all suites
	EVAL_CONSOLE_KILLS=all $(SOAKED) -n 2 tests/engine/test_kill_suites.py
soak-verbs:  ## 20 kills of every verb
	EVAL_CONSOLE_VERB_KILLS=20 $(SOAKED) -n 2 tests/reliability/test_killed_verbs.py
soak-workers:  ## lost workers of Ray
	EVAL_CONSOLE_LOSSES=5 $(SOAKED) tests/workers/test_ray.py
soak-journals:  ## 5,000 damaged journals
	EVAL_CONSOLE_JOURNALS=5000 $(SOAKED) -n 2 tests/store/test_journal.py tests/store/test_run_list.py tests/engine/test_unsynced_journal.py
soak-streams:  ## streams cut or changed at any byte; 3 streams take 16 s on 2 idle cores
	EVAL_CONSOLE_STREAMS=20 $(SOAKED) tests/llm/test_stream_fuzz.py
soak-unicode:  ## 40 walks in random Unicode
	EVAL_CONSOLE_UNICODE=40 $(SOAKED) tests/tui/test_hostile_text.py
soak-mouse:  ## 20 minutes of clicks, drags and keys while six runs stream; EVAL_CONSOLE_MOUSE_SEED draws others
	EVAL_CONSOLE_MOUSE_S=1200 $(SOAKED) tests/tui/test_mouse.py
soak-sandbox:  ## 200 rounds of random programs
	EVAL_CONSOLE_SANDBOX=200 $(SOAKED) -n 2 tests/sandbox/test_sandbox_fuzz.py
soak-fuzz:  ## all fuzzers, twenty times as long
	EVAL_CONSOLE_FUZZ=20 $(SOAKED) -n 2 $(FUZZERS)
soak-random:  ## new examples for property tests
	EVAL_CONSOLE_RANDOM=1 $(SOAKED) -n 2 -m hypothesis
soak-mutations:  ## changes to the program that its tests must notice; for one package: pytest perf/mutations.py -k store:
	$(BIN)/pytest -n 2 perf/mutations.py

constraints:  ## lock the newest versions that fit pyproject.toml, for all platforms
	PYTHON=$(PYTHON) .ci/lock

wheel: $(STAMP)
	$(BIN)/python -m hatchling build -t wheel -d dist

clean:
	rm -rf $(VENV) dist .pytest_cache .ruff_cache .hypothesis

# The locked set first, by hash; then this project itself, which has no hash, without looking anything up.
$(STAMP): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed. Name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "This Python has no venv module. On Debian and Ubuntu: apt install python3-venv" >&2; exit 2; }
	@echo "Setting up .venv once: $$(grep -c == constraints.txt) packages from your index, usually 1 to 3 minutes"
	@$(PYTHON) -m venv $(VENV)
	@{ while kill -0 $$$$ 2>/dev/null; do sleep 2; printf .; done & } && dots=$$!; \
	  $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes -r constraints.txt && \
	  $(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .; \
	  code=$$?; kill $$dots 2>/dev/null; echo; exit $$code
	@touch $@
