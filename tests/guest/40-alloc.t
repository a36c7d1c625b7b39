#!/bin/sh
# Allocations (hr run --alloc): every call of an allocator is recorded once, whatever it does inside, and the program
# does not notice.
. "$(dirname "$0")/../lib.sh"

LIMIT=${HR_TEST_LIMIT:-300}
gcc -g -O1 -fno-omit-frame-pointer -pthread -o alloc "$ROOT/tests/programs/alloc.c" || exit 1
gcc -g -O1 -pthread -static -o static "$ROOT/tests/programs/alloc.c" || exit 1
musl-gcc -g -O1 -static -o musl "$ROOT/tests/programs/alloc.c" || exit 1
g++ -g -O2 -o containers "$ROOT/tests/programs/containers.cc" || exit 1

# alloc [OPTION...] PROGRAM...: a run with a trace; its rows by function are in the file functions.
alloc() {
    run_guest -q --alloc "$@"
    "$HR" memory --by function -f csv hr.bin >functions
}

# all FILTER: what jq's FILTER gives on the allocations of the run.
all() { "$HR" memory -f json hr.bin | jq -cr "$1"; }
sums() { all '"\(.count) \(.bytes) \(.freed)"'; }

# of FUNCTION [COLUMNS]: what its row says.
of() {
    awk -F, -v row="$1" -v columns="${2:-count bytes left_count}" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 == row { n = split(columns, wanted, " "); for (i = 1; i <= n; i++) printf "%s%s", $at[wanted[i]], i < n ? " " : "\n" }' functions
}

# refuses NAME STATUS MESSAGE ARGUMENT...: hr fails, with this message.
refuses() {
    name=$1 status=$2 message=$3
    shift 3
    "$HR" "$@" >refused 2>&1
    is "$name" "$? $(grep -cF -e "$message" refused)" "$status 1"
}

# ---- patterns ----
for program in alloc static musl; do
    alloc ./$program leaks churn grow peak kinds
    is "$program: the program runs" "$status $(cat out)" '0 done'
    is "$program: a leak" "$(of leak_here)" '1000 64000 1000'
    is "$program: churn" "$(of churn)" '5000 500000 0'
    is "$program: ... each object is freed at once" "$(of churn brief)" 5000
    is "$program: realloc" "$(of grow 'count bytes left_count peak_bytes')" '64 2080000 0 64000'
    is "$program: every function" "$(of kinds)" "7 1001335 0"
    is "$program: a peak" "$(of peak 'count bytes left_count at_peak_bytes')" '101 1000500 0 1000000'
    [ $program = alloc ] || continue
    is 'lifetimes are exact' "$(of grow 'lifetime_median_ns lifetime_p90_ns' | awk '{ print ($1 > 50 && $1 < $2 && $2 < 1500) }')" 1
done
alloc ./alloc leaks
"$HR" memory hr.bin >first
is 'the first screen names the leak first' "$(sed -n 3p first)" \
    "leak: 1,000 objects, 64.00 KB, allocated at leak_here (alloc.c:$(grep -n 'kept = malloc(bytes)' "$ROOT/tests/programs/alloc.c" | cut -d: -f1)), never freed"
is 'sums' "$(sums)" '1000 64000 0'
is 'hr stat has them' "$(stat_of hr.bin '.allocations | "\(.count) \(.bytes) \(.peak_bytes) \(.left_count)"')" '1000 64000 64000 1000'
"$HR" stat hr.bin >stat
like '... in one line' stat '^ +1,000  allocations +of 64.00 KB; at most 64.00 KB at a time, 64.00 KB never freed'
alloc ./containers
is 'containers: every kind of operator new, once' "$(sums)" '2031 325209 2019'
is '... a leak of it' "$(of 'leak_here()')" '10 4000 10'
is '... frees that are not of what was seen' "$(all '[.unknown_frees, .freed_twice, .replaced]')" '[0,0,0]'

