#!/bin/sh
# A panic of the kernel (a test build) reaches the user: registers and a symbolised backtrace.
. "$(dirname "$0")/../lib.sh"

for how in panic null stack; do
    run_hr run -q --panic-test "start-$how" "$WORKLOADS/hello"
    is "$how: status" "$status" 125
    like "$how: says that the kernel panicked" err '[Pp]anic'
    [ $how = panic ] || like "$how: registers" err 'rip ffffffff8'
    like "$how: symbolised backtrace" err '[a-z_]+\+0x[0-9a-f]+'
    ok "$how: the program did not run" test ! -s out
done
# The run's configuration is read-only once the program runs, for every CPU: 0 serves with --cpus 1, and runs it with 0.
for how in 'start 0' 'start 1' 'end 1'; do
    run_hr run -q --cpus "${how#* }" --panic-test "${how% *}-configuration" "$WORKLOADS/hello"
    is "$how: a write to the configuration: status" "$status" 125
    like "$how: a write to the configuration is a fault" err 'store_to_configuration'
done
run_hr run -q "$WORKLOADS/hello"
is 'the test build runs programs when nothing is asked' "$status" 0
# This kernel checks in which context its functions are called.
run_hr run -q --cpus 0 --panic-test start-thread "$WORKLOADS/hello"
like 'a call outside of a thread is found' err 'act_as_thread was not called by a thread'
run_hr run -q --cpus 1 --panic-test start-unlocked "$WORKLOADS/hello"
like 'a call without the kernel lock is found' err 'act_without_lock was called without the kernel lock'
run_hr run -q --kernel "$BUILD/guest.elf" --panic-test start-null "$WORKLOADS/hello"
is 'the ordinary kernel ignores the request' "$status" 0
for cpus in 0 1; do
    run_hr run --accel tcg --cpus $cpus --timeout 20s --panic-test start-halt "$WORKLOADS/hello"
    is "--cpus $cpus: a call before a halt is not slept through" "$status" 0
done
# NMIs that nobody here asked for: counted, and harmless.
for cpus in 0 2; do
    run_hr run --accel tcg --cpus $cpus --panic-test start-nmi "$WORKLOADS/hello"
    is "--cpus $cpus: NMIs do no harm" "$status" 0
    is "--cpus $cpus: one on each CPU is counted" "$(stat_of hr.bin .nmi.unknown)" $((cpus + 1))
    ok "--cpus $cpus: the trace is right" "$HR" check hr.bin
done
like 'and the summary tells' err 'NMI'
done_testing
