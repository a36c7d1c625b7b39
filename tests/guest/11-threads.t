#!/bin/sh
# Threads: results are right on any number of CPUs, every CPU counts and samples its own, and the end of the
# program finds all of them.  QEMU: an emulator with a modelled PMU, for the tests of real counters.
. "$(dirname "$0")/../lib.sh"

# Several CPUs in virtual time: every run is the same.
ln -s "$ROOT/tests/tools/virtual.sh" virtual

# threads CPUS [OPTION...] -- MODE...: runs the workload on CPUS CPUs.
threads() {
    cpus=$1
    shift
    run_cpus "$cpus" "$WORKLOADS/${program:-threads}" "$@"
}

# expect NAME STATUS OUTPUT: what the last run gave, and that its trace is whole.
expect() {
    is "$1" "$status: $(cat out)" "$2: $3"
    ok "$1: the trace is complete" "$HR" check hr.bin
}

for cpus in 1 2 4 8; do
    threads $cpus --qemu ./virtual -- sync $cpus 100
    expect "$cpus CPUs: mutex, condition variable, barrier" 0 \
        "sync: sum $((100 * cpus * (cpus + 1) / 2)), turns $((10 * cpus))"
done
"$HR" dump --format records hr.bin >records
like 'the trace says how many CPUs ran the program' records 'sampling.*cpu_count=8'
like 'and which thread started where' records 'switch .*from_tid=0 to_tid=1007 reason=1'
like 'and that threads waited' records 'gap .*reason=4 tid=100'
# In real time CPUs wait for each other's threads: to and fro, and changes of mappings, take ten times as long as in
# virtual time.
threads 2 --qemu ./virtual -- pingpong 2 2000
expect 'futex to and fro' 0 'pingpong: 0'
threads 3 --qemu ./virtual -- map 3 60
expect 'mappings change under the threads that use them' 0 'map: faults seen'

# Threads of the run's first process; in the groups below they are of a shell's children.
threads 4 -- exit 4
expect 'in parallel: exit while others spin' 7 'exit: while 3 spin'
threads 2 -- leave
expect 'the first thread leaves, the last one ends the program' 0 'leave: the last one'
for program in threads threads-musl; do
    [ ! -x "$WORKLOADS/$program" ] || echo "$program"
done >programs

# by_each WHAT|STATUS|OUTPUT|MODE...: these lines of stdin for each of the programs, at the end of the file lines.
by_each() {
    cat >modes
    while read -r program; do
        sed "s,^\(.*|\),$program in parallel: \1$WORKLOADS/$program ," modes
    done <programs >>lines
}
: >lines
by_each <<END
mutex, condition variable, barrier|0|sync: sum 1000, turns 40|sync 4 100
signals reach threads that spin and that sleep|0|signals: 3|signals 4
exit while others spin|7|exit: while 3 spin|exit 4
END
several 'on four CPUs' --cpus 4 -- <lines
cat >lines <<END
more threads than CPUs|0|sync: sum 10500, turns 100|$WORKLOADS/threads sync 20 50
3 CPUs: a thread runs where it may|0|affinity: 3 CPUs, 0 wrong, one too many: Invalid argument|$WORKLOADS/crowd affinity
END
by_each <<END
mappings change under the threads that use them|0|map: faults seen|map 3 20
END
several 'on three CPUs' --cpus 3 -- <lines
: >lines
by_each <<END
futex to and fro|0|pingpong: 0|pingpong 2 100
a CPU serves one thread after the other|0|many: 100 threads|many 2 100
a robust mutex survives its owner|0|robust: owner died|robust
a wait times out|0|wait: timed out|wait
the first thread leaves, the last one ends the program|0|leave: the last one|leave
END
several 'on two CPUs' --cpus 2 -- <lines
program=threads

# One CPU for all: threads take turns in virtual time, and every run is the same.
shared() {
    run_guest --accel tcg "$WORKLOADS/threads" "$@"
}
several 'one CPU for all' -- <<END
one CPU for all: mutex, condition variable, barrier|0|sync: sum 27200, turns 320|$WORKLOADS/threads sync 16 200
one CPU for all: futex to and fro|0|pingpong: 0|$WORKLOADS/threads pingpong 2 2000
one CPU for all: signals|0|signals: 5|$WORKLOADS/threads signals 6
one CPU for all: affinity|0|affinity: 1 CPUs, 0 wrong, one too many: Invalid argument|$WORKLOADS/crowd affinity
END
shared exit 4
expect 'one CPU for all: exit while others spin' 7 'exit: while 3 spin'
shared stuck 3
expect 'one CPU for all: all threads wait for ever' 137 ''
for run in a b; do
    run_guest --accel tcg -i 1us -o $run.bin "$WORKLOADS/threads" count 3 1000000
    "$HR" dump --format csv $run.bin >$run.csv
    "$HR" dump --format records $run.bin | grep 'switch ' >$run.switches
