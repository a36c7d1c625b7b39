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
done_testing
