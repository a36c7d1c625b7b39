# What a sample costs in exits, by tracefs inside kvm-host: a timer sample with N events at most N + 3, one on overflow at most
# N + 5.  Sourced after host.sh.
# shellcheck shell=sh

# traced NAME OPTION... -- PROGRAM ARG...: like guest, with a trace of the program's exits in NAME.exits.
traced() {
    inside trace_begin
    guest "$@"
    inside "trace_end $1"
}

# plan_exits: plans runs named MODE-EVENTS, such as timer-2.  EXITS=all: every mode and number of events.
plan_exits() {
    exits_runs='timer-1 timer-5 ipi-2 overflow-1 overflow-5'
    [ "${EXITS:-}" != all ] || exits_runs='off-1 timer-1 timer-2 timer-3 timer-4 timer-5 ipi-1 ipi-5
        overflow-1 overflow-2 overflow-3 overflow-4 overflow-5'
    for run in $exits_runs; do
        case $run in
        timer-*) set -- -i 3ms ;;
        ipi-*) set -- -m ipi -i 3ms ;;
        overflow-*) set -- -c 300007 ;;
        off-*) set -- -m off ;;
        esac
        events=$(echo instructions,branches,cycles,branch-misses,cache-misses | cut -d, -f "-${run#*-}")
        traced "$run" "$@" -e "$events" -- spin-musl 60000000
    done
}

# exits_of RUN: its exits by reason, in the file exits; $samples, and $exits: those of sampling, a sample.
# shellcheck disable=SC2034
exits_of() {
    seen "$1"
    awk -v mode="${1%-*}" -f "$ROOT/tests/kvm/exits.awk" "results/$1.exits" | sort >exits
    samples=$(stat_of hr.bin .samples)
    exits=$(awk -v samples="$samples" '$1 == "sampling" { printf "%.2f", samples ? $2 / samples : 0 }' exits)
}

# print_exits RUN...: a table, a line a run.
print_exits() {
    echo '# run           samples  exits/sample  by reason, a sample'
    for run in "$@"; do
        exits_of "$run"
        awk -v run="$run" -v samples="$samples" -v exits="$exits" '
            $1 != "sampling" { by = by sprintf(" %s %.2f", $1, $2 / (samples ? samples : 1)) }
            END { printf "# %-14s %7d  %12s %s\n", run, samples, exits, by }' exits
    done
}

# at_most RUN EXITS: exits a sample, with a little for the program's start and end.
at_most() {
    exits_of "$1"
    within "$1: there are samples" "$samples" 20 10000
    within "$1: exits a sample" "$exits" 1 "$2.3"
}

check_exits() {
    # shellcheck disable=SC2086
    print_exits $exits_runs
    for events in 1 5; do
        at_most timer-$events $((events + 3))
        at_most overflow-$events $((events + 5))
    done
    [ ! -e results/ipi-2.bin ] || at_most ipi-2 5
}
