#!/bin/sh
# Call stacks (-g): chains of known shape are found again, whatever the program does to its frames,
# and taking them changes no sample.  QEMU: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"

CALLS=$WORKLOADS/calls

# repeated COUNT WORD: WORD; COUNT times.
repeated() {
    i=0
    while [ "$i" -lt "$1" ]; do
        printf '%s;' "$2"
        i=$((i + 1))
    done
}

# stacks_of FUNCTION: how many samples in FUNCTION have which stack, most first.
stacks_of() {
    "$HR" export folded -o folded hr.bin
    awk -v name="$1" '{ n = $NF; sub(/ [0-9]+$/, ""); top = $0; sub(/.*;/, "", top); if (top == name) print n, $0 }' \
        folded | sort -rn
}

# chain NAME FUNCTION WANTED: nearly all samples in FUNCTION have the stack WANTED.
chain() {
    stacks_of "$2" >stacks
    is "$1" "$(head -n 1 stacks | cut -d ' ' -f 2-)" "$3"
    within "$1: nearly always" "$(awk 'NR == 1 { n = $1 } { all += $1 } END { print all ? n / all : 0 }' stacks)" 0.95 1
}

# ---- shapes ----
shapes() {
    how=$1
    shift
    run_guest "$@" "$CALLS" recursion 5
    is "$how: the program runs" "$status $(cat out)" '0 calls: recursion 5'
    chain "$how: recursion" leaf "begin;recursion;$(repeated 6 down)leaf"
    run_guest "$@" "$CALLS" mutual 4
    chain "$how: mutual recursion" leaf "begin;mutual;ping;pong;ping;pong;ping;leaf"
    run_guest "$@" "$CALLS" signal 3
    chain "$how: through a handler" leaf "begin;interrupted;$(repeated 4 trap)__restore_rt;handler;leaf"
    run_guest "$@" "$CALLS" alternate 3
    chain "$how: and one with its own stack" leaf "begin;alternate;$(repeated 4 trap)__restore_rt;handler;leaf"
    ok "$how: the trace is whole" "$HR" check hr.bin
}
shapes fp -g -i 1us
is 'META says the kind and the limit' "$("$HR" dump --format records hr.bin | sed -n 's/^ *stacks //p')" 'kind=1 limit=127'

# ---- registers and copies, for unwinding; programs without frame pointers ----
# unwound NAME FUNCTION REGEX: nearly all samples in FUNCTION have a stack that matches.
unwound() {
    stacks_of "$2" >stacks
    within "$1" "$(awk -v wanted="$3" '$2 ~ wanted { n += $1 } { all += $1 } END { print all ? n / all : 0 }' stacks)" 0.95 1
}
for program in "$TOOLS/calls-frameless" "$CALLS"; do
    name="dwarf, ${program##*/}"
    run_guest -g dwarf -i 1us "$program" recursion 5
    unwound "$name: recursion" leaf "^_start;.*;main;begin;recursion;$(repeated 6 down)leaf$"
    run_guest -g dwarf -i 1us "$program" frameless 1
    unwound "$name: a function without a frame" bare '^_start;.*;main;begin;frameless;bare$'
    run_guest -g dwarf -i 1us "$program" signal 3
    unwound "$name: through a handler" leaf "^_start;.*;main;begin;interrupted;$(repeated 4 trap)[^;]*;handler;leaf$"
    run_guest -g dwarf -i 1us "$program" alternate 3
    unwound "$name: a copy holds one stack" leaf '^.truncated.;trap;[^;]*;handler;leaf$'
    run_guest -g dwarf,256 -i 1us "$program" recursion 100
    unwound "$name: what was not copied" leaf '^.truncated.;down;.*;down;leaf$'
    run_guest -g dwarf -i 1us "$program" threads 2
    unwound "$name: threads" leaf "[a-z_0-9]+;thread;begin;recursion;$(repeated 3 down)leaf$"
    ok "$name: the trace is whole" "$HR" check hr.bin
done

# ---- what frame pointers do not show, and limits ----
run_guest -g -i 1us "$CALLS" frameless 1
chain 'a function without a frame hides its caller' bare 'begin;bare'
run_guest -g -i 1us "$CALLS" endless 1
chain 'the default limit cuts' wild "[truncated];$(repeated 127 bottom)wild"
run_guest -g fp,3 -i 1us "$CALLS" recursion 20
chain 'so does a given one' leaf "[truncated];$(repeated 3 down)leaf"
run_guest -g fp,512 -i 1us "$CALLS" recursion 500
chain 'the largest' leaf "begin;recursion;$(repeated 501 down)leaf"

# ---- frame pointers that lead nowhere ----
run_guest -g -i 1us "$CALLS" hostile 1
is 'hostile: the program runs' "$status" 0
stacks_of wild | grep -v ' begin;wild$' >stacks # but for where the pointer still leads somewhere
is 'hostile: every chain ends where it breaks' "$(cut -d ' ' -f 2- stacks)" '[broken];bottom;bottom;bottom;wild
[broken];wild
[broken];bottom;wild'
ok 'hostile: the trace is whole' "$HR" check hr.bin

