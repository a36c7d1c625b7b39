#!/bin/sh
# Precise sampling: records of the processor's own, with the addresses, latencies and sources of accesses whose number,
# places and order are known; none lost or doubled, at the program's times.  QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"

run_guest --accel tcg -m pebs "$WORKLOADS/hello"
ok 'without counters: refused' test "$status" -eq 125
like 'and told why' err '^hr: --mode pebs needs counters that interrupt, and the emulator has none; '

. "$ROOT/tests/flavours.sh"

# records PLACE: the samples there as lines of "time tid address latency events source", in the file records.
records() {
    "$HR" dump --format csv hr.bin | awk -F, -v wanted="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $5 == wanted { print $1, $3, $at["address"], $at["latency"], $at["events"], $at["source"] }' >records
}

# walk NAME PERIOD STEP BYTES NS: every record of the file `records` is PERIOD accesses after the last: its address in a
# block of BYTES, its time too, where an access takes NS.
walk() {
    awk -v step="$(($2 * $3 % $4))" -v bytes="$4" -v ns="$(($2 * $5))" '
        function number(hex,   n, i) { n = 0; for (i = 3; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1; return n }
        { place = number($3) % bytes }
        NR > 1 && ((place - last + bytes) % bytes != step || $1 - time != ns) { print "not after " time ": " $0; bad++ }
        { last = place; time = $1 } END { if (NR < 2) print "no records"; exit bad > 0 || NR < 2 }' records >bad
    ok "$1: every record a period after the last, in space and time" test ! -s bad
}

# sources NAME TEXT: all records have this latency and source.
sources() {
    is "$1: latency and source" "$(cut -d' ' -f4,6- records | sort | uniq -c | sort -rn | sed 's/^ *[0-9]* //' | head -n 3)" "$2"
}

# conserved NAME: each precise event has a record a period, which may be another one's, too; none lost; the trace is whole.
conserved() {
    is "$1: one record a period" "$("$HR" dump --format csv hr.bin | awk -F, '
        NR > 1 { for (i = split($NF, one, "+"); i > 0; i--) n[one[i]]++ } END { for (e in n) print n[e], e }' | sort -k2)" \
        "$("$HR" stat --json hr.bin | jq -r --argjson n "$2" '.events[] | select(.name | test("'"$3"'")) | "\(.total / $n | floor) \(.name)"' | sort -k2)"
    is "$1: none lost" "$(stat_of hr.bin .lost)" 0
    ok "$1: the trace is whole" "$HR" check hr.bin
}

# The loops take five instructions a round, the chase three: an instruction is a nanosecond.
patterns() {
    on_flavour -m pebs -e mem-loads -c 1001 "$WORKLOADS/accesses" sequential 1000000
    conserved 'sequential' 1001 mem-loads
    records access_load+0x3
    within 'sequential: records' "$(wc -l <records)" 998 1000
    walk 'sequential' 1001 8 64 5
    sources 'sequential' '4 L1'
    on_flavour -m pebs -e mem-loads -c 1000 "$WORKLOADS/accesses" stride 1000000
    records access_load+0x3
    walk 'half of the last-level cache' 1000 64 524288 5
    tail -n +10 records >later && mv later records
    sources 'half of the last-level cache, but for the first round' '14 LLC'
    on_flavour -m pebs -e mem-loads -c 1000 "$WORKLOADS/accesses" chase 1000000
    records access_chase+0x0
    walk 'chase' 1000 $((12291 * 64)) 8388608 3
    sources 'chase' '214 memory'
    on_flavour -m pebs -e mem-stores -c 1000 "$WORKLOADS/accesses" stores 1000000
    conserved 'stores' 1000 mem-stores
    records access_store+0x3
    walk 'stores' 1000 4160 8388608 5
    within 'stores: they miss' "$(grep -c ' store beyond-L1$' records)" 990 1000
    on_flavour -m pebs -e mem-loads -c 1001 "$WORKLOADS/accesses" swap 100000
    records access_swap+0x3
    walk 'locked' 1001 8 64 5
    sources 'locked' '4 L1 locked'
}

# A record each two loads: 200,000, emptied at a hundred interrupts.
many() {
    on_flavour -m pebs -e mem-loads -c 2 "$WORKLOADS/accesses" sequential 400000
    conserved 'many' 2 mem-loads
    records access_load+0x3
    within 'many: records' "$(wc -l <records)" 199999 200000
    walk 'many' 2 8 64 5
}

# The program counts and takes as long as without; several events, some of which only count; twice the same.
together() {
    on_flavour -m off -e mem-loads,mem-stores,instructions,branches "$WORKLOADS/phases" 2 1
    "$HR" stat --json hr.bin | jq '[.events[0, 2, 3].total, .duration_ns]' >alone
    stores=$(stat_of hr.bin '.events[1].total')
    on_flavour -m pebs -e mem-loads:p,mem-stores:up,instructions,branches:p -c 211 "$WORKLOADS/phases" 2 1
    "$HR" stat --json hr.bin | jq '[.events[0, 2, 3].total, .duration_ns]' >precise
    same_file 'several events: totals and time as without records' precise alone
    # An instruction of several stores may end a period in the middle: the counter forgets the rest.
    within 'several events: stores' "$(stat_of hr.bin '.events[1].total')" $((stores - 5)) "$stores"
    conserved 'several events' 211 ':p|:up'
    is 'several events: what only counts' "$("$HR" dump --format csv hr.bin | awk -F, 'NR > 1 { n += $8 } END { print n + 0 }')" 0
    "$HR" dump --format csv hr.bin >first
    on_flavour -m pebs -e mem-loads:p,mem-stores:up,instructions,branches:p -c 211 "$WORKLOADS/phases" 2 1
    "$HR" dump --format csv hr.bin >second
    same_file 'several events: the same in the next run' first second
    run_hr report --format csv --event mem-loads hr.bin
    is 'report: by the event, whole periods' "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mem-loads:p") at = i }
        NR > 1 { n += $at } END { print n }' out)" "$(($("$HR" stat --json hr.bin | jq '.events[0].total') / 211 * 211))"
    run_hr annotate --event mem-loads phase_chase hr.bin
    is 'annotate: works on it' "$status" 0
}

