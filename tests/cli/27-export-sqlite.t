#!/bin/sh
# hr export sqlite: counts and sums are those of hr stat and hr report, whatever the trace holds.
. "$(dirname "$0")/../lib.sh"

# ask FILE SQL: the rows, columns separated by |.
ask() { sqlite3 -batch -noheader "$@"; }

# sound NAME: the database of a trace is in order.
sound() {
    is "$1: integrity" "$(ask "$1.sqlite" 'PRAGMA integrity_check')" ok
    is "$1: views can be read" "$(for view in $(ask "$1.sqlite" "SELECT name FROM sqlite_master WHERE type = 'view'"); do
        ask "$1.sqlite" "SELECT count(*) FROM $view" 2>&1 | grep -v '^[0-9]*$'; done)" ''
    is "$1: samples" "$(ask "$1.sqlite" 'SELECT count(*) FROM samples')" "$(stat_of "$1.bin" .samples)"
}

run_guest -q --accel tcg -i 1us -e instructions,cache-misses -o p.bin "$WORKLOADS/phases" 5 1
run_hr export sqlite p.bin
is 'status, nothing is said' "$status.$(cat out err)" 0.
sound p
is 'run: facts' "$(ask p.sqlite "SELECT value FROM run WHERE key IN ('interval_ns', 'samples', 'schema', 'exit.kind') ORDER BY key" |
    tr '\n' ' ')" "status 1000 $(stat_of p.bin .samples) 2 "
is 'events' "$(ask p.sqlite 'SELECT name, "column", source, total FROM events ORDER BY id')" \
    "$(stat_of p.bin '.events[] | [.name, (.name | gsub("-"; "_")), .source, (.total | tostring)] | join("|")' | sed 's/:u//g')"
"$HR" report -n 0 p.bin | awk '/^ *[0-9.]+%/ { gsub(",", ""); print $5 "|" $6 "|" $3 "|" $4 }' | sort >wanted
ask p.sqlite 'SELECT function, object, samples, instructions FROM function_totals' | sort >got
same_file 'functions as in hr report' got wanted
is 'sums by function are those of the samples' "$(ask p.sqlite 'SELECT count(*) FROM (SELECT function, count(*) AS n,
    sum(instructions) AS i FROM samples GROUP BY 1) JOIN function_sums s ON s.function_id = function
    WHERE n != s.samples OR i != s.instructions')" 0
"$HR" dump p.bin | awk -F , 'NR > 1 { print $1 "|" $2 "|" $3 "|" $4 "|" $6 "|" $7 }' >wanted
ask p.sqlite "SELECT time_ns, cpu, tid, printf('0x%x', ip), instructions, cache_misses FROM samples ORDER BY rowid" >got
same_file 'samples as in hr dump' got wanted
is 'bins: everything' "$(ask p.sqlite 'SELECT sum(samples), sum(instructions) FROM bins_1ms')" \
    "$(ask p.sqlite 'SELECT count(*), sum(instructions) FROM samples')"
is 'bins: which' "$(ask p.sqlite 'SELECT DISTINCT start_ns % 100000 FROM bins_100us')" 0
is 'misses for 1000 instructions' "$(ask p.sqlite "SELECT round(cache_misses_per_1000_instructions, 1) FROM function_rates
    WHERE function = 'phase_chase'")" 2.0
is 'system calls' "$(ask p.sqlite "SELECT count(*), sum(name = 'write') > 0 FROM syscalls")" \
    "$("$HR" dump --format records p.bin | grep -c '^  syscall')|1"
is 'build-ids' "$(ask p.sqlite "SELECT build_id FROM maps WHERE path LIKE '%/phases'")" \
    "$(readelf -n "$WORKLOADS/phases" | sed -n 's/.*Build ID: //p')"
is 'the index serves a span of time' "$(ask p.sqlite 'EXPLAIN QUERY PLAN SELECT * FROM samples WHERE time_ns BETWEEN 1 AND 9' |
    grep -c 'INDEX samples_time')" 1

