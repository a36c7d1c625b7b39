#!/bin/sh
# Events by name: hr events, what -e refuses, and what the host tells a guest with counters.
. "$(dirname "$0")/../lib.sh"
hello=$WORKLOADS/hello

run_hr events
is 'this machine: status' "$status" 0
like 'this machine: generic events' out '^  instructions +c0 '
run_hr events --cpu intel-6-106
is 'intel-6-106: status' "$status" 0
is 'intel-6-106: generic events come first' "$(sed -n 2p out | awk '{ print $1 }')" instructions
like 'intel-6-106: an event with its encoding' out '^  MEM_INST_RETIRED\.ALL_LOADS +81d0 +[A-Z]'
like 'intel-6-106: a companion register' out '^  LLC-loads +1b7\+10001 '
cp out all
run_hr events --cpu Icelake-Server-v4,model=106,pmu=on
same_file 'a CPU model of QEMU with a property' out all
run_hr events --cpu EPYC-Milan ld_disp
is 'a part of a name' "$(awk '/^  / { print $1, $2 }' out)" 'LS_DISPATCH.LD_DISPATCH 129'
run_hr events --cpu amd-25-1 '*-misses'
is 'a pattern for the whole name' "$(awk '/^  / { print $1 }' out | sort | tr '\n' ' ')" \
    'L1-dcache-load-misses LLC-load-misses LLC-misses branch-misses cache-misses dTLB-load-misses iTLB-load-misses '
run_hr events --cpu icx mem_load_l3_miss
like 'a CPU by the name of its table' out '^Events of Intel family 6 model 106 \(icx\):$'
run_hr events --cpu intel-6-250
is 'unknown CPU: status' "$status" 0
like 'unknown CPU: says so' err 'model 250 is in no table'
like 'unknown CPU: architectural events' out '^  LLC_MISSES +412e '
is 'unknown CPU: no events of others' "$(grep -c MEM_ out)" 0
run_hr events --cpu intel-6-106 no-such-thing
is 'nothing matches: status' "$status" 1
like 'nothing matches: message' err "matches 'no-such-thing'"
run_hr events --cpu Pentagon
is 'no CPU: status' "$status" 2
like 'no CPU: message' err 'Pentagon: neither VENDOR-FAMILY-MODEL'

# refused NAME REGEX ARG...: hr run ends with 125, one line that matches, and starts nothing.
refused() {
    name=$1 regex=$2
    shift 2
    rm -f hr.bin
    run_hr run --accel tcg "$@" "$hello"
    is "$name: status" "$status" 125
    like "$name: message" err "$regex"
    is "$name: one line" "$(wc -l <err)" 1
    ok "$name: no trace" test ! -e hr.bin
}
refused 'misspelt event of a CPU' 'nearest known: MEM_INST_RETIRED\.ALL_LOADS' -e MEM_INST_RETIRED.ALL_LOAD
refused 'event without its unit mask' 'MEM_LOAD_RETIRED\.' -e MEM_LOAD_RETIRED
refused 'bad suffix' ":u .*:k .*:uk" -e cycles:x
refused 'raw event with ring bits' 'rings are the suffixes' -e r3003c
refused 'cpu/ without its end' 'slash' -e cpu/event=0xc0
refused 'cpu/ with an unknown term' "'mask' is unknown" -e cpu/event=0xc0,mask=1/
refused 'event of a CPU on an emulator' 'no performance counters' -e MEM_INST_RETIRED.ALL_LOADS
refused 'kernel code on an emulator' 'no performance counters' -e cycles:k
refused 'raw event on an emulator' 'no performance counters' -e instructions,r81d0
refused '--require-pmu on an emulator' 'no PMU' --require-pmu --cpu qemu64
run_hr run --dry-run --accel tcg --cpu Icelake-Server,model=106,pmu=on -e r81d0:uk,cpu/event=0xc0,umask=1/ "$hello"
is 'a CPU that may have counters: status' "$status" 0
like 'a CPU that may have counters: passed as it is' out '-cpu Icelake-Server,model=106,pmu=on -icount shift=0'
run_hr pack -o run.cpio -e LS_DISPATCH:LD_DISPATCH:k,cpu/event=0xc0,umask=1/ "$hello"
is 'pack: status' "$status" 0
is 'pack: events are in the manifest as given' "$(cpio -i --quiet --to-stdout microtome/manifest <run.cpio |
    tr '\0' '\n' | grep ^event=)" 'event=LS_DISPATCH:LD_DISPATCH:k
