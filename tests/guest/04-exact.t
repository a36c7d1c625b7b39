#!/bin/sh
# Instruction counts are exact, equal at every sampling rate, and equal to an independent counter's.
. "$(dirname "$0")/../lib.sh"

# count OPTION... PROGRAM ARG...: runs and prints the instruction total.
count() {
    run_guest "$@"
    [ "$status" -eq 0 ] && total hr.bin instructions
}

# Same number of digits in argument and output: the difference is the loop's alone.
for shape in loop:2 calls:4 memory:5; do
    name=${shape%:*}
    per=${shape#*:}
    small=$(count --mode off "$WORKLOADS/spin" 100000 "$name")
    large=$(count --mode off "$WORKLOADS/spin" 190000 "$name")
    is "spin $name: exact" "$((large - small))" "$((90000 * per))"
done
small=$(count --mode off "$WORKLOADS/spin" 1000 nested)
large=$(count --mode off "$WORKLOADS/spin" 4000 nested)
is 'spin nested: exact' "$((large - small))" "$((3000 * 2003))"

off=$(count --mode off "$WORKLOADS/phases" 2 1)
is 'the count has source icount' "$(stat_of hr.bin '.events[] | select(.name | startswith("instructions")) | .source')" icount
is 'mode off: no samples' "$(stat_of hr.bin .samples)" 0
for interval in 500ns 1us 10us 1ms; do
    is "phases: the total at $interval is that without sampling" \
        "$(count -i $interval "$WORKLOADS/phases" 2 1)" "$off"
done

run_guest -i 1us -o a.bin "$WORKLOADS/phases" 4 1
run_guest -i 1us -o b.bin "$WORKLOADS/phases" 4 1
"$HR" dump --format csv a.bin >a.csv
"$HR" dump --format csv b.bin >b.csv
same_file 'two runs: the same samples, byte for byte' a.csv b.csv
ok 'and not empty' test "$(wc -l <a.csv)" -gt 20000
"$HR" dump --format csv a.bin | head -n 1 >header
like 'csv header' header '^time_ns,cpu,tid,ip,symbol,instructions'
sum=$(awk -F, 'NR > 1 { sum += $6 } END { printf "%d", sum }' a.csv)
all=$(total a.bin instructions)
within 'the increments add up to the total less the last piece' "$sum" "$((all - 2000))" "$all"

busybox=$(command -v busybox)
head -c 100000 "$HR" >input
run_guest -i 1us -o a.bin "$busybox" sha256sum <input
run_guest -i 1us -o b.bin "$busybox" sha256sum <input
"$HR" dump --format csv a.bin >a.csv
"$HR" dump --format csv b.bin >b.csv
same_file 'two runs with stdin: the same samples, byte for byte' a.csv b.csv
cat input | { run_guest -i 1us -o b.bin "$busybox" sha256sum; }
"$HR" dump --format csv b.bin >b.csv
is 'stdin from a pipe: the same instruction total' "$(total b.bin instructions)" \
    "$(total a.bin instructions)"

# System calls, service work and waits: the program's clock and count are those at any interval, and no point is lost.
# shellcheck disable=SC2016
script='uname; i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); done; sleep 0.01; uname'
all='[.duration_ns, .events[0].total] | join(" ")'
run_guest -i 1us "$busybox" sh -c "$script"
wanted=$(stat_of hr.bin "$all")
for interval in 100us 10us; do
    run_guest -i $interval "$busybox" sh -c "$script"
    is "writes at $interval: the time and the total are those at 1 us" "$(stat_of hr.bin "$all")" "$wanted"
done
duration=$(stat_of hr.bin .duration_ns)
within 'each point but those of the wait is sampled' "$(stat_of hr.bin .samples)" $(((duration - 10000000) / 10000 - 10)) \
    $(((duration - 10000000) / 10000 + 1))

# Independent counters, on the same binaries: callgrind and cachegrind.
if command -v valgrind >/dev/null; then
    # Cachegrind counts without a graph of calls: in a loop of one block that takes a tenth of the time.
    while read -r tool program; do
        # shellcheck disable=SC2086
        guest=$(count --mode off "$WORKLOADS"/$program)
        # shellcheck disable=SC2086
        counted=$(valgrind --tool="$tool" --cache-sim=no "--$tool-out-file=/dev/null" "$WORKLOADS"/$program 2>&1 |
            sed -n 's/.*I *refs: *//p' | tr -d ,)
        within "$program: within 0.1% of $tool ($counted)" "$guest" \
            "$((counted - counted / 1000))" "$((counted + counted / 1000))"
        [ "$counted" -ge 100000000 ]
        result $? "$program: at least 10^8 instructions"
    done <<END
callgrind phases-musl 25 1
cachegrind spin-musl 20000000 memory
END
else
    skip 4 'valgrind is not installed'
fi
done_testing
