#!/usr/bin/env bash
# Runs the layers' tests on TensorFlow, JAX and PyTorch, each with the newest Keras.
# They are installed into .venv-backends with Python 3.12, 3.13 or 3.11, once: remove that folder
# to get newer ones.
#
#   ./backends.sh                        all tests on all backends
#   BACKENDS=jax ./backends.sh -k scan   what follows is pytest's
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf 'backends: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

env=.venv-backends
stamp=$env/.pairloom-backends
wanted=$(cat pyproject.toml backends.sh | sha256sum | cut -d' ' -f1)

# A candidate is tested by running it: pyenv's shims are found on PATH and then fail.
runs() { "$1" -c "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, $2))" >/dev/null 2>&1; }
is_uv() { "$1" --version >/dev/null 2>&1; }

find_python() {
    local pyenv=${PYENV_ROOT:-$HOME/.pyenv}/versions minor candidate
    for minor in 12 13 11; do
        for candidate in "python3.$minor" "$pyenv/3.$minor".*/bin/python \
            {/usr/bin,/usr/local/bin,/opt/homebrew/bin}/"python3.$minor" \
            "$HOME"/.local/share/uv/python/cpython-3."$minor"*/bin/"python3.$minor" python3; do
            if runs "$candidate" "$minor"; then
                echo "$candidate"
                return
            fi
        done
    done
    return 1
}

make_environment() {
    local python uv
    if python=$(find_python); then
        say "making $env with $("$python" -c 'import sys; print(sys.executable)')"
        "$python" -m venv "$env" || fail "$python could not make a virtual environment in $env."
        return
    fi
    for uv in .venv/bin/uv .uv/bin/uv uv "$HOME/.local/bin/uv"; do
        if is_uv "$uv" && "$uv" venv --quiet --seed --python 3.12 "$env"; then
            return
        fi
    done
    fail "Python 3.11, 3.12 or 3.13 is missing: install one (pyenv install 3.12) and run this again."
}

if [ ! -x "$env/bin/uv" ] || [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    [ -x "$env/bin/python" ] || make_environment
    say "installing the newest Keras, TensorFlow, JAX and PyTorch into $env: up to 8 GB"
    "$env/bin/python" -m pip install --quiet --disable-pip-version-check 'uv>=0.5' ||
        fail "pip could not install uv: is the package registry reachable?"
    "$env/bin/uv" pip install --quiet --python "$env/bin/python" --upgrade '.[tensorflow]' jax torch pytest hypothesis ||
        fail "the packages could not be installed: see the message above."
    echo "$wanted" >"$stamp"
fi

# Installed, not linked: what is tested is what `pip install 'pairloom[tensorflow]'` gives.
rm -rf build
"$env/bin/uv" pip install --quiet --python "$env/bin/python" --no-deps --reinstall-package pairloom .
rm -rf build

version() { "$env/bin/python" -c "import importlib.metadata as m; print(m.version('$1'))"; }
# Most of the time on JAX is compiling the same small loops again.
export JAX_COMPILATION_CACHE_DIR=$PWD/$env/jax-cache JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
export JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=-1 TF_CPP_MIN_LOG_LEVEL=${TF_CPP_MIN_LOG_LEVEL:-3}

lines=() failed=0
for backend in ${BACKENDS:-tensorflow jax torch}; do
    line="$("$env/bin/python" --version), Keras $(version keras), $backend $(version "$backend")"
    say "$line"
    if KERAS_BACKEND=$backend "$env/bin/python" -m pytest -q -p no:cacheprovider \
        tests/models "$@"; then
        lines+=("$line: passed")
    else
        lines+=("$line: FAILED")
        failed=1
    fi
done
for line in "${lines[@]}"; do
    say "$line"
done
exit "$failed"
