# Sections of bench.sh, which reads this file: programs in the guest against programs elsewhere.
# shellcheck shell=sh

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
    row 'futex wake to run on another thread: all kernel work' "$(calc %.1f "$each / 2")" instructions le 1850
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
    row 'run.sh on a program that returns at once: median' "$(echo "$times" | sort -n | sed -n 8p)" 's, wall' le 0.1
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
