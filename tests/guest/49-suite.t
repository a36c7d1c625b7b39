#!/bin/sh
# hr suite: what it counts, the change that it names, limits, formats, baselines in files and git; programs that fail, wait
# and are interrupted; bad files.
. "$(dirname "$0")/../lib.sh"

cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void parse_value(long n)
{
    for (long i = 0; i < n; i++)
        __asm__ volatile("nop" MORE);
}

int main(int argc, char **argv)
{
    long read = 0;

    while (getchar() != EOF)
        read++;
    parse_value(10000);
    printf("%ld %s\n", read, getenv("WORD"));
    while (argc > 2)
        ;
    return argc > 1 ? atoi(argv[1]) : 0;
}
END
cc -O1 -g -static -DMORE='""' -o work work.c || skip_all 'no compiler for static programs'
cp work kept
mkdir -p sub
echo hello >sub/input
cat >microtome.toml <<END
name = "try"

[default]
options = ["--accel=tcg", "--kernel=$KERNEL"]
tags = "fast"
environment = { WORD = "word" }

[[benchmark]]
name = "words"
command = ["../work"]
directory = "sub"
stdin = "input"
limits = { instructions = ["0.5 %", "+100"], loads = "1 %", calls = "max 1000000" }
functions = { parse_value = "50 %" }

[[benchmark]]
name = "total"
command = ["./work", "3"]
mode = "off"
events = ["instructions"]
exit_status = 3
limits = { instructions = "max 20000" }

[[benchmark]]
name = "fails"
command = ["./work", "4"]
tags = ["bad"]

[[benchmark]]
name = "hangs"
command = ["./work", "0", "wait"]
timeout = "2s"
tags = ["bad"]
END

run_hr suite run -f json
is 'a suite with programs that fail, and a limit that is exceeded' "$status" 1
is 'the others ran' "$(jq -c '[.benchmarks[] | has("problem")]' out)" '[false,false,true,true]'
like 'a wrong status' err '^hr: 3 of 4: fails: it ended with status 4, not 0'
like 'a program that does not end' err '^hr: 4 of 4: hangs: it did not end in time: '
is 'standard input, directory and environment' "$(cat microtome-results/words.out)" '6 word'
"$HR" run -q --accel tcg --kernel "$KERNEL" --env WORD=word --mode exact -o one.bin ../"${work##*/}"/work <sub/input >/dev/null
within 'it counts what a run of it does' "$(jq '.benchmarks[0].events[0].after' out)" \
    $(($(total one.bin instructions) - 300)) $(($(total one.bin instructions) + 300))
is 'a limit for the count itself' "$(jq -r '.benchmarks[1].limits[0].answer' out)" above
is 'four instructions a round, by function' \
    "$(jq '.benchmarks[0].functions[] | select(.name == "parse_value") | .counts[0] > 40000 and .counts[0] < 40010' \
        microtome-results/results.json)" true
is 'facts' "$(jq -r '[.benchmarks[0].facts[][0]] | contains(["program", "machine", "length of the path", "trace format"])' \
    microtome-results/results.json)" true

run_hr suite show -f tap
is 'and it can be shown again' "$status.$(grep -c '^not ok' out)" 1.3

# Again: the same bytes.  Then a program with one instruction more in each of 10,000 rounds.
run_hr suite run -q --tag fast -o again
is 'only what has a tag; a limit is exceeded' "$status.$(jq -c '[.benchmarks[].name]' again/results.json)" '1.["words","total"]'
is 'two runs are identical' "$(jq -S '.benchmarks[0]' again/results.json | cksum)" \
    "$(jq -S '.benchmarks[0]' microtome-results/results.json | cksum)"
cc -O1 -g -static -DMORE='"\nnop"' -o work work.c
run_hr suite run -q --only words -o new
is 'limits that need a base hold without one' "$status" 0
ok 'a baseline' "$HR" suite baseline save main
run_hr suite compare -f json main new
is 'above its limits' "$status" 1
is 'by exactly so much' "$(jq '.benchmarks[0] | .events[0].after - .events[0].before' out)" 10000
is 'in which function' "$(jq -c '.benchmarks[0].functions | map([.name, .after - .before])' out)" '[["parse_value",10000]]'
is 'each limit by itself' "$(jq -c '[.benchmarks[0].limits[].answer]' out)" '["above","above","within","within","within"]'
run_hr suite compare main new
like 'the table' out '^words +instructions +[0-9,]+ +[0-9,]+ +\+10,000 '
like 'what is above which limit' out '^words: instructions: .*, above \+100$'
like 'a benchmark of the base alone' out '^fails +in the base alone$'
run_hr suite compare main again
is 'nothing changed: what is above still is' "$status.$(tail -n 1 out)" '1.1 limit is exceeded'
run_hr suite compare new new
is 'the same results' "$status.$(tail -n 1 out)" '0.0 of 1 benchmark changed, all within their limits'

