#!/bin/sh
# Metrics: values that follow from the modelled PMU's rules, groups that do not fit, machines that do not count.
# QEMU: see tests/flavours.sh; the CPUs are those of the modelled PMU.
. "$(dirname "$0")/../lib.sh"

. "$ROOT/tests/docs/transcript.sh"
. "$ROOT/tests/flavours.sh"
membench=$WORKLOADS/membench
size=4194304 # four times the model's cache

# on CPU EVENTS PROGRAM...
on() {
    cpu=$1
    events=$2
    shift 2
    run_guest -q --accel tcg --qemu "$QEMU" --cpu "$cpu" -e "$events" -i 100us "$@"
}

# metric NAME: its value, times 1000, rounded down.
metric() {
    "$HR" stat --metrics --json | jq "first(.metrics[] | select(.name == \"$1\") | .value) * 1000 | floor"
}

total() {
    stat_of hr.bin ".events[] | select(.name == \"$1\") | .total"
}

for flavour in Icelake-Server,model=106,pmu=on,pmu-prefetch=off EPYC-Milan,model=17,pmu=on,pmu-prefetch=off; do
    on $flavour cycles,instructions,@cache_miss_rate,@branch_miss_rate "$membench" read $size 3
    [ "$status" -eq 0 ] || skip_all "QEMU does not model the CPU"
    # The model's rule: a cycle an instruction, 10 a miss of the first cache, 200 of the last, 15 a mispredicted branch.
    if [ "$flavour" = "${flavour#EPYC}" ]; then
        is "$flavour: CPI follows from the misses by the model's rule" "$(metric CPI)" \
            $((1000 * ($(total instructions) + 10 * $(total cache-references) + 200 * $(total cache-misses) + \
            15 * $(total branch-misses)) / $(total instructions)))
    fi
    is "$flavour: IPC" "$(metric IPC)" $((1000 * $(total instructions) / $(total cycles)))
    is "$flavour: mispredicted branches in 1,000 instructions" "$(metric branch_mpki)" \
        $((1000000 * $(total branch-misses) / $(total instructions)))
    within "$flavour: a pass over four times the cache misses in all of it" "$(metric cache_miss_rate)" 99900 100000
done

on Icelake-Server,model=106,pmu=on,pmu-prefetch=off instructions,@l1d_miss_rate,@read_bandwidth "$membench" read $size 3
within 'one load of four is the first of its line' "$(metric l1d_miss_rate)" 24500 25000
is 'bandwidth: the bytes by the time' "$(metric read_bandwidth)" \
    "$(jq -n "64 * $(total LLC-misses) * 1000000 / $(stat_of hr.bin .duration_ns) | floor")"

# The same of functions, bins and regions: metrics follow from the counts that stand beside them.
on Icelake-Server,model=106,pmu=on @IPC,@cache_mpki -g "$WORKLOADS/phases" 1 1
run_hr report --metric IPC,cache_mpki --format csv --limit 0
is 'hr report: in each row what its counts come to' "$(awk -F, 'NR > 1 && $8 > 0 && ($12 - $6 / $8) ^ 2 > 1e-12 ||
    NR > 1 && $6 > 0 && ($13 - 1000 * $10 / $6) ^ 2 > 1e-6 { print }' out)" ''
ok 'of the functions that there are' test "$(wc -l <out)" -gt 4
run_hr report --metric IPC,cache_mpki --total -n 3
like 'a table of totals' out '^# +self +\+- +total +samples +instructions +IPC +cache_mpki +symbol'
run_hr report --metric read_bandwidth
like 'functions have no time' err 'was not recorded|needs the time'
run_hr report --metric IPC --stacks
is 'trees have no metrics' "$status" 2
run_hr report --format json --metric IPC
is 'hr report: json' "$(jq '.all | (.metrics.IPC - .events.instructions / .events.cycles) | fabs < 1e-6' out)" true
run_hr report --sort cycles -n 1 --format csv --metric IPC
of_function=$(awk -F, 'NR == 2 { printf "%.2f", $12 }' out)
function=$(awk -F, 'NR == 2 { print $1 }' out)
run_hr annotate --metric IPC "$function"
like 'hr annotate: a column before the address' out '^# +share +samples +instructions +IPC +address +instruction'
run_hr annotate --source --metric IPC "$function"
is 'hr annotate: the IPC of its lines comes to that of the function' "$(awk -v mean="$of_function" '/%/ && NF > 4 && !/^#/ {
    gsub(",", "", $3); sum += $3; cycles += $3 / $4 } END { r = sum / cycles / mean; print (r > 0.8 && r < 1.25) }' out)" 1
