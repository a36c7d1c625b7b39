#!/bin/sh
# Cadence, loss, size of the trace, limits of the options.
. "$(dirname "$0")/../lib.sh"

thirteen=$five,cache-references,ref-cycles,L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses,dTLB-load-misses,iTLB-load-misses

run_guest -i 1us -e $five "$WORKLOADS/phases" 5 1
is 'phases at 1 us: exit status' "$status" 0
is 'nothing lost' "$(stat_of hr.bin .lost)" 0
is 'requested interval' "$(stat_of hr.bin .interval_ns.requested)" 1000
within 'median of the interval within 2%' "$(stat_of hr.bin .interval_ns.p50)" 980 1020
within 'p99 of the interval within 2%' "$(stat_of hr.bin .interval_ns.p99)" 980 1020
samples=$(stat_of hr.bin .samples)
duration=$(stat_of hr.bin .duration_ns)
within 'one sample a microsecond' "$samples" "$((duration * 98 / 100000))" "$((duration * 102 / 100000))"
within 'bytes a sample, five events' "$(stat_of hr.bin '.bytes / .samples')" 1 12
is 'the file has the size that stat says' "$(stat_of hr.bin .bytes)" "$(stat -c %s hr.bin)"
is 'emulated' "$(stat_of hr.bin .emulated)" true
is 'instructions a second are those of the wall time' \
	"$(stat_of hr.bin '(.instructions_per_second - .events[0].total * 1e9 / .wall_ns | fabs) < 1')" true
like 'the summary says both' err 'wall time +of the whole run, [0-9]+ million instructions a second'
within 'peak memory: 5 MiB that phases works on, and little else' "$(stat_of hr.bin .peak_memory_bytes)" 5242880 7000000
is 'the stub says that it is one' "$(stat_of hr.bin '.events[1].source')" stub
within 'cost of a sample is known' "$(stat_of hr.bin .cost.sample_ns)" 1 200
like 'the summary is on stderr' err 'instructions'
like 'and names the next command' err 'hr report'

# nobody asked for what would be stubs
run_guest --accel tcg "$WORKLOADS/hello"
is 'default events without counters: instructions alone' "$(stat_of hr.bin '[.events[] | .name, .source] | join(" ")')" 'instructions icount'
like 'the summary says what it left out, and how to get it' err "^ +left out  ${five#*,}: .*-e "
run_hr stat hr.bin
like 'so does hr stat' out "^ +left out  ${five#*,}: .*-e "
run_guest --accel tcg -e "$five" "$WORKLOADS/hello"
is 'the same events by name: all' "$(stat_of hr.bin '[.events[].name] | join(",")')" "$five"
is 'and nothing was left out' "$(grep -c 'left out' err)" 0

# the timer comes by itself as long as handlers are alike: with --counters-every they are not, and it is armed for each sample
for every in 1 2; do
	run_guest -i 1us -e instructions --counters-every $every -v sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; echo a | cat; sleep 0.01; echo b'
	is "counters of every sample or every second one ($every): exit status" "$status" 0
	"$HR" dump hr.bin | cut -d, -f1-5 >samples.$every
done
is 'samples are at the same times and addresses' "$(cmp samples.1 samples.2 2>&1)" ''
within 'of which there are many' "$(wc -l <samples.1)" 500 5000
is 'the timer was exact' "$(grep -c 'armed for each sample' err)" 0

run_guest -i 1us -e $thirteen "$WORKLOADS/phases" 2 1
is '13 events: exit status' "$status" 0
is '13 events: all recorded' "$(stat_of hr.bin '.events | length')" 13
is '13 events: nothing lost' "$(stat_of hr.bin .lost)" 0
within '13 events: bytes a sample' "$(stat_of hr.bin '.bytes / .samples')" 1 24
run_guest -e $thirteen,LLC-stores "$WORKLOADS/hello"
is '14 events are refused' "$status" 125
like 'in words' err '13'

run_guest -i 500ns -e instructions "$WORKLOADS/phases" 2 1
is '500 ns: exit status' "$status" 0
is '500 ns: nothing lost' "$(stat_of hr.bin .lost)" 0
within '500 ns: median' "$(stat_of hr.bin .interval_ns.p50)" 490 510
run_guest -i 1ms "$WORKLOADS/phases" 20 1
within '1 ms: samples' "$(stat_of hr.bin .samples)" 75 95

run_guest -e instructions:u "$WORKLOADS/hello"
is 'the suffix :u is accepted' "$status" 0

# A KVM that emulates instructions is not one to test on; hr knows it by measuring.
"$HR" run -q -v --accel auto "$WORKLOADS/hello" >out 2>err
if grep -q "^hr: KVM" err; then
    LIMIT=300
    run_guest --accel kvm "$WORKLOADS/hello-musl"
    is 'KVM: exit status' "$status" 0
    is 'KVM: stdout' "$(cat out)" "Hello from a program that runs alone."
    is 'KVM: not emulated' "$(stat_of hr.bin .emulated)" false
else
    skip 3 "no usable KVM: $(grep -m 1 '^hr: emulation' err)"
fi
done_testing
