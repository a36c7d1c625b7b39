#!/bin/sh
# On KVM's own code: what programs do, sampled meanwhile: signals, faults, threads, standard input, call stacks,
# and programs that mean harm.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

busybox=$(command -v busybox) || skip_all 'no busybox'
timer='-i 2ms -e instructions,branches'
overflow='-F 100 -e instructions:uk,cycles:uk'

# shellcheck disable=SC2086 # the options are words
plan_programs() {
    plan_begin
    inside 'head -c 300000 "${HR%/*}/guest.elf" >input; input=/w/input'
    group programs $timer -- <<'END'
t signals WORKLOADS/signals-musl
t sigthreads WORKLOADS/sigthreads-musl
t syscalls WORKLOADS/syscalls-musl
t privileged WORKLOADS/crash-musl wrmsr
t threads WORKLOADS/threads-musl sync 4 100
t exit WORKLOADS/threads-musl exit 4
t stack WORKLOADS/hostile-musl stack 1
last stdin BUSYBOX sha256sum
END
    group hostile $timer --mem 128M -- <<'END'
t race WORKLOADS/racefuzz-musl 3 500
last sysfuzz WORKLOADS/sysfuzz 3000 7
END
    group hostile-overflow $overflow --mem 128M -- <<'END'
t maps WORKLOADS/threads-musl map 3 20
t race WORKLOADS/racefuzz-musl 3 500
END
    guest callfuzz $overflow --mem 128M -- callfuzz 3000 1 3
    guest faults $overflow -- storm-musl 1000
    guest dwarf $timer -g dwarf -- calls recursion 5 10000000
    guest crash $timer -- crash-musl segv
    # Half as long again as the last run took, and a little: on a machine of any speed it comes to its loop.
    inside "run loop --mem 32M $timer"' --timeout $((took * 15 + 500))ms "$WORKLOADS/crash-musl" loop'
}

# gave NAME STATUS OUTPUT: how a run ended and what it said, and that its trace is whole.
gave() {
    seen "$1"
    is "$1: the result" "$status: $(cat out)" "$2: $3"
    ok "$1: the trace is whole" "$HR" check hr.bin
}

# comparable: leaves out the vector registers.  The emulator (QEMU 7.2) does not let KVM see a guest's XSETBV, so KVM puts
# XCR0 back to 1 with the next exit, and XSAVE saves no SSE state.
comparable() {
    grep -v '^context: '
}

check_programs() {
    whole programs 0
    for run in signals sigthreads; do
        { timeout 120 "$WORKLOADS/$run-musl" </dev/null; echo "== status $?"; } | comparable >native
        said $run | comparable >here
        same_file "$run: output and status" here native
    done
    told syscalls 0 "$("$WORKLOADS/syscalls-musl" </dev/null)"
    told privileged 139 ''
    told threads 0 'sync: sum 1000, turns 40'
    told exit 7 'exit: while 3 spin'
    told stack 0 'stack: 11 of 11 threads caught it'
    is 'stdin: the result' "$(said stdin)" "$(head -c 300000 "${HR%/*}/guest.elf" | sha256sum)"
    gave crash 139 ''
    like 'crash: the function is named' err 'SIGSEGV.*crash_segv'
    gave loop 124 ''
    "$HR" report hr.bin >report 2>/dev/null
    like 'loop: the report shows it' report crash_loop
    seen faults
    like 'page faults among overflows: the program is right' out ' 0 checks failed$'
    within 'page faults among overflows: counted' "$(stat_of hr.bin .page_faults)" 1000 1000000
}

check_stacks() {
    gave dwarf 0 'calls: recursion 5'
    "$HR" export folded -o folded hr.bin
    awk '{ n = $NF; all += n } /;leaf [0-9]+$/ { leaf += n }
        /^_start;.*;main;begin;recursion;down;down;down;down;down;down;leaf [0-9]+$/ { good += n }
        END { printf "%d %.2f\n", leaf, leaf ? good / leaf : 0 }' folded >chains
    read -r leaf share <chains
    within 'dwarf: samples' "$leaf" 5 100000
    within 'dwarf: the chain is found' "$share" 0.95 1
}

check_hostile() {
    for run in hostile-overflow hostile; do
        whole "$run" 0
        told race 0 'racefuzz: calls and faults'
        "$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { if ($1 < last[$2]) print; last[$2] = $1 }' >bad.csv
        ok "$run: times only grow" test ! -s bad.csv
        [ "$run" = hostile ] || told maps 0 'map: faults seen'
    done
    within 'sysfuzz: it made its calls' "$(said sysfuzz | sed -n 's/^calls //p')" 2000 3000
    seen callfuzz
    is 'callfuzz: the program came through' "$status" 0
    is 'callfuzz: no address of the kernel was seen' "$(sed -n 's/^leaks //p' out)" 0
}

for kernel in ${KERNELS:-6.1}; do
    echo "# Linux $kernel"
    plan_programs
    boot "Linux $kernel" -k "$kernel" || continue
    check_programs
    check_stacks
    check_hostile
done
done_testing