run_guest -q --accel tcg -i 5us -e instructions -o t.bin "$WORKLOADS/threads" count 3 100000
run_hr export sqlite t.bin
sound t
is 'threads' "$(ask t.sqlite 'SELECT tid, samples FROM thread_totals')" \
    "$("$HR" dump t.bin | awk -F , 'NR > 1 { n[$3]++ } END { for (t in n) print t "|" n[t] }' | sort)"
is 'switches' "$(ask t.sqlite 'SELECT count(*) FROM switches')" "$("$HR" dump --format records t.bin | grep -c '^  switch')"
is 'switches: reasons' "$(ask t.sqlite "SELECT count(*) FROM switches WHERE reason = 'exit' AND from_tid != 1000")" 2

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --cpus 2 --threads 2 --marks 20000 s.bin
run_hr export sqlite s.bin
sound s
run_hr export folded s.bin -o -
awk '{ n[$1] += $2 } END { for (f in n) print f "|" n[f] }' out | sort >wanted
ask s.sqlite 'SELECT stack, samples FROM folded' | sort >got
same_file 'stacks as in folded' got wanted
is 'marks' "$(ask s.sqlite 'SELECT count(*) FROM marks')" "$("$HR" dump --format records s.bin | grep -c '^  mark')"

"$TOOLS/genviews" regions r.bin
run_hr export sqlite r.bin
sound r
is 'regions' "$(ask r.sqlite "SELECT passes, sum FROM regions WHERE name = 'parse' AND event = 1")" '1000|3000'
is 'regions: time' "$(ask r.sqlite "SELECT sum FROM regions WHERE name = 'parse' AND event IS NULL")" \
    "$(stat_of r.bin '.regions[] | select(.name == "parse") | .ticks.sum / 2 | floor')"
is 'hostile names' "$(ask r.sqlite "SELECT DISTINCT name FROM regions WHERE name LIKE 'hash%'")" 'hash \x1b[31m'
is 'what a pause counted belongs to no function' \
    "$(ask r.sqlite 'SELECT (SELECT sum(instructions) FROM samples) - sum(instructions) FROM function_sums')" \
    "$("$HR" dump --format records r.bin | awk '/flags=8/ { split($0, c, "counters="); split(c[2], v, ","); print v[1] - last }
        /^  sample/ { split($0, c, "counters="); split(c[2], v, ","); last = v[1] }')"
"$TOOLS/genviews" frequency f.bin
run_hr export sqlite f.bin
is 'periods' "$(ask f.sqlite 'SELECT count(*), max(period) FROM periods')" \
    "$("$HR" dump --format records f.bin | awk '/^  period/ { n++; sub(/.*=/, ""); if ($0 + 0 > m) m = $0 + 0 } END { print n "|" m + 0 }')"

run_hr export sqlite -o part.sqlite --from 1ms --to 2ms p.bin
is 'a part' "$(ask part.sqlite 'SELECT count(*) FROM samples')" "$("$HR" dump --from 1ms --to 2ms p.bin | tail -n +2 | wc -l)"
cp s.sqlite part.sqlite
run_hr export sqlite -o part.sqlite p.bin
is 'an existing file is replaced' "$(ask part.sqlite 'PRAGMA integrity_check')" ok
head -c $(($(stat -c %s p.bin) / 2)) p.bin >cut.bin
run_hr export sqlite cut.bin
is 'a truncated trace: status' "$status" 0
like 'a truncated trace: said' err 'incomplete, the export holds what is there'
sound cut
is 'a truncated trace: noted' "$(ask cut.sqlite "SELECT value FROM run WHERE key = 'complete'")" 0
(ulimit -f 100; "$HR" export sqlite -o full.sqlite p.bin 2>err; echo $? >code)
is 'no more room: status' "$(cat code)" 1
like 'no more room: said' err '^hr: full\.sqlite: .*; free some space or write elsewhere$'
is 'no more room: nothing stays' "$(ls full.sqlite* 2>/dev/null)" ''
run_guest -q --accel tcg --mode off -o off.bin "$WORKLOADS/hello"
run_hr export sqlite off.bin
is 'no samples: status' "$status.$(cat err)" 0.
sound off
done_testing
