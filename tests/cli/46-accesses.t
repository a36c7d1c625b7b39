#!/bin/sh
# hr memory: traces of precise accesses whose objects, functions and fields are known.
. "$(dirname "$0")/../lib.sh"
export PAGER=cat HOME="$work"

cat >victim.c <<'END'
struct counters { unsigned long hits, misses, pad[14]; };
struct node { struct node *next; long value; };
__attribute__((aligned(64))) struct counters stats[4] = {{1}};
__attribute__((aligned(64))) struct node table[4096] = {{0}};
long cold_a[4096] = {1}, cold_b[4096] = {1};
__attribute__((noinline)) long lookup(long i) { return table[i & 4095].value; }
__attribute__((noinline)) void count_hits(void) { stats[1].hits++; }
__attribute__((noinline)) void count_misses(void) { stats[1].misses++; }
int main(int argc, char **argv)
{
    (void)argv;
    count_hits();
    count_misses();
    return (int)(lookup(argc) + cold_a[argc] + cold_b[argc]);
}
END
gcc -g -O1 -no-pie -o victim victim.c || exit 1
# at SYMBOL [OFFSET]
at() { echo $((0x$(nm victim | awk -v name="$1" '$3 == name { print $1 }') + ${2:-0})); }

# A hot object among cold ones; two threads that use different fields of one line, and a third one of their line's
# neighbour; a stack; memory that nobody names, in two pieces far apart.
"$TOOLS/genaccesses" a.bin victim <<END || exit 1
load 1000 1000 $(at lookup) $(at table) 0xa 214 1000 16
load 2000000 1000 $(at main) $(at cold_a) 0x1 4 300 8
load 3000000 1000 $(at main) $(at cold_b) 0x1 4 300 8
store 4000000 1000 $(at main) $(at cold_b) 0x1 20 8
cpu 1
store 4000000 1000 $(at count_hits) $(at stats 128) 0x0 100
load 4500000 1000 $(at count_hits) $(at stats 128) 0x7 90 100
load 4700000 1000 $(at count_hits) 0x7fffffffe000 0x1 4 50
load 4800000 1000 $(at count_hits) 0x7ffff0000000 0x1 4 50 8192
load 4900000 1000 $(at count_hits) 0x7ffff4000000 0x1 4 50 4
cpu 2
store 4000000 1001 $(at count_misses) $(at stats 136) 0x0 100
load 4500000 1001 $(at count_misses) $(at stats 136) 0x7 90 100
none 5000000 1001 $(at count_misses)
END
run_hr memory -f csv a.bin
is 'by object' "$(cat out)" "name,reads,writes,beyond_l1,beyond_llc,modified,timed,latency_cycles,estimated_accesses,cost_share,mostly
table,1000,0,1000,1000,0,1000,214000,1009000,0.910638298,lookup
stats,200,200,400,0,200,200,18000,602400,0.0765957447,count_hits
cold_b,300,20,0,0,0,300,1200,342760,0.00510638298,main
cold_a,300,0,0,0,0,300,1200,302700,0.00510638298,main
[anon] 0x7ffff0000000,50,0,0,0,0,50,200,50450,0.00085106383,count_hits
[anon] 0x7ffff4000000,50,0,0,0,0,50,200,50450,0.00085106383,count_hits
[stack of thread 1000],50,0,0,0,0,50,200,50450,0.00085106383,count_hits"
run_hr memory a.bin
like 'table' out '^# 2,170 records of accesses: mem-loads:u, 1 in 1,009; mem-stores:u, 1 in 2,003$'
like 'table: what accesses nothing' out '^# 1 more are of instructions that accessed no memory$'
like 'table: the hot object' out '^ +91\.1% +214\.0 +1,000 +0 +100\.0% +100\.0% +1,009,000  table +lookup \(100%\)$'
run_hr memory --by function -f csv a.bin
is 'by function' "$(cut -d, -f1,2,3,11 out)" 'name,reads,writes,mostly
lookup,1000,0,table
count_hits,250,100,stats
count_misses,100,100,stats
main,600,20,cold_a'
run_hr memory --by line -f csv a.bin
is 'by line' "$(cut -d, -f1,11 out | head -3)" 'name,mostly
victim.c:6,table
victim.c:7,stats'
run_hr memory -f json a.bin
is 'json' "$(jq -c '[.records, .without_address, .rows[1].name, .rows[1].modified]' out)" '[2171,1,"stats",200]'
run_hr memory --from 2ms --to 3.5ms -f csv a.bin
is 'a part' "$(sed 1d out | cut -d, -f1,2)" 'cold_a,300
cold_b,300'
run_hr memory --thread 1001 -f csv a.bin
is 'a thread' "$(sed 1d out | cut -d, -f1,2)" 'stats,100'
run_hr memory --jobs 1 -f csv a.bin
mv out one.csv
run_hr memory --jobs 5 -f csv a.bin
is 'several workers find the same' "$(cmp out one.csv 2>&1)" ''
run_hr memory --by look a.bin
is 'no pages' "$status.$(sed "s/^hr: //" err)" \
    "1.a.bin: no pages are recorded; 'hr run --pages 1ms' records them, and 'hr run --alloc' allocations"
"$TOOLS/genaccesses" none.bin </dev/null || exit 1
run_hr memory none.bin
is 'no accesses' "$status.$(sed "s/^hr: //" err)" "1.none.bin: no accesses are recorded; 'hr run --mode pebs' records them"

run_hr memory --lines a.bin
like 'lines: false sharing' out '^   FALSE SHARING: threads use different parts of the line$'
like 'lines: what it costs' out '^   line 0x[0-9a-f]* of process 1000: 7\.7% of all latency, 400 records, 200 of them modified elsewhere, [1-9][0-9]* turns$'
like 'lines: one side' out '^ +0 +100 +100 +90\.0 +1000  stats\[1\]\.hits  from count_hits$'
like 'lines: the other side' out '^ +8 +100 +100 +90\.0 +1001  stats\[1\]\.misses  from count_misses$'

# One line of each kind, the worst first; and what is no sharing: one thread alone, a line that nobody writes, one that
# a thread takes over from another.
table=$(at table)
hits=$(at count_hits)
misses=$(at count_misses)
quiet=$(at cold_a 64)
later=$(at cold_b 64)
main=$(at main)
for i in $(seq 50 50 2000); do
    t=$((i / 50 % 2))
    f=$([ $t = 0 ] && echo "$hits" || echo "$misses")
    cat <<END
cpu $t
load ${i}000 $((1000 + t)) $f $((table + 8 * t)) 7 500
store ${i}100 $((1000 + t)) $f $((table + 8 * t)) 0
load ${i}200 $((1000 + t)) $f $((table + 64)) 7 300
store ${i}300 $((1000 + t)) $f $((table + 68)) 0
load ${i}400 $((1000 + t)) $f $((table + 128)) 7 100
store ${i}500 $((1000 + t)) $f $((table + 128)) 0
load ${i}600 $((1000 + t)) $f $((table + 136 + 8 * t)) 7 100
store ${i}700 $((1000 + t)) $f $((table + 192 + 64 * t)) 0
load ${i}800 $((1000 + t)) $f $quiet 7 900
store ${i}900 $((1000 + i / 1001)) $main $later 0
END
done >lines
"$TOOLS/genaccesses" lines.bin victim <lines || exit 1
run_hr memory --lines -f csv lines.bin
is 'lines by kind' "$(sed 1d out | cut -d, -f1,4,7-13)" '1,false,0,1000,table[0].next,count_hits,20,20,40
1,false,8,1001,table[0].value,count_misses,20,20,40
2,true,0,1000,table[4].next,count_hits,20,0,20
2,true,0,1001,table[4].next,count_misses,20,0,20
2,true,4,1000,table[4].next,count_hits,0,20,20
2,true,4,1001,table[4].next,count_misses,0,20,20
3,both,0,1000,table[8].next,count_hits,20,20,40
3,both,0,1001,table[8].next,count_misses,20,20,40
3,both,8,1000,table[8].value,count_hits,20,0,20
3,both,16,1001,table[9].next,count_misses,20,0,20'
is 'turns' "$(sed 1d out | cut -d, -f1,5 | uniq | tr '\n' ' ')" '1,39 2,39 3,39 '
run_hr memory --lines -f json -n 1 lines.bin
is 'lines as json' "$(jq -c '[.lines[0].sharing, .lines[0].uses[1].field, (.lines | length)]' out)" '["false","table[0].value",1]'
run_hr memory --lines -f csv --jobs 1 lines.bin
mv out one.csv
run_hr memory --lines -f csv --jobs 4 lines.bin
is 'lines: several workers find the same' "$(cmp out one.csv 2>&1)" ''

# What finds no room in the table is on no line.
for t in 0 1; do
    printf 'cpu %s\n' $t
    for function in lookup main; do
        printf 'store 1000 100%s %s 0x7ffff0000000 0 65536 1\n' $t "$(at $function)"
    done
done | "$TOOLS/genaccesses" full.bin || exit 1
run_hr memory --lines -f csv full.bin
is 'lines: a full table' "$(awk -F, 'NR > 1 && $8 == 0 { none++ } NR > 1 { lines[$1] } END { print length(lines), none + 0 }' out)" '1024 0'

# A walk by one, which a trace that is cut off needs, names as much.
head -c $(($(stat -c %s a.bin) - 700)) a.bin >cut.bin
run_hr memory -f csv cut.bin
is 'cut off' "$status.$(cut -d, -f1-3 out | sed -n 2,3p | tr '\n' ' ')" '0.table,1000,0 stats,100,100 '

# The database: everything is there, under Heimdallr's names, too.
run_hr export sqlite a.bin
ask() { sqlite3 -batch -noheader a.sqlite "$1"; }
is 'sqlite: counts' "$status.$(ask 'SELECT count(*), sum(is_write), sum(latency), min(latency) FROM accesses')" '0.2170|220|235000|4'
is 'sqlite: objects' "$(ask 'SELECT object, kind, reads, writes, latency FROM object_totals LIMIT 2')" 'table|variable|1000|0|214000
stats|variable|200|200|18000'
is 'sqlite: kinds' "$(ask 'SELECT DISTINCT kind FROM objects ORDER BY 1' | tr '\n' ' ')" 'mapping stack variable '
is 'sqlite: sources' "$(ask "SELECT source, count(*) FROM accesses GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" \
    'L1|750 LLC modified|200 memory|1000 store L1|20 store beyond-L1|200 '
is 'sqlite: functions and threads' "$(ask "SELECT label, tid, cpu, count(*) FROM accesses JOIN functions ON functions.id = function
    WHERE is_write GROUP BY 1, 2, 3 ORDER BY 1")" 'count_hits|1000|1|100
count_misses|1001|2|100
main|1000|0|20'
is "sqlite: Heimdallr's tables" "$(ask 'SELECT runs.mode, is_write, count(*) FROM access JOIN runs ON access.run_id = runs.id
    LEFT JOIN allocs ON addr BETWEEN base AND base + size GROUP BY is_write')" 'pebs|0|1950
pebs|1|220'

# The picture: a band for each object, in the order of addresses; reads are blue, writes orange.
run_hr plot -p memory -o map.svg a.bin
is 'map: bands in the order of addresses' "$status.$(sed -n 's/.*<title>\(.*\), process 1000: .* recorded<.*/\1/p' map.svg | tr '\n' ' ')" \
    '0.cold_b cold_a stats table [anon] 0x7ffff0000000 [anon] 0x7ffff4000000 [stack of thread 1000] '
like 'map: what is in a band' map.svg '>stats, process 1000: 0x[0-9a-f]* to 0x[0-9a-f]*, 200 reads and 200 writes recorded<'
ok 'map: it is sound XML' xmllint --noout map.svg
run_hr plot -p memory --range "$(printf '0x%x-0x%x' "$(at table)" "$(at table 16384)")" --block 1K -o part.svg a.bin
is 'map: a range' "$(sed -n 's/.*<title>\(.*\), process 1000: .* recorded<.*/\1/p' part.svg)" table
is 'map: rows of a block' "$(sed -n "s/.*<rect [^>]* height='\([0-9.]*\)'[^>]*f4f4f4.*/\1/p" part.svg)" 32.00
run_hr plot -p memory --range 5-4 -o part.svg a.bin
is 'map: no range' "$status" 2

# The same as letters, and as data: every record is in a cell.
run_hr memory --map a.bin
like 'map as letters: what it is' out '^# accesses over time and address, from 1\.000 us to 4\.949 ms, a column is 65\.11 us$'
is 'map as letters: addresses that grow, then a line that is written and read' \
    "$status.$(sed -n '/^table,/,/^stats,/p' out | grep -cE '^ \| *R+r? *\|$').$(sed -n '/^stats,/,/^cold_a,/p' out | grep -cE '^ \| +WW +RR +\|$')" 0.10.2
run_hr memory --map -f csv a.bin
is 'map as data: records' "$(awk -F, 'NR > 1 { reads[$1] += $7; writes[$1] += $8; latency[$1] += $10 } END { for (name in reads) print name, reads[name], writes[name], latency[name] }' out | sort)" \
    '[anon] 0x7ffff0000000 50 0 200
[anon] 0x7ffff4000000 50 0 200
[stack of thread 1000] 50 0 200
cold_a 300 0 1200
cold_b 300 20 1200
stats 200 200 18000
table 1000 0 214000'
is 'map as data: a cell of one thread, a cell of two' "$(awk -F, '$1 == "stats" && $8 > 0 { print $11 }' out | sort -u | tr '\n' ' ')" '1000 1001 '
mv out one.csv
run_hr memory --map -f csv --jobs 1 a.bin
is 'map: several workers find the same' "$(cmp out one.csv 2>&1)" ''
run_hr memory --map --range "$(printf '0x%x-0x%x' "$(at table)" "$(at table 16384)")" --block 1K -f json a.bin
is 'map as data: a range in blocks' "$(jq -c '[.of, (.bands | length), .bands[0].object, .bands[0].rows, ([.bands[0].cells[] | .[2]] | add)]' out)" '["accesses",1,"table",16,1000]'
run_hr memory --map=pages a.bin
is 'map: of what there is not' "$status.$(sed 's/^hr: //' err)" "1.a.bin: no pages are recorded; 'hr run --pages 1ms' records them"
run_hr memory --map=regions a.bin
is 'map: of what is unknown' "$status" 2
run_hr memory --block 1K a.bin
is 'map: its options alone' "$status" 2

# Tables are bounded: 420,000 instructions in as many blocks of memory.
awk 'BEGIN { for (i = 0; i < 420000; i++) printf "load %d 1000 %d %.0f 1 4\n", i * 100, 4198400 + i, 68719476736 + i * 2097152 }' |
    "$TOOLS/genaccesses" wide.bin || exit 1
run_hr memory -f csv -n 1 wide.bin
is 'what finds no room is one row' "$(sed 1d out | cut -d, -f1,2,11)" '[other],26784,[other]'
run_hr memory --jobs 2 -f csv -n 1 wide.bin
is 'the same with two workers' "$(sed 1d out | cut -d, -f1,2,11)" '[other],26784,[other]'
run_hr memory --map -f json wide.bin
within 'a map of it is small' "$(wc -c <out)" 100 1000
done_testing
