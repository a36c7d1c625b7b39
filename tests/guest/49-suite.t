#!/bin/sh
# hr suite: what it counts, the change that it names, limits, repeated runs, formats and pages, baselines in files and git;
# what else can change counts is named; programs that fail, wait and are interrupted; bad files.
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

run_hr pack --mode exact --accel tcg -o exact.cpio ./work
run_hr run -q --accel tcg --kernel "$KERNEL" -o packed.bin exact.cpio
"$HR" run -q --accel tcg --kernel "$KERNEL" --mode exact -o unpacked.bin ./work >/dev/null
is 'an archive that asks for exact counts' "$status $("$HR" diff -f json packed.bin unpacked.bin | jq -c '[.changes[] | select(.kind == "total") | .change] | unique')" '0 [0]'
run_hr pack --mode exact --target-cpu all -o bare.cpio ./work
like 'no bare machine has them' err '^hr: --mode exact: a bare machine cannot count so'

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

# Repeated runs: equal in virtual time, or else named; an interval elsewhere.
cat >grow.c <<'END'
#include <stdio.h>

int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen("grows", "r") : NULL;

    while (file != NULL && getc(file) != EOF)
        ;
    return argc > 2;
}
END
cc -O1 -static -o grow grow.c
printf '#!/bin/sh\ncase $* in *-machine*) echo >>"%s/grows" ;; esac\nexec "%s" "$@"\n' "$work" "${QEMU:-qemu-system-x86_64}" >emulator
chmod +x emulator
cat >repeat.toml <<END
[default]
options = ["--accel=tcg", "--kernel=$KERNEL"]
repeat = 2

[[benchmark]]
name = "same"
command = ["./grow"]

[[benchmark]]
name = "grows"
command = ["./grow", "file"]
options = ["--accel=tcg", "--kernel=$KERNEL", "--qemu=$work/emulator"]

[[benchmark]]
name = "hardware"
command = ["./grow"]
mode = "off"
options = ["--accel=tcg", "--kernel=$KERNEL", "--cpus=1"]
warmup = 1
limits = { instructions = "1 %" }
END
run_hr suite run -f json -o repeated repeat.toml
is 'repeated: one that differs fails' "$status $(jq -c '[.benchmarks[] | has("problem")]' out)" '2 [false,true,false]'
like 'repeated: says how' err '^hr: 2 of 3: grows: it is not deterministic: run 1 counted [0-9,]+ instructions, and run 2 [0-9,]+; most of that is in '
like 'repeated: a mean' err '^hr: 3 of 3: hardware: [0-9,]+ instructions, mean of 2 runs$'
is 'repeated: values of runs that vary alone' "$(jq -c '[.benchmarks[] | .events[0].values | length]' repeated/results.json)" '[0,0,2]'
is 'repeated: the trace of one' "$(find repeated -name '*.hr' | wc -l)" 3
run_hr suite run -q --only hardware --repeat 3 --warmup 0 -o thrice repeat.toml
is 'as many runs as the command says' "$(jq '.benchmarks[0].events[0].values | length' thrice/results.json)" 3
run_hr suite compare -f json repeated thrice
is 'an interval' "$(jq -c '.benchmarks[0].events[0] | [.runs, .change_low <= .after - .before, .least_change_seen >= 0]' out)" '[[2,3],true,true]'

# What can change the counts of one program.
cc -O1 -o dynamic -Wl,-rpath,"$work/lib" grow.c
mkdir lib
cp "$(ldd dynamic | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')" lib/libc.so.6
cat >facts.toml <<END
[[benchmark]]
name = "facts"
command = ["./dynamic"]
options = ["--accel=tcg", "--kernel=$KERNEL"]
END
facts() { # NAME REGEX
    run_hr suite run -q -o "$1" facts.toml
    run_hr suite compare usual "$1"
    like "$1: hr suite compare" out "^ +not the same: .*$2"
    run_hr diff usual/facts.hr "$1/facts.hr"
    like "$1: hr diff" out "^# not the same: .*$2"
}
run_hr suite run -q -o usual facts.toml
id=$(readelf -n lib/libc.so.6 | sed -n 's/.*Build ID: //p')
/usr/bin/python3 - "$id" <<'END'
import sys
data, old = open('lib/libc.so.6', 'rb').read(), bytes.fromhex(sys.argv[1])
open('lib/libc.so.6', 'wb').write(data.replace(old, bytes(b ^ 255 for b in old)))
END
facts 'another-libc' "libc\.so\.6 \($(echo "$id" | cut -c 1-12), [0-9a-f]{12}\)"
echo 'environment = { MORE = "variables" }' >>facts.toml
facts 'more-environment' 'bytes of the environment \([0-9]+, [0-9]+\)'
mkdir a-longer-path
mv dynamic a-longer-path
sed -i 's,./dynamic,a-longer-path/dynamic,' facts.toml
facts 'a-longer-path' 'length of the path \([0-9]+ bytes, [0-9]+ bytes\)'

# Formats.
run_hr suite compare -f markdown --link 'https://host/{}.html' main new
is 'markdown: the mark by which a comment is found' "$(head -n 1 out)" '<!-- microtome-suite -->'
like 'markdown: a row with a link' out '^\| ❌ \[`words`\]\(https://host/words.html\) \| `instructions` \| .* \| \+10,000 \| \+[0-9.]+ % \| `0\.5 %`, `\+100` \|$'
like 'markdown: the function' out '^\| `parse_value` \| 40,0.. \| 50,0.. \| \+10,000 \| \+25\.00 %'
jq '.benchmarks[0].problem = "a|b`c"' new/results.json >failed.json
run_hr suite show -f markdown failed.json
like 'markdown: code outside a table' out "^- ❔ .words. failed: .a[|]b'c.$"
if "$HR" view -o pages.html new/words.hr 2>/dev/null; then
    run_hr suite compare -f markdown --pages pages microtome-results new
    like 'pages: links to what is there' out '^\| ❌ \[`words`\]\(pages/words\.html\) \(\[diff\]\(pages/words\+diff\.html\)\) '
    is 'pages: those that changed' "$(ls pages)" "$(printf 'words+diff.html\nwords.html')"
    like 'pages: pages' pages/words+diff.html '<!doctype html>'
    rm -r pages
    run_hr suite compare -f markdown --pages pages --link 'https://host/{}.html' main new
    like 'pages: a base without traces' out '^\| ❌ \[`words`\]\(https://host/words\.html\) \| '
    rm -r pages
    run_hr suite compare --pages pages new new
    is 'pages: nothing changed' "$(ls pages)" ''
else
    skip 5 'the page is not built'
fi
run_hr suite compare --pages pages main new/results.json
is 'pages: no folder of traces' "$status $(cat err)" "2 hr: --pages: 'new/results.json' has no traces; name the folder of the results"
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
bad 'nothing to resume' 2 '^hr: --resume: runs on other machines alone continue' run --resume
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
