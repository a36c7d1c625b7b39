#!/bin/sh
# Traces of several processes: every reader and export tells them apart, whatever addresses they have in common.
. "$(dirname "$0")/../lib.sh"
export PAGER=cat HOME="$work" PPROF_TMPDIR="$work"

# Four processes: 1000 runs first; 1001 execs second at the same addresses, and 1002 is its fork; 1003 execs third.
# All but the first have a second thread, 2001 to 2003.
first=$WORKLOADS/phases-glibc-static second=$WORKLOADS/avx-musl third=$WORKLOADS/costs-musl
"$TOOLS/gentrace" --elf "$first" --process "$second" --process - --process "$third" --turn 600 20000 p.bin || exit 1
"$TOOLS/gentrace" --elf "$first" --process "$second" --process - --process "$third" --stacks fp --cpus 2 --turn 600 12000 s.bin || exit 1
"$TOOLS/gentrace" --elf "$first" --threads 3 20000 one.bin || exit 1

# sum FILE: "key sum" of the lines "key number".
sum() { awk '{ n[$1] += $2 } END { for (k in n) print k, n[k] }' "$1" | sort; }

run_hr check p.bin
is 'check: whole' "$status.$(sed 's/^[^:]*: \([a-z]*\):.*/\1/' out)" 0.complete
is 'version 1.12' "$(od -An -tu2 -j8 -N4 p.bin | tr -s ' ')" ' 1 12'

# dump
"$HR" dump p.bin >dump.csv
is 'dump: columns' "$(head -n 1 dump.csv | cut -d, -f1-6)" time_ns,cpu,pid,tid,ip,symbol
is 'dump: which thread is whose' "$(awk -F, 'NR > 1 { print $3 ":" $4 }' dump.csv | sort -u | tr '\n' ' ')" \
    '1000:1000 1001:1001 1001:2001 1002:1002 1002:2002 1003:1003 1003:2003 '
is 'dump: a trace of one process has no such column' "$("$HR" dump one.bin | head -n 1 | cut -d, -f1-4)" time_ns,cpu,tid,ip
"$TOOLS/gentrace" --elf "$first" --process "$second" --late 20000 late.bin || exit 1
is 'dump: a fork after the first samples' "$("$HR" dump late.bin | head -n 1 | cut -d, -f1-5)" time_ns,cpu,pid,tid,ip
"$HR" dump -f records p.bin >records
is 'dump: records' "$(awk '{ print $1 }' records | grep -cE '^(process|thread|process-map)$')" 13
like 'dump: a start' records '^  process time=1000020 kind=1 pid=1002 parent_pid=1001 parent_tid=1001 status=0 text=".*/avx-musl"'
like 'dump: samples have a pid' records '^  sample time=[0-9]+ pid=1002 tid=2002 ip=0x'

# The truth about names: what nm says of the file that the process runs.
for program in "$first" "$second" "$third"; do nm -n "$program" | awk '$2 ~ /[tTwWiI]/ { print $1, $3 }' >"$(basename "$program").nm"; done
awk -F, 'NR > 1 { print $3, $5, $6 }' dump.csv | sort -u -k1,2 | awk '{ sub(/\+0x.*/, "", $3); print }' >named
is 'dump: every name is one of the program that the process runs' "$(python3 - named <<'END'
import sys
names = {"1000": "phases-glibc-static", "1001": "avx-musl", "1002": "avx-musl", "1003": "costs-musl"}
known = {pid: {line.split()[1] for line in open(program + ".nm")} for pid, program in names.items()}
wrong = [line for line in open(sys.argv[1]) if len(line.split()) == 3 and line.split()[2] not in known[line.split()[0]]]
print(len(wrong), *wrong[:3])
END
)" 0
is 'dump: the programs have addresses in common' "$(awk -F, 'NR > 1 { p = $3; if (!(p in low) || $5 < low[p]) low[p] = $5; if ($5 > high[p]) high[p] = $5 }
    END { print low[1001] < high[1003] && low[1003] < high[1001] }' dump.csv)" 1

