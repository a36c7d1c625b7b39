#!/bin/sh
# hr doctor --measure: what sampling costs, by runs of a loop of known length under emulation.
# QEMU with a modelled PMU adds the counters (QEMU=PATH).
. "$(dirname "$0")/../lib.sh"
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
LIMIT=$((LIMIT * 4)) # a command makes several runs

# figure FILTER: of the JSON in out.
figure() {
    jq -r "$1" out
}

run_hr doctor --measure --accel tcg --json
is 'JSON: status' "$status" 0
is 'JSON: nothing on stderr' "$(cat err)" ''
is 'JSON: of the emulator' "$(figure '[.emulated, .virtual_time, .pmu] | join(" ")')" 'true true false'
is 'JSON: the loop is counted exactly, sampled or not' "$(figure '[.runs[].counted // empty] | unique | join(" ")')" "$(figure .expected)"
is 'JSON: by number of events' "$(figure '[.runs[] | select(.mode == "timer") | .events] | join(" ")')" '0 1'
ok 'JSON: intervals follow from the cost' jq -e '.runs | map(select(.mode == "timer")) |
    all(.sample_ns > 0 and .interval_10_ns == .sample_ns * 10 and .interval_50_ns == .sample_ns * 2)' out
is 'JSON: what was not measured has a reason' "$(figure '[.runs[] | select(.left_out) | .mode] | join(" ")')" 'ipi overflow'
is 'nothing is left behind' "$(ls "$TMPDIR")" ''
run_hr doctor --measure --accel tcg
is 'table: status' "$status" 0
like 'table: whose clock it is' out "the figures are of the emulator's own clock"
like 'table: exact' out '^ exactness +\+0 .* \+0 to \+0 with samples$'
like 'table: a row' out '^ timer +1 +[0-9.]+ ns +[0-9.]+ us +[0-9.]+ ns$'

if [ -n "${QEMU:-}" ]; then
    run_hr doctor --measure --accel tcg --qemu "$QEMU" --cpu Icelake-Server,model=106,pmu=on --json
    is 'counters: status' "$status" 0
    is 'counters: there are' "$(figure .pmu)" true
    is 'counters: exact in every mode' "$(figure '[.runs[].counted // empty] | unique | join(" ")')" "$(figure .expected)"
    is 'counters: by mode and number of events' "$(figure '[.runs[] | select(.sample_ns) | "\(.mode) \(.events)"] | join(", ")')" \
        'timer 0, timer 1, timer 2, timer 5, overflow 1, overflow 2, overflow 5'
    is 'counters: the model has no skid' "$(figure '[.runs[] | select(.skid != null) | .skid] | unique | join(" ")')" 0
else
    skip 5 'QEMU names no emulator with a modelled PMU'
fi

# Failures: one line with the reason.
run_hr doctor --measure --accel tcg --qemu "$work/none"
is 'no emulator: status' "$status" 125
like 'no emulator: why' err '^hr: --measure: the run with --mode off and 1 events ended with status 125: .*none'
is 'no emulator: one line' "$(wc -l <err)" 1
is 'no emulator: no table' "$(cat out)" ''
TMPDIR=$work/missing run_hr doctor --measure --accel tcg
is 'no directory: status' "$status" 125
like 'no directory: why' err 'No such file'
for option in --accel=tcg --cpu=max --pin=0; do
    run_hr doctor "$option"
    is "$option alone: status" "$status" 125
    like "$option alone: said" err 'options of the runs of --measure'
done
is 'failures leave nothing behind' "$(ls "$TMPDIR")" ''
done_testing
