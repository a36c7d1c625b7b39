#!/bin/sh
# --mode exact: every instruction is counted where it is, and nothing is left over.
. "$(dirname "$0")/../lib.sh"

# placed FILE: the sum of the report's rows.
placed() {
    "$HR" report --format csv --limit 0 --min 0 "$1" |
        awk -F, 'NR > 1 { sum += $4 } END { printf "%d", sum }'
}

# count_exactly WHAT PROGRAM ARG...: runs it and compares sum, total, and the total of mode off.
count_exactly() {
    what=$1
    shift
    run_guest -q --mode off "$@"
    off=$(total hr.bin instructions)
    run_guest -q --mode exact -o exact.bin "$@"
    is "$what: the total is that of mode off" "$(total exact.bin instructions)" "$off"
    is "$what: every instruction has a place" "$(placed exact.bin)" "$off"
    "$HR" dump --format records exact.bin >records
    like "$what: and the trace says so" records "^  exact instructions=$off homeless=0 lost_faults=0 "
}

count_exactly 'static' "$WORKLOADS/hello"
count_exactly 'threads' "$WORKLOADS/threads"
count_exactly 'handlers' "$WORKLOADS/signals"
count_exactly 'a signal for every thread' "$WORKLOADS/sigthreads"
count_exactly 'dynamic' /bin/sh -c 'for i in 1 2 3; do echo $i; done'

# Exceptions: a page fault repeats an instruction, a divide error does not complete one, invalid and
# privileged ones count once.  A program that is killed keeps its counts.
for way in segv non-canonical null-call data-execute text-store ill fpe; do
    run_guest -q --mode exact -o exact.bin "$WORKLOADS/crash" $way
    is "crash $way: every instruction has a place" "$(placed exact.bin)" "$(total exact.bin instructions)"
done

cat >branches.c <<'END'
#include <pthread.h>
static volatile unsigned long data[64];
__attribute__((noinline)) void odd(void) { data[1]++; }
__attribute__((noinline)) void *work(void *argument)
{
    unsigned long n = (unsigned long)argument;
    for (unsigned long i = 0; i < n; i++)
        if (i % 5 == 0)
            odd();
    return 0;
}
static void *(*volatile pointer)(void *) = work;
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)3000);
    pthread_join(thread, 0);
    pointer((void *)1000);
    return 0;
}
END
gcc -g -O1 -static -o branches branches.c -lpthread || exit 1
run_guest -q --mode exact -o branches.bin ./branches
# of COLUMN FUNCTION [OPTION...]: a count of a function.
of() {
    column=$1 function=$2
    shift 2
    "$HR" report --format csv --limit 0 --min 0 "$@" branches.bin | awk -F, -v c="$column" -v f="$function" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i }
        $1 == f { printf "%d", $n }'
}
is 'calls, direct' "$(of calls:u odd)" 800
is 'calls, by pointers' "$(of calls:u work)" 2
is 'loads: the counter and the return address' "$(of loads:u odd)" 1600
is 'stores' "$(of stores:u odd)" 800
"$HR" dump --format records branches.bin | sed -n 's/^  exact-counts tid=\([0-9]*\) .*/\1/p' >tids
is 'two threads have counts' "$(wc -l <tids)" 2
is 'each thread has its calls' \
    "$(of calls:u odd --thread "$(head -n 1 tids)").$(of calls:u odd --thread "$(tail -n 1 tids)")" 200.600
"$HR" report --by address --format csv --limit 0 --min 0 branches.bin |
    awk -F, '$2 == "work" && $9 == 4000 { print $11 }' | sort -n | xargs >taken
like 'the branch around the call, and that of the loop' taken '^(2 (800|3200)|(800|3200) 3998)$'
run_hr annotate -e taken-branches work branches.bin
is 'annotate: status' "$status" 0
like 'annotate: the columns' out '^# +share +instructions +taken-branch'
run_hr report branches.bin
like 'report: says that it is exact' out '^# [0-9,]+ instructions, mode exact: counted, not sampled$'
run_hr report --from 1us branches.bin
is 'report: there are no times' "$status.$(cat err)" \
    '1.hr: branches.bin: mode exact counts over the whole run; leave out --from and --to'
