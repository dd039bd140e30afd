#!/usr/bin/env bash
# Installs Airflow 2.10 into .venv-airflow2 and the newest 3 into .venv-airflow3, for tests/airflow.
# Once: remove the folders to get newer ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf 'airflow: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

uv=.venv/bin/uv
[ -x "$uv" ] || fail "uv is missing: run ./setup.sh first."

install() {
    local env=$1 wanted=$2
    [ -x "$env/bin/airflow" ] && return
    say "installing $wanted into $env"
    # A Python that Airflow supports: not the folder's own, which pyenv's shims would give.
    "$uv" venv --quiet --no-project --python '>=3.10,<3.13' "$env" || fail "no Python 3.10 to 3.12 was found."
    "$uv" pip install --quiet --compile-bytecode --python "$env/bin/python" "$wanted" ||
        fail "$wanted could not be installed: see the message above."
}

install .venv-airflow2 'apache-airflow[postgres]==2.10.*'
install .venv-airflow3 'apache-airflow[postgres]>=3'
