#!/bin/sh
# hr timeline: sums of bins, known rates, sleeping, threads, formats, refusals.
. "$(dirname "$0")/../lib.sh"

# count_sum FILE EVENT [OPTION...]: the sum of an event's counts over all bins.
count_sum() {
    file=$1 event=$2
    shift 2
    "$HR" timeline --format csv --event "$event" "$@" "$file" |
        awk -F, -v e="$event" '$4 == "count" && $5 == e { s += $7 } END { printf "%d", s }'
}

# value METRIC EVENT: of the rows in the file out, the different values.
value() {
    awk -F, -v m="$1" -v e="$2" '$4 == m && $5 == e { print $7 }' out | sort -u | head -n 3
}

"$TOOLS/gentrace" 200000 big.bin || exit 1
for event in instructions cycles cache-misses branches branch-misses; do
    is "made-up trace: bins of 70 us add up to the total of $event" \
        "$(count_sum big.bin $event:u --bin 70us)" "$(total big.bin $event)"
done
is 'per thread: the same sum' "$(count_sum big.bin cycles:u --per thread --bin 1ms)" "$(total big.bin cycles)"
part=$(($(count_sum big.bin cycles:u --to 30ms) + $(count_sum big.bin cycles:u --from 30ms)))
within 'two halves make the whole but for one sample' "$(($(total big.bin cycles) - part))" -3000 3000

run_hr timeline big.bin
is 'table: status' "$status" 0
like 'table: from, to, length of a bar' out '^# from 0 ns to 200\.[0-9]+ ms; a bar is 6\.000 ms$'
like 'table: a row' out '^IPC\* +0\.[0-9]+ +[0-9.]+ [▁▂▃▄▅▆▇█]+$'
like 'table: what is no measurement is marked' out '^# \* cache-misses: stub: fixed ratio'
like 'table: bytes of lines' out '^cache-misses B/us\*'
is 'table: branches are no lines' "$(grep -c 'branch.* B/us' out)" 0
COLUMNS=40 "$HR" timeline big.bin >narrow
is 'a narrow terminal: rows fit' "$(grep -v '^#' narrow | perl -CS -ne 'chomp; $n++ if length > 40; END { print $n + 0 }')" 0

# 2 GHz, an instruction is two ticks, a sample each 10 us: known rates
"$TOOLS/genviews" ipi ipi.bin || exit 1
run_hr timeline --format csv --bin 100us ipi.bin
is 'csv: header' "$(head -n 1 out)" 'from_ns,to_ns,cpu,metric,event,source,value'
is 'csv: bins' "$(awk -F, '$4 == "usage"' out | wc -l).$(sed -n 2p out | cut -d, -f1-2)" '200.0,100000'
is 'known rate: instructions' "$(value per_us instructions:u)" 1000
is 'known usage' "$(value usage '')" 1
is 'known samples' "$(awk -F, '$4 == "samples" { s += $7 } END { print s }' out)" 2000
is 'no cycles, no instructions a cycle' "$(value ipc '')$(value ghz '')" ''
is 'a counter is no stub' "$(awk -F, '$5 == "LLC-misses:u" { print $6 }' out | sort -u)" pmu
# sample i adds i % 3 misses: 9, 10 or 11 in ten samples
is 'known rate: misses' "$(value per_us LLC-misses:u | tr '\n' ' ')" '0.09 0.1 0.11 '
is 'known rate: per 1000 instructions' "$(value per_ki LLC-misses:u | tr '\n' ' ')" '0.09 0.1 0.11 '
is 'bytes are misses times the line' "$(value bytes_per_us LLC-misses:u | tr '\n' ' ')" '5.76 6.4 7.04 '
run_hr timeline --format csv --bin 100us --line-bytes 128 ipi.bin
is 'a larger line' "$(value bytes_per_us LLC-misses:u | tr '\n' ' ')" '11.52 12.8 14.08 '
run_hr timeline --format json --bin 5ms ipi.bin
is 'json' "$(jq -c '[.bin_ns, .bins, .to_ns, (.rows | length)], [.rows[] | select(.metric == "count" and .event == "LLC-misses:u") | .value]' out | tr '\n' ' ')" \
    '[5000000,4,20000000,36] [499,500,501,499] '
run_hr timeline --event LLC-misses --format csv ipi.bin
is 'one event alone' "$(cut -d, -f5 out | sort -u | tr -d '\n')" 'LLC-misses:uevent'

run_guest -q -i 10us -e "$five" "$WORKLOADS/threads" compute 3 10
is 'threads: bins add up' "$(count_sum hr.bin instructions --per thread)" "$(total hr.bin instructions)"
run_hr timeline --per thread --format csv --bin 3ms hr.bin
is 'threads: each has rows' "$(cut -d, -f3 out | sort -u | tr '\n' ' ')" '1000 1001 1002 tid '
within 'threads: one CPU is shared' "$(awk -F, '$4 == "usage" && $1 == 0 { s += $7 } END { print s }' out)" 0.999 1
run_hr timeline --event branches hr.bin
is 'remarks on the events that are shown alone' "$(grep '^# \*' out | cut -d: -f1 | tr -d '\n')" \
    '# * instructions# * cycles# * branches'
run_hr timeline --thread 1001 --format csv --bin 3ms hr.bin
within 'one thread has a third' "$(awk -F, '$4 == "usage" && $1 == 0 { print $7 }' out)" 0.3 0.4

run_guest -q -i 10us busybox sleep 0.02
run_hr timeline --bin 1ms --format csv hr.bin
is 'a program that sleeps: bins in which nothing ran' \
    "$(awk -F, '$4 == "usage" && $7 == 0' out | wc -l).$(awk -F, '$4 == "usage" && $7 == 0 { t = $1 + 1 } $4 == "count" && $5 == "instructions" && $1 + 1 == t { s += $7 } END { print s + 0 }' out)" \
    '19.0'
is 'a program that sleeps: bins add up' "$(count_sum hr.bin instructions --bin 1ms)" "$(total hr.bin instructions)"

run_hr timeline --bin 1ns big.bin
is 'too many bins: status' "$status" 2
like 'too many bins: remedy' err 'give 250 ns or more, or a part of the trace'
run_hr timeline --event no-such big.bin
is 'unknown event' "$status.$(cat err)" \
    '2.hr: --event no-such: the trace has no such event; it has instructions:u, cycles:u, cache-misses:u, branches:u, branch-misses:u'
run_hr timeline --bandwidth big.bin
is 'bandwidth of stubs' "$status.$(cat err)" \
    '1.hr: --bandwidth: big.bin has stubs instead of counts of events; it needs a machine with counters'
run_hr timeline --bandwidth --event cycles big.bin
is 'bandwidth of one event' "$status.$(cat err)" '2.hr: --bandwidth chooses the events; leave out --event'
run_hr timeline --from 10s big.bin
is 'nothing selected' "$status.$(cat err)" \
    "1.hr: big.bin: nothing is selected: no sample of the run, which took 200.1 ms, lies there; 'hr stat big.bin' shows the whole run"
run_hr timeline --bin 10 big.bin
is 'a bin without a unit' "$status" 2
head -c 100000 big.bin >cut.bin
run_hr timeline cut.bin
is 'a trace that was cut off: status' "$status" 0
like 'a trace that was cut off: said' err 'incomplete'
"$HR" timeline --bin 2us --format csv big.bin >/dev/full 2>err
is 'a full disk' "$?.$(cat err)" '1.hr: standard output: No space left on device; free some space or write elsewhere'
"$HR" timeline big.bin >/dev/full 2>err
is 'a full disk: table' "$?" 1
done_testing
