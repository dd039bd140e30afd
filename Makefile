# Everything starts from a fresh clone: each target sets up what it needs first (setup.sh).
PACKAGES = models kinds serving components pipeline recipes deploy
RECIPE = cmudict
PYTEST_ARGS =
PROCESSES = 2
FUZZ_SECONDS = 600
# Under a target that is there to try it, what is missing fails instead of being skipped.
REQUIRED = PAIRLOOM_REQUIRED=1

.PHONY: setup demo test fuzz audit test-recipes test-backends test-wheel test-airflow test-gcs test-kubernetes test-weather test-tf-serving load-tools lint clean

setup:
	@./setup.sh

demo: setup
	@.venv/bin/pairloom demo $(RECIPE)

test: setup
	@PROCESSES=$(PROCESSES) ./test.sh $(PYTEST_ARGS)

# Requests by chance to the server, over and over until $(FUZZ_SECONDS) seconds are over; a wrong answer ends it.
fuzz: setup
	@end=$$(( $$(date +%s) + $(FUZZ_SECONDS) )); while [ $$(date +%s) -lt $$end ]; do \
	    PAIRLOOM_FUZZ_BY_CHANCE=1 .venv/bin/python -m pytest -q tests/serving/server/test_fuzz.py -k test_any $(PYTEST_ARGS) \
	        || exit 1; \
	done

# What is locked, among the known weaknesses of PyPI's packages.
audit: setup
	@./audit.sh

# Every recipe on a slice of its data, which lies in $PAIRLOOM_DATA: some twenty minutes.
test-recipes: setup
	@$(REQUIRED) .venv/bin/python -m pytest -m minutes tests/recipes $(PYTEST_ARGS)

# The layers alone, in an environment of their own.
test-backends:
	@./backends.sh $(PYTEST_ARGS)

# The wheel, installed without TensorFlow on Python 3.10 to 3.13: some minutes.
test-wheel: setup
	@.venv/bin/python -m pytest -m minutes tests/test_wheel.py $(PYTEST_ARGS)

# Real Airflows, 2.10 and 3, each in an environment of its own: some twenty minutes.
test-airflow: setup
	@./airflow.sh
	@$(REQUIRED) .venv/bin/python -m pytest -m minutes tests/airflow $(PYTEST_ARGS)

# A run at gs://, in a real API of Google Cloud Storage on this machine: some minutes.
test-gcs: setup load-tools
	@$(REQUIRED) .venv/bin/python -m pytest -m minutes tests/pipeline/test_gcs.py $(PYTEST_ARGS)

# A real Kubernetes with Kubeflow Pipelines, as root: the first time half an hour and 11 GB, then 15 minutes.
test-kubernetes: setup
	@tests/kubernetes/cluster/build
	@$(REQUIRED) .venv/bin/python -m pytest -m minutes tests/kubernetes $(PYTEST_ARGS)

# Every node killed with -9, runs side by side, disks and databases that go away: some thirty minutes. MySQL, which
# Debian has not, is tried by `make test` where there is one.
test-weather: setup
	@$(REQUIRED) .venv/bin/python -m pytest -m 'minutes or slow' -k 'not MySQL' tests/weather \
	    tests/pipeline/test_weather.py tests/pipeline/test_databases.py $(PYTEST_ARGS)

# TF Serving's own integration suite, of the checkout that $TF_SERVING_SOURCE names: five to ten minutes.
test-tf-serving: setup
	@.venv/bin/python -m pytest -m minutes -rsx tests/serving/server/test_tf_serving_suite.py $(PYTEST_ARGS)

# grpcurl, ghz and fake-gcs-server, built with Go into .tools/.
load-tools:
	@./load-tools.sh

# mypy cannot see through the editable install, so it gets a folder `pairloom` made of links.
lint: setup
	.venv/bin/ruff check .
	@view=$$(mktemp -d) && trap 'rm -rf "$$view"' EXIT && mkdir "$$view/pairloom" && \
	for package in $(PACKAGES); do ln -s "$(CURDIR)/$$package" "$$view/pairloom/$$package"; done && \
	ln -s "$(CURDIR)/package/__init__.py" "$$view/pairloom/__init__.py" && \
	cd "$$view" && MYPYPATH="$$view" "$(CURDIR)/.venv/bin/mypy" --config-file "$(CURDIR)/pyproject.toml" \
	    --cache-dir "$(CURDIR)/.mypy_cache" --package pairloom

clean:
	rm -rf build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +
