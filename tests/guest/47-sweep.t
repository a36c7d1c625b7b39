#!/bin/sh
# hr sweep: every event counts what a run of its own counts; parts add up; runs are as few as there can be; it continues
# after an interruption, tries failed runs again, and says which runs do not agree.
# QEMU and FLAVOURS: see tests/flavours.sh.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/docs/transcript.sh"
. "$ROOT/tests/flavours.sh"
flavour=$(printf '%s\n' "$FLAVOURS" | head -n 1)

# An emulator that keeps a list of its starts; `emulator.do`, if it is there, is executed before with the start's number.
cat >emulator <<END
#!/bin/sh
case \$* in *-machine*) ;; *) exec "$QEMU" "\$@" ;; esac
echo >>"$work/starts"
[ ! -f "$work/emulator.do" ] || . "$work/emulator.do"
exec "$QEMU" "\$@"
END
chmod +x emulator
starts() { wc -l <starts; }

# sweep OPTION...: with the machine's options; the number of starts begins anew.
sweep() {
    : >starts
    run_hr sweep -q --accel "$accel" --qemu "$work/emulator" --cpu "$flavour" --kernel "$KERNEL" -i 2us "$@"
}
events='cycles,ref-cycles,branches,branch-misses,L1-dcache-loads,L1-dcache-load-misses,L1-dcache-stores,LLC-misses,
LLC-loads,LLC-load-misses,LLC-stores,MEM_LOAD_RETIRED.*'
events=$(printf %s "$events" | tr -d '\n')
db() { sqlite3 sweep/sweep.db "$1"; }

# Two repetitions of all.
sweep --repeat 2 -e "$events" -e 'cpu/event=0xb7,umask=1,offcore_rsp=0x10001/' "$WORKLOADS/phases" 1 1
is 'a sweep' "$status" 0
is 'no run was made in vain' "$(starts)" "$((1 + 2 * $(db "SELECT value FROM facts WHERE key='planned_runs'")))"
is 'as few runs as there can be' "$(db "SELECT value FROM facts WHERE key='planned_runs'")" \
    "$(db "SELECT value FROM facts WHERE key='least_runs'")"
is 'each run twice, in random order' "$(jq '.jobs | (length == 2 * (map(.[0]) | unique | length)), . == sort' sweep/sweep.json | tr '\n' ' ')" 'true false '
is 'emulated runs are equal' "$(db 'SELECT count(*) FROM statistics WHERE deviation<>0 OR low<>high OR outliers<>0')" 0
is 'each was measured twice' "$(db 'SELECT DISTINCT runs FROM statistics WHERE event<(SELECT max(event) FROM events)')" 2
on_flavour -q -o one.bin -i 2us -e instructions,cycles,L1-dcache-loads,LLC-load-misses "$WORKLOADS/phases" 1 1
run_hr stat --json one.bin
for name in instructions L1-dcache-loads LLC-load-misses; do
    is "$name: what a run counts" "$(db "SELECT CAST(mean AS INTEGER) FROM statistics JOIN events USING(event) WHERE name='$name'")" \
        "$(jq ".events[] | select(.name == \"$name\") | .total" out)"
done
is 'parts add up to the totals' "$(db 'SELECT count(*) FROM statistics WHERE abs(mean-(SELECT sum(mean) FROM series
    WHERE series.event=statistics.event))>0.5')" 0
is 'functions add up to the totals, but for what is after the last sample' "$(db 'SELECT count(*) FROM statistics s WHERE
    (SELECT sum(mean) FROM functions f WHERE f.event=s.event) NOT BETWEEN 0.9*s.mean-50 AND s.mean')" 0
is 'where the misses are' "$(db "SELECT function FROM functions JOIN events USING(event) WHERE name='LLC-load-misses'
    ORDER BY mean DESC LIMIT 1")" phase_chase

