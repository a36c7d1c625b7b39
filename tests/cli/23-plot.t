#!/bin/sh
# hr plot: every picture of made-up and real traces is valid SVG, the same each time, with names escaped.
. "$(dirname "$0")/../lib.sh"

command -v xmllint >/dev/null || skip_all 'xmllint is missing; tools/setup.sh test installs it'

valid() { ok "$1: valid" xmllint --noout --nonet "$2"; }
texts() { xmllint --xpath '//*[local-name()="text"]/text()' "$1" 2>/dev/null; }

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --depth 12 --cpus 3 --marks 60000 stacks.bin || exit 1
run_hr plot -o pictures stacks.bin
is 'a folder: status, and where they are' "$status.$(cat err)" '0.hr: 3 pictures in the folder pictures'
is 'a folder: a picture of all that there is' "$(ls pictures | tr '\n' ' ')" 'functions.svg intervals.svg timeline.svg '
for picture in functions intervals timeline; do
    valid $picture pictures/$picture.svg
done
texts pictures/timeline.svg >texts
like 'timeline: axis with its unit' texts '^time \(ms\)$'
like 'timeline: a legend of CPUs' texts '^CPU 2$'
like 'timeline: marks' texts '^phase 0$'
like 'timeline: what is no measurement is marked' texts '^\* not from a performance counter$'
is 'timeline: a line for each CPU in each plot' "$(grep -c '<path' pictures/timeline.svg)" 21
is 'timeline: no line leaves the page' \
    "$(grep -o "d='[^']*'" pictures/timeline.svg | tr 'ML' '\n\n' | awk 'NF == 2 { sub(/.$/, "", $2) } $1 != "" && $1 + 0 == $1 && ($1 < 0 || $1 > 680) { n++ } END { print n + 0 }')" 0
like 'flame graph: its frames say how much' pictures/functions.svg '<title>[A-Za-z_][^<]*: [0-9.]+ %, [0-9,]+ samples</title>'
within 'flame graph: the lowest row is the whole width' \
    "$(xmllint --xpath '//*[local-name()="rect"][@height="14.20"]' pictures/functions.svg 2>/dev/null | grep -o "y=\"[^\"]*\" width=\"[^\"]*\"" |
        tr -d '"' | sed 's/y=//; s/width=//' | awk '$1 > y { y = $1; s = 0 } $1 == y { s += $2 } END { print s }')" 640 650
run_hr plot -o again stacks.bin
ok 'the same trace gives the same bytes' diff -r pictures again

run_guest -q -i 1us busybox sleep 0.01
run_hr plot -o run hr.bin
is 'a real run: status' "$status" 0
is 'a real run: pictures' "$(ls run | tr '\n' ' ')" 'calls.svg functions.svg intervals.svg timeline.svg '
for picture in calls functions intervals timeline; do
    valid "a real run: $picture" run/$picture.svg
done
texts run/calls.svg >texts
like 'calls: how many' texts '^system calls \([0-9]+\)$'
like 'calls: gaps' texts '^gaps: the program did not run \(1\)$'
texts run/intervals.svg >texts
like 'intervals: percentiles' texts '^p50 [0-9.]+ [nu]s$'
texts run/timeline.svg >texts
like 'timeline: the program' texts '^busybox: rates \(emulated run\)$'

run_hr plot -o one.svg -p functions hr.bin
is 'one picture: status' "$status" 0
valid 'one picture' one.svg
like 'functions: their axis' one.svg 'share of samples'
run_hr plot -o rates.svg --to 20us hr.bin
valid 'a part of the trace' rates.svg
"$TOOLS/genviews" regions regions.bin || exit 1
run_hr plot -p calls -o calls.svg regions.bin
is 'nothing to draw' "$status.$(cat err)" '1.hr: regions.bin: there is nothing to draw for the picture calls: no system calls and no gaps'
ok 'and no file' test ! -e calls.svg
run_hr plot -o none --from 1h regions.bin
is 'nothing selected' "$status.$(grep -c 'there is nothing to draw, because no sample is selected' err)" 1.1
cp "$WORKLOADS/hello" './a<b>&"c'
run_guest -q -i 1us './a<b>&"c'
run_hr plot -o odd hr.bin
for picture in functions timeline; do
    valid "a name with markup: $picture" odd/$picture.svg
done
is 'a name with markup is shown' "$(texts odd/timeline.svg | grep -c 'a&lt;b&gt;&amp;"c: rates')" 1
run_hr plot hr.bin
is 'nowhere to write' "$status" 2
run_hr plot -o x -p everything hr.bin
is 'an unknown picture' "$status.$(head -n 1 err)" '2.hr plot: --picture everything: choose timeline, intervals, functions, calls, waits, latency, memory or diff'
cp hr.bin trace.svg
run_hr plot -o trace.svg trace.svg
is 'not over the trace' "$status.$(cmp hr.bin trace.svg && echo same)" 1.same
run_hr plot -o /dev/full -p timeline missing.bin
is 'no such trace' "$status" 1
ln -s /dev/full full.svg
run_hr plot -o full.svg hr.bin
is 'a full disk' "$status.$(grep -c 'No space left on device' err)" 1.1
ok 'a device stays' test -c /dev/full
head -c $(($(wc -c <stacks.bin) / 2)) stacks.bin >cut.bin
run_hr plot -o cut cut.bin
is 'a trace that was cut off' "$status.$(grep -c 'incomplete' err)" 0.1
done_testing
