#!/bin/sh
# Mappings of files, reservations, stacks and advice as on Linux; dynamic programs and their libraries' symbols.
. "$(dirname "$0")/../lib.sh"

for program in mappings-glibc-static mappings-musl; do
    [ -x "$WORKLOADS/$program" ] || { skip 4 "$program is not built"; continue; }
    "$WORKLOADS/$program" >native || true
    run_guest -i 1ms "$WORKLOADS/$program"
    is "$program: status" "$status" 0
    same_file "$program: output as natively" out native
    run_cpus 2 "$WORKLOADS/$program" -i 1ms --
    is "$program, with a service CPU: status" "$status" 0
    same_file "$program, with a service CPU: output as natively" out native
done

# Threads on CPUs of their own that map, cut off and write one file at once: no page is freed while one shows it.
# In real time CPUs wait for each other's threads: a round takes more than ten times as long as in virtual time.
rounds=40
[ -z "${HR_TEST_LONG:-}" ] || rounds=3000
for seed in 1 2; do
    run_cpus 3 "$WORKLOADS/maprace" -i 100us -- $rounds "$seed"
    is "maprace, seed $seed: status" "$status" 0
    run_cpus 3 "$WORKLOADS/maprace" -i 100us --qemu "$ROOT/tests/tools/virtual.sh" -- 300 "$seed"
    is "maprace, seed $seed, in virtual time: status" "$status" 0
done
run_guest -i 100us "$WORKLOADS/maprace" 300 3
is 'maprace on one CPU: status' "$status" 0

# The cost of a page fault, in instructions: virtual time has one a nanosecond.
run_guest "$WORKLOADS/touch"
cp out first
within 'a page fault that zeroes 4 KiB' "$(sed -n 's/^anonymous //p' out)" 100 600
run_guest -i 1us "$WORKLOADS/touch"
same_file 'sampling does not change it' out first

# A dynamic program: ld.so maps the C library, whose functions have names in the report.
cat >dynamic.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void) { unsigned sum = 0; for (int i = 0; i < 100000; i++) sum += rand(); printf("%u\n", sum); return 0; }
END
if cc -O1 -o dynamic dynamic.c 2>/dev/null; then
    ./dynamic >native
    run_guest -i 1us ./dynamic
    is 'dynamic program: status' "$status" 0
    same_file 'dynamic program: output' out native
    "$HR" report hr.bin >report 2>/dev/null
    like 'the report names functions of the C library' report 'random(_r)? +libc\.so\.6'
    ok 'the trace is whole' "$HR" check hr.bin
    within 'page faults are counted' "$(stat_of hr.bin .page_faults)" 20 2000
    if "$HR" run --help | grep -q -e --prefault; then
        run_guest -i 1us --prefault ./dynamic
        is 'filled beforehand: status' "$status" 0
        is 'filled beforehand: page faults' "$(stat_of hr.bin .page_faults)" 0
    else
        skip 2 'hr has no --prefault'
    fi
else
    skip 7 'no compiler'
fi

done_testing
