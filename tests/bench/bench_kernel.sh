# Sections of bench.sh, which reads this file: what the kernel executes for a sample, a probe, an allocation, a look at pages.
# shellcheck shell=sh

bench_sampling() {
    counted off.count --mode off "$WORKLOADS/phases" 20 2
    counted on.count -i 1us -e $five "$WORKLOADS/phases" 20 2
    read -r _ kernel_off <off.count
    read -r _ kernel_on <on.count
    row 'sample, five events, from interrupt to resumption' "$(stat_of .cost.sample_ns)" instructions le 200
    row 'all kernel work a sample, encoding and sending included' \
        "$(calc %.1f "($kernel_on - $kernel_off) / $(stat_of .samples)")" instructions
    row 'trace, five events at 1 us, phases' "$(stat_of '.bytes / .samples * 100 | round / 100')" bytes/sample le 12
    run -i 1us -e $thirteen "$WORKLOADS/phases" 20 2
    row 'trace, 13 events at 1 us, phases' "$(stat_of '.bytes / .samples * 100 | round / 100')" bytes/sample
    row 'sample, 13 events, calibrated' "$(stat_of .cost.sample_ns)" instructions
    run --mode off "$WORKLOADS/clocks" cost
    row 'clock_gettime through the C library and the vDSO' "$(sed -n 's/^clock_gettime: //p' out)" instructions le 60
    seconds_run=$(seconds "$HR" run -q -i 1us -e $five "$WORKLOADS/phases" 250 1)
    row 'phases at 1 us: instructions' "$(stat_of '.events[0].total')" instructions ge 1000000000
    row 'phases at 1 us: samples lost' "$(stat_of .lost)" samples le 0
    row 'phases at 1 us: interval p50' "$(stat_of .interval_ns.p50)" ns
    row 'phases at 1 us: interval p99, upper' "$(stat_of .interval_ns.p99)" ns le 1020
    row 'phases at 1 us: interval p99, lower' "$(stat_of .interval_ns.p99)" ns ge 980
    row 'phases at 1 us: wall time' "$seconds_run" s
}

# freerun OPTION...: runs $measured on the modelled PMU; sets $ring0 to the instructions that the program's CPU
# executed in ring 0, by counters that the kernel under test cannot stop, and $taken to the samples.
measured="$WORKLOADS/phases 20 1"
freerun() {
    # shellcheck disable=SC2086
    run -v --kernel "$BUILD/guest-bench.elf" --accel tcg --cpu "$modelled,pmu-freerun=on" "$@" $measured
    ring0=$(sed -n 's/.*free-running at the .*: \([0-9]*\) in ring 0.*/\1/p' err | awk 'NR == 1 { at = $1 } END { print $1 - at }')
    taken=$(stat_of .samples)
}

# per_sample LESS MORE OPTION...: ring-0 instructions a sample of the program's CPU in $each, by the difference of two
# runs with the options in LESS and in MORE; the second one's trace is left.
per_sample() {
    less=$1 more=$2
    shift 2
    # shellcheck disable=SC2086
    freerun $less "$@"
    ring0_less=$ring0 taken_less=$taken
    # shellcheck disable=SC2086
    freerun $more "$@"
    each=$(calc %.1f "($ring0 - $ring0_less) / ($taken - $taken_less)")
}

bytes_a_sample() {
    stat_of '.bytes / .samples * 100 | round / 100'
}

