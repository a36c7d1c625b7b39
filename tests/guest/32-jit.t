#!/bin/sh
# Names of code made at run time: perf maps of node and Java, jitdumps with lines.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
programs=$ROOT/tests/programs
export HOME=/root

# profile [OPTION...]: rows "samples function object line" of hr.bin, largest first.
profile() {
    "$HR" report --format json "$@" hr.bin 2>/dev/null |
        jq -r '.rows[] | "\(.self.samples) \(.function) \(.object) \(.line // 0)"' >rows
}

# samples REGEX: of the rows whose text matches.
samples() {
    grep -E "$1" rows | awk '{ n += $1 } END { print n + 0 }'
}

share() { awk -v a="$1" -v b="$2" 'BEGIN { print (a + b ? a / (a + b) : 0) }'; }

ok 'a program that makes code: it compiles' gcc -O1 -Wall -o jitdump "$programs/jitdump.c"
./jitdump >native && rm -f /tmp/jit-*.dump
run_guest -q -i 1us ./jitdump
is 'jitdump: it runs' "$status" 0
same_file 'jitdump: its output is that of a native run' out native
is 'jitdump: nothing is said to be lost' "$(cat err)" ''
ok 'jitdump: the trace is whole' "$HR" check hr.bin
profile
like 'jitdump: a function has its name' rows '^[0-9]+ made_hot jit-[0-9]+\.dump'
within 'jitdump: it has the share of its loop' "$(share "$(samples ' made_hot ')" "$(samples ' made_(cool|later) ')")" 0.66 0.67
within 'jitdump: code has its name at its time' "$(samples ' made_cool ')" 1995 2005
within 'jitdump: and what took its place later' "$(samples ' made_later ')" 995 1005
"$HR" export folded hr.bin -o folded 2>/dev/null
like 'jitdump: in exports, too' folded '^made_cool [0-9]+$'
profile --by line
within 'jitdump: lines' "$(samples ' made_hot .* 11$')" 5900 6100
"$HR" dump --format records hr.bin >records
like 'hr dump shows the file' records 'jit-file number=0 kind=2 pid=[0-9]+ bytes=[0-9]+ text="/tmp/jit-[0-9]+\.dump"'
run_guest -q -i 1us --keep-files kept ./jitdump
is 'the file is kept, too' "$(find kept -name 'jit-*.dump' | wc -l)" 1

# Two programs with code at the same addresses, and a child of each that has its parent's code.
sed 's/made_/other_/g' "$programs/jitdump.c" >other.c
ok 'another one with other names: it compiles' gcc -O1 -Wall -o other other.c
run_guest -q -i 1us sh -c './jitdump; ./other'
is 'two processes: they run' "$status" 0
ok 'two processes: the trace is whole' "$HR" check hr.bin
profile
for kind in made other; do
    within "two processes: ${kind}_hot has its samples" "$(samples " ${kind}_hot ")" 5900 6100
    within "two processes: ${kind}_cool likewise" "$(samples " ${kind}_cool ")" 1995 2005
done
"$HR" report --by process,function -f csv -n 0 hr.bin 2>/dev/null | grep -cE '(jitdump,.*made_|other,.*other_)' >own
"$HR" report --by process,function -f csv -n 0 hr.bin 2>/dev/null | grep -E '(jitdump,.*other_|other,.*made_)' >wrong
is 'two processes: names are those of the process' "$(cat own).$(cat wrong)" 6.
"$HR" dump hr.bin | awk -F, '{ sub(/\+.*/, "", $6); n[$3 " " $6]++ } END { for (i in n) print i, n[i] }' >dumped
"$HR" export csv hr.bin -o samples.csv 2>/dev/null
awk -F, '{ sub(/\+.*/, "", $6); n[$3 " " $6]++ } END { for (i in n) print i, n[i] }' samples.csv >exported
for list in dumped exported; do
    is "two processes: $list, a sample has the name of its process's code at its time" \
        "$(grep -cE '^(1001 made|1002 other)_(hot (59|60)..|cool (199|200).|later (99.|100.))$' $list).$(grep -c _hot $list)" 6.2
done
for kind in made other; do
    "$HR" annotate ${kind}_hot hr.bin >annotated 2>/dev/null
    within "two processes: hr annotate ${kind}_hot counts its samples" "$(sed -n 's/,//g;s/^# \([0-9]*\) samples.*/\1/p' annotated)" 5900 6100
done
profile --by line
within 'two processes: lines' "$(samples ' other_hot .* 11$')" 5900 6100

if command -v node >/dev/null; then
    cp "$programs/hot.js" .
    node hot.js >native
    run_guest -q node --perf-basic-prof hot.js
    is 'node: status' "$status" 0
    same_file 'node: its output is that of a native run' out native
    profile
    like 'node: a hot function has its name' rows '^[0-9]+ (JS|LazyCompile):\*hotFunction [^ ]*/hot\.js:2:21 perf-[0-9]+\.map'
    within 'node: its share of both' "$(share "$(samples 'hotFunction')" "$(samples 'coolFunction')")" 0.73 0.80
    "$HR" export folded hr.bin -o folded 2>/dev/null
    like 'node: folded stacks have its name' folded 'hotFunction'
else
    skip 5 'node is not installed'
fi

if command -v javac >/dev/null; then
    cp "$programs/Hot.java" .
    ok 'Java: it compiles' javac Hot.java
    java -cp . Hot >native
    run_guest -q java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -Xbatch -XX:+UseSerialGC -cp . Hot
    is 'Java: status' "$status" 0
    same_file 'Java: its output is that of a native run' out native
    profile
    total=$(stat_of hr.bin .samples)
    like 'Java: a hot method has its name' rows '^[0-9]+ (int )?Hot[.:]+hotMethod'
    within 'Java: it is most of the run' "$(samples 'hotMethod')" $((total / 4)) "$total"
else
    skip 5 'Java is not installed'
fi

perf_python=
for candidate in "$(command -v python3.12)" "$(command -v python3.13)" "$HOME"/.pyenv/versions/3.1[23]*/bin/python3.1?; do
    [ "$(head -c 4 "$candidate" 2>/dev/null | tail -c 3)" = ELF ] && perf_python=$candidate && break
done
if [ -n "$perf_python" ]; then
    # functions are on stacks only where the interpreter has frame pointers; a trampoline is short, but it has samples
    run_guest -q -i 3us "$perf_python" -I -S -X perf "$programs/hot.py" 5
    is 'python -X perf: status' "$status" 0
    "$HR" dump --format records hr.bin >records
    like 'python -X perf: its map is in the trace' records 'jit-file number=0 kind=1 .*/tmp/perf-[0-9]+\.map'
    profile
    like 'python -X perf: its trampolines have the names of functions' rows '^[0-9]+ py::.* perf-[0-9]+\.map'
else
    skip 3 'there is no Python 3.12 or later: 3.11 has no -X perf'
fi
skip 1 'LuaJIT of Debian is built without support for perf (LUAJIT_USE_PERFTOOLS)'
done_testing
