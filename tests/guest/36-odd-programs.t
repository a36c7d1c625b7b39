#!/bin/sh
# Probes in programs that do odd things: exceptions, code that changes, breakpoints of their own, files that change; all
# kinds of places at once; 100,000 points; a ring that is full.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}

# rows_of [OPTION...] -- PROGRAM...: a run with a trace; its rows "function calls left unknown" are in the file rows.
rows_of() {
    run_guest -q --accel tcg "$@"
    "$HR" latency -f csv hr.bin 2>/dev/null | awk -F, 'NR > 1 { print $1, $4, $5, $6 }' >rows
}

row() { sed -n "s/^$1 //p" rows; }

# hits FUNCTION: what the hits of a function or place say, one a line.
hits() { "$HR" dump -f records hr.bin | sed -n "s/^  hit time=.* \([a-z]*\) function=\"$1\" .*arguments=\(.*\)/\1 \2/p"; }

g++ -O1 -g -I"$ROOT" -o odd "$ROOT/tests/programs/odd.cc" "$BUILD/libhr.a" || exit 1
./odd >native
line=$(sed -n '/passes \*\//=' "$ROOT/tests/programs/odd.cc")
in_loop=0x$(objdump -d odd --disassemble=steps | sed -n 's/^ *\([0-9a-f]*\):.*sub .*,%rdi.*/\1/p')
run_guest -q --accel tcg -i 1us ./odd
"$HR" dump --format csv hr.bin >plain.csv
rows_of -i 1us --probe-args 2 --probe catches --probe again --probe throws --probe passes --probe patched --probe steps \
    --probe on_trap --probe libc:wait --probe "odd.cc:$line" --probe "$in_loop" --probe passes+0x7 ./odd
same_file 'the output' out native
ok 'the trace is right' "$HR" check hr.bin
"$HR" dump --format csv hr.bin >probed.csv
same_file 'samples are those of a run without probes' probed.csv plain.csv
is 'exceptions leave functions' "$(row throws) $(row again)" '0 70 0 0 5 0'
"$HR" latency --by request -f csv hr.bin >requests
is 'and end the requests of the objects that they leave' "$(sed 1d requests | cut -d, -f1-4)" 5,0,0,0
run_hr latency --request 18446744073709551613 hr.bin
like 'a request of a large number, with what it calls' out '^  \+[0-9.]+ ns +[0-9.]+ us +thread 1000    throws, which '
is 'and the one that catches them returns' "$(row catches)" '10 0 0'
is 'a function has probes until the program writes to its page' "$(row patched)" '1 0 0'
is 'single steps: the handler of SIGTRAP is probed, too' "$(row on_trap)" "$((4 + $(sed -n 's/ steps.*//p' native))) 0 0"
is 'a function of a library' "$(row wait)" '1 0 0'
is 'a source line in a loop' "$(hits "odd.cc:$line" | wc -l)" 20
is 'an address: an instruction of a loop' "$(hits "$in_loop" | wc -l)" 3
is 'a place has the registers that it finds' "$(hits "$in_loop" | tr '\n' ' ')" "$(hits steps | sed -n '1s/entered 0x2,/reached 0x2,/p') $(
    hits steps | sed -n '1s/entered 0x2,/reached 0x1,/p') $(hits steps | sed -n '1s/entered 0x2,/reached 0x0,/p') "
is 'an instruction of a function, as often as it is called' "$(hits 'passes+0x7' | wc -l)" 20
is 'arguments' "$(hits passes | sed -n 's/entered //p' | tail -n 2 | tr '\n' ' ')" '0x708,0xffffffffffffffee 0x76c,0xffffffffffffffed '
is 'results' "$(hits passes | sed -n 's/returned \(.*\),0x0/\1/p' | tail -n 2 | tr '\n' ' ')" '0x71a 0x77f '
for options in '--cpus 2 --probe catches --probe passes' '--probe @all --probe libc:wait'; do
    # shellcheck disable=SC2086
    rows_of $options ./odd
    same_file "$options: the output" out native
    is "$options: calls" "$(row catches), $(row passes)" '10 0 0, 20 0 0'
done

# A file that the program writes, or replaces by another one, once it was probed; then as it was.
cat >opens.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *library = dlopen("./libmore.so", RTLD_NOW);
    int (*more)(int) = library ? (int (*)(int))dlsym(library, "more") : 0;
    printf("%d\n", more ? more(1) + more(2) : -1);
    return 0;
}
END
cat >change.sh <<'END'
./opens
cat libother.so >libmore.so; ./opens
cat libsame.so >libmore.so; ./opens
cp libother.so new.so; mv new.so libmore.so; ./opens
cp libsame.so new.so; mv new.so libmore.so; ./opens
END
gcc -O1 -o opens opens.c && echo 'int more(int n) { return n + 1; }' | gcc -O1 -fPIC -shared -x c -o libmore.so - &&
    echo 'int less(int n) { return 3 * n; } int more(int n) { return less(n + 1); }' | gcc -O0 -fPIC -shared -x c -o libother.so - &&
    cp libmore.so libsame.so || exit 1
rows_of --probe ./libmore.so:more sh change.sh
is 'a file that changes: what it does' "$(tr '\n' ' ' <out)" '5 15 5 15 5 '
is 'a file that changes: probes where it is as it was' "$(row more)" '6 0 0'
like 'a file that changes: said' err 'libmore\.so is not the file that hr read: where it differs there are no probes$'

# 100,000 points, of which threads on two CPUs reach new pages at the same time.
awk 'BEGIN { print ".text"
    for (i = 0; i < 50000; i++) printf ".type f%d, @function\nf%d: mov $%d, %%eax\nret\n.size f%d, . - f%d\n", i, i, i, i, i
    print ".data\n.globl all\nall:"
    for (i = 0; i < 50000; i++) print ".quad f" i
    print ".section .note.GNU-stack" }' >many.s
cat >many.c <<'END'
#include <pthread.h>
#include <stdio.h>
extern unsigned (*const all[50000])(void);
static pthread_barrier_t together;
static void *run(void *sum)
{
    pthread_barrier_wait(&together);
    for (int i = 0; i < 50000; i += 4)
        *(unsigned long *)sum += all[i]();
    return NULL;
}
int main(void)
{
    unsigned long sums[2] = {0};
    pthread_t threads[2];
    pthread_barrier_init(&together, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, &sums[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %lu\n", sums[0], sums[1]);
    return 0;
}
END
gcc -O1 -no-pie -pthread -o many many.s many.c || exit 1
rows_of --cpus 2 --mode off --probe 'f[0-9]*' --probe main ./many
is '100,000 points: the program' "$(cat out)" '312475000 312475000'
is '100,000 points' "$("$HR" stat --json hr.bin | jq -r '[.probes.functions > 50000, .probes.points > 100000] | join(" ")')" 'true true'
# A thread that executes a page while another one gets its probes placed may pass some of them.
within '100,000 points: calls' "$(($(awk '{ n += $2 } END { print n }' rows) + $(stat_of hr.bin .lost) / 2))" 24000 25001

# A program that calls faster than the service CPU writes.
rows_of --cpus 1 --mode off --probe asm_spin "$WORKLOADS/probed" calls 200000
is 'a full ring: each hit is recorded or counted' "$(stat_of hr.bin '.probes.hits + .lost')" 400000
is 'a full ring: calls of which a part is missing are no calls' \
    "$("$HR" latency -f json hr.bin | jq '.strays + (.rows[] | 2 * .calls + .left + .unknown)')" "$(stat_of hr.bin .probes.hits)"
done_testing
