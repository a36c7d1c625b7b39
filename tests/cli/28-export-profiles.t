#!/bin/sh
# hr export pprof, perfetto and firefox: the formats are as published; pprof itself shows what hr report shows.
. "$(dirname "$0")/../lib.sh"

# decode TRACE-NAME: NAME.pb.gz as text in the file decoded.
decode() {
    gzip -dc "$1.pb.gz" | protoc --decode=pprof.Profile -I "$ROOT/tests/export" profile.proto >decoded
}

# top NAME TYPE [OPTION...]: pprof's rows of a profile as "function self", sorted.
top() {
    name=$1 type=$2
    shift 2
    go tool pprof -top -nodecount=0 -nodefraction=0 -unit=ns -sample_index="$type" "$@" \
        "$name.pb.gz" 2>pprof.err | awk 'on { f = $6; for (i = 7; i <= NF; i++) f = f " " $i; sub(/ \(inline\)$/, "", f); n[f] += $1 }
        /flat%/ { on = 1 } END { for (f in n) if (n[f]) print f, n[f] }' | sort
}

# reported TRACE COLUMN [ARG...]: the same from hr report.
reported() {
    trace=$1 column=$2
    shift 2
    "$HR" report --format csv -n 0 "$@" "$trace" >report.csv
    python3 - "$column" <<'END' | sort
import collections, csv, sys
sums = collections.Counter()
for row in csv.DictReader(open("report.csv")):
    name = row["function"]
    sums[name] += int(row[sys.argv[1]])
for name, n in sums.items():
    if n:
        print(name, n)
END
}

# sound NAME: every reference in the decoded profile has its target, written once.
sound() {
    decode "$1"
    is "$1: references" "$(awk '
        /^[a-z_]+ \{/ { what = $1; depth = 0 }
        /^string_table:/ { strings++ }
        what == "location" && /^  id:/ { locations[$2]++ }
        what == "function" && /^  id:/ { functions[$2]++ }
        what == "mapping" && /^  id:/ { mappings[$2]++ }
        what == "sample" && /^  location_id:/ { used_locations[$2] }
        what == "location" && /^  mapping_id:/ { used_mappings[$2] }
        what == "location" && /function_id:/ { used_functions[$2] }
        what == "function" && /(name|system_name|filename):/ { used_strings[$2] }
        what == "mapping" && /(filename|build_id):/ { used_strings[$2] }
        what == "sample_type" && /(type|unit):/ { used_strings[$2] }
        what == "sample" && /(key|str):/ { used_strings[$2] }
        END {
            for (i in used_locations) if (locations[i] != 1) print "location", i
            for (i in used_functions) if (functions[i] != 1) print "function", i
            for (i in used_mappings) if (mappings[i] != 1) print "mapping", i
            for (i in used_strings) if (i >= strings) print "string", i
        }' decoded)" ''
    is "$1: no field is unknown" "$(grep -cE '^ *[0-9]+[: ]' decoded)" 0
}

export PPROF_TMPDIR="$work"
command -v protoc >protoc.log || skip_all 'no protoc here (package protobuf-compiler)'
go tool pprof -h 2>&1 | grep -q sample_index || skip_all 'no go tool pprof here (package golang-go)'

run_guest -q --accel tcg -i 1us -e instructions,cache-misses -o p.bin "$WORKLOADS/phases" 5 1
run_hr export pprof p.bin
is 'pprof: status, nothing is said' "$status.$(cat out err)" 0.
sound p
run_hr export pprof --no-inline -o n.pb.gz p.bin
top n samples >got
reported p.bin samples >wanted
within 'pprof: functions have names' "$(grep -c '^phase_' got)" 4 10
same_file 'pprof: samples of every function as in hr report' got wanted
cp wanted samples.wanted
top n instructions >got
reported p.bin instructions --sort instructions >wanted
same_file 'pprof: an event of every function' got wanted
top p samples >inlined
like 'pprof: inlined functions' inlined '^link_nodes [1-9]'
is 'pprof: inlined functions: all samples' "$(awk '{ n += $2 } END { print n }' inlined)" "$(stat_of p.bin .samples)"
is 'pprof: time is samples by interval' "$(top p time | awk '{ sub(/ns/, ""); n += $NF } END { print n }')" \
    "$(($(stat_of p.bin .samples) * 1000))"
go tool pprof -comments p.pb.gz >out 2>err
like 'pprof: the command line' out 'phases 5 1$'
like 'pprof: what is no measurement is said' out '^cache-misses: stub: .*not a measurement$'
go tool pprof -raw p.pb.gz >out 2>err
sed -n '/^Mappings/ { n; p; }' out >first # Go 1.24 numbers them as the file does, Go 1.19 in their order
like 'pprof: the program is the first map' first "^[0-9]+: 0x[0-9a-f]+/0x[0-9a-f]+/0x[0-9a-f]+ $WORKLOADS/phases $(readelf -n "$WORKLOADS/phases" |
    sed -n 's/.*Build ID: //p') \[FN\]\[FL\]\[LN\]"