# ---- other allocators, which tools/servers.sh unpacks ----
for allocator in jemalloc tcmalloc_minimal mimalloc; do
    library=$(ls "$BUILD/servers/root/usr/lib/x86_64-linux-gnu/lib$allocator".so.* 2>/dev/null | head -n 1)
    [ -n "$library" ] || { skip 3 "tools/servers.sh has not unpacked $allocator"; continue; }
    alloc --env LD_PRELOAD="$library" ./alloc leaks kinds
    is "$allocator: a leak" "$(of leak_here)" '1000 64000 1000'
    is "$allocator: every function" "$(of kinds)" '7 1001335 0'
    alloc --env LD_PRELOAD="$library" ./containers
    is "$allocator: operator new" "$("$HR" memory --by function -f json hr.bin |
        jq -r '.rows[] | select(.name | startswith("fill(")) | "\(.count) \(.bytes)"')" '1000 72000'
done

# ---- libraries that the program loads later ----
gcc -g -O1 -o plugin "$ROOT/tests/programs/plugin.c" -ldl && gcc -g -O1 -shared -fPIC -DPLUGIN -o plugin.so "$ROOT/tests/programs/plugin.c" || exit 1
alloc ./plugin
is "what a library of dlopen asks the C library for" "$(of plugin_run)" '7 140 0'
alloc --alloc-library ./plugin.so ./plugin
is '... and its own allocator, if it is named' "$(of plugin_run)" '14 840 2'
alloc ./plugin ./plugin.so
is '... or given as an argument' "$(of plugin_run)" '14 840 2'
refuses '... if it has one' 125 'libm.so.6 has no symbol of an allocator' run --alloc --alloc-library libm.so.6 ./plugin
refuses '... if it is there' 125 "--alloc-library: 'nothing' is neither" run --alloc --alloc-library nothing ./plugin

# ---- other programs: what a preloaded library counts natively ----
gcc -O1 -D_GNU_SOURCE -shared -fPIC -o counter.so "$ROOT/tests/programs/counter.c" -ldl &&
    gcc -O1 -fopenmp -o parallel "$ROOT/tests/programs/parallel.c" || exit 1
seq 20000 >numbers
for program in 'xz -k -c numbers' ./parallel; do
    # shellcheck disable=SC2086
    env OMP_NUM_THREADS=2 LD_PRELOAD=./counter.so $program 2>counted >/dev/null
    # shellcheck disable=SC2086
    alloc --cpus 2 --env OMP_NUM_THREADS=2 --env LC_ALL=C $program
    is "$program: as natively" "$(sums)" "$(sed -n 's/^counter: [0-9]* //p' counted)"
done

# ---- threads, processes ----
alloc ./alloc threads
is 'freed by another thread' "$(of threads) $(of frees)" '1000 48000 0 1 333 0'
is 'by thread' "$("$HR" memory --by thread -f csv hr.bin | cut -d, -f1,6 | sed 1d | sort | tr '\n' ' ')" 'thread 1000,1001 thread 1001,1 '
alloc ./alloc forks
is 'a child has what its parent allocated, which counts once' "$(of forks) $(of leak_here)" '100 4800 0 10 10000 10'
is '... in the map, too' "$("$HR" memory --map=allocations -n 0 -f json hr.bin |
    jq -r '.bands[] | select(.object | test("forks|leak_here")) | "\(.objects) \(.bytes)"' | sort -n | tr '\n' ' ')" '10 10000 100 4800 '
is '... and frees it' "$(all '[.unknown_frees, .freed_twice]')" '[0,0]'
alloc --cpus 2 ./alloc threads
is 'several CPUs' "$(of threads) $(of frees)" '1000 48000 0 1 333 0'
alloc --env GLIBC_TUNABLES=glibc.malloc.tcache_count=0 ./alloc twice
is 'freed twice' "$(all '[.freed_twice, .unknown_frees]')" '[1,0]'
"$HR" memory hr.bin >table
like '... and where' table '^freed twice: 1 object, at twice \(alloc.c:[0-9]+\)$'
alloc ./alloc maps
is 'mappings are another thing' "$(sums)" '0 0 0'
is '... with their own sums' "$("$HR" dump -f records hr.bin | grep '^  mapping ' | tail -n 4 | sed 's/.*kind=\([0-9]*\) .* bytes=\([0-9]*\) .* old_bytes=\([0-9]*\).*/\1 \2 \3/' | tr '\n' ',')" \
    '1 1048576 0,3 4194304 1048576,2 1048576 0,2 4194304 0,'

# ---- stacks, choices ----
alloc -g dwarf ./alloc leaks
is 'with -g the stack of each site' "$("$HR" memory --leaks -f json hr.bin | jq -r '.rows[0].stack[:3] | map(split(" ")[0]) | join(" ")')" 'leak_here leaks main'
"$HR" memory --leaks hr.bin >leaks
like '... in the table' leaks '^ +<- leaks \(alloc.c:[0-9]+\)$'
ok 'the trace is right' "$HR" check hr.bin
"$HR" memory --by stack -n 1 hr.bin >stacks
is '... and below the rows by stack' "$(sed -n '/leak_here/,/main/p' stacks | grep -c '^ \{85\}<- \(leaks\|main\) (alloc.c:[0-9]*)$')" 2
"$HR" memory --map -f json hr.bin | jq '.bands |= map(select(.object | test("heap: leak_here")))' >map
is 'the map has each object of a place' "$(jq -c '.bands | length, .[0].objects, .[0].bytes' map | tr '\n' ' ')" '1 1000 64000 '
is '... its stack' "$(jq -r '.bands[0].detail[:3] | map(split(" ")[0]) | join(" ")' map)" 'leak_here leaks main'
is '... what is allocated, to the end' "$(jq '(.bins - 1) as $last | [.bands[0].cells[] | select(.[0] == $last) | .[7]] | add * 100 | round > 0' map)" true
"$HR" memory --map hr.bin >letters
like '... as letters' letters '^ \|[ .+#]*[.+#]\|$'
"$HR" plot -p memory -o map.svg hr.bin
is '... and as a picture' "$(grep -c 'heap: leak_here (alloc.c:[0-9]*), process 1000: .*, 64.00 KB in 1,000 objects<' map.svg)" 1
alloc --pages 1ms ./alloc untouched
address=$("$HR" memory --map=allocations -f json hr.bin | jq '.lives[] | select(.bytes == 1048576) | .address')
is 'a map of addresses without touched pages is of allocations' \
    "$("$HR" memory --map --range "$(printf '0x%x-0x%x' "$address" $((address + 4096)))" -f json hr.bin | jq -c '[.of, .bands[0].bytes]')" '["allocations",1048576]'
alloc -g fp ./alloc peak
"$HR" memory --peak hr.bin >peak
like 'what was live at the peak' peak '^ +1.00 MB +100 +100.0%  peak \(alloc.c:[0-9]+\)$'
alloc --alloc-min 5000 ./alloc grow
is 'large ones alone' "$(of grow)" '60 2070000 0'
is '... a free of a small one is no mistake' "$(all .freed_twice)" 0
alloc --alloc-every 10 ./alloc leaks
is 'one in ten' "$(of leak_here)" '100 6400 100'
alloc --probe leak_here --probe malloc --probe-args 1 ./alloc leaks
is 'probes of the same function' "$("$HR" latency -f json hr.bin | jq -r '.rows[] | "\(.function) \(.calls)"' | sort | tr '\n' ' ')" 'leak_here 1000 malloc 1000 '
is '... and the allocations' "$(of leak_here)" '1000 64000 1000'
alloc --mode off -g dwarf ./alloc leaks
is 'no samples' "$(of leak_here)" '1000 64000 1000'

