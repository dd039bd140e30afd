#!/usr/bin/env bash
# Looks up what is locked among known weaknesses of PyPI's packages, by pip-audit. Ends with 1 where one is found that
# audited.txt does not list, and with 0, saying so, where the advisories cannot be reached.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf 'audit: %s\n' "$*" >&2; }
uv=.venv/bin/uv
[ -x "$uv" ] || { say "uv is missing: run ./setup.sh first."; exit 1; }

# Of one release: a mirror that has packages may lack these, and pip-audit would find nothing wrong with any.
if ! curl --silent --fail --max-time 20 --output /dev/null https://pypi.org/pypi/protobuf/3.20.3/json; then
    say "the advisories cannot be reached: nothing was looked up."
    exit 0
fi
locked=$(mktemp)
trap 'rm -f "$locked"' EXIT
"$uv" export --quiet --frozen --no-dev --no-emit-project --no-hashes --extra pipeline --extra kubeflow >"$locked"
known=()
while read -r weakness _; do
    case $weakness in '#'* | '') ;; *) known+=(--ignore-vuln "$weakness") ;; esac
done <audited.txt
"$uv" tool run --quiet pip-audit --requirement "$locked" --no-deps --disable-pip --progress-spinner off "${known[@]}"
