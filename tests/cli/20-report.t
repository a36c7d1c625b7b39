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
like 'nothing is selected: said' err "^hr: plain\.bin: nothing is selected: no sample of the run, which took 40[0-9]\.[0-9] ms, lies there; 'hr stat plain\.bin' shows"
run_hr stat --cpu 7 plain.bin
is 'no such CPU' "$status.$(cat out)" '1.'
run_hr stat --thread 7 plain.bin
is 'no such thread' "$status.$(cat out)" '1.'

# hr report: the same by any number of threads, whatever it is by
"$TOOLS/gentrace" --elf "$WORKLOADS/phases-glibc-static" --stacks fp --marks --threads 3 --turn 1200 --cpus 2 24000 stacks.bin || exit 1
for by in function line library address thread cpu mark mark,cpu,thread,function; do
    run_hr report --jobs 1 -n 0 --by $by stacks.bin
    is "by $by: status" "$status" 0
    mv out one
    run_hr report --jobs 3 -n 0 --by $by stacks.bin
    same_file "by $by: three threads find what one finds" out one
done
for view in --stacks '--callers malloc'; do
    # shellcheck disable=SC2086
    run_hr report --jobs 1 --min 0 $view stacks.bin
    mv out one
    # shellcheck disable=SC2086
    run_hr report --jobs 3 --min 0 $view stacks.bin
    same_file "$view: three threads find what one finds" out one
done

# columns NAME...: what these columns of CSV add up to
columns() {
    python3 -c 'import csv, sys; print(*map(sum, zip(*([int(row[name] or 0) for name in sys.argv[1:]] for row in csv.DictReader(sys.stdin)))))' "$@" <out
}
instructions=$(total stacks.bin instructions)
for by in function line library address cpu thread mark; do
    run_hr report --format csv --by $by stacks.bin
    counted=$(columns samples instructions:u)
    is "by $by: every sample is counted once" "${counted% *}" 24000
    is "by $by: every instruction is" "${counted#* }" "$instructions"
done
run_hr report --format text --event instructions stacks.bin
mv out long
run_hr report -f table -e instructions stacks.bin
same_file 'short options, and the word for text that other commands have' out long
run_hr report --format csv --by cpu stacks.bin
is 'csv: no totals where there are no callers' "$(sed -n 2p out | cut -d, -f3)" ''
run_hr report --format json --by thread stacks.bin
jq -r '.rows[] | "\(.thread) \(.self.samples)"' out | sort >counts
is 'samples of six threads' "$(cut -d' ' -f1 counts | paste -sd' ')" '1 2 3 4 5 6'
while read -r tid counted; do
    run_hr stat --json --thread "$tid" stacks.bin
    is "thread $tid has as many samples as its selection" "$(sed -n 's/^  "samples": \([0-9]*\),$/\1/p' out)" "$counted"
done <counts

# totals: of the tree's chains, each function once
run_hr report --stacks --min 0 --format json stacks.bin
is 'tree: all samples' "$(jq '[.tree[].total] | add' out)" 24000
is 'tree: what is in nodes themselves' "$(jq '[.. | .self? // empty] | add' out)" 24000
name=$(jq -r '[.tree[] | recurse(.children[]) | select(.self > 0)][0].function' out)
in_tree=$(jq --arg f "$name" 'def within: if .function == $f then .total else ([.children[] | within] | add // 0) end; [.tree[] | within] | add' out)
run_hr report --format json stacks.bin
is 'a total is that of the chains with the function, recursion counted once' \
    "$(jq --arg f "$name" '[.rows[] | select(.function == $f).total.samples] | add' out)" "$in_tree"
run_hr report --callers "$name" --min 0 --format json stacks.bin
is 'callers: the same total' "$(jq '[.tree[].total] | add' out)" "$in_tree"
# a function of a small share has callers, too: shares are of the function
run_hr report --format json stacks.bin
small=$(jq -r '[.rows[] | select(.function != null and .total.samples > 0)] | min_by(.total.samples).function' out)
run_hr report --callers "$small" stacks.bin
is 'callers of a small function: all of it, and who called it' \
    "$(awk '/^ *[0-9.]+%/ { print $1; if (++n == 2) exit }' out | paste -sd ' ')" '100.00% 100.00%'
