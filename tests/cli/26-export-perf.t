#!/bin/sh
# hr export perf: perf itself reads it without complaint and shows what hr report shows.
. "$(dirname "$0")/../lib.sh"

command -v perf >perf.log || skip_all 'no perf here (package linux-perf)'
export PAGER=cat HOME="$work"

# shown NAME: what perf says of NAME.perf.data, a function a line: "name samples events..." in the file shown.
shown() {
    perf report --stdio -t '|' -F period,sym -i "$1.perf.data" >perf.out 2>perf.err
    awk -F '|' '!/^#/ && NF > 1 { sub(/ *\[[.k]\] */, "", $2); split($1, n, " ")
        for (i = 1; i in n; i++) sum[$2, i] += n[i]; names[$2]; if (i > most) most = i }
        END { for (f in names) { printf "%s", f; for (i = 1; i < most; i++) printf " %d", sum[f, i]; print "" } }' \
        perf.out | sort >shown
}

# reported TRACE EVENT...: the same from hr report.
reported() {
    trace=$1
    shift
    "$HR" report -n 0 "$trace" | awk '/^ *[0-9.]+%/ { gsub(",", ""); sub(/\[kernel\] /, ""); n[$5] += $3 }
        END { for (f in n) print f, n[f] }' | sort >reported
    for event in "$@"; do
        "$HR" report -n 0 --sort "$event" "$trace" |
            awk '/^ *[0-9.]+%/ { gsub(",", ""); sub(/\[kernel\] /, ""); n[$5] += $4 } END { for (f in n) print f, n[f] }' |
            sort | join reported - >joined
        mv joined reported
    done
}

run_guest -q --accel tcg -i 1us -e instructions,cycles,cache-misses -o p.bin "$WORKLOADS/phases" 5 1
run_hr export perf p.bin
is 'status' "$status" 0
is 'nothing is said' "$(cat out err)" ''
shown p
reported p.bin instructions cycles cache-misses
is 'perf report has no warning' "$(cat perf.err)" ''
for function in main phase_chase phase_compute phase_sort phase_stream sift_down; do
    is "$function: samples and every event as in hr report" "$(grep "^$function " shown)" "$(grep "^$function " reported)"
done
is 'all samples' "$(awk '{ n += $2 } END { print n }' shown)" "$(stat_of p.bin .samples)"
for event in 1 2 3; do
    is "event $event: all of it" "$(awk -v c=$((event + 2)) '{ n += $c } END { print n }' shown)" \
        "$(awk -v c=$((event + 2)) '{ n += $c } END { print n }' reported)"
done
like 'a group' perf.out "^# Samples: .* of events 'microtome \{ samples, instructions, cycles, cache-misses \}'"
perf report --header-only -i p.perf.data >out 2>err
like 'header: command' out '^# cmdline : .*/phases 5 1'
like 'header: CPU' out "^# cpudesc : $("$HR" dump --format records p.bin | sed -n 's/.*machine.model=\(QEMU [A-Za-z ]*\).*/\1/p')"
like 'header: times' out '^# sample duration : +[0-9]+\.[0-9]+ ms'
perf buildid-list -i p.perf.data >out 2>err
like 'build-ids' out "^$(readelf -n "$WORKLOADS/phases" | sed -n 's/.*Build ID: //p') $WORKLOADS/phases\$"
perf script -F tid,time,event,period,ip,sym,dso -i p.perf.data >out 2>err
is 'perf script has no warning' "$(cat err)" ''
first=$("$HR" dump p.bin | sed -n 2p)
is 'perf script: the first sample' "$(awk 'NR == 2 { print $1, $3, $4, $5 }' out)" \
    "$(echo "$first" | awk -F , '{ print $3, $6, "instructions:", substr($4, 3) }')"
is 'perf script: a line an event that rose' "$(wc -l <out)" \
    "$("$HR" dump p.bin | awk -F , 'NR > 1 { n += 1 + ($6 > 0) + ($7 > 0) + ($8 > 0) } END { print n }')"
perf annotate --stdio -i p.perf.data phase_compute >out 2>err
like 'perf annotate: its samples' out "phases for microtome .*\($(awk '$1 == "phase_compute" { print $2 }' shown) samples"
like 'perf annotate: instructions' out '^ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +: +[0-9a-f]+: '

run_guest -q --accel tcg -i 5us -o t.bin "$WORKLOADS/threads" count 3 100000
run_hr export perf t.bin
perf script --show-task-events --show-switch-events -F comm,tid,time,event -i t.perf.data >out 2>err
is 'threads begin' "$(grep -c RECORD_FORK out)" 2
is 'switches: in and out' "$(grep -c 'SWITCH_CPU_WIDE IN' out)" "$("$HR" dump --format records t.bin | grep -c '^  switch .*to_tid=[1-9]')"
for tid in 1000 1001 1002; do
    is "thread $tid: its samples" "$(awk -v t=$tid '$2 == t && /samples:/' out | wc -l)" \
        "$("$HR" dump t.bin | awk -F , -v t=$tid '$3 == t' | wc -l)"
done
is 'threads have the program'"'"'s name' "$(awk '/samples:/ { print $1 }' out | sort -u)" threads