done
same_file 'one CPU for all: two runs give the same samples' a.csv b.csv
same_file 'and the same switches' a.switches b.switches
is 'a slice is 1 ms of virtual time' "$(sed -n 's/.*switch time=\([0-9]*\) .*reason=4.*/\1/p' a.switches |
    awk 'NR > 1 { print $1 - last } { last = $1 }' | sort -n | uniq -c | sort -n | awk 'END { print $2 }')" 1000000
alone=$(run_guest --accel tcg --mode off "$WORKLOADS/threads" count 1 1000000; total hr.bin instructions)
longer=$(run_guest --accel tcg --mode off "$WORKLOADS/threads" count 1 1900000; total hr.bin instructions)
three=$(run_guest --accel tcg --mode off "$WORKLOADS/threads" count 3 1000000; total hr.bin instructions)
more=$(run_guest --accel tcg --mode off "$WORKLOADS/threads" count 3 1900000; total hr.bin instructions)
is 'switches cost the program no instruction' "$((longer - alone)) $((more - three))" '1800000 10800000'

# many WHERE ALIVE CHURNED: so many threads alive at once, so many created and joined.
many() {
    cat >lines <<END
$1: $2 threads alive at once|0|alive: $2 at once|$WORKLOADS/crowd alive $2
$1: $3 threads created and joined|0|churn: $3|$WORKLOADS/crowd churn $3
END
}

# crowd WHERE: the other modes.
crowd() {
    cat >>lines <<END
$1: mutexes with priority inheritance|0|pi: sum 300, try Device or resource busy, again Connection timed out, sum 350|$WORKLOADS/crowd pi 6
$1: a robust one of these survives its owner, for one heir|0|heir: 1 was told|$WORKLOADS/crowd heir 5
$1: readers and writers|0|rwlock: 300|$WORKLOADS/crowd rwlock 12
$1: FUTEX_WAKE_OP, FUTEX_CMP_REQUEUE, bit sets|0|op: 0 1 2 1 1, word 5|$WORKLOADS/crowd op
END
}

# On one CPU for all, on several, and on several that share a thread of the host: the tenth part of the time, where each start
# of a thread has all CPUs answer.
many 'one CPU for all' 1000 5000
crowd 'one CPU for all'
several 'crowds on one CPU' --mode off -- <lines
many '3 CPUs' 50 100
crowd '3 CPUs'
several 'crowds on 3 CPUs' --cpus 3 --mode off -- <lines
many '3 CPUs in virtual time' 1000 4200 # more than can live at once
several 'crowds in virtual time' --cpus 3 --mode off --qemu ./virtual -- <lines
run_guest --accel tcg --mode off --mem 64M "$WORKLOADS/crowd" alive 4900
is 'too many threads: some get EAGAIN, and the program goes on' "$status" 0
within 'but many live' "$(sed -n 's/^alive: \([0-9]*\) .*/\1/p' out)" 1000 4095
"$HR" run -q --accel tcg -o hr.bin "$WORKLOADS/threads" pingpong 2 50 >out 2>err
"$HR" dump --format records hr.bin >records
like 'a switch says who woke the thread' records 'switch .*from_tid=1000 to_tid=1001 reason=3 waker_tid=1000'

# A thread for each CPU, no sampling: nothing interrupts them, while one of them writes or not.
threads 2 --mode off --qemu ./virtual -- compute 2 200
is 'without sampling no interrupt between start and exit' "$(stat_of hr.bin .activity.interruptions)" 0
is 'and no time slice' "$(stat_of hr.bin .activity.slices)" 0
threads 2 --mode off --qemu ./virtual -- beside 2 300
is 'also while another CPU writes' "$status: $("$HR" dump --format records hr.bin |
    sed -n 's/.*activity cpu=2 interruptions=\([0-9]*\) .*/\1/p')" '0: 0'
