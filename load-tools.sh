#!/usr/bin/env bash
# Builds grpcurl (asks a gRPC server from the shell), ghz (load for one) and fake-gcs-server (the API of
# Google Cloud Storage, for tests) into .tools/, with Go. Does nothing when these versions are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools=(
    github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3
    github.com/bojand/ghz/cmd/ghz@v0.121.0
    github.com/fsouza/fake-gcs-server@v1.56.1
)
wanted=$(printf '%s\n' "${tools[@]}")
if [ -x .tools/grpcurl ] && [ -x .tools/ghz ] && [ -x .tools/fake-gcs-server ] &&
    [ "$(cat .tools/versions 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if ! "$go" version >/dev/null 2>&1; then
    echo "load-tools: Go is missing: install it (https://go.dev/dl, or your system's golang) and run this again." >&2
    exit 1
fi
mkdir -p .tools
for tool in "${tools[@]}"; do
    echo "load-tools: building $tool, a minute or two" >&2
    GOBIN="$PWD/.tools" "$go" install "$tool"
done
echo "$wanted" >.tools/versions
