#!/bin/sh
# A program that links libhr: regions, polls, pause and start, marks, log; natively it does nothing.
# QEMU and FLAVOURS: as in 10-counters.t.
. "$(dirname "$0")/../lib.sh"

REGIONS=$WORKLOADS/regions
# The constants of docs/libhr.md: what an empty region reads where the kernel reads the counters, and
# where the program does, by the number of counters.
empty_kernel=14
empty_user() { echo $((16 + 5 * $1)); }
# A region around N iterations: 2 N + 1 instructions, and 2 to call them.
loop_length() { echo $((2 * $1 + 3)); }

# region NAME EVENT: the line of that record without its histogram.
region() {
    "$ROOT/tests/tools/regions.pl" hr.bin | sed -n "s/^$1 $2 \(.*\) buckets=.*/\1/p"
}

# exact WHERE EMPTY: the regions of `regions regions 10` are exact in event 0.
exact() {
    is "$1: an empty region reads $2 instructions, always" "$(region empty 0)" \
        "passes=10 sum=$((10 * $2)) min=$2 max=$2 threads=1"
    short=$(($(loop_length 1000) + $2))
    long=$(($(loop_length 2000) + $2))
    is "$1: loops of known length are exact" "$(region loop 0)" \
        "passes=20 sum=$((10 * (short + long))) min=$short max=$long threads=1"
}

# records PATTERN: how many lines of the dump match.
records() {
    "$HR" dump --format records hr.bin 2>/dev/null | grep -acE "$1"
}

# times_of_marks: the times of all marks.
times_of_marks() {
    "$HR" dump --format records hr.bin | sed -n 's/^  mark time=\([0-9]*\) .*/\1/p'
}

# pause_of_trace: writes for each pair of marks the flags of the samples between them, and of the first after them.
# A timer's sample may come between the first mark and the pause.
pause_of_trace() {
    "$HR" dump --format records hr.bin | awk 'function pause() { if (at) print "paused:" inside, "then", first }
        /^  mark/ && at != 1 { pause(); at = 1; inside = ""; first = ""; next } /^  mark/ { at = 2 } /^  sample/ {
            match($0, /flags=[0-9]+/); flags = substr($0, RSTART + 6, RLENGTH - 6)
            if (at == 1 && (flags + 0 || inside)) inside = inside " " flags
            if (at == 2 && first == "") first = flags } END { pause() }' >pause.flags
}

# ---- natively ----
for libc in '' -musl; do
    [ -x "$REGIONS$libc" ] || { skip 1 'musl-tools is not installed'; continue; }
    is "on Linux${libc:+ ($libc)} every call is ENOSYS" "$("$REGIONS$libc" native 2>&1)" \
        'not under Microtome: calls do nothing: available 0, name none, every call ENOSYS: yes'
done
is 'a measured program runs on Linux' "$("$REGIONS" regions 3 2>/dev/null)" \
    'regions: 3 passes, not under Microtome: calls do nothing'
is 'only hr_* leaves libhr.so' "$(nm -D --defined-only "$BUILD/libhr.so" | awk '$3 !~ /^hr_[a-z_]+$/')" ''
is 'and libhr.a, with the hooks of functions' "$(nm --extern-only --defined-only "$BUILD/libhr.a" | awk 'NF == 3 && $3 !~ /^(hr_[a-z_]+|__cyg_profile_func_(enter|exit))$/')" ''
is 'libhr needs no library' "$(nm -D --undefined-only "$BUILD/libhr.so"; nm --undefined-only "$BUILD/libhr.a" |
    grep -v _GLOBAL_OFFSET_TABLE_ | grep ' U ')" ''
