#!/bin/sh
# Counters of single calls are those of loops of known length, on every kind of PMU that QEMU offers.
# QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/flavours.sh"

gcc -O1 -static -pthread -o lengths "$ROOT/tests/programs/lengths.c" || exit 1
rounds=10
./lengths $rounds >native

# more FUNCTION: by how much instructions exceed twice the argument, and branches the argument; how many calls.
more() {
    sqlite3 -batch -noheader -separator ' ' run.sqlite "SELECT instructions - 2 * argument1, branches - argument1, count(*)
        FROM invocations JOIN probes p ON p.id = function WHERE name = '$1' GROUP BY 1, 2" | tr '\n' ' '
}

# What a call takes itself, from its first instruction to its last one, is in virtual time its duration: 1 + 2n (spin) and 8
# + 2n (serve, with spin).  A probe adds the breakpoint at the return, and after the copy of the first instruction a jump.
while IFS= read -r flavour; do
    echo "# $flavour"
    on_flavour -q --mode off -e instructions,branches --probe-args 1 --probe spin --probe serve --probe fib ./lengths $rounds
    same_file 'the program runs' out native
    "$HR" export sqlite -o run.sqlite hr.bin 2>export.err
    is 'spin: a loop of n rounds' "$(more spin)" "3 1 $((91 * rounds + 1)) "
    is 'serve: with the loop that it calls, whose entry is a breakpoint, too' "$(more serve)" "13 4 $((90 * rounds + 1)) "
    is 'fib: equal calls count the same' "$(sqlite3 -batch -noheader run.sqlite "WITH f AS (SELECT * FROM invocations
        JOIN probes p ON p.id = function WHERE name = 'fib') SELECT count(*), (SELECT max(instructions) - min(instructions) FROM f
        WHERE argument1 < 2), (SELECT count(DISTINCT instructions) FROM f WHERE argument1 = 10) FROM f")" '1973|0|1'
    "$HR" latency -f csv --counters hr.bin 2>/dev/null >csv
    is 'hr latency --counters: one call of a thousand' "$(grep '^serve,[^,]*,[ib]' csv | cut -d, -f3,7,9,11 | tr '\n' ' ')" \
        'instructions,93,93,8013 branches,44,44,4004 '
done <<END
$FLAVOURS
END
done_testing
