#!/bin/sh
# Exports and pictures of probes: invocations, waits and requests as hr latency and the trace have them.
. "$(dirname "$0")/../lib.sh"
export HOME="$work"

# ask FILE SQL: the rows, columns separated by |.
ask() { sqlite3 -batch -noheader "$@"; }

# One CPU, two threads, a request that goes from one to the other, a longjmp, and an end of the trace within a call.
cat >a.txt <<END
request 900 1000 7 1
enter 1000 1000 parse 0x7f0000 5
enter 1100 1000 lock_it 0x7eff00
wait 1150 1000 202 0x5000
switch 1200 1000 1001 3
enter 1250 1001 work 0x6f0000
count 40
syscall 4000 100 1001 202
return 5250 1001 work 0x6f0000 7
switch 5300 1001 1000 3 1001
syscall 1150 4200 1000 202
return 5400 1000 lock_it 0x7eff00
return 6000 1000 parse 0x7f0000 1
request 6100 1000 7 5
request 6300 1001 7 3
request 6500 1001 7 2
enter 7000 1000 parse 0x7f0000 6
return 7500 1000 parse 0x7f0000 1
enter 8000 1000 parse 0x7f0000 6
switch 8100 1000 1001 4
switch 8400 1001 1000 4
return 9000 1000 parse 0x7f0000 1
enter 9100 1000 parse 0x7f0000 6
enter 9200 1000 jumps 0x7e0000 6
enter 9300 1000 parse 0x7f8000 6
request 9400 1000 8 1
END
"$TOOLS/genprobes" a.bin <a.txt || exit 1
run_hr export sqlite a.bin
is 'sqlite: status, nothing is said' "$status.$(cat out err)" 0.
is 'sqlite: integrity' "$(ask a.sqlite 'PRAGMA integrity_check')" ok
is 'sqlite: views can be read' "$(for view in $(ask a.sqlite "SELECT name FROM sqlite_master WHERE type = 'view'"); do
    ask a.sqlite "SELECT count(*) FROM $view" 2>&1 | grep -v '^[0-9]*$'; done)" ''
is 'probes' "$(ask a.sqlite 'SELECT * FROM probes LIMIT 2' | tr '\n' ' ')" \
    '0|parse|parse|/bin/generated|function|4198400 1|lock_it|lock_it|/bin/generated|function|4198656 '
is 'invocations' "$(ask a.sqlite "SELECT i.id, label, tid, pid, cpu, start_ns, end_ns, duration_ns, own_ns, parent, depth, ending, request
    FROM invocations i JOIN probes p ON p.id = function ORDER BY i.id")" '1|parse|1000|1000|0|1000|6000|5000|700||0|returned|1
2|lock_it|1000|1000|0|1100|5400|4300|4300|1|1|returned|1
3|work|1001|1000|0|1250|5250|4000|4000||0|returned|
4|parse|1000|1000|0|7000|7500|500|500||0|returned|
5|parse|1000|1000|0|8000|9000|1000|1000||0|returned|
6|parse|1000|1000|0|9100|9300|200|||0|left|
7|jumps|1000|1000|0|9200|9300|100||6|1|left|
8|parse|1000|1000|0|9300|9400|100|||0|left|'
is 'invocations: what they passed, where the time went, counters' "$(ask a.sqlite 'SELECT argument1, argument2, result, on_cpu_ns, locks_ns, conditions_ns, joins_ns,
    io_ns, pages_ns, for_cpu_ns, sleep_ns, other_ns, instructions, cache_misses FROM invocations WHERE id IN (1, 5, 6) ORDER BY id' | tr '\n' ' ')" \
    '5||1|900|4100|0|0|0|0|0|0|0|5000|40 6||1|700|0|0|0|0|0|300|0|0|1000|0 6||||||||||||| '
is 'waits' "$(ask a.sqlite 'SELECT * FROM waits ORDER BY start_ns' | tr '\n' ' ')" \
    '1000|1000|1200|5300|4100|locks|futex|20480|0x5000|1001|2|1|0 1000|1000|8100|8400|300|for_cpu|||||5||0 '
is 'requests' "$(ask a.sqlite 'SELECT * FROM requests ORDER BY id' | tr '\n' ' ')" '1|7|900|6500|1000|1001|5400|200 2|8|9400||1000||0|0 '
is 'request_spans' "$(ask a.sqlite 'SELECT * FROM request_spans WHERE request = 1 ORDER BY start_ns' | tr '\n' ' ')" \
    '1|1000|900|6100|works 1||6100|6300|blocked 1|1001|6300|6500|works '
run_hr export sqlite --from 6800ns -o part.sqlite a.bin
is 'a part: calls, waits and requests within it' "$(ask part.sqlite "SELECT (SELECT count(*) FROM invocations WHERE ending = 'returned'),
    (SELECT count(*) FROM waits), (SELECT group_concat(number) FROM requests)")" '2|1|8'
run_hr export sqlite --thread 1001 -o thread.sqlite a.bin
is 'a thread' "$(ask thread.sqlite 'SELECT count(*), min(tid), (SELECT count(*) FROM waits) FROM invocations')" '1|1001|0'

