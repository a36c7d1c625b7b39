#!/bin/sh
# Sampling on counter overflow: every sample a period after the last, at the right instruction; none
# lost, doubled or spurious.  QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"

run_guest --accel tcg -c 1000 "$WORKLOADS/hello"
ok 'without counters: refused' test "$status" -eq 125
like 'and told the other mode' err 'use --mode timer'

. "$ROOT/tests/flavours.sh"

# sampled OPTION... PROGRAM ARG...: on_flavour, with the samples in dump.csv.
sampled() {
    on_flavour "$@"
    "$HR" dump --format csv hr.bin >dump.csv
}

# share FUNCTION...: percent of the first event's samples in these functions.
share() {
    awk -F, -v wanted=" $* " 'NR > 1 {
            n++; name = $5; sub(/\+0x.*/, "", name); if (index(wanted, " " name " ")) hit++
        } END { printf "%.3f", n ? 100 * hit / n : 0 }' dump.csv
}

# rate FROM TO: samples a second between these times in milliseconds after the first sample.
rate() {
    awk -F, -v from="$1" -v to="$2" 'NR == 2 { start = $1 }
        NR > 1 { t = ($1 - start) / 1e6; if (t >= from && t < to) n++ }
        END { printf "%.1f", n / (to - from) * 1000 }' dump.csv
}

# conserved NAME PERIOD: samples and interrupts of a :u event at a fixed period.
conserved() {
    stat_of hr.bin '[.events[0].total, .samples, .lost] | join(" ")' >totals
    read -r total samples lost <totals
    is "$1: one sample a period" "$samples" "$((total / $2))"
    is "$1: none lost" "$lost" 0
    awk -F, -v period="$2" '
        NR > 1 && ($6 != period || $1 <= last) { print; bad++ } NR > 1 { last = $1 }
        END { exit bad > 0 }' dump.csv >bad.csv
    ok "$1: every sample a period after the last" test ! -s bad.csv
}

attribution() {
    sampled -c 1000 -e instructions,cycles,branches "$WORKLOADS/split" 1000
    conserved 'split' 1000
    within 'split: 70 percent' "$(share split_seventy)" 69.5 70.5
    within 'split: 20 percent' "$(share split_twenty)" 19.5 20.5
    within 'split: 10 percent' "$(share split_ten)" 9.5 10.5
    sampled -c 200 -e branch-misses "$WORKLOADS/phases" 2 1
    within 'branch misses are where they are caused' "$(share phase_sort sift_down)" 95 100
    sampled -c 500 -e cache-misses "$WORKLOADS/phases" 2 1
    within 'cache misses are where they are caused' \
        "$(share phase_chase phase_stream link_nodes main next_random)" 95 100
    within 'most of them in the pointer chase and the stream' "$(share phase_chase phase_stream)" 60 100
}

frequency() {
    sampled -F 10000 -e instructions "$WORKLOADS/spin" 22500000
    within 'frequency: within 2 percent after 20 ms' "$(rate 20 45)" 9800 10200
    within 'frequency: and in the next ms already' "$(rate 20 30)" 9800 10200
    # A chase step costs over 200 cycles, arithmetic one an instruction: the rate of cycles changes
    # two hundredfold between phases.
    sampled -F 10000 -e cycles --duration 29ms "$WORKLOADS/phases" 11 1 # until the end of the chase
    first=$(awk -F, 'NR == 2 { start = $1 } NR > 1 && $5 ~ /phase_chase/ { printf "%d", ($1 - start) / 1e6; exit }' dump.csv)
    within 'frequency: follows a change of phase' "$(rate $((first + 5)) $((first + 10)))" 9500 10500
}

# The period is prime: one that the loop keeps step with sees the same places again and again.
kernel() {
    sampled -c 211 -e instructions:k "$WORKLOADS/storm" 200
    awk -F, 'NR > 1 { sub(/\+0x.*/, "", $5); print $5 }' dump.csv | sort -u >names
    like 'kernel samples: the entry' names 'entry_syscall$'
    like 'kernel samples: dispatching' names ' syscall_[a-z]+$'
    like 'kernel samples: page faults' names ' (vm_fault|exception_14|fault[a-z_]*)$'
    is 'kernel samples: none in the program' "$(stat_of hr.bin .lost)" 0
}

