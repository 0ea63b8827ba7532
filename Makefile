# Everything happens in a virtual environment beside this file; it is made once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test test-real lint docs clean

demo: $(INSTALLED)
	$(BIN)/friend-train demo

test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

# Needs the public datasets and encoders: FRIEND_TRAINING_DATA=… FRIEND_TRAINING_MODELS=… make test-real
test-real: $(INSTALLED)
	$(BIN)/pytest -m realdata

lint: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