threads 3 -- crash 3
expect 'a thread crashes: so does the program' 139 ''
is 'and the fault names that thread' "$(stat_of hr.bin '[.fault.signal, .fault.tid] | join(" ")')" '11 1002'
mkfifo silent
exec 3<>silent
threads 2 -- input 2 300 <silent
is 'a thread waits for input: another one writes and exits' "$status: $(sha256sum <out)" \
    "3: $(for i in $(seq 0 299); do echo "input: line $i"; done | sha256sum)"
exec 3<&-
threads 2 -- stuck 2
expect 'all threads wait for ever: the run ends' 137 ''
like 'and says so' err 'nothing can wake any of its threads'
threads 2 --timeout 60s -- stuck 1
is 'a thread stuck alone ends too' "$status" 137

threads 64 --mode ipi -i 100ms --mem 2G --qemu ./virtual -- sync 64 10
expect '64 CPUs and an observer' 0 'sync: sum 20800, turns 64'

# In real time: the interval is long because the test's host may have fewer CPUs than the guest.
threads 2 --mode ipi -i 10ms -- count 2 20000000
expect '--mode ipi: the program runs' 0 'count: 2 threads'
is 'the mode is in the trace' "$(stat_of hr.bin .mode)" ipi
"$HR" dump --format csv hr.bin >a.csv
is 'both CPUs are sampled' "$(awk -F, 'NR > 1 && !seen[$2]++ { print $2 }' a.csv | sort | tr '\n' ' ')" '1 2 '
within 'samples of one grid point are no half interval apart' "$(stat_of hr.bin .skew_ns.max)" 1 5000000
like 'and people are told how far' err ' skew  '
"$HR" dump --format records hr.bin >records
like 'the trigger is named' records 'sampling.trigger.*inter-processor interrupt'
run_guest --accel tcg --mode ipi --cpus 0 "$WORKLOADS/hello"
is '--mode ipi needs a workload CPU' "$status" 125
like 'and says so' err 'mode ipi needs a CPU'

if [ -z "${QEMU:-}" ]; then
    skip 22 'QEMU names no emulator with a PMU'
    done_testing
fi

# counted COUNT: instructions of all CPUs without sampling.
counted() {
    threads 2 --qemu ./virtual --cpu "$flavour" --mode off -e instructions,branches -- count 2 "$1"
    stat_of hr.bin '.events[].total'
}

# of_cpu CPU: instructions in that CPU's samples.
of_cpu() {
    awk -F, -v cpu="$1" 'NR > 1 && $2 == cpu { sum += $6 } END { printf "%d", sum }' a.csv
}

# Thread 0 makes COUNT iterations of two instructions, thread 1 twice as many.
for flavour in 'Icelake-Server,model=106,pmu=on' 'EPYC,pmu=on,pmu-v2=off'; do
    echo "# $flavour"
    small=$(counted 1000000)
    large=$(counted 1900000)
    is 'two CPUs: the total is the sum of their loops, exactly' \
        "$(printf '%s\n' "$small" "$large" | awk '{ v[NR] = $1 } END { print v[3] - v[1], v[4] - v[2] }')" \
        '5400000 2700000'
    threads 2 --qemu ./virtual --cpu "$flavour" -i 2us -e instructions,branches -- count 2 1000000
    is 'no sample was lost' "$(stat_of hr.bin .lost)" 0
    "$HR" dump --format csv hr.bin >a.csv
    within 'the first CPU counts its own loop' "$(of_cpu 1)" 2000000 2030000
    within 'the second CPU counts its own loop' "$(of_cpu 2)" 4000000 4030000
    within 'both make the total, less the last pieces' "$(($(of_cpu 1) + $(of_cpu 2)))" \
        "$(($(total hr.bin instructions) - 4000))" "$(total hr.bin instructions)"
    threads 2 --qemu "$QEMU" --cpu "$flavour" -c 100000 -e instructions -- count 2 2000000
    expect 'counter overflow on two CPUs in parallel' 0 'count: 2 threads'
    "$HR" dump --format csv hr.bin >a.csv
    is 'each is sampled by what it counts itself' "$(of_cpu 1) $(of_cpu 2)" '4000000 8000000'
    threads 8 --qemu ./virtual --cpu "$flavour" -i 1us \
        -e instructions,cycles,branches,branch-misses,cache-misses -- count 8 50000
    expect '8 CPUs at 1 us with five counters' 0 'count: 8 threads'
    is 'and nothing is lost' "$(stat_of hr.bin .lost)" 0
    is 'samples of every CPU' "$("$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { n[$2]++ }
        END { for (c in n) cpus += n[c] > 10; print cpus + 0 }')" 8
done
done_testing
