#!/bin/sh
# Hardware counters read back loops of known length exactly, on every kind of PMU that QEMU offers.
# QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/flavours.sh"

# counts OPTION... PROGRAM ARG...: runs on the flavour and prints the totals, one event a line.
counts() {
    on_flavour "$@"
    [ "$status" -eq 0 ] && stat_of hr.bin '.events[].total'
}

# differ NAME EVENTS SHAPE WANTED...: what 90,000 more iterations add to every event.
differ() {
    name=$1 events=$2 shape=$3
    shift 3
    small=$(counts --mode off -e "$events" "$WORKLOADS/spin" 100000 "$shape")
    large=$(counts --mode off -e "$events" "$WORKLOADS/spin" 190000 "$shape")
    is "$name" "$(printf '%s\n%s\n' "$small" "$large" | awk -v wanted="$*" -v slack="$slack" '{ v[NR] = $1 }
        END { split(wanted, w, " ")
              for (i = 1; i <= NR / 2; i++) {
                  d = v[i + NR / 2] - v[i]
                  print d - w[i] <= slack && w[i] - d <= slack ? w[i] : d
              } }')" "$(printf '%s\n' "$@")"
}

reference=$(run_guest --accel tcg --mode off "$WORKLOADS/phases-musl" 1 1 && stat_of hr.bin '.events[0].total')

while IFS= read -r flavour; do
    echo "# $flavour"
    differ 'spin: instructions and branches are exact' instructions,branches loop 180000 90000
    differ 'spin calls: instructions and branches are exact' instructions,branches calls \
        360000 270000
    is 'the source is the PMU' "$(stat_of hr.bin '[.events[].source] | unique | join(" ")')" pmu

    off=$(counts --mode off -e instructions,cycles "$WORKLOADS/phases-musl" 1 1 | head -n 1)
    for interval in $intervals; do
        total=$(counts -i "$interval" -e instructions,branches "$WORKLOADS/phases-musl" 1 1 | head -n 1)
        more=$((slack + slack_a_sample * $(stat_of hr.bin .samples)))
        within "phases: instructions at $interval are those without sampling" "$total" $((off - slack)) $((off + more))
    done
    # Virtual time counts every iteration of a REP string instruction, a PMU the instruction; the
    # C library starts with a few.
    within "phases: the PMU agrees with virtual time" "$off" "$((reference - 100))" "$((reference + slack))"
    "$HR" dump --format csv hr.bin >dump.csv
    sum=$(awk -F, 'NR > 1 { sum += $6 } END { printf "%d", sum }' dump.csv)
    within 'phases: the samples add up to the total less the last piece' "$sum" "$((total - last_piece))" "$total"
    is 'no sample was lost' "$(stat_of hr.bin .lost)" 0
    # shellcheck disable=SC2086 # two bounds
    within 'one RDPMC takes as long as it may' "$(stat_of hr.bin .cost.rdpmc_ns)" $rdpmc_ns

    many=instructions,cycles,branches,branch-misses,cache-misses,cache-references,r1c0,r2c0,r3c0,r4c0,r5c0,r6c0,r7c0
    on_flavour -e "$many" "$WORKLOADS/hello"
    ok 'more events than counters: refused' test "$status" -ne 0
    like 'and told which does not fit' err 'no counter is left'
done <<END
$FLAVOURS
END
done_testing
