#!/bin/sh
# On KVM's own code, where it has no vPMU: programs run and are sampled, events are stubs that say so, and what
# needs counters is refused.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

kernel_arguments=kvm.enable_pmu=0
for kernel in ${KERNELS:-6.1 6.12}; do
    echo "# Linux $kernel"
    plan_begin
    guest plain -i 2ms -- hello-musl
    guest sampled -i 2ms -e instructions,branches -- spin-musl 9000000
    guest threads -i 2ms -- threads-musl sync 3 50
    guest required --require-pmu -- hello-musl
    guest overflow -c 1000000 -- hello-musl
    inside '"$HR" doctor >/out/doctor.out 2>&1'
    boot "Linux $kernel" -k "$kernel" || continue

    seen plain
    is 'hello' "$status: $(cat out)" '0: Hello from a program that runs alone.'
    is 'its events are stubs' "$(stat_of hr.bin '[.events[].source] | unique | join(" ")')" stub
    like 'which is said, with the reason' err 'enable_pmu'
    seen sampled
    is 'sampled: exit status' "$status" 0
    within 'sampled: there are samples' "$(stat_of hr.bin .samples)" 3 10000
    ok 'sampled: the trace is whole' "$HR" check hr.bin
    seen threads
    is 'threads' "$status: $(cat out)" '0: sync: sum 300, turns 15'
    seen required
    is '--require-pmu: refused' "$status" 125
    like '--require-pmu: why, and what to do' err '^hr: --require-pmu: KVM has no vPMU: parameter enable_pmu .*=1'
    seen overflow
    is 'overflow: refused' "$status" 125
    like 'overflow: why' err '^hr: .*(counter|PMU|--mode timer)'
    like 'the doctor knows' results/doctor.out 'enable_pmu'
done
done_testing
