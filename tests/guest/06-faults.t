#!/bin/sh
# A program that crashes is reported by signal, address and function; the kernel is unharmed.
. "$(dirname "$0")/../lib.sh"

# crash MODE SIGNAL NAME FUNCTION: the run ends as by that signal, and the report names it.
crash() {
    run_guest "$WORKLOADS/crash" "$1"
    is "$1: exit status" "$status" "$((128 + $2))"
    like "$1: names the signal" err "$3"
    [ -z "$4" ] || like "$1: names the function" err "$4"
    ok "$1: the trace is complete" "$HR" check hr.bin
}

crash segv 11 SIGSEGV crash_segv
crash kernel-store 11 SIGSEGV crash_kernel_store
crash kernel-load 11 SIGSEGV crash_kernel_load
crash direct-map 11 SIGSEGV crash_direct_map
crash non-canonical 11 SIGSEGV crash_non_canonical
crash kernel-jump 11 SIGSEGV ''
crash null-call 11 SIGSEGV ''
crash data-execute 11 SIGSEGV ''
crash text-store 11 SIGSEGV crash_text_store
crash ill 4 SIGILL crash_ill
crash fpe 8 SIGFPE crash_fpe
crash abort 6 SIGABRT ''
crash int3 5 SIGTRAP crash_int3
crash trap-flag 5 SIGTRAP crash_trap_flag
for mode in cli hlt rdmsr wrmsr in out cr3 lidt int; do
    crash $mode 11 SIGSEGV "crash_$mode"
done
crash stack 11 SIGSEGV recurse
crash stack-pointer 11 SIGSEGV crash_stack_pointer
crash sysret 11 SIGSEGV ''
crash far-return 11 SIGSEGV crash_far_return
crash kill 9 SIGKILL ''
crash term 15 SIGTERM ''
is 'hr stat gives the shell'\''s exit status' "$(stat_of hr.bin .exit_status)" 143

run_guest "$WORKLOADS/crash" unknown-syscall
is 'unknown system call: ENOSYS, the program goes on' "$(cat out)" 'syscall 4000: -1'
is 'unknown system call: status' "$status" 0
like 'unknown system call: reported at the end' err 'system call 4000, which .* 1 time: '

start=$(date +%s)
run_guest --timeout 2s "$WORKLOADS/crash" loop
is '--timeout: status 124' "$status" 124
within '--timeout: in time' "$(($(date +%s) - start))" 1 15
ok '--timeout: the trace is complete up to there' test "$(stat_of hr.bin .samples)" -gt 1000
"$HR" report hr.bin >report 2>/dev/null
like '--timeout: the report shows the loop' report crash_loop
run_guest "$WORKLOADS/crash" sleep
is 'a program that waits for ever, for nothing, is ended' "$status" 137
like 'and the user is told why' err "waits forever"

run_guest "$WORKLOADS/crash" sleep-ages
is 'sleeping past the end of the clock ends the run when nothing else runs' "$status" 137
like 'and the user is told that too' err "waits forever: sleep"
ok 'and the trace is in order' "$HR" check hr.bin

run_guest --mem 64M "$WORKLOADS/crash" memory
is 'a system call that finds no memory ends the run' "$status" 137
like 'and the user is told to give more' err "out of memory"
run_guest --mem 64M "$WORKLOADS/crash" tables
is 'page tables go with the memory that they map' "$(cat out)" 'pages: 20000'

run_guest --mem 64M "$WORKLOADS/memory-musl" 200
ok 'more memory than there is: not zero' test "$status" -ne 0
ok 'more memory than there is: not a failure of Microtome' test "$status" -ne 125

run_guest -i 1us "$WORKLOADS/hello"
is 'after all that: a run works' "$status" 0
done_testing
