#!/bin/sh
# hr hist and hr noise: known distributions and gaps, formats, refusals.
. "$(dirname "$0")/../lib.sh"

# figure FILTER: of the JSON in the file out.
figure() { jq -c "$1" out; }

"$TOOLS/genviews" ipi ipi.bin || exit 1
run_hr hist --of interval --of cost --of lateness --of LLC-misses --of instructions --format json ipi.bin
is 'hist: intervals' "$(figure '.[0] | [.of, .unit, .count, .min, .p50, .p999, .max, (.buckets | length)]')" \
    '["interval","ns",1999,10000,10000,10000,10000,1]'
is 'hist: costs, in nanoseconds' "$(figure '.[1] | [.count, .min, .mean, .max]')" '[2000,60,60,60]'
is 'hist: nothing was late' "$(figure '.[2] | [.count, .max]')" '[2000,0]'
is 'hist: an event, with all values' "$(figure '.[3] | [.source, .count, .mean, .p50, .p90, .max, .buckets]')" \
    '["pmu",2000,0.9995,1,2,2,[{"from":0,"to":0,"count":667},{"from":1,"to":1,"count":667},{"from":2,"to":2,"count":666}]]'
is 'hist: a large event' "$(figure '.[4] | [.min, .max]')" '[10000,10000]'
run_hr hist --of LLC-misses --format csv ipi.bin
is 'hist: csv' "$(cat out)" 'of,unit,from,to,count
LLC-misses,events,0,0,667
LLC-misses,events,1,1,667
LLC-misses,events,2,2,666'
run_hr hist --of LLC-misses ipi.bin
like 'hist: figures' out '^  mean +0\.999$|^  mean +1\.000$'
like 'hist: bars' out '^ +2 +666 █+'
COLUMNS=40 "$HR" hist ipi.bin >narrow
is 'hist: a narrow terminal' "$(grep -v '^[a-z#]' narrow | perl -CS -ne 'chomp; $n++ if length > 40; END { print $n + 0 }')" 0
"$TOOLS/gentrace" 20000 big.bin || exit 1
run_hr hist --of cycles --format json big.bin
is 'hist: every sample is counted' "$(figure '[.[0].count, ([.[0].buckets[].count] | add)]')" '[20000,20000]'
run_hr hist --of interval --from 10ms --to 11ms --format json big.bin
within 'hist: a part of the trace' "$(figure '.[0].count')" 990 1001
is 'hist: bytes of the mean' "$(figure '.[0].min')" 1000

run_guest -q -i 10us busybox sleep 0.02
run_hr hist --of gap --of syscall:clock_nanosleep --of syscall:nanosleep --of syscall --format json hr.bin
within 'hist: the gap is the sleep' "$(figure '.[0].max')" 19990000 20010000
is 'hist: one gap' "$(figure '.[0].count')" 1
within 'hist: so is the call' "$(figure '[.[1].max, .[2].max] | max')" 1 4294967295
is 'hist: that call once' "$(figure '.[1].count + .[2].count')" 1
is 'hist: all calls' "$(figure '.[3].count')" "$("$HR" dump --format records hr.bin | grep -c '^  syscall')"
run_hr hist --of syscall:frobnicate hr.bin
is 'hist: no such call' "$status.$(cat err)" '2.hr: --of syscall:frobnicate: Linux has no such system call; write one as syscall:read'
run_hr hist --of frobs ipi.bin
is 'hist: no such thing' "$status.$(cat err)" \
    '2.hr: --of frobs: no such distribution and no event of the trace; choose interval, cost, lateness, syscall, syscall:NAME, gap, instructions:u, LLC-misses:u'
run_hr hist --of gap ipi.bin
is 'hist: nothing of that kind is no failure' "$status.$(grep -c 'did not run, 0 values' out)" 0.1
run_hr hist --from 1s ipi.bin
is 'hist: nothing selected' "$status.$(grep -c 'nothing is selected' err)" 1.1
"$HR" hist --format json ipi.bin >/dev/full 2>err
is 'hist: a full disk' "$?.$(grep -c 'free some space' err)" 1.1

