#!/bin/sh
# Random system calls, forged signal frames and forbidden instructions: the kernel survives them all.
. "$(dirname "$0")/../lib.sh"

# The seeds are the same in every run: virtual time makes of them the same calls, in the same order.
for seed in 1 2 3; do
    run_guest --sealed --mode off --mem 128M "$WORKLOADS/sysfuzz" 10000 $seed
    is "seed $seed: the program came through" "$status" 0
    within "seed $seed: it made its calls" "$(sed -n 's/^calls //p' out)" 7500 10000
    within "seed $seed: it faulted" "$(sed -n 's/^faults //p' out)" 250 2500
    within "seed $seed: its memory came back" "$(sed -n 's/^lost memory \(.*\) KiB/\1/p' out)" 0 128
done
# Names and contents of the host's files stay in memory, so nothing is said of what comes back.
run_guest --mode off --mem 128M "$WORKLOADS/sysfuzz" 10000 4
is "with the host's files: the program came through" "$status" 0

run_guest -i 1us --mem 128M "$WORKLOADS/sysfuzz" 2000 7
cp out first
run_guest -i 1us --mem 128M "$WORKLOADS/sysfuzz" 2000 7
same_file 'sampled, twice: the same results' first out
ok 'sampled: the trace is in order' "$HR" check hr.bin

run_guest --mode off --mem 32M "$WORKLOADS/sysfuzz-musl" 5000 4
ok 'with little memory: not a failure of Microtome' test "$status" -ne 125

# From several threads at once, with a look at what the calls wrote.
for seed in 1 2; do
    run_guest --mode off --mem 256M "$WORKLOADS/callfuzz" 10000 $seed 3
    is "threads, seed $seed: the program came through" "$status" 0
    is "threads, seed $seed: no address of the kernel was seen" "$(sed -n 's/^leaks //p' out)" 0
    within "threads, seed $seed: it made its calls" "$(sed -n 's/^calls //p' out)" 9000 10000
done
cp out first
run_guest --mode off --mem 256M "$WORKLOADS/callfuzz" 10000 2 3
same_file 'threads, twice: the same results' first out
# calls WANTED: the last run made nearly so many and ended well; some calls are left out.
calls() {
    made=$(sed -n 's/^calls //p' out)
    [ "$status" -eq 0 ] && [ "${made:-0}" -ge $(($1 / 100 * 98)) ] && [ "$(sed -n 's/^leaks //p' out)" = 0 ]
}

if [ -n "${HR_TEST_LONG:-}" ]; then
    LIMIT=600 # a run takes 10 s to 60 s
    good=0
    for seed in $(seq 50); do
        cpus=$((seed % 4 + 1))
        [ $cpus -eq 1 ] && cpus=0
        run_guest --mode off --mem 512M --cpus $cpus "$WORKLOADS/callfuzz" 200000 "$seed" $((seed % 5 + 2))
        if calls 200000; then good=$((good + 1)); else echo "# seed $seed: status $status"; fi
    done
    is '10 million calls, with one CPU and with two to four: all made, no leak' $good 50
else
    skip 1 '10 million calls run in make test-long'
fi

# ---- sheer amount ----
run_guest --mode off "$WORKLOADS/hostile" forks 3000
is 'forks without end' "$status: $(cat out)" '0: forks: 3000 made'
ln -s "$ROOT/tests/tools/virtual.sh" virtual # several CPUs on one thread of the host
rounds=400
for cpus in '' '--cpus 3 --qemu ./virtual' '--cpus 3'; do
    # shellcheck disable=SC2086
    run_guest --mode off $cpus "$WORKLOADS/hostile" maps 3 $rounds
    is "mmap and munmap from all threads $cpus" "$status: $(cat out)" '0: maps: 0 wrong'
    [ -n "${HR_TEST_LONG:-}" ] || rounds=$((rounds / 3)) # in real time a round takes 15 times as long
done
megabytes=20
[ -z "${HR_TEST_LONG:-}" ] || megabytes=1024
"$WORKLOADS/hostile" output $megabytes | sha256sum >native
timeout -k 10 600 "$HR" run -q --mode off "$WORKLOADS/hostile" output $megabytes 2>err | sha256sum >out
same_file "$megabytes MiB to stdout" out native

# ---- a thread that corrupts its own stack, and its stack pointer ----
for libc in glibc-static musl; do
    run_guest "$WORKLOADS/hostile-$libc" stack 1
    is "$libc: a handler on another stack takes it" "$status: $(cat out)" '0: stack: 11 of 11 threads caught it'
    run_guest "$WORKLOADS/hostile-$libc" stack 0
    is "$libc: without one: the end" "$status: $(cat out)" '139: '
done
done_testing
