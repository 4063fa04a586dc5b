# Needs Python 3.11 or newer, make and a package index. Everything is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := gpusim isa workloads
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal
# Of these plain Python is a check of its own: rules as functions, both engines of the same rules.
RULES := tests/sm tests/engines tests/simulation
TESTS ?= tests

.DELETE_ON_ERROR:
.PHONY: help demo lessons precomputed docs pictures examples records test check check-full fuzz bench reproduction validation sensitivity clean

help:
	@echo "make demo        install, then simulate a published SGEMM on the GPU it was written for"
	@echo "make lessons     install, then open the lessons in a browser"
	@echo "make precomputed what the lessons show before they simulate, anew"
	@echo "make docs        the docs site, in docs/_build/html"
	@echo "make pictures    the pictures of README and docs anew"
	@echo "make examples    what the commands in README and docs print, anew"
	@echo "make records     the classes of records that mypy reads, anew from what the units declare"
	@echo "make test        the quick tests, of TESTS=tests/sm alone: two minutes on two cores"
	@echo "make check       style, types, imports, tests with a part of cases and draws, rules in plain Python, too: 15 minutes"
	@echo "make check-full  the same, all cases and draws, and the slow tests: hours"
	@echo "make fuzz        random programs on random machines, programs of CUDA C, mutated inputs: SECONDS=600 [SEED=n]"
	@echo "make bench       speed of both engines, and how it grows with the work (docs/performance.md)"
	@echo "make reproduction  every claim of docs/reproduction.md anew"
	@echo "make validation  docs/validation-h200.md with its picture, and docs/architectures.md anew"
	@echo "make sensitivity  which guesses turn these claims, for docs/sensitivity.csv: hours, or what is missing there"
	@echo "make clean       remove .venv and every cache"

demo: $(VENV)/core.stamp
	$(BIN)/gpusim run sgemm-lai --machine gtx580-1566 -p m=4800 -p n=4800 -p k=4800

lessons: $(VENV)/lessons.stamp
	$(BIN)/marimo --log-level error run notebooks

precomputed: $(VENV)/lessons.stamp
	$(BIN)/python notebooks/precompute.py

docs: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(VENV)/test.stamp
	$(BIN)/gpusim export sgemm-lai --machine gtx580-1566 -p m=4800 -p n=4800 -p k=4800 --cycles 28050:28650 \
	  --format svg --out docs/pictures/sgemm.svg
	$(BIN)/gpusim view examples/lengths/naive.cubin --out docs/pictures/lengths.svg

examples: $(VENV)/test.stamp
	$(BIN)/python tests/read/fenced.py

records: $(VENV)/core.stamp
	PYTHONPATH=docs $(BIN)/python -m generate.records

test: $(VENV)/test.stamp
	GPUSIM_TESTS=quick $(PYTEST) -m "not slow and not long" $(TESTS)

check: $(VENV)/all.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict $(PACKAGES) docs/generate notebooks/teaching.py notebooks/precompute.py notebooks/trust.py notebooks/puzzle.py notebooks/dark.py
	$(BIN)/lint-imports
	GPUSIM_TESTS=check $(PYTEST) -m "not slow"
	GPUSIM_TESTS=quick NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not slow and not long and not jit" $(RULES)

check-full: check $(VENV)/docs.stamp
	$(PYTEST)
	GPUSIM_TESTS=check NUMBA_DISABLE_JIT=1 $(PYTEST) -m "not slow and not jit"

fuzz: SECONDS := 600
fuzz: $(VENV)/test.stamp
	PYTHONPATH=.:tests $(BIN)/python -m fuzz $(SECONDS) $(SEED)

bench: $(VENV)/test.stamp $(VENV)/plot.stamp
	$(BIN)/python -m pytest benchmarks -o addopts=-q --benchmark-only --benchmark-timer=time.process_time \
	  --benchmark-columns=min,median,rounds
	$(BIN)/python -m benchmarks.growth --plot docs/pictures/growth.svg
	$(BIN)/python -m benchmarks.tuning.trials --plot docs/pictures/trials.svg
	$(BIN)/python -m benchmarks.peers.compare --plot docs/pictures/peers.svg

# What the lessons show is computed from the same rows: it is written anew with them.
reproduction: $(VENV)/plot.stamp
	$(BIN)/gpusim reproduce all --tried docs/sensitivity.csv --plots docs/pictures/reproduction \
	  --markdown docs/reproduction.md
	$(MAKE) precomputed

validation: $(VENV)/plot.stamp $(VENV)/test.stamp
	$(BIN)/gpusim validate h200 --kernels --plot docs/pictures/kernels-h200.svg --markdown docs/validation-h200.md
	PYTHONPATH=docs $(BIN)/python -m generate.architectures
	$(MAKE) precomputed

sensitivity: $(VENV)/core.stamp
	$(BIN)/gpusim reproduce all --sensitivity --tried docs/sensitivity.csv

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks *.egg-info
	find $(PACKAGES) notebooks tests -name '__*__' -type d -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "gpusim needs Python 3.11 or newer; name one: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Each stamp is newer than what it was installed from, so that a repeated make installs nothing.
$(VENV)/core.stamp: EXTRAS :=
$(VENV)/lessons.stamp: EXTRAS := [lessons]
$(VENV)/docs.stamp: EXTRAS := [docs]
$(VENV)/plot.stamp: EXTRAS := [plot]
$(VENV)/test.stamp: EXTRAS := [test]
$(VENV)/all.stamp: EXTRAS := [all]
$(VENV)/%.stamp: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --config-settings editable_mode=compat -e '.$(EXTRAS)'
	@touch $@
