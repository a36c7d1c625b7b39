#!/bin/sh
# hr latency finds planted faults: who held which lock, in which function, for which request.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"

LIMIT=${HR_TEST_LIMIT:-120}
server=$WORKLOADS/requests
probes='--probe serve --probe lookup --probe count --probe evict'
fault='waiting for cache_lock(\+0x4)?, held by thread [0-9]+ in evict'

# ---- the page ----
ln -s "$BUILD" build
if [ "$(getconf GNU_LIBC_VERSION)" = 'glibc 2.36' ]; then
    transcript "$ROOT/docs/latency.md"
else
    skip 1 'docs/latency.md shows a server with the C library of Debian 12'
fi

# ---- one lock of two is held a hundred times too long, once in 10,000 requests ----
"$server" 10000 >native
# shellcheck disable=SC2086
run_guest -q $probes "$server" 10000
same_file 'the program runs as without probes' out native
mv hr.bin first.bin
"$HR" latency first.bin >first
is 'the first screen' "$(($(wc -l <first) <= 12))" 1
like 'the first screen names the lock, and in which function it was held' first "^# serve: .* $fault"
is 'its rows: the fault is in the first three' "$(sed -n '3,5p' first | grep -cE ' (serve|lookup|evict) ')" 3
is 'the other lock, the queue: not named' "$(grep -cE 'stats_lock|queue' first)" 0
"$HR" latency -f json first.bin >json
is 'json' "$(jq -c '.rows[] | select(.function == "lookup") | .tail.parts[0] | [.name, .holder.function, .holder.held]' json)" '["cache_lock","evict",true]'
within 'its call is one of five at most above the percentile' "$(jq '.rows[] | select(.function == "serve") | .tail.calls' json)" 1 5
"$HR" latency --function lookup --worst 1 first.bin >worst
like 'the longest call: the sentence' worst '^  It waited [0-9.]+ us of [0-9.]+ us for cache_lock, held by thread [0-9]+ in evict, for request 5000: '
like 'the longest call: the step' worst '^  \+[0-9.]+ ns +[0-9.]+ us +waits for cache_lock, held by thread [0-9]+ in evict, for request 5000; then [0-9.]+ us for a CPU$'

# ---- requests ----
"$HR" latency --by request -f csv first.bin >rows
is 'requests: all of them' "$(sed 1d rows | cut -d, -f1-4)" 10000,0,0,0
"$HR" latency --by request first.bin >table
like 'requests: the tail' table "^# requests: .* $fault"
"$HR" latency --request 5000 first.bin >one
like 'the request with the fault' one '^  \+[0-9.]+ us +[0-9.]+ us +thread [0-9]+ +evict$'
is 'its thread begins it, lets it wait, another joins and ends it' "$(grep -oE 'begins it|lets it wait|joins it|ends it|leaves it' one | tr '\n' ';')" 'begins it;lets it wait;joins it;ends it;'
"$HR" latency --slowest 5 -f json first.bin >slow
is 'the slowest: one of them waited for the fault' "$(jq '[.slowest[].steps[] | select(.name == "cache_lock" and .holder.function == "evict" and .holder.request == 5000)] | length > 0' slow)" true
is 'the slowest: parts add up' "$(jq -c '[.slowest[] | (.spent_ns | add) - .duration_ns | fabs < 5] | all' slow)" true
# Durations from the records themselves.
"$ROOT/tests/tools/waits.pl" first.bin >waits
awk '$2 == "request" && $4 == "begin" { begun[$5] = $1 } $2 == "request" && $4 == "end" { print $1 - begun[$5] }' waits | sort -n >durations
is 'requests: median, maximum, total' "$(sed 1d rows | cut -d, -f5,9,10)" \
    "$(awk '{ d[NR] = $1; sum += $1 } END { printf "%d,%d,%d", d[int((NR + 1) / 2)], d[NR], sum }' durations)"

# ---- the same each time, and nothing of it on the program's clock ----
# shellcheck disable=SC2086
run_guest -q $probes "$server" 10000
"$HR" latency hr.bin >again
same_file 'a second run says the same' first again
few=6000 # with the fault, too
run_guest -q -i 3us "$server" $few
"$HR" dump --format csv hr.bin >plain.csv
plain=$(stat_of hr.bin '[.samples, .duration_ns, .events[].total] | @csv')
for how in '' '-g' '-g dwarf' '--probe-args 2'; do
    # shellcheck disable=SC2086
    run_guest -q -i 3us $how $probes "$server" $few
    "$HR" dump --format csv hr.bin >with.csv
    same_file "--probe, which implies --waits $how: the same samples" plain.csv with.csv
    is "--probe $how: the same totals" "$(stat_of hr.bin '[.samples, .duration_ns, .events[].total] | @csv')" "$plain"
done
is '--probe implies --waits' "$("$HR" dump -f records hr.bin | grep -c '^  wait ' | awk '{ print ($1 > 10) }')" 1

# ---- waits of every kind, each of a millisecond ----
kinds='--probe takes_lock --probe waits_for_signal --probe takes_semaphore --probe waits_at_barrier --probe reads_pipe --probe joins
    --probe sleeps --probe waits_for_child --probe ends_program'
