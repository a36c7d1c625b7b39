#!/bin/sh
# hr diff: the same run twice, a program that does 3 % more, the gate, formats, refusals.
. "$(dirname "$0")/../lib.sh"

cat >work.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) void steady(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void growing(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i; }
#ifdef AFTER
__attribute__((noinline)) void added(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += 3; }
#endif
int main(void)
{
    steady(100000);
    growing(GROWING);
#ifdef AFTER
    added(1000);
#endif
    return 0;
}
END
gcc -g -O1 -static -DGROWING=100000 -o before work.c && gcc -g -O1 -static -DGROWING=103000 -o more work.c &&
    gcc -g -O1 -static -DGROWING=100000 -DAFTER -o added work.c || exit 1
for program in before more added; do
    run_guest -q -o $program.bin -e "$five" -i 1us ./$program
    is "$program runs" "$status" 0
done
run_guest -q -o again.bin -e "$five" -i 1us ./before

run_hr diff before.bin again.bin
is 'the same program twice: status' "$status" 0
is 'the same program twice: nothing changed' "$(tail -n 1 out)" 'no function changed'
is 'the same program twice: not a single event' "$(grep -c ' 0 %$' out)" 6
is 'the same program twice: nothing else differs' "$(grep -c '^# not the same' out)" 0
run_hr diff --fail-above 0 before.bin again.bin
is 'the gate is open, however strict' "$status.$(cat err)" '0.'

# growing() runs 3000 times more, a few instructions each
more=$(($(total more.bin instructions) - $(total before.bin instructions)))
within '3 % more of half the work' "$more" 9000 21000
run_hr diff before.bin more.bin
like 'the difference is exact' out "^instructions\\* .* \\+$(echo $more | sed 's/\([0-9]*\)\([0-9][0-9][0-9]\)$/\1,\2/') "
is 'the function that grew comes first' "$(awk '/of its own/ { getline; print $NF, $(NF - 1) }' out)" 'before growing'
like 'by 3 percent of its own' out '\+(2\.9|3\.0)[0-9] % .* growing '
"$HR" diff --format json --limit 1 before.bin more.bin >out
within 'its change is all the change' "$(jq '.changes[-1].change' out)" $((more - 2000)) $((more + 2000))
is 'json: kinds' "$(jq -c '[.before, (.not_the_same | split(" (")[0]), (.changes | length), .changes[0].kind, .changes[-1].name]' out)" \
    '["before.bin","length of the path",7,"total","growing"]'
"$HR" diff --format csv --limit 1 before.bin more.bin >out
is 'csv: header' "$(head -n 1 out)" 'kind,event,name,object,before,after,change,chance'
is 'csv: a total' "$(sed -n 2p out)" "total,instructions,,,$(total before.bin instructions),$(total more.bin instructions),$more,0"
is 'csv: a place' "$(tail -n 1 out | cut -d, -f1-4)" 'place,instructions,growing,before'
like 'csv: a stub is marked' out '^total,cycles\(stub\),,,'
for command in 'report --format csv' dump 'export csv -o -'; do
    # shellcheck disable=SC2086
    run_hr $command before.bin
    like "$command: stubs are marked, and nothing else" out '^[^(]*,instructions,([^(]*,)?cycles\(stub\),(total_cycles\(stub\),)?branches\(stub\),'
done
run_hr diff --by library before.bin more.bin
like 'by library' out "^ +\\+[0-9,]+ .*  before +$"
run_hr diff --by line before.bin more.bin
like 'by line' out 'work\.c:3 '
run_hr diff --min 50000 before.bin more.bin
is 'small changes are left out' "$(tail -n 1 out)" 'no function changed by more than --min'
run_hr diff before.bin added.bin
like 'a function that is new' out ' new .* added '
run_hr diff --min 2000 added.bin before.bin
like 'a function that is gone' out '^ +-[0-9,]+ +\+-[0-9,]+ +gone .* added '
is 'functions that did not change, at other addresses' "$(grep -cE ' (steady|growing) ' out)" 0

run_hr diff --fail-above 1% before.bin more.bin
is 'the gate closes' "$status" 1
like 'the gate says why' err '^hr: instructions grew by [0-9,]+ \(\+1\.[0-9]+ %\), from .* to .*: more than --fail-above 1%$'
run_hr diff --fail-above 5% before.bin more.bin
is 'a wide gate is open' "$status" 0
run_hr diff --fail-above 500 before.bin more.bin
is 'a gate in events closes' "$status" 1
run_hr diff --fail-above $more before.bin more.bin
is 'growth as large as the limit passes' "$status" 0
run_hr diff --fail-above 0 more.bin before.bin
is 'an improvement is no failure' "$status" 0
run_hr diff --fail-above 2% --function growing before.bin more.bin
is 'where the program stays long samples tell 3 %' "$status" 1

# Functions that take turns between two samples: how often a sample falls into each is chance.
cat >turns.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) void one(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
__attribute__((noinline)) void other(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink ^= i; }
__attribute__((noinline)) void third(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink -= i; }
int main(void)
{
    for (int i = 0; i < 2000; i++) {
        one(20);
        other(20 + SHIFT);
        third(20 + 40 * SHIFT);
    }
    return 0;
}
END
for shift in 0 1; do
    gcc -g -O1 -static -DSHIFT=$shift -o turns$shift turns.c && run_guest -q -o turns$shift.bin -i 1us ./turns$shift
done
run_hr diff turns0.bin turns1.bin
like 'a function that doubles is certain' out '^ +\+[0-9,]+ +\+-[0-9,]+ +\+[0-9.]+ % .* third '
is 'one that grows by 5 % is not among what changed' "$(grep -c ' other  ' out)" 0
like 'it is counted' out '^# [0-9]+ more, each changed by what chance of sampling explains; --limit 0 shows them, --mode exact tells$'
run_hr diff --limit 0 turns0.bin turns1.bin
like 'and shown to who asks, with a question mark' out '^ +[-+][0-9,]+ +\+-[0-9,]+ +(new|gone|[-+0-9.]+ %)\? .* other '
"$HR" diff --format json turns0.bin turns1.bin >out
is 'json tells what chance explains' "$(jq '[.changes[] | select(.kind == "place" and .name == "third") | .change > .chance, .chance > 10000] | all' out)" true
run_hr diff --fail-above 1% --function other turns0.bin turns1.bin
is 'samples are too few for a gate on a function' "$status" 2
like 'with what would do' err '^hr: --function other: its samples can show changes of [0-9.]+% or more, so --fail-above 1% cannot be decided; record it with --mode exact, or as a region \(docs/libhr\.md\)$'
run_hr diff --fail-above 2000% --function other turns0.bin turns1.bin
is 'for a coarse limit they do' "$status.$(cat err)" 0.
for program in before more; do
    run_guest -q -o $program.bin --mode exact ./$program
done
run_hr diff --fail-above 1% --function steady before.bin more.bin
is 'the gate of another function is open' "$status" 0
run_hr diff --fail-above 2% --function growing before.bin more.bin
is 'the gate of that function closes' "$status" 1
like 'and names it' err 'instructions in growing grew by '
run_hr diff --fail-above 2% --function no_such before.bin more.bin
is 'a function that is nowhere' "$status" 2

is 'of an exact diff the function has the change of 3000 passes' \
    "$("$HR" diff --format csv before.bin more.bin | awk -F, '$3 == "growing" { print $7 % 3000, ($7 >= 9000) }')" '0 1'
run_hr diff --fail-above 5% --event cache-misses before.bin more.bin
is 'an event that is not there' "$status" 2
run_guest -q -o stub.bin -e instructions,cycles ./before
run_hr diff --fail-above 5% --event cycles stub.bin stub.bin
is 'a gate on a stub is refused' "$status.$(cat err)" \
    '2.hr: stub.bin: cycles was not measured (stub), so --fail-above cannot pass; choose another --event'
run_guest -q -o before.bin -e "$five" -i 1us ./before

run_guest -q -o sparse.bin -i 10us ./before
run_hr diff before.bin sparse.bin
like 'another interval is said' out '^# not the same: interval \(1\.000 us, 10\.00 us\)$'
like 'and changes no count' out '^instructions\*.* 0 +0 %$'
"$TOOLS/genviews" ipi ipi.bin || exit 1
run_hr diff before.bin ipi.bin
like 'events of one trace' out '^# only in after: event LLC-misses:u$'
like 'the mode' out 'mode \(timer, ipi\)'
run_hr diff --event cache-misses before.bin ipi.bin
is 'an event that one has not' "$status.$(cat err)" \
    '2.hr: --event cache-misses: the trace has no such event; it has instructions:u, LLC-misses:u'
"$TOOLS/gentrace" 20000 big.bin && head -c 100000 big.bin >cut.bin || exit 1
run_hr diff --fail-above 5% big.bin cut.bin
is 'a trace that was cut off does not pass' "$status" 2
like 'and is named' err 'cut\.bin is incomplete, so --fail-above cannot pass'
run_hr diff before.bin
is 'one trace is not enough' "$status" 2
run_hr diff --fail-above much before.bin more.bin
is 'no limit' "$status.$(head -n 1 err)" '2.hr diff: --fail-above much: neither a share nor a number; write 1% or 500'
run_hr diff before.bin missing.bin
is 'a trace that is not there' "$status.$(cat err)" "2.hr: missing.bin: no such file; record a trace with 'hr run'"

# a terminal: what numbers leave of a line is the name's, whose parameters go first
if command -v script >/dev/null; then
    objcopy --redefine-sym 'growing=a_function_of_a_name_that_is_long(int, char const*, unsigned long)' before renamed
    for columns in 72 80 120; do
        script -qec "stty cols $columns; $HR diff --limit 0 --program more --old-program renamed before.bin more.bin" /dev/null </dev/null |
            sed 's/\r*$//; s/\x1b\[[0-9;]*m//g' >shown
        is "$columns columns: no line of a place is longer" "$(awk -v n=$columns '/%  / && length($0) > n' shown)" ''
    done
    like '120 columns: without parameters' shown ' a_function_of_a_name_that_is_long\(\.\.\.\)'
    script -qec "stty cols 80; $HR diff --full-names --limit 0 --old-program renamed before.bin more.bin" /dev/null </dev/null >shown
    like '--full-names: all of it' shown 'a_function_of_a_name_that_is_long\(int, char const\*, unsigned long\)'
else
    skip 5 'script (bsdutils) is not installed'
fi

done_testing
