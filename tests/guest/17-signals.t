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
for signal in 17 18 23 28; do
    run_guest "$WORKLOADS/signals" $signal
    is "signal $signal is ignored by default" "$(cat out)" "survived $signal"
done
run_guest "$WORKLOADS/signals" -1
is 'a fault whose signal is blocked ends the run' "$status" 132

for libc in glibc-static musl; do
    "$WORKLOADS/sigthreads-$libc" >native
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
done_testing