options() {
    on_flavour -m pebs -c 100 --load-latency 15 "$WORKLOADS/phases" 2 1
    is 'load latency: no load takes less' "$("$HR" dump --format csv hr.bin | awk -F, 'NR > 1 && $NF == "mem-loads:p" { print $(NF - 1) }' | sort -u)" 214
    on_flavour -m pebs -e mem-loads -c 1001 --regs "$WORKLOADS/accesses" sequential 100000
    # rflags rip rax rcx rdx rbx rsp rbp rsi rdi r8: the access is at rdi + r8 - 8, but r8 is not increased yet
    "$HR" dump --format records hr.bin | sed -n 's/.* address=\(0x[0-9a-f]*\) .* registers=\(.*\)$/\1,\2/p' | while IFS=, read -r address _ _ _ mask _ _ _ _ _ rdi r8 _; do
        [ $((mask)) -ne 63 ] || echo "$((address - rdi - r8))"
    done | sort | uniq -c >registers
    within 'registers: those of the access' "$(awk '$2 == 0 { print $1 }' registers)" 98 101
    is 'registers: always' "$(wc -l <registers)" 1
    on_flavour -m pebs -e instructions -c 1000 --jitter "$WORKLOADS/spin" 1000000
    "$HR" dump --format csv hr.bin >first
    awk -F, 'NR > 1 && $5 ~ /spin_loop/ { if (last) print $1 - last; last = $1 }' first | sort -n >periods
    within 'jitter: the shortest period' "$(head -n 1 periods)" 875 950
    within 'jitter: the longest one' "$(tail -n 1 periods)" 1050 1126
    on_flavour -m pebs -e instructions -c 1000 --jitter "$WORKLOADS/spin" 1000000
    "$HR" dump --format csv hr.bin >second
    same_file 'jitter: the same in the next run' first second
    on_flavour -m pebs -e instructions -c 1000 "$WORKLOADS/regions" pause 50000
    within 'pause: no records of its 100,000 instructions' "$("$HR" dump --format csv hr.bin |
        awk -F, 'NR > 2 && $1 - last > most { most = $1 - last } { last = $1 } END { print most }')" 100000 102000
    within 'pause: but they count' "$(($(stat_of hr.bin '.events[0].total') - 1000 * $(stat_of hr.bin .samples)))" 100000 102000
    on_flavour -m pebs -e instructions -c 10007 -g "$WORKLOADS/calls" recursion 13 1000000
    conserved 'stacks' 10007 instructions
    deep=$("$HR" dump --format records hr.bin | grep -cE '^  sample .* stack=(0x[0-9a-f]+,){16}whole ')
    within 'stacks: those of the records' "$deep" $(($(stat_of hr.bin .samples) - 2)) "$(stat_of hr.bin .samples)"
    on_flavour -m pebs -e instructions -c 7 -g dwarf ./chain
    "$HR" export folded -o folded hr.bin 2>/dev/null
    is 'stacks from copies: callers of each instruction, of calls and returns too' \
        "$(sed -n 's/^.*\(main;outer[^ ]*\) /\1 /p' folded | awk '{ n[$1] += $2 } END { for (stack in n) print stack, int(n[stack] * 7 / 2000 + 0.5) }' | sort)" "$chain"
    on_flavour -m pebs -e instructions:k "$WORKLOADS/hello"
    is 'ring 0: refused' "$status" 125
    like 'and told so' err '^hr: event instructions:k: mode pebs has records of ring 3 alone'
}

