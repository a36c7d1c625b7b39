#!/bin/sh
# Sticks on a machine with four CPUs, with little room for results, and with real counters where QEMU names an
# emulator that has them.
. "$(dirname "$0")/../lib.sh"
modelled=${QEMU:-} # an emulator with a PMU; the others are for stock ones
QEMU=qemu-system-x86_64
. "$ROOT/tests/firmware/lib.sh"
busybox=$(command -v busybox) || skip_all 'no busybox'

# usb IMAGE ARG...: writes a stick.
usb() {
    image=$1
    shift
    "$HR" usb -o "$image" --force --size 160M --mem 64M "$@" >usb.out 2>usb.err || sed 's/^/# /' usb.err
}

# collect IMAGE DIR: takes the results off.
collect() {
    "$HR" usb --collect "$1" -o "$2" >collect.out 2>collect.err
}

# archive NAME [OPTION...] PROGRAM...: for any CPU.
archive() {
    name=$1
    shift
    "$HR" pack --target-cpu all -o "$name.cpio" "$@" >/dev/null 2>pack.err || sed 's/^/# /' pack.err
}

# Threads on three CPUs; busybox, whose files come back; the buffer overflows and says so.
archive threads --cpus 3 "$WORKLOADS/threads" sync 3 200
archive files --keep-files "$busybox" sh -c 'echo kept >/Made.txt; exit 3'
usb four.img --buffer 8M threads.cpio files.cpio
usb_boot four.img -smp 4
is 'four CPUs: status' "$status" 0
ok 'four CPUs: taken off' collect four.img four
is 'four CPUs: the threads are right' "$(sed -n 's/^exit-\(kind\|code\) = //p' four/001/result.conf | xargs)" 'status 0'
is 'four CPUs: three of them run the program' "$(stat_of four/001/hr.bin '.machine.cpus | length')" 3
is 'files come back' "$(cat four/002/files/Made.txt)" kept
is 'busybox: exit' "$(sed -n 's/^exit-code = //p' four/002/result.conf)" 3
# Its output alone is more than the buffer holds.
usb small.img --buffer 2M --cpus 1 -i 1us "$busybox" seq 1 400000
usb_boot small.img -smp 2
collect small.img small
is 'a full buffer: the program ends as ever' "$(sed -n 's/^exit-\(kind\|code\) = //p' small/001/result.conf | xargs)" 'status 0'
is 'a full buffer: the trace has its end' "$(stat_of small/001/hr.bin .complete)" true
lost=$(stat_of small/001/hr.bin .lost)
within 'a full buffer: loss is counted' "$lost" 1 100000000
is 'a full buffer: and said' "$(sed -n 's/^lost-samples = //p' small/001/result.conf)" "$lost"
within 'a full buffer: what was there is used' "$(cat small/001/* | wc -c)" 700000 2200000
like 'a full buffer: so is lost output' small/001/log.txt 'no room for [0-9]+ bytes of stdout'

# Real counters: as many instructions as the emulator counts under PVH, and as the loop has.
if [ -n "$modelled" ]; then
    QEMU=$modelled
    for cpu in Icelake-Server,model=106,pmu=on EPYC-Milan,pmu=on; do
        usb pmu.img --buffer 8M --cpus 1 -e instructions:u,cycles,branches:u "$WORKLOADS/spin" 1000000
        usb_boot pmu.img -smp 2 -cpu "$cpu"
        rm -rf pmu
        collect pmu.img pmu
        run_guest -q --cpus 1 --accel tcg --qemu "$modelled" --cpu "$cpu" -e instructions:u,cycles,branches:u \
            "$WORKLOADS/spin" 1000000
        is "$cpu: sources" "$(stat_of pmu/001/hr.bin '[.events[].source] | unique | .[]')" pmu
        is "$cpu: instructions" "$(total pmu/001/hr.bin instructions)" "$(total hr.bin instructions)"
        is "$cpu: branches" "$(total pmu/001/hr.bin branches)" "$(total hr.bin branches)"
    done
    QEMU=qemu-system-x86_64
else
    skip 6 'QEMU names no emulator with a PMU'
fi

done_testing