# Formats.
run_hr suite compare -f markdown --link 'https://host/{}.html' main new
is 'markdown: the mark by which a comment is found' "$(head -n 1 out)" '<!-- microtome-suite -->'
like 'markdown: a row with a link' out '^\| ❌ \[`words`\]\(https://host/words.html\) \| `instructions` \| .* \| \+10,000 \| \+[0-9.]+ % \| `0\.5 %`, `\+100` \|$'
like 'markdown: the function' out '^\| `parse_value` \| 40,0.. \| 50,0.. \| \+10,000 \| \+25\.00 %'
jq '.benchmarks[0].problem = "a|b`c"' new/results.json >failed.json
run_hr suite show -f markdown failed.json
like 'markdown: code outside a table' out "^- ❔ .words. failed: .a[|]b'c.$"
run_hr suite compare -f junit main new
ok 'junit: XML' xmllint --noout out
is 'junit: tests and failures' "$(xmllint --xpath 'concat(/testsuite/@tests, " ", /testsuite/@failures)' out)" '6 2'
run_hr suite compare -f tap main new
is 'tap' "$(head -n 1 out).$(tail -n 1 out).$(grep -c '^not ok' out)" 'TAP version 13.1..6.2'
run_hr suite show -f bencher new
is 'bencher' "$(jq '.words.instructions.value' out)" "$(jq '.benchmarks[0].events[0].total' new/results.json)"
run_hr suite show -f github-benchmark new
is 'github-benchmark' "$(jq -c '.[0] | [.name, .unit, .value]' out)" \
    "[\"words: instructions\",\"instructions\",$(jq '.benchmarks[0].events[0].total' new/results.json)]"

# Baselines in git: a history of each, and no file of the work tree.
if command -v git >/dev/null; then
    git init -q .
    run_hr suite baseline save --git main
    run_hr suite baseline save --git main new
    git update-ref refs/microtome/baselines/a/b refs/microtome/baselines/main
    is 'git: what is there, without refs of others' "$("$HR" suite baseline show --git)" main
    git update-ref -d refs/microtome/baselines/a/b
    "$HR" suite baseline show --git >/dev/full 2>err
    is 'git: a list that cannot be written' $? 2
    is 'git: a history' "$(git rev-list --count refs/microtome/baselines/main)" 2
    is 'git: results.json alone' "$(git ls-tree --name-only refs/microtome/baselines/main)" results.json
    git clone -q . clone 2>/dev/null
    (cd clone && git fetch -q origin 'refs/microtome/*:refs/microtome/*' && "$HR" suite compare main ../again) >out 2>err
    is 'git: shared by a fetch' "$?.$(grep -c '^total  *instructions' out)" 1.1
    run_hr suite baseline prune --git main
    is 'git: pruned' "$status.$(git for-each-ref | wc -l)" 0.0
else
    skip 6 'no git'
fi

# What goes wrong.
bad() { # NAME STATUS REGEX ARGUMENT...
    name=$1 wanted=$2 regex=$3
    shift 3
    run_hr suite "$@"
    is "$name: one line" "$status.$(wc -l <err)" "$wanted.1"
    like "$name: which" err "$regex"
}
bad 'a baseline that is missing' 2 "^hr: there is no baseline 'mian' .*; near: main$" compare mian new
bad 'an unknown benchmark' 2 "^hr: the suite has no benchmark 'wrods'; near: words$" run --only wrods
bad 'an unknown tag' 2 "^hr: the suite has no tag 'fats'; near: fast$" run --tag fats
bad 'no suite' 2 "^hr: cannot read the suite 'no.toml': No such file" run no.toml
sed 's/^stdin/stdni/' microtome.toml >bad.toml
bad 'an unknown key' 2 '^hr: bad\.toml:12: there is no key .stdni. in \[\[benchmark\]\]; near: stdin$' run bad.toml
sed 's/x86-64/arm64/' new/results.json >arm.json
bad 'another architecture' 2 '^hr: the base is of arm64 and these results are of x86-64' compare arm.json new
head -c 1000 new/results.json >cut.json
bad 'results that were cut' 2 '^hr: cut\.json:[0-9]*: ' show cut.json
bad 'a name that leaves the folder' 2 "is no name of a baseline" baseline save ../x
(ulimit -f 1 && trap '' XFSZ && exec "$HR" suite baseline save full new) >out 2>err
is 'a full disk' "$?.$(cat err).$(ls microtome-baselines)" "2.hr: cannot write 'microtome-baselines/full.json': File too large.main.json"
sed 's/timeout = .*/timeout = "60s"/' microtome.toml >long.toml
timeout -s INT 3 "$HR" suite run --only hangs -o stopped long.toml >out 2>err
is 'interrupted' "$?.$(cat err).$(ls stopped/results.json 2>/dev/null)" '124.hr: ended by Interrupt.'
done_testing