# waited FILE: of each function and kind the time, in units of 100 us, where there is some.
waited() {
    "$HR" latency -f csv "$1" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
        { for (i = 15; i <= NF; i++) if (name[i] !~ /^of$/ && int($i / 1e5 + 0.5)) print $1, name[i], int($i / 1e5 + 0.5) }' | sort | tr '\n' ';'
}
if cc -O1 -pthread -o kinds "$ROOT/tests/programs/waitkinds.c" 2>cc.err; then
    # shellcheck disable=SC2086
    run_guest -q $kinds ./kinds
    is 'kinds of waits: the output' "$status.$(cat out)" 0.done
    is 'kinds of waits: told apart, and from waits for a CPU afterwards' "$(waited hr.bin)" "joins joins 23;reads_pipe for_cpu 10;reads_pipe io 10;\
sleeps sleep 10;takes_lock for_cpu 10;takes_lock locks 10;takes_semaphore conditions 10;waits_at_barrier locks 10;waits_for_child other 10;waits_for_signal conditions 30;"
    is 'an invocation that is open at exit is left' "$("$HR" latency -f csv hr.bin | grep '^ends_program' | cut -d, -f4-6)" 0,1,0
    "$HR" latency --function joins --worst 1 hr.bin >out
    like 'a join: the thread' out '^  It waited [0-9.]+ ms of [0-9.]+ ms for the end of thread ([0-9]+), woken by thread \1: '
    # shellcheck disable=SC2086
    run_guest -q $kinds --probe pthread_barrier_wait ./kinds
    like 'a probed function tells a barrier from a lock' "$("$HR" latency -f csv hr.bin >rows; echo rows)" '^waits_at_barrier,.*,0,99[0-9]{4},0,0,0,[0-9]+,0,0$'
else
    skip 5 'no C compiler'
fi

# ---- files that the host reads meanwhile: in system calls, and in page faults ----
if cc -O1 -o filewaits "$ROOT/tests/programs/filewaits.c" 2>cc.err; then
    head -c 1048576 /dev/zero | tr '\0' '\1' >served
    # waits OPTION...: of each function, whether it waited for I/O and for pages.
    waits() {
        run_guest -q "$@" --probe opens --probe reads --probe touches ./filewaits "${PWD#/}/served"
        is "files, $*: the output" "$status.$(cat out)" '0.1 128'
        "$HR" latency -f csv hr.bin | awk -F, 'NR > 1 { print $1, ($18 > 0), ($19 > 0) }' | sort | tr '\n' ';' >waited
    }
    waits --accel tcg --cpus 2
    is 'a page of a file is another wait than a system call' "$(cat waited)" 'opens 1 0;reads 1 0;touches 0 1;'
    waits
    is 'in virtual time the host takes none' "$(cat waited)" 'opens 0 0;reads 0 0;touches 0 0;'
else
    skip 4 'no C compiler'
fi

# ---- other ways to run, and other programs ----
for libc in '' -musl; do
    [ -x "$server$libc" ] || { skip 1 'musl-tools is not installed'; continue; }
    # shellcheck disable=SC2086
    run_guest -q $probes "$server$libc" $few 8
    "$HR" latency hr.bin >out
    like "eight workers${libc:+ ($libc)}" out "^# (serve|lookup): .* $fault"
done
# Threads meet at a lock by chance: all requests are needed for it.  In virtual time no hit is lost on a busy machine, where the
# service CPU comes late.
# shellcheck disable=SC2086
run_guest -q --accel tcg --qemu "$ROOT/tests/tools/virtual.sh" --cpus 3 $probes "$server" 10000
"$HR" latency hr.bin >out
like 'on three CPUs: the table' out ' 10,000 .* serve '
"$HR" latency --by request -f csv hr.bin >rows
is 'on three CPUs: all requests' "$(sed 1d rows | cut -d, -f1-4)" 10000,0,0,0
"$HR" latency --function lookup --worst 1000 hr.bin >out
like 'on three CPUs: locks and holders' out 'waits for cache_lock, held by thread [0-9]+ in (lookup|evict)(,|$)'

# ---- programs that are not made for this ----
if cc -O1 -fopenmp -o critical "$ROOT/tests/programs/critical.c" 2>cc.err; then
    ./critical >native
    run_guest -q --env OMP_WAIT_POLICY=passive --probe merge --probe step ./critical
    same_file 'OpenMP: the output' out native
    "$HR" latency hr.bin >out
    like 'OpenMP: a critical section by its name' out '^# step: .*waiting for \.gomp_critical_user_totals, held by thread [0-9]+ in merge'
else
    skip 2 'no C compiler with OpenMP'
fi
python=$(command -v /usr/bin/python3 || command -v python3)
if [ -n "$python" ]; then
    run_guest -q --file "$ROOT/workloads/python/microtome.py" --file "$BUILD/libhr.so" \
        --env PYTHONPATH="$ROOT/workloads/python" "$python" -S "$ROOT/tests/programs/aio.py"
    is 'asyncio: the output' "$(cat out)" 201980000
    "$HR" latency --by request -f csv hr.bin >rows
    is 'asyncio: a hundred requests, one at a time with the lock' "$(sed 1d rows | cut -d, -f1-4)" 100,0,0,0
    within 'asyncio: the last one waits for 100 disks of 1 ms' "$(sed 1d rows | cut -d, -f9)" 100000000 200000000
    "$HR" latency --request 51 hr.bin >out
    is 'asyncio: its steps' "$(grep -oE 'begins it|lets it wait|joins it|ends it' out | tr '\n' ';')" \
        'begins it;lets it wait;joins it;lets it wait;joins it;ends it;'
    like 'asyncio: it queued' out '^  It was queued, without a thread, for [0-9.]+ ms of [0-9.]+ ms\.$'
else
    skip 5 'python3 is not installed'
fi
done_testing
