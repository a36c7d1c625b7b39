#!/bin/sh
# A sweep by a machine that starts from a stick: planned here, performed there, continued after a reset, and taken.
# QEMU: an emulator whose CPUs have a PMU.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/flavours.sh"
. "$ROOT/tests/firmware/lib.sh"
cpu=$(printf '%s\n' "$FLAVOURS" | head -n 1)
program=$WORKLOADS/hello
events='cycles,branch-misses,cache-misses,MEM_LOAD_RETIRED.*'
db() { sqlite3 "$1/sweep.db" "$2"; }

# plan FOLDER OPTION...: a sweep of four runs and the first one, on stick.img.
plan() {
    folder=$1
    shift
    run_hr sweep --usb stick.img -o "$folder" --repeat 2 -i 20us --cpus 0 -e "$events" \
        --usb-options '--size 80M --machine lab --mem 64M --buffer 8M' "$@" "$program"
}

# trace_of NAME CPU EVENTS: a trace that a machine could have made.
trace_of() {
    run_guest -q --accel "$accel" --qemu "$QEMU" --cpu "$2" --force -o "$1" -e "$3" sweep/program.cpio
}

run_hr sweep --dry-run --target-cpu intel-6-106 -e "$events" "$program"
is 'a plan without a machine' "$status $(head -n 1 out)" '0 11 events in 2 runs, as few as there can be'
ok 'leaves nothing' test ! -e sweep
plan sweep --target-cpu icx
is 'a stick: status' "$status" 0
like 'says what to do then' err '^hr: stick.img: 5 runs; start the machine from it, and then: hr sweep take -o sweep stick.img$'
ok 'has the program once' test "$(mdir -b -i stick.img@@1M ::/microtome/runs | wc -l)" -eq 1
name=$(mdir -b -i stick.img@@1M ::/microtome/runs | sed 's,.*/\(.*\)\.cpio$,\1,')

# Switched off in the middle of the third run.
usb_boot_until stick.img '^microtome: run 3 of 5: .* starts' -smp 1 -cpu "$cpu"
is 'switched off in the third run' "$status" 0
cp -r sweep untouched
run_hr sweep take -q stick.img
is 'what is there is taken, and the rest is missing' "$status $(cat err)" "1 hr: stick.img: 2 taken, 0 known
hr: 3 of 5 runs are missing; start the machine from the stick again, or 'hr sweep --resume -o sweep' writes another"
is 'the machine and its runs' "$(db sweep "SELECT host, count(*), kernel LIKE 'Microtome %' FROM hosts JOIN runs USING(host)")" 'lab|1|1'
usb_boot stick.img -smp 1 -cpu "$cpu"
is 'started again, it switches itself off' "$status" 0
is 'only what had not ended was run' "$(grep -o '^microtome: .* ended before\|run [0-9]* of 5: .* starts' said)" \
    "microtome: 2 of 5 runs ended before
run 3 of 5: $name #3: starts
run 4 of 5: $name #4: starts
run 5 of 5: $name #5: starts"
run_hr sweep take -q stick.img
is 'the rest is taken' "$status $(cat err)" '0 hr: stick.img: 3 taken, 2 known'
trace_of here.bin "$cpu" instructions
is 'each run counts what one here counts' "$(db sweep 'SELECT DISTINCT instructions FROM runs')" "$(total here.bin instructions)"
is 'every event was measured twice' "$(db sweep "SELECT DISTINCT runs FROM statistics JOIN events USING(event) WHERE name<>'instructions'")" 2
run_hr sweep show
like 'the table' out '^MEM_LOAD_RETIRED.L1_HIT +[0-9,]+ '
run_hr sweep --resume -q
is 'nothing is missing: no stick is written' "$status$(cat err)" 0

