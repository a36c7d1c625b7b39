#!/bin/sh
# Runs every check and test; the last line counts all passes and failures.
# `make test` calls it, after installing the packages that it needs.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${MAKE:=make}"
mkdir -p "$BUILD"
passed=0
failed=0

# check NAME COMMAND...: runs one check, and shows its output if it fails.
check() {
    name=$1
    shift
    if "$@" >"$BUILD/check.log" 2>&1 </dev/null; then
        echo "ok - $name"
        passed=$((passed + 1))
    else
        cat "$BUILD/check.log"
        echo "not ok - $name"
        failed=$((failed + 1))
    fi
}

# count_cmocka LOG: adds the counts in cmocka's summaries.
count_cmocka() {
    passed=$((passed + $(awk '/^\[ *PASSED *\]/ { sub(/.*\] /, ""); n += $1 } END { print n + 0 }' "$1")))
    failed=$((failed + $(awk '/^\[ *FAILED *\].*listed below/ { sub(/.*\] /, ""); n += $1 } END { print n + 0 }' "$1")))
}

finish() {
    [ $((passed + failed)) -gt 0 ] || failed=1
    echo "$passed passed, $failed failed" | tee "$BUILD/test.counts"
    [ "$failed" -eq 0 ]
    exit
}

check 'build' "$MAKE" --no-print-directory -s -j2 all test-tools
[ "$failed" -eq 0 ] || finish
check 'build with clang' "$MAKE" --no-print-directory -s -j2 CC=clang BUILD="$BUILD/clang" all
check 'lint' "$MAKE" --no-print-directory -s lint
grep '^lint: ' "$BUILD/check.log" # checks that were skipped

echo '# unit tests'
find "$BUILD/unit" -name '*.log' -delete 2>/dev/null
before=$failed
unit=0
passed_before=$passed
"$MAKE" --no-print-directory -s -j2 unit >"$BUILD/unit.log" 2>&1 </dev/null || unit=$?
find "$BUILD/unit" -name '*.log' -exec cat {} + >"$BUILD/cmocka.log" 2>/dev/null
count_cmocka "$BUILD/cmocka.log"
echo "$((passed - passed_before)) unit tests passed"
if [ "$unit" -ne 0 ]; then
    cat "$BUILD/unit.log"
    [ "$failed" -gt "$before" ] || failed=$((failed + 1))
elif [ ! -s "$BUILD/cmocka.log" ]; then
    echo 'not ok - no unit test ran'
    failed=$((failed + 1))
fi
check 'replay of the fuzz corpus' "$MAKE" --no-print-directory -s -j2 fuzz-replay

# tests/prove.pl is prove with machine-readable counts.
echo '# guest, command-line and firmware tests'
export BUILD
# The longest files come first, so that both CPUs are busy until the end.
tests/prove.pl "$BUILD/prove.counts" tests/firmware/08-*.t tests/kvm/*.t tests/firmware/0[0-79]-*.t tests/guest/*.t tests/cli/*.t \
    </dev/null
if read -r good bad <"$BUILD/prove.counts"; then
    passed=$((passed + good))
    failed=$((failed + bad))
else
    failed=$((failed + 1))
fi
finish