# report
awk -F, 'NR > 1 { print $3, 1 }' dump.csv >counts
sum counts >wanted
"$HR" report --by process -f csv -n 0 p.bin | awk -F, 'NR > 1 { print $1, $3 }' | sort >got
same_file 'report --by process: samples of each' got wanted
is 'report: names' "$("$HR" report --by process -f csv p.bin | awk -F, 'NR > 1 { print $1 ":" $2 }' | sort | tr '\n' ' ')" \
    '1000:phases-glibc-static 1001:avx-musl 1002:avx-musl 1003:costs-musl '
"$HR" report --by process,library -f csv -n 0 p.bin | awk -F, 'NR > 1 { print $1, $3 }' | sort >got
printf '%s\n' '1000 phases-glibc-static' '1001 avx-musl' '1002 avx-musl' '1003 costs-musl' >wanted
same_file 'report --by process,library: each in its program' got wanted
awk -F, 'NR > 1 && $6 { sub(/\+0x.*/, "", $6); print $6, 1 }' dump.csv >counts
sum counts >functions
"$HR" report -f csv -n 0 p.bin | awk -F, 'NR > 1 && $1 { print $1, $4 }' >counts
sum counts >got
cp functions wanted
same_file 'report: functions as in hr dump, those of two processes that run one program together' got wanted
is 'report: JSON' "$("$HR" report --by process -f json p.bin | jq -c '[.rows[].pid] | sort')" '[1000,1001,1002,1003]'
is 'report: addresses are those of the processes' "$("$HR" report --by address -f csv -n 0 p.bin | awk -F, 'NR > 1 { print(length($1) > 10) }' | sort -u)" 0
run_hr report --by process one.bin
like 'report: a trace of one process' out ' 1000 +phases-glibc-static'
for pid in 1000 1002; do
    is "report --pid $pid" "$("$HR" report --pid $pid --by thread -f csv p.bin | awk -F, 'NR > 1 { n += $2 } END { print n }')" \
        "$(awk -F, -v p=$pid '$3 == p' dump.csv | wc -l)"
done
is '--pid and --thread' "$("$HR" dump --pid 1001 --thread 2001,2002 p.bin | awk -F, 'NR > 1 { print $4 }' | sort -u)" 2001
run_hr report --pid 7 p.bin
is 'report --pid: nobody' "$status.$(grep -c 'no sample' err)" 1.1
run_hr report --pid x p.bin
is 'report --pid: no number' "$status.$(head -n 1 err)" '2.hr report: --pid x: not a list of numbers; write 1, 0-3 or 1,5'
"$HR" report --jobs 2 -f csv -n 0 s.bin >two
"$HR" report --jobs 1 -f csv -n 0 s.bin >alone
same_file 'report: two workers' two alone
run_hr report --stacks -f csv s.bin
is 'report: no stack mixes programs' "$("$HR" export folded --no-inline -o - s.bin | python3 -c '
import sys
known = [{line.split()[1] for line in open(p + ".nm")} for p in ("phases-glibc-static", "avx-musl", "costs-musl")]
print(sum(1 for line in sys.stdin if not any(all(f in k for f in line.rsplit(" ", 1)[0].split(";")) for k in known)))')" 0
function=$("$HR" report --pid 1003 -f csv p.bin | awk -F, 'NR > 1 && $1 { print $1; exit }')
run_hr annotate "$function@costs-musl" p.bin
like 'annotate: the code of the right file' out "^# $function in costs-musl, 0x40[0-9a-f]{4} to 0x40[0-9a-f]{4}\$"
run_hr diff p.bin p.bin
is 'diff' "$status" 0

# stat
is 'stat: processes' "$(stat_of p.bin '.processes[] | [.pid, .parent, .name, .start_ns, .status, .ending] | map(tostring) | join(" ")')" \
    "$(printf '%s\n' '1000 null phases-glibc-static 0 null null' '1001 1000 avx-musl 10 9 signal 9 (KILL)' \
        '1002 1001 avx-musl 20 512 exit 2' '1003 1002 costs-musl 30 768 exit 3')"
is 'stat: their samples' "$(stat_of p.bin '[.processes[].samples] | add')" 20000
is 'stat: their events' "$(stat_of p.bin '[.processes[].events["instructions:u"]] | add')" \
    "$(awk -F, 'NR > 1 { n += $7 } END { print n }' dump.csv)"