# What is shown.
run_hr sweep show
like 'the table' out '^LLC-load-misses +[0-9,]+ +0.00 % +0.00 % +[0-9.]+$'
run_hr sweep show -f csv
is 'csv: a row for each event' "$(($(wc -l <out) - 1))" "$(db 'SELECT count(*) FROM events')"
run_hr sweep show -f json
is 'json' "$(jq '.events | length' out)" "$(db 'SELECT count(*) FROM events')"
# The model's cycles: instructions + 10 an L1 miss + 200 a miss of the last level + 15 a mispredicted branch.
run_hr sweep show --by phase
is 'a program without phases: one line says so' "$status $(wc -l <out)" '0 1'
like 'and what to do' out 'names no phases: hr_region_begin'
run_hr sweep show --by function -f csv
is 'by function: what the database has' "$(wc -l <out)" "$(($(db 'SELECT count(*) FROM functions') + 1))"
is 'most instructions first' "$(sed -n '2s/,.*//p' out)" "$(db "SELECT function FROM functions JOIN events USING(event)
    WHERE name='instructions' ORDER BY mean DESC LIMIT 1")"
run_hr sweep show --by bin -f json
is 'by bin: misses add up' "$(jq '[.parts[].events[] | select(.name == "LLC-load-misses").mean] | add | round' out)" \
    "$(db "SELECT CAST(mean AS INTEGER) FROM statistics JOIN events USING(event) WHERE name='LLC-load-misses'")"
run_hr sweep rank -f json --explain cycles --without ref-cycles
is 'what explains cycles: misses' "$(jq -r '.candidates[] | select(.step == 1) | .event' out)" LLC-misses
within 'a miss costs some 210 cycles' "$(jq '.candidates[] | select(.step == 1) | .weight' out)" 200 230
within 'and explains nearly all' "$(jq '.candidates[] | select(.step == 1) | .explained' out)" 0.98 1
run_hr sweep rank
like 'rank: ref-cycles are the model'"'"'s cycles' out '^ref-cycles .* 1\.000 '
run_hr sweep plot -o map.svg
ok 'a picture of correlations, well-formed' xmllint --noout map.svg
like 'with names and descriptions' map.svg '>branch-misses[^<]*: mispredicted branches<'
like 'each pair with significance and points' map.svg \
    '<title>branch-misses \(mispredicted branches\), .*: -?[01]\.[0-9]{3} \([0-9]+ parts, chance [0-9<]'
like 'and what chance could do' map.svg '>from 0\.[0-9]+ on, either way: less than 0.1 % by chance<'
run_hr sweep view
is 'a page' "$status$(cat err)" 0
run_hr sweep rank -f json --explain LLC-load-misses
if command -v chromium >/dev/null; then
    python3 "$ROOT/tests/view/sweep.py" sweep.html LLC-load-misses branch-misses >seen 2>seen.err || echo "# $(tail -n 1 seen.err)"
    is 'the page: no error, nothing asked for, nothing too wide' "$(jq -c '[.problems, .wide, .elements]' seen)" '[[],0,0]'
    is 'a click chooses a pair' "$(jq -r '.pair | join(" ")' seen)" 'LLC-load-misses branch-misses'
    is 'its correlation is that of hr sweep rank' "$(jq -r .figures.correlation seen)" \
        "$(jq -r '.candidates[] | select(.event == "branch-misses") | .correlation' out | xargs printf '%.3f')"
    like 'the pointer: descriptions, chance and points' seen "$(db "SELECT description FROM events WHERE name='branch-misses'").*over [0-9]+ parts, chance [0-9]"
    is 'all events are in the table' "$(jq .rows seen)" "$(db 'SELECT count(*) FROM statistics')"
    is 'filtered' "$(jq -r '.filtered | sort | join(" ")' seen)" "$(db "SELECT group_concat(name, ' ') FROM (SELECT name FROM events WHERE name LIKE '%LLC-%' ORDER BY name)")"
else
    skip 6 'chromium is not installed'
fi
run_hr sweep export autoperf
is 'autoperf: results.csv' "$(head -n 1 sweep/autoperf/results.csv)" 'EVENT_NAME,INDEX,TIME,SOCKET,CORE,CPU,NODE,UNIT,SAMPLE_VALUE'
is 'autoperf: its sums are the totals' "$(awk -F, '$1 == "LLC-load-misses" { sum += $NF } END { printf "%.0f", sum }' sweep/autoperf/results.csv)" \
    "$(db "SELECT CAST(mean AS INTEGER) FROM statistics JOIN events USING(event) WHERE name='LLC-load-misses'")"