event=cpu/event=0xc0,umask=1/'

run_hr pack -o run.cpio --target-cpu intel-6-106 -e LLC-loads,LLC-stores:uk,instructions "$hello"
is 'pack for a CPU: status' "$status" 0
is 'pack for a CPU: the manifest has the encodings' "$(cpio -i --quiet --to-stdout microtome/manifest <run.cpio |
    tr '\0' '\n' | grep -e ^target -e ^event-)" 'target-cpu=intel-6-106
event-encoding=101b7:10001:f
event-encoding=301bb:3f3ffc0002:f
event-encoding=100c0:0:0'
run_hr pack -o run.cpio --target-cpu amd-25-1 -e MEM_INST_RETIRED.ALL_LOADS "$hello"
is 'pack for a CPU without the event: status' "$status" 125
like 'pack for a CPU without the event: message' err "'MEM_INST_RETIRED.ALL_LOADS' does not exist on .* AMD family 25 model 1"
run_hr pack -o run.cpio --target-cpu Pentium "$hello"
is 'pack for an unknown CPU: status' "$status" 125
like 'pack for an unknown CPU: message' err '^hr: --target-cpu Pentium: neither VENDOR-FAMILY-MODEL'
run_hr events --cpu intel-6-60 L1D_PEND_MISS.PENDING
like 'a counter of its own' out 'L1D_PEND_MISS\.PENDING .*\[counter 2\]$'
run_hr events --cpu intel-6-60 '*LOADS'
like 'an erratum' out 'L1-dcache-loads .*\[counters 0-3\] \[erratum HSD29: '

# ask VENDOR SIGNATURE VERSION FIXED EVENTS ARG...: a run whose guest says that it has this CPU.
ask() {
    status=0
    FAKEGUEST=counters FAKEGUEST_CHUNKS=1 FAKEGUEST_VENDOR=$1 FAKEGUEST_CPU=$(($2 | $3 << 32 | 8 << 40 | $4 << 48)) \
        timeout 60 "$HR" run -q --accel tcg --qemu "$TOOLS/fakeguest" -e "$5" ${6:+"$6"} "$hello" \
        >out 2>err </dev/null || status=$?
}
icelake=$((0x606a6)) milan=$((0xa00f11))
ask 1 $icelake 5 4 'cycles,MEM_INST_RETIRED.ALL_LOADS:k,LLC-loads:uk,ref-cycles,cpu/event=0xc0,umask=1,cmask=2,inv,edge/'
is 'Icelake: status' "$status" 0
is 'Icelake: answers' "$(cat out)" '17 0 1003c
20 1 f
17 1 281d0
18 2 10001
20 2 f
17 2 301b7
17 3 10300
17 4 28501c0
19 0 5'
ask 1 $icelake 5 0 ref-cycles
is 'no fixed counters: reference cycles on a general one' "$(head -n 1 out)" '17 0 1013c'
ask 2 $milan 2 0 'cycles,branch-misses,LS_DISPATCH.LD_DISPATCH,cpu/event=0x120,umask=1/uk' --require-pmu
is 'Milan: status, with --require-pmu' "$status" 0
is 'Milan: answers' "$(cat out)" '17 0 10076
17 1 100c3
17 2 10129
17 3 100030120
19 0 4'
ask 2 $milan 2 0 cycles,MEM_INST_RETIRED.ALL_LOADS
is 'event of another CPU: status' "$status" 125
like 'event of another CPU: message' err "'MEM_INST_RETIRED.ALL_LOADS' does not exist on the guest's CPU, AMD family 25 model 1 .*hr events --cpu amd-25-1"
is 'event of another CPU: one line' "$(wc -l <err)" 1
is 'event of another CPU: nothing ran' "$(wc -c <out)" 0
FAKEGUEST=normal run_hr run -q --accel tcg --qemu "$TOOLS/fakeguest" --require-pmu "$hello" </dev/null
is '--require-pmu of a guest that counts nothing: status' "$status" 125
like '--require-pmu of a guest that counts nothing: message' err 'no performance counter here \(source: stub\)'
FAKEGUEST=uncounted run_hr run --accel tcg --qemu "$TOOLS/fakeguest" -e r81d0 "$hello" </dev/null
is 'events that the guest cannot count: status' "$status" 125
is 'events that the guest cannot count: the guest says it, nothing else' "$(cat err)" 'hr: event r81d0: no counters'
done_testing