# ---- nothing else changes ----
for options in '' '-g fp' '-g dwarf'; do
    # shellcheck disable=SC2086
    run_guest -q -i 1us $options ./alloc leaks churn kinds grow threads maps
    mv hr.bin plain.bin
    # shellcheck disable=SC2086
    run_guest -q --alloc -i 1us $options ./alloc leaks churn kinds grow threads maps
    "$HR" dump -f csv plain.bin >without
    "$HR" dump -f csv hr.bin >with
    same_file "samples are those of a run without${options:+ ($options)}" with without
    is "so are the totals${options:+ ($options)}" "$(stat_of hr.bin '[.duration_ns, .events[0].total, .samples] | join(" ")')" \
        "$(stat_of plain.bin '[.duration_ns, .events[0].total, .samples] | join(" ")')"
done
for options in '' --alloc; do
    # shellcheck disable=SC2086
    run_guest -q $options -o "all$options.bin" sh -c './musl leaks forks; ./static leaks forks; ./containers leaks forks; exit 0'
done
for program in musl static containers; do
    is "totals of $program" "$(stat_of all--alloc.bin ".duration_ns, .events[0].total, .samples, (.processes[] | select(.name == \"$program\"))")" \
        "$(stat_of all.bin ".duration_ns, .events[0].total, .samples, (.processes[] | select(.name == \"$program\"))")"
done
for run in one two; do
    run_guest -q --alloc -i 1us -g fp ./alloc leaks churn kinds grow threads forks maps
    "$HR" dump -f records hr.bin | grep -E '^  (hit|mapping|sample) ' >$run
done
same_file 'two runs record the same' one two

# ---- the database ----
"$HR" export sqlite --force -o hr.db hr.bin 2>/dev/null
is 'sqlite: objects' "$(sqlite3 hr.db "SELECT count(*), sum(size), sum(freed_ns IS NULL) FROM allocations WHERE site LIKE 'leak_here%'")" '1010|74000|1010'
is '... their functions' "$(sqlite3 hr.db "SELECT count(*) FROM allocations a JOIN functions f ON f.id = a.function WHERE f.name = 'leak_here'")" 1010
is '... their stacks' "$(sqlite3 hr.db "SELECT count(*) FROM allocations a JOIN stacks s ON s.id = a.stack JOIN functions f ON f.id = s.function WHERE f.name = 'leaks'")" 1000
is '... mappings' "$(sqlite3 hr.db "SELECT count(*) > 0 FROM mappings WHERE kind = 'mremap'")" 1

# ---- bad input ----
"$TOOLS/genallocs" 100000 made.bin || exit 1
is 'many live objects; frees of what was never seen, of what was freed, and addresses that are used again' \
    "$("$HR" memory -f json made.bin | jq -c '[.count, .bytes, .freed, .unknown_frees, .freed_twice, .replaced, .peak_count, .left_count]')" \
    "[110000,$(seq 0 99999 | awk '{ sum += ($1 % 10 ? 1 : 2) * (16 + $1 % 256) } END { print sum }'),10000,10000,10000,0,100000,100000]"
head -c 20000 hr.bin >cut.bin
"$HR" memory cut.bin >part 2>part.err
is 'a trace that was cut is read' "$? $(grep -c '^# program' part)" '0 1'
run_guest -q ./alloc leaks
refuses 'without allocations' 1 "no allocations are recorded; 'hr run --alloc' records them" memory --leaks hr.bin
strip -s -o stripped static
refuses 'a static program without symbols' 125 'has a symbol of an allocator' run -q --alloc ./stripped
refuses 'a size' 125 '--alloc-min x: not a size' run --alloc --alloc-min x ./alloc
refuses 'an option that needs --alloc' 125 'add --alloc' run --alloc-every 5 ./alloc
refuses 'another one' 125 '--alloc-library: nothing is recorded; add --alloc' run --alloc-library libc.so.6 ./alloc
refuses 'a mode that cannot' 125 '--mode exact cannot have probes' run --alloc --mode exact ./alloc

done_testing
