#!/bin/sh
# Measures size, speed and accuracy against their limits; prints a table, fails if a limit is missed.
# Called by `make bench`. HR_BENCH_SAMPLES: samples of the generated trace (200 million by default). HR_BENCH: the
# sections to run (all by default). QEMU: an emulator with a modelled PMU, for the section "counters".
set -u
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
BUILD=$(cd "${BUILD:-build}" && pwd)
HR=$BUILD/hr
WORKLOADS=$BUILD/workloads
TOOLS=$BUILD/tests
virtual=$root/tests/tools/virtual.sh
samples=${HR_BENCH_SAMPLES:-200000000}
five=instructions,cycles,branches,branch-misses,cache-misses
thirteen=$five,cache-references,ref-cycles,L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses,dTLB-load-misses,iTLB-load-misses
# On a disk rather than in memory: the collector writes there.
work=$(mktemp -d "${HR_BENCH_DIR:-$BUILD}/bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 1
missed=0

# row NAME VALUE UNIT [le|ge LIMIT]: one line of the table; without a limit the figure is for information.
row() {
    verdict=-
    limit=-
    if [ $# -gt 3 ]; then
        verdict=$(awk -v v="$2" -v op="$4" -v limit="$5" 'BEGIN {
            good = v != "" && v != "null" && (op == "le" ? v + 0 <= limit + 0 : v + 0 >= limit + 0)
            print good ? "PASS" : "FAIL" }')
        limit=$([ "$4" = le ] && echo "<= $5" || echo ">= $5")
        [ "$verdict" = PASS ] || missed=1
    fi
    printf '| %-58s | %12s | %-14s | %-8s | %s |\n' "$1" "${2:-none}" "$3" "$limit" "$verdict"
}

# stat_of FILTER: from the last run's trace.
stat_of() {
    "$HR" stat --json hr.bin | jq -r "$1"
}

run() {
    "$HR" run -q "$@" >out 2>err </dev/null || { cat err >&2; echo "bench: hr run $* failed" >&2; missed=1; }
}

calc() {
    awk "BEGIN { printf \"$1\\n\", $2 }"
}

# seconds COMMAND...: wall time.
seconds() {
    begin=$(date +%s%N)
    "$@" >/dev/null || missed=1
    calc %.3f "($(date +%s%N) - $begin) / 1e9"
}

# cost COMMAND...: seconds of processor time in $cpu, MiB of memory in $rss.
cost() {
    /usr/bin/time -f '%U %S %M' -o usage "$@" >/dev/null 2>errors || { cat errors >&2; missed=1; }
    read -r cpu rss <<END
$(awk 'END { printf "%.2f %.1f", $1 + $2, $3 / 1024 }' usage)
END
}

# counted FILE ARG...: runs under an emulator that counts instructions on its own: "USER KERNEL" in FILE.
counted() {
    printf '#!/bin/sh\nexec qemu-system-x86_64 "$@" -plugin %s,out=%s\n' "$TOOLS/count.so" "$work/$1" >emulator
    chmod +x emulator
    shift
    run --accel tcg --qemu "$work/emulator" "$@"
}

bench_sampling() {
    counted off.count --mode off "$WORKLOADS/phases" 20 2
    counted on.count -i 1us -e $five "$WORKLOADS/phases" 20 2
    read -r _ kernel_off <off.count
    read -r _ kernel_on <on.count
    row 'sample, five events, from interrupt to resumption' "$(stat_of .cost.sample_ns)" instructions le 200
    row 'all kernel work a sample, encoding and sending included' \
        "$(calc %.1f "($kernel_on - $kernel_off) / $(stat_of .samples)")" instructions
    row 'trace, five events at 1 us, phases' "$(stat_of '.bytes / .samples * 100 | round / 100')" bytes/sample le 12
    run -i 1us -e $thirteen "$WORKLOADS/phases" 20 2
    row 'trace, 13 events at 1 us, phases' "$(stat_of '.bytes / .samples * 100 | round / 100')" bytes/sample
    row 'sample, 13 events, calibrated' "$(stat_of .cost.sample_ns)" instructions
    run --mode off "$WORKLOADS/clocks" cost
    row 'clock_gettime through the C library and the vDSO' "$(sed -n 's/^clock_gettime: //p' out)" instructions le 60
    seconds_run=$(seconds "$HR" run -q -i 1us -e $five "$WORKLOADS/phases" 250 1)
    row 'phases at 1 us: instructions' "$(stat_of '.events[0].total')" instructions ge 1000000000
    row 'phases at 1 us: samples lost' "$(stat_of .lost)" samples le 0
    row 'phases at 1 us: interval p50' "$(stat_of .interval_ns.p50)" ns
    row 'phases at 1 us: interval p99, upper' "$(stat_of .interval_ns.p99)" ns le 1020
    row 'phases at 1 us: interval p99, lower' "$(stat_of .interval_ns.p99)" ns ge 980
    row 'phases at 1 us: wall time' "$seconds_run" s
}

# freerun OPTION...: runs $measured on the modelled PMU; sets $ring0 to the instructions that the program's CPU
# executed in ring 0, by counters that the kernel under test cannot stop, and $taken to the samples.
measured="$WORKLOADS/phases 20 1"
freerun() {
    # shellcheck disable=SC2086
    run -v --kernel "$BUILD/guest-bench.elf" --accel tcg --cpu "$modelled,pmu-freerun=on" "$@" $measured
    ring0=$(sed -n 's/.*free-running at the .*: \([0-9]*\) in ring 0.*/\1/p' err | awk 'NR == 1 { at = $1 } END { print $1 - at }')
    taken=$(stat_of .samples)
}

# per_sample LESS MORE OPTION...: ring-0 instructions a sample of the program's CPU in $each, by the difference of two
# runs with the options in LESS and in MORE; the second one's trace is left.
per_sample() {
    less=$1 more=$2
    shift 2
    # shellcheck disable=SC2086
    freerun $less "$@"
    ring0_less=$ring0 taken_less=$taken
    # shellcheck disable=SC2086
    freerun $more "$@"
    each=$(calc %.1f "($ring0 - $ring0_less) / ($taken - $taken_less)")
}

bytes_a_sample() {
    stat_of '.bytes / .samples * 100 | round / 100'
}

bench_counters() {
    modelled=Icelake-Server,model=106,pmu=on
    if [ -z "${QEMU:-}" ] || ! "$HR" run -q --accel tcg --qemu "$QEMU" --cpu "$modelled,pmu-freerun=on" \
        "$WORKLOADS/hello" >out 2>err </dev/null || [ "$(stat_of '.events[0].source')" != pmu ]; then
        echo '| counters: left out, QEMU names no emulator with a modelled PMU | | | | |'
        return
    fi
    export QEMU
    per_sample '--mode off' '-i 1us' --qemu "$QEMU" -e $five
    row 'timer sample, five counters' "$(stat_of .cost.sample_ns)" instructions le 143
    row 'timer, five counters: all kernel work a sample' "$each" instructions le 250
    row 'timer, five counters, phases at 1 us' "$(bytes_a_sample)" bytes/sample le 12
    per_sample '-i 10us' '-i 1us' --qemu "$virtual" --cpus 1 -e $five
    row 'timer sample beside a service CPU, five counters' "$each" instructions le 180
    overflow_rows 'ip alone' instructions
    overflow_rows 'ip and five counters' $five 150 270 165
    bench_precise
    bench_taking_stacks
    bench_requests
    bench_probes
    bench_pages
    bench_eight_cpus
    bench_linux
}

# All that the program's CPU does for a record: interrupts, copies, what entries need.  The service CPU must run beside it:
# in virtual time it runs when the program's CPU is interrupted, which is seldom here.
bench_precise() {
    per_sample '-c 10000' '-c 500' --qemu "$QEMU" --cpus 1 --mode pebs -e mem-loads
    row 'precise record of one event' "$each" instructions le 40
    per_sample '-c 10000' '-c 500' --qemu "$QEMU" --cpus 1 --mode pebs
    row 'precise record of one of two events' "$each" instructions le 40
    per_sample '-c 10000' '-c 500' --qemu "$QEMU" --cpus 1 --mode pebs -e mem-loads --regs
    row 'precise record with registers' "$each" instructions le 90
}

# A look at the page tables, by the difference of two runs, with and without.
bench_pages() {
    freerun -i 1ms --qemu "$QEMU"
    ring0_less=$ring0
    freerun -i 1ms --pages 100us --qemu "$QEMU"
    row 'a look at the pages that phases touched' \
        "$(calc %.0f "($ring0 - $ring0_less) / $("$HR" memory -f json hr.bin | jq .look_count)")" instructions le 20000
    a_look
    row 'a look at 1 GB of memory, 10 MB of it touched' "$each" instructions le 10000
    a_look --pages-split
    row 'a look at 1 GB of memory in 4-KiB pages, 10 MB of it touched' "$each" instructions le 20000
}

# a_look OPTION...: sets $each to the ring-0 instructions of a look, by the difference of two runs of so many rounds.
a_look() {
    for rounds in 20 120; do
        measured="$TOOLS/touched 1024 1024 10 $rounds"
        ring0_less=${ring0:-0} looks_less=${looks:-0}
        freerun --mode off --mem 1536M --pages 1ms --qemu "$QEMU" "$@"
        looks=$("$HR" memory -f json hr.bin | jq .look_count)
    done
    measured="$WORKLOADS/phases 20 1"
    each=$(calc %.0f "($ring0 - $ring0_less) / ($looks - $looks_less)")
}

# Of 16 return addresses. Rarer than elsewhere: the service CPU has as many instructions, and encodes them all.
bench_taking_stacks() {
    measured="$WORKLOADS/calls recursion 13 3000000"
    per_sample '-i 10us' '-i 1us' --qemu "$virtual" --cpus 1 -e $five -g
    row 'timer sample with a stack 16 deep, five counters' "$each" instructions le 340
    per_sample '-c 40000' '-c 10000' --qemu "$virtual" --cpus 1 -e $five -g
    row 'overflow sample with a stack 16 deep, five counters' "$each" instructions le 325
    row 'overflow samples with a stack: lost' "$(stat_of .lost)" samples le 0
    per_sample '-i 100us' '-i 20us' --qemu "$virtual" --cpus 1 -e $five -g dwarf
    row 'timer sample with a copy of a small stack, five counters' "$each" instructions
    measured="$WORKLOADS/phases 20 1"
}

# overflow_rows NAME EVENTS [LIMIT LIMIT-OF-ALL-WORK LIMIT-BESIDE-A-SERVICE-CPU]; there a sample also keeps the program's
# share of the time.
overflow_rows() {
    what=$1 events=$2
    shift 2
    per_sample '-c 10000' '-c 1000' --qemu "$QEMU" -e "$events"
    row "overflow sample, $what" "$(stat_of .cost.sample_ns)" instructions ${1:+le "$1"}
    row "overflow, $what: all kernel work a sample" "$each" instructions ${2:+le "$2"}
    row "overflow, $what, phases" "$(bytes_a_sample)" bytes/sample
    per_sample '-c 40000' '-c 8000' --qemu "$virtual" --cpus 1 -e "$events"
    row "overflow sample beside a service CPU, $what" "$each" instructions ${3:+le "$3"}
}

bench_requests() {
    run --accel tcg --qemu "$QEMU" --cpu "$modelled" -e instructions,cycles,branches,cache-misses,instructions:k \
        "$WORKLOADS/regions" cost 100
    row 'hr_read of five counters' "$(sed -n 's/^instructions read=\([0-9]*\) .*/\1/p' out)" instructions le 40
    row 'hr_poll with five counters, in the kernel' "$(sed -n 's/^instructions:k .* poll=\([0-9]*\)$/\1/p' out)" \
        instructions le 175
}

# ring0_of_calls CALLS OPTION...: ring-0 instructions of a program that calls a probed function so often.
ring0_of_calls() {
    measured="$WORKLOADS/probed calls $1"
    shift
    freerun --mode off -e $five --probe asm_spin "$@"
    measured="$WORKLOADS/phases 20 1"
}

# an_invocation LESS MORE OPTION...: sets $each to what an entry and a return take together, by two runs of so many.
an_invocation() {
    less=$1 more=$2
    shift 2
    ring0_of_calls "$less" "$@"
    ring0_less=$ring0
    ring0_of_calls "$more" "$@"
    each=$(calc %.1f "($ring0 - $ring0_less) / ($more - $less)")
}

# an_allocation NAME LIMIT OPTION...: a row of what malloc and free take together.
an_allocation() {
    name=$1 limit=$2
    shift 2
    for pairs in 1000 5000; do
        measured="$TOOLS/churn $pairs"
        ring0_less=${ring0:-0}
        freerun --mode off --alloc --qemu "$virtual" --cpus 1 -e $five "$@"
    done
    measured="$WORKLOADS/phases 20 1"
    row "$name" "$(calc %.0f "($ring0 - $ring0_less) / 4000")" instructions le "$limit"
}

# As many hits as the ring has room for: the service CPU is too slow for more of them at such a rate.
bench_probes() {
    an_invocation 1000 4000 --qemu "$virtual" --cpus 1
    row 'probe: an entry and a return, five counters' "$each" instructions le 360
    row 'Linux 6.1: uprobe and uretprobe, no counters' 4305 instructions
    an_allocation 'an allocation and its free (--alloc)' 1800
    an_allocation '... with a stack by frame pointers' 2000 -g fp
}

bench_eight_cpus() {
    run --accel tcg --qemu "$virtual" --cpu "$modelled" --cpus 8 -i 1us -e $five "$WORKLOADS/threads" count 8 1000000
    row 'eight CPUs at 1 us, five counters: samples' "$(stat_of .samples)" samples ge 40000
    row 'eight CPUs at 1 us, five counters: lost' "$(stat_of .lost)" samples le 0
    row 'eight CPUs at 1 us, one clock for all: interval p50' "$(stat_of .interval_ns.p50)" ns
    row 'eight CPUs at 1 us, one clock for all: interval p99' "$(stat_of .interval_ns.p99)" ns
}

# For information: measured before, by the same free-running counters; see docs/performance.md.
bench_linux() {
    row 'Linux 6.1 perf: overflow sample, ip' 2204 instructions
    row 'Linux 6.1 perf: overflow sample, ip' 40 bytes/sample
    row 'Linux 6.1 perf: overflow sample, ip and five counters' 2858 instructions
    row 'Linux 6.1 perf: overflow sample, ip and five counters' 128 bytes/sample
    row 'Linux 6.1 perf: the same with a call chain' 4652 instructions
    row 'Linux 6.1 perf: the same with a call chain' 416 bytes/sample
}

# least_of RUNS COMMAND...: the least wall time of so many runs.
least_of() {
    runs=$1
    shift
    for _ in $(seq "$runs"); do seconds "$@" 2>err; done | sort -n | head -n 1
}

bench_accuracy() {
    for program in 'phases-musl 100 1' 'spin-musl 100000000'; do
        # shellcheck disable=SC2086
        run --mode off "$WORKLOADS"/$program
        # shellcheck disable=SC2086
        callgrind=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$WORKLOADS"/$program 2>&1 |
            sed -n 's/.*Collected : //p')
        row "$program: wall time, as a share of callgrind's" \
            "$(calc %.2f "$(least_of 3 "$HR" run -q --mode off "$WORKLOADS"/$program) / $(least_of 3 valgrind \
                --tool=callgrind --callgrind-out-file=/dev/null "$WORKLOADS"/$program)")" ratio le 1
        row "$program: instructions by callgrind" "$callgrind" instructions ge 100000000
        row "$program: difference to it" \
            "$(calc %.5f "100 * ($(stat_of '.events[0].total') - $callgrind) / $callgrind" | tr -d -)" % le 0.1
    done
    counted hello.count --mode off "$WORKLOADS/hello-musl"
    small=$(stat_of '.events[0].total')
    counted phases.count --mode off "$WORKLOADS/phases-musl" 100 1
    read -r user_small _ <hello.count
    read -r user_large _ <phases.count
    row 'phases-musl less hello-musl: difference to an emulator plugin' \
        "$(calc %.5f "100 * ($(stat_of '.events[0].total') - $small) / ($user_large - $user_small) - 100" | tr -d -)" % le 0.1
    read -r _ kernel <hello.count
    row 'kernel instructions of a whole run of hello, boot included' "$kernel" instructions
}

# per_time LESS MORE MODE: instructions of ring 0 for each of what `crowd MODE COUNT` does, in $each.
per_time() {
    counted less.count --mode off "$WORKLOADS/crowd" "$3" "$1"
    counted more.count --mode off "$WORKLOADS/crowd" "$3" "$2"
    read -r _ kernel_less <less.count
    read -r _ kernel_more <more.count
    each=$(calc %.1f "($kernel_more - $kernel_less) / ($2 - $1)")
}

bench_threads() {
    run --mode off "$WORKLOADS/crowd" calls 1000
    row 'null system call, on the program'"'"'s clock' "$(sed -n 's/^calls: \([0-9]*\) .*/\1/p' out)" instructions le 85
    per_time 10000 50000 calls
    row 'null system call: all kernel work, its record encoded' "$each" instructions le 225
    per_time 1000 5000 switches
    row 'futex wake to run on another thread: all kernel work' "$(calc %.1f "$each / 2")" instructions le FUTEX
    per_time 1000 5000 churn
    row 'a thread created and joined: all kernel work' "$each" instructions
}

# Of the kernel, in instructions: virtual time has one a nanosecond.
bench_memory() {
    run --mode off "$WORKLOADS/touch"
    row 'page fault that zeroes 4 KiB' "$(sed -n 's/^anonymous //p' out)" instructions le 600
    row 'page fault that shows a page of a file' "$(sed -n 's/^file-read //p' out)" instructions
    row 'page fault that copies a page of a file' "$(sed -n 's/^file-copy //p' out)" instructions
}

# What threads and processes of the program say to each other costs it: exact, in virtual time.
bench_processes() {
    run --mode off "$WORKLOADS/hops-glibc-static"
    hop AF_UNIX 5900
    hop TCP 8000
    row 'a byte there and back over UDP' "$(sed -n 's/^UDP there-and-back //p' out)" instructions
    row '64 KiB through an AF_UNIX stream' "$(sed -n 's/^AF_UNIX 64KiB //p' out)" instructions
    row '64 KiB through TCP' "$(sed -n 's/^TCP 64KiB //p' out)" instructions
    run --mode off --env COST= "$WORKLOADS/execs"
    clock=$(cat out)
    row "vfork, execve, exit and wait: the C library's 11,300 included" "$clock" instructions
    row 'vfork, execve, exit and wait: the kernel' "$(calc %.0f "$clock - 11300")" instructions le 85000
    run --mode off "$TOOLS/children"
    row 'fork, exit and wait with 8 MiB written to' "$(cat out)" instructions le 50000
    bench_redis
}

# redis_run COUNT: a server and its benchmark in one run, with so many requests of each of two kinds.
redis_run() {
    # shellcheck disable=SC2016
    counted "redis-$1.count" --mode off --mem 1G --env PATH="$servers/usr/bin:/usr/bin:/bin" \
        --env LD_LIBRARY_PATH="$servers/usr/lib/x86_64-linux-gnu" /bin/sh -c \
        'redis-server --port 26379 --save "" --appendonly no --logfile /dev/null --dir /tmp & server=$!
        until redis-cli -p 26379 ping >/dev/null 2>&1; do sleep 0.1; done
        redis-benchmark -p 26379 -t set,get -n "$1" -q >/dev/null; redis-cli -p 26379 shutdown nosave; wait $server' sh "$1"
}

# All kernel work for a request, by the difference of two runs. Linux 6.1 takes 40,459 in the same emulator.
bench_redis() {
    servers=$BUILD/servers/root
    if [ ! -x "$servers/usr/bin/redis-benchmark" ]; then
        echo '| redis-benchmark: left out, tools/servers.sh has not unpacked the servers | | | | |'
        return
    fi
    redis_run 20000
    redis_run 40000
    read -r _ kernel_less <redis-20000.count
    read -r _ kernel_more <redis-40000.count
    row 'redis-benchmark -t set,get: kernel instructions a request' \
        "$(calc %.0f "($kernel_more - $kernel_less) / 40000")" instructions le 20200
}

hop() {
    row "a byte there and back over a stream of $1" "$(sed -n "s/^$1 there-and-back //p" out)" instructions le "$2"
}

# reading_files WORDS: a shell in the guest reads what the words stand for.
reading_files() {
    least_of 15 "$HR" run -q --mode off "$(command -v busybox)" sh -c "busybox cat $1"
}

# Read once and twice, so that only the first look at each file is left.
bench_served() {
    mkdir served
    for i in $(seq 1000); do echo "$i" >"served/$i"; done
    row "first look at a small file of the host's, to its contents" \
        "$(calc %.0f "(2 * $(reading_files "$work/served/*") - $(reading_files "$work/served/* $work/served/*") \
            - $(reading_files /etc/passwd)) * 1000")" 'us, wall' le 150
}

bench_start() {
    times=$(for _ in $(seq 15); do seconds "$root/run.sh" -q -o "$work/hr.bin" "$WORKLOADS/hello-musl" 2>err; done)
    row 'run.sh on a program that returns at once: median' "$(echo "$times" | sort -n | sed -n 8p)" 's, wall' le 0.4
    row 'run.sh on a program that returns at once: slowest of 15' "$(echo "$times" | sort -n | tail -n 1)" 's, wall'
    row "run.sh python3 -c 'print(1)', to its exit: least of 15" \
        "$(least_of 15 "$root/run.sh" -q -o "$work/hr.bin" /usr/bin/python3 -c 'print(1)')" 's, wall' le 0.6
    bench_served
    status=0
    "$HR" run -q --mem 64M "$WORKLOADS/hello-musl" >out 2>err </dev/null || status=$?
    row '--mem 64M: exit status' "$status" status le 0
}

# rate COMMAND...: MB/s of the command reading the large trace from a socket.
rate() {
    rm -f sink collected.bin
    "$TOOLS/socketfeed" large.bin "$@" 2>&1 >sink | tail -n 1
}

# median_of FILE
median_of() {
    sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# What reads and writes of a file cost the program: exact, in virtual time.
bench_files() {
    run --mode off "$WORKLOADS/costs-glibc-static"
    while read -r what bytes cost; do
        row "$what of $bytes byte$([ "$bytes" -eq 1 ] || echo s)" "$cost" instructions
    done <out
}

# From the command to its output: python3 here and on Debian's cloud kernel, under the same emulator.
bench_python() {
    cloud=$BUILD/cloud
    "$root/tests/bench/cloud.sh" prepare "$cloud" "$HR" || missed=1
    rm -f here there
    for _ in 1 2 3 4 5; do
        seconds "$root/run.sh" -q -o "$work/hr.bin" /usr/bin/python3 -c 'print(1)' >>here
        seconds "$root/tests/bench/cloud.sh" start "$cloud" "$HR" >>there
    done
    there_virtual=$(seconds "$root/tests/bench/cloud.sh" start "$cloud" "$HR" virtual)
    row "run.sh python3 -c 'print(1)': median of 5" "$(median_of here)" 's, wall'
    row "Debian's cloud kernel, python3 in an initramfs: median of 5" "$(median_of there)" 's, wall'
    row 'the same in virtual time, as run.sh runs' "$there_virtual" 's, wall'
    row "run.sh's share of the cloud kernel's time" "$(calc %.2f "$(median_of here) / $(median_of there)")" ratio le 0.5
}

bench_collector() {
    "$TOOLS/gentrace" --stream "$((samples / 5))" large.bin || missed=1
    cat large.bin >/dev/null
    rm -f cat.rates collect.rates
    for _ in 1 2 3 4 5 6 7 8 9 10 11; do # in turns, so that the machine's moods strike both
        rate cat >>cat.rates
        rate "$HR" collect -o collected.bin - >>collect.rates
    done
    cat=$(median_of cat.rates)
    collect=$(median_of collect.rates)
    cmp -n "$(($(stat -c %s large.bin) / 2))" large.bin collected.bin || missed=1
    row 'cat from a socket to the disk' "$cat" MB/s
    row 'hr collect from the same socket to the same disk' "$collect" MB/s
    row 'hr collect as a share of cat' "$(calc %.0f "100 * $collect / $cat")" % ge 70
    rm -f collected.bin sink large.bin
}

# port_of FILE: the port in it, when it is there.
port_of() {
    for _ in $(seq 100); do
        port=$(sed -n 's/^\(.*:\)\{0,1\}\([0-9][0-9]*\)\(;.*\)\{0,1\}$/\2/p' "$1")
        [ -z "$port" ] || { echo "$port"; return; }
        sleep 0.05
    done
}

# One machine's run over loopback into memory, to a sink that looks at nothing and to the collector.
bench_collect() {
    "$TOOLS/gentrace" --stream "$((samples / 5))" large.bin || missed=1
    rm -f sink.rates collect.rates collect.cpu
    memory=$(mktemp -d /dev/shm/microtome-bench.XXXXXX) || memory=$work/memory
    for _ in 1 2 3 4 5; do
        rm -rf "${memory:?}"/* port
        "$TOOLS/streamsink" "$memory/sink" >port &
        "$TOOLS/streamclient" --rate --trace large.bin "$(port_of port)" >>sink.rates || missed=1
        wait
        rm -rf "${memory:?}"/* port
        /usr/bin/time -a -o collect.cpu -f '%U %S' "$HR" collect -l tcp:0 -o "$memory/results" --runs 1 2>port &
        "$TOOLS/streamclient" --rate --trace large.bin "$(port_of port)" >>collect.rates || missed=1
        wait
    done
    cmp -n "$(stat -c %s large.bin)" large.bin "$memory/results/lab/run-1/hr.bin" || missed=1
    sink=$(median_of sink.rates)
    collect=$(median_of collect.rates)
    awk '{ print $1 + $2 }' collect.cpu >collect.seconds
    row 'a plain sink, from loopback to memory' "$sink" MB/s
    row 'hr collect --listen tcp:, the same' "$collect" MB/s
    # Wall time in which memory is filled for the first time says more of the machine than of either.
    row 'hr collect --listen tcp: as a share of the sink' "$(calc %.0f "100 * $collect / $sink")" %
    row 'hr collect --listen tcp: per second of processor time' \
        "$(calc %.0f "$(stat -c %s large.bin) / 1e6 / $(median_of collect.seconds)")" MB ge 500
    rm -rf "$memory" large.bin
}

# reading NAME MILLIONS-PER-SECOND ARG...: speed and memory of an hr command on the generated trace.
reading() {
    name=$1 least=$2
    shift 2
    cost "$HR" "$@" generated.bin
    row "$name, $((samples / 1000000)) million samples" "$(calc %.1f "$samples / 1e6 / $cpu")" 'M samples/s' ge "$least"
    row "$name: resident memory" "$rss" MiB le 64
}

# least_seconds ARG...: wall time of hr, least of five.
least_seconds() {
    for _ in 1 2 3 4 5; do seconds "$HR" "$@" generated.bin; done | sort -n | head -n 1
}

# sooner ARG...: wall time with one thread by that with two.
sooner() {
    calc %.2f "$(least_seconds "$@" --jobs 1) / $(least_seconds "$@" --jobs 2)"
}

# A tenth as many samples with call stacks of depth 20.
reading_stacks() {
    "$TOOLS/gentrace" --stacks fp $((samples / 10)) generated.bin || missed=1
    for view in '--total' '--stacks' '--no-total'; do
        cost "$HR" report --jobs 1 "$view" generated.bin
        # shellcheck disable=SC2046
        row "hr report $view, call stacks of depth 20" "$(calc %.1f "$samples / 1e7 / $cpu")" 'M samples/s' \
            $([ "$view" != --stacks ] || echo ge 3)
        row "hr report $view: resident memory" "$rss" MiB le 191
    done
}

bench_readers() {
    "$TOOLS/gentrace" "$samples" generated.bin || missed=1
    row 'generated trace' "$(calc %.0f "$(stat -c %s generated.bin) / 1e6")" MB
    cat generated.bin >/dev/null
    reading 'hr stat' 50 stat
    reading 'hr report' 20 report
    reading 'hr check' 50 check
    reading 'hr stat, one thread' 50 stat --jobs 1
    reading 'hr report, one thread' 20 report --jobs 1
    for view in stat timeline 'hist --of interval --of cycles' noise; do
        # shellcheck disable=SC2086
        row "hr ${view%% *}, how much sooner two threads end" "$(sooner $view)" times ge 1.7
    done
    reading_stacks
}

# Commands that follow a trace, beside the run that writes it.
bench_follow() {
    for command in stat report; do
        /usr/bin/time -f '%U %S %M' -o usage "$HR" $command --interval 500ms live.bin >out 2>errors &
        run_s=$(seconds "$HR" run -q -i 1us -o live.bin "$WORKLOADS/phases" 60 2)
        wait $! || missed=1
        read -r user system rss <usage
        row "hr $command --interval 500ms, beside a run of $(calc %.0f "$run_s") s" \
            "$(calc %.2f "100 * ($user + $system) / $run_s")" '% of a CPU' le 2
        row "hr $command --interval 500ms: resident memory" "$(calc %.1f "$rss / 1024")" MiB le 64
        rm live.bin
    done
}

# A quarter as many invocations as samples: two hits of probes each.
bench_latency() {
    invocations=$((samples / 4))
    "$TOOLS/genprobes" --many "$invocations" invocations.bin || missed=1
    cat invocations.bin >/dev/null
    for view in '' '--counters' '--by callsite'; do
        # shellcheck disable=SC2086
        cost "$HR" latency $view invocations.bin
        row "hr latency${view:+ $view}, $((invocations / 1000000)) million invocations" \
            "$(calc %.1f "2 * $invocations / 1e6 / $cpu")" 'M hits/s' ge 20
        row "hr latency${view:+ $view}: resident memory" "$rss" MiB le 200
    done
    rm -f invocations.bin
}

# Precise accesses: half of the samples that other readers are given.
bench_accesses() {
    accesses=$((samples / 2))
    "$TOOLS/genaccesses" --many "$accesses" accesses.bin || missed=1
    cat accesses.bin >/dev/null
    row 'trace, a precise access' "$(calc %.1f "$(stat -c %s accesses.bin) / $accesses")" bytes
    for view in '' '--by function' '--lines'; do
        # shellcheck disable=SC2086
        cost "$HR" memory $view accesses.bin
        row "hr memory${view:+ $view}, $((accesses / 1000000)) million accesses" \
            "$(calc %.1f "2 * $accesses / 1e6 / $cpu")" 'M accesses/s' ge 10
        row "hr memory${view:+ $view}: resident memory" "$rss" MiB le 300
    done
    for command in 'memory --map' 'view -o accesses.html'; do
        # shellcheck disable=SC2086
        cost "$HR" $command accesses.bin
        row "hr $command, $((accesses / 1000000)) million accesses" "$cpu" 's, CPU'
        row "hr $command: resident memory" "$rss" MiB le 300
    done
    row 'the page' "$(calc %.2f "$(stat -c %s accesses.html) / 1e6")" MB le 20
    row 'its map of memory' "$(calc %.2f "$(sed -n 's/.*id="data-memory">//p' accesses.html | wc -c) / 1e6")" MB le 0.6
    rm -f accesses.bin accesses.html
    bench_objects
}

# 10 million objects that are live at once: three frees and another allocation for one in ten, too.
bench_objects() {
    "$TOOLS/genallocs" 10000000 objects.bin || missed=1
    cat objects.bin >/dev/null
    cost "$HR" memory objects.bin
    row 'hr memory, 14 million calls, 10 million objects live' "$(calc %.1f "14 / $cpu")" 'M calls/s' ge 1
    row 'hr memory, 10 million objects live: resident memory' "$(calc %.0f "$rss")" MiB le 700
    rm -f objects.bin
}

# What call stacks add to a trace, and how fast they come out of it. Debian's python3 has no frame pointers: its stacks
# are unwound from copies, and encoded as the sampler's return addresses are.
bench_stacks() {
    "$TOOLS/gentrace" --stacks fp 1000000 stacks.bin || missed=1
    stack_rows 'made-up calls, 1 M samples' stacks.bin
    cost "$HR" export folded -o stacks.folded stacks.bin
    row 'hr export folded, 1 M samples with stacks' "$cpu" 's, CPU' le 2
    run -i 1us -g dwarf "$WORKLOADS/phases" 20 1
    stack_rows 'phases' hr.bin
    run -i 1us -g dwarf --file "$root/tests/bench/stacks.py" /usr/bin/python3 -S "$root/tests/bench/stacks.py" 60
    stack_rows 'python3' hr.bin
    row 'python3, -g dwarf: registers and copies' "$(stat_of '.stacks.bytes / .samples * 10 | round / 10')" bytes/sample
    rm -f stacks.bin stacks.folded
}

# stack_rows NAME FILE
stack_rows() {
    "$TOOLS/restack" "$2" >out || missed=1
    read -r taken depth plain more <out
    row "$1: samples" "$taken" samples
    row "$1: depth of stacks" "$depth" frames
    row "$1: a sample without its stack" "$plain" bytes
    row "$1: stacks as return addresses add" "$more" bytes/sample le 6
}

bench_unwind() {
    "$TOOLS/unwind" >out || missed=1
    read -r warm frames cold <out
    row 'copied stacks followed by call frame information' "$(calc %.0f "$warm / 1e3")" '1000 stacks/s' ge 100
    row 'frames of such a stack' "$frames" frames ge 20
    row 'with 64 different ones and no rule known' "$(calc %.1f "$cold / 1e3")" '1000 stacks/s'
}

# Beside perf itself on the same samples.  perf prints a line for each of six events of a sample, hr one for all.
bench_exports() {
    "$TOOLS/gentrace" --elf "$WORKLOADS/phases" 2000000 two.bin || missed=1
    cost "$HR" export perf -o two.data two.bin
    row 'hr export perf, 2 million samples with five events' "$cpu" s
    row 'perf.data' "$(calc %.0f "$(stat -c %s two.data) / 1e6")" MB
    cost perf script -i two.data
    perf_script=$cpu
    cost "$HR" dump two.bin
    dump=$cpu
    row 'perf script' "$perf_script" s
    row 'hr dump --format csv' "$dump" s
    row 'hr dump, times faster than perf script' "$(calc %.0f "$perf_script / $dump")" times ge 30
    cost perf report --stdio -i two.data
    perf_report=$cpu
    cost "$HR" report two.bin
    report=$cpu
    row 'perf report --stdio' "$perf_report" s
    row 'hr report' "$report" s
    row 'hr report, times faster than perf report' "$(calc %.0f "$perf_report / $report")" times ge 30
    rm -f two.data
    "$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp 1000000 stacks.bin || missed=1
    cost "$HR" export folded -o folded stacks.bin
    row 'hr export folded, 1 million stacks of about 20 frames' "$cpu" s le 2
    "$TOOLS/gentrace" --elf "$WORKLOADS/phases" 10000000 ten.bin || missed=1
    row 'hr export sqlite, 10 million samples' "$(seconds "$HR" export sqlite -o ten.sqlite ten.bin)" s le 60
    cost "$HR" export sqlite -o ten.sqlite ten.bin
    row 'hr export sqlite: processor time' "$cpu" s le 8
    row 'hr export sqlite: resident memory' "$rss" MiB le 200
    row 'hr export sqlite: database' "$(calc %.0f "$(stat -c %s ten.sqlite) / 1e6")" MB
    rm -f ten.* stacks.bin folded
}

printf '| %-58s | %12s | %-14s | %-8s | %s |\n' Figure Measured Unit Limit Verdict
echo '|---|---:|---|---|---|'
# The page of 10 million samples: written by hr view, opened and moved in headless Chromium.
bench_view() {
    "$TOOLS/gentrace" --elf "$WORKLOADS/phases" 10000000 view.bin || missed=1
    "$HR" view view.bin # into the page cache
    cost "$HR" view view.bin
    row 'hr view: 10 million samples written, CPU time' "$cpu" s le 5
    row 'hr view: resident memory' "$rss" MiB le 150
    row 'hr view: 10 million samples written in' "$(seconds "$HR" view view.bin)" s
    row 'hr view: the page' "$(calc %.2f "$(stat -c %s view.html) / 1e6")" MB le 20
    "$TOOLS/genmany" 110000 many.bin || missed=1
    cost "$HR" view many.bin
    row 'hr view: resident memory, call stacks that do not repeat' "$rss" MiB le 150
    if ! command -v chromium >/dev/null; then
        echo 'bench: hr view: chromium is not installed: nothing opened' >&2
        return
    fi
    python3 "$root/tests/view/bench.py" view.html >figures || missed=1
    read -r first ready draw draw95 frame <figures
    row 'hr view: opened, to the first picture' "$(calc %.2f "$first / 1000")" s le 3
    row 'hr view: opened, all read' "$(calc %.2f "$ready / 1000")" s le 3
    row 'hr view: moved, drawing a frame, median' "$draw" ms le 16
    row 'hr view: moved, drawing a frame, 95 %' "$draw95" ms
    row 'hr view: moved, from frame to frame, median' "$frame" ms
}

# streamed MODEL BLOCKS: seconds of wall time of a run whose program writes so many blocks of 64 KiB to its standard
# output, which travel over TCP through an emulated network card to hr collect.
streamed() {
    "$HR" pack -o stream.cpio --cpus 1 --mode off busybox dd if=/dev/zero bs=64k "count=$2" >/dev/null 2>err || missed=1
    rm -rf streamed
    "$HR" collect --listen tcp:4819 -o streamed --runs 1 -q 2>collect.err &
    collector=$!
    begin=$(date +%s%N)
    timeout 300 qemu-system-x86_64 -machine q35 -accel tcg -cpu max -smp 2 -m 512 -nodefaults -display none -no-reboot \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -netdev user,id=net -device "$1,netdev=net" \
        -kernel "$BUILD/guest.elf" -initrd stream.cpio -serial file:serial.log \
        -append "output=network collector=10.0.2.2:4819 address=10.0.2.15/24 buffer=64M machine=bench run=dd id=1" \
        </dev/null >qemu.log 2>&1
    wait "$collector" || { cat collect.err serial.log >&2; missed=1; }
    calc %.3f "($(date +%s%N) - $begin) / 1e9"
    [ "$(stat -c %s streamed/bench/dd-1/stdout)" -eq $((65536 * $2)) ] || missed=1
}

# What arrives over TCP through a card of the emulator, beside what iperf3 gets from a Linux guest through the same.
bench_network() {
    linux_dir=${HR_BENCH_LINUX:-$work/linux}
    sh "$root/tests/bench/linux_network.sh" prepare "$linux_dir" || missed=1
    for card in virtio-net-pci e1000 e1000e; do
        linux=$(sh "$root/tests/bench/linux_network.sh" measure "$linux_dir" $card) || missed=1
        short=$(streamed $card 400)
        long=$(streamed $card 4400)
        ours=$(calc %.0f "65536 * 4000 / ($long - $short)")
        row "$card: iperf3 from a Linux guest" "$(calc %.1f "$linux / 1e6")" MB/s
        row "$card: a run's output to hr collect" "$(calc %.1f "$ours / 1e6")" MB/s
        row "$card: as a share of iperf3" "$(calc %.0f "100 * $ours / $linux")" % ge 60
    done
}

# Results onto a stick, beside what the firmware's own shell makes of its file system.
bench_stick() {
    sh "$root/tests/bench/stick.sh" >rates || missed=1
    read -r ours shell <rates
    row 'a stick: the loader writes a trace' "$(calc %.1f "$ours / 1e6")" MB/s
    row 'a stick: cp of the UEFI shell' "$(calc %.1f "$shell / 1e6")" MB/s
    row 'a stick: the loader as a share of the shell' "$(calc %.0f "100 * $ours / $shell")" % ge 100
}

# made_up COUNT: a folder of a sweep that ended, in which each of COUNT runs has the trace one.bin, which has five events.
made_up() {
    mkdir -p made/runs
    ln one.bin made/runs/first.hr
    echo '4294967295,0,1,0,0,00000000' >made/jobs.csv
    for n in $(seq 1 "$1"); do
        ln one.bin "made/runs/$(printf %04d "$n")-1.hr"
        echo "$((n - 1)),0,1,0,0,00000000" >>made/jobs.csv
    done
    jq -n --argjson n "$1" '{version: 1, program: ["x"], options: [], processor: "x", repeat: 1, seed: 1, least: $n,
        events: [range(4 * $n) | {name: "e\(.)", description: ""}], runs: [range($n) | [4 * . + range(4)]],
        jobs: [range($n) | [., 0]]}' >made/sweep.json
}

# A sweep beside its own runs one after the other; the reading of many traces.
bench_sweep() {
    "$TOOLS/gentrace" --elf "$WORKLOADS/phases" 1000000 one.bin || missed=1
    made_up 200
    read_s=$(seconds /usr/bin/time -f '%M' -o usage "$HR" sweep --resume -q -o made)
    row 'hr sweep, 200 traces of a million samples: reading' "$(calc %.1f "200 / $read_s")" 'M samples/s' ge 16.7
    row 'hr sweep: resident memory' "$(calc %.0f "$(cat usage) / 1024")" MiB le 500
    rm -rf made
    modelled=Icelake-Server,model=106,pmu=on
    if [ -z "${QEMU:-}" ]; then
        echo '| sweep: its runs are left out, QEMU names no emulator with a modelled PMU | | | | |'
        return
    fi
    set -- --accel tcg --qemu "$QEMU" --cpu "$modelled"
    sweep_s=$(seconds "$HR" sweep -q "$@" -e cycles -e 'BR_*' -e 'MEM_*' -e 'L2_*' -o swept "$WORKLOADS/phases" 20 1)
    begin=$(date +%s%N)
    jq -r '.events as $e | .runs[] | map($e[.].name) | join(",")' swept/sweep.json | while read -r list; do
        "$HR" run -q -o swept/again.bin "$@" -e "instructions,$list" "$WORKLOADS/phases" 20 1 >out 2>err </dev/null
    done
    alone_s=$(calc %.3f "($(date +%s%N) - $begin) / 1e9")
    row "a sweep of phases, $(jq '.events | length' swept/sweep.json) events" "$sweep_s" s
    row "its $(jq '.runs | length' swept/sweep.json) runs, one after the other" "$alone_s" s
    row 'the sweep by its runs' "$(calc %.2f "$sweep_s / $alone_s")" times le 1.15
    rm -rf swept
}

# The instructions of one program on several machines; not by default, because it fetches Debian 13's emulator (38 MB), which
# HR_BENCH_MACHINES=FOLDER keeps.
bench_machines() {
    export BUILD HR
    sh "$root/tests/bench/machines.sh" "${HR_BENCH_MACHINES:-$work/machines}" >machines.tsv || missed=1
    tab=$(printf '\t')
    while IFS=$tab read -r what where count; do
        count=${count%%,*}
        row "$what: $where" "${count#[}" instructions
    done <machines.tsv
    row 'microtome: machines' "$(grep -c "^microtome.*\[" machines.tsv)" '' ge 4
    row 'microtome: different counts of any event' "$(sed -n 's/^microtome.*\[/[/p' machines.tsv | sort -u | wc -l)" '' le 1
    for what in callgrind perf; do
        sed -n "s/^$what$tab.*$tab\([0-9]\)/\1/p" machines.tsv | sort -n >counts
        [ ! -s counts ] || row "$what: from the least to the most" "$(calc %.2f "100 * $(tail -n 1 counts) / $(head -n 1 counts) - 100")" %
    done
}

# A comparison and its own runs one after the other.
bench_compare() {
    set -- --accel tcg
    compare_s=$(seconds "$HR" compare -q --repeat 10 "$@" -- "$WORKLOADS/phases" 20 1 ::: "$WORKLOADS/phases" 21 1)
    begin=$(date +%s%N)
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        for passes in 20 21; do
            "$HR" run -q -o again.bin "$@" "$WORKLOADS/phases" $passes 1 >out 2>err </dev/null
        done
    done
    alone_s=$(calc %.3f "($(date +%s%N) - $begin) / 1e9")
    row 'a comparison of ten runs each' "$compare_s" s
    row 'its runs, one after the other' "$alone_s" s
    row 'the comparison by its runs' "$(calc %.2f "$compare_s / $alone_s")" times le 1.15
}

# kill_node NAME: as if its power failed: its slurmd and all that it started.
kill_node() {
    kill -9 "$(cat "$slurm/$1.pid")"
    rm "$slurm/$1.pid"
    for process in /proc/[0-9]*; do
        ! tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qx "SLURMD_NODENAME=$1" || kill -9 "${process#/proc/}"
    done 2>/dev/null
}

# A sweep of 200 tasks by a Slurm of four nodes on this machine, of which one dies.
bench_slurm() {
    . "$root/tests/slurm.sh"
    if [ -z "${QEMU:-}" ] || ! slurm_is_here || ! slurm_start 4 "$work/slurm"; then
        echo '| slurm: left out, there is no Slurm, or QEMU names no emulator with a modelled PMU | | | | |'
        return
    fi
    (
        until [ "$(wc -l 2>/dev/null <tasks/jobs.csv || echo 0)" -gt 50 ]; do sleep 0.2; done
        kill_node n2
    ) &
    sweep_s=$(seconds "$HR" sweep -q --slurm --accel tcg --qemu "$QEMU" --cpu Icelake-Server,model=106,pmu=on -e all \
        --repeat 4 -o tasks "$WORKLOADS/hello")
    wait
    slurm_stop
    row "a sweep by four nodes of Slurm, of which one dies: $(jq '.jobs | length' tasks/sweep.json) tasks" "$sweep_s" s
    row 'its runs that are there' "$(sqlite3 tasks/sweep.db "SELECT 100.0 * sum(state='done' AND note='') / count(*) FROM runs")" % ge 100
    rm -rf tasks
}

for section in ${HR_BENCH:-sampling counters accuracy memory threads processes files start python collector collect readers follow latency accesses stacks unwind view exports network stick sweep compare slurm}; do
    case $section in
    sampling) bench_sampling ;;
    counters) bench_counters ;;
    accuracy) bench_accuracy ;;
    memory) bench_memory ;;
    threads) bench_threads ;;
    processes) bench_processes ;;
    start) bench_start ;;
    files) bench_files ;;
    python) bench_python ;;
    collector) bench_collector ;;
    collect) bench_collect ;;
    readers) bench_readers ;;
    follow) bench_follow ;;
    latency) bench_latency ;;
    accesses) bench_accesses ;;
    stacks) bench_stacks ;;
    unwind) bench_unwind ;;
    view) bench_view ;;
    exports) bench_exports ;;
    network) bench_network ;;
    stick) bench_stick ;;
    sweep) bench_sweep ;;
    machines) bench_machines ;;
    compare) bench_compare ;;
    slurm) bench_slurm ;;
    *)
        echo "bench: HR_BENCH: unknown section $section" >&2
        missed=1
        ;;
    esac
done
[ "$missed" -eq 0 ] && echo 'every limit is met' || echo 'a limit is missed'
exit "$missed"