cat >scope.cc <<'END'
#include "include/hr.h"
static hr_region work = HR_REGION("work");
int main()
{
    hr::scope measured(work);
    hr::request served(7);
    hr::joined part(8);
    return hr_mark("in scope") < 0 && !hr_available() ? 0 : 1;
}
END
for cxx in clang++ g++; do
    command -v $cxx >/dev/null || continue
    # without the C++ library: Debian's clang brings no headers of one
    ok "$cxx: hr.h is C++" $cxx -std=c++11 -Wall -Wextra -Werror -I"$ROOT" -fno-exceptions -c -o scope.o scope.cc
    ok "$cxx: and links" cc -o scope scope.o "$BUILD/libhr.a"
    ok "$cxx: and runs" ./scope
done
mkdir -p prefix/lib/microtome
cp "$ROOT/workloads/python/microtome.py" prefix/lib/microtome/
cat >measured.py <<'END'
import sys
import microtome

with microtome.region("work"), microtome.paused(), microtome.request(2**64 - 1), microtome.joined(7):
    result = microtome.mark("working")
print(microtome.status_text(), microtome.available(), result, microtome.poll(), microtome.request_block(7), microtome.read(),
    microtome.events())
END
if command -v python3 >/dev/null; then
    export PYTHONDONTWRITEBYTECODE=1
    is 'Python: without the library nothing happens' "$(PYTHONPATH=prefix/lib/microtome python3 measured.py)" \
        'libhr.so was not found: calls do nothing False -38 -38 -38 [] []'
    cp "$BUILD/libhr.so" prefix/lib/
    is 'Python: installed, the library is found' "$(PYTHONPATH=prefix/lib/microtome python3 measured.py)" \
        'not under Microtome: calls do nothing False -38 -38 -38 [] []'
else
    skip 2 'python3 is not installed'
fi

# ---- regions in virtual time ----
for libc in '' -musl; do
    [ -x "$REGIONS$libc" ] || { skip 2 'musl-tools is not installed'; continue; }
    run_guest -i 1us "$REGIONS$libc" regions 10
    exact "regions$libc" $empty_kernel
done
is 'and so in time' "$(region empty time)" \
    "passes=10 sum=$((10 * empty_kernel)) min=$empty_kernel max=$empty_kernel threads=1"
is 'regions nest' "$(region outer 0 | cut -d' ' -f1)" passes=10
"$HR" report --regions hr.bin >report
like 'hr report knows them' report '^loop: 20 passes by 1 thread$'
is 'the trace is complete' "$("$HR" check hr.bin >/dev/null 2>&1; echo $?)" 0
run_guest --mode off "$REGIONS" regions 10
exact 'mode off' $empty_kernel
run_guest "$REGIONS" crash 5
is 'a crash in a region: the status' "$status" 132
is 'the passes before it are in the trace' "$(region doomed 0)" \
    "passes=5 sum=$((5 * ($(loop_length 1000) + empty_kernel))) min=2017 max=2017 threads=1"
is 'and a region that never ended' "$(region unfinished time)" 'passes=0 sum=0 min=0 max=0 threads=1'

# ---- polls ----
run_guest --mode instructed "$REGIONS" polls 20
is 'instructed: as many samples as polls' "$(stat_of hr.bin .samples)" 20
is 'all of them polled' "$(records '^  sample .* flags=4\b')" 20
is 'the trigger is the program' "$(records 'text="sampling.trigger=the program"')" 1
is 'a poll is no system call' "$(records "^  syscall .* number=$((0x4872)) ")" 0
run_guest --mode off "$REGIONS" polls 1
is 'mode off: no sample' "$(stat_of hr.bin .samples)" 0
like 'and a reason' err 'hr_poll: Operation not permitted'
run_guest -i 10us "$REGIONS" polls 20000
is 'more polls than the ring has room' "$(records '^  sample .* flags=4\b')" 20000
ok 'and the timer goes on' test "$(records '^  sample .* flags=0\b')" -gt 3000
is 'nothing is lost' "$(stat_of hr.bin .lost)" 0

