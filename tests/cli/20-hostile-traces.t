#!/bin/sh
# No trace makes a reader crash, hang, or take 200 MB: forged ones, and one of which nothing repeats.
# The page of hr view holds every call stack at once, and so may take more.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/many.sh"

MOST_KB=204800
COMMANDS="stat
stat --json
stat --jobs 3
stat --machine
stat --metrics
stat --files --json
diff --machine $ROOT/tests/golden/machine.bin
report
report --jobs 3 --by thread,cpu,mark,line
report --stacks --min 0
report --callers main
report --regions
report --marks
check
dump
dump --format records
export folded -o exported
export sqlite -o exported
export perf -o exported
export csv -o exported
export pprof -o exported
export perfetto -o exported
export firefox -o exported
plot -p latency -o picture.svg
memory
memory --by line
memory --lines
memory --map
memory --map=allocations -f json
plot -p memory -o picture.svg
plot --function outer -o picture.svg
timeline
noise
latency --counters
latency --by thread --correlate outer
latency --function outer --worst 9
latency --by request
latency --slowest 9 --format json
view -o page.html"

# survives TRACE: runs every reader; prints those that crashed or hung, or took too much memory.
survives() {
    echo "$COMMANDS" | while read -r command; do
        # shellcheck disable=SC2086
        run_hr $command "$1"
        [ "$status" -lt 124 ] || echo "$command: status $status"
        [ "$taken" -lt "$MOST_KB" ] || [ "${command%% *}" = view ] || echo "$command: $taken KB"
        [ ! -e exported ] || rm -f exported
    done
}

seeds=${HR_TEST_LONG:+200}
for golden in "$ROOT"/tests/golden/*.bin; do
    for seed in $(seq "${seeds:-2}"); do
        "$TOOLS/mutate" "$seed" "$golden" forged.bin || exit 1
        is "$(basename "$golden"), forged $seed" "$(survives forged.bin)" ''
    done
done
MOST_KB=$((MOST_KB / 2)) # for half as much as 200 MB are for
"$TOOLS/genmany" 20000 many.bin || exit 1
is 'nothing repeats' "$(survives many.bin)" ''
MOST_KB=204800
"$TOOLS/genmany" 70000 many.bin || exit 1 # more nodes of stacks, rows and threads than there is room for
COMMANDS='report --by thread,cpu,mark,address
report --stacks
report -n 1'
is 'nothing repeats, and more than there is room for' "$(survives many.bin)" ''
like 'what found no room is summed up' out '\[everything else\] *$'
done_testing
