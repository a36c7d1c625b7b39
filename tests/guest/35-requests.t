#!/bin/sh
# Requests, waits and the stacks at waits: a server that now and then holds a lock too long.
# QEMU: as in 10-counters.t.
. "$(dirname "$0")/../lib.sh"

REQUESTS=$WORKLOADS/requests
requests=6000 # of which number 5000 evicts

# waits [FILTER]: the records of the trace, in the order of time, in the file waits.
waits() {
    "$ROOT/tests/tools/waits.pl" hr.bin >waits
}

# what PATTERN...: how many lines of the file waits match.
what() {
    grep -cE "$1" waits
}

# samples_of FILE: the samples as rows.
samples_of() {
    "$HR" dump --format csv "$1" 2>/dev/null
}

# whole NAME
whole() {
    is "$1: the trace is complete" "$("$HR" check hr.bin >/dev/null 2>&1; echo $?)" 0
}

# ---- the program ----
"$REQUESTS" $requests >native
is 'natively' "$(sed 's/ sum.*//' native)" "requests: $requests served, 1 evictions,"
"$REQUESTS" $requests 4 plain >untold
same_file 'and without libhr' native untold
if [ -x "$REQUESTS-musl" ]; then
    run_guest --waits "$REQUESTS-musl" $requests
    same_file 'under Microtome (musl)' out native
else
    skip 1 'musl-tools is not installed'
fi
run_guest --waits "$REQUESTS" $requests
same_file 'under Microtome' out native
cp hr.bin waits.bin

# ---- requests ----
whole 'requests and waits'
waits
cp waits first
for kind in begin block join end; do
    is "each request has its $kind" "$(what "request [0-9]+ $kind ")" $requests
done
# The maker begins and blocks it; one worker joins it, not before, and ends it.
awk '$2 == "request" {
    id = $5; step = ++steps[id]
    wanted = step == 1 ? "begin" : step == 2 ? "block" : step == 3 ? "join" : "end"
    if ($4 != wanted || step > 4) bad++
    if ((step <= 2) != ($3 == 1000)) bad++
    if (step == 3) worker[id] = $3
    if (step == 4 && worker[id] != $3) bad++
    if ($1 < last[id]) bad++
    last[id] = $1 } END { print bad + 0 }' waits >bad
is 'in this order, by the right threads' "$(cat bad)" 0
run_guest --waits "$REQUESTS" $requests
waits
same_file 'a second run is the same' first waits
run_guest "$REQUESTS" $requests 4 plain
waits
is 'without libhr there are no requests, without --waits no waits' "$(what 'request|wait')" 0
for how in '--mode off' '--mode instructed'; do
    # shellcheck disable=SC2086
    run_guest $how "$REQUESTS" $requests
    waits
    is "$how: requests are recorded" "$(what request)" $((4 * requests))
done

# ---- waits ----
# A wait comes before the switch that takes the CPU from the thread, at once.
awk '$2 == "wait" { at[$3] = $1; waits++ }
    $2 == "switch" && $5 == 3 { switches++; if (at[$3] != $1) bad++; delete at[$3] }
    END { print bad + 0, (waits == switches && waits > 100) }' first >bad
is 'each switch to wait has its record' "$(cat bad)" '0 1'
is 'an eviction waits for a disk' "$(grep -c " wait [0-9]* 230 0x0 0$" first)" 1 # clock_nanosleep
"$TOOLS/waitnames" waits.bin | sort | uniq -c | awk '{ print $2, $1 }' >names
within 'workers wait for evict() with the cache lock' "$(sed -n 's/^cache_lock //p' names)" 1 4
like 'and for the queue' names '^queue\+0x[0-9a-f]+ [0-9]{3,}$'
like 'other waits have the name of their call' names '^clock_nanosleep 1$'
is 'every lock of this program has a name' "$(grep -vE '^(cache_lock|queue|clock_nanosleep|the|0x7f)' names)" ''
like 'joins are for the end of a thread' names '^the [0-9]+$'
if cc -O2 -I"$ROOT" -pie -fPIE -o dynamic "$ROOT/workloads/requests.c" "$BUILD/libhr.a" -lpthread 2>cc.err; then
    run_guest --waits ./dynamic $requests
    "$TOOLS/waitnames" hr.bin | sort | uniq -c | awk '{ print $2, $1 }' >names
    within 'a program with shared libraries, anywhere in memory' "$(sed -n 's/^cache_lock //p' names)" 1 4
else
    skip 1 'no C compiler'
fi

# ---- what the records cost ----
run_guest -o plain.bin "$REQUESTS" $requests
samples_of plain.bin >plain.csv
plain=$(stat_of plain.bin '[.samples, .duration_ns, .events[].total] | @csv')
for how in '--waits' '-g --waits' '-g dwarf --waits'; do
    # shellcheck disable=SC2086
    if [ "$how" = --waits ]; then cp waits.bin hr.bin; else run_guest $how "$REQUESTS" $requests; fi
    samples_of hr.bin >with.csv
    same_file "$how: the same samples" plain.csv with.csv
    is "$how: the same totals" "$(stat_of hr.bin '[.samples, .duration_ns, .events[].total] | @csv')" "$plain"
    whole "$how"