# ---- pause and start ----
run_guest --mode off "$REGIONS" pause 50000
unsampled=$(times_of_marks)
is 'mode off records marks' "$(echo "$unsampled" | wc -l)" 2
for how in '-i 1us' '--mode instructed'; do
    # shellcheck disable=SC2086
    run_guest $how "$REGIONS" pause 50000
    is "$how: what libhr does takes no time" "$(times_of_marks)" "$unsampled"
    pause_of_trace
    is "$how: a pause ends with a sample, rests, and resumes with one" "$(cat pause.flags)" 'paused: 4 then 12'
done
run_guest -i 1us "$REGIONS" pause 50100 50233 50366 50499 50632 50765 50898 # wherever on the grid they begin
pause_of_trace
for pause in 1 2 3 4 5 6 7; do
    is "pause $pause of 7 at places on the grid" "$(sed -n ${pause}p pause.flags)" 'paused: 4 then 12'
done
run_guest -i 1us --paused "$REGIONS" pause 50000
"$HR" dump --format csv hr.bin >dump.csv
within '--paused: no sample before hr_start' "$(sed -n 2p dump.csv | cut -d, -f1)" 15000 400000
is 'and the first is marked as resumed' "$("$HR" dump --format records hr.bin | grep -a -m 1 '^  sample' |
    sed 's/.*flags=\([0-9]*\).*/\1/')" 12
ok 'the trace says that it began paused' test "$(($("$HR" dump --format records hr.bin |
    sed -n 's/^  sampling .* flags=\([0-9]*\).*/\1/p') & 8))" -eq 8
within 'and then comes one a microsecond' "$(stat_of hr.bin .samples)" 195 220
paused=$(stat_of hr.bin .cost.sample_ns)
run_guest -i 1us "$REGIONS" pause 50000
is 'what a sample costs is measured all the same' "$paused" "$(stat_of hr.bin .cost.sample_ns)"
ok 'and is not nothing' test "$paused" -gt 0

# ---- marks, log, misuse ----
run_guest "$REGIONS" marks 1100
is 'too many marks: refused' "$(cat out)" 'regions: 2200 marks, 152 refused'
like 'with a notice' err 'hr_mark: more than 1024 different texts'
is 'the others are there' "$(records '^  mark .* text="mark [0-9]+"')" 2048
run_guest "$REGIONS" misuse
cat >wanted <<'END'
end without begin -22
no name -22
poll of nothing -22
long mark -22
empty mark -22
no mark -22
event 99 -22 unnamed
place 0 taken
place 1 Bad address
place 2 Invalid argument
place 3 Invalid argument
place 4 Bad address
no place Bad address
read to nowhere Bad address
request of no kind Invalid argument
operation Invalid argument
END
same_file 'misuse is refused' out wanted
is 'a region whose memory is not there counts nothing' "$(region nowhere 0)" \
    'passes=0 sum=0 min=0 max=0 threads=1'
run_guest "$REGIONS" rdpmc
is 'RDPMC without counters is a clean fault' "$status" 139

interruptible "$HR" run -q --mode instructed "$REGIONS" log 7 >out 2>err &
pid=$!
for _ in $(seq $((LIMIT * 10))); do
    if grep -q 'regions: logged' out || ! kill -0 $pid 2>/dev/null; then break; fi
    sleep 0.1
done
kill -9 "$(emulator_of $pid)"
wait $pid
is 'hr_log: what was sampled before is in the trace of a killed guest' "$(records '^  sample .* flags=4\b')" 8
is 'and the mark' "$(records '^  mark .* text="logged"')" 1

# ---- threads ----
run_guest --cpus 4 "$REGIONS" threads 3
is 'threads: passes of one region add up' "$(region loop 0 | sed 's/ sum.*max=[0-9]*//')" 'passes=300 threads=3'
"$HR" dump --format records hr.bin | awk '/^chunk DATA/ { match($0, / cpu=[0-9]+/); cpu = substr($0, RSTART + 5, RLENGTH - 5) }
    /^  sample/ && match($0, /flags=(4|12)/) { seen[cpu " " substr($0, RSTART + 6, RLENGTH - 6)]++ }
    END { for (what in seen) print what }' | sort >flags
