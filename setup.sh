#!/usr/bin/env bash
# Sets up .venv with Python 3.10 and the locked dependencies, their bytecode compiled.
# Does nothing when that has been done for this uv.lock and pyproject.toml.
#
#   ./setup.sh            PAIRLOOM_PYTHON=/path/to/python3.10 ./setup.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

stamp=.venv/.pairloom-setup
wanted=$(cat uv.lock pyproject.toml setup.sh | sha256sum | cut -d' ' -f1)
if [ -x .venv/bin/pairloom ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

if [ "$(uname -s) $(uname -m)" != "Linux x86_64" ]; then
    fail "TFX has packages for Linux on x86_64 only, and this is $(uname -s) on $(uname -m)."
fi

# A candidate is tested by running it: pyenv's shims are found on PATH and then fail.
runs() { "$1" -c "import sys, venv, ensurepip; sys.exit(not ($2))" >/dev/null 2>&1; }
is_310() { runs "$1" "sys.version_info[:2] == (3, 10)"; }

first_that() {
    local test=$1 candidate
    shift
    for candidate in "$@"; do
        if "$test" "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

is_uv() { "$1" --version >/dev/null 2>&1; }
any_3() { runs "$1" "sys.version_info >= (3, 8)"; }

pyenv=${PYENV_ROOT:-$HOME/.pyenv}/versions
candidates=(
    ${PAIRLOOM_PYTHON:+"$PAIRLOOM_PYTHON"}
    .venv/bin/python
    python3.10
    "$pyenv"/3.10*/bin/python
    /usr/bin/python3.10 /usr/local/bin/python3.10
    "$HOME"/.local/share/uv/python/cpython-3.10*/bin/python3.10
    python3 python
)
others=(/usr/bin/python3 /usr/local/bin/python3 "$pyenv"/3.*/bin/python)

# A .venv that does not run, or runs another Python, is of no use.
if [ -e .venv ] && ! is_310 .venv/bin/python; then
    say "replacing .venv: its Python is not a working 3.10"
    rm -rf .venv
fi

uv=.venv/bin/uv
if python=$(first_that is_310 "${candidates[@]}"); then
    if [ ! -e .venv ]; then
        say "making .venv with $("$python" -c 'import sys; print(sys.executable)')"
        "$python" -m venv .venv || fail "Python 3.10 could not make a virtual environment in .venv."
    fi
    if ! is_uv "$uv"; then
        say "installing uv into .venv"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5' ||
            fail "pip could not install uv: is the package registry reachable?"
    fi
else
    missing="Python 3.10 is missing: install it (pyenv install 3.10, or your system's python3.10 and python3.10-venv) and run this again."
    if ! uv=$(first_that is_uv .uv/bin/uv uv "$HOME/.local/bin/uv"); then
        python=$(first_that any_3 "${candidates[@]}" "${others[@]}") || fail "$missing"
        say "no Python 3.10 here; getting uv to fetch one"
        "$python" -m venv .uv && echo '*' >.uv/.gitignore
        .uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5' ||
            fail "$missing (uv, which could fetch it, cannot be installed either.)"
        uv=.uv/bin/uv
    fi
    "$uv" venv --quiet --seed --python 3.10 .venv 2>/dev/null ||
        fail "$missing (uv could not fetch it.)"
fi

say "installing the locked dependencies into .venv: 3 GB, some minutes the first time"
UV_PROJECT_ENVIRONMENT=.venv "$uv" sync --frozen --extra pipeline --extra kubeflow --compile-bytecode --python .venv/bin/python ||
    fail "the locked dependencies could not be installed: see the message above."
echo "$wanted" >"$stamp"
say "done"
