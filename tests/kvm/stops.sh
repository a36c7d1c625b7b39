# Runs that are stopped at random moments: SIGKILL or SIGINT to hr, SIGKILL to the emulator, --timeout.  Nothing hangs, no
# emulator stays, every trace is readable.  HR_TEST_LONG=1: 50 stops; STOPS: how many; STOPS_SEED: which.  On one CPU the trace is
# sent when half of the ring is full: with DWARF's stacks that is 30 samples, without them 4,096, which took 45 s in there.
# Sourced after host.sh.
# shellcheck shell=sh

stops=${STOPS:-6}
[ -z "${HR_TEST_LONG:-}" ] || stops=${STOPS:-50}

plan_stops() {
    echo "# $stops stops, seed ${STOPS_SEED:-1}"
    needs "$WORKLOADS/crash-musl"
    awk -v stops="$stops" -v seed="${STOPS_SEED:-1}" 'BEGIN {
        srand(seed)
        wanted["hr"] = 137; wanted["int"] = 130; wanted["emulator"] = 125; wanted["timeout"] = 124
        kinds = split("hr emulator timeout int", kind, " ")
        modes = split("-i 2ms|-F 200 -e instructions,cycles|--cpus 0 -g dwarf -i 1ms|-g dwarf -i 3ms|-m ipi -i 2ms", mode, "|")
        for (i = 1; i <= stops; i++) {
            what = kind[(i - 1) % kinds + 1]
            from = what == "timeout" || rand() < 0.3 ? "start" : "trace"
            longest = what == "timeout" ? 12000 : from == "start" ? 5000 : 1500
            printf "stop %d %s %s %d %d %s\n", i, what, from, 20 + int(rand() * longest), wanted[what],
                mode[int(rand() * modes) + 1]
        }
    }' >stops
    while read -r line; do
        inside "$line"
    done <stops
    sed 's/^/# /' stops
}

check_stops() {
    is 'every stop has ended' "$(grep -c . results/stops)" "$stops"
    is 'no emulator is left' "$(awk '$7 != 0' results/stops)" ''
    while read -r number kind from after wanted status _; do
        name="stop $number, $kind after $after ms from $from"
        is "$name: status" "$status" "$wanted"
        trace=results/stop-$number.bin
        if [ "$from" = start ] && [ ! -s "$trace" ]; then
            skip 2 "$name: before the trace's first byte"
            continue
        fi
        run_hr check "$trace"
        within "$name: hr check gives a verdict" "$status" 0 1
        run_hr stat "$trace"
        is "$name: hr stat reads the trace" "$status" 0
    done <results/stops
}
