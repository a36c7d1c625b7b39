#!/bin/sh
# Runs every check and test; the last line counts what passed and failed over everything.
# Called by `make test`, which has installed what is needed.  `test.sh aside` is the part that calls itself.
set -u
cd "$(dirname "$0")/.." || exit 1
: "${BUILD:=build}" "${MAKE:=make}"
unset MAKEFLAGS MFLAGS # the options of this make are none of those that a test starts
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

# count_file FILE: adds what another part has counted; a part without a count has failed.
count_file() {
    if read -r good bad <"$1"; then
        passed=$((passed + good))
        failed=$((failed + bad))
    else
        failed=$((failed + 1))
    fi 2>/dev/null
}

unit_tests() {
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
}

build() {
    "$MAKE" --no-print-directory -s -j2 unit-batch all test-tools && "$MAKE" --no-print-directory -s "$BUILD/unit/hr"
}

build_by_clang() {
    set -- "$MAKE" --no-print-directory -s -j2 CC=clang OPT='-O0 -g0' WORKLOAD_OPT='-O0 -g0' MUSL_GCC= BUILD="$BUILD/clang"
    # shellcheck disable=SC2046
    "$@" clang-batch && "$@" clang-workloads $(printf "$BUILD/clang/%s " guest.elf BOOTX64.EFI mbr.bin libhr.a libhr.so exact.so)
}

finish() {
    [ $((passed + failed)) -gt 0 ] || failed=1
    echo "$passed passed, $failed failed" | tee "$BUILD/test.counts"
    [ "$failed" -eq 0 ]
    exit
}

# What depends on no clock runs aside, in the time that the other tests leave the CPUs idle.  If it hangs, it is ended.
if [ "${1:-}" = aside ]; then
    # MUSL_GCC: musl-gcc is no clang, and has built these programs already.  What clang warns of depends neither on its
    # optimization nor on -g, and nothing runs this code.  It builds hr for the unit tests.
    check 'build with clang' build_by_clang
    check 'lint' "$MAKE" --no-print-directory -s lint
    grep '^lint: ' "$BUILD/check.log" # what it could not check
    unit_tests
    check 'replay of the fuzz corpus' "$MAKE" --no-print-directory -s -j2 fuzz-replay
    echo "$passed $failed" >"$BUILD/aside.counts"
    exit
fi

check 'build' build
[ "$failed" -eq 0 ] || finish
export BUILD MAKE
rm -f "$BUILD/aside.counts" "$BUILD/prove.counts"
setsid nice -n 10 timeout -k 20 1500 tools/test.sh aside >"$BUILD/aside.log" 2>&1 </dev/null &
aside=$!
trap 'kill -- -$aside 2>/dev/null; exit 130' INT TERM HUP

# tests/prove.pl is prove with machine-readable counts.
echo '# guest, command-line and firmware tests'
AFTER=$BUILD/aside.counts tests/prove.pl "$BUILD/prove.counts" "$BUILD/prove.times" \
    tests/firmware/*.t tests/kvm/*.t tests/guest/*.t tests/cli/*.t </dev/null
wait "$aside"
cat "$BUILD/aside.log"
count_file "$BUILD/aside.counts"
count_file "$BUILD/prove.counts"
finish
