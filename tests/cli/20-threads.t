#!/bin/sh
# Readers print the same with several threads as with one: whole traces, damaged ones, and those whose metadata changes.
. "$(dirname "$0")/../lib.sh"

"$TOOLS/gentrace" --cpus 4 --threads 3 --marks --elf "$WORKLOADS/phases" 200000 threads.bin || exit 1
"$TOOLS/gentrace" --cpus 2 --threads 5 --process "$WORKLOADS/calls" --process - --stacks fp \
    --elf "$WORKLOADS/phases" 200000 processes.bin || exit 1
head -c 1400000 threads.bin >cut.bin
{ head -c 300000 threads.bin && printf 'damage' && tail -c +300007 threads.bin; } >payload.bin
{ head -c 400000 processes.bin && tail -c +430000 processes.bin; } >hole.bin
# metadata again after half of the samples, which another run's sampling follows
{ cat threads.bin "$ROOT/tests/golden/events13.bin" processes.bin; } >joined.bin
for seed in 1 2 3 4 5 6; do
    "$TOOLS/mutate" $seed processes.bin mutated-$seed.bin || exit 1
done

# same TRACE ARG...: one thread, and three, print the same and end the same.
same() {
    trace=$1
    shift
    "$HR" "$@" --jobs 1 "$trace" >one 2>&1
    echo $? >>one
    "$HR" "$@" --jobs 3 "$trace" >three 2>&1
    echo $? >>three
    same_file "$trace: $*" three one
}

for trace in threads.bin processes.bin; do
    for command in stat timeline 'timeline --per thread --format csv' 'hist --of interval --of cycles' 'noise --format csv' \
        dump 'dump --from 1ms --to 4ms --cpu 1' 'dump --format records' 'diff threads.bin' 'export csv -o -' 'export folded -o -' \
        'export perfetto -o -' 'export pprof -o -' 'view -o -'; do
        # shellcheck disable=SC2086
        same $trace $command
    done
done
for trace in cut.bin payload.bin hole.bin joined.bin mutated-*.bin "$ROOT"/tests/golden/*.bin; do
    same "$trace" dump --format records
    same "$trace" dump --from 1us --to 3ms
done
"$HR" dump --format records --jobs 3 payload.bin >out 2>&1
like 'one chunk is damaged' out '^damage .*checksum does not match'
done_testing