done
mv hr.bin stacks.bin

# ---- stacks at waits ----
run_guest -g dwarf "$REQUESTS" $requests
"$HR" export folded hr.bin -o plain.folded 2>/dev/null
status=0
"$HR" export folded --off-cpu -o - hr.bin >out 2>err || status=$?
is 'without --waits there is none' "$status$(cat out)" 1
like 'and the reason' err "no stack of a wait is there; 'hr run --waits -g dwarf' records them"
mv stacks.bin hr.bin
"$HR" export folded hr.bin -o with.folded 2>/dev/null
same_file 'profiles do not see where threads wait' plain.folded with.folded
"$HR" export folded --off-cpu -o - hr.bin >off.folded
within 'evict() waits for its disk: 50 us' "$(sed -n 's/.*;serve;lookup;evict;.*nanosleep \([0-9]*\)$/\1/p' off.folded)" 49500 55000
# At most three others wait at a time, less than an eviction and the disk take: 100 us.
within 'others wait for evict()' "$(sed -n 's/.*;serve;lookup;[^;]*mutex_lock;.* \([0-9]*\)$/\1/p' off.folded)" 50000 400000
"$HR" plot -p waits -o waits.svg hr.bin 2>err
like 'the picture of waits' waits.svg '<title>lookup: [0-9.]+ %, [0-9.]+ us</title>'
"$HR" plot -p waits -o none.svg plain.bin 2>err
like 'and why there may be none' err 'no stacks of waits'
"$HR" dump --format records hr.bin | grep -ac '^  waiting ' >count
waits
is 'one stack a wait' "$(cat count)" "$(what ' wait ')"
is 'no option of another format' "$("$HR" export csv --off-cpu hr.bin 2>&1 | head -n 1)" \
    'hr export: --off-cpu is for folded; csv holds samples'
run_guest -g --waits "$WORKLOADS/threads" locks 4 50
whole 'frame pointers'

# ---- other ways to run ----
run_guest --accel tcg --cpus 3 --waits -g dwarf "$REQUESTS" $requests
same_file 'on three CPUs' out native
whole 'on three CPUs'
waits
is 'on three CPUs: all requests' "$(what 'request')" $((4 * requests))
"$HR" export folded --off-cpu -o - hr.bin >off.folded
is 'on three CPUs: locks have names' "$("$TOOLS/waitnames" hr.bin | grep -vE '^(cache_lock|stats_lock|queue|queue\+0x..|clock_nanosleep|the end of thread [0-9]+|0x7f.*)$')" ''
like 'on three CPUs: evict() waits' off.folded ';evict;.*nanosleep [0-9]+$'
# shellcheck disable=SC2016
run_guest --waits -g bash -c 'sleep 100 & kill -STOP $!; sleep 0.01; kill -CONT $!; kill $!; wait'
whole 'processes'
is 'processes wait, and one is stopped between two instructions' "$("$TOOLS/waitnames" hr.bin | sort | uniq -c |
    awk '{ printf "%s %s;", $2, $1 }')" '[stopped] 1;clock_nanosleep 1;wait4 2;'
if [ -x dynamic ]; then # at the addresses at which bash was
    run_guest --waits bash -c "./dynamic $requests; true"
    within 'a lock of another process' "$("$TOOLS/waitnames" hr.bin | grep -c '^cache_lock$')" 1 4
else
    skip 1 'no C compiler'
fi
cat >told.py <<'END'
import microtome

for number in range(2**64 - 5, 2**64):
    with microtome.request(number), microtome.joined(number):
        microtome.request_block(number)
END
if command -v python3 >/dev/null; then
    run_guest --file "$ROOT/workloads/python/microtome.py" --file "$BUILD/libhr.so" \
        --env PYTHONPATH="$ROOT/workloads/python" python3 told.py
    waits
    is 'Python: all of their records' "$(what 'request 1000 (begin|join|block|end) 184467440737095516[0-9][0-9]$|request 1000 leave 0$')" 25
else
    skip 1 'python3 is not installed'
fi
if [ -n "${QEMU:-}" ]; then
    run_guest --accel tcg --qemu "$QEMU" --cpu Skylake-Server,pmu=on,pmu-version=2,pmu-gp=4,pmu-fixed=3 \
        -c 10000 -e instructions,branches -g dwarf --waits "$REQUESTS" $requests
    same_file 'overflow' out native
    whole 'overflow'
    waits
    is 'overflow: all requests' "$(what 'request')" $((4 * requests))
    like 'overflow: stacks at waits' waits '^0 waiting [0-9]+ 48 1$'
else
    skip 4 'QEMU names no emulator with a PMU'
fi
done_testing
