#!/bin/sh
# Functions and lines of Python, from the interpreter's frames: hr run --python.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
export LC_ALL=C.UTF-8
program=$ROOT/tests/programs/hot.py
python=/usr/bin/python3
[ -x $python ] || skip_all "$python is not installed"
"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || skip_all "$python is of another version than 3.11 to 3.13"
cp "$program" hot.py
mkdir own && cp hot.py own # which has the same names in every run

# by_python [OPTION...]: rows "samples function line" of the trace $trace.
trace=hr.bin
by_python() {
    "$HR" report --format json "$@" "$trace" 2>/dev/null |
        jq -r '.rows[] | "\(.self.samples) \(.function) \(.line // 0)"'
}

# samples FUNCTION [LINE]: how many samples are there, by the rows in `rows`.
samples() {
    awk -v f="$1" -v l="${2:-0}" '$2 == f && $3 == l { n += $1 } END { print n + 0 }' rows
}

share() { awk -v a="$1" -v b="$2" 'BEGIN { print (a + b ? a / (a + b) : 0) }'; }

"$python" hot.py 30 >native
interval=11213ns # not a multiple of what a turn of a loop takes
run_guest -q -i $interval --python "$python" own/hot.py 30
is 'it runs' "$status" 0
same_file 'its output is that of a native run' out native
ok 'the trace is whole' "$HR" check hr.bin
"$HR" dump --format csv hr.bin >python.csv

by_python --by python >rows
hot=$(samples hot) cool=$(samples Worker.cool)
within 'a function has the share of its loop' "$(share "$hot" "$cool")" 0.79 0.81 # 120000 turns, a thread's 30000 among them, to 30000
total=$(stat_of hr.bin .samples)
is 'every sample counts once' "$(awk '{ n += $1 } END { print n }' rows)" "$total"
for turn in 0 1 2 3 4 5 6 7 8 9 10 11; do
    # 2000 turns of an empty loop take more than 40 us: three samples at least
    [ "$(samples made_$turn)" -ge 2 ] || echo "made_$turn: $(samples made_$turn)"
done >missing
is 'a freed function does not lend its name to the next one' "$(cat missing)" ''
within 'C code belongs to the Python function that called it' "$(samples packed)" 50 100000
by_function=$("$HR" report --format json --no-total hr.bin 2>/dev/null |
    jq -r '[.rows[] | select(.object | test("libz")) | .self.samples] | add')
within 'it is all of the C code' "$(samples packed)" "$by_function" "$((by_function + 20))"
like 'names are UTF-8' rows '^[0-9]+ größe'
like 'nested functions have their qualified names' rows 'main.<locals>.<lambda>'

by_python --by python-line >rows
first=$(samples hot 10) second=$(samples hot 11)
within 'two lines that do the same have the same share' "$(share "$first" "$second")" 0.45 0.55
within 'they are most of their function' "$((first + second))" "$((hot * 6 / 10))" "$hot"
is 'a function has samples in its own lines alone' \
    "$(awk '$2 == "hot" && ($3 < 7 || $3 > 12)' rows)" ''
is 'the line of a call has what C code took' "$([ "$(samples packed 25)" -ge "$by_function" ] && echo yes)" yes
"$HR" report --by python-line hr.bin >table 2>/dev/null
like 'the table says the file' table "hot\\.py:10 +hot"

"$HR" report --by thread,python --format json hr.bin 2>/dev/null |
    jq -r '.rows[] | select(.function == "hot") | .thread' >threads
is 'each thread has its own frames' "$(wc -l <threads)" 2
"$HR" report --stacks --format csv hr.bin >tree.csv 2>/dev/null
like 'the tree of calls goes from Python to C' tree.csv ',packed,hot.py'
"$HR" export folded hr.bin -o folded >/dev/null 2>&1
like 'folded stacks have callers of Python' folded '^<module>;main;Worker.cool;'
"$HR" dump --format records hr.bin >records
like 'hr dump shows code objects' records 'python-code start=0x5059[0-9a-f]* .*name="Worker.cool" file="[^"]*hot.py"'
run_hr plot -p functions hr.bin -o flame.svg
like 'the flame graph has functions of Python' flame.svg 'Worker\.cool'
run_hr view hr.bin -o page.html
is 'the page is written' "$status" 0

