#!/bin/sh
# Which counter counts which event: restrictions, companion registers, refusals, archives for one CPU.
# QEMU: see tests/flavours.sh; the CPUs are those of the modelled PMU.
. "$(dirname "$0")/../lib.sh"

. "$ROOT/tests/flavours.sh"
icelake=Icelake-Server,model=106,pmu=on
hello=$WORKLOADS/hello

# on CPU ARG...: hello on that CPU.
on() {
    cpu=$1
    shift
    run_guest --accel tcg --qemu "$QEMU" --cpu "$cpu" "$@" "$hello"
}

totals() {
    stat_of hr.bin '.events[].total' | tr '\n' ' '
}

on $icelake --require-pmu
[ "$status" -eq 0 ] || skip_all "QEMU does not model $icelake"

on $icelake --mode off -e LLC-loads,LLC-stores,instructions
is 'two off-core events with different values: status' "$status" 0
within 'two off-core events: both count' "$(totals | awk '{ print ($1 > 0) + ($2 > 0) }')" 2 2
on $icelake -e LLC-loads,LLC-stores,instructions,LLC-store-misses
ok 'three off-core values: refused' test "$status" -ne 0
like 'three off-core values: both events are named' err '^hr: events LLC-loads and LLC-store-misses need one register'
like 'three off-core values: what fits' err 'fit at once: LLC-loads, LLC-stores, instructions; in another run: LLC-store-misses$'

# Five events that Ice Lake counts on counters 0 to 3 only, and two that any of its eight counts.
loads=r81d0,r82d0,r1d1,r8d1
on $icelake --mode off -e r1c0,r2c0,$loads
is 'restricted events come last and fit: status' "$status" 0
on $icelake -e $loads,r20d1,r1c0
ok 'five events for four counters: refused' test "$status" -ne 0
like 'five events for four counters: what fits' err 'fit at once: r81d0, r82d0, r1d1, r8d1, r1c0; in another run: r20d1$'

on $icelake --mode off -e instructions,branches,LLC-loads
asked=$(totals)
on $icelake --mode off -e instructions,branches,LLC-loads --target-cpu intel-6-106
is 'encodings from the archive: the same counts' "$(totals)" "$asked"
on Skylake-Server,pmu=on,pmu-version=4,pmu-gp=4,pmu-fixed=3 --target-cpu intel-6-106
ok 'an archive for another CPU: refused' test "$status" -ne 0
like 'an archive for another CPU: both are named' err 'encoded for intel-6-106, and this CPU is intel-6-85;'
is 'an archive for another CPU: nothing ran' "$(wc -c <out)" 0

# A CPU without PEBS has no register for the latency, as under KVM.
on $icelake,pmu-pebs=off -e instructions,MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=32
is 'an event without its second register: refused' "$status" 125
like 'an event without its second register: it is named' err \
    '^hr: event MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=32: MSR 3f6H holds a part of it and does not keep'
is 'an event without its second register: nothing ran' "$(wc -c <out)" 0

# Transactions: a bit of the event select that this CPU does not have.  No counter is shared on the second one.
for cpu in $icelake Skylake-Server,pmu=on,pmu-version=1,pmu-gp=8,pmu-fixed=0; do
    for options in '--mode off' '--mode overflow -c 1000' '--cpus 2'; do
        # shellcheck disable=SC2086
        on "$cpu" $options -e r1000000c4,instructions
        is "a select that faults, $options: refused" "$status" 125
        like "a select that faults, $options: event and register are named" err \
            '^hr: event r1000000c4: this machine does not take it: writing 100[45]100c4 to MSR 186H faults;'
        is "a select that faults, $options: nothing ran" "$(wc -c <out)" 0
    done
done

on Skylake-Server,pmu=on,pmu-version=2,pmu-gp=4,pmu-fixed=2 -e ref-cycles
like 'reference cycles without their fixed counter: on a general one' err 'ref-cycles'
is 'reference cycles without their fixed counter: status' "$status" 0
done_testing
