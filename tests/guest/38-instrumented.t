#!/bin/sh
# Instrumented programs: libhr's hooks record each call where one CPU does everything, and the service CPU observes them elsewhere.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
program=$WORKLOADS/instrumented

# calls [OPTION...] CASE [N]: a run; its rows "function calls left median max" are in the file rows.
calls() {
    run_guest -q --accel tcg --mode latency "$@"
    "$HR" latency --format json hr.bin 2>latency.err |
        jq -r '.rows[] | "\(.function) \(.calls) \(.left) \(.median_ns) \(.max_ns)"' | sort >rows
    "$HR" dump -f records hr.bin | grep '^  calls ' | tr ' ' '\n' >sums
}

row() { sed -n "s/^$1 //p" rows; }
sum() { sed -n "s/^$1=//p" sums; }
instructions() { stat_of hr.bin '.events[0].total'; }

# The instructions of a hook on its usual way: from its symbol to the first return.
hook() { objdump -d --no-show-raw-insn "$1" | sed -n "/<__cyg_profile_func_$2>:/,/ret/p" | grep -c '^ '; }

is 'a call and its return take 14 instructions' "$(($(hook "$program" enter) + $(hook "$program" exit)))" 14

# One CPU: exact.
"$program" outer 1000 >native
calls "$program" outer 1000
is 'the program runs' "$status" 0
same_file 'its output is that of a native run' out native
ok 'the trace is right' "$HR" check hr.bin
is 'each call is there' "$(cut -d' ' -f1-3 rows | tr '\n' ' ')" 'leaf 2 0 main 1 0 outer 1 0 run_case 1 0 '
is 'durations are exact' "$(row leaf | awk '{ print $4 - $3 }')" 2000
cp rows first
calls "$program" outer 1000
same_file 'and equal in every run' rows first
is 'the trace has a time of every hit' "$("$HR" dump -f records hr.bin | grep -c '^  hit ')" 10

calls "$program" calls 1000
is 'a thousand calls' "$(row empty | cut -d' ' -f1,2)" '1000 0'
is 'all equally long' "$(row empty | awk '{ print $4 - $3 }')" 0
thousand=$(instructions)
calls "$program" calls 2000
two_thousand=$(instructions)
run_guest -q --accel tcg --mode off "$program" calls 1000
without=$(instructions)
run_guest -q --accel tcg --mode off "$program" calls 2000
is 'where they are recorded, hooks take 14 more instructions a call than where they are ignored' \
    "$((two_thousand - thousand - $(instructions) + without))" 14000
calls "$program" recurse 100
is 'recursion' "$(row recurse | cut -d' ' -f1,2)" '100 0'
calls "$program" recurse 1500
is 'as deep as a stack is' "$(row recurse | cut -d' ' -f1,2)" '1022 0'
is 'what is deeper is counted' "$(sum beyond) $(sum strays)" '478 0'
calls "$program" longjmp 3
is 'longjmp leaves calls' "$(row thrower | cut -d' ' -f1,2)" '0 33'
is 'and those around them return' "$(row catcher | cut -d' ' -f1,2) $(row leaf | cut -d' ' -f1,2)" '3 0 3 0'
calls "$program" threads 50
is 'threads' "$(row leaf | cut -d' ' -f1,2) $(row run_thread | cut -d' ' -f1,2)" '200 0 4 0'
calls "$program" fork 500
is 'a child of fork' "$(row leaf | cut -d' ' -f1,2) $(row main | cut -d' ' -f1,2)" '2 0 1 0'
calls "$program" signals 5
is 'handlers of signals' "$(row on_signal | cut -d' ' -f1,2) $(row empty | cut -d' ' -f1,2)" '5 0 5 0'
calls "$WORKLOADS/hello"
like 'a program without hooks has no calls' latency.err 'no function with hooks was called; build .*-finstrument-functions'
run_guest --mode latency --probe main "$program" calls
is 'probes are another way' "$status" 125
like 'and say so' err '^hr: --probe: --mode latency records the functions that have hooks; leave one of the two out'

# Position-independent, with a library that has hooks of its own and one that comes later.
cat >part.c <<'C'
void part(long n);
void part(long n) { for (volatile long i = 0; i < n; i++) ; }
C
cat >main.c <<'C'
#include <dlfcn.h>
void part(long n);
int main(void)
{
    void *later = dlopen("./later.so", RTLD_NOW);
    void (*f)(long) = later ? (void (*)(long))dlsym(later, "later") : 0;
    part(100);
    part(200);
    if (f)
        f(100);
    return !f;
}
C
cc -O2 -finstrument-functions -fPIC -shared -o libpart.so part.c &&
    sed 's/part/later/g' part.c | cc -O2 -finstrument-functions -fPIC -shared -x c -o later.so - &&
    cc -O2 -finstrument-functions -pie -o dynamic main.c -L. -lpart "$BUILD/libhr.a" -Wl,-rpath,"$work"
./dynamic
is 'elsewhere than under Microtome the hooks do nothing' $? 0
calls --file "$work/later.so" ./dynamic
is 'libraries, at any address' "$status $(cut -d' ' -f1-3 rows | tr '\n' ' ')" '0 later 1 0 main 1 0 part 2 0 '
if command -v clang >clang.path; then
    echo 'void part(long n); int main(void) { part(1); return 0; }' >short.c
    clang -O2 -finstrument-functions -o by-clang part.c short.c "$BUILD/libhr.a"
    calls ./by-clang
    is 'built by clang' "$(cut -d' ' -f1-3 rows | tr '\n' ' ')" 'main 1 0 part 1 0 '
else
    skip 1 'clang is not installed'
fi

# With a service CPU: observed.  Two CPUs of an emulator do not run at once everywhere, so scans may be far apart.
for case in outer recurse longjmp threads fork signals; do
    calls --cpus 1 "$program" "$case" 100
    "$program" "$case" 100 >native
    [ "$status" -eq 0 ] && cmp -s out native && "$HR" check hr.bin >check.out ||
        result 1 "observed: $case"
done
result 0 'observed programs run as others'
calls --cpus 1 "$program" calls 100000
is 'each call is seen or counted' \
    "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed)))" 100002
within 'the trace has the scan period' "$(sum scan_ticks)" "$(sum longest_ticks)" 1e12
calls --cpus 1 "$program" recurse 1500
is 'depth beyond the stack is counted' "$(sum beyond)" 478
calls --cpus 2 "$program" threads 2000
is 'threads on two CPUs' "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed)))" 8007
calls --cpus 1 "$program" fork 1000
is 'a child has its own stack' "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed)))" 5
calls --cpus 1 "$program" long 20 20000000
longest=$(stat_of hr.bin .calls.longest_ns)
row leaf | awk -v longest="$longest" '{ exit !($1 == 20 || 2 * longest > $3) }'
result $? 'no call longer than two periods is missed'
done_testing
