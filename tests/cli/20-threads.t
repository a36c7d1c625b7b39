#!/bin/sh
# Readers print the same with several threads as with one: whole traces, damaged ones, and those whose metadata changes.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/many.sh"

"$TOOLS/gentrace" --cpus 4 --threads 3 --turn 900 --chunk 16384 --marks --elf "$WORKLOADS/phases" 30000 threads.bin || exit 1
"$TOOLS/gentrace" --cpus 2 --turn 900 --chunk 65536 --process "$WORKLOADS/calls" --process - --stacks fp \
    --elf "$WORKLOADS/phases" 30000 processes.bin || exit 1
head -c 140000 threads.bin >cut.bin
{ head -c 90000 threads.bin && printf 'damage' && tail -c +90007 threads.bin; } >payload.bin
{ head -c 120000 processes.bin && tail -c +150000 processes.bin; } >hole.bin
# metadata again after half of the samples, which another run's sampling follows
{ cat threads.bin "$ROOT/tests/golden/events13.bin" processes.bin; } >joined.bin
for seed in 1 2 3 4 5 6; do
    "$TOOLS/mutate" $seed processes.bin mutated-$seed.bin || exit 1
done

# same TRACE ARG...: one thread, and three, print the same and end the same.
same() {
    trace=$1
    shift
    for jobs in 1 3; do
        to=jobs-$jobs run_hr "$@" --jobs $jobs "$trace"
        { cat err; echo "$status"; } >>jobs-$jobs
    done
    same_file "$trace: $*" jobs-3 jobs-1
}

for trace in threads.bin processes.bin; do
    for command in stat timeline 'timeline --per thread --format csv' 'hist --of interval --of cycles' 'noise --format csv' \
        dump 'dump --from 1ms --to 4ms --cpu 1' 'dump --format records' 'diff threads.bin' 'diff --by line --min 1% threads.bin' \
        'export csv -o -' 'export folded -o -' 'export hrperf -o -' 'export callgrind -o -' 'export firefox -o -' \
        'export perfetto -o -' 'export pprof -o -' 'plot -p timeline -o -' 'plot -p functions -o -' 'view -o -' 'view --from 1ms --to 4ms -o -'; do
        # shellcheck disable=SC2086
        same $trace $command
    done
done
# perf.data is not written to a pipe
for trace in threads.bin processes.bin; do
    for jobs in 1 3; do
        "$HR" export perf --jobs $jobs -o $jobs.perf.data $trace 2>/dev/null || exit 1
    done
    same_file "$trace: export perf" 3.perf.data 1.perf.data
done
for trace in cut.bin payload.bin hole.bin joined.bin mutated-*.bin "$ROOT"/tests/golden/*.bin; do
    same "$trace" dump --format records
    same "$trace" dump --from 1us --to 3ms
    same "$trace" diff threads.bin
    same "$trace" view -o -
done
# ---- chunks that a thread added up before their turn: those with damage, parts of them, and tables that become full ----
"$TOOLS/gentrace" --cpus 2 --threads 2 --stacks fp --chunk 65536 200000 many.bin && "$TOOLS/mutate" 2 many.bin mutated-many.bin &&
    "$TOOLS/gentrace" --cpus 2 --liar --process - --process - 30000 liar.bin || exit 1
for trace in cut.bin payload.bin hole.bin joined.bin mutated-1.bin mutated-many.bin liar.bin "$ROOT"/tests/golden/triggers.bin; do
    for format in folded callgrind pprof; do
        same "$trace" export $format -o -
    done
done
for trace in processes.bin payload.bin; do
    for format in 'folded --weight cycles' callgrind pprof; do
        for part in '--from 1ms --to 4ms' '--cpu 1'; do
            # shellcheck disable=SC2086
            same $trace export $format $part -o -
        done
    done
done
for format in folded callgrind pprof; do
    same many.bin export $format -o -
done
"$HR" export pprof --jobs 3 -o - many.bin | gzip -dc >profile
ok 'more rows than the table has' [ "$(protoc --decode=pprof.Profile -I "$ROOT/tests/export" profile.proto <profile |
    grep -c '^sample {')" -gt 131072 ]

"$HR" dump --format records --jobs 3 payload.bin >out 2>&1
like 'one chunk is damaged' out '^damage .*checksum does not match'

# ---- every walk of a command has the threads of --jobs: two more each ----
cat >started.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static unsigned count;
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    count++;
    return ((int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create"))(
        thread, attributes, start, argument);
}
static __attribute__((destructor)) void tell(void) { fprintf(stderr, "started %u\n", count); }
END
gcc -shared -fPIC -o started.so started.c -ldl && "$TOOLS/genallocs" 10000 allocations.bin &&
    "$TOOLS/genaccesses" --many 100000 accesses.bin && "$TOOLS/genprobes" --many 10000 probes.bin || exit 1
while read -r count trace command; do
    # shellcheck disable=SC2086
    LD_PRELOAD=./started.so "$HR" $command --jobs 3 "$trace" >/dev/null 2>err
    is "$trace: $command: threads" "$(sed -n 's/^started //p' err)" "$count"
    # shellcheck disable=SC2086
    same "$trace" $command
done <<END
2 threads.bin timeline
4 threads.bin diff threads.bin
2 threads.bin plot -p timeline -o -
4 threads.bin plot -p functions -o -
8 allocations.bin plot -p memory -o -
4 allocations.bin stat
6 allocations.bin memory
17 allocations.bin view -o -
9 accesses.bin view -o -
8 probes.bin latency
8 probes.bin export perfetto -o -
END
done_testing