run_hr timeline --metric IPC --bin 1ms --format csv
cp out metric.csv
run_hr timeline --bin 1ms --format csv
is 'hr timeline: IPC as without metrics' "$(awk -F, '$4 == "IPC" { print $1, $7 }' metric.csv)" \
    "$(awk -F, '$4 == "ipc" { print $1, $7 }' out)"
run_hr timeline --metric IPC,cache_mpki
like 'a picture' out '^cache_mpki +[0-9.]+ +[0-9.]+ '
run_hr timeline --metric IPC --bandwidth
is 'one kind of rates at a time' "$status" 2
on Icelake-Server,model=106,pmu=on @IPC,@read_bandwidth "$WORKLOADS/regions"
run_hr report --regions --metric IPC,read_bandwidth
is 'regions: IPC for each' "$(grep -c '^  IPC  *[0-9.]*$' out)" "$(grep -c ' pass.* by ' out)"
like 'and bandwidth, as their time is known' out '^  read_bandwidth +[0-9.]+'

on Skylake-Server,pmu=on,pmu-version=4,pmu-gp=4,pmu-fixed=3 @tma1 "$membench" read $size 1
run_hr stat --metrics
like 'a machine that does not count operations: hr says so' out 'this machine does not count these events'
is 'which has the back end take all slots' "$(metric backend_bound)" 100000
run_hr stat --metrics=@tma1,ipc
is 'a list: four categories and one more' "$(grep -cE '^ +[A-Za-z_]+ +[0-9.]+ ' out)" 5
run_hr stat --metrics=branch_mpki
is 'what was not recorded is refused' "$status" 1
like 'with the reason and the remedy' err "branch-misses was not recorded; -e @branch_mpki records what it needs"

on Icelake-Server,model=106,pmu=on @tma2 "$membench" read $size 1
is 'a group of more events than a run counts is refused' "$status" 125
like 'and hr sweep named' err "'hr sweep -e @tma2' measures them in several runs"
on Icelake-Server,model=143,pmu=on,pmu-gp=4 @tma2 "$membench" read $size 1
is 'so is one that the counters of the machine do not take' "$status" 125
like 'and hr sweep named there' err "@tma2 does not fit into the counters at once; 'hr sweep -e @tma2' measures it"

run_hr sweep -q --accel tcg --qemu "$QEMU" --cpu Icelake-Server,model=106,pmu=on --kernel "$KERNEL" -e @tma2,@IPC,@cache_mpki "$WORKLOADS/phases" 1 1
is 'hr sweep measures it' "$status" 0
run_hr sweep show --metrics -f json
is 'and its metrics, of several runs together' "$(jq -r '[.metrics[].name] | contains(["memory_bound", "heavy_operations"])' out)" true
cp out several.json
on Icelake-Server,model=106,pmu=on @IPC,@cache_mpki "$WORKLOADS/phases" 1 1
"$HR" stat --metrics --json >one.json
is 'which are those of one run, where the machine repeats' "$(jq '[.metrics[] | select(.name == "CPI" or .name == "cache_mpki") | .value]' several.json)" \
    "$(jq '[.metrics[] | select(.name == "CPI" or .name == "cache_mpki") | .value]' one.json)"
run_hr sweep show --metrics=IPC,@tma1 -f csv
is 'csv: a row for each' "$(wc -l <out)" 6

run_guest -q --accel tcg -e @IPC "$membench" read 65536 1
run_hr stat --metrics
is 'virtual time has no metrics' "$status" 1
like 'and hr says why' err 'no performance counter counted the events of the trace: metrics need a machine with counters'

flavour=Icelake-Server,model=106,pmu=on
mkdir -p bin
cat >bin/hr <<END
#!/bin/sh
case "\$1 \$2" in run* | 'sweep -'*) ;; *) exec "$HR" "\$@" ;; esac
command=\$1
shift
exec "$HR" \$command --accel tcg --qemu "$QEMU" --cpu "$flavour" --kernel "$KERNEL" "\$@"
END
chmod +x bin/hr
BUILD=$work/bin transcript "$ROOT/docs/metrics.md"
done_testing