is 'polls, pauses and starts reach all CPUs' "$(tr '\n' ';' <flags)" '1 12;1 4;2 12;2 4;3 12;3 4;4 12;4 4;'

# ---- with counters ----
if [ -z "${QEMU:-}" ]; then
    skip 1 'QEMU names no emulator with a PMU'
    done_testing
fi
modelled='Icelake-Server,model=106,pmu=on
Skylake-Server,pmu=on,pmu-version=2,pmu-gp=4,pmu-fixed=3
EPYC-Milan,pmu=on
EPYC,pmu=on,pmu-v2=off'
[ -n "${FLAVOURS:-}" ] || FLAVOURS=$modelled

# on_flavour OPTION... PROGRAM ARG...
on_flavour() {
    run_guest --accel tcg --qemu "$QEMU" --cpu "$flavour" "$@"
}

while IFS= read -r flavour; do
    echo "# $flavour"
    on_flavour -e instructions,cycles,branches "$REGIONS" regions 10
    exact 'virtual time' $empty_kernel
    is 'the source is the PMU' "$(stat_of hr.bin '[.events[].source] | unique | join(" ")')" pmu
    on_flavour --cpus 1 -e instructions "$REGIONS" regions 10
    exact 'read by the program, one counter' "$(empty_user 1)"
    like 'and it knows' out 'counters are read in user mode'
    on_flavour --cpus 1 -e instructions,cycles,branches,cache-misses,branch-misses "$REGIONS" regions 10
    exact 'read by the program, five counters' "$(empty_user 5)"
    on_flavour --cpus 3 -e instructions,cycles "$REGIONS" threads 2
    length=$(($(loop_length 1000) + $(empty_user 2)))
    is 'threads: every pass is exact' "$(region loop 0)" \
        "passes=200 sum=$((200 * length)) min=$length max=$length threads=2"
    on_flavour -c 1000 -e instructions,cycles "$REGIONS" regions 10
    exact 'overflow of the counter that is read' $empty_kernel
    on_flavour -c 1000 -e instructions,cycles "$REGIONS" pause 5000
    pause_of_trace
    is 'overflow: a pause ends with a sample, rests, and resumes with one' "$(cat pause.flags)" \
        'paused: 4 then 12'
    for mode in timer instructed; do
        on_flavour --mode $mode -e instructions,cycles,branches,cache-misses,instructions:k "$REGIONS" cost 100
        within "$mode: hr_read of five counters: instructions" \
            "$(sed -n 's/^instructions read=\([0-9]*\) .*/\1/p' out)" 30 40
        is "$mode: and none of the kernel" "$(sed -n 's/^instructions:k read=\([0-9]*\) .*/\1/p' out)" 0
        within "$mode: hr_poll with five counters: instructions of the kernel" \
            "$(sed -n 's/^instructions:k .* poll=\([0-9]*\)$/\1/p' out)" 100 200
        within "$mode: hr_request_begin: instructions" "$(sed -n 's/^instructions .* request=\([0-9]*\) .*/\1/p' out)" 45 60
        within "$mode: and of the kernel" "$(sed -n 's/^instructions:k .* request=\([0-9]*\) .*/\1/p' out)" 80 140
    done
    case $flavour in
    EPYC*) counter=0 ;;
    *) counter=0x40000000 ;; # fixed counter 0
    esac
    on_flavour -e instructions "$REGIONS" rdpmc $counter 99
    # of its low 32 bits: it started 65,536 events before its range's end
    within "the program's own RDPMC reads its counter" "$(sed -n 's/^counter [0-9]*: //p' out)" $((4294901760 + 1000)) 4294967295
    is 'RDPMC of a counter that is not there is a clean fault' "$status" 139
done <<END
$FLAVOURS
END
done_testing
