#!/bin/sh
# What NMIs, timers, waits and other CPUs may do to each other: nothing.  QEMU: an emulator with a modelled PMU.
. "$(dirname "$0")/../lib.sh"

# Several CPUs in virtual time: every run is the same.
ln -s "$ROOT/tests/tools/virtual.sh" virtual

# waits OPTION... -- MODE...: on two CPUs.
waits() {
    run_cpus 2 "$WORKLOADS/waits" "$@"
}

# ---- waits ----
for mode in off instructed; do
    waits --qemu ./virtual --mode $mode -- early
    is "$mode: a wait that ended early" "$status: $(cat out)" '0: early: 0'
    is "$mode: its timer takes no sample" "$(stat_of hr.bin .samples)" 0
done
waits -- sleep
is 'futex(NULL, FUTEX_WAKE) ends no sleep' "$status: $(cat out)" '0: sleep: all of it'
waits --qemu ./virtual -- signal 50
is 'a signal on its way is no dead end' "$status: $(cat out)" '0: signal: 50 times'

# emulator_time: hundredths of a second of CPU that the emulator has used.
emulator_time() {
    used=$(awk 'NR == 1 { print $14 + $15 }' "/proc/${emulator:-none}/stat" 2>/dev/null)
    echo "${used:-0}"
}

# The host does not take what the guest sends until the emulator has waited for it for a third of a second.
"$HR" run -q -i 100us "$WORKLOADS/waits" backlog 300000 >out 2>err &
pid=$!
emulator=$(emulator_of $pid)
for _ in $(seq $((LIMIT * 20))); do
    if [ -s hr.bin ] || ! kill -0 $pid 2>/dev/null; then break; fi
    sleep 0.05
done
kill -STOP $pid
for _ in $(seq $((LIMIT * 3))); do
    used=$(emulator_time)
    sleep 0.3
    if [ "$(emulator_time)" -eq "$used" ]; then break; fi
done
kill -CONT $pid
status=0
wait $pid || status=$?
is 'a host that does not read for a while: the run ends well' "$status" 0
"$HR" dump --format csv hr.bin >a.csv
within 'and sampling goes on to the end' "$(($(stat_of hr.bin .duration_ns) - $(tail -n 1 a.csv | cut -d, -f1)))" \
    0 200000

# ---- a run that begins paused is calibrated like any other ----
run_guest -i 1us "$WORKLOADS/regions" pause 1000
cost=$(stat_of hr.bin .cost.sample_ns)
run_guest -i 1us --paused "$WORKLOADS/regions" pause 1000
is '--paused: what a sample costs is known' "$(stat_of hr.bin .cost.sample_ns)" "$cost"

# ---- threads at odds ----
# whole NAME: the last run ended well, and its trace tells all of it, in order.
whole() {
    is "$1: ends well" "$status: $(cat out)" '0: racefuzz: calls and faults'
    ok "$1: the trace is whole" "$HR" check hr.bin
    "$HR" dump --format csv hr.bin | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "symbol") names = i }
        NR > 1 {
            if ($1 < last[$2]) { print "back from " last[$2]; print }
            for (i = names + 1; i <= NF; i++) if ($i < 0 || $i > 1e12) print
            last[$2] = $1 }' >bad.csv
    is "$1: times and counts only grow" "$(head -n 4 bad.csv)" ''
}

# In real time a round takes ten times as long as in virtual time: CPUs wait for each other's threads.
if [ -n "${HR_TEST_LONG:-}" ]; then rounds=2000; else rounds=300; fi
for mode in 'timer -i 100us' 'ipi -i 100us' instructed; do
    # shellcheck disable=SC2086
    run_guest --accel tcg --cpus 3 --mode $mode "$WORKLOADS/racefuzz" 3 $rounds
    whole "$mode"
    # shellcheck disable=SC2086
    run_guest --accel tcg --qemu ./virtual --cpus 3 --mode $mode "$WORKLOADS/racefuzz" 3 1000
    whole "$mode, in virtual time"
done

. "$ROOT/tests/flavours.sh"
while IFS= read -r flavour; do
    echo "# $flavour"
    run_guest --accel tcg --qemu ./virtual --cpu "$flavour" --cpus 3 -c 2000 -e instructions:uk,cycles:uk,branches \
        "$WORKLOADS/racefuzz" 3 1500
    whole 'NMIs on three CPUs'
    on_flavour -c 1000 -e instructions:uk,cycles:uk "$WORKLOADS/regions" polls 5000
    "$HR" dump --format csv hr.bin | awk -F, 'NR > 1 {
        if ($1 < last || $6 < 0 || $6 > 1e9 || $7 < 0 || $7 > 1e9) print; last = $1 }' >bad.csv
    is 'polls among NMIs: times and counts only grow' "$(head -n 4 bad.csv)" ''
    within 'and their totals are right' "$(stat_of hr.bin '.events[1].total')" 1000000 100000000
    on_flavour --mode off -e instructions:uk,branches "$WORKLOADS/regions" pause 50000
    branches=$(total hr.bin branches)
    on_flavour -c 1000 -e instructions:uk,branches "$WORKLOADS/regions" pause 50000
    # The branch at which the counters freeze may be missing.
    within 'a pause stops no counter' "$(total hr.bin branches)" $((branches - 2)) "$branches"
    on_flavour -c 1 --paused -e instructions "$WORKLOADS/hello"
    is '--paused: a period of 1 is refused' "$status" 125
    # The first overflow comes before the program's first instruction.
    on_flavour -c 1 -e cycles:uk "$WORKLOADS/hello"
    least=$(sed -n 's/.* use \([0-9]*\) or more$/\1/p' err)
    on_flavour -c "$least" -e cycles:uk "$WORKLOADS/hello"
    "$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { if ($1 < last) print; last = $1 }' >bad.csv
    is 'the shortest period: times only grow' "$(head -n 4 bad.csv)" ''
done <<END
$(echo "$FLAVOURS" | sed '2d;4d;6,$d')
END
done_testing
