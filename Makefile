# pysim: two commands matter, `make demo` and `make test`; both set everything up first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(wildcard ns3-app/*/*)

.PHONY: demo test smoke bench labs docs lint setup clean

demo: setup
	$(BIN)/python -m pysim run experiments/demo.toml --out results/demo --force
	$(BIN)/python -m pysim report results/demo

test: setup
	$(BIN)/python -m pytest -n 2 tests

smoke: setup
	$(BIN)/python -m pysim smoke

bench: setup
	$(BIN)/python -m benchmarks

labs: setup $(VENV)/.jupyter
	cd labs && ../$(BIN)/jupyter lab

# Writes the parts of docs/ that programs write, and the whole as a site.
docs: setup
	$(BIN)/python -m tools.site --out build/site

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $(wildcard ns3-app/*/*.h ns3-app/*/*.cc)

# Nothing happens here when nothing has changed.
setup: $(VENV)/.built $(VENV)/.warm

$(VENV)/.dependencies: requirements.txt tools/check-machine.sh
	@sh tools/check-machine.sh $(PYTHON)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	touch $@

# Built inside the environment whose ns3 it will run with, hence no build isolation.
$(VENV)/.built: $(VENV)/.dependencies $(NATIVE)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@

# Only who works through the labs needs JupyterLab.
$(VENV)/.jupyter: labs/requirements.txt $(VENV)/.dependencies
	$(BIN)/python -m pip install --quiet --requirement labs/requirements.txt
	touch $@

# A small analysis, once: later ones start in half the time.
$(VENV)/.warm: $(VENV)/.dependencies | $(VENV)/.built
	$(BIN)/python -m pysim run experiments/first.toml --quiet --force --out $(VENV)/warm
	$(BIN)/python -m analysis.warming $(VENV)/warm
	rm -r $(VENV)/warm
	touch $@

clean:
	rm -rf $(VENV) build results
