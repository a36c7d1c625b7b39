#!/bin/sh
# The main job on real input: two programs boot alone, are sampled every 10 us, and are reported on.
set -eu
cd "$(dirname "$0")/.."
BUILD=$(cd "${BUILD:-build}" && pwd)
export PATH="$BUILD:$PATH"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# step COMMAND: shows the command, then runs it.
step() {
    printf '\n$ %s\n' "$1"
    sh -c "$1"
}

cat "$BUILD"/workloads/*-glibc-static | head -c 4000000 >"$out/input"
cd "$out"
step "hr run -o sha256.bin $(command -v busybox) sha256sum < input"
native=$(busybox sha256sum <input)
echo "natively: $native"
step "hr run -i 1us -o phases.bin $BUILD/workloads/phases 20 2"
step "hr report phases.bin"
step "hr dump --format csv phases.bin | head -n 5"
step "hr check phases.bin"
