#!/bin/sh
# hr memory on precise accesses: a program with known patterns, of which every report names the one that it is about first.
# QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"
. "$ROOT/tests/flavours.sh"
flavour=$(printf '%s\n' "$FLAVOURS" | head -n 1)

gcc -g -O1 -fno-inline -pthread -o patterns "$ROOT/tests/programs/patterns.c" || exit 1

# A hot object among cold ones, and one that is large and slow.
on_flavour -m pebs -e mem-loads:p,mem-stores:p -c 211 ./patterns alone
run_hr memory -f csv hr.bin
is 'the slow object comes first' "$(awk -F, 'NR == 2 { print $1, $NF }' out)" 'list chase'
awk -F, '{ print $1, $2 + $3, $NF }' out | sed 1d | sort -k2nr >by_count
is 'the hot one has most accesses' "$(sed -n '1s/ [0-9]* / /p' by_count)" 'hot heat'
for cold in cold_a cold_b cold_c; do
    within "$cold: few" "$(awk -v name=$cold '$1 == name { print $2 }' by_count)" 1 60
done
within 'estimated: as many as there were' "$(awk -F, '$1 == "hot" { print $9 }' out)" 390000 410000
run_hr memory --by line -f csv hr.bin
is 'the line of the slow loads' "$(awk -F, 'NR == 2 { print $1, $NF }' out)" \
    "patterns.c:$(grep -n 'at = at->next' "$ROOT/tests/programs/patterns.c" | cut -d: -f1) list"
run_hr memory --lines -f csv hr.bin
is 'one thread shares nothing' "$(wc -l <out)" 1
run_hr plot -p memory -o map.svg hr.bin
ok 'a picture with these objects' sh -c 'grep -q ">list, process" map.svg && grep -q ">hot, process" map.svg'

# Two threads on one line; a line of a lock; lines of their own.
on_flavour --cpus 2 -m pebs -e mem-loads:p,mem-stores:p -c 211 ./patterns shared
run_hr memory --lines -f csv hr.bin
is 'false sharing: who and what' "$(awk -F, '$4 == "false" { print $9, $10 }' out | sort -u)" 'pair.left heat
pair.right heat'
is 'true sharing' "$(awk -F, '$4 == "true" { print $9 }' out | sort -u)" total
is 'a line of its own is no sharing' "$(grep -c apart out)" 0
run_hr memory -f csv hr.bin
is 'stacks of threads' "$(grep -c '^.stack of thread 100[12].,' out)" 2

# Objects of the heap, and stacks.
on_flavour --alloc --cpus 2 -m pebs -e mem-loads:p,mem-stores:p -c 211 ./patterns heap
run_hr memory -f csv hr.bin
is 'heap: by what allocated it' "$(awk -F, '/^"?heap: make_block / { print $NF }' out)" heat
is 'the stack of a thread' "$(awk -F, '/stack of thread 1001/ { print $NF }' out)" 'heat'

run_hr plot -p memory -o map.svg hr.bin
is 'a picture: when the object was live' "$(grep -c '>4.10 KB at 0x[0-9a-f]*, allocated at [0-9.]* ms, never freed<' map.svg)" 1

# Stacks of allocations stand between accesses.
gcc -g -O1 -o tally "$ROOT/docs/examples/tally.c" || exit 1
on_flavour --alloc -m pebs -c 211 -g dwarf ./tally
run_hr check hr.bin
is 'stacks of allocations beside accesses: the trace is complete' "$status" 0
samples=$(sed -n 's/.* chunks, \([0-9,]*\) samples.*/\1/p' out | tr -d ,)
run_hr memory -f csv hr.bin
is '... and all accesses are read' "$(awk -F, '{ sum += $2 + $3 } END { print sum }' out) $(cat err)" "$samples "

# Two small objects of one place in one line.
on_flavour --alloc --cpus 2 -m pebs -e mem-loads:p,mem-stores:p -c 211 ./patterns small
run_hr memory --lines -f csv hr.bin
is 'false sharing of small objects' "$(awk -F, '/heap: make_small/ { print $4 }' out | sort -u)" false

transcript_hr() {
    mkdir -p bin
    printf '#!/bin/sh\ncase $1 in\nrun) shift && exec "%s" run --accel %s --qemu "%s" --cpu "%s" "$@" ;;\n*) exec "%s" "$@" ;;\nesac\n' \
        "$HR" "$accel" "$QEMU" "$flavour" "$HR" >bin/hr
    chmod +x bin/hr
}
transcript_hr
BUILD=$work/bin transcript "$ROOT/docs/false-sharing.md"
done_testing
