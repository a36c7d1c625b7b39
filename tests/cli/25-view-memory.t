#!/bin/sh
# hr view: the map of memory, of accesses, pages and allocations, as hr memory --map has it, in a headless Chromium.
. "$(dirname "$0")/../lib.sh"
export HOME="$work"
. "$ROOT/tests/view/look.sh"

# Reads of 16 KB at growing addresses by one thread; then another one writes and reads lines of other memory.
"$TOOLS/genaccesses" a.bin <<END || exit 1
load 1000 1000 0x401000 0x7ffff0000000 0xa 214 1000 16
cpu 1
store 2000000 1001 0x401100 0x7ffff4000000 0x0 500 64
load 3000000 1001 0x401200 0x7ffff4000000 0x1 4 100 64
END
run_hr view a.bin
is 'accesses: status' "$status.$(cat err)" 0.
look a.html 'memory=accesses|[anon] 0x7ffff4000000'
is 'accesses: what there is' "$(seen '.memory.maps | join(",")').$(seen .memory.note).$(seen .memory.legend)" \
    'accesses.2 objects, a cell is 9.681 us.readbothwritten'
is 'accesses: the highest address is at the top' "$(seen '.memory.objects | join(",")')" '[anon] 0x7ffff4000000,[anon] 0x7ffff0000000'
is 'accesses: every record, and its latency' "$(seen '.memory.sums | sort | join(",")')" \
    "$("$HR" memory -f csv a.bin | awk -F, 'NR > 1 { print $1, $2, $3, $8 }' | sort | tr '\n' ',' | sed 's/,$//')"
like 'accesses: a cell says where, when, how many and who' seen '0x7ffff4000000 to 0x7ffff4000[0-9a-f]*, [12]\.99[0-9]* ms to 2\.0[0-9]* ms\\n0 records read, [0-9]+ written, by thread 1001'
is 'a drag selects time' "$(seen '"\(.memory.selection | .[1] - .[0] > 50000 and .[0] > 1990000 and .[1] < 2200000).\(.memory.box).\(.memory.title)"')" \
    'true.true.Profile of the selection'
from=$(seen '.memory.selection[0] | ceil') to=$(seen '.memory.selection[1] | ceil - 1')
is 'the graph is of what ran then' "$(seen '[.memory.counts[]] | add')" "$("$HR" dump -f csv --from "${from}ns" --to "${to}ns" a.bin | sed 1d | wc -l)"
like 'a press names the object' seen '"chosen": "\[anon\] 0x7ffff4000000, process 1000 .* 0x7ffff4000000 to 0x7ffff4007cc1 .* 100 reads and 500 writes recorded'
is 'the graph of its accesses has those alone' "$(seen '"\(.memory.alone_object) \([.memory.alone[]] | add) of \([.memory.all[]] | add)"')" \
    '[anon] 0x7ffff4000000 600 of 1600'
like '... and says so' seen 'Accesses to \[anon\] 0x7ffff4000000 alone\.'
sees <<'END'
the wheel zooms :: .memory.zoomed :: true
Enter shows one object, Backspace all :: "\(.memory.only | join(",")) \(.memory.again)" :: [anon] 0x7ffff0000000 2
a click on a name, too :: .memory.named | join(",") :: [anon] 0x7ffff4000000
no object of the heap is there :: .memory.life :: null
END

# What is allocated, and pages of the same run.
cp "$ROOT/docs/examples/tally.c" . && cc -g -O1 -o tally tally.c || exit 1
run_guest -q --alloc -g fp --pages 100us -o t.bin ./tally
run_hr view t.bin
look t.html 'memory=allocations|heap: count_word (tally.c:34)' dark
"$HR" memory --map=allocations -f json t.bin >map
is 'several maps' "$(seen '.memory.maps | join(",")').$(seen .memory.legend)" 'pages,allocations.allocated'
is 'allocations: objects as hr memory has them' "$(seen '.memory.objects | sort | join(",")')" "$(jq -r '[.bands[].object] | sort | join(",")' map)"
like 'allocations: what the object is, and who allocated it' seen '7.2 KB in 300 objects\\n.*24 bytes at 0x[0-9a-f]+, allocated at 0\.[0-9]+ ms by thread 1000, freed after [0-9.]+ ms\\n  count_word \(tally.c:34\)\\n'
is 'a double click selects the life of an object' \
    "$(seen .memory.life | jq --slurpfile map map '. as $life | [$map[0].lives[] | select(.from_ns == ($life[0] | round) and .to_ns == ($life[1] | round) and .bytes == 24)] | length')" 1
look t.html overview 'memory=pages|[heap]'
wanted=$("$HR" memory --by look -f csv --limit 0 t.bin | awk -F, 'NR > 1 { sum += $2 } END { printf "%.0f\n", sum * 100000 }')
within 'bands of the working set: bytes by time as hr memory has them' \
    "$(seen '.overview | .end * ([.bands."working set"[]] | add) | round')" $((wanted / 100 * 99)) $((wanted / 100 * 101))
seen '.overview | .end as $ns | .bands."page faults" | to_entries[] | "\(.key) \(.value * $ns / 1e6 | round)"' | grep -v ^others >got
"$HR" memory --by first-touch -f csv --limit 0 t.bin | awk -F, '{ print $8, $2 }' | grep -xFf got | sort >wanted
is 'bands of page faults: functions with most, as hr memory has them' "$(wc -l <wanted)" 8
like 'pages: what a cell says, of whole pages' seen '0x[0-9a-f]+000 to 0x[0-9a-f]+000, [^"]* pages? read, [0-9]+ written'
like 'pages: who touched them first' seen 'touched first by [^"]*malloc'

# Bounded: a million accesses all over; a trace without any has no panel.
"$TOOLS/genaccesses" --many 1000000 n.bin || exit 1
run_hr view n.bin
within 'a large trace: bytes of its map' "$(sed -n 's/.*id="data-memory">\([^<]*\)<.*/\1/p' n.html | wc -c)" 10000 600000
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 1000 plain.bin
run_hr view plain.bin
look plain.html 'memory=accesses|x'
is 'a trace without memory: no map' "$(seen .memory.hidden)" true
done_testing