like 'pprof: the period' out '^Period: 1000$'
like 'pprof: lines of the source' out 'phase_chase .*workloads/phases\.c:[0-9]+'
first=$("$HR" dump p.bin | awk -F , '/phase_chase/ { print substr($4, 3); exit }')
line=$(addr2line -e "$WORKLOADS/phases" "0x$first" | sed 's/.*:\([0-9]*\).*/\1/')
like 'pprof: the line of an address' out "^ +[0-9]+: 0x0*$first M=[0-9]+ .*phases\.c:${line}[ :]"
run_hr export pprof -o again p.bin
same_file 'pprof: the same trace gives the same bytes' again p.pb.gz

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --cpus 2 --threads 2 --turn 400 5000 s.bin
run_hr export pprof s.bin
sound s
run_hr export folded s.bin -o -
awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' out | sort >wanted
go tool pprof -traces -sample_index=samples -unit=ns s.pb.gz 2>err | awk '
    function done() { if (path != "") n[path] += value; path = "" }
    /^-----------\+/ { done(); next }
    /^ +[0-9]+(ns)? +[^ ]/ { value = $1 + 0; sub(/^ +[0-9]+(ns)? +/, ""); sub(/ \(inline\)$/, ""); gsub(/ /, "_"); path = $0; next }
    path != "" && /^ / { sub(/^ +/, ""); sub(/ \(inline\)$/, ""); gsub(/ /, "_"); path = $0 ";" path }
    END { done(); for (p in n) print p, n[p] }' | sort >got
# folded stacks know no inlined functions: compared are the outermost function and the number
awk '{ split($1, p, ";"); n[p[1]] += $NF } END { for (f in n) print f, n[f] }' wanted | sort >outer.wanted
awk '{ split($1, p, ";"); n[p[1]] += $NF } END { for (f in n) print f, n[f] }' got | sort >outer.got
same_file 'pprof: the outermost functions of all stacks' outer.got outer.wanted
run_hr export pprof --no-inline -o n.pb.gz s.bin
go tool pprof -traces -sample_index=samples -unit=ns n.pb.gz 2>err | awk '
    function done() { if (path != "") n[path] += value; path = "" }
    /^-----------\+/ { done(); next }
    /^ +[0-9]+(ns)? +[^ ]/ { value = $1 + 0; path = $2; next }
    path != "" && /^ / { path = $1 ";" path }
    END { done(); for (p in n) print p, n[p] }' | sort >got
same_file 'pprof: stacks without inlined functions as in folded' got wanted
is 'pprof: threads' "$(top s samples '-tagfocus=thread=^3$' | awk '{ n += $NF } END { print n }')" \
    "$("$HR" dump s.bin | awk -F , '$3 == 3' | wc -l)"
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --limit 5 2000 short.bin
run_hr export pprof short.bin
is 'pprof: stacks that are cut off' "$(go tool pprof -top -cum -sample_index=samples short.pb.gz 2>err | awk '$6 == "[truncated]" { print ($4 > 1000) }')" 1

# the kernel's code; counter overflow
ip=$(nm "$BUILD/guest.elf" | awk '$3 == "calibrate" { print $1 }')
"$TOOLS/genviews" --elf "$BUILD/guest.elf" --kernel-ip "$ip" overflow k.bin
run_hr export pprof k.bin
sound k
is 'pprof: the kernel' "$(top k samples | grep '^\[kernel\]')" '[kernel] calibrate 200'
go tool pprof -raw k.pb.gz >out 2>err
like 'pprof: the period in events' out '^PeriodType: instructions count$'
like 'pprof: the period in events: how many' out '^Period: 10000$'
is 'pprof: time of samples that events take' "$(top k time | awk '{ n += $NF } END { print n }')" 20000000
"$TOOLS/genviews" regions r.bin
run_hr export pprof r.bin
is 'pprof: what a pause counted is left out' "$(top r instructions | awk '{ n += $NF } END { print n }')" \
    $(($(total r.bin instructions) - 1007500))

