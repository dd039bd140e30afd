#!/usr/bin/env bash
# The whole suite, a part after another in processes of its own: TensorFlow keeps some memory of every model that was
# ever loaded, 20 GB in the end. Where the arguments name tests, those alone.
#
#   ./test.sh [PYTEST'S ARGUMENTS …]            PROCESSES=2
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

run() { .venv/bin/python -m pytest -n "${PROCESSES:-2}" --dist loadfile "$@"; }

for argument in "$@"; do
    case $argument in tests | tests/*) run "$@"; exit ;; esac
done

parts=(
    "tests/models tests/kinds"
    "tests/serving"
    "tests/components tests/recipes tests/examples tests/benchmarks"
)
code=0
others=()
for part in "${parts[@]}"; do
    read -ra folders <<<"$part"
    others+=("${folders[@]/#/--ignore=}")
    run "$@" "${folders[@]}" || code=$?
done
run "$@" "${others[@]}" tests || code=$?
exit "$code"