run_guest -q --accel tcg --cpus 3 -i 20us -o c.bin "$WORKLOADS/threads" count 3 300000
run_hr export perf c.bin
perf report --stdio -t '|' --sort cpu -F period -i c.perf.data >out 2>err
is 'several CPUs: no warning' "$(cat err)" ''
perf script -F cpu,event,period -i c.perf.data >out 2>err
is 'several CPUs: every sample' "$(grep -c samples: out)" "$(stat_of c.bin .samples)"
is 'several CPUs: all instructions' "$(awk '/instructions:/ { n += $2 } END { print n }' out)" \
    "$("$HR" dump c.bin | awk -F , 'NR > 1 { n += $6 } END { print n }')"

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" 60000 big.bin
run_hr export perf big.bin
shown big
reported big.bin instructions cycles cache-misses branches branch-misses
# hr and perf choose among the names of an address; sums by name are compared where both chose alike
join shown reported >both
is 'a large trace: functions' "$(($(wc -l <both) * 2 > $(wc -l <reported)))" 1
is 'a large trace: each as in hr report' \
    "$(awk '{ h = (NF - 1) / 2; for (i = 2; i <= h + 1; i++) if ($i != $(i + h)) bad++ } END { print bad + 0 }' both)" 0
is 'a large trace: perf may sort it piece by piece' \
    "$(($(perf script --show-round-events -F event -i big.perf.data 2>err | grep -c FINISHED_ROUND) > 5))" 1

"$TOOLS/gentrace" --elf "$WORKLOADS/phases" --stacks fp --cpus 2 --threads 2 --turn 300 4000 s.bin
run_hr export perf s.bin
perf report --stdio -g caller -i s.perf.data >out 2>err
is 'stacks: perf report has no warning' "$(cat err)" ''
perf script -F event,ip,sym -i s.perf.data | awk '/:/ { on = /samples:/; next } on && NF { n++ } END { print n }' >frames
run_hr export folded s.bin -o -
is 'stacks: all frames' "$(cat frames)" "$(awk '{ n += $NF * split($1, f, ";") } END { print n }' out)"
perf script -F event,ip,sym -i s.perf.data | awk '/:/ { if (top != "") n[top]++; top = ""; on = /samples:/; next }
    on && NF == 2 { top = $2 } END { if (top != "") n[top]++; for (f in n) print f, n[f] }' | sort >bottoms
awk '{ split($1, p, ";"); n[p[1]] += $NF } END { for (f in n) print f, n[f] }' out | sort | join - bottoms >both
is 'stacks: the outermost functions' "$(($(wc -l <both) > 0)).$(awk '$2 != $3' both)" 1.

# the kernel's code, from its own file
ip=$(nm "$BUILD/guest.elf" | awk '$3 == "sampler_interrupt" { print $1 }')
cp "$BUILD/guest.elf" kernel.elf
"$TOOLS/genviews" --elf kernel.elf --kernel-ip "$ip" overflow k.bin
run_hr export perf k.bin
shown k
is 'kernel code: perf has no warning' "$(cat perf.err)" ''
is 'kernel code: its samples' "$(grep '^sampler_interrupt ' shown)" 'sampler_interrupt 200 2000000 199'
like 'kernel code: marked' perf.out '\|\[k\] sampler_interrupt'
"$TOOLS/genviews" regions r.bin
run_hr export perf r.bin
shown r
is 'what a pause counted is left out' "$(awk '{ n += $3 } END { print n }' shown)" $(($(total r.bin instructions) - 1007500))

run_hr export perf -o part.data --from 1ms --to 2ms p.bin
is 'a part: samples' "$(perf script -F event -i part.data 2>err | grep -c samples:)" \
    "$("$HR" dump --from 1ms --to 2ms p.bin | tail -n +2 | wc -l)"
cp "$WORKLOADS/phases" moved
run_hr export perf -o moved.data --program ./moved p.bin
is 'another place of the program' "$(perf buildid-list -i moved.data 2>err | grep -c "$work/moved\$")" 1

run_hr export perf -o - p.bin
is 'a pipe will not do' "$status.$(cat err)" \
    '1.hr: standard output: the export needs a file; name one with --output'
(ulimit -f 100; "$HR" export perf -o full.data p.bin 2>err; echo $? >code)
is 'no more room: status and message' "$(cat code).$(cat err)" \
    '1.hr: full.data: File too large; free some space or write elsewhere'
is 'no more room: nothing stays' "$(ls full.data* 2>/dev/null)" ''
head -c $(($(stat -c %s p.bin) / 2)) p.bin >cut.bin
run_hr export perf cut.bin
is 'a truncated trace: status' "$status" 0
like 'a truncated trace: said' err 'incomplete, the export holds what is there'
is 'a truncated trace: what is there' "$(perf script -F event -i cut.perf.data 2>err | grep -c samples:)" \
    "$(stat_of cut.bin .samples)"
is 'a truncated trace: perf has no warning' "$(cat err)" ''
run_guest -q --accel tcg --mode off -o off.bin "$WORKLOADS/hello"
run_hr export perf off.bin
is 'no samples: status' "$status.$(cat err)" 0.
ok 'no samples: perf reads it' perf report --stdio -i off.perf.data
done_testing
