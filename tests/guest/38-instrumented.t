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
within 'and how many scans there were' "$(sum scans)" 1 1e12
calls --cpus 1 "$program" recurse 1500
is 'depth beyond the stack is counted' "$(sum beyond)" 478
calls --cpus 2 "$program" threads 2000
is 'threads on two CPUs' "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed)))" 8007
calls --cpus 1 "$program" fork 1000
is 'a child has its own stack' "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed)))" 5
calls --cpus 1 "$program" crowd 140
is '140 threads at a time: those that have no place are counted' "$status $(sum refused)" '0 13'
is '140 threads at a time: each call of the others is seen or counted' "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed)))" 130
"$HR" latency hr.bin >latency.out
like '140 threads at a time: said' latency.out '^# 13 threads were more than can be observed at a time$'
for threads in 20 100; do
    calls --cpus 1 "$program" churn "$threads"
    is "$threads threads, one after another" \
        "$(($(awk '{ n += $2 + $3 } END { print n }' rows) + $(sum missed))) $(sum refused)" "$((3 + 2 * threads)) 0"
    "$HR" dump -f records hr.bin | sed -n 's/^  exit .*peak_memory_bytes=//p' >>peaks
done
within 'their stacks are given back' "$(tail -n 1 peaks)" 1 "$(($(head -n 1 peaks) + 400000))"
# The observer sees a call when its thread may sleep already: the time asleep is no time on a CPU.
cat >nap.c <<'C'
#include <time.h>
int main(void)
{
    for (int i = 0; i < 20; i++)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
}
C
gcc -O1 -static -finstrument-functions -o nap nap.c "$BUILD/libhr.a"
calls --cpus 1 ./nap
"$HR" latency -f json hr.bin | jq '.rows[] | select(.function == "main") | .spent_ns.sleep / .total_ns' >asleep
within 'observed: a program that sleeps is asleep' "$(cat asleep)" 0.5 1
# A shadow stack that lies: any contents, memory that comes and goes, children, and places that cannot be one.
cat >liar.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long words[4], state = 1;
static unsigned long any(void) { return state = state * 6364136223846793005u + 1442695040888963407u; }
static long tell(void *shadow, void *entries)
{
    unsigned long calls[2] = {(unsigned long)shadow, (unsigned long)entries};
    return syscall(0x4872, 9, calls, 0);
}
static void lie(char *area, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        unsigned long *entry = (unsigned long *)area + 4 * (any() >> 40) % 4096;
        if (any() >> 60 == 0)
            madvise(area + 4096 * (any() >> 61), 4096, MADV_DONTNEED);
        entry[0] += any() >> 62;
        entry[1] = any() >> 48;
        entry[2] = any() >> 52;
        words[0] = any() >> 63 ? (unsigned long)area + 32 * (any() >> 53) : any() >> (any() >> 58);
        words[3] = any() >> 60;
    }
}
int main(void)
{
    char *area = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *bad[] = {0, area + 8, (char *)0x7ffffffff000, (char *)-4096, (char *)0xffffffff80000000};
    for (int i = 0; i < 5; i++)
        printf("%ld ", tell(words, bad[i]));
    printf("%ld ", tell((char *)words + 4, area));
    printf("%ld ", tell((char *)-64, area));
    printf("%ld ", syscall(0x4872, 9, 8, 0));
    printf("%ld ", tell(words, area));
    printf("%ld\n", tell(words, area));
    fflush(stdout);
    for (int round = 0; round < 15; round++) {
        lie(area, 8000);
        if (fork() == 0) {
            lie(area, 8000);
            munmap(area, 65536);
            _exit(0);
        }
        munmap(area, 65536);
        mmap(area, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        wait(0);
    }
    munmap(area, 65536);
    puts("told");
    return 0;
}
C
cc -O1 -static -o liar liar.c || exit 1
run_guest -q --accel tcg --mode latency --cpus 1 --timeout 200s ./liar
is 'lies: what cannot be is refused' "$status $(head -n 1 out)" '0 -1 -1 -1 -1 -1 -1 -1 -1 3 -1'
is 'lies: the program ends as usual' "$(tail -n 1 out)" told
ok 'lies: the trace is right' "$HR" check hr.bin
# On a machine that is busy enough the observer comes when nothing looks like a call.
can_be_read() { "$HR" latency hr.bin >out 2>err || grep 'no function with hooks was called' err; }
ok 'lies: it can be read' can_be_read
# Memory that was never touched says nothing of the calls in it, neither before a fork nor in the child, where they end.
sed '/^int main/,$d' liar.c >unseen.c
cat >>unseen.c <<'C'
int main(void)
{
    char *area = mmap(0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tell(words, area);
    words[0] = (unsigned long)area + 32 * 100;
    if (fork() == 0) {
        words[0] = (unsigned long)area;
        usleep(1000);
        _exit(0);
    }
    wait(0);
    puts("told");
    return 0;
}
C
cc -O1 -static -Wno-unused-function -o unseen unseen.c || exit 1
run_guest -q --accel tcg --mode latency --cpus 1 ./unseen
is 'calls that nothing is known of: the program ends as usual' "$status $(cat out)" '0 told'
"$HR" check hr.bin >check.out
like 'calls that nothing is known of make no hits' check.out '^hr.bin: complete: .* 0 samples, 0 lost$'
done_testing