bench_counters() {
    modelled=Icelake-Server,model=106,pmu=on
    if [ -z "${QEMU:-}" ] || ! "$HR" run -q --accel tcg --qemu "$QEMU" --cpu "$modelled,pmu-freerun=on" \
        "$WORKLOADS/hello" >out 2>err </dev/null || [ "$(stat_of '.events[0].source')" != pmu ]; then
        echo '| counters: left out, QEMU names no emulator with a modelled PMU | | | | |'
        return
    fi
    export QEMU
    per_sample '--mode off' '-i 1us' --qemu "$QEMU" -e $five
    row 'timer sample, five counters' "$(stat_of .cost.sample_ns)" instructions le 128
    row 'timer, five counters: all kernel work a sample' "$each" instructions le 240
    row 'timer, five counters, phases at 1 us' "$(bytes_a_sample)" bytes/sample le 12
    per_sample '-i 10us' '-i 1us' --qemu "$virtual" --cpus 1 -e $five
    row 'timer sample beside a service CPU, five counters' "$each" instructions le 180
    overflow_rows 'ip alone' instructions
    overflow_rows 'ip and five counters' $five 150 270 104
    bench_precise
    bench_taking_stacks
    bench_requests
    bench_probes
    bench_pages
    bench_eight_cpus
    bench_linux
}

# All that the program's CPU does for a record: interrupts, copies, what entries need.  The service CPU must run beside it:
# in virtual time it runs when the program's CPU is interrupted, which is seldom here.
bench_precise() {
    per_sample '-c 10000' '-c 500' --qemu "$QEMU" --cpus 1 --mode pebs -e mem-loads
    row 'precise record of one event' "$each" instructions le 40
    per_sample '-c 10000' '-c 500' --qemu "$QEMU" --cpus 1 --mode pebs
    row 'precise record of one of two events' "$each" instructions le 40
    per_sample '-c 10000' '-c 500' --qemu "$QEMU" --cpus 1 --mode pebs -e mem-loads --regs
    row 'precise record with registers' "$each" instructions le 90
}

# A look at the page tables, by the difference of two runs, with and without.
bench_pages() {
    freerun -i 1ms --qemu "$QEMU"
    ring0_less=$ring0
    freerun -i 1ms --pages 100us --qemu "$QEMU"
    row 'a look at the pages that phases touched' \
        "$(calc %.0f "($ring0 - $ring0_less) / $("$HR" memory -f json hr.bin | jq .look_count)")" instructions le 20000
    a_look
    row 'a look at 1 GB of memory, 10 MB of it touched' "$each" instructions le 10000
    a_look --pages-split
    row 'a look at 1 GB of memory in 4-KiB pages, 10 MB of it touched' "$each" instructions le 20000
}

# a_look OPTION...: sets $each to the ring-0 instructions of a look, by the difference of two runs of so many rounds.
a_look() {
    for rounds in 20 120; do
        measured="$TOOLS/touched 1024 1024 10 $rounds"
        ring0_less=${ring0:-0} looks_less=${looks:-0}
        freerun --mode off --mem 1536M --pages 1ms --qemu "$QEMU" "$@"
        looks=$("$HR" memory -f json hr.bin | jq .look_count)
    done
    measured="$WORKLOADS/phases 20 1"
    each=$(calc %.0f "($ring0 - $ring0_less) / ($looks - $looks_less)")
}

# Of 16 return addresses. Rarer than elsewhere: the service CPU has as many instructions, and encodes them all.
bench_taking_stacks() {
    measured="$WORKLOADS/calls recursion 13 3000000"
    per_sample '-i 10us' '-i 1us' --qemu "$virtual" --cpus 1 -e $five -g
    row 'timer sample with a stack 16 deep, five counters' "$each" instructions le 306
    per_sample '-c 40000' '-c 10000' --qemu "$virtual" --cpus 1 -e $five -g
    row 'overflow sample with a stack 16 deep, five counters' "$each" instructions le 210
    row 'overflow samples with a stack: lost' "$(stat_of .lost)" samples le 0
    per_sample '-i 100us' '-i 20us' --qemu "$virtual" --cpus 1 -e $five -g dwarf
    row 'timer sample with a copy of a small stack, five counters' "$each" instructions
    measured="$WORKLOADS/phases 20 1"
}

