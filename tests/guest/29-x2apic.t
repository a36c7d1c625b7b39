#!/bin/sh
# The local APIC in both of its modes: TCG has x2APIC from QEMU 9.0 on, before that only xAPIC is tested here.
. "$(dirname "$0")/../lib.sh"

busybox=$(command -v busybox) || skip_all 'no busybox'

# x2apic_of CPU: how many CPUs of a guest with two have x2APIC, by the guest's own CPUID.
x2apic_of() {
    run_cpus 2 "$busybox" --cpu "$1" --mode off -- grep -cw x2apic /proc/cpuinfo
    cat out
}

# samples_on CPU MODE CPUS: phases is sampled, and its output is that of Linux.
samples_on() {
    run_cpus "$3" "$WORKLOADS/phases" --cpu "$1" --mode "$2" -i 100us -- 1 1
    is "$1, mode $2, $3 workload CPUs: status" "$status" 0
    same_file "$1, mode $2, $3 workload CPUs: output" out native
    within "$1, mode $2, $3 workload CPUs: samples" "$(stat_of hr.bin .samples)" 3 1000000
}

"$WORKLOADS/phases" 1 1 >native
is 'without x2APIC: no CPU has it' "$(x2apic_of max,-x2apic)" 0
for cpus in 1 2; do
    for mode in timer ipi; do
        samples_on max,-x2apic $mode $cpus
    done
done

if [ "$(x2apic_of max)" = 0 ]; then
    skip 13 'this emulator has no x2APIC'
else
    is 'with x2APIC: every CPU has it' "$(x2apic_of max)" 2
    for cpus in 1 2; do
        for mode in timer ipi; do
            samples_on max $mode $cpus
        done
    done
fi
done_testing
