#!/bin/sh
# What the readers show of every trigger, from made-up traces of a machine with counters.
. "$(dirname "$0")/../lib.sh"

# view KIND [ARG...]: makes the trace KIND.bin; its `hr stat` goes to the file out.
view() {
    kind=$1
    shift
    "$TOOLS/genviews" "$@" "$kind" "$kind.bin" || exit 1
    run_hr stat "$kind.bin"
    is "$kind: status" "$status" 0
}

view overflow
like 'overflow: what triggers a sample' out ' 2,000  samples +mode overflow, every 10,000 instructions$'
like 'overflow: a distribution' out '10\.00 us  between samples +median; p99'
is 'overflow: no interval that it could miss' "$(grep -c 'achieved interval' out)" 0
like 'overflow: interrupts without a cause' out ' 3  spurious NMIs '
like 'overflow: RDPMC' out ' 24 ns +of one RDPMC +native$'
is 'overflow: no warning' "$(grep -c Warning out)" 0
is 'overflow: JSON' "$(stat_of overflow.bin '[.mode, .period.first, .period.changes, .frequency_hz, .rate_hz.mean, .nmi.samples, .nmi.spurious] | @csv')" \
    '"overflow",10000,0,0,100000,2000,3'
view overflow-dense
like 'short period: warning with a better one' out 'Warning: sampling takes 40 % .* with -c 10000 it takes 10 % at most'
view frequency
like 'frequency: wanted and got' out 'mode overflow, 10,000 samples/s wanted, 11,[0-9]+ got$'
like 'frequency: period' out ' 100,000  period +instructions at the end; median [0-9,]+$'
is 'frequency: JSON' "$(stat_of frequency.bin '[.period.first, .period.last, .period.changes, .frequency_hz, .rate_hz.last_half] | @csv')" \
    '1000,100000,500,10000,10000'
view frequency-dense
like 'high frequency: warning with a lower one' out 'Warning: .* with -F 100000 '
view ipi
like 'ipi: what triggers a sample' out ' mode ipi, every 10\.00 us$'
like 'ipi: achieved interval' out ' achieved interval '
view trapped
like 'trapped RDPMC' out '1\.200 us +of one RDPMC +trapped by the hypervisor \(each read exits\)$'
like 'late timer' out '2\.100 us  timer lateness '
like 'unknown interrupts' out ' 2  unknown NMIs '
like 'dear samples: warning with a longer interval' out 'Warning: .* 35 % .* with -i 50us '
is 'lateness: JSON' "$(stat_of trapped.bin .cost.late_ns)" 2100
view instructed
like 'instructed: what triggers a sample' out \
    "mode instructed: the program's own calls, from the program's hr_start\(\) on$"
is 'instructed: its samples cost no interrupts' "$(grep -c 'cost of a sample' out)" 0
for kind in overflow overflow-dense frequency frequency-dense ipi trapped instructed; do
    run_hr check $kind.bin
    is "$kind: complete" "$status" 0
done

view regions
like 'regions: polled samples' out ' 200  polled +of the samples: the program asked for them'
like 'regions: where they are shown' out 'Regions: 2; hr report --regions regions\.bin'
is 'regions: JSON' "$(stat_of regions.bin '.regions[0] | [.name, .passes, .threads, .ticks.sum, .ticks.min, .ticks.max, .events[0].name, .events[0].mean, .events[1].p99] | @csv')" \
    '"parse",1000,1,2999000,2000,3998,"instructions:u",1499.5,3'
run_hr report regions.bin
like 'functions: regions are mentioned' out '^# 2 regions: hr report --regions regions\.bin$'
like 'functions: marks are mentioned' out '^# 10 marks: hr report --marks regions\.bin$'
run_hr report --regions regions.bin
is 'report --regions: status' "$status" 0
is 'report --regions: most time first' "$(grep 'passes by' out)" 'hash \x1b[31m: 10 passes by 1 thread
parse: 1,000 passes by 1 thread'
like 'report --regions: time' out '^  time +1\.500 ms +1\.500 us +1\.000 us +1\.[45][0-9]+ us +1\.9[0-9]+ us +1\.999 us$'
like 'report --regions: an event' out '^  LLC-misses +3,000 +3 +3 +3 +3 +3$'
like 'report --regions: a histogram' out '^    1\.000 us \|[^|]+\| 1\.999 us$'
run_hr report --regions --sort instructions -n 1 regions.bin
is 'report --regions by an event' "$(sed -n '/pass/p' out | tail -n 1)" 'parse: 1,000 passes by 1 thread'
like 'report --regions: histogram of that event' out '^    1,000 \|[^|]+\| 1,999$'
like 'report --regions: what is left out' out '^# 1 more; --limit 0'
run_hr report --regions --sort no-such-event regions.bin
is 'report --regions by an unknown event: status' "$status" 2
like 'report --regions by an unknown event: message' err 'choose time, instructions:u, LLC-misses:u$'
run_hr report --marks regions.bin
is 'report --marks: all of them' "$(grep -c ' step [0-9]$' out)" 10
like 'report --marks: time, difference, CPU, thread' out '^ +0\.001810000 s +1\.800 ms +0 +1  step 1$'
run_hr report --marks overflow.bin
like 'report --marks: none' out '^# no marks'
run_hr report --regions --marks regions.bin
is 'regions and marks at once: refused' "$status.$(head -n 1 err)" \
    '2.hr report: --regions, --marks, --waits, --stacks and --callers are reports of their own; ask for one at a time'
