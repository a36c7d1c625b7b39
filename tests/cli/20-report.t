#!/bin/sh
# Reading parts of a trace, by any number of threads, and what hr report makes of it.
. "$(dirname "$0")/../lib.sh"

"$TOOLS/gentrace" --elf "$WORKLOADS/phases-glibc-static" 400000 plain.bin || exit 1

# damaged FILE OFFSET: FILE with one byte turned over, as damaged.bin.
damaged() {
    cp "$1" damaged.bin
    perl -e 'open F, "+<", $ARGV[0] or die; seek F, $ARGV[1], 0; read F, $b, 1; seek F, $ARGV[1], 0; print F chr(ord($b) ^ 1)' \
        damaged.bin "$2"
}

run_hr stat --jobs 1 plain.bin
mv out one
for jobs in 2 5 8; do
    run_hr stat --jobs $jobs plain.bin
    same_file "stat: $jobs threads find what one finds" out one
done
run_hr stat --jobs 0 plain.bin
is 'stat: no threads are refused' "$status.$(head -n 1 err)" \
    '2.hr stat: --jobs 0: not a number of threads; 1 reads with one'

# 1 us apart from 1 ms after the clock's 0, where the program started
is 'a part: its samples' "$(stat_of plain.bin '[.samples, .duration_ns, .selection] | tojson')" \
    "$(stat_of plain.bin '[400000, .duration_ns, null] | tojson')"
run_hr stat --json --from 100ms --to 102ms plain.bin
is 'a part: status' "$status" 0
is 'a part: its time' "$(jq -c '[.selection.from_ns, .selection.to_ns, .duration_ns]' out)" '[100000000,102000000,2000000]'
within 'a part: its samples' "$(jq .samples out)" 1950 2001
within 'a part: its instructions' "$(jq '.events[0].total' out)" 1998000 2002000
cp out part
for jobs in 2 7; do
    run_hr stat --json --jobs $jobs --from 100ms --to 102ms plain.bin
    same_file "a part: by $jobs threads" out part
done
run_hr stat --from 100ms --to 102ms plain.bin
like 'a part: said' out '^ Part of the run: 0\.100000000 s to 0\.102000000 s;'
damaged plain.bin 100000
run_hr stat --json damaged.bin
is 'damage: seen by a walk over everything' "$(jq .complete out)" false
for jobs in 1 4; do
    run_hr stat --json --jobs $jobs --from 100ms --to 102ms damaged.bin
    same_file "a part: the rest is not read ($jobs)" out part
done
size=$(stat -c %s plain.bin)
head -c $((size - 100)) plain.bin >cut.bin
run_hr stat --json --from 100ms --to 102ms cut.bin
is 'a part of a trace without index' "$(jq -c '[.samples, .events]' out)" "$(jq -c '[.samples, .events]' part)"

run_hr stat --from 1h plain.bin
is 'nothing is selected: status' "$status" 1
like 'nothing is selected: said' err "^hr: plain\.bin: nothing is selected: no sample of the 40[0-9]\.[0-9] ms lies there; 'hr stat plain\.bin' shows"
run_hr stat --cpu 7 plain.bin
is 'no such CPU' "$status.$(cat out)" '1.'
run_hr stat --thread 7 plain.bin
is 'no such thread' "$status.$(cat out)" '1.'
done_testing
