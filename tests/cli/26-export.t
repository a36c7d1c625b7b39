#!/bin/sh
# hr export: its options and its output, whatever the format; csv and folded stacks.
. "$(dirname "$0")/../lib.sh"

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 20000 hr.bin || exit 1
"$TOOLS/genviews" regions regions.bin || exit 1

run_hr export --list
is 'list: status' "$status" 0
like 'list: a format' out '^folded +one line a call stack'
run_hr export
is 'no format: status and remedy' "$status.$(head -n 1 err)" \
    "2.hr export: no format given; 'hr export --list' lists them"
run_hr export foldde
is 'a typing error' "$status.$(head -n 1 err)" "2.hr export: foldde: unknown format; did you mean 'folded'?"
run_hr export nonsense
is 'no such format' "$status.$(head -n 1 err)" \
    "2.hr export: nonsense: unknown format; 'hr export --list' lists them"
run_hr export csv missing.bin
is 'no such trace: status' "$status" 1
like 'no such trace: said' err '^hr: missing\.bin: no such file'
run_hr export csv "$HR" -o x
is 'no trace: status' "$status" 2
is 'no trace: no output' "$(ls x 2>/dev/null)" ''

run_hr export csv
is 'csv: status' "$status" 0
is 'csv: silent' "$(cat out err)" ''
run_hr dump
same_file 'csv: beside the trace, the rows of hr dump' out hr.csv
run_hr export csv -o -
same_file 'csv: on standard output' out hr.csv
mkdir folder && cp hr.bin folder/other
run_hr export csv folder/other
same_file 'a trace of another name' folder/other.csv hr.csv
is 'nothing else stays' "$(ls -A folder)" 'other
other.csv'

echo 'old 1' >hr.folded
ln -s hr.folded link
run_hr export folded -o link
is 'an existing output is replaced' "$(grep -c old hr.folded)" 0
ok 'through a link' test -L link
# shellcheck disable=SC2012
is 'permissions are those of a new file' "$(ls -l hr.folded | cut -c 1-10)" "$(umask 022; : >plain; ls -l plain | cut -c 1-10)"
run_hr export csv -o hr.bin
is 'the trace is not replaced' "$status.$(cat err)" "1.hr: cannot write the export 'hr.bin': it is also the file that is read; name another file with --output"
run_hr export csv -o folder
is 'a directory' "$status.$(cat err)" "1.hr: cannot write the export 'folder': is a directory; use --output"
run_hr export csv -o none/x
is 'no such folder' "$status.$(cat err)" "1.hr: cannot write the export 'none/x': No such file or directory; use --output"
if [ -w /dev/full ]; then
    run_hr export csv -o /dev/full
    is 'a full disk' "$status.$(cat err)" \
        '1.hr: /dev/full: No space left on device; free some space or write elsewhere'
fi
(ulimit -f 100; "$HR" export csv -o big.csv >out 2>err)
is 'a file that grows too large: nothing stays' "$(ls big.csv* 2>/dev/null)" ''
"$HR" export csv -o - 2>err | head -n 1 >out
is 'a closed pipe: quiet' "$(cat err)" ''
is 'a closed pipe: what was read' "$(cut -d , -f 1-3 out)" 'time_ns,cpu,tid'

# folded: each function's weight is its row in hr report
# reported COLUMN ARG...: functions with names and that column of hr report, summed by name.
reported() {
    column=$1
    shift
    "$HR" report -n 0 "$@" 2>/dev/null | awk -v c="$column" '/^ *[0-9.]+%/ && $5 !~ /^\[/ {
        gsub(",", ""); n[$5] += $c } END { for (f in n) if (n[f]) print f, n[f] }' | sort
}
folded() { awk '$1 !~ /^\[/ { n[$1] += $2 } END { for (f in n) print f, n[f] }' out | sort; }
run_hr export folded -o -
folded >got
reported 3 >wanted
within 'folded: functions have names' "$(wc -l <got)" 5 100000
same_file 'folded: samples of every function as in hr report' got wanted
is 'folded: all samples' "$(awk '{ n += $NF } END { print n }' out)" 20000
is 'folded: lines are names and a number' "$(grep -cvE '^[^ ]+ [0-9]+$' out)" 0
run_hr export folded -o - --weight cache-misses
folded >got
reported 4 --sort cache-misses >wanted
same_file 'folded: an event of every function' got wanted
run_hr export folded --weight dragons
is 'folded: no such event' "$status.$(cat err)" \
    '2.hr: --weight dragons: the trace has no such event; choose samples, instructions:u, cycles:u, cache-misses:u, branches:u, branch-misses:u'
run_hr export csv --weight cycles
is 'a weight for another format' "$status.$(head -n 1 err)" '2.hr export: --weight is for folded; csv holds every event'
run_hr export folded regions.bin -o - --weight instructions
total=$(total regions.bin instructions)
is 'folded: what a pause counted is left out' "$(awk '{ n += $NF } END { print n }' out)" $((total - 1007500))

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --depth 12 --threads 3 20000 stacks.bin
run_hr export folded stacks.bin -o -
awk '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' out | sort >folded # static functions may share a name
is 'stacks: all samples' "$(awk '{ n += $NF } END { print n }' out)" 20000
within 'stacks: frames of a line' "$(awk '{ n += $NF * split($1, f, ";") } END { print n / 20000 }' out)" 6 30
run_hr export csv stacks.bin -o -
is 'csv with stacks: the columns' "$(head -n 1 out | sed 's/.*,//')" stack
tail -n +2 out | sed 's/^[^,]*,[^,]*,[^,]*,[^,]*,\([^,]*\),.*,"\([^"]*\)"$/\2\1/; s/+0x[0-9a-f]*$//' | sort | uniq -c |
    awk '{ print $2, $1 }' | sort >rows
same_file 'csv and folded have the same stacks' rows folded
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --depth 12 --limit 5 20000 short.bin
run_hr export folded short.bin -o -
like 'stacks that are cut off' out '^\[truncated\];[^;]+;[^;]+;[^;]+;[^;]+;[^;]+;[^;]+ [0-9]+$'
is 'stacks that are cut off: frames' "$(awk '{ n = split($1, f, ";"); if (n > most) most = n } END { print most }' out)" 7

run_hr export csv -o part.csv --from 1ms --to 2ms
"$HR" dump --from 1ms --to 2ms >dump.csv
same_file 'a span of time' part.csv dump.csv
rm -f part.csv
run_hr export csv -o part.csv --thread 77
is 'nothing selected' "$status.$(cat err)" '1.hr: hr.bin: nothing was written, because no sample is selected'
is 'nothing selected: no output' "$(ls part.csv* 2>/dev/null)" ''

bytes=$(stat -c %s hr.bin)
head -c $((bytes / 2)) hr.bin >cut.bin
run_hr export csv cut.bin
is 'a truncated trace: status' "$status" 0
like 'a truncated trace: said' err "^hr: cut\.bin: incomplete, the export holds what is there; 'hr check cut\.bin' says"
"$HR" dump cut.bin >dump.csv 2>/dev/null
same_file 'a truncated trace: what is there' cut.csv dump.csv
head -c 64 hr.bin >head.bin
run_hr export folded head.bin
is 'no samples: status' "$status" 0
is 'no samples: an empty output' "$(wc -c <head.folded)" 0
done_testing