run_hr report --marks --sort time regions.bin
is 'sorted marks: refused' "$status.$(head -n 1 err)" \
    '2.hr report: --sort time: marks are in the order of time; leave it out'
run_hr report --regions overflow.bin
like 'report --regions: none' out '^# no regions'

# the pause in the middle counted a million instructions, which belong to no place, nor do the 7500 after it
report_sum() { awk '/^ *[0-9.]+%/ { gsub(",", ""); sum += $4 } END { printf "%d", sum }' out; }
run_hr report -n 0 regions.bin
total=$(total regions.bin instructions)
is 'report: what a pause counted is left out, up to the sample after it' "$((total - $(report_sum)))" 1007500
run_hr report -n 0 overflow.bin
is 'report: else all is there' "$(report_sum)" "$(total overflow.bin instructions)"

run_hr dump --format records regions.bin
like 'dump: polled samples' out ' flags=4\(polled\) '
like 'dump: the sample after a pause' out ' flags=8\(resumed\) '
like 'dump: a region' out '^  region event=1 passes=1000 sum=3000 min=3 max=3 threads=1 bucket_count=4 buckets=3:1000 text="parse"$'
like 'dump: names cannot steer the terminal' out 'text="hash \\x1b\[31m"$'
run_hr dump --format records frequency.bin
like 'dump: a period' out '^  period time=[0-9]+ period=100000$'
like 'dump: the frequency' out ' frequency_hz=10000$'
run_hr dump --format records trapped.bin
like 'dump: interrupts' out '^  nmi cpu=0 samples=0 spurious=0 unknown=2$'
like 'dump: lateness' out ' late_ticks=4200$'
run_hr dump regions.bin
is 'csv: the columns stay' "$(head -n 1 out)" 'time_ns,cpu,tid,ip,symbol,instructions:u,LLC-misses:u'
is 'csv: one row a sample' "$(wc -l <out)" 2001

view forged
run_hr check forged.bin
is 'a region that contradicts itself: status' "$status" 1
like 'a region that contradicts itself: said' out 'contradiction: region records .*: 1$'

ip=$(nm "$BUILD/guest.elf" | awk '$3 == "sampler_interrupt" { print $1 }')
cp "$BUILD/guest.elf" kernel.elf
view overflow --elf kernel.elf --kernel-ip "$ip"
run_hr report overflow.bin
like 'kernel code has names' out '^ 10\.00% +[0-9.]+ +200 .* \[kernel\] sampler_interrupt +kernel\.elf$'
is 'kernel code: nothing to complain' "$(cat err)" ''
run_hr dump overflow.bin
like 'kernel code in csv' out ",0x$ip,\[kernel\] sampler_interrupt\+0x0,"
cp "$WORKLOADS/hello" kernel.elf
run_hr report overflow.bin
is 'another kernel: status' "$status" 0
like 'another kernel: said' err 'kernel\.elf: not the kernel of that run'
is 'another kernel: no names from it' "$(grep -c '\[kernel\] ' out)" 0
view ipi --elf kernel.elf
rm kernel.elf
run_hr report ipi.bin
is 'a kernel that no sample needs is not missed' "$(cat err)" ''
# on a terminal no line of hr stat is longer, and nothing is lost but places of spaces
if command -v script >/dev/null; then
    cp "$WORKLOADS/hello-musl" hello # a path of any length stands on one line
    run_hr run -q --accel tcg -i 10us -e "$five" ./hello
    for columns in 40 80 100; do
        for trace in hr.bin frequency.bin; do
            script -qec "stty cols $columns; env -u NO_COLOR TERM=xterm $HR stat $trace" /dev/null </dev/null | tr -d '\r' >shown
            sed 's/\x1b\[[0-9;]*m//g' shown >plain
            is "$columns columns, $trace: no line is longer" "$(awk -v n=$columns 'length($0) > n && / .* /' plain)" ''
            is "$columns columns, $trace: every word" "$(tr -s '[:space:]' '\n' <plain)" "$("$HR" stat $trace | tr -s '[:space:]' '\n')"
        done
    done
    run_hr stat hr.bin
    script -qec "stty cols 80; env -u NO_COLOR TERM=xterm $HR stat hr.bin" /dev/null </dev/null >shown
    like 'stubs are dim' shown "^$(printf '\033')\[2m +[0-9,]+  cycles "
    script -qec "NO_COLOR=1 TERM=xterm $HR stat hr.bin" /dev/null </dev/null >shown
    is 'NO_COLOR: none' "$(grep -c "$(printf '\033\[')" shown)" 0
else
    skip 14 'script (bsdutils) is not installed'
fi

done_testing
