# What a sample costs in exits, by tracefs inside kvm-host.  Sourced after host.sh.
# shellcheck shell=sh

# traced NAME OPTION... -- PROGRAM ARG...: like guest, with a trace of the program's exits in NAME.exits.
traced() {
    inside trace_begin
    guest "$@"
    inside "trace_end $1"
}

# plan_exits RUN...: plans runs named MODE-EVENTS, such as timer-2.
plan_exits() {
    plan_begin
    for run in "$@"; do
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