threads() {
    on_flavour -m pebs -e mem-stores -c 101 "$WORKLOADS/accesses" threads 2000000
    conserved 'threads' 101 mem-stores
    records access_store+0x3
    is 'threads: each has its own line' "$(awk '{ print $2, substr($3, 1, length($3) - 2) int(index("0123456789abcdef", substr($3, length($3) - 1, 1)) / 4.1) }' records | sort -u | wc -l)" 2
    on_flavour --cpus 2 -m pebs -e mem-stores -c 101 "$WORKLOADS/accesses" threads 2000000
    total=$(stat_of hr.bin '.events[0].total')
    within 'threads on two CPUs: a record a period' "$(stat_of hr.bin '.samples + .lost')" $((total / 101 - 1)) $((total / 101))
    ok 'threads on two CPUs: the trace is whole' "$HR" check hr.bin
}

# System calls, page faults and probes come between the records.
among() {
    on_flavour -m pebs -e instructions -c 100 "$WORKLOADS/storm" 500
    is 'storm: the program is right' "$status" 0
    like 'storm: and says so' out ' 0 checks failed$'
    conserved 'storm' 100 instructions
    on_flavour -m pebs -e mem-loads -c 1001 --probe access_load "$WORKLOADS/accesses" sequential 1000000
    conserved 'probes' 1001 mem-loads
    records access_load+0x3
    sed -i 1d records # the probe's own stop is before it
    walk 'probes' 1001 8 64 5
}

# chain's stacks, with the instructions of a round: a function has as many as it is long.
gcc -O1 -fomit-frame-pointer -static -o chain "$ROOT/tests/programs/chain.c" || exit 1
long() { objdump -d --disassemble="$1" chain | grep -c '^ .*[[:xdigit:]]:.[[:xdigit:]][[:xdigit:]] '; }
chain="main;outer $(long outer)
main;outer;middle $((2 * $(long middle)))
main;outer;middle;inner $((4 * $(long inner)))"

some=0
while IFS= read -r flavour; do
    echo "# $flavour"
    on_flavour -m pebs "$WORKLOADS/hello"
    if [ "$status" -ne 0 ]; then
        like 'no PEBS: refused with the reason' err '^hr: --mode pebs needs a processor that writes records of precise events: '
        continue
    fi
    some=1
    patterns
    many
    together
    options
    threads
    among
done <<END
$FLAVOURS
END
[ "$FLAVOURS" != "$modelled" ] || is 'a flavour has PEBS' "$some" 1
done_testing