run_hr noise --format json hr.bin
within 'noise: the sleep' "$(figure '.gaps[0].length_ns')" 19990000 20010000
is 'noise: its cause' "$(figure '[.virtual_time, .gaps[0].cause, .causes[0].cause, .causes[0].count]')" '[true,"sleep","sleep",1]'
within 'noise: its share' "$(figure '.causes[0].share')" 0.97 1
run_hr noise hr.bin
like 'noise: what virtual time means' out 'all here is the program.s own$'
like 'noise: table' out '^sleep +1 +(19|20)\.[0-9]+ ms .* the program slept$'
run_hr noise --min 1ms --format csv hr.bin
is 'noise: only long ones' "$(cut -d, -f3- out)" 'cpu,tid,cause,detail
0,1000,sleep,'
run_hr noise --min 1s hr.bin
is 'noise: none so long' "$status.$(tail -n 1 out)" '0.nothing: the program ran all the time'
run_hr noise ipi.bin
is 'noise: none on a quiet machine' "$status.$(tail -n 1 out)" '0.nothing: the program ran all the time'
is 'noise: no claim of virtual time' "$(grep -c 'virtual time' out)" 0
"$TOOLS/genviews" frequency frequency.bin || exit 1
run_hr noise frequency.bin
like 'noise: without a grid' out 'late samples cannot be told'
like 'noise: periods' out 'the sampling period changed 500 times'
run_hr noise --min 5 hr.bin
is 'noise: a time without a unit' "$status" 2
run_hr noise --from 1s ipi.bin
is 'noise: nothing selected' "$status.$(grep -c 'nothing is selected' err)" 1.1
# where threads waited: the call, and what the thread ran before, with its callers
cat >lock.c <<'END'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sink;
__attribute__((noinline)) static void spin(unsigned long n)
{
    while (n-- != 0)
        sink += n;
}
__attribute__((noinline)) static void hold_lock(void)
{
    pthread_mutex_lock(&mutex);
    spin(20000);
    usleep(50);
    pthread_mutex_unlock(&mutex);
}
static void *work(void *unused)
{
    for (int i = 0; i < 20; i++) {
        hold_lock();
        spin(5000);
    }
    return unused;
}
int main(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
END
ok 'a program with a lock' gcc -g -O1 -static -o lock lock.c
run_guest -q --accel tcg -g dwarf -i 5us -o lock.bin ./lock
run_hr noise lock.bin
like 'waits: for the lock, from where it is taken' out ' futex +.*(lock|spin)[^ ]* < (.* < )*hold_lock'
like 'waits: asleep with it' out ' clock_nanosleep +.* < hold_lock'
run_hr noise --format json lock.bin
# three threads, each sleeps 20 times for 50 us and more
is 'waits: json, the number of sleeps' "$(figure '[.waits[] | select(.call == "clock_nanosleep").count] | add')" 60
within 'waits: json, and their time' "$(figure '[.waits[] | select(.call == "clock_nanosleep").total_ns] | add')" 2900000 4000000
run_hr stat lock.bin
like 'waits: stat points to them' out " [0-9]+  waits +of threads; 'hr noise' says where$"
run_hr noise --min 10s lock.bin
is 'waits: none as long' "$(grep -c futex out)" 0
run_guest -q --accel tcg -i 5us -o plain.bin ./lock
run_hr noise plain.bin
like 'waits: without stacks the function alone' out ' clock_nanosleep +[^<]*$'
like 'waits: and how to have callers' out 'its callers: hr run -g'
run_hr report lock.bin
like 'waits: report points to them' out '^# [0-9]+ waits: hr report --waits lock.bin$'
run_hr report --waits --limit 0 lock.bin
like 'waits: report has the table' out ' clock_nanosleep +.* < hold_lock'
"$HR" noise --limit 0 lock.bin | sed -n '/^ *waits/,/^$/p' | sed '/^$/d' >noise.table
is 'waits: and it is the table of noise' "$(sed '/^$/d' out)" "$(cat noise.table)"
run_hr report --waits --sort cycles lock.bin
is 'waits: in one order' "$status.$(grep -c 'order of their totals' err)" 2.1
"$TOOLS/gentrace" 200 none.bin && run_hr report --waits none.bin
is 'waits: none' "$status.$(cat out)" '0.no thread waited'

done_testing
