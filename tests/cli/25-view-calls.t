#!/bin/sh
# hr view: durations of probed functions and requests, as hr latency has them, in a headless Chromium.
. "$(dirname "$0")/../lib.sh"
export HOME="$work"
. "$ROOT/tests/view/look.sh"

# 3000 requests; each calls lookup within handle, and one of a hundred waits there for a lock.
awk 'BEGIN {
    for (i = 0; i < 3000; i++) {
        t = 20000 * i + 1000
        slow = i % 100 == 50 ? 2000 + 3 * i : 0
        print "request", t - 10, 1000, i, 1
        print "enter", t, 1000, "handle", 8323072, i
        print "enter", t + 100, 1000, "_ZN5cache6lookupERKSs", 8323000, i
        if (slow) {
            print "wait", t + 200, 1000, 202, 20480
            print "switch", t + 210, 1000, 1001, 3
            print "switch", t + 210 + slow, 1001, 1000, 3, 1001
        }
        print "return", t + 300 + slow + i % 7, 1000, "_ZN5cache6lookupERKSs", 8323000, 1
        print "return", t + 900 + slow + i % 7, 1000, "handle", 8323072, 0
        print "request", t + 950 + slow + i % 7, 1000, i, i == 2999 ? 4 : 2
    }
    print "enter", t + 18000, 1000, "<img src=x onerror=alert(1)>", 8323072, 5
    print "return", t + 18500, 1000, "<img src=x onerror=alert(1)>", 8323072, 5
}' >c.txt
sed -i 's/<img src=x onerror=alert(1)>/<img\/src=x\/onerror=alert(1)>/' c.txt # a word
"$TOOLS/genprobes" c.bin <c.txt || exit 1
run_hr view c.bin
is 'status, nothing is said' "$status.$(cat out err)" 0.
look c.html 'durations=handle'
sees <<'END'
what there is :: .durations.note :: 3 probed functions and requests
where time goes :: .durations.legend :: on CPUlocks
by the tail at first :: .durations.heads[6] :: Tail ▾
rows: calls :: .durations.rows | map(.[0] + ":" + .[1]) | sort | join(",") :: <img/src=x/onerror=alert(1)>:1,cache::lookup(std::string const&):3,000,handle:3,000,requests:2,999
rows: order :: .durations.rows | map(.[0]) | index("<img/src=x/onerror=alert(1)>") :: 3
END
# shown NS: a duration as the page shows it.
shown() { awk -v ns="$1" 'BEGIN { us = ns / 1000; if (ns < 1000) print ns " ns"; else print (us >= 10 ? int(us * 100 + 0.5) / 100 : int(us * 1000 + 0.5) / 1000) " us" }'; }
for percentile in 2:median_ns 3:p99_ns 4:p999_ns 5:max_ns; do
    ns=$("$HR" latency -f json c.bin | jq ".rows[] | select(.function == \"handle\") | .${percentile#*:}")
    is "rows: ${percentile#*:}" "$(seen ".durations.rows[] | select(.[0] == \"handle\")[${percentile%:*}]")" "$(shown "$ns")"
