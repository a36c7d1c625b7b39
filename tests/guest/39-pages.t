#!/bin/sh
# Looks at the page tables (hr run --pages): which pages a program of known pattern touches, and that
# nothing else of the run changes.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"

gcc -O2 -static -o pages "$ROOT/tests/programs/pages.c" || exit 1
rounds=12

# where NAME: the address and the number of pages of an area, as the program printed them.
where() {
    sed -n "s/^$1 //p" out
}

# touched PID NAME: one line a look that saw any of the area: the time, its pages, of them written.
touched() {
    # shellcheck disable=SC2046
    set -- "$1" $(where "$2")
    sqlite3 -batch -noheader -separator ' ' hr.db "
        WITH part AS (SELECT time_ns, written,
            (min(address + pages * 4096, $2 + $3 * 4096) - max(address, $2)) / 4096 AS pages FROM pages WHERE pid = $1)
        SELECT time_ns, sum(pages), sum(pages * written) FROM part WHERE pages > 0 GROUP BY time_ns ORDER BY time_ns"
}

# each FILE: the different counts of pages and written pages in it, with how often each comes.
each() {
    cut -d' ' -f2- "$1" | sort | uniq -c | awk '{ print $1 "x" $2 "/" $3 }' | tr '\n' ' '
}

# refuses NAME STATUS MESSAGE ARGUMENT...: hr fails, with this message.
refuses() {
    name=$1 status=$2 message=$3
    shift 3
    "$HR" "$@" >refused 2>&1
    is "$name" "$? $(grep -cF -e "$message" refused)" "$status 1"
}

export_pages() {
    "$HR" export sqlite --force -o hr.db hr.bin 2>/dev/null
}

# ---- what is touched ----
run_guest --pages 1ms ./pages $rounds
export_pages
looks=$("$HR" memory -f json hr.bin | jq .look_count)
within 'a look each millisecond' "$looks" 9 14
full=$((looks - 1)) # the last one is cut off by the end, after the last round
touched 1000 cold >cold
is 'what was written once is touched in one look' "$(each cold)" '1x256/256 '
is '... the first' "$(cut -d' ' -f1 cold)" 1000000
touched 1000 hot >hot
is 'what each round writes is written in each look' "$(each hot)" "${full}x128/128 "
touched 1000 scan >scan
is 'what each round reads is touched in each look, and not written' "$(each scan)" "${full}x384/0 "
is 'looks are on the grid, and the last one is at the end' \
    "$(sqlite3 -batch hr.db 'SELECT group_concat(DISTINCT time_ns) FROM pages WHERE time_ns % 1000000')" \
    "$("$HR" stat --json hr.bin | jq .duration_ns)"
touched 1000 own >own
is 'what is never touched is in no look' "$(each own)" ''
"$HR" memory --by look -f csv hr.bin >looks
is 'new pages come in the first look' "$(awk -F, 'NR == 2 { print ($4 > 768 * 4096) }' looks)" 1
is 'a set of 10 looks holds what was written in the first of them, and the next set does not' \
    "$(awk -F, 'NR == 11 { ten = $5 } NR == 12 { print (ten - $5 >= 256 * 4096) }' looks)" 1
"$HR" memory hr.bin >table
like 'the table names the stack' table '\[stack\]'
like '... the program' table ' pages '
"$HR" memory --by first-touch -f csv -n 0 hr.bin >touchers
is 'first touches: one function wrote cold and hot' "$(grep ',write_all$' touchers | cut -d, -f1-3)" \
    "$(((256 + 128) * 4096)),$((256 + 128)),$(((256 + 128) * 4096))"
is '... and another one read scan' "$(grep ',read_all$' touchers | cut -d, -f1-3)" "$((384 * 4096)),384,0"
is '... all in all these are those of the database' "$(awk -F, 'NR > 1 { sum += $2 } END { print sum }' touchers)" \
    "$(sqlite3 -batch hr.db 'SELECT count(*) FROM page_faults')"
is '... with the page faults, and what system calls filled' \
    "$(sqlite3 -batch hr.db 'SELECT count(*) FROM page_faults WHERE NOT called')" "$(stat_of hr.bin .page_faults)"
is 'hr stat knows the largest set, as hr memory does' "$(stat_of hr.bin .working_set.max_bytes)" \
    "$("$HR" memory --by look -f csv hr.bin | awk -F, 'NR > 1 && $2 > most { most = $2 } END { print most }')"
