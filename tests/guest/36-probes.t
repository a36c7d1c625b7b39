#!/bin/sh
# Probes: every entry and return is recorded, whatever way a function is left by, and the program does not notice.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
probed=$WORKLOADS/probed
all='--probe asm_* --probe recursive --probe leaves --probe on_signal --probe in_thread --probe in_child'

# probe [OPTION...] -- PROGRAM...: a run with a trace; its rows "function calls left median total" are in the file rows.
probe() {
    run_guest -q "$@"
    "$HR" latency --format json hr.bin 2>/dev/null |
        jq -r '.rows[] | "\(.function) \(.calls) \(.left) \(.median_ns) \(.total_ns)"' | sort >rows
}

row() { sed -n "s/^$1 //p" rows; }

samples() { "$HR" dump --format csv "$1"; }

"$probed" >native
run_guest -q -i 1us "$probed"
mv hr.bin plain.bin
# shellcheck disable=SC2086
probe -i 1us $all "$probed"
is 'the program runs' "$status" 0
same_file 'its output is that of a native run' out native
is 'nothing is said' "$(cat err)" ''
ok 'the trace is right' "$HR" check hr.bin
samples plain.bin >plain.csv
samples hr.bin >probed.csv
same_file 'samples are those of a run without probes, to the instruction' probed.csv plain.csv
is 'so are the totals' "$(stat_of hr.bin '[.duration_ns, .events[0].total] | join(" ")')" \
    "$(stat_of plain.bin '[.duration_ns, .events[0].total] | join(" ")')"

# How often compute() calls each of them, 100 times in all; the times are instructions from the first to the last one.
is 'a function that is also the target of tail calls, in threads and children' "$(row asm_spin | cut -d' ' -f1,2)" '940 0'
is 'instructions relative to rip' "$(row asm_relative)" '100 0 3 300'
is 'a comparison relative to rip' "$(row asm_compare)" '100 0 3 300'
is 'a loop to the first instruction is one invocation' "$(row asm_loop)" '100 0 7 700'
is 'a tail call' "$(row asm_tail)" '140 0 0 0'
is 'a conditional tail call' "$(row asm_if)" '100 0 1 200'
is 'jrcxz' "$(row asm_count | cut -d' ' -f1-3)" '100 0 3'
is 'a jump table' "$(row asm_switch | cut -d' ' -f1-3)" '100 0 3'
is 'a jump through a register' "$(row asm_through)" '100 0 0 0'
is 'a jump through memory' "$(row asm_pointer)" '100 0 0 0'
is 'a call as the first instruction' "$(row asm_call)" '100 0 16 1600'
is 'a return as the only instruction' "$(row asm_return)" '100 0 0 0'
is 'recursion, on a stack that grows' "$(row recursive | cut -d' ' -f1,2)" '21 0'
is 'longjmp leaves invocations' "$(row leaves | cut -d' ' -f1,2)" '0 15'
is 'a handler of signals' "$(row on_signal | cut -d' ' -f1-3)" '100 0 6'
is 'an instruction that faults, and is executed again' "$(row asm_load | cut -d' ' -f1,2)" '3 0'
is 'threads' "$(row in_thread | cut -d' ' -f1,2)" '4 0'
is 'children, and the program that one executes' "$(row in_child | cut -d' ' -f1,2)" '4 0'

for options in '--cpus 1' '--cpus 3' '-g fp' '-g dwarf' '--probe-args 6' '--waits'; do
    # shellcheck disable=SC2086
    probe $options $all "$probed"
    same_file "$options: the output" out native
    is "$options: calls" "$(cut -d' ' -f1-3 rows | grep -E 'spin|switch|child|leaves|thread' | tr '\n' ' ')" \
        'asm_spin 940 0 asm_switch 100 0 in_child 4 0 in_thread 4 0 leaves 0 15 '
    ok "$options: the trace is right" "$HR" check hr.bin
done

# Samples at hits.
probe --mode instructed --probe asm_spin --probe-every 10 -g fp "$probed"
is '--probe-every: every tenth hit is a sample' "$(stat_of hr.bin .samples)" 94
"$HR" export folded hr.bin -o folded 2>/dev/null
like '--probe-every: with its stack' folded 'in_thread;asm_spin [0-9]+$'
probe --mode instructed --probe asm_seven --probe-stack "$probed"
is '--probe-stack: a sample at each entry' "$(stat_of hr.bin .samples)" "$(row asm_seven | cut -d' ' -f1)"

# A file that differs from the one that was decoded cannot be had by hr run; a library that is opened later can.
cat >later.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 20; i++) {
        void *library = dlopen("./libmore.so", RTLD_NOW);
        int (*more)(int) = library ? (int (*)(int))dlsym(library, "more") : 0;
        if (!more || more(i) != i + 1)
            return 1;
        dlclose(library);
    }
    puts("done");
    return 0;
}
END
echo 'int more(int n) { return n + 1; }' >more.c
ok 'a program that opens a library: it compiles' sh -c 'gcc -O1 -fPIC -shared -o libmore.so more.c && gcc -O1 -o later later.c'
probe --probe ./libmore.so:more ./later
is 'a library that is opened and closed again and again' "$(cat out; row more | cut -d' ' -f1,2)" "done
20 0"

# Debian's programs: functions of a library, its own and the C library's.
if command -v sqlite3 >/dev/null 2>&1 || [ -e "$BUILD/unpacked/usr/bin/sqlite3" ]; then
    sqlite=$(command -v sqlite3 || echo "$BUILD/unpacked/usr/bin/sqlite3")
    query='create table t(n); insert into t values (1),(2),(3); select sum(n) from t;'
    probe --probe 'libsqlite3*:sqlite3_step' --probe libc:malloc --probe libc:free "$sqlite" :memory: "$query"
    is 'sqlite3: its answer' "$(cat out)" 6
    within 'sqlite3: sqlite3_step' "$(row sqlite3_step | cut -d' ' -f1)" 4 100
    within 'sqlite3: malloc of the C library' "$(row malloc | cut -d' ' -f1)" 100 100000
else
    skip 3 'sqlite3 is not there'
fi
done_testing
