#!/bin/sh
# The workloads that check themselves, and phases, give in the guest what they give natively.
. "$(dirname "$0")/../lib.sh"

for libc in musl glibc-static; do
    for workload in syscalls memory; do
        run_guest "$WORKLOADS/$workload-$libc"
        is "$workload-$libc: exit status" "$status" 0
        is "$workload-$libc: no check failed" "$(grep FAILED out)" ''
        like "$workload-$libc: checks ran" out '^ok '
    done
    run_guest -i 1us "$WORKLOADS/avx-$libc" 2000
    is "avx-$libc: registers survive samples and system calls" "$(cat out)" \
        'avx: 0 wrong vector registers, results equal'
    run_guest "$WORKLOADS/phases-$libc" 4 1
    "$WORKLOADS/phases-$libc" 4 1 >native
    same_file "phases-$libc: output" out native
done
run_guest "$TOOLS/phases-static-pie" 4 1
same_file 'phases, static-PIE: output' out native

run_guest --mem 128M "$WORKLOADS/memory-musl" 75
is '75 MB are filled and read back in a guest of 128 MB' "$status" 0

run_guest "$WORKLOADS/ftq" 100 200
is 'ftq: exit status' "$status" 0
noise=$(sed 's/.*noise \([0-9.]*\)%.*/\1/' out)
within 'ftq: a program alone sees next to no noise' "$noise" 0 2

run_guest -i 10us "$WORKLOADS/phases" 15 1
"$HR" report hr.bin >report 2>/dev/null
for phase in phase_compute phase_chase phase_stream sift_down; do
    like "report shows $phase" report "$phase"
    share=$("$HR" dump --format csv hr.bin | awk -F, -v f="$phase" '
        NR > 1 { all++; if (index($5, f) == 1) hits++ } END { print 100 * hits / all }')
    within "$phase has about a quarter of the samples" "$share" 19 28
done
done_testing