run_hr export pprof -o part.pb.gz --from 1ms --to 2ms p.bin
is 'pprof: a part' "$(top part samples | awk '{ n += $NF } END { print n }')" \
    "$("$HR" dump --from 1ms --to 2ms p.bin | tail -n +2 | wc -l)"
head -c $(($(stat -c %s p.bin) / 2)) p.bin >cut.bin
run_hr export pprof cut.bin
is 'pprof: a truncated trace: status' "$status" 0
like 'pprof: a truncated trace: said' err 'incomplete, the export holds what is there'
is 'pprof: a truncated trace' "$(top cut samples | awk '{ n += $NF } END { print n }')" "$(stat_of cut.bin .samples)"
(ulimit -f 8; trap '' XFSZ; "$HR" export pprof -o full.pb.gz s.bin 2>err; echo $? >code)
is 'pprof: no more room' "$(cat code).$(cat err).$(ls full* 2>/dev/null)" \
    '1.hr: full.pb.gz: File too large; free some space or write elsewhere.'
run_guest -q --accel tcg --mode off -o off.bin "$WORKLOADS/hello"
run_hr export pprof off.bin
is 'pprof: no samples' "$status.$(cat err)" 0.
sound off
# perfetto
# seen NAME: what tests/export/perfetto.py saw of NAME.pftrace, in the file seen.
seen() {
    protoc --decode=perfetto.Trace -I "$ROOT/tests/export" perfetto.proto <"$1.pftrace" |
        python3 "$ROOT/tests/export/perfetto.py" >seen
    is "perfetto: $1 is sound" "$(grep '^bad' seen)" ''
}

run_hr export perfetto p.bin
is 'perfetto: status, nothing is said' "$status.$(cat out err)" 0.
seen p
is 'perfetto: samples' "$(sed -n 's/^samples //p' seen)" "$(stat_of p.bin .samples)"
sed -n 's/^function //p' seen | sort >got
same_file 'perfetto: samples of every function as in hr report' got samples.wanted
is 'perfetto: rates add up to what was counted' "$(sed -n 's/^sum CPU 0: instructions .*: //p' seen)" \
    "$("$HR" dump p.bin | awk -F , 'NR > 1 { n += $6 } END { print n }')"
like 'perfetto: what is no measurement is said' seen '^track CPU 0: cache-misses \(stub: .*not a measurement\)$'
is 'perfetto: system calls' "$(awk '/^slice thread 1000:/ { n += $NF } END { print n }' seen)" \
    "$("$HR" dump --format records p.bin | grep -c '^  syscall')"
like 'perfetto: system calls have names' seen '^slice thread 1000: write [0-9]+$'
"$HR" export perfetto --bin 1ms -o coarse.pftrace p.bin
is 'perfetto: longer bins, fewer values' \
    "$(($(stat -c %s coarse.pftrace) + 50000 < $(stat -c %s p.pftrace)))" 1
seen coarse
is 'perfetto: longer bins, the same sum' "$(sed -n 's/^sum CPU 0: instructions .*: //p' seen)" \
    "$("$HR" dump p.bin | awk -F , 'NR > 1 { n += $6 } END { print n }')"
run_hr export perfetto --bin 10 p.bin
is 'perfetto: a bin without a unit' "$status.$(head -n 1 err)" \
    '2.hr export: --bin 10: give a time with its unit, such as 10us'
run_hr export csv --bin 10us p.bin
is 'perfetto: a bin for another format' "$status.$(head -n 1 err)" '2.hr export: --bin is for perfetto; csv holds every sample'

run_guest -q --accel tcg -i 5us -o t.bin "$WORKLOADS/threads" count 3 100000
run_hr export perfetto t.bin
seen t
is 'perfetto: threads on their CPU' "$(awk '/^slice CPU [0-9]+: thread/ { n += $NF } END { print n }' seen)" \
    "$("$HR" dump --format records t.bin | grep -c '^  switch .*to_tid=[1-9]')"
for tid in 1000 1001 1002; do
    is "perfetto: samples of thread $tid" "$(awk -v t=$tid '$1 == "thread" && $2 == t { n += $NF } END { print n }' seen)" \
        "$("$HR" dump t.bin | awk -F , -v t=$tid '$3 == t' | wc -l)"