# same_as_latency NAME: the view latency of a database and hr latency agree.
same_as_latency() {
    ask "$1.sqlite" 'SELECT function, calls, median_ns, p90_ns, p99_ns, p999_ns, max_ns, total_ns, own_ns FROM latency' | tr '|' , | sort >got
    "$HR" latency -f csv "$1.bin" 2>/dev/null | sed 1d | cut -d, -f1,4,7- | cut -d, -f1-9 | awk -F, '$2 > 0' | sort >wanted
    same_file "$1: durations as in hr latency" got wanted
}
same_as_latency a
"$TOOLS/genprobes" --many 10000 n.bin || exit 1
run_hr export sqlite n.bin
same_as_latency n
is 'many: parents and depths fit' "$(ask n.sqlite 'SELECT count(*) FROM invocations c JOIN invocations p ON p.id = c.parent
    WHERE c.depth != p.depth + 1 OR c.start_ns < p.start_ns OR c.end_ns > p.end_ns')" 0
is 'many: own time and callees are the duration' "$(ask n.sqlite 'SELECT count(*) FROM invocations p JOIN (SELECT parent,
    sum(duration_ns) AS sum FROM invocations GROUP BY 1) c ON c.parent = p.id WHERE p.own_ns + c.sum != p.duration_ns')" 0

# Calls that move between CPUs, and the same number of a request again.
"$TOOLS/genprobes" m.bin <<END || exit 1
cpu 1
enter 1000 1000 walk 0x7f0000
request 1100 1000 5 1
switch 1500 1000 0 3
cpu 0
switch 2500 0 1000 5
request 2600 1000 5 2
request 2700 1000 5 1
request 2900 1000 5 2
return 3000 1000 walk 0x7f0000
END
run_hr export sqlite m.bin
is 'several CPUs' "$(ask m.sqlite "SELECT cpu, duration_ns, on_cpu_ns, (SELECT group_concat(number || ':' || (end_ns - start_ns)) FROM requests),
    (SELECT kind FROM waits) FROM invocations")" '1|2000|1000|5:1500,5:200|other'

# ---- perfetto ----
# seen NAME: what tests/export/perfetto.py saw of NAME.pftrace, in the file seen.
seen() {
    command -v protoc >/dev/null || return 1
    protoc --decode=perfetto.Trace -I "$ROOT/tests/export" perfetto.proto <"$1.pftrace" | python3 "$ROOT/tests/export/perfetto.py" >seen
    is "perfetto: $1 is sound" "$(grep '^bad' seen)" ''
}
run_hr export perfetto a.bin
is 'perfetto: status, nothing is said' "$status.$(cat out err)" 0.
if seen a; then
    is 'perfetto: invocations nest, with system calls and waits within' "$(grep '^span thread 1000: .* depth [123]' seen | sed 's/ *kind.*//' | grep -v jumps)" \
        'span thread 1000: waits: locks, 0x5000 from 1200 took 4100 depth 3
span thread 1000: futex from 1150 took 4200 depth 2
span thread 1000: lock_it from 1100 took 4300 depth 1 argument1=0 result=0 own_ns=4300 on_cpu_ns=200 locks_ns=4100 instructions=4300 cache-misses=40
span thread 1000: waits: for a CPU from 8100 took 300 depth 1'
    like 'perfetto: arguments and figures' seen '^span thread 1000: parse from 1000 took 5000 depth 0 argument1=5 result=1 own_ns=700 .*instructions=5000'
    like 'perfetto: left' seen '^span thread 1000: jumps from 9200 took 100 depth 1 argument1=6 ending=left$'
    like 'perfetto: open at the end' seen '^span thread 1000: parse from 9300 took 100 depth 0 argument1=6 ending=left$'
    like 'perfetto: who woke whom' seen '^flow thread 1001: wakes thread 1000 at 4000 -> thread 1000: woken by thread 1001 at 5300$'
    like 'perfetto: a request' seen '^span requests: request 7 from 900 took 5600 depth 0 worked_ns=5400 blocked_ns=200 ending=ended$'
    like 'perfetto: a request that no thread works for' seen '^span requests: waits for a thread from 6100 took 200 depth 1$'
    like 'perfetto: a request goes from thread to thread' seen \
        '^flow thread 1000: requests: request 7 at 900 -> thread 1001: requests: request 7 at 6300$'
else
    skip 9 'protoc is missing; tools/setup.sh test installs it'
fi
# Two coroutines that take turns: their slices do not nest.
"$TOOLS/genprobes" k.bin <<END || exit 1
enter 1000 1000 one 0x7f0000
enter 2000 1000 two 0x500000
return 3000 1000 one 0x7f0000
enter 3100 1000 one 0x7f0000
return 4000 1000 two 0x500000
return 5000 1000 one 0x7f0000
END
run_hr export perfetto k.bin
if seen k; then
    is 'perfetto: coroutines' "$(grep '^span' seen | sed 's/ depth.*//' | sort)" 'span thread 1000, stack 2: two from 2000 took 2000