run_hr stat p.bin
like 'stat: the table' out '^ +1001 +1000 +6,000 +[0-9,]+ +10 ns +[0-9.]+ ms +signal 9 \(KILL\) +avx-musl$'
is 'stat: one process has no table' "$(stat_of one.bin .processes).$("$HR" stat one.bin | grep -c parent)" null.0

# timeline, and what else reads traces
is 'timeline --per process' "$("$HR" timeline --per process -f csv p.bin | awk -F, 'NR > 1 && $4 == "samples" { n[$3] += $7 } END { for (p in n) print p, n[p] }' | sort)" \
    "$("$HR" report --by process -f csv -n 0 p.bin | awk -F, 'NR > 1 { print $1, $3 }' | sort)"
run_hr timeline --per thread p.bin
is 'timeline: threads by process' "$(grep '^thread' out | sed 's/  .*//' | tr '\n' ';')" \
    'thread 1000 (phases-glibc-static 1000);thread 1001 (avx-musl 1001);thread 2001 (avx-musl 1001);thread 1002 (avx-musl 1002);thread 2002 (avx-musl 1002);thread 1003 (costs-musl 1003);thread 2003 (costs-musl 1003);'
for command in hist noise 'report --waits' 'plot -o plots'; do
    # shellcheck disable=SC2086
    run_hr $command p.bin
    is "$command" "$status" 0
done

# exports
run_hr export csv -o got.csv p.bin
same_file 'csv: as hr dump' got.csv dump.csv
for name in p s; do
    for format in sqlite firefox perfetto pprof folded callgrind hrperf; do
        run_hr export "$format" "$name.bin"
        is "$format: $name: status, nothing is said" "$status.$(grep -v 'hrperf: the export has 0 for' out err)" 0.
    done
done
ask() { sqlite3 -batch -noheader "$@"; }
is 'sqlite: processes' "$(ask p.sqlite "SELECT pid, parent_pid, parent_tid, name, start_ns, status, ending FROM processes ORDER BY pid" | sed -n 2p)" \
    '1001|1000|1000|avx-musl|10|9|signal 9 (KILL)'
is 'sqlite: threads' "$(ask p.sqlite 'SELECT tid, pid FROM threads WHERE tid != pid ORDER BY tid' | tr '\n' ' ')" '2001|1001 2002|1002 2003|1003 '
is 'sqlite: execs' "$(ask p.sqlite 'SELECT pid, path FROM execs' | tr '\n' ' ')" "1001|$second 1003|$third "
is 'sqlite: maps' "$(ask p.sqlite 'SELECT pid, path FROM maps ORDER BY pid' | tr '\n' ' ')" "1000|$first 1001|$second 1003|$third "
ask p.sqlite "SELECT time_ns, cpu, pid, tid, printf('0x%x', ip) FROM samples ORDER BY rowid" | tr '|' , >got
tail -n +2 dump.csv | cut -d, -f1-5 >wanted
same_file 'sqlite: samples as in hr dump' got wanted
is 'sqlite: totals' "$(ask p.sqlite 'SELECT pid, samples FROM process_totals' | tr '|' ' ')" \
    "$("$HR" report --by process -f csv -n 0 p.bin | awk -F, 'NR > 1 { print $1, $3 }' | sort)"
for name in p s; do
    is "sqlite: $name: functions as in hr report" "$(ask $name.sqlite "SELECT function, object, samples FROM function_totals WHERE function NOT LIKE '[%'" | sort | md5sum)" \
        "$("$HR" report -f csv -n 0 --no-total $name.bin | awk -F, 'NR > 1 && $1 { print $1 "|" $2 "|" $4 }' | sort | md5sum)"
    python3 "$ROOT/tests/export/firefox.py" $name.firefox.json >held 2>&1
    is "firefox: $name is sound" "$(grep -E '^(bad|Traceback|[A-Za-z]*Error)' held)" ''
    sed -n 's/^function \([^[].*\) \([0-9]*\)$/\1 \2/p' held | sort >got
    "$HR" report -f csv -n 0 --no-total $name.bin | awk -F, 'NR > 1 && $1 { print $1, $4 }' >counts
    sum counts >wanted
    same_file "firefox: $name: functions as in hr report" got wanted
