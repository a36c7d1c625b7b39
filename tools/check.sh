#!/bin/sh
# `make check`, for the inner loop: unit tests, lint of the files that differ from the last commit, and one test of each
# kind.  It installs nothing.  What it leaves out is what `make test` is for.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${MAKE:=make}"
export BUILD
start=$(date +%s)
failed=0
mkdir -p "$BUILD"

# step NAME COMMAND...: its output is shown when it fails.
step() {
    name=$1
    shift
    if "$@" >"$BUILD/step.log" 2>&1 </dev/null; then
        echo "ok - $name"
        grep '^lint: \|skipped: ' "$BUILD/step.log" # what it could not check
    else
        cat "$BUILD/step.log"
        echo "not ok - $name"
        failed=1
    fi
}

# tests FILE...: all of them, real counters on one modelled CPU of the reference machine where that is.
tests() {
    reference=${XDG_CACHE_HOME:-$HOME/.cache}/reference-machine/bin/qemu-system-x86_64
    if [ -z "${QEMU:-}" ] && [ -x "$reference" ]; then export QEMU="$reference"; fi
    [ -n "${QEMU:-}" ] || echo 'skipped: counter overflow: QEMU names no emulator with a PMU'
    FLAVOURS=${FLAVOURS:-Icelake-Server,model=106,pmu=on} prove -j2 "$@"
}

step 'build' "$MAKE" --no-print-directory -s -j2 all test-tools
[ "$failed" -eq 0 ] || exit 1
step 'layers' tools/check-layers.sh
step 'lint of what changed' tools/lint.sh changed
step 'unit tests' "$MAKE" --no-print-directory -s -j2 unit
# counter overflow, the timer under emulation, exact counts, a boot of firmware, the command line
step 'a test of each kind' tests tests/guest/13-overflow.t tests/guest/05-sampling.t tests/guest/29-exact-profile.t \
    tests/firmware/06-machine.t tests/cli/20-report.t
echo "check: $([ "$failed" -eq 0 ] && echo passed || echo FAILED) after $(($(date +%s) - start)) s; 'make test' runs everything"
exit "$failed"