run_guest -q -i $interval "$python" own/hot.py 30
"$HR" dump --format csv hr.bin >plain.csv
same_file 'frames change neither samples nor their times' plain.csv python.csv
run_hr report --by python hr.bin
is 'a trace without frames says how to record them' "$status.$(cat err)" \
    "1.hr: hr.bin: the samples say nothing of Python; record it with 'hr run --python'"

# An interpreter that another program starts, twice at the same addresses, and forks of one.
sed 's/\bhot\b/warm/g' hot.py >warm.py
run_guest -q -i $interval --python sh -c "$python -I -S hot.py 30 & $python -I -S warm.py 30; wait"
is 'a shell starts it twice: it runs' "$status" 0
by_python --by python >rows
within 'the first has its names' "$(share "$(samples hot)" $(($(samples Worker.cool) / 2)))" 0.79 0.81
within 'and the second' "$(samples warm)" $(($(samples hot) * 97 / 100)) $(($(samples hot) * 103 / 100))
"$HR" report --by process,python --format json -n 0 hr.bin 2>/dev/null |
    jq -r '.rows[] | select(.function == "hot" or .function == "warm") | "\(.pid) \(.function)"' | sort >whose
is 'each process has its own' "$(cut -d' ' -f2 whose | tr '\n' ' ')$(cut -d' ' -f1 whose | sort -u | wc -l)" 'hot warm 2'
cat >forks.py <<'END'
import os

def turn(n):
    for _ in range(n):
        pass

def child():
    turn(90000)

if os.fork() == 0:
    child()
    os._exit(0)
os.wait()
turn(30000)
END
run_guest -q -i $interval --python "$python" -I -S forks.py
is 'fork: it runs' "$status" 0
"$HR" report --by process,python --format json hr.bin 2>/dev/null |
    jq -r '.rows[] | select(.function == "turn") | .self.samples' >turns
within 'fork: both processes have their frames' "$(share "$(sed -n 1p turns)" "$(sed -n 2p turns)")" 0.74 0.76

run_guest -q --python "$WORKLOADS/hello"
is 'a program that is not Python is refused' "$status.$(sed 's/ CPython.*//' err)" \
    '125.hr: --python: neither the program nor its libraries are'
run_guest -q --python -g "$python" hot.py 1
is 'one kind of call stacks' "$status.$(cat err)" \
    '125.hr: --call-graph: a sample has call stacks of one kind, and --python is one; leave one of the two out'

# A program of each other version, not pyenv's script that starts one.
for version in 3.12 3.13; do
    other=
    for candidate in "$(command -v python$version)" "$HOME"/.pyenv/versions/$version.*/bin/python$version; do
        [ "$(head -c 4 "$candidate" 2>/dev/null | tail -c 3)" = ELF ] && other=$candidate && break
    done
    if [ -z "$other" ]; then
        skip 3 "there is no CPython $version"
        continue
    fi
    run_guest -q -i $interval --python "$other" -I -S hot.py 30
    same_file "CPython $version: the output of a native run" out native
    by_python --by python >rows
    within "CPython $version: a function has the share of its loop" \
        "$(share "$(samples hot)" "$(samples Worker.cool)")" 0.77 0.83
    by_python --by python-line >rows
    # the loop of some versions keeps step with the samples for a while: one line then has more of them
    within "CPython $version: two lines that do the same have the same share" \
        "$(share "$(samples hot 10)" "$(samples hot 11)")" 0.40 0.60
done

# Two CPUs, in virtual time, where no host decides when samples are taken. Few points, so that hardly one is left out for its cost.
run_cpus 2 "$python" -q --qemu "$ROOT/tests/tools/virtual.sh" --python -i 250007ns --max-overhead 90% -- -I -S hot.py 60
is 'with two CPUs it runs' "$status" 0
by_python --by python >rows
within 'a function has the share of its loops' "$(share "$(samples hot)" "$(samples Worker.cool)")" 0.75 0.81 # 210000 turns to 60000
"$HR" report --by thread,python --format json -n 0 hr.bin 2>/dev/null |
    jq '[.rows[] | select(.function == "hot" and .thread != 1000) | .self.samples] | add' >other
within 'and so has the other thread' "$(awk -v all="$(samples hot)" '{ print $1 / all }' other)" 0.12 0.17 # 30000 of these
done_testing
