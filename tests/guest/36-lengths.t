#!/bin/sh
# Calls of known number and length are recorded as they are: with probes, with hooks on one CPU, and observed.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
source=$ROOT/tests/programs/lengths.c
rounds=100
functions='main serve spin nap locks waits hold take fib'

# ask SQL: of the database of the last trace.
ask() { sqlite3 -batch -noheader -separator ' ' run.sqlite "$1" | tr '\n' ' '; }

# take_trace OPTION... PROGRAM...: a run with a database; its rows "function calls" are in the file rows.
take_trace() {
    run_guest -q --accel tcg "$@"
    "$HR" export sqlite -o run.sqlite hr.bin 2>export.err
    "$HR" latency -f csv hr.bin 2>/dev/null >csv
    awk -F, 'NR > 1 { print $1, $4 }' csv | sort >rows
}

# column NAME FUNCTION: of the csv.
column() { awk -F, -v name="$1" -v wanted="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == wanted { print $at[name] }' csv; }

# ---- how often functions are called, as gcov counts ----
gcc -O1 -pthread -DHOOKS --coverage -o counted "$source" && ./counted $rounds >native || exit 1
gcov -t --json-format counted-lengths.gcda 2>/dev/null |
    jq -r '.files[].functions[] | select(.execution_count > 0) | "\(.name) \(.execution_count)"' | sort >wanted
within 'gcov counts them' "$(wc -l <wanted)" 9 9

# ---- probes ----
gcc -O1 -static -pthread -o lengths "$source" || exit 1
probes=$(printf -- '--probe %s ' $functions)
# shellcheck disable=SC2086
take_trace --probe-args 1 $probes ./lengths $rounds
same_file 'the program runs as natively' out native
same_file 'probes: each function has as many calls as gcov counts' rows wanted
is 'probes: each spin takes 2n + 1 ticks' "$(ask "SELECT duration_ns - 2 * argument1, count(*) FROM invocations
    JOIN probes p ON p.id = function WHERE name = 'spin' GROUP BY 1")" "1 $(sed -n 's/spin //p' wanted) "
# The first call of each of them meets page faults, and the first waiter a thread that is about to start.
for function in serve nap take; do
    is "probes: $function: calls differ by what they are told to differ by" "$(ask "SELECT count(DISTINCT duration_ns - 2 * argument1) FROM
        (SELECT * FROM invocations JOIN probes p ON p.id = function WHERE name = '$function' ORDER BY start_ns LIMIT -1 OFFSET 1)")" '1 '
done
is 'probes: one call of a thousand is slow' "$(column median serve) $(column p99 serve) $(column p999 serve)" '88 88 8008'
is 'probes: own times add up to the whole' "$(ask 'SELECT (SELECT sum(own_ns) FROM invocations) - sum(duration_ns) FROM invocations WHERE parent IS NULL')" '0 '
is 'probes: the rest of take() is the wait for the lock' "$(ask "SELECT count(DISTINCT on_cpu_ns), max(on_cpu_ns) < 2000, sum(locks_ns + for_cpu_ns + on_cpu_ns) = sum(duration_ns)
    FROM (SELECT * FROM invocations JOIN probes p ON p.id = function WHERE name = 'take' ORDER BY start_ns LIMIT -1 OFFSET 1)")" '1 1 1 '
cp csv first
# shellcheck disable=SC2086
take_trace --probe-args 1 $probes ./lengths $rounds
same_file 'probes: a second run is the same' csv first

# ---- hooks on one CPU ----
gcc -O1 -static -pthread -DHOOKS -finstrument-functions -o hooked "$source" "$BUILD/libhr.a" || exit 1
take_trace --mode latency ./hooked $rounds
same_file 'hooks: each function has as many calls as gcov counts' rows wanted
is 'hooks: the slow call is longer by what it is told' "$(($(column p999 serve) - $(column p99 serve)))" $((2 * (4000 - 40)))
is 'hooks: own times add up to the whole' "$(ask 'SELECT (SELECT sum(own_ns) FROM invocations) - sum(duration_ns) FROM invocations WHERE parent IS NULL')" '0 '
"$HR" latency --function take --worst 1 hr.bin >worst
like 'hooks: the lock and who held it' worst 'waits for lock, held by thread 1000 in hold(; then .* for a CPU)?$'
gcc -O1 -static -pthread -DHOOKS -finstrument-functions -finstrument-functions-exclude-function-list=spin,fib \
    -finstrument-functions-exclude-file-list=nothing.h -o fewer "$source" "$BUILD/libhr.a" || exit 1
take_trace --mode latency ./fewer $rounds
grep -vE '^(spin|fib) ' wanted >wanted-fewer
same_file 'hooks: functions that are excluded have none' rows wanted-fewer
gcc -O1 -static -pthread -DHOOKS -finstrument-functions -finstrument-functions-exclude-file-list=programs/lengths.c -o none "$source" "$BUILD/libhr.a" || exit 1
take_trace --mode latency ./none 1
is 'hooks: files that are excluded have none' "$(cat rows)" ''

# ---- 200,000 calls are observed ----
take_trace --cpus 1 --mode latency ./hooked observe 200000
is 'observed: each call is seen or counted' "$(ask "SELECT count(*) + $(stat_of hr.bin .calls.missed) FROM invocations")" '200001 '
sqlite3 -separator ' ' run.sqlite "SELECT start_ns, end_ns FROM invocations JOIN probes p ON p.id = function WHERE name = 'known' ORDER BY 1" >seen
# A look may see more than what was there at its time, which it takes first: a time is within one scan period.
awk -v period="$(stat_of hr.bin .calls.longest_ns)" '
    NR == FNR { before[NR] = $1; begin[NR] = $2; end[NR] = $3; after[NR] = $4; calls = NR; next }
    { started[++seen] = $1; ended[seen] = $2 }
    END {
        for (i = at = 1; i <= calls; i++) {
            if (end[i] - begin[i] <= 2 * period) continue
            long++
            middle = (begin[i] + end[i]) / 2
            while (at < seen && ended[at] < middle) at++
            missed += started[at] > middle || ended[at] < middle
            late += started[at] < before[i] - period || started[at] > begin[i] + period
            late += ended[at] < end[i] - period || ended[at] > after[i] + period
        }
        print long + 0, missed + 0, late + 0
    }' out seen >found
read -r long missed late <found
if [ "$long" -gt 0 ]; then
    is "observed: of $long calls longer than two scan periods none is missed" "$missed" 0
    is 'observed: their times are right within one scan period' "$late" 0
else
    skip 2 'the host let the service CPU wait for half of the longest call'
fi
done_testing