done
is 'firefox: threads' "$(jq -c '[.threads[] | [.pid, .tid, .processName, .isMainThread]] | sort_by(.[1]) | .[1,4]' p.firefox.json | tr '\n' ' ')" \
    '["1001",1001,"avx-musl",true] ["1001",2001,"avx-musl",false] '
is 'firefox: times of processes' "$(jq -c '[.threads[] | select(.tid == 1002)][0] | [.processStartupTime == 0.00002, .processShutdownTime > 19]' p.firefox.json)" '[true,true]'

if command -v protoc >protoc.log; then
    for name in p s; do
        protoc --decode=perfetto.Trace -I "$ROOT/tests/export" perfetto.proto <$name.pftrace >decoded
        python3 "$ROOT/tests/export/perfetto.py" <decoded >seen
        is "perfetto: $name is sound" "$(grep '^bad' seen)" ''
    done
    is 'perfetto: processes' "$(awk '/process \{/ { on = 1 } on && /pid:/ { pid = $2 } on && /process_name:/ { print pid, $2; on = 0 }' decoded | sort | tr '\n' ' ')" \
        '1000 "phases-glibc-static" 1001 "avx-musl" 1002 "avx-musl" 1003 "costs-musl" '
    is 'perfetto: threads' "$(awk '/thread \{/ { on = 1 } on && /pid:/ { pid = $2 } on && /tid:/ { print pid, $2; on = 0 }' decoded | sort | tr '\n' ' ')" \
        '1000 1000 1001 1001 1001 2001 1002 1002 1002 2002 1003 1003 1003 2003 '
    is 'perfetto: samples' "$(awk '/perf_sample \{/ { on = 1 } on && / pid:/ { pid = $2 } on && / tid:/ { print pid ":" $2; on = 0 }' decoded | sort -u | tr '\n' ' ')" \
        '1000:1000 1001:1001 1001:2001 1002:1002 1002:2002 1003:1003 1003:2003 '
    like 'perfetto: how a process ended' decoded 'signal 9 \(KILL\)'
    like 'perfetto: an exec' decoded "exec $second"
    gzip -dc p.pb.gz | protoc --decode=pprof.Profile -I "$ROOT/tests/export" profile.proto >decoded
    is 'pprof: no field is unknown' "$(grep -cE '^ *[0-9]+[: ]' decoded)" 0
    is 'pprof: every address is in its map' "$(awk '/^mapping \{/ { on = "m" } /^location \{/ { on = "l" } on == "m" && $1 == "id:" { id = $2 }
        on == "m" && $1 == "memory_start:" { s[id] = $2 } on == "m" && $1 == "memory_limit:" { e[id] = $2 }
        on == "l" && $1 == "mapping_id:" { m = $2 } on == "l" && $1 == "address:" { a[++n] = $2; of[n] = m }
        END { for (i = 1; i <= n; i++) if (a[i] < s[of[i]] || a[i] >= e[of[i]]) bad++; print (n > 100), bad + 0 }' decoded)" '1 0'
else
    skip 8 'no protoc here (package protobuf-compiler)'
fi
if go tool pprof -h 2>&1 | grep -q sample_index; then
    go tool pprof -tags -sample_index=samples p.pb.gz >out 2>err
    like 'pprof: labels' out '^ +6000.* \(30\.00%\): 1002$'
    go tool pprof -top -nodecount=0 -nodefraction=0 -sample_index=samples -tagfocus=process=costs p.pb.gz 2>err |
        awk 'on { n += $1 } /flat%/ { on = 1 } END { print n }' >out
    is 'pprof: of one process' "$(cat out)" "$(awk -F, '$3 == 1003' dump.csv | wc -l)"
else
    skip 2 'no go tool pprof here (package golang-go)'