done
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --cpus 2 --threads 2 --turn 400 --marks 5000 m.bin
run_hr export perfetto m.bin
seen m
run_hr export folded m.bin -o -
awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' out | sort >wanted
sed -n 's/^stack //p' seen | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >got
same_file 'perfetto: stacks as in folded' got wanted
is 'perfetto: marks' "$(awk '/^instant thread/ { n += $NF } END { print n }' seen)" \
    "$("$HR" dump --format records m.bin | grep -c '^  mark')"
run_hr export perfetto k.bin
seen k
like 'perfetto: the kernel' seen '^function \[kernel\] calibrate 200$'
run_hr export perfetto r.bin
seen r
is 'perfetto: what a pause counted is left out' "$(sed -n 's/^sum CPU 0: instructions.*: //p' seen)" \
    $(($(total r.bin instructions) - 1007500))
run_hr export perfetto -o part.pftrace --from 1ms --to 2ms p.bin
seen part
is 'perfetto: a part' "$(sed -n 's/^samples //p' seen)" "$("$HR" dump --from 1ms --to 2ms p.bin | tail -n +2 | wc -l)"
run_hr export perfetto cut.bin
like 'perfetto: a truncated trace: said' err 'incomplete, the export holds what is there'
seen cut
is 'perfetto: a truncated trace' "$(sed -n 's/^samples //p' seen)" "$(stat_of cut.bin .samples)"
run_hr export perfetto off.bin
is 'perfetto: no samples' "$status.$(cat err)" 0.
seen off
(ulimit -f 8; trap '' XFSZ; "$HR" export perfetto -o full.pftrace s.bin 2>err; echo $? >code)
is 'perfetto: no more room' "$(cat code).$(cat err).$(ls full* 2>/dev/null)" \
    '1.hr: full.pftrace: File too large; free some space or write elsewhere.'
# firefox
# held NAME: what tests/export/firefox.py saw in NAME.firefox.json, in the file held.
held() {
    python3 "$ROOT/tests/export/firefox.py" "$1.firefox.json" >held 2>&1
    is "firefox: $1 is sound" "$(grep -E '^(bad|Traceback|[A-Za-z]*Error)' held)" ''
}

run_hr export firefox p.bin
is 'firefox: status, nothing is said' "$status.$(cat out err)" 0.
held p
is 'firefox: samples' "$(sed -n 's/^samples //p' held)" "$(stat_of p.bin .samples)"
sed -n 's/^function //p' held | sort >got
same_file 'firefox: samples of every function as in hr report' got samples.wanted
is 'firefox: system calls' "$(awk '/^marker Syscall/ { n += $NF } END { print n }' held)" \
    "$("$HR" dump --format records p.bin | grep -c '^  syscall')"
is 'firefox: times in milliseconds' "$(jq -c '.threads[0].samples.time[0:3]' p.firefox.json)" \
    "$("$HR" dump p.bin | awk -F , 'NR > 1 && NR < 5 { printf "%s%.10g", NR == 2 ? "[" : ",", $1 / 1e6 } END { print "]" }')"
run_hr export firefox m.bin
held m
run_hr export folded m.bin -o -
awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' out | sort >wanted
sed -n 's/^stack //p' held | awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | sort >got
same_file 'firefox: stacks as in folded' got wanted
is 'firefox: marks' "$(awk '/^marker Mark/ { n += $NF } END { print n }' held)" \
    "$("$HR" dump --format records m.bin | grep -c '^  mark')"
is 'firefox: samples of a thread' "$(sed -n 's/^thread 3 //p' held)" "$("$HR" dump m.bin | awk -F , '$3 == 3' | wc -l)"
run_hr export firefox short.bin
held short
like 'firefox: stacks that are cut off' held '^stack \[truncated\];'
run_hr export firefox k.bin
held k
like 'firefox: the kernel' held '^function \[kernel\] calibrate 200$'
run_hr export firefox -o part.firefox.json --from 1ms --to 2ms p.bin
held part
is 'firefox: a part' "$(sed -n 's/^samples //p' held)" "$("$HR" dump --from 1ms --to 2ms p.bin | tail -n +2 | wc -l)"
run_hr export firefox cut.bin
like 'firefox: a truncated trace: said' err 'incomplete, the export holds what is there'
held cut
run_hr export firefox off.bin
is 'firefox: no samples' "$status.$(cat err)" 0.
held off
(ulimit -f 8; trap '' XFSZ; "$HR" export firefox -o full.json s.bin 2>err; echo $? >code)
is 'firefox: no more room' "$(cat code).$(cat err).$(ls full* 2>/dev/null)" \
    '1.hr: full.json: File too large; free some space or write elsewhere.'
done_testing