# What a stick and the network bring is not believed.  Copies of the results, each with something wrong.
"$HR" usb --collect stick.img -o good >/dev/null 2>&1
run_of() { grep -l "^repetition = $1\$" good/*/result.conf | sort | tail -n 1 | xargs dirname | xargs basename; }
# wrong NAME REGEX: what is wrong in results is said, and nothing of it is taken.
wrong() {
    rm -rf again
    cp -r untouched again
    run_hr sweep take -q -o again results
    like "$1" err "$2"
    is "$1: status" "$status" "${3:-1}"
    rm -rf results
    cp -r good results
}
cp -r good results
cp results/"$(run_of 2)"/hr.bin other.bin
cp other.bin results/"$(run_of 3)"/hr.bin
wrong 'a trace of other events' "/$(run_of 3) is not taken: its trace has other events"
printf 'damage' | dd of=results/"$(run_of 4)"/hr.bin bs=1 seek=700 conv=notrunc 2>/dev/null
wrong 'a damaged trace' "/$(run_of 4) is not taken: its trace is damaged"
truncate -s 600 results/"$(run_of 4)"/hr.bin
sed -i 's/^file = hr.bin.*/cut = hr.bin 3000/' results/"$(run_of 4)"/result.conf
wrong 'a full stick' "/$(run_of 4) is not taken: the stick was full"
trace_of results/"$(run_of 4)"/hr.bin "$(echo "$cpu" | sed s/106/108/)" \
    "instructions,$(jq -r '. as $all | .runs[.jobs[2][0]] | map($all.events[.].name) | join(",")' sweep/sweep.json)"
wrong 'a trace of another processor' "/$(run_of 4) is not taken: its processor is .* model 108 .*, and that of this sweep is .* model 106"
trace_of results/"$(run_of 1)"/hr.bin EPYC-Milan,pmu=on instructions
wrong 'a first run of another processor' 'is not taken: its processor is AMD .*, and the sweep was planned for Intel family 6 model 106' 125
trace_of results/"$(run_of 1)"/hr.bin "$cpu,pmu-gp=4" instructions
wrong 'a machine with fewer counters' 'it has 4 general and [0-9] fixed counters, and the plan takes 8 and 4; begin another sweep' 125
sed -i 's/^run = .*/run = sweep-00000000/' results/*/result.conf
wrong 'results of another sweep' "results has no results of this sweep, which are called $name, but others" 125
sed -i 's/^repetition = 2/repetition = 99999999999/' results/*/result.conf
wrong 'a run that is not there' '^hr: 1 of 5 runs are missing'
rm results/"$(run_of 5)"/stdout
wrong 'an output that is not there' 'results: 5 taken'

# From hr collect's folder: MACHINE/RUN-REPETITION-N.
mkdir -p collected/lab
for n in 1 2 3 4 5; do
    mkdir "collected/lab/$name-$n-1"
    cp good/"$(run_of $n)"/hr.bin good/"$(run_of $n)"/stdout "collected/lab/$name-$n-1"
done
rm -rf again
cp -r untouched again
run_hr sweep take -q -o again collected
is 'from the folder of hr collect' "$status $(cat err)" '0 hr: collected: 5 taken, 0 known'
is 'the same sweep' "$("$HR" sweep show -f csv again)" "$("$HR" sweep show -f csv sweep)"

# A stick with what is missing, for the processor that a trace tells.
plan second --target-cpu here.bin
is 'planned by a trace' "$status" 125
like 'the image has results' err 'stick.img holds [0-9]+ results; .*--force'
rm again/runs/000?-1.hr
run_hr sweep --resume -o again --usb next.img
like 'a stick with two runs' err '^hr: next.img: 2 runs; start the machine from it'
mcopy -i next.img@@1M ::/microtome/progress.txt marks
is 'leaves out the others' "$(head -n 1 marks | tr -d '+')" ..
sed -i '1s/\.\(+*\)$/3\1/' marks # the last of them was started three times
mcopy -o -i next.img@@1M marks ::/microtome/progress.txt
usb_boot next.img -smp 1 -cpu "$cpu"
like 'a run that never ends is left out' said '^microtome: 1 of 5 runs were started 3 times and did not end: they are left out$'
run_hr sweep take -q -o again next.img
is 'the other one is performed and taken' "$status $(sed -n '1p; 2s/;.*//p' err)" \
    '1 hr: next.img: 1 taken, 0 known
hr: 1 of 5 runs are missing'

run_hr sweep --usb stick.img "$program"
like 'no processor' err '--usb: nobody can ask the machine before it starts; name its processor'
run_hr sweep --usb stick.img --target-cpu pentium "$program"
like 'an unknown processor' err '--target-cpu pentium: neither a trace nor a processor'
run_hr sweep --usb stick.img --target-cpu icx --cpu max "$program"
like 'an option of emulators' err '--cpu=max is for an emulator here'
run_hr sweep take -o here.bin stick.img
like 'no sweep' err 'name the folder of a sweep'
run_hr sweep take nowhere
like 'no stick' err 'nowhere: No such file'
done_testing