fi
run_hr export perf p.bin
is 'perf: status, nothing is said' "$status.$(cat out err)" 0.
if command -v perf >perf.log; then
    perf script -i p.perf.data -F comm,pid,tid,event,ip,sym 2>perf.err |
        awk '/ samples: / { split($2, t, "/"); print t[1] "," t[2] "," $1 "," $(NF - 1) "," $NF }' | sed 's/+0x.*//' >got
    perf report --stdio -t '|' --sort pid,dso -i p.perf.data 2>>perf.err | grep -v '^#' | grep . >rows
    is 'perf: no warning' "$(cat perf.err)" ''
    perf script -i p.perf.data --show-task-events --show-mmap-events 2>>perf.err | grep -oE 'PERF_RECORD_.*' >tasks
    like 'perf: fork' tasks '^PERF_RECORD_FORK\(1002:1002\):\(1001:1001\)'
    like 'perf: exec' tasks '^PERF_RECORD_COMM exec: avx-musl:1001/1001'
    like 'perf: a thread' tasks '^PERF_RECORD_FORK\(1003:2003\):\(1003:1003\)'
    like 'perf: exit' tasks '^PERF_RECORD_EXIT\(1003:1003\)'
    like 'perf: map' tasks "^PERF_RECORD_MMAP2 1001/1001: \\[0x401000.*$second"
    perf script -i p.perf.data -F pid,tid,event,sym,ip 2>>perf.err | awk '/ samples: / { print $1, $NF }' | sed 's,/, ,' |
        awk '{ print $1 }' | sort | uniq -c | awk '{ print $2, $1 }' >got
    awk -F, 'NR > 1 { print $3 }' dump.csv | sort | uniq -c | awk '{ print $2, $1 }' >wanted
    same_file 'perf: samples of each process' got wanted
    perf report --stdio -t '|' --sort sym -F period,sym -i p.perf.data 2>>perf.err |
        awk -F '|' '!/^#/ && NF > 1 { sub(/ *\[[.k]\] */, "", $2); split($1, n, " "); print $2, n[1] }' >counts
    sum counts | join - functions >both
    is 'perf: functions as in hr report' "$(awk '$2 != $3' both; awk 'END { print(NR > 30) }' both)" 1
else
    skip 8 'no perf here (package linux-perf)'
fi

# the page
run_hr view p.bin
is 'view: status' "$status.$(cat out err)" 0.
if command -v chromium >chromium.log; then
    . "$ROOT/tests/view/look.sh"
    look p.html overview 'process=avx-musl 1001'
    is 'view: lanes' "$(seen '.overview.lanes | map(ltrimstr("   ")) | join(",")')" \
        'phases-glibc-static 1000,thread 1000,avx-musl 1001,thread 1001,thread 2001,avx-musl 1002,thread 1002,thread 2002,costs-musl 1003,thread 1003,thread 2003'
    is 'view: what a lane says' "$(seen .process.words | tr '\n' ';')" \
        'avx-musl, process 1001;started by 1000 at 0.00 ms, lasted 20.01 ms;signal 9 (KILL);'
    is 'view: the profile of a process' "$(seen .process.samples)" 6000
else
    skip 4 'chromium is not installed'
fi

# damage and lies: hr check says so, and no reader crashes
"$TOOLS/gentrace" --liar --elf "$first" --process "$second" --process - 20000 liar.bin || exit 1
run_hr check liar.bin
is 'check: contradictions: status' "$status.$(sed -n '1s/^[^:]*: \([a-z]*\):.*/\1/p' out)" 1.damaged
for words in 'starts of processes that run, and threads that came twice: 2' 'processes whose parent never started: 2' \
    'processes that never started: 4' 'after their exit: 2' 'not in the order of time: 1'; do
    like "check: ...$words" out "(contradiction|note): .*$words\$"
done
for command in stat 'stat --json' report 'report --by process' dump 'dump -f records' 'timeline --per process' noise hist; do
    # shellcheck disable=SC2086
    run_hr $command liar.bin
    is "a liar: $command" "$status" 0
done
for format in sqlite firefox perfetto pprof perf csv; do
    run_hr export --force -o out.export $format liar.bin
    is "a liar: export $format" "$status" 0
done
for cut in 600 900 1500 30000; do
    head -c "$cut" p.bin >cut.bin
    run_hr report --by process cut.bin
    is "cut at $cut" "$((status < 2))" 1
done
done_testing