# ---- threads ----
for threads in 1 3; do
    run_guest -g -i 1us "$CALLS" threads "$threads"
    chain "$threads threads" leaf "begin;recursion;$(repeated $((threads + 1)) down)leaf"
done
run_cpus 2 "$CALLS" -g -i 100us -- threads 4 3000000
is 'on two CPUs: the program runs' "$status" 0
chain 'on two CPUs' leaf "begin;recursion;$(repeated 5 down)leaf"
rounds=20
[ -z "${HR_TEST_LONG:-}" ] || rounds=300
run_cpus 3 "$WORKLOADS/maprace" -g -i 20us -- $rounds 1
is 'while other CPUs withdraw memory: the program runs' "$status" 0
ok 'while other CPUs withdraw memory: the trace is whole' "$HR" check hr.bin
run_cpus 3 "$WORKLOADS/maprace" -g -i 20us --qemu "$ROOT/tests/tools/virtual.sh" -- 150 1
is 'the same in virtual time: the program runs' "$status" 0
ok 'the same in virtual time: the trace is whole' "$HR" check hr.bin
run_cpus 2 "$CALLS" -g --mode ipi -i 1ms -- threads 4 3000000
chain 'on request of another CPU' leaf "begin;recursion;$(repeated 5 down)leaf"

# ---- stacks change nothing else ----
# same NAME KINDS PROGRAM ARG...: the same samples without stacks and with each kind.
same() {
    name=$1 kinds=$2
    shift 2
    run_guest -i 1us "$@" </dev/null
    "$HR" dump --format csv hr.bin >plain.csv
    for kind in $kinds; do
        run_guest -i 1us -g "$kind" "$@" </dev/null
        "$HR" dump --format csv hr.bin >stacks.csv
        same_file "$name: -g $kind: the same samples, byte for byte" plain.csv stacks.csv
    done
    ok "$name: and not none" test "$(wc -l <plain.csv)" -gt 80
}
same phases 'fp fp,512 dwarf dwarf,64' "$WORKLOADS/phases" 1 1
same threads 'fp dwarf' "$CALLS" threads 4
same handlers 'fp dwarf' "$CALLS" signal 9
same 'system calls' 'fp dwarf' "$WORKLOADS/syscalls"
same 'a shell' fp "$(command -v busybox)" sh -c 'echo a; echo b; read -r b; echo c'

# ---- the program's own samples ----
run_guest -g --mode instructed "$WORKLOADS/regions" polls 20
is 'polls: each has a stack' "$(stat_of hr.bin .samples)" 20
"$HR" export folded -o folded hr.bin
like 'polls: of where the program asked' folded ';hr_poll [0-9]+$|;main;'

# ---- counters ----
if [ -z "${QEMU:-}" ]; then
    skip 1 'overflow: QEMU names no emulator with a PMU'
    done_testing
fi
modelled() {
    run_guest --accel tcg --qemu "$QEMU" --cpu Icelake-Server,model=106,pmu=on "$@"
}
for cpus in 0 1; do
    modelled --cpus $cpus -g -c 1000 -e instructions "$CALLS" recursion 5
    is "overflow, --cpus $cpus: the program runs" "$status" 0
    chain "overflow, --cpus $cpus" leaf "begin;recursion;$(repeated 6 down)leaf"
done
modelled -g -c 500 -e instructions:k "$WORKLOADS/storm" 200
is 'kernel samples: none lost' "$(stat_of hr.bin .lost)" 0
"$HR" export folded -o folded hr.bin
like 'kernel samples: the kernel is called by the program' folded ';main;exception_call.*;trap_exception.*;vm_fault.*;'
like 'kernel samples: and by its C library' folded ';__munmap;entry_syscall.*;syscall_munmap.*;'
modelled -g dwarf,2048 -c 4000 -e instructions:k "$WORKLOADS/storm" 1000
"$HR" export folded -o folded hr.bin
like 'kernel samples: unwound from the entry' folded '^_start;.*;main;__munmap;vm_table_look'
like 'kernel samples: also from a page fault' folded '^_start;.*;main;page_zero'
modelled -g -c 500 -e instructions:uk "$WORKLOADS/storm" 1000
like 'overflow anywhere: the program is right' out ' 0 checks failed$'
within 'overflow anywhere: many samples' "$(stat_of hr.bin '.samples')" 10000 1000000
ok 'overflow anywhere: the trace is whole' "$HR" check hr.bin
modelled -g -c 1000 -e instructions:u "$WORKLOADS/storm" 50
"$HR" dump --format csv hr.bin >stacks.csv
modelled -c 1000 -e instructions:u "$WORKLOADS/storm" 50
"$HR" dump --format csv hr.bin >plain.csv
same_file 'overflow: the same samples, byte for byte' plain.csv stacks.csv
done_testing