done
sees <<'END'
small distributions: a bar for each kind of duration :: "\(.durations.sparks | map(. > 0) | all),\(.durations.sparks | max > 3)" :: true,true
a row is chosen :: .durations.chosen :: handle
END
like 'said how many are shown' seen 'the 128 longest \(orange\) and 3[0-9]+ others of 3,000 calls; click one to see it on the timeline'
is 'shares: up to all' "$(seen '"\(.durations.most),\(.durations.shares > 60)"')" 1,true
longest=$("$HR" latency -f json --function handle --worst 1 c.bin | jq -r '.worst[0] | "\(.start_ns) \(.duration_ns)"')
start=${longest% *} took=${longest#* }
like 'a dot: what it is' seen "$(shown "$took" | sed 's/\./\\./').*thread 1000 on CPU 0, first argument 2,950.*locks [0-9.]+ %"
is 'a click selects it' "$(seen '.durations.selection | map(round) | join(" ")')" "$start $((start + took))"
is 'and shows it' "$(seen ".durations.window | .[0] < $start and .[0] > $start - $took and .[1] > $start + $took and .[1] < $start + 2 * $took")" true
is 'hostile names are text' "$(seen .durations.elements)" 0
look c.html dark 'durations=requests' theme
is 'requests: shown' "$(seen '.durations.shown' | sed 's/.* others/others/')" 'others of 2,999 requests; click one to see it on the timeline'
like 'a request: its number' seen 'request 2,950, .*began in thread 1000.*threads work for it 100'
is 'the theme changes' "$(seen '.theme.theme + .theme.other')" darklight

# A large trace: the page stays small, and the walk is one more.
"$TOOLS/genprobes" --many 1000000 n.bin || exit 1
run_hr view n.bin
within 'a large trace: bytes of the page' "$(stat -c %s n.html)" 100000 600000
look n.html 'durations=outer'
is 'a large trace: how many are shown' "$(seen '.durations.shown' | grep -cE '^the 128 longest \(orange\) and 38[0-4] others of 250,000 calls')" 1

# No probes, no panel; a part of the trace.
"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 1000 plain.bin
run_hr view plain.bin
look plain.html 'durations=x'
is 'a trace without probes: no table' "$(seen .durations.hidden)" true
run_hr view --from 30ms -o part.html c.bin
look part.html 'durations=handle'
is 'a part' "$(seen '.durations.rows[] | select(.[0] == "handle")[1]')" "$("$HR" latency --from 30ms -f csv --function handle c.bin | sed 1d | cut -d, -f4 | sed -E 's/([0-9])([0-9]{3})$/\1,\2/')"
# ---- the flame graph of the time off the CPU ----
look c.html off-cpu
is 'off CPU: no stacks, no choice' "$(seen '."off-cpu".hidden')" true
if cc -O1 -g -pthread -o kinds "$ROOT/tests/programs/waitkinds.c" 2>cc.err; then
    run_guest -q -i 10us --waits -g dwarf -o w.bin ./kinds
    run_hr view w.bin
    look w.html overview off-cpu
    seen '.overview.bands."CPU usage" | to_entries[] | "\(.key | sub("kinds"; "thread")) \(.value * 100 | round)"' | sort >got
    "$HR" timeline --per thread -b 1s -f csv w.bin | awk -F, '$4 == "usage" { printf "thread %s %.0f\n", $3, $7 * 100 }' | sort >wanted
    same_file 'bands of CPU usage: as hr timeline has them' got wanted
    "$HR" export sqlite -o w.db w.bin
    seen '.overview | .end as $ns | .bands."system calls" | to_entries | map(select(.key != "others"))[] | "\(.key) \(.value * $ns / 1e6 | round)"' | sort >got
    sqlite3 -separator ' ' w.db 'SELECT name, count(*) FROM syscalls GROUP BY name ORDER BY count(*) DESC LIMIT 8' | sort >wanted
    same_file 'bands of system calls: all of them' got wanted
    "$HR" export folded --off-cpu -o w.folded w.bin
    is 'off CPU: as long as hr export folded --off-cpu has it' "$(seen '."off-cpu".ns')" "$(awk '{ sum += $NF } END { print sum }' w.folded)"
    is 'off CPU: the halves are the whole' "$(seen '."off-cpu" | (.halves | add | round) == .ns and (.halves | min) > 0')" true
    for function in takes_lock waits_for_signal reads_pipe joins sleeps holder; do
        like "off CPU: $function" seen "\"$function +\\[kinds\\]: [0-9.]+ [mu]s off CPU, "
    done
    like 'off CPU: a thread waits less' seen '"thread": "all: 1[0-9]\.[0-9]+ ms off CPU'
    like 'on CPU again: samples' seen '"again": "all: [0-9,]+ samples'
else
    skip 14 'no C compiler'
fi
done_testing
