#!/bin/sh
# Random system calls, forged signal frames and forbidden instructions: the kernel survives them all.
. "$(dirname "$0")/../lib.sh"

for seed in 1 2 3; do
    run_guest --mode off --mem 128M "$WORKLOADS/sysfuzz" 20000 $seed
    is "seed $seed: the program came through" "$status" 0
    within "seed $seed: it made its calls" "$(sed -n 's/^calls //p' out)" 15000 20000
    within "seed $seed: it faulted" "$(sed -n 's/^faults //p' out)" 500 5000
    within "seed $seed: its memory came back" "$(sed -n 's/^lost memory \(.*\) KiB/\1/p' out)" 0 128
done

run_guest -i 1us --mem 128M "$WORKLOADS/sysfuzz" 2000 7
cp out first
run_guest -i 1us --mem 128M "$WORKLOADS/sysfuzz" 2000 7
same_file 'sampled, twice: the same results' first out
ok 'sampled: the trace is in order' "$HR" check hr.bin

run_guest --mode off --mem 32M "$WORKLOADS/sysfuzz-musl" 5000 4
ok 'with little memory: not a failure of Microtome' test "$status" -ne 125

# From several threads at once, with a look at what the calls wrote.
for seed in 1 2; do
    run_guest --mode off --mem 256M "$WORKLOADS/callfuzz" 20000 $seed 3
    is "threads, seed $seed: the program came through" "$status" 0
    is "threads, seed $seed: no address of the kernel was seen" "$(sed -n 's/^leaks //p' out)" 0
    within "threads, seed $seed: it made its calls" "$(sed -n 's/^calls //p' out)" 18000 20000
done
cp out first
run_guest --mode off --mem 256M "$WORKLOADS/callfuzz" 20000 2 3
same_file 'threads, twice: the same results' first out
if [ -n "${HR_TEST_LONG:-}" ]; then
    LIMIT=3600
    run_guest --mode off --mem 1G "$WORKLOADS/callfuzz" 10000000 4 4
    is '10 million calls from four threads: no leak, and not a failure of Microtome' \
        "$(grep -c ^leak: out) $([ "$status" -ne 125 ] && echo in order)" '0 in order'
else
    skip 1 '10 million calls run in make test-long'
fi
done_testing
