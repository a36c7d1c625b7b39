#!/bin/sh
# hr compare: a known difference to the instruction, in the function that has it; what is not the same; the gate; revisions.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"

cat >loop.c <<'END'
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void steady(long n)
{
    for (long i = 0; i < n; i++)
        __asm__ volatile("nop");
}

__attribute__((noinline)) static void changed(long n)
{
    for (long i = 0; i < n; i++)
        __asm__ volatile("nop" MORE);
}

int main(int argc, char **argv)
{
    steady(atol(argv[1]));
    changed(atol(argv[1]));
    puts(argc > 2 ? argv[2] : "done");
    return argc > 2 ? atoi(argv[2]) : 0;
}
END
cc -O1 -g -static -fno-omit-frame-pointer -DMORE='""' -o loop-0 loop.c || skip_all 'no compiler for static programs'
cc -O1 -g -static -fno-omit-frame-pointer -DMORE='"\nnop\nnop"' -o loop-1 loop.c

compare() { run_hr compare -q --accel tcg --kernel "$KERNEL" "$@"; }
change() { jq ".changes[] | select(.kind == \"$1\" and (.event + .name) == \"$2\") | .change" out; }

# Two instructions a pass more, in one function.
compare -f json -m exact -o exact -- ./loop-0 30000 ::: ./loop-1 30000
is 'a comparison' "$status $(jq -c '[.exact, .runs, .statuses, .not_the_same]' out)" '0 [true,1,[0,0],""]'
is 'two instructions a pass: exact' "$(change total instructions)" 60000
is 'the time: a nanosecond each' "$(change total time_ns)" 60000
is 'one function changed' "$(jq -c '[.changes[] | select(.kind == "function") | [.name, .change]]' out)" '[["changed",60000]]'
compare -- ./loop-0 30000 ::: ./loop-1 30000
like 'the table' out '^instructions .* \+60,000 +\+[0-9.]+ %$'
like 'says that it is exact' out '^# 1 run of each in virtual time: the differences are exact$'
like 'functions by samples' out '^# instructions by function: 1 of [0-9]+ changed by more than chance'
like 'which' out '^ +\+[0-9,]+ +\+-[0-9,]+ .* changed  loop-0$'
compare -f csv --repeat 3 --warmup 1 -o kept -e instructions,branch-misses -g dwarf -i 1us -- ./loop-0 60000 ::: ./loop-1 60000
is 'csv: three runs of each are equal' "$(grep '^total,instructions' out | cut -d, -f 7-11)" '120000,120000,120000,0,1'
is 'the traces are kept' "$(for trace in kept/*.hr; do echo "${trace#kept/}"; done | tr '\n' ' ')" \
    'after-1.hr after-2.hr after-3.hr before-1.hr before-2.hr before-3.hr '
is 'what hr diff says of them' "$("$HR" diff -f json kept/before-1.hr kept/after-3.hr |
    jq '.changes[] | select(.kind == "total" and (.event | startswith("instructions"))) | .change')" 120000
compare -o kept -- ./loop-0 1 ::: ./loop-1 1
is 'a folder with traces is not overwritten' "$status $(head -n 1 err)" \
    '125 hr: -o kept: Directory not empty; name a folder that is new or empty'

# Pictures: flame graphs of both widths, and bars where there are no stacks.
run_hr plot --diff -o flames.svg kept/before-1.hr kept/after-1.hr
ok 'flame graphs, well-formed' xmllint --noout flames.svg
tr -d '\n' <flames.svg | sed 's/<rect/\n&/g' >flames
like 'what grew is red' flames "fill='#[d-f][0-9a-f][6-9a-c][0-9a-f]{3}'> *<title>changed: before .*: \\+1[0-9]{2},[0-9]{3} instructions \\(\\+"
like 'what is equal is white' flames "fill='#eeeeee'> *<title>steady: before"
run_hr plot -p diff -o bars.svg exact/before-1.hr exact/after-1.hr
like 'bars, exact' bars.svg '<title>changed: before .*: \+60,000 instructions \(\+'
is 'and of nothing else' "$(grep -c '<title>.*instructions (' bars.svg)" 1
run_hr plot --diff -e branch-misses -o other.svg kept/before-1.hr kept/after-1.hr
like 'of another event, which is no measurement here' other.svg '>from .*: branch-misses \(stub\) by function<'
run_hr plot --diff -e samples -o other.svg kept/before-1.hr kept/after-1.hr
like 'of samples' other.svg '<title>steady: before .* samples \('
run_hr plot --diff -e cycels -o none.svg kept/before-1.hr kept/after-1.hr
is 'of an event that there is not' "$status $(cat err)" \
    '1 hr: --event cycels: the trace has no such event; it has instructions, branch-misses'