like 'the table says who touched a range first' table '\[anon\] +(write|read)_all$'
like '... and says what is cold' table 'cold: not touched in the last tenth'
is 'locality: what was touched again in the next look, and next to each other' \
    "$("$HR" memory -f json hr.bin | jq -r '"\(.seen_bytes / 4096) \(.again_bytes / 4096) \(.stretches)"')" \
    "$(sqlite3 -batch -noheader -separator ' ' hr.db '
        SELECT (time_ns + 500000) / 1000000, address, pages FROM pages ORDER BY 1, 2, written DESC' |
        awk '{ stretches += $1 != look || $2 != end; look = $1; end = $2 + $3 * 4096 }
            { for (at = $2; at < end; at += 4096) {
                seen += last[at] != look; again += look > 1 && last[at] == look - 1; last[at] = look } }
            END { print seen, again, stretches }')"
like '... in the table' table '^locality +[0-9.]+% of what a look saw was touched in the look before'
"$HR" plot -p memory -o memory.svg hr.bin
is 'the picture has hot and cold in two colours' \
    "$(grep -c -m1 d55e00 memory.svg) $(grep -c -m1 0072b2 memory.svg)" '1 1'
"$HR" memory -f csv -n 0 hr.bin | awk -F, 'NR > 1 { print $1, $2, $3, $7 }' | sort >ranges
"$HR" memory --map -n 0 -f json hr.bin >map
jq -r '.bands[] | select(.start < 140737488355328) | "\(.pid) \(.start) \(.end) \(([.cells[] | .[2] + .[3]] | add) * 4096 / '"$looks"' | floor)"' map | sort >bands
is 'the map has what looks saw of each range' "$(comm -13 ranges bands)" ''
is '... of the ranges that matter' "$(jq '[.left_out, (.bands | length)] | .[1] > 3' map)" true
is '... in rows that begin and end at whole pages' \
    "$("$HR" memory --map -f csv hr.bin | awk -F, 'NR > 1 { all++; odd += $3 % 4096 || $4 % 4096 } END { print (all > 0), odd }')" '1 0'
# shellcheck disable=SC2046
set -- $(where hot)
"$HR" memory --map --range "$(printf '0x%x-0x%x' $(($1 + 16 * 4096)) $(($1 + 48 * 4096)))" hr.bin >letters
is '... of a part its pages alone, and nothing outside it' "$(grep -c '^\[anon\].* 131\.07 KB touched$' letters) $(grep -c 'left out' letters)" '1 0'
is 'the trace is complete' "$("$HR" check hr.bin >/dev/null 2>&1; echo $?)" 0

# ---- nothing else changes ----
"$HR" dump -f csv hr.bin >with 2>/dev/null
"$HR" dump -f records hr.bin | grep '^  pages ' >first
cp hr.db one.db
run_guest --pages 1ms ./pages $rounds
"$HR" dump -f records hr.bin | grep '^  pages ' >second
same_file 'two runs see one thing' first second
run_guest ./pages $rounds
"$HR" dump -f csv hr.bin >without 2>/dev/null
same_file 'samples are those of a run without looks' with without
refuses 'without looks there is nothing to show' 1 "no pages are recorded; 'hr run --pages 1ms' records them" memory hr.bin

# ---- processes ----
run_guest --pages 1ms ./pages $rounds fork
export_pages
touched 1001 hot >child
is 'the child copied the pages that it wrote: these are page faults of its own' \
    "$(sqlite3 -batch hr.db "SELECT count(*) FROM page_faults WHERE tid = 1001 AND written
        AND address BETWEEN $(where hot | cut -d' ' -f1) AND $(where hot | cut -d' ' -f1) + 128 * 4096 - 1")" 100
is 'a child has touched what it wrote itself' "$(each child)" '1x100/100 '
touched 1001 own >child
is '... of its own memory too' "$(each child)" '1x50/50 '
touched 1001 cold >child
is '... and nothing of what the parent wrote before the fork' "$(each child)" ''
touched 1000 own >parent
is 'the parent has not touched what the child wrote' "$(each parent)" ''
"$HR" dump -f csv hr.bin >with 2>/dev/null
run_guest ./pages $rounds fork
"$HR" dump -f csv hr.bin >without 2>/dev/null
same_file 'samples of processes are those without looks' with without
run_guest --pages 100us /bin/sh -c 'ls / | sort | tail -n 1; exec true'
export_pages
is 'short processes have looks, too, before they execute or end' \
    "$(sqlite3 -batch hr.db 'SELECT count(DISTINCT pid) FROM pages')" \
    "$("$HR" stat --json hr.bin | jq '.processes | length')"

