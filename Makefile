# Everything happens in a virtual environment beside this file; it is made once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test test-real test-ray test-browser bench lint docs notebooks screenshots release-check clean

demo: $(INSTALLED)
	$(BIN)/friend-train demo

# No test depends on speed. Limits only end what hangs; on a very slow machine FRIEND_TRAINING_TEST_PATIENCE=4 makes them longer.
test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses 2 --dist loadfile

# Needs the public datasets and encoders: FRIEND_TRAINING_DATA=… FRIEND_TRAINING_MODELS=… make test-real
test-real: $(INSTALLED)
	$(BIN)/pytest -m realdata

# Needs wheels of Ray for this platform; a cluster of two nodes is started here and ended.
test-ray: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ray]'
	OMP_NUM_THREADS=1 $(BIN)/pytest -m 'slow or not slow' tests/loop/test_ray_engine.py

# Needs Chromium (Debian's package will do).
test-browser: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'
	$(BIN)/pytest -m 'browser and not slow'

# How close this machine's labelling and training come to the bare network, in minutes; the records are in benchmarks/results.
# Needs FRIEND_TRAINING_DATA and FRIEND_TRAINING_MODELS; with BENCH=--synthetic nothing.
bench: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ceiling.py $(BENCH)

lint: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/mypy

# Pictures of the pages at two widths, light and dark, in pictures/: of the run in RUN, by default that of the demo.
RUN ?= runs/demo
screenshots: docs
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'
	mkdir -p pictures
	FRIEND_TRAINING_SHOWN=$(RUN) FRIEND_TRAINING_PICTURES=pictures $(BIN)/pytest -m browser tests/web/test_screenshots.py

# The pages as a site in site/: what is generated is made anew, and links that lead nowhere end it.
docs: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	$(BIN)/python .ci/reference.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict  # with --quiet it would count no warnings

# The notebooks, run from the first cell to the last and saved with what they print; NOTEBOOK=two-classifiers runs one.
notebooks: $(INSTALLED)
	$(BIN)/python .ci/notebooks.py $(NOTEBOOK)
	$(BIN)/ruff check notebooks
	$(BIN)/ruff format --check notebooks

# What has to hold before a version is given away: wheel, source distribution, version, links and code of the pages.
release-check: $(INSTALLED)
	$(BIN)/python .ci/release_check.py
	$(BIN)/pytest tests/test_docs_links.py tests/test_docs_code.py tests/test_release.py tests/test_wheel.py

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache
