#!/bin/sh
# hr export hrperf: a parser of hiresperf's layout finds the samples in it.
. "$(dirname "$0")/../lib.sh"

# parse FILE LAYOUT: Python's struct layout, as hiresperf's scripts read it; a row a record.
parse() {
    python3 -c 'import struct, sys
data = open(sys.argv[1], "rb").read()
assert len(data) % struct.calcsize(sys.argv[2]) == 0
for record in struct.iter_unpack(sys.argv[2], data):
    print(*record)' "$@"
}

# the fields: cpu_id, timestamp, stall_mem, inst_retire, stalls_sb, cpu_unhalt, llc_misses, sw_prefetch
"$TOOLS/gentrace" --cpus 2 5000 g.bin
run_hr export hrperf g.bin
is 'status' "$status" 0
is 'what is missing is said' "$(cat err)" 'hr: hrperf: the export has 0 for stall_mem, stalls_sb, sw_prefetch, because the trace has no such event'
"$HR" dump --format records g.bin >listing
"$HR" dump g.bin | awk -F , 'NR > 1 { print $2, $1 }' >places
sed -n 's/^  sample .*counters=//p' listing | paste -d ' ' places - | awk '{ split($3, c, ","); print $1, $2, 0, c[1], 0, c[2], c[3], 0 }' >wanted
parse g.hrperf.bin '<iQQQQQQQ' >got
same_file 'records of 60 bytes' got wanted
is 'as many as samples' "$(($(stat -c %s g.hrperf.bin) / 60))" "$(stat_of g.bin .samples)"
cut -d ' ' -f 1-4,6- wanted >five
run_hr export hrperf --record-bytes 52 -o g52 g.bin
is 'older records: a missing counter less' "$(cat err)" 'hr: hrperf: the export has 0 for stall_mem, sw_prefetch, because the trace has no such event'
parse g52 '<iQQQQQQ' >got
same_file 'records of 52 bytes' got five
run_hr export hrperf --record-bytes 56 -o - g.bin
parse out '@iqQQQQQ' >got
same_file 'records of 56 bytes' got five
run_hr export hrperf --record-bytes 64 g.bin
is 'another size' "$status.$(head -n 1 err)" '2.hr export: --record-bytes 64: hiresperf has had records of 52, 56 and 60 bytes'
run_hr export csv --record-bytes 60 g.bin
is 'another format' "$status.$(head -n 1 err)" '2.hr export: --record-bytes is for hrperf alone'
run_guest -q --accel tcg -o p.bin -e LLC-load-misses,cycles,instructions "$WORKLOADS/hello"
run_hr export hrperf p.bin
like 'events are found by name' err '^hr: hrperf: the export has 0 for stall_mem, stalls_sb, sw_prefetch,'
sed -n 's/^  sample .*counters=//p' <<END >counters
$("$HR" dump --format records p.bin)
END
is 'events are found by name: values' "$(parse p.hrperf.bin '<iQQQQQQQ' | awk '{ print $7 "," $6 "," $4 }')" "$(cat counters)"
run_guest -q --accel tcg --mode off -o off.bin "$WORKLOADS/hello"
run_hr export hrperf off.bin
is 'no samples' "$status.$(wc -c <off.hrperf.bin)" 0.0
if [ -w /dev/full ]; then
    run_hr export hrperf -o /dev/full g.bin
    like 'a full disk' err '^hr: /dev/full: No space left'
fi
done_testing