# ---- a page fault of an instruction at a probe ----
gcc -static -o deep "$ROOT/tests/programs/deep.S" || exit 1
run_guest --pages 1ms ./deep
"$HR" dump -f csv hr.bin >without 2>/dev/null
plain=$(stat_of hr.bin '.page_faults, .duration_ns, .events[0].total')
call=$(nm deep | awk '$3 == "deep" { at = $1 } $3 == "deep_call" { call = $1 } END { print "0x" at, "0x" call }')
crossing=$(nm deep | awk '$3 == "main" { at = $1 } $3 == "crossing" { call = $1 } END { print "0x" at, "0x" call }')
run_guest --pages 1ms --probe "deep+$(printf '0x%x' $((${call#* } - ${call% *})))" \
    --probe "main+$(printf '0x%x' $((${crossing#* } - ${crossing% *})))" ./deep
is 'a probed call touches new pages of the stack: faults, time and instructions are those without a probe' \
    "$(stat_of hr.bin '.page_faults, .duration_ns, .events[0].total')" "$plain"
is '... each fault has its record' "$("$HR" dump -f records hr.bin | grep -c '^  page-fault .*flags=[0-3]$')" "$(stat_of hr.bin .page_faults)"
is '... and each call is a hit' "$(stat_of hr.bin .probes.hits)" 201
"$HR" dump -f csv hr.bin >with 2>/dev/null
same_file '... samples are the same' with without

# ---- pages that system calls touch first ----
gcc -O2 -static -I "$ROOT" -o filled "$ROOT/tests/programs/filled.c" || exit 1
run_guest ./filled
"$HR" dump -f csv hr.bin >without 2>/dev/null
plain=$(stat_of hr.bin '.page_faults, .duration_ns, .events[0].total')
run_guest --pages 1ms ./filled
"$HR" dump -f csv hr.bin >with 2>/dev/null
same_file 'system calls: samples are those of a run without looks' with without
is '... and so are faults, time and instructions' "$(stat_of hr.bin '.page_faults, .duration_ns, .events[0].total')" "$plain"
export_pages
"$HR" memory --by first-touch -f csv -n 0 hr.bin >touchers
for row in 'read_into 74 74' 'write_from 4 0' 'fill_ahead 32 32' 'signal_itself 1 1'; do
    is "first touched by a system call of ${row%% *}" \
        "$(awk -F, -v name="${row%% *}" '$NF == name { print $NF, $2, $3 / 4096 }' touchers)" "$row"
done
is '... by this instruction, of this thread' "$(objdump -d --disassemble=read_into filled | awk '/syscall/ { print $1 }') $(
    sqlite3 -batch -separator ' ' hr.db 'SELECT printf("%x:", ip), count(*), sum(tid = 1001), sum(written) FROM page_faults
        WHERE called GROUP BY ip ORDER BY count(*) DESC LIMIT 1')" \
    "$(objdump -d --disassemble=read_into filled | awk '/syscall/ { print $1, $1 }') 74 10 74"
is '... what was there then has no page fault' "$(grep -c ',touch$' touchers) $(awk -F, '$NF == "touch" { print $2 }' touchers)" '1 1'

# ---- large pages, several CPUs, sampling off ----
run_guest --pages 1ms "$WORKLOADS/memory" 8
export_pages
is 'large pages are told' "$(sqlite3 -batch hr.db 'SELECT count(*) > 0 FROM pages WHERE large')" 1
run_guest --pages 1ms --pages-split "$WORKLOADS/memory" 8
export_pages
is '--pages-split has none' "$(sqlite3 -batch hr.db 'SELECT count(*) FROM pages WHERE large')" 0
run_guest --mode off --cpus 2 --pages 1ms "$WORKLOADS/threads" count 2 3000000
is 'several CPUs: the trace is complete' "$("$HR" check hr.bin >/dev/null 2>&1; echo $?)" 0
export_pages
is '... and the code of the threads is touched in most looks' \
    "$("$HR" memory -f json --by look hr.bin | jq '[.looks[] | select(.touched_bytes > 0)] | length * 10 >= (.[0] | 1) * 10')" true

# ---- the page ----
transcript "$ROOT/docs/memory.md"

# ---- bad input ----
refuses 'a time without a unit' 125 '--pages 5: not a time with a unit; write 100us, 1ms or 10ms' run --pages 5 ./pages
refuses 'a time that is too short' 125 'the shortest is 10us' run --pages 1us ./pages
refuses 'rows of another kind' 2 'choose range, look or first-touch' memory --by nothing hr.bin

done_testing
