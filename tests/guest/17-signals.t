#!/bin/sh
# Signals: what handlers find, in which order they come, what they return to; as natively.
. "$(dirname "$0")/../lib.sh"

for libc in glibc-static musl; do
    "$WORKLOADS/signals-$libc" >native
    run_guest "$WORKLOADS/signals-$libc"
    is "signals-$libc: exit status" "$status" 0
    same_file "signals-$libc: output" out native
done
like 'real-time signals queue, standard ones do not' out '^order: 10/-1/3/1 12/-1/1/1 100/-1/2/1 100/-1/4/1 101/-1/6/1'

# signal number: how the run ends when nobody handles it
for signal in 6 10 14 15 34 64; do
    run_guest "$WORKLOADS/signals" $signal
    is "signal $signal ends the run" "$status" $((128 + signal))
done
run_guest "$WORKLOADS/signals" 19
is 'SIGSTOP without anybody to send SIGCONT ends the run' "$status" 137
like 'and the reason is named' err 'waits forever: SIGCONT'
# shellcheck disable=SC2016
run_guest sh -c 'for signal; do "$0" $signal; done' "$WORKLOADS/signals" 17 18 23 28
for signal in 17 18 23 28; do
    like "signal $signal is ignored by default" out "^survived $signal\$"
done
run_guest "$WORKLOADS/signals" -1
is 'a fault whose signal is blocked ends the run' "$status" 132

for libc in glibc-static musl; do
    timeout 120 "$WORKLOADS/sigthreads-$libc" >native
    run_guest "$WORKLOADS/sigthreads-$libc"
    is "sigthreads-$libc: exit status" "$status" 0
    same_file "sigthreads-$libc: output" out native
done
run_guest "$WORKLOADS/sigthreads" die
is 'who ends the process with a signal does not go on' "$status: $(cat out)" '143: '
run_guest "$WORKLOADS/sigthreads" stack
is 'a thread without a stack ends the run' "$status" 139
mkfifo idle
sleep 100 >idle & # keeps it open
run_guest "$WORKLOADS/sigthreads" input <idle
kill $!
is 'a signal ends a read of stdin that waits' "$(cat out)" 'read: -4, handled 1'

busybox=$(command -v busybox) || { skip 9 'busybox is not installed'; done_testing; }
for cpus in 0 1; do
    run_guest --cpus $cpus --duration 300ms "$busybox" sleep 100
    is "--cpus $cpus: --duration ends a program that sleeps by SIGTERM" "$status" 143
done
run_guest --duration 30ms "$busybox" sh -c 'trap "echo ending; exit 3" TERM; while :; do :; done'
is '--duration lets a program end by itself' "$status: $(cat out)" '3: ending'
within 'after so much of its clock' "$(stat_of hr.bin .duration_ns)" 30000000 31000000
sleep 100 >idle &
run_guest --duration 200ms "$busybox" cat <idle
kill $!
is '--duration ends a program that waits for input' "$status" 143
within 'then, by its clock' "$(stat_of hr.bin .duration_ns)" 200000000 201000000
# It sleeps for most of these, which costs nothing, and runs when it is killed.
run_guest --duration 100ms -m off "$busybox" sh -c 'trap "" TERM; sleep 5; while :; do :; done'
is 'a program that ignores it is killed 5 s later' "$status" 137
like 'which is said' err '^hr: --duration: the program did not end within 5 s of SIGTERM'
run_hr run --duration 5 "$busybox" true
is 'a duration needs a unit' "$status: $(cat err)" \
    "125: hr: --duration 5: not a time with a unit; write 10s or 500ms"
done_testing