span thread 1000: one from 1000 took 2000
span thread 1000: one from 3100 took 1900'
else
    skip 2 'protoc is missing; tools/setup.sh test installs it'
fi
run_hr export perfetto n.bin
if seen n; then
    is 'perfetto: many' "$(awk '/^slice thread 1000: (outer|middle|first|second) / { n += $NF } END { print n }' seen)" 10000
else
    skip 2 'protoc is missing; tools/setup.sh test installs it'
fi

# ---- other formats: they hold the samples of such a trace ----
run_guest -q --waits --probe 'phase_*' -g -i 10us -o r.bin "$WORKLOADS/phases"
for format in callgrind csv firefox folded hrperf perf pprof; do
    run_hr export $format a.bin
    is "$format without samples: status" "$status" 0
    run_hr export $format r.bin
    is "$format: status" "$status" 0
done
is 'folded: all samples' "$(awk '{ n += $NF } END { print n }' r.folded)" "$(stat_of r.bin .samples)"
is 'csv: all samples' "$(sed 1d r.csv | wc -l)" "$(stat_of r.bin .samples)"
run_hr export sqlite r.bin
same_as_latency r
is 'a real run: samples within calls are those of the functions and of what they call' "$(ask r.sqlite "SELECT count(*) FROM invocations i JOIN probes p
    ON p.id = i.function WHERE p.label = 'phase_chase' AND (SELECT count(*) FROM samples s WHERE s.tid = i.tid AND s.time_ns > i.start_ns
    AND s.time_ns <= i.end_ns) BETWEEN i.duration_ns / 10000 - 1 AND i.duration_ns / 10000 + 1")" 2

# ---- the documents ----
ln -s "$BUILD" build
python3 "$ROOT/tests/docs/commands.py" "$ROOT/docs/exports.md" >commands
while read -r command; do
    ok "exports.md: $command" env PATH="$BUILD:$PATH" sh -c "$command"
done <commands
run_guest -q --waits --probe 'phase_*' -g -e instructions,cycles,cache-misses -o d.bin "$WORKLOADS/phases" 2 1
run_hr export sqlite d.bin
awk '/^```/ { in_sql = /sql/; n += in_sql; next } in_sql { print >"query" n ".sql" }' "$ROOT/docs/sqlite.md"
is 'sqlite.md: its queries' "$(find . -name 'query*.sql' | wc -l)" "$(grep -c '^```sql' "$ROOT/docs/sqlite.md")"
for query in query*.sql; do
    ok "sqlite.md: $(head -n 1 "$query")" sqlite3 -bail d.sqlite ".read $query"
done
# What the program of exports.md can answer has an answer: where its misses come from, and what requests waited for.
is 'sqlite.md: misses by function' "$(ask d.sqlite <query1.sql | wc -l)" 10
is 'sqlite.md: the slowest requests' "$(ask run.sqlite <query5.sql | cut -d'|' -f1 | sort -u | wc -l)" 10

# ---- pictures ----
texts() { xmllint --xpath '//*[local-name()="text"]/text()' "$1" 2>/dev/null; }
run_hr plot -p latency -o all.svg n.bin
is 'picture: status' "$status.$(cat err)" 0.
ok 'picture: valid' xmllint --noout --nonet all.svg
is 'picture: two curves for each function' "$(grep -c '<path' all.svg)" 8
texts all.svg >texts
is 'picture: the worst tail first' "$(grep -nE '^(outer|middle|first|second)$' texts | head -n 1 | cut -d: -f2)" \
    "$("$HR" latency -f csv n.bin | sed -n '2s/,.*//p')"
like 'picture: medians' texts "^$("$HR" latency -f json n.bin | jq -r '.rows[0].median_ns / 1000 * 1000 | round / 1000 | tostring' | sed 's/\./\\./')[0-9]* us$"
run_hr plot --function middle -o one.svg n.bin
is 'picture of a function: status' "$status" 0
is 'picture of a function: its curves' "$(grep -c '<path' one.svg)" 2
texts one.svg >texts
like 'picture of a function: percentiles' texts '^p99\.9$'
is 'picture of a function: only it' "$(grep -cE '^(outer|first|second)$' texts)" 0
run_hr plot --function none -o none.svg n.bin
is 'picture of no function' "$status.$(cat err)" "1.hr: n.bin: no call of a probed function 'none'; 'hr latency' shows what there is"
run_hr plot -p calls --function outer -o none.svg n.bin
is 'a function of another picture: status' "$status" 2
run_hr plot -o pictures n.bin
is 'a folder has it' "$(ls pictures)" latency.svg
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 1000 plain.bin
run_hr plot -p latency -o none.svg plain.bin
is 'a trace without probes' "$status.$(cat err)" \
    "1.hr: plain.bin: there is nothing to draw for the picture latency: no probed function was called; 'hr run --probe FUNCTION' records calls"
run_hr export sqlite plain.bin
is 'a trace without probes: empty tables' "$(ask plain.sqlite 'SELECT (SELECT count(*) FROM invocations) + (SELECT count(*) FROM waits)')" 0
done_testing
