#!/bin/sh
# On KVM's own code: the service CPU observes the calls of an instrumented program.  Each call is seen or counted.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

# all: the calls of a trace: those that are shown, and the others.
all() {
    seen=$("$HR" latency --format json hr.bin 2>/dev/null | jq '[.rows[] | .calls + .left] | add')
    echo $((seen + $(stat_of hr.bin '.calls.missed + .calls.beyond')))
}

for kernel in ${KERNELS:-6.1}; do
    echo "# Linux $kernel"
    plan_begin
    guest calls --cpus 1 -m latency -- instrumented-musl calls 20000
    guest recurse --cpus 1 -m latency -- instrumented-musl recurse 1500
    guest threads --cpus 1 -m latency -- instrumented-musl threads 100
    guest fork --cpus 1 -m latency -- instrumented-musl fork 1000
    boot "Linux $kernel" -k "$kernel" || continue
    for run in 'calls 20002' 'recurse 1502' 'threads 407' 'fork 5'; do
        name=${run%% *}
        seen "$name"
        is "$name: the program runs" "$status $(tail -n 1 out | grep -c 'done')" '0 1'
        ok "$name: the trace is whole" "$HR" check hr.bin
        is "$name: each call is seen or counted" "$(all)" "${run#* }"
        within "$name: the scan period is known" "$(stat_of hr.bin '.calls.scan_ns / .calls.scans')" 1 1e9
    done
done
done_testing
