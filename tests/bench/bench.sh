#!/bin/sh
# Measures size, speed and accuracy against their limits; prints a table, fails if a limit is missed.
# Called by `make bench`. HR_BENCH_SAMPLES: samples of the generated trace (200 million by default). HR_BENCH: the
# sections to run (all by default). QEMU: an emulator with a modelled PMU, for the section "counters". HR_BENCH_SCALING: the
# lengths of the traces of the section "scaling"; HR_BENCH_PICTURE: where its picture is kept.
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

# A twentieth as many samples: what is written for each of them is formatted in all threads.  Rows take so little that two
# threads share the memory's bandwidth, too: their limit is a speed.  Exports that add up samples
# write in one thread at a time, and hiresperf's log is mostly written.
sooner_rows() {
    "$TOOLS/gentrace" $((samples / 20)) generated.bin || missed=1
    for view in dump 'export csv -o -'; do
        # shellcheck disable=SC2086
        row "hr ${view%% -*}, two threads" "$(calc %.1f "$samples / 20e6 / $(least_seconds $view --jobs 2)")" \
            'M rows/s' ge 15
        # shellcheck disable=SC2086
        row "hr ${view%% -*}, how much sooner two threads end" "$(sooner $view)" times
    done
    for view in 'diff generated.bin' 'export perfetto -o -'; do
        # shellcheck disable=SC2086
        row "hr ${view%% -*}, how much sooner two threads end" "$(sooner $view)" times ge 1.7
    done
    row 'hr view, how much sooner two threads end' "$(sooner view -o -)" times ge 1.4
    for format in folded callgrind hrperf pprof; do
        row "hr export $format, how much sooner two threads end" "$(sooner export $format -o -)" times
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
    for view in stat report timeline 'hist --of interval --of cycles' noise; do
        # shellcheck disable=SC2086
        row "hr ${view%% *}, how much sooner two threads end" "$(sooner $view)" times ge 1.7
    done
    sooner_rows
    reading_stacks
}

# The same readers on traces of which each is ten times as long as the one before: 7 bytes a sample, so that a billion take 7 GB.
bench_scaling() {
    "$TOOLS/gentrace" 1000 small.bin || missed=1
    set --
    for count in ${HR_BENCH_SCALING:-1000000 10000000 100000000}; do
        "$TOOLS/gentrace" "$count" "scaling-$count.bin" || missed=1
        set -- "$@" "$count" "scaling-$count.bin"
    done
    "$TOOLS/scaling" measure "$HR" small.bin "$@" >scaling.txt || missed=1
    rm -f scaling-*.bin
    while read -r reader count ns mib; do
        row "hr $reader, $((count / 1000000)) million samples: CPU time a sample" "$ns" ns
        row "hr $reader, $((count / 1000000)) million samples: resident memory" "$mib" MiB le 64
    done <scaling.txt
    for reader in $(cut -d ' ' -f 1 scaling.txt | sort -u); do
        row "hr $reader: the longest trace's time a sample by the shortest's" \
            "$(awk -v r="$reader" '$1 == r { if (!first) first = $3; last = $3 } END { printf "%.2f", last / first }' \
                scaling.txt)" times le 1.1
    done
    [ -z "${HR_BENCH_PICTURE:-}" ] || "$TOOLS/scaling" draw <scaling.txt >"$root/$HR_BENCH_PICTURE" || missed=1
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

. "$root/tests/bench/bench_kernel.sh"
. "$root/tests/bench/bench_programs.sh"
. "$root/tests/bench/bench_machines.sh"
. "$root/tests/bench/bench_wall.sh"

for section in ${HR_BENCH:-sampling counters accuracy wall memory threads processes files start python collector collect readers scaling follow latency accesses stacks unwind view exports network stick sweep compare slurm}; do
    case $section in
    sampling) bench_sampling ;;
    counters) bench_counters ;;
    accuracy) bench_accuracy ;;
    wall) bench_wall ;;
    memory) bench_memory ;;
    threads) bench_threads ;;
    processes) bench_processes ;;
    start) bench_start ;;
    files) bench_files ;;
    python) bench_python ;;
    collector) bench_collector ;;
    collect) bench_collect ;;
    readers) bench_readers ;;
    scaling) bench_scaling ;;
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
