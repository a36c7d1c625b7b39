#!/bin/sh
# Functions for the tests: TAP output, a temporary directory, runs of hr with a time limit.
# A test sources this file, calls run_hr, ok, is, like, skip, and ends with done_testing.
set -u

case ${BUILD:=build} in
/*) ;;
*) BUILD=$(cd "$(dirname "$0")/../.." && pwd)/$BUILD ;;
esac
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
# The kernel's own tests run a kernel that checks in which context its functions are called.
case $(cd "$(dirname "$0")" && pwd) in
*/tests/guest) HR=$BUILD/asserting/hr KERNEL=$BUILD/guest-test.elf ;;
*) HR=$BUILD/hr KERNEL=$BUILD/guest.elf ;;
esac
WORKLOADS=$BUILD/workloads
TOOLS=$BUILD/tests
LIMIT=${HR_TEST_LIMIT:-120} # seconds for one run
# The system's programs come before scripts that choose one of several and start it, such as pyenv's python3.
PATH=/usr/bin:/bin:$PATH
stock_emulator=$(command -v qemu-system-x86_64)
# In the kernel's own tests an emulator that QEMU names runs everything. It links a fifth of the libraries of Debian's, so a run
# takes about two thirds of the CPU time; the tests of hr run Debian's.
case $HR:${QEMU:-} in
*/asserting/hr:/*/qemu-system-x86_64) PATH=$(dirname "$QEMU"):$PATH ;;
esac
export BUILD ROOT HR KERNEL WORKLOADS TOOLS PATH LC_ALL=C TZ=UTC

# shellcheck disable=SC2034
five=instructions,cycles,branches,branch-misses,cache-misses # by default where there are counters, else as stubs

# As hr has the emulator allocate (host/launch/launch.c), for tests that start one themselves.
# shellcheck disable=SC2034
emulators_tunables=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=4194304

tests_done=0
tests_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/microtome-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
cd "$work" || exit 1
# shellcheck disable=SC2034
users_cache=${XDG_CACHE_HOME:-$HOME/.cache} # for tools that keep what they fetched there
export XDG_CACHE_HOME="$work/cache" # the user's own is left alone

# result GOOD NAME: prints one TAP line.  What says why a test failed goes to stderr, which prove shows.
result() {
    tests_done=$((tests_done + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests_done - $2"
        return 0
    fi
    tests_failed=$((tests_failed + 1))
    echo "not ok $tests_done - $2"
    return 1
}

# ok NAME COMMAND...: passes when the command succeeds.
ok() {
    name=$1
    shift
    "$@" >ok.log 2>&1
    result $? "$name" || { echo "# failed: $*"; head -n 10 ok.log | sed 's/^/# /'; } >&2
}

# fails NAME COMMAND...: passes when the command fails.
fails() {
    name=$1
    shift
    if "$@" >/dev/null 2>&1; then result 1 "$name"; else result 0 "$name"; fi
}

# is NAME GOT WANTED
is() {
    [ "$2" = "$3" ]
    result $? "$1" || {
        printf '%s\n' "$2" | head -n 10 | sed 's/^/#    got: /'
        printf '%s\n' "$3" | head -n 10 | sed 's/^/# wanted: /'
        show_errors
    } >&2
}

# like NAME FILE REGEX: passes when a line of FILE matches the extended regular expression.
like() {
    grep -qaE -e "$3" "$2"
    result $? "$1" || { echo "# no line of $2 matches: $3"; head -n 15 "$2" | sed 's/^/# /'; } >&2
}

# within NAME VALUE LOW HIGH: passes when LOW <= VALUE <= HIGH (decimal numbers).
within() {
    awk -v v="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(v != "" && v + 0 >= low && v + 0 <= high) }'
    result $? "$1" || echo "# $2 is not within $3 .. $4" >&2
}

# same_file NAME A B: passes when both files have the same bytes.
same_file() {
    cmp "$2" "$3" >cmp.log 2>&1
    result $? "$1" || sed 's/^/# /' cmp.log >&2
}

# skip COUNT REASON: stands for COUNT tests that cannot run here.
skip() {
    for _ in $(seq "$1"); do
        tests_done=$((tests_done + 1))
        echo "ok $tests_done # SKIP $2"
    done
}

# skip_all REASON: the whole file cannot run here.
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

done_testing() {
    echo "1..$tests_done"
    [ "$tests_failed" -eq 0 ]
    exit
}

show_errors() {
    [ ! -s err ] || tail -n 8 err | sed 's/^/# stderr: /'
}

# run_hr ARG...: `hr ARG...` with stdout in the file out, stderr in err, exit status in $status.
# shellcheck disable=SC2034
run_hr() {
    status=0
    timeout -k 10 "$LIMIT" "$HR" "$@" >out 2>err || status=$?
}

# run_guest [OPTION...] PROGRAM ARG...: `hr run` with stdin as given; the trace is hr.bin.
run_guest() {
    run_hr run "$@"
}

# take_options [OPTION...] -- ARG...: the options are in $options, and $taken says how many words to shift, with the --.
take_options() {
    options='' taken=1
    while [ "$1" != -- ]; do
        options="$options $1"
        taken=$((taken + 1))
        shift
    done
}

# run_cpus CPUS PROGRAM [OPTION...] -- ARG...: `hr run --cpus CPUS`, emulated.
run_cpus() {
    cpus=$1 workload=$2
    shift 2
    take_options "$@"
    shift "$taken"
    # shellcheck disable=SC2086
    run_guest --accel tcg --cpus "$cpus" $options "$workload" "$@"
}

# both NAME [OPTION...] -- PROGRAM ARG...: natively and in the guest, the file $input as stdin: status and output are alike.
both() {
    name=$1
    shift
    take_options "$@"
    shift "$taken"
    if ! command -v "$1" >/dev/null; then
        skip 2 "$1 is not installed"
        return
    fi
    # shellcheck disable=SC2154 # the test sets it
    "$@" <"$input" >native 2>native.err
    native_status=$?
    # shellcheck disable=SC2086
    run_guest --mode off -q $options "$@" <"$input"
    is "$name: status" "$status" "$native_status"
    same_file "$name: output" out native
}

# together [OPTION...] -- SCRIPT: the lines `t NAME COMMAND...` of SCRIPT, natively and all in one guest: each one's status and
# output are alike.  They stay in the folders native.d and guest.d, as NAME.status, NAME and NAME.err.
together() {
    take_options "$@"
    shift "$taken"
    rm -rf native.d guest.d kept.d
    mkdir -m 777 t.d
    cat - "$1" >t.sh <<'END'
t() {
    name=t.d/$1 status=none
    echo "$1" >>t.d/.names
    shift
    if command -v "$1" >/dev/null; then
        status=0
        "$@" <"${input:-/dev/null}" >"$name" 2>"$name.err" || status=$?
    fi
    echo $status >"$name.status"
}
END
    sh t.sh
    mv t.d native.d
    mkdir t.d
    # shellcheck disable=SC2086
    run_guest --mode off -q --keep-files kept.d $options sh t.sh </dev/null
    rmdir t.d
    mv "kept.d$PWD/t.d" guest.d || show_errors >&2
    while read -r name; do
        if [ "$(cat "native.d/$name.status")" = none ]; then
            skip 2 "the program of '$name' is not installed"
            continue
        fi
        is "$name: status" "$(cat "guest.d/$name.status" 2>&1)" "$(cat "native.d/$name.status")"
        same_file "$name: output" "guest.d/$name" "native.d/$name"
    done <native.d/.names
}

# several NAME [OPTION...] -- : the lines `CHECK|STATUS|OUTPUT|PROGRAM ARG...` of stdin name programs that write one line each.  They
# run one after the other in one guest, whose trace is whole.
several() {
    group=$1
    shift
    take_options "$@"
    cat >several.lines
    while IFS='|' read -r _ _ _ words; do
        printf '%s\necho $?\n' "$words"
    done <several.lines >several.sh
    # shellcheck disable=SC2086
    run_guest --accel tcg $options sh several.sh </dev/null
    while IFS='|' read -r name wanted_status wanted _; do
        IFS= read -r text <&3
        IFS= read -r ended <&3
        is "$name" "$ended: $text" "$wanted_status: $wanted"
    done <several.lines 3<out
    ok "$group: the trace is complete" "$HR" check hr.bin
}

# stat_of FILE FILTER: what jq's FILTER gives on the statistics of a trace.  jq 1.7 prints 2.0 as it was read, 1.6 as 2:
# a sum is printed alike.
stat_of() {
    "$HR" stat --json "$1" >stat.json 2>stat.err
    # A number or a word of the whole needs no jq, which takes 25 ms to start.
    case $2 in
    .*[!a-z_]*) member= ;;
    .*) member=$(sed -n "s/^  \"${2#.}\": \([0-9a-z]*\),\{0,1\}\$/\1/p" stat.json) ;;
    *) member= ;;
    esac
    [ -z "$member" ] || { echo "$member"; return; }
    jq -r "walk(if type == \"number\" then . + 0 else . end) | $2" stat.json
}

# total FILE EVENT: the total of an event.
total() {
    "$HR" stat --json "$1" >stat.json 2>stat.err
    awk -v name="$2" -F'"' '/^  "events"/ { on = 1 } on && /^  \]/ { exit }
        on && $2 == "name" && ($4 == name || $4 == name ":u") { getline; sub(/.*: /, ""); sub(/,$/, ""); print; found = 1; exit }
        END { if (!found) print "null" }' stat.json
}

# interruptible COMMAND...: runs a command that SIGINT can end: a shell ignores it for background commands.
interruptible() {
    exec perl -e '$SIG{INT} = "DEFAULT"; exec @ARGV or exit 127' "$@"
}

# network_emulator: an emulator with a network of its own, which not every build has: QEMU's, or the stock one.
network_emulator() {
    for candidate in "${QEMU:-qemu-system-x86_64}" "$stock_emulator"; do
        "$candidate" -machine none -nodefaults -display none -netdev help 2>/dev/null | grep -qx user || continue
        command -v "$candidate"
        return
    done
    return 1
}

# wait_gone PID: waits up to 10 s until a process is gone.
wait_gone() {
    for _ in $(seq 100); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

# emulator_of PID: the process id of the emulator that the hr process PID started.
emulator_of() {
    for _ in $(seq 100); do
        child=$(pgrep -P "$1" 2>/dev/null | head -n 1)
        [ -z "$child" ] || { echo "$child"; return 0; }
        sleep 0.05
    done
    return 1
}