is 'autoperf: a square matrix' "$(awk -F'","|,' '{ print NF }' sweep/autoperf/correlation_matrix.csv | sort -u | wc -l)" 1
ok 'autoperf: timeseries.csv has 200 parts' test "$(wc -l <sweep/autoperf/timeseries.csv)" -eq 201

# Interrupted at its fourth start, it continues where it was; the result is that of the one that was not.
mv sweep whole
# shellcheck disable=SC2016
echo '[ "$(wc -l <'"$work"'/starts)" -ne 4 ] || kill -INT "$(ps -o ppid= "$PPID" | tr -d " ")"' >emulator.do
sweep --repeat 2 -e "$events" -e 'cpu/event=0xb7,umask=1,offcore_rsp=0x10001/' "$WORKLOADS/phases" 1 1
is 'interrupted' "$status" 130
like 'it says how to continue' err "'hr sweep --resume -o sweep' continues"
rm emulator.do
done_before=$(grep -c . sweep/jobs.csv)
: >starts
run_hr sweep -q --resume
is 'continued' "$status" 0
is 'only what was missing' "$(starts)" "$((1 + $(jq '.jobs | length' sweep/sweep.json) - done_before))"
"$HR" sweep show -f csv whole >wanted
run_hr sweep show -f csv
is 'the result of the one that was not interrupted' "$(cat out)" "$(cat wanted)"
rm -rf sweep

# A full disk: what there was stays.
(ulimit -f 8 && trap '' XFSZ && exec "$HR" sweep -q --resume -o whole) 2>err
is 'a full disk' "$?" 125
like 'says so, and how to continue' err "cannot write 'whole/sweep.db': .*; 'hr sweep --resume -o whole' tries again"
run_hr sweep show -f csv whole
is 'the results of before are there' "$(cat out)" "$(cat wanted)"

# A run that fails is tried again; one that fails three times is divided into its events.
echo '[ "$(wc -l <'"$work"'/starts)" -ne 2 ] || exit 1' >emulator.do
sweep -e cycles,branches "$WORKLOADS/regions" regions 10
is 'a run that failed once' "$status $(starts)" '0 3'

# The program's regions: 10 times an empty one, and loops of 1,000 and 2,000 iterations in another one.
run_hr sweep show --by phase -f json
# of NAME EVENT: its mean there.
of() { jq --arg name "$1" --arg event "$2" '.parts[] | select(.phase == $name) | .events[] | select(.name == $event).mean' out; }
is 'phases: sections by time, then regions' "$(jq -c '[.parts[] | .phase, .passes]' out)" \
    '["[before the first mark]",1,"regions begin",1,"regions end",1,"empty",10,"outer",10,"loop",20]'
is 'instructions of loops, exact' "$(of loop instructions)" "$((10 * (2003 + 4003) + 2 * $(of empty instructions)))"
is 'and branches' "$(of loop branches)" "$((10 * (1002 + 2002) + 2 * $(of empty branches)))"
within 'sections add up to the total, but for what is after the last sample' \
    "$(jq '[.parts[] | select(.kind == "section") | .events[] | select(.name == "cycles").mean] | add' out)" \
    "$(db "SELECT CAST(0.9*mean AS INTEGER) FROM statistics WHERE event=0")" "$(db "SELECT CAST(mean AS INTEGER) FROM statistics WHERE event=0")"
ok 'loops are between the marks' test "$(of 'regions begin' branches)" -gt "$(of loop branches)"
run_hr sweep show --by phase
like 'a table' out '^loop \(region, 20 passes\)$'
rm -rf sweep
echo 'case $(wc -l <'"$work"'/starts) in 2|3|4) exit 1 ;; esac' >emulator.do
sweep -e cycles,branches "$WORKLOADS/regions" marks 300
is 'a run that failed three times: its events one by one' "$status $(starts)" '0 7'
is 'both were measured' "$(db 'SELECT count(*) FROM statistics WHERE runs=1 AND mean>0')" 2
rm emulator.do
: >starts
run_hr sweep -q --resume
is 'divided once and for all' "$status $(starts)" '0 0'
is 'each of 300 marks twice: 254 sections, the one before them, and one of the others' \
    "$(db 'SELECT count(DISTINCT name) FROM phases')  $(db "SELECT DISTINCT passes FROM phases WHERE name LIKE '[other%'")" '256  92'