run_hr stat branches.bin
like 'stat: branches' out '^ +[0-9,]+  branches:u +exact, counted by the emulator$'
run_hr check branches.bin
is 'check: whole' "$status" 0

# The same program under another name, in the same place: its functions did the same.
cp branches another
run_guest -q --mode exact -o another.bin ./another
run_hr diff --fail-above 0 --function work branches.bin another.bin
is 'diff: the same program does the same' "$status.$(cat err)" 0.

if command -v valgrind >/dev/null; then
    run_guest -q --mode exact -o exact.bin "$WORKLOADS/phases-musl" 3 1
    valgrind --tool=callgrind --callgrind-out-file=theirs "$WORKLOADS/phases-musl" 3 1 >/dev/null 2>&1
    # functions FILE: what callgrind_annotate says of them: names and instructions.
    functions() {
        callgrind_annotate --auto=no --threshold=100 --show=Ir --show-percs=no "$1" |
            awk '$1 ~ /^[0-9,]+$/ && !/PROGRAM TOTALS/ { gsub(",", "", $1); sub(/^.*:/, "", $2); sum[$2] += $1 }
                END { for (name in sum) print name, sum[name] }' | sort # a function may be in several files
    }
    functions theirs >theirs.txt
    "$HR" report --format csv --limit 0 --min 0 exact.bin |
        awk -F, 'NR > 1 { sum[$1] += $4 } END { for (name in sum) print name, sum[name] }' | sort >ours.txt
    # These depend on the environment, and there are several that are called dummy.
    join theirs.txt ours.txt | awk '$1 !~ /^(__init_libc|__malloc_alloc_meta|dummy)$/' >both
    ok 'functions in common with callgrind' test "$(wc -l <both)" -ge 40
    is 'each has the count that callgrind has' "$(awk '$2 != $3' both)" ''
    run_hr export callgrind -o ours exact.bin
    is 'export callgrind: status' "$status.$(cat err)" 0.
    like 'export callgrind: all events' ours '^events: Ir Branches TakenBranches Loads Stores Calls$'
    functions ours >again.txt
    is 'export callgrind: callgrind_annotate reads it, function by function as the report' \
        "$(diff ours.txt again.txt)" ''
else
    skip 'callgrind' 'valgrind is not installed'
fi

run_hr export perf -o no.data branches.bin
is 'export: formats with times are refused' "$status.$(cat err)" \
    '1.hr: branches.bin: mode exact has counts without times; export it as callgrind, folded or pprof'
run_hr export folded -o - branches.bin
like 'export folded' out '^odd [0-9]+$'

# What cannot be counted so is refused with the reason.
refused() {
    expected=$1
    shift
    run_hr run --mode exact -o no.bin "$@" "$WORKLOADS/hello"
    is "refused: $1" "$status.$(cat err)" "125.hr: $expected"
}
refused '--cpus 2: --mode exact counts on one CPU that does everything; leave --cpus out' --cpus 2
refused '--accel kvm: --mode exact is counted by the emulator, and KVM executes without it; leave one of the two out' --accel kvm
refused '--libvirt: --mode exact needs an emulator that hr starts itself; leave one of the two out' --libvirt
refused '--event: --mode exact counts instructions, branches, loads, stores and calls; leave one of the two out' -e cycles
refused '--call-graph: --mode exact takes no samples that could have call stacks; leave one of the two out' -g
printf '#!/bin/sh\necho "-plugin: invalid option" >&2\nexit 1\n' >plain-qemu
chmod +x plain-qemu
run_hr run --mode exact -o no.bin --qemu ./plain-qemu "$WORKLOADS/hello"
is 'an emulator without plugins' "$status.$(grep -v '^guest' err)" \
    "125.hr: --mode exact: ./plain-qemu did not load the plugin $(dirname "$HR")/exact.so: -plugin: invalid option; use Debian's QEMU, or another mode"

done_testing