# 200,000 NMIs with system calls and page faults between them, on the first flavour, where they meet 2,375 instructions of the
# kernel (twice as many meet 2,424), and a fifth of them on others. The program checks itself.
# HR_TEST_LONG: two million on each.
[ -z "${HR_TEST_LONG:-}" ] || STORM=${STORM:-25000}
rounds=${STORM:-2500}
storm() {
    on_flavour -c 2 -e instructions:uk,cycles:uk,branches:uk "$WORKLOADS/storm" 1
    like 'storm: the highest rate is known' err ' use [0-9]+ or more$'
    least=$(sed -n 's/.* use \([0-9]*\) or more$/\1/p' err)
    on_flavour -c "$least" -e instructions:uk,cycles:uk,branches:uk "$WORKLOADS/storm" "$rounds"
    is 'storm: the program is right' "$status" 0
    like 'storm: and says so' out ' 0 checks failed$'
    stat_of hr.bin '[.samples + .lost, .lost, .nmi.samples, .nmi.spurious + .nmi.unknown] | join(" ")' >counts
    read -r samples lost nmis others <counts
    within "storm: NMIs in $rounds rounds" "$samples" $((rounds * 36)) $((rounds * 120))
    is 'storm: none lost' "$lost" 0
    is 'storm: each NMI a sample' "$nmis" "$samples"
    is 'storm: none spurious' "$others" 0
    ok 'storm: the trace is whole' "$HR" check hr.bin
    [ -n "${HR_TEST_LONG:-}" ] || rounds=$((${STORM:-2500} / 5))
}

limits() {
    on_flavour -c 1 -e instructions "$WORKLOADS/hello"
    is 'a period of 1: refused' "$status" 125
    like 'and told the smallest' err '^hr: --count 1: too short .* use [0-9]+ or more$'
    least=$(sed -n 's/.* use \([0-9]*\) or more$/\1/p' err)
    on_flavour --paused -c 1 -e instructions "$WORKLOADS/hello"
    like 'so is one that starts later' err "^hr: --count 1: too short .* use $least or more$"
    sampled -c "$least" -e instructions "$WORKLOADS/spin" 100000
    is 'the smallest works' "$status" 0
    conserved 'the smallest' "$least"
    on_flavour -F 10000000 -e instructions "$WORKLOADS/hello"
    is 'ten million samples a second: refused' "$status" 125
    like 'and told the highest' err '^hr: --freq 10000000: too high.* use [0-9]+ or less$'
    sampled -c 1 -e cache-misses "$WORKLOADS/hello"
    # An instruction may miss twice: one overflow, two events.
    is 'every single event of a rare kind' "$(awk -F, 'NR > 1 { sum += $6 } END { print sum }' dump.csv)" \
        "$(stat_of hr.bin '.events[0].total')"
}

while IFS= read -r flavour; do
    echo "# $flavour"
    sampled -c 1000 -e instructions,cycles,branches,branch-misses,r1c4 "$WORKLOADS/spin" 1000000
    conserved 'spin' 1000
    within 'spin: instructions of a sample with five counters' "$(stat_of hr.bin .cost.sample_ns)" 1 160
    alone=$(stat_of hr.bin '.events[0].total')
    on_flavour -c 777 "$WORKLOADS/spin" 1000000
    is 'spin: the total does not depend on the period' "$(stat_of hr.bin '.events[0].total')" "$alone"
    sampled --cpus 1 --max-overhead 90% -c 100000 -e instructions "$WORKLOADS/spin" 5000000
    conserved 'with a service CPU' 100000
    attribution
    frequency
    kernel
    storm
    limits
done <<END
$FLAVOURS
END
done_testing