rm -rf sweep
echo '[ "$(wc -l <'"$work"'/starts)" -eq 1 ] || exit 1' >emulator.do
sweep -e cycles,branches "$WORKLOADS/phases" 1 1
is 'nothing runs any more' "$status" 125
like 'why, and how to continue' err 'a run of instructions alone fails, too: .*--resume'
rm -rf sweep

# A program that does not repeat.
echo 'wc -l <'"$work/starts"' >'"$work/value" >emulator.do
echo 0 >value
sweep --file "$work/value" --repeat 2 -e cycles /bin/cat "$work/value"
is 'outputs that differ: the status' "$status" 1
run_hr sweep show
like 'and which' out '0001-[12].hr: its output is not that of the first run'
rm -rf sweep emulator.do

# Other machines, and what cannot be.
run_hr sweep --dry-run -q --accel "$accel" --qemu "$QEMU" --cpu EPYC-Milan,pmu=on "$WORKLOADS/phases" 1 1
like 'another processor, all its events' out '^[0-9]+ events in [0-9]+ runs, as few as there can be'
ok 'a dry run leaves nothing' test ! -e sweep
run_hr sweep -q "$WORKLOADS/phases" 1 1
is 'no counters' "$status" 125
like 'says so' err 'there are no performance counters'
ok 'and leaves nothing' test ! -e sweep
sweep -e cyclse "$WORKLOADS/phases" 1 1
like 'an unknown event' err "cyclse.*cycles"
sweep -e instructions "$WORKLOADS/phases" 1 1
like 'nothing to measure' err 'name other events'
mkdir full && : >full/file
sweep -o full "$WORKLOADS/phases" 1 1
like 'a folder with other things' err 'is no empty folder'
ok 'which stay' test -f full/file
run_hr sweep --resume --dry-run -o whole
like 'a plan is there already' err 'has a plan already'
run_hr sweep --resume -o full
like 'no sweep to continue' err 'full/sweep.json: .*name the folder of a sweep'
sed 's/"runs":\[\[/&99999,/' whole/sweep.json >full/sweep.json
run_hr sweep --resume -o full
like 'a plan with an event that is not there' err 'a run has an event that is not there'
head -c 20000 whole/sweep.db >full/sweep.db
run_hr sweep show full
is 'a database that was cut' "$status" 1
like 'says so' err 'full/sweep.db: it is '
cp whole/sweep.db full/sweep.db
sqlite3 full/sweep.db "INSERT INTO phases VALUES(0,'region','x',1,9999,1)"
run_hr sweep show --by phase full
like 'a phase with an event that is not there' err 'full/sweep.db: it has an event that is not there; '
sqlite3 full/sweep.db 'DROP TABLE phases'
run_hr sweep show --by phase full
like 'a database of an older hr' err "no such table; 'hr sweep --resume -o full'"
run_hr sweep show --by part
like 'no such kind' err 'choose phase, function or bin'
run_hr sweep rank --explain LLC-miss whole
like 'an event that is not there' err 'no such event; near are LLC-misses'

mkdir -p bin
printf '#!/bin/sh\nexec sh -c "$2"\n' >ssh-here
chmod +x ssh-here
cat >bin/hr <<END
#!/bin/sh
[ "\$1" = sweep ] || exec "$HR" "\$@"
shift
case \$1 in -*) exec "$HR" sweep --accel $accel --qemu "$QEMU" --cpu "$flavour" --ssh "$work/ssh-here" --hr "$HR" \
    "\$@" ;; esac
exec "$HR" sweep "\$@"
END
chmod +x bin/hr
BUILD=$work/bin transcript "$ROOT/docs/sweeps.md"
done_testing