run_hr view -e cycles kept/before-1.hr
like 'an event for one trace' err '--event works only with --diff'
run_hr plot -e cycles -o none.svg kept/before-1.hr
like 'an event for other pictures' err '--event is for the picture diff'
run_hr plot --diff -o bars.svg kept/before-1.hr
like 'one trace' err 'compares two traces'
run_hr plot -o bars.svg kept/before-1.hr kept/after-1.hr
like 'two traces for other pictures' err 'only the picture diff is of two traces'
run_hr view --diff -e samples kept/before-1.hr kept/after-1.hr
is 'a page' "$status $([ -s kept/after-1.hr-diff.html ] && echo written)" '0 written'
if command -v chromium >/dev/null; then
    . "$ROOT/tests/view/look.sh"
    look kept/after-1.hr-diff.html diff
    like 'it says what it compares' seen '"range": "before [0-9,]+ \(100.*\+120 samples \('
    is 'of one panel' "$(seen '.diff.panels | join(",")')" profile
    is 'the function that changed is first' "$(seen '.diff.rows[0] | .[0], .[2]' | tr '\n' ' ')" 'changed grew '
    is 'it is red, with both widths' "$(seen '[.diff.after, .diff.before | .[] | select(.[0] == "changed") | .[2] | test("^rgb\\(2..,(1..|..),")] | join(",")')" true,true
    is 'what did not change is white' "$(seen '[.diff.after[] | select(.[0] == "steady") | .[2]] | join(" ")')" 'rgb(238,238,238)'
    is 'no problems' "$(seen '.problems | length')" 0
else
    skip 7 'chromium is not installed'
fi

# What is not the same.
compare -f json -- ./loop-0 1 ::: ./loop-1 1 7
like 'exit statuses that differ' out '"not_the_same":"run 1 after ended with status 7, and the first one before with 0"'
is 'and lengths of the commands' "$(jq .length_difference out)" 2
compare -- ./loop-0 1 0 ::: ./loop-1 1 00
like 'outputs that differ' out '^# not the same: run 1 after wrote something else \(3 bytes\) than the first one before \(2 bytes\)'
like 'lengths in the table' out '^# the commands differ in length by 1 byte,'

# The gate has the words and statuses of hr diff.
compare --fail-above 10% -- ./loop-0 30000 ::: ./loop-1 30000
is 'grew by more' "$status" 1
like 'says so' err '^hr: instructions grew by 60,000 \(\+.* %\), from .* to .*: more than --fail-above 10%$'
compare --fail-above 60000 -- ./loop-0 30000 ::: ./loop-1 30000
is 'no more than the limit' "$status" 0
compare --fail-above 1 -- ./loop-1 30000 ::: ./loop-0 30000
is 'less is no failure' "$status" 0
compare --fail-above 1 -- ./loop-0 1 ::: ./loop-1 1 7
is 'other statuses: no gate opens' "$status" 2
compare --cpus 1 --repeat 2 -f json -- ./loop-0 100 ::: ./loop-1 100
is 'no virtual time: intervals' "$status $(jq -c '[.exact, (.changes[] | select(.event == "time_ns") | .low < .change and .change < .high and .least > 0)]' out)" \
    '0 [false,true]'
compare --cpus 1 --repeat 1 --fail-above 1% -- ./loop-0 100 ::: ./loop-0 100
is 'one run of each decides nothing' "$status" 2

# Revisions: two worktrees that are gone afterwards.
mkdir -p work/sub
(
    cd work/sub || exit
    sed 's/MORE/""/' ../../loop.c >loop.c
    printf 'loop: loop.c\n\tcc -O1 -g -static -o loop loop.c\n' >Makefile
    git init -q .. && git add . && git -c user.name=A -c user.email=a@localhost commit -q -m first
    sed 's/MORE/"\\nnop\\nnop"/' ../../loop.c >loop.c
    git -c user.name=A -c user.email=a@localhost commit -q -a -m second
)
revisions() { # OPTION...
    cd work/sub || exit 1
    TMPDIR=$work/temporary run_hr compare -q --accel tcg --kernel "$KERNEL" "$@"
    mv out err ../..
    cd ../..
    is 'nothing is left' "$(git -C work worktree list | wc -l) $(ls temporary)" '1 '
}
mkdir temporary
revisions -f json -m exact --build make --git HEAD~1 HEAD -- ./loop 30000
is 'revisions: exact' "$status $(change total instructions)" '0 60000'
is 'in one function' "$(jq -c '[.changes[] | select(.kind == "function") | [.name, .change]]' out)" '[["changed",60000]]'
revisions --build 'echo no >&2; exit 3' --git HEAD~1 HEAD -- ./loop 1
is 'a build that fails' "$status $(head -n 1 err)" '125 hr: --build of HEAD~1 ended with status 3: no'
revisions --git HEAD~9 HEAD -- ./loop 1
is 'no such revision' "$status $(head -n 1 err)" '125 hr: --git HEAD~9: no such revision here'

# An interruption keeps what is there.
cat >emulator <<END
#!/bin/sh
case \$* in *-machine*) ;; *) exec "${QEMU:-qemu-system-x86_64}" "\$@" ;; esac
echo >>"$work/starts"
[ "\$(wc -l <"$work/starts")" -ne 4 ] || kill -INT "\$(ps -o ppid= "\$PPID" | tr -d ' ')"
exec "${QEMU:-qemu-system-x86_64}" "\$@"
END
chmod +x emulator
compare --qemu "$work/emulator" --repeat 5 -- ./loop-0 30000 ::: ./loop-1 30000
is 'interrupted' "$status" 130
like 'what it had' out '^instructions .* \+60,000 '
like 'and how much' err 'this is what 1 of 5 runs of each say$'

# What cannot be.
compare -- ./loop-0 1
like 'one program' err 'two programs are needed: A ::: B'
compare --git HEAD
like 'one revision' err 'name two revisions, --git REV1 REV2'
compare --build make -- ./loop-0 1 ::: ./loop-1 1
like 'a build without revisions' err '--build is for --git'
compare -- ./loop-0 1 ::: ./loop-9 1
is 'no such program' "$status" 125
like 'says so' err '^hr: a run of the program after ended with status 127 and no whole trace: ./loop-9: '

transcript "$ROOT/docs/compare.md"
done_testing
