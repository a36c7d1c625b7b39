#!/bin/sh
# What a sample costs on KVM's own code, in exits to the host: a timer sample with N events at most N + 3, one on
# overflow at most N + 5.  EXITS=all: every mode and number of events, as a table.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"
. "$ROOT/tests/kvm/exits.sh"

# at_most RUN EXITS: exits a sample, with a little for the program's start and end.
at_most() {
    exits_of "$1"
    within "$1: there are samples" "$samples" 20 10000
    within "$1: exits a sample" "$exits" 1 "$2.3"
}

runs='timer-1 timer-5 ipi-2 overflow-1 overflow-5'
[ "${EXITS:-}" != all ] || runs='off-1 timer-1 timer-2 timer-3 timer-4 timer-5 ipi-1 ipi-5
    overflow-1 overflow-2 overflow-3 overflow-4 overflow-5'
for kernel in ${KERNELS:-6.1}; do
    # shellcheck disable=SC2086
    plan_exits $runs
    boot "Linux $kernel" -k "$kernel" || continue
    # shellcheck disable=SC2086
    print_exits $runs
    for events in 1 5; do
        at_most timer-$events $((events + 3))
        at_most overflow-$events $((events + 5))
    done
    [ ! -e results/ipi-2.bin ] || at_most ipi-2 5
done
done_testing