like 'callers of a small function: its part of the run' out "^# $small and what it called: [0-9.e-]+ % of the run; total: of that"
run_hr report --stacks --min 5 stacks.bin
is 'tree: small branches are left out' "$(awk '/^ *[0-9.]+%/ && $1 + 0 < 5' out)" ''
like 'tree: said' out '^# [0-9]+ branches with less than 5 % are left out'
run_hr report --stacks --min 0 --format csv stacks.bin
is 'tree as csv: all samples' "$(columns self)" 24000
run_hr report --no-total stacks.bin
like 'no totals: as without stacks' out '^# share +\+- +samples +instructions:u +symbol +object$'
run_hr report --total -n 1 stacks.bin
like 'sorted by total' out '^ +[0-9.]+% +[0-9.]+ +[0-9.]+% '

run_hr report --stacks plain.bin
is 'a tree without stacks: status' "$status" 1
like 'a tree without stacks: said' err "the samples have no call stacks; record them with 'hr run -g'"
run_hr report --callers no_such_function stacks.bin
is 'callers of nobody' "$status.$(cat err)" \
    '1.hr: --callers no_such_function: no sample has that function on its stack'
run_hr report --callers "${name}x" stacks.bin
like 'callers of a mistyped function' err "has that function on its stack; the nearest names: $name"
for wrong in '--by function,line' '--by cpu,cpu' '--by nothing' '--by ,' '--min x' '--min 101' '--format xml' \
    '--stacks --marks' '--by cpu --stacks' '--marks --format csv' '--total --no-total'; do
    # shellcheck disable=SC2086
    run_hr report $wrong stacks.bin
    is "$wrong: refused" "$status.$(cat out)" 2.
done
run_hr report --from 1h stacks.bin
is 'nothing is selected' "$status.$(grep -c 'nothing is selected' err)" 1.1
run_hr report --by mark --cpu 1 --from 10ms stacks.bin
is 'a selected part by marks' "$status" 0
"$HR" report --format csv stacks.bin 2>err >/dev/full
is 'a full disk: status' "$?" 1
like 'a full disk: said' err 'standard output: No space left on device'

# a terminal: at 40 columns no line is longer, nothing but names is cut, and PAGER gets all of it
if command -v script >/dev/null; then
    on_terminal() { # COLUMNS COMMAND: what the terminal shows, without colours
        script -qec "stty cols $1 rows 10; $2" /dev/null </dev/null |
            sed 's/\r*$//; s/^.*\r\x1b\[K//; s/\x1b\[[0-9;]*m//g'
    }
    for columns in 40 60 80 200; do
        on_terminal $columns "$HR report --no-pager -n 5 stacks.bin; $HR report --no-pager --stacks --min 3 stacks.bin; \
            $HR report --no-pager --by thread,cpu,line -n 4 stacks.bin" >shown
        is "$columns columns: no line is longer" "$(awk -v n=$columns 'length($0) > n && !/^# \/[^ ]*$/' shown)" ''
        is "$columns columns: nothing is missing" "$(grep -c '^ *[0-9.]*%' shown | awk '{ print ($1 > 10) }')" 1
    done
    on_terminal 80 "PAGER='sed s/^/paged:/' $HR report -n 1 stacks.bin" >shown
    is 'a pager gets every line' "$(grep -cv '^paged:' shown)" 0
    on_terminal 80 "PAGER='head -n 1' $HR report -n 0 stacks.bin; echo status \$?" >shown
    like 'a pager that is left early is no failure' shown '^status 0$'
    script -qec "NO_COLOR=1 TERM=xterm $HR report --no-pager -n 5 stacks.bin" /dev/null </dev/null >shown
    is 'NO_COLOR: none' "$(grep -c "$(printf '\033\[3')" shown)" 0
    script -qec "env -u NO_COLOR TERM=xterm $HR report --no-pager -n 5 stacks.bin" /dev/null </dev/null >shown
    like 'colours on a terminal' shown "$(printf '\033\\[3')"
else
    skip 12 'script (bsdutils) is not installed'
fi
# a report of nothing says why, and what to do
# why OPTION... WORDS: of a run without samples
why() {
    words=$1
    shift
    run_guest -q "$@" "$WORKLOADS/hello-musl"
    run_hr report
    is "no samples, $*: status" "$status" 0
    like "no samples, $*: why" out "^# no samples: $words"
}
why 'mode off takes none; run it in another --mode$' --mode off
why 'the run took [0-9.]+ .?s, less than the interval of 100\.0 s; choose a shorter one with' -i 100s
why "--paused samples only from the program's hr_start\(\) on, which it did not call" --paused -i 1us
why 'mode instructed takes one where the program calls hr_poll\(\), and it did not$' --mode instructed
run_hr annotate main
is 'annotate: why there are none' "$status.$(cat err)" \
    '1.hr: hr.bin: no samples: mode instructed takes one where the program calls hr_poll(), and it did not'

done_testing
