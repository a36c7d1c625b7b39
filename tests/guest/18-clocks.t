#!/bin/sh
# Clocks and timers: as natively; exact and repeatable in virtual time; the vDSO without system calls.
. "$(dirname "$0")/../lib.sh"

for libc in glibc-static musl; do
    run_guest "$WORKLOADS/clocks-$libc"
    is "clocks-$libc: exit status" "$status" 0
    for _ in 1 2 3 4 5; do # natively timers are late on a busy machine
        "$WORKLOADS/clocks-$libc" >native
        ! cmp -s out native || break
    done
    same_file "clocks-$libc: output" out native
done
run_guest -i 1us -o a.bin "$WORKLOADS/clocks"
run_guest -i 1us -o b.bin "$WORKLOADS/clocks"
"$HR" dump --format csv a.bin >a.csv
"$HR" dump --format csv b.bin >b.csv
same_file 'two runs with timers: the same samples, byte for byte' a.csv b.csv
run_guest --mode off "$WORKLOADS/clocks" set
is 'nobody sets the clock' "$(cat out)" 'set: 1 22 1 1'

run_guest --mode off "$WORKLOADS/clocks" cost
within 'clock_gettime through the C library: instructions' "$(sed -n 's/^clock_gettime: //p' out)" 1 60
run_guest -i 1us "$WORKLOADS/clocks" cost
within 'the same while sampled' "$(sed -n 's/^clock_gettime: //p' out)" 1 60
run_guest -i 500ns -o hr.bin "$WORKLOADS/clocks" cost
"$HR" dump --format csv hr.bin >hr.csv
like 'samples in the vDSO have its names' hr.csv '__vdso_clock_gettime'
done_testing
