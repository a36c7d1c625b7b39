#!/bin/sh
# On KVM's own code: loops of known length count exactly, in every mode, and every overflow is a sample.  Then KVM is
# loaded without its vPMU, in the same host: programs run and are sampled, events are stubs that say so, and what needs
# counters is refused.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/kvm/host.sh"

MODES='off timer overflow ipi shared shared-overflow instructed'

# turns MODE: of the program's loop.
turns() {
    if [ "$1" = instructed ]; then echo 5000000; else echo 9000000; fi
}

# mode_options MODE: the options of hr run.
mode_options() {
    case $1 in
    timer) echo -i 2ms ;;
    overflow) echo -c 500009 ;;
    ipi) echo -m ipi -i 2ms ;;
    shared) echo --cpus 0 -i 2ms ;;
    shared-overflow) echo --cpus 0 -c 500009 ;;
    *) echo -m "$1" ;;
    esac
}

plan_totals() {
    for mode in $MODES; do
        # shellcheck disable=SC2046
        guest "$mode" $(mode_options "$mode") -e instructions:u,branches:u -- spin-musl "$(turns "$mode")"
    done
    guest calls -c 500009 -e branches:u,instructions:u -- spin-musl 1000000 calls
    guest five -i 5ms -- phases-musl 2 1
    guest five-overflow -c 500009 -- phases-musl 2 1
    guest fast -i 1us -- phases-musl 2 1
    guest five-off -m off -- phases-musl 2 1
    guest frequency -F 300 -e instructions -- spin-musl 90000000
    guest precise -m pebs -- hello-musl
    guest kernel -F 500 -e instructions:k -- storm-musl 4000
    guest both -F 50 -e instructions:uk,cycles:uk -- storm-musl 2000
}

plan_without_vpmu() {
    inside without_vpmu
    group sampled -i 2ms -- <<'END'
t hello WORKLOADS/hello-musl
t spin WORKLOADS/spin-musl 9000000
t threads WORKLOADS/threads-musl sync 3 50
END
    guest required --require-pmu -- hello-musl
    guest refused -c 1000000 -- hello-musl
    guest refused-precise -m pebs -- hello-musl
    inside '"$HR" doctor >/out/doctor.out 2>&1'
}

# is_whole NAME: the run ended well and its trace is complete.
is_whole() {
    seen "$1"
    is "$1: exit status" "$status" 0
    ok "$1: the trace is whole" "$HR" check hr.bin
}

check_totals() {
    seen off
    off=$(stat_of hr.bin '[.events[].total] | join(" ")')
    for mode in $MODES; do
        is_whole "$mode"
        less=$((9000000 - $(turns "$mode"))) # of two instructions and a branch
        is "$mode: the totals are those without sampling, for $less turns less" \
            "$(stat_of hr.bin '[.events[].total] | join(" ")')" "$((${off% *} - 2 * less)) $((${off#* } - less))"
        is "$mode: they come from the PMU" "$(stat_of hr.bin '[.events[].source] | unique | join(" ")')" pmu
    done
    for mode in timer ipi shared; do
        seen "$mode"
        within "$mode: there are samples" "$(stat_of hr.bin .samples)" 2 10000
    done
    for mode in overflow shared-overflow; do
        seen "$mode"
        conserved "$mode" 500009
    done
    seen calls
    conserved 'calls, by branches' 500009
}

check_modes() {
    seen precise
    is 'precise records: refused' "$status" 125
    like 'precise records: why' err '^hr: --mode pebs needs .*: CPUID does not have IBS, as in virtual machines'
    seen five-off
    off=$(total hr.bin instructions)
    for run in five five-overflow fast; do
        is_whole "$run"
        is "$run: with five events, the instructions are those without sampling" "$(total hr.bin instructions)" "$off"
    done
    seen fast
    within 'every 1 us: points were skipped, which is counted' "$(stat_of hr.bin .share.skipped)" 1000 1000000000
    within 'every 1 us: the program keeps about half of the time' \
        "$(stat_of hr.bin '.samples * .cost.sample_ns / .duration_ns * 100')" 1 70
    is_whole frequency
    within 'frequency: samples' "$(stat_of hr.bin .samples)" 20 2000
    for run in kernel both; do
        is_whole "$run"
        like "$run: the program is right" out ' 0 checks failed$'
        is "$run: none lost" "$(stat_of hr.bin .lost)" 0
    done
    seen kernel
    "$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { sub(/\+0x.*/, "", $5); print $5 }' | sort -u >names
    within 'kernel: samples' "$(stat_of hr.bin .samples)" 2 100000
    is 'kernel: all of them in the kernel' "$(grep -cv '^\[kernel\] ' names)" 0
}

check_without_vpmu() {
    whole sampled 0
    told hello 0 'Hello from a program that runs alone.'
    is 'spin: exit status' "$(said spin | tail -n 1)" '== status 0'
    told threads 0 'sync: sum 300, turns 15'
    is 'without a vPMU events are stubs' "$(stat_of hr.bin '[.events[].source] | unique | join(" ")')" stub
    like 'which is said, with the reason' err 'enable_pmu'
    within 'sampled: there are samples' "$(stat_of hr.bin .samples)" 3 10000
    seen required
    is '--require-pmu: refused' "$status" 125
    like '--require-pmu: why, and what to do' err '^hr: --require-pmu: KVM has no vPMU: parameter enable_pmu .*=1'
    seen refused
    is 'overflow: refused' "$status" 125
    like 'overflow: why' err '^hr: .*(counter|PMU|--mode timer)'
    seen refused-precise
    is 'precise records: refused' "$status" 125
    like 'precise records: why' err '^hr: --mode pebs needs counters that interrupt'
    like 'the doctor knows' results/doctor.out 'enable_pmu'
}

for kernel in ${KERNELS:-6.1 6.12}; do
    echo "# Linux $kernel"
    plan_begin
    if [ "$kernel" = 6.1 ]; then locks=yes; else locks=no; fi # both kinds
    plan_totals
    plan_without_vpmu
    boot "Linux $kernel" -k $kernel || continue
    check_totals
    check_modes
    check_without_vpmu
done
done_testing