# overflow_rows NAME EVENTS [LIMIT LIMIT-OF-ALL-WORK LIMIT-BESIDE-A-SERVICE-CPU]; there a sample also keeps the program's
# share of the time.
overflow_rows() {
    what=$1 events=$2
    shift 2
    per_sample '-c 10000' '-c 1000' --qemu "$QEMU" -e "$events"
    row "overflow sample, $what" "$(stat_of .cost.sample_ns)" instructions ${1:+le "$1"}
    row "overflow, $what: all kernel work a sample" "$each" instructions ${2:+le "$2"}
    row "overflow, $what, phases" "$(bytes_a_sample)" bytes/sample
    per_sample '-c 40000' '-c 8000' --qemu "$virtual" --cpus 1 -e "$events"
    row "overflow sample beside a service CPU, $what" "$each" instructions ${3:+le "$3"}
}

bench_requests() {
    run --accel tcg --qemu "$QEMU" --cpu "$modelled" -e instructions,cycles,branches,cache-misses,instructions:k \
        "$WORKLOADS/regions" cost 100
    row 'hr_read of five counters' "$(sed -n 's/^instructions read=\([0-9]*\) .*/\1/p' out)" instructions le 40
    row 'hr_poll with five counters, in the kernel' "$(sed -n 's/^instructions:k .* poll=\([0-9]*\)$/\1/p' out)" \
        instructions le 175
}

# ring0_of_calls CALLS OPTION...: ring-0 instructions of a program that calls a probed function so often.
ring0_of_calls() {
    measured="$WORKLOADS/probed calls $1"
    shift
    freerun --mode off -e $five --probe asm_spin "$@"
    measured="$WORKLOADS/phases 20 1"
}

# an_invocation LESS MORE OPTION...: sets $each to what an entry and a return take together, by two runs of so many.
an_invocation() {
    less=$1 more=$2
    shift 2
    ring0_of_calls "$less" "$@"
    ring0_less=$ring0
    ring0_of_calls "$more" "$@"
    each=$(calc %.1f "($ring0 - $ring0_less) / ($more - $less)")
}

# an_allocation NAME LIMIT OPTION...: a row of what malloc and free take together.
an_allocation() {
    name=$1 limit=$2
    shift 2
    for pairs in 1000 5000; do
        measured="$TOOLS/churn $pairs"
        ring0_less=${ring0:-0}
        freerun --mode off --alloc --qemu "$virtual" --cpus 1 -e $five "$@"
    done
    measured="$WORKLOADS/phases 20 1"
    row "$name" "$(calc %.0f "($ring0 - $ring0_less) / 4000")" instructions le "$limit"
}

# As many hits as the ring has room for: the service CPU is too slow for more of them at such a rate.
bench_probes() {
    an_invocation 1000 4000 --qemu "$virtual" --cpus 1
    row 'probe: an entry and a return, five counters' "$each" instructions le 360
    row 'Linux 6.1: uprobe and uretprobe, no counters' 4305 instructions
    an_allocation 'an allocation and its free (--alloc)' 1800
    an_allocation '... with a stack by frame pointers' 2000 -g fp
}

bench_eight_cpus() {
    run --accel tcg --qemu "$virtual" --cpu "$modelled" --cpus 8 -i 1us -e $five "$WORKLOADS/threads" count 8 1000000
    row 'eight CPUs at 1 us, five counters: samples' "$(stat_of .samples)" samples ge 40000
    row 'eight CPUs at 1 us, five counters: lost' "$(stat_of .lost)" samples le 0
    row 'eight CPUs at 1 us, one clock for all: interval p50' "$(stat_of .interval_ns.p50)" ns
    row 'eight CPUs at 1 us, one clock for all: interval p99' "$(stat_of .interval_ns.p99)" ns
}

# For information: measured before, by the same free-running counters; see docs/performance.md.
bench_linux() {
    row 'Linux 6.1 perf: overflow sample, ip' 2204 instructions
    row 'Linux 6.1 perf: overflow sample, ip' 40 bytes/sample
    row 'Linux 6.1 perf: overflow sample, ip and five counters' 2858 instructions
    row 'Linux 6.1 perf: overflow sample, ip and five counters' 128 bytes/sample
    row 'Linux 6.1 perf: the same with a call chain' 4652 instructions
    row 'Linux 6.1 perf: the same with a call chain' 416 bytes/sample
}
